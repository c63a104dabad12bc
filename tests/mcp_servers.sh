#!/usr/bin/env bash
# MCP servers written by others, each in a scripted run of the built program under a policy.
#
#   tests/mcp_servers.sh [SERVER...]      time, git, everything, filesystem, memory, thinking; all of them when none is named
#   INSTALLED=DIR tests/mcp_servers.sh    takes what is installed and keeps it; without it, a temporary folder that is removed
#   LOCUM=path tests/mcp_servers.sh       uses that program in place of `cargo build`
#
# What answers, over standard input and output, in the sandbox:
#   time, git                                  (PyPI)  the reference servers in Python
#   everything, filesystem, memory, thinking   (npm)   the reference servers in TypeScript; `everything` has every kind of content there is
# Needs: python3 with venv, node 20 and npm, git, and the package registries. About 150 MB and half a minute to install. The folder must not lie
# below /tmp, which a server has for itself: the default is a folder beside the build.
#
# Prints a row for each call: what came of it is what has to. Ends with 0 when all are `ok`, 1 when one is not, 3 when servers could not be installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"
scratch=$(mktemp -d "$target/mcp-servers.XXXXXX")
installed=${INSTALLED:-$scratch/installed}
mkdir -p "$installed"
installed=$(cd "$installed" && pwd)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '# %s (%ss)\n' "$1" "$SECONDS"; }

install() {
  if [ ! -e "$installed/python/whole" ]; then
    rm -rf "$installed/python"
    python3 -m venv "$installed/python"
    timeout 300 "$installed/python/bin/pip" install --quiet --disable-pip-version-check mcp-server-time mcp-server-git && touch "$installed/python/whole" || return
  fi
  [ -e "$installed/node_modules/.bin/mcp-server-everything" ] && return
  echo '{ "private": true }' >"$installed/package.json"
  timeout 300 npm install --prefix "$installed" --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem \
    @modelcontextprotocol/server-memory @modelcontextprotocol/server-sequential-thinking
}

say 'build'
if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=$target/debug/locum
fi
LOCUM=$(realpath "$LOCUM")

say 'install'
install || { echo 'NOT RUN: the servers could not be installed'; exit 3; }

say 'run'
[ $# -gt 0 ] || set -- time git everything filesystem memory thinking
PYTHONDONTWRITEBYTECODE=1 python3 "$here/mcp_servers/main.py" "$LOCUM" "$scratch" "$installed" "$@"
