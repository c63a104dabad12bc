#!/usr/bin/env bash
# The pictures of the documents: `tests/doc_images.sh` draws `docs/images/*.mmd` (Mermaid) as SVG.
# The book and GitHub then show the same. Look at the pictures before you commit them.
#
# Needs node, npm with its registry, and chromium. What npm installs stays in ${TMPDIR:-/var/tmp}.
set -eu
root=$(realpath "$(dirname "$0")/..")
for tool in node npm chromium; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
home=${TMPDIR:-/var/tmp}/locum-doc-images
mkdir -p "$home"
cd "$home"
if [ ! -d node_modules/mermaid ]; then
    npm init -y >/dev/null
    npm install --no-audit --no-fund --silent mermaid@11
fi
cat >diagram.mjs <<'J'
import { execFileSync } from 'child_process';
import fs from 'fs';
const [source, picture] = process.argv.slice(2);
const library = fs.readFileSync('node_modules/mermaid/dist/mermaid.min.js', 'utf8');
fs.writeFileSync('diagram.html', `<meta charset=utf8><div id=out></div>
<script>${library.replaceAll('</script', '<\\/script')}</script><script>
mermaid.initialize({ startOnLoad: false, htmlLabels: false, theme: 'neutral', fontFamily: 'sans-serif',
    flowchart: { htmlLabels: false } });
mermaid.render('flow', ${JSON.stringify(fs.readFileSync(source, 'utf8'))})
    .then(({ svg }) => { document.getElementById('out').innerHTML = svg; });
</script>`);
const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=10000', '--dump-dom'];
const page = execFileSync('chromium', [...options, `file://${process.cwd()}/diagram.html`],
    { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
const svg = page.match(/<div id="out">(<svg[\s\S]*?<\/svg>)<\/div>/)[1];
// White behind it, for readers with a dark page.
fs.writeFileSync(picture, svg.replace(/<br>/g, '<br/>').replace(/ style="[^"]*"/, ' style="background:#fff"') + '\n');
J
for source in "$root"/docs/images/*.mmd; do
    node diagram.mjs "$source" "${source%.mmd}.svg"
    echo "${source%.mmd}.svg"
done
