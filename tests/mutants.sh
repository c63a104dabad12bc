#!/usr/bin/env bash
# Mutation testing of the code that decides: each function is changed in small ways, one at a time,
# and the tests of its crate have to notice.
#
#   tests/mutants.sh [AREA...]        judge, command, paths, urls, gate, redactor; all when none is named
#   OUT=DIR tests/mutants.sh [AREA]   keeps the lists (caught, missed, timeout, unviable) there
#
# Needs cargo-mutants 26 or later: cargo install cargo-mutants --locked. Takes hours for all areas on
# two cores. Prints a row for each area. Exits with 1 when a mutant is missed, 2 without cargo-mutants.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo-mutants >/dev/null || { echo 'cargo-mutants is not installed' >&2; exit 2; }
out=${OUT:-$(mktemp -d)}
export CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_TEST_DEBUG=false CARGO_PROFILE_DEV_OPT_LEVEL=0

area() { # area NAME: sets package, the arguments of the test run and the files
  case $1 in
    judge) package=locum-policy tests=() files=('src/policy/judge/**' src/policy/verdict.rs src/policy/approval.rs) ;;
    command) package=locum-policy tests=() files=('src/policy/command/**') ;;
    paths) package=locum-policy tests=() files=('src/policy/paths/**' 'src/policy/glob/**' 'src/policy/ignore/**') ;;
    urls) package=locum-policy tests=() files=('src/policy/urls/**') ;;
    gate) package=locum tests=(--lib run::) files=('src/run/request/**') ;;
    redactor) package=locum-base tests=() files=('src/base/secret/**') ;;
    *) echo "no area \`$1\`: judge, command, paths, urls, gate, redactor" >&2; exit 2 ;;
  esac
}

count() { [ -f "$1" ] && grep -c . "$1" || true; }

code=0
[ $# -gt 0 ] || set -- judge command paths urls gate redactor
printf '%-9s %7s %7s %8s %9s\n' area caught missed timeout unviable
for name in "$@"; do
  area "$name"
  mkdir -p "$out/$name"
  cargo mutants --package "$package" --test-package "$package" "${files[@]/#/--file=}" --exclude '**/tests/**' --exclude '**/tests.rs' \
    --jobs "${JOBS:-1}" --timeout 60 --no-shuffle --output "$out/$name" -- "${tests[@]}" >"$out/$name/log" 2>&1 || true
  lists=$out/$name/mutants.out
  [ -d "$lists" ] || { tail -n 20 "$out/$name/log" >&2; exit 1; }
  printf '%-9s %7s %7s %8s %9s\n' "$name" "$(count "$lists/caught.txt")" "$(count "$lists/missed.txt")" \
    "$(count "$lists/timeout.txt")" "$(count "$lists/unviable.txt")"
  [ ! -s "$lists/missed.txt" ] || { sed 's/^/  missed /' "$lists/missed.txt"; code=1; }
done
exit "$code"
