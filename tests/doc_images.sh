#!/usr/bin/env bash
# The pictures of the documents, in `docs/images`: diagrams from their Mermaid source, and a
# terminal and a comment from a real run of `locum demo`. The book and GitHub then show the same.
# Look at the pictures before you commit them.
#
#   tests/doc_images.sh [diagrams|terminal|comment]...    all of them without a name
#
# Needs cargo, node, npm with its registry, and chromium with fonts that have emoji (Debian:
# chromium fonts-noto-color-emoji fonts-dejavu). What npm installs stays in ${TMPDIR:-/var/tmp}.
# LOCUM names another program than target/release/locum, which is built otherwise.
set -eu
root=$(realpath "$(dirname "$0")/..")
for tool in node npm chromium; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
home=${TMPDIR:-/var/tmp}/locum-doc-images
mkdir -p "$home"
cd "$home"
if [ ! -d node_modules/mermaid ] || [ ! -d node_modules/github-markdown-css ]; then
    npm init -y >/dev/null
    npm install --no-audit --no-fund --silent mermaid@11 marked@15 github-markdown-css@5
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

# Text with colours of a terminal, as SVG.
cat >terminal.mjs <<'J'
import fs from 'fs';
const [source, picture] = process.argv.slice(2);
const COLUMNS = 116, LINE = 18, LETTER = 7.8;
const COLOURS = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff', 35: '#d2a8ff', 36: '#76e3ea' };
const escaped = text => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const lines = fs.readFileSync(source, 'utf8').trimEnd().split('\n');
const rows = lines.map((line, row) => {
    let style = {}, column = 0, out = '';
    for (const part of line.split(/(\x1b\[[\d;]*m)/)) {
        const code = part.match(/^\x1b\[([\d;]*)m$/);
        if (code) {
            for (const number of (code[1] || '0').split(';').map(Number)) {
                if (number === 0) style = {};
                else if (number === 1) style.bold = true;
                else if (number === 2) style.dim = true;
                else if (COLOURS[number]) style.colour = COLOURS[number];
            }
            continue;
        }
        let text = [...part].slice(0, COLUMNS - column).join('');
        if ([...part].length > COLUMNS - column) text = text.slice(0, -1) + '…';
        column += [...text].length;
        const fill = line.startsWith('$ ') ? '#79c0ff' : style.colour || (style.dim ? '#8b949e' : '#e6edf3');
        if (text) out += `<tspan fill="${fill}"${style.bold ? ' font-weight="bold"' : ''}>${escaped(text)}</tspan>`;
    }
    return `<text x="16" y="${34 + row * LINE}" xml:space="preserve">${out}</text>`;
});
const width = Math.round(COLUMNS * LETTER + 32), height = lines.length * LINE + 40;
fs.writeFileSync(picture, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}"
 font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`);
J

# Markdown as GitHub shows a comment.
cat >comment.mjs <<'J'
import { marked } from 'marked';
import fs from 'fs';
const css = fs.readFileSync('node_modules/github-markdown-css/github-markdown-light.css', 'utf8');
const text = fs.readFileSync('comment.md', 'utf8').replace(/^<!--.*-->\n/gm, '');
let body = marked.parse(text, { breaks: true });
// The refusal is what the picture is about.
body = body.replace('<details><summary>Refused', '<details open><summary>Refused');
fs.writeFileSync('comment.html', `<meta charset=utf8><style>${css} html{background:#fff}
body{box-sizing:border-box;margin:0;padding:16px}
.head{background:#f6f8fa;border:1px solid #d1d9e0;border-radius:6px 6px 0 0;padding:8px 16px;font-size:14px}
.body{border:1px solid #d1d9e0;border-top:0;border-radius:0 0 6px 6px;padding:16px}</style>
<body class="markdown-body"><div class=head><b>github-actions</b> <span style="color:#59636e">bot commented</span></div>
<div class=body>${body}</div>`);
J

wanted=${*:-diagrams terminal comment}
case $wanted in
*terminal* | *comment*)
    program=${LOCUM:-$root/target/release/locum}
    [ -n "${LOCUM:-}" ] || (cd "$root" && cargo build --release --locked --quiet)
    rm -rf demo demo.txt
    "$program" demo --dir demo --color always >coloured.txt 2>/dev/null
    sed 's/\x1b\[[0-9;]*m//g' coloured.txt >demo.txt
    ;;
esac
for name in $wanted; do
    case $name in
    diagrams)
        for source in "$root"/docs/images/*.mmd; do
            node diagram.mjs "$source" "${source%.mmd}.svg"
        done
        ;;
    terminal)
        {
            echo "\$ locum policy explain --mode code 'edit(src/lib.rs)' 'command(cargo add regex)'"
            (cd demo && "$program" --color always policy explain --mode code 'edit(src/lib.rs)' 'command(cargo add regex)') || true
            echo
            echo "\$ locum demo"
            echo "…"
            sed -n '/# Every step/,/# What changed/p' coloured.txt | sed '1,3d;$d' | sed -n '12,44p'
        } >terminal.txt
        node terminal.mjs terminal.txt "$root/docs/images/terminal.svg"
        ;;
    comment)
        sed -n '/^# Would be posted: .*-comment-/,/^Removed the repository\|^The repository/p' demo.txt |
            sed '1,2d' | sed 's/\[#2\]([^)]*)/[#2](https:\/\/github.com)/' | grep -v 'emoved the repo\|^The repository' >comment.md
        node comment.mjs
        chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1.5 \
            --window-size=820,608 --screenshot="$root/docs/images/comment.png" "file://$home/comment.html" >/dev/null 2>&1
        ;;
    *) echo "unknown picture: $name" >&2; exit 2 ;;
    esac
done
ls -l "$root/docs/images"
