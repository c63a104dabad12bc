#!/usr/bin/env bash
# Compares what `web_fetch` makes of real pages with what the converter html2text (PyPI) makes of them: `tests/pages.sh`. The pages are those
# that Mozilla saved to test Readability, fetched from its repository. Needs git, Python 3 and the network; not part of `cargo test`.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=ab4027a8b37669745016869a37a504727992b2ba
work=${PAGES:-$(mktemp -d)}
if [ ! -d "$work/test/test-pages" ]; then
  git init -q "$work/repo"
  git -C "$work/repo" fetch -q --depth 1 "${PAGES_FROM:-https://github.com/mozilla/readability}" "$commit"
  git -C "$work/repo" archive FETCH_HEAD test/test-pages | tar -x -C "$work"
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q html2text==2025.4.15
"$work/venv/bin/python" - "$work/test/test-pages" <<'PYTHON'
import pathlib, sys
import html2text
for page in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    converter = html2text.HTML2Text(baseurl="https://page.example.com/", bodywidth=0)
    converter.images_to_alt = True
    html = (page / "source.html").read_text(encoding="utf-8", errors="replace")
    (page / "other.md").write_text(converter.handle(html), encoding="utf-8")
PYTHON
cargo bench --quiet --bench pages -- "$work/test/test-pages"
