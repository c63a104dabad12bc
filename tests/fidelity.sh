#!/usr/bin/env bash
# Replays commits of git repositories through each edit tool, as they are and with seeded noise, and prints how many
# came out byte for byte, how many were refused and how many went wrong. Exit code 1 when any did.
#
#   tests/fidelity.sh [--commits N] REPOSITORY...   folders of repositories, bare ones too; nothing is fetched
#   tests/fidelity.sh --clone DIR                   clones the repositories of docs/benchmarks.md into DIR from GitHub
#
# The commits replayed are the newest N (700 unless said) of each that have one parent and change a text file.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
repositories=(
    pallets/flask pallets/click tkem/cachetools theskumar/python-dotenv expressjs/express npm/node-semver pmndrs/zustand
    BurntSushi/ripgrep BurntSushi/memchr sharkdp/fd gin-gonic/gin spf13/cobra junit-team/junit4 mockito/mockito
    apache/commons-csv spring-projects/spring-petclinic rack/rack sinatra/sinatra rspec/rspec-support Seldaek/monolog
    ramsey/uuid redis/hiredis DaveGamble/cJSON jqlang/jq JamesNK/Newtonsoft.Json FluentValidation/FluentValidation
    elixir-plug/plug koalaman/shellcheck Alamofire/Alamofire cpuguy83/go-md2man go-check/check go-yaml/yaml
    inconshreveable/mousetrap russross/blackfriday spf13/pflag
)

if [ "${1:-}" = --clone ]; then
    dir=${2:?usage: tests/fidelity.sh --clone DIR}
    for name in "${repositories[@]}"; do
        target="$dir/${name/\//+}.git"
        [ -d "$target" ] || git clone --quiet --bare "https://github.com/$name.git" "$target"
        echo "$target"
    done
    exit 0
fi
[ $# -gt 0 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$root"
exec cargo bench --locked --bench fidelity -- "$@"
