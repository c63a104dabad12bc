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
find Cargo.toml Cargo.lock rust-toolchain.toml src config -type f ! -path config/release.txt -exec sha256sum {} + |
    LC_ALL=C sort | sha256sum | cut -d ' ' -f 1
