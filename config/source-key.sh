#!/bin/sh
# Names a version of Locum's sources: prints the SHA-256 of the names and contents of everything
# that a build reads. The Action keeps the built program under this name. `github.action_ref` would
# not do: inside a composite action it is the ref of the nested action that asks. Source:
# https://github.com/actions/runner/issues/2473 `config/release.txt` is no part of it: the release
# that is built from these sources is written there afterwards.
#
# Usage: source-key.sh FOLDER
set -eu

cd -- "$1"
# macOS may have the other program alone; both write the same lines.
sums='sha256sum'
command -v sha256sum >/dev/null || sums='shasum -a 256'
# shellcheck disable=SC2086 # the program and its option
find Cargo.toml Cargo.lock rust-toolchain.toml src config -type f ! -path config/release.txt -exec $sums {} + |
    LC_ALL=C sort | $sums | cut -d ' ' -f 1
