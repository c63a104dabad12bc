#!/usr/bin/env bash
# Shows what `locum init` makes of checkouts: language, success command, whether the policy is
# clean, and whether the success command passes in the sandbox, or what init says that it needs.
#
#   tests/starters.sh CHECKOUT...    LOCUM=path uses that program in place of `cargo build`
#
# A checkout is a clone, or a bare git directory, of which a copy is made. Each is worked on in a
# temporary folder and left as it is. The commands that init names for dependencies are run first,
# with a network, as the steps of the workflow run them; INSTALL=no leaves that out. Needs git, and
# whatever the checkouts are built with.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=${CARGO_TARGET_DIR:-$root/target}/debug/locum
fi
LOCUM=$(realpath "$LOCUM")
action=acme/locum@0123456789abcdef0123456789abcdef01234567

language() { # of most of the tracked files that are source
  git ls-files | sed -n 's/.*\.\(rs\|js\|ts\|tsx\|py\|go\|java\|kt\|rb\|php\|c\|cc\|cpp\|cs\|ex\|hs\|swift\|lua\|zig\)$/\1/p' |
    sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }'
}

line() { # NAME
  local commands first check tried
  "$LOCUM" --quiet init --yes --no-check --action $action >"$scratch/out" 2>"$scratch/err" || {
    printf '| %s | - | - | init fails: %s | - |\n' "$1" "$(head -1 "$scratch/err")"
    return
  }
  commands=$(sed -n '/^  success:/,$p' .locum/policy.yml | sed -n 's/^    - "\(.*\)"\( #.*\)\?$/`\1`/p' | paste -sd' ')
  check=$("$LOCUM" policy check 2>&1 | grep -c -i 'warning' || true)
  "$LOCUM" policy test >/dev/null 2>&1 || check=fails
  if [ "${INSTALL:-yes}" = yes ]; then
    # What the workflow runs before Locum's step.
    sed -n '/# What the tests need/,/uses: acme/p' .github/workflows/locum.yml |
      sed -n -e 's/^      - run: \([^|].*\)/\1/p' -e 's/^          \([a-z./].*[^:|]\)$/\1/p' |
      grep -Ev '^[a-z-]+: |^sudo ' >"$scratch/install" || true
    grep -q 'bundler-cache: "true"' .github/workflows/locum.yml && echo 'bundle install' >>"$scratch/install"
    grep -q 'composer-install' .github/workflows/locum.yml && echo 'composer install' >>"$scratch/install"
    timeout "${INSTALL_SECONDS:-600}" bash -e "$scratch/install" >"$scratch/install.log" 2>&1 </dev/null ||
      printf '%s: %s\n' "$1" "$(tail -3 "$scratch/install.log")" >&2
  fi
  "$LOCUM" --quiet init --yes --check --action $action >"$scratch/out" 2>"$scratch/err" || true
  tried=$(sed -n 's/^check: //p' "$scratch/out" | paste -sd';')
  [ -n "$tried" ] || tried=$(sed -n 's/^check: //p' "$scratch/err" | tail -1)
  if [ -n "${VERBOSE:-}" ]; then cat "$scratch/out" "$scratch/err" >&2; fi
  first=$(language)
  printf '| %s | %s | %s | %s | %s |\n' "$1" "${first:--}" "${commands:--}" \
    "$([ "$check" = 0 ] && echo yes || echo "no: $check")" "${tried:-nothing}"
}

printf '| repository | source | success commands | policy clean | tried in the sandbox |\n|---|---|---|---|---|\n'
# A mirror may lack its largest files: they are left out of a commit of their own.
copy() { # FROM TO
  git clone --quiet --no-checkout --no-hardlinks "$1" "$2" 2>/dev/null || return 1
  git -C "$2" read-tree HEAD
  git -C "$2" ls-files --stage | awk '{ print $2 }' | git -C "$2" cat-file --batch-check='%(objectname)' |
    sed -n 's/ missing$//p' >"$scratch/absent"
  if [ -s "$scratch/absent" ]; then
    git -C "$2" ls-files --stage | grep -F -f "$scratch/absent" | cut -f 2- |
      git -C "$2" update-index --force-remove --stdin
    git -C "$2" -c user.name=a -c user.email=a@example.org commit --quiet --message='without absent files'
  fi
  git -C "$2" checkout-index --all --quiet
}

for from in "$@"; do
  name=$(basename "${from%/repo}" | tr + /)
  at=$scratch/$(basename "${from%/repo}")
  copy "$from" "$at" || { printf '| %s | - | - | cannot be cloned | - |\n' "$name"; continue; }
  (cd "$at" && line "$name")
  rm -rf "$at"
done
