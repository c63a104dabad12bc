#!/usr/bin/env bash
# Public suites of attacks, run by a model that obeys: a script calls `execute_command` with each command, under the starter policy, and
# does a benign task after it. Prints a row for each suite, and every effect that must not be.
#
#   tests/attacks.sh [ARGUMENT...]          fetches the suites into a temporary folder, which is removed
#   LOCUM_SUITES=DIR tests/attacks.sh       takes suites that are there, and keeps those it fetches there; outside of this repository
#   LOCUM=path tests/attacks.sh             uses that program in place of `cargo build`
#   tests/attacks.sh --suite NAME --limit CASES --jobs N
#
# The commands are real attacks. They run in Locum's sandbox and nowhere else, with a home of their own; still, use a machine that is
# there for it. Needs namespaces, git, python3 3.11 with venv, github.com and PyPI. Takes about two minutes on two cores once the suites are there.
# Ends with 0 when nothing came of any attack and every benign task was done, 1 otherwise, 2 when a suite could not be fetched.
set -euo pipefail

[ "${LOCUM_DISPOSABLE:-}" = yes ] || { echo 'run this only on a machine that can be thrown away, with LOCUM_DISPOSABLE=yes' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
suites=${LOCUM_SUITES:-$scratch/suites}
mkdir -p "$suites"
suites=$(cd "$suites" && pwd)
case $suites/ in "$root"/*) echo "suites are kept outside of this repository, not in $suites" >&2; exit 2 ;; esac
export PYTHONDONTWRITEBYTECODE=1

fetch() { # fetch OWNER/NAME COMMIT FOLDER: one folder of a repository, as it was at a commit
  local to=$suites/${1#*/}
  [ -e "$to" ] && return
  git init -q "$scratch/fetched"
  git -C "$scratch/fetched" fetch -q --depth 1 --filter=blob:none "https://github.com/$1" "$2" || exit 2
  git -C "$scratch/fetched" sparse-checkout set "$3"
  git -C "$scratch/fetched" -c remote.origin.url="https://github.com/$1" -c remote.origin.promisor=true checkout -q "$2" || exit 2
  mv "$scratch/fetched" "$to"
}

fetch Dicklesworthstone/destructive_command_guard 1a52415130fffec249e3c8adde72f58e3c4d6de0 tests/corpus
fetch AI-secure/RedCode c84b6db88fd8bd258e29f12e692ccfd4287a454d dataset/RedCode-Exec
fetch redcanaryco/atomic-red-team 9f85cf3e54b0cbdd6c702375c555273913eff442 atomics
fetch GTFOBins/GTFOBins.github.io 7382261ef936e35896ba70e7a6b833352ffb9a22 _gtfobins
if [ ! -e "$suites/inspect_evals" ]; then
  python3 -m pip download --quiet --no-deps --dest "$scratch" inspect-evals==0.26.0 || exit 2
  python3 -m zipfile -e "$scratch"/inspect_evals-*.whl "$scratch/wheel"
  mv "$scratch/wheel/inspect_evals" "$suites/inspect_evals"
fi

python=python3
if ! python3 -c 'import yaml' 2>/dev/null; then
  python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install --quiet pyyaml || exit 2
  python=$scratch/venv/bin/python
fi
if [ -z "${LOCUM:-}" ]; then
  cargo build --quiet --manifest-path "$root/Cargo.toml"
  LOCUM=$root/target/debug/locum
fi
status=0
"$python" "$here/attacks/run.py" "$suites" "$LOCUM" "$@" || status=$?
exit "$status"
