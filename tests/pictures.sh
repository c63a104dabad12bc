#!/usr/bin/env bash
# Pictures of what Locum posts: `tests/pictures.sh DIR [NAME...]` draws each posting of the
# snapshots (those whose names hold a NAME, where any is given) as GitHub shows it, 860 and 400
# pixels wide, folded and unfolded, into DIR. To be looked at after a change of a report's words;
# not part of CI.
#
# Needs node, npm with its registry, and chromium with fonts that have emoji (Debian: chromium
# fonts-noto-color-emoji fonts-dejavu). What npm installs stays in ${TMPDIR:-/var/tmp}.
set -eu
root=$(realpath "$(dirname "$0")/..")
if [ $# -lt 1 ]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
for tool in node npm chromium; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
out=$(realpath -m "$1")
shift
home=${TMPDIR:-/var/tmp}/locum-pictures
mkdir -p "$out" "$home"
cd "$home"
if [ ! -d node_modules/github-markdown-css ]; then
    npm init -y >/dev/null
    npm install --no-audit --no-fund --silent marked@15 github-markdown-css@5
fi
cat >page.mjs <<'J'
import { marked } from 'marked';
import fs from 'fs';
const [snapshot, page, open] = process.argv.slice(2);
const css = fs.readFileSync('node_modules/github-markdown-css/github-markdown-light.css', 'utf8');
// A snapshot has a head between two lines of dashes.
const text = fs.readFileSync(snapshot, 'utf8').split('\n---\n').slice(1).join('\n---\n');
// In a comment, GitHub keeps the ends of lines within a paragraph.
let body = marked.parse(text.replace(/^<!--.*-->\n/gm, ''), { breaks: true });
if (open === 'open') body = body.replaceAll('<details>', '<details open>');
fs.writeFileSync(page, `<meta charset=utf8><meta name=viewport content="width=device-width">
<style>${css} html{background:#fff} body{box-sizing:border-box;margin:0;padding:16px}</style>
<body class="markdown-body">${body}`);
J
draw() { # PAGE PICTURE WIDTH HEIGHT
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
        --window-size="$3,$4" --screenshot="$2" "file://$1" >/dev/null 2>&1
}
count=0
for snapshot in $(find "$root/src" "$root/tests" -name '*__posting_*.snap' | sort); do
    name=$(basename "$snapshot" .snap)
    name=${name##*__posting_}
    wanted=$(($# == 0))
    for part in "$@"; do
        case $name in *"$part"*) wanted=1 ;; esac
    done
    [ "$wanted" = 1 ] || continue
    for state in closed open; do
        node page.mjs "$snapshot" "$home/page.html" "$state"
        height=900
        [ "$state" = open ] && height=2000
        draw "$home/page.html" "$out/$name-860-$state.png" 860 "$height"
        # Chromium's windows are 500 pixels wide at least; a frame is as narrow as it is made.
        echo "<style>body{margin:0}iframe{border:0;width:400px;height:${height}px}</style>" \
            "<iframe src=page.html></iframe>" >"$home/narrow.html"
        draw "$home/narrow.html" "$out/$name-400-$state.png" 500 "$height"
    done
    count=$((count + 1))
done
echo "$count postings in $out"
