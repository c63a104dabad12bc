#!/bin/sh
# Installs Locum from its release: downloads the archive for this machine, takes it only if its
# SHA-256 is the one below, and puts the program into a folder. The release fills in its repository,
# version and checksums.
#
# Usage: install.sh [--dir DIR] [--mirror URL]
#   --dir DIR      the folder for the program; default: ~/.local/bin
#   --mirror URL   the address of a folder with the files of the release; default: the release's page on GitHub
set -eu

repository='@REPOSITORY@'
version='@VERSION@'
sums='@SUMS@'

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

folder=${HOME:+$HOME/.local/bin}
mirror=https://github.com/$repository/releases/download/v$version
while [ $# -gt 0 ]; do
    case $1 in
    --dir | --mirror)
        [ $# -ge 2 ] || fail "$1 needs a value"
        if [ "$1" = --dir ]; then folder=$2; else mirror=${2%/}; fi
        shift 2
        ;;
    *) fail "unknown argument $1; known: --dir DIR, --mirror URL" ;;
    esac
done
[ -n "$folder" ] || fail "HOME is not set; name a folder with --dir DIR"
case $version in @*) fail "this is a template; use the install.sh of a release" ;; esac

case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
Linux-*) fail "there is no program for $(uname -m); build it from source" ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
*) fail "Locum runs on Linux and macOS; this is $(uname -s)" ;;
esac
archive=locum-$version-$target.tar.gz
expected=$(printf '%s\n' "$sums" | sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p")
[ -n "$expected" ] || fail "release $version has no program for $target; build it from source"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --retry 3 --output "$scratch/$archive" "$mirror/$archive" ||
        fail "cannot download $mirror/$archive"
elif command -v wget >/dev/null; then
    wget -q -O "$scratch/$archive" "$mirror/$archive" || fail "cannot download $mirror/$archive"
else
    fail "neither curl nor wget is installed"
fi
# macOS may have the other program alone.
if command -v sha256sum >/dev/null; then
    found=$(sha256sum <"$scratch/$archive" | cut -d ' ' -f 1)
else
    found=$(shasum -a 256 <"$scratch/$archive" | cut -d ' ' -f 1)
fi
[ "$found" = "$expected" ] || fail "$archive has the SHA-256 $found, not $expected: nothing was installed"

gzip -dc <"$scratch/$archive" | tar -xf - -C "$scratch"
mkdir -p -- "$folder"
# Beside its place first, so that a program that runs is replaced as a whole.
cp -- "$scratch/locum-$version-$target/locum" "$folder/.locum.new"
chmod 755 "$folder/.locum.new"
mv -- "$folder/.locum.new" "$folder/locum"
echo "installed $folder/locum ($version, $target, SHA-256 of the archive checked)"
case ":$PATH:" in
*":$folder:"*) ;;
*) echo "$folder is not in PATH: add it, or call $folder/locum" ;;
esac
