#!/bin/sh
# Gets the program of the release that this folder is: downloads it and takes it only if its SHA-256
# is the one in `config/release.txt`. So whoever pins the commit of this folder pins the program.
# The release writes that file; it counts only for the very sources the program was built from.
#
# Usage: download.sh FOLDER PROGRAM [MIRROR]
#   FOLDER   of Locum's sources
#   PROGRAM  is written there
#   MIRROR   the address of a folder with the files of the release, in place of GitHub's
# A downloaded file is kept in $RUNNER_TOOL_CACHE, if set, and checked again whenever it is used.
# Exits with 3 when these sources or this platform have no released program, and with 1 when it
# cannot be had.
set -eu

folder=$1 program=$2 mirror=${3:-}
release=$folder/config/release.txt

none() {
    echo "No released program is used ($1)."
    exit 3
}
fail() {
    echo "::error title=Locum::$1"
    exit 1
}

[ -f "$release" ] || none "these sources are not of a release"
read_key() { sed -n "s/^$1 //p" "$release"; }
repository=$(read_key repository) version=$(read_key version)
case $version in '' | *[!0-9A-Za-z.-]*) fail "config/release.txt: no version" ;; esac
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
Linux-*) none "there is none for $(uname -m)" ;;
*) fail "Locum's Action runs on Linux: use a Linux runner, such as ubuntu-24.04." ;;
esac
file=locum-$version-$target.gz
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$release")
[ -n "$expected" ] || none "the release has none for $target"
if [ "$("$folder/config/source-key.sh" "$folder")" != "$(read_key source)" ]; then
    none "the sources are not those of release $version"
fi

sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
is_right() { [ -f "$1" ] && [ "$(sum "$1")" = "$expected" ]; }

mkdir -p -- "$(dirname -- "$program")"
kept=${RUNNER_TOOL_CACHE:+$RUNNER_TOOL_CACHE/locum/$file}
packed=$program.gz
# A copy is checked and unpacked: nobody changes it in between.
if [ -n "$kept" ] && cp -- "$kept" "$packed" 2>/dev/null && is_right "$packed"; then
    echo "Locum $version for $target: kept from an earlier job."
else
    address=${mirror:-https://github.com/$repository/releases/download/v$version}
    command -v curl >/dev/null ||
        fail "curl is not installed, so $file cannot be downloaded. Set the input binary to build."
    curl --fail --silent --show-error --location --retry 3 --max-time 300 \
        --output "$packed" "${address%/}/$file" ||
        fail "$file cannot be downloaded from $address. Set the input mirror to a folder that has it,\
 or binary to build."
    is_right "$packed" ||
        fail "$file from $address has the SHA-256 $(sum "$packed"), not $expected as in\
 config/release.txt. It is not used."
    echo "Locum $version for $target: downloaded from $address."
    if [ -n "$kept" ] && mkdir -p -- "${kept%/*}" 2>/dev/null; then
        cp -- "$packed" "$kept.$$" && mv -- "$kept.$$" "$kept" || rm -f -- "$kept.$$"
    fi
fi
# Unpacked beside its place first: a job that is cancelled leaves no half of a program there.
gzip -dc <"$packed" >"$program.new"
chmod 755 "$program.new"
mv -- "$program.new" "$program"
