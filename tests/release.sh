#!/usr/bin/env bash
# A release, from its sources to its first answer: made on this machine by .ci/release, served from
# a folder on 127.0.0.1, installed by its install script into an empty home, and used as the Action
# in a workflow.
#
#   tests/release.sh [DIR]    DIR takes what is built and installed and stays; without it, a temporary folder that is removed
#
# Needs what tests/emulator.sh needs, a C compiler for musl (Debian: musl-tools) and `rustup target
# add x86_64-unknown-linux-musl`. Builds two programs of the profile `dist`: many minutes. Ends with
# 1 when something is not as it must be.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
scratch=$(mktemp -d)
serving=
trap '[ -z "$serving" ] || kill "$serving"; rm -rf "$scratch"' EXIT
folder=${1:-$scratch/kept}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

say() { printf '# %s (%ss)\n' "$1" "$SECONDS"; }
check() { # check CLAIM COMMAND...
  local claim=$1
  shift
  if "$@" >"$scratch/said" 2>&1; then echo "ok $claim"; else echo "not ok $claim"; sed 's/^/#   /' "$scratch/said"; exit 1; fi
}

say 'a clone with a changelog for the release'
rm -rf "$folder/source" "$folder/files"
git clone --quiet "$root" "$folder/source"
cd "$folder/source"
git config user.name 'A maintainer'
git config user.email maintainer@example.org
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
sed -i "s/^## \[Unreleased\]\$/## [$version] - 2026-01-01/" CHANGELOG.md
git commit --quiet --all --message='changelog: the release'
sources=$(git rev-parse HEAD)

say 'build'
export RELEASE_REPOSITORY=acme/locum CARGO_TARGET_DIR=$folder/target
.ci/release here "$folder/files"
action=$(git rev-parse HEAD)
ls -l "$folder/files"
check 'sealing the same programs again gives the same commit' bash -c "
  git checkout --quiet '$sources' && [ \"\$(.ci/release seal '$folder/files')\" = '$action' ]"
check 'the checksums are right' bash -c "cd '$folder/files' && sha256sum --check --strict SHA256SUMS"

say 'install'
mkdir "$scratch/home" "$scratch/checkout"
(cd "$folder/files" && exec python3 -u -m http.server --bind 127.0.0.1 0 >"$scratch/served" 2>&1) &
serving=$!
until mirror=$(sed -n 's/.*(\(http:[^)]*\)).*/\1/p' "$scratch/served") && [ -n "$mirror" ]; do sleep 0.1; done
clean() { env -i "HOME=$scratch/home" "PATH=$scratch/home/.local/bin:/usr/bin:/bin" "$@"; }
begun=$(date +%s%N)
clean curl -fsS -o "$scratch/home/install.sh" "${mirror%/}/install.sh"
clean sh "$scratch/home/install.sh" --mirror "$mirror"
locum=$scratch/home/.local/bin/locum
say "installed in $((($(date +%s%N) - begun) / 1000000)) ms"
clean locum --version --verbose | tee "$scratch/version"
check 'the program knows its commit' grep -qx "commit: $sources" "$scratch/version"
check 'the program knows its Action' grep -qx "action: acme/locum@$action" "$scratch/version"
check 'the program is static' bash -c "! ldd '$locum' 2>/dev/null | grep -q '=>'"
sed "s/[0-9a-f]\{64\}/$(printf '0%.0s' {1..64})/" "$scratch/home/install.sh" >"$scratch/home/other.sh"
check 'another archive is refused' bash -c "! env HOME='$scratch/other' sh '$scratch/home/other.sh' --mirror '$mirror' && [ ! -e '$scratch/other/.local' ]"

say 'first steps'
cd "$scratch/checkout"
git init --quiet
printf '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2024"\n' >Cargo.toml
mkdir src && echo '//! Nothing.' >src/lib.rs
git add . && git -c user.name=a -c user.email=a@example.org commit --quiet --message=start
clean locum init >/dev/null
check 'init writes the Action of this release' grep -q "uses: acme/locum@$action # v$version\$" .github/workflows/locum.yml
check 'init leaves nothing to fill in' bash -c "! grep -rnE 'OWNER|0000000|TODO|FIXME' .locum .github"
check 'the demo runs' env "HOME=$scratch/home" "RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}" "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}" "$locum" demo
kill "$serving"
serving=

say 'the Action in a workflow'
RELEASE=$folder LOCUM=$locum "$here/emulator.sh" "$folder/emulator"
say 'done'
