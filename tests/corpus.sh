#!/usr/bin/env bash
# Runs locum over every real file of a folder of other projects' agent configuration, and prints how many of each kind are read and why
# the others are not. Usage: tests/corpus.sh DIR   (LOCUM=path/to/locum; target/debug/locum when it is not set)
#
# DIR holds `index.tsv`: a line with the names kind, repo, path, commit, bytes, file, then one line a file, separated by tabs; `path` is
# where the file stands in its project, `file` where it lies below DIR. Files of one kind that no subcommand reads are counted as `not read`.
set -euo pipefail

dir=${1:?usage: tests/corpus.sh DIR}
locum=${LOCUM:-$(cd "$(dirname "$0")/.." && pwd)/target/debug/locum}
[ -x "$locum" ] || { echo "no program at $locum: build it, or set LOCUM" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home"
mkdir "$HOME"

declare -A read=() rejected=() passed=() modes=()
reasons="$work/reasons"
: >"$reasons"

# Starts a repository that holds one file of the corpus where its project has it, at the root of the nearest place that means something.
stage() {
    rm -rf "$work/repo"
    mkdir -p "$work/repo/$(dirname "$2")"
    git -C "$work/repo" init -q
    cp "$dir/$1" "$work/repo/$2"
}

reject() {
    rejected[$1]=$((${rejected[$1]:-0} + 1))
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$reasons"
}

# Runs locum in the repository; a first line of mistakes becomes the reason.
try() {
    local kind=$1 name=$2
    shift 2
    local status=0
    "$locum" --quiet --repo "$work/repo" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq 0 ] && return 0
    reject "$kind" "$name" "$(cat "$work/out" "$work/err" | grep -m1 '^error' || echo "exit code $status")"
    return 1
}

# Validates a mode file or agent file, then shows every mode it defines.
modes_of() {
    local kind=$1 file=$2 place=$3
    stage "$file" "$place"
    try "$kind" "$file" modes validate "$place" || return 0
    local slugs
    slugs=$("$locum" --quiet --repo "$work/repo" modes validate "$place" --json 2>/dev/null | sed -n '/"modes": \[/,/\]/s/^ *"\([^"]*\)",\{0,1\}$/\1/p')
    for slug in $slugs; do
        try "$kind" "$file" modes show "$slug" || return 0
        try "$kind" "$file" modes show "$slug" --prompt || return 0
        modes[$kind]=$((${modes[$kind]:-0} + 1))
    done
    read[$kind]=$((${read[$kind]:-0} + 1))
}

# Reads an ignore file by asking the policy about a path; whatever the answer is, the file was read.
ignore_of() {
    stage "$2" .rooignore
    local status=0
    "$locum" --quiet --repo "$work/repo" policy explain --mode code 'read(src/lib.rs)' >"$work/out" 2>"$work/err" </dev/null || status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 4 ]; then
        read[$1]=$((${read[$1]:-0} + 1))
    else
        reject "$1" "$2" "$(grep -m1 '^error' "$work/err" || echo "exit code $status")"
    fi
}

# Reads a file of rules by showing the prompt it becomes a part of.
rules_of() {
    stage "$2" "$3"
    try "$1" "$2" modes show code --prompt || return 0
    if grep -q '=== repository-rules' "$work/out"; then
        read[$1]=$((${read[$1]:-0} + 1))
    else
        reject "$1" "$2" "is no part of the prompt"
    fi
}

# Checks a file of a command or a skill where its project has it.
text_of() {
    stage "$2" "$3"
    try "$1" "$2" "$4" validate "$3" || return 0
    read[$1]=$((${read[$1]:-0} + 1))
}

while IFS=$'\t' read -r kind _repo path _commit _bytes file; do
    [ "$kind" = kind ] && continue
    file=${file%$'\r'}
    base=${path##*/}
    case $kind in
    roomodes | kilocodemodes | custom_modes_yaml) modes_of "$kind" "$file" "$base" ;;
    agent_md)
        # The last folder of agents in the path is where its project has them.
        place=$(printf '%s' "$path" | grep -oE '\.(agents|claude/agents|kode/agents|github/agents|opencode/agents?|kilo(code)?/agents?|locum/agents)/.*$' || true)
        modes_of "$kind" "$file" "${place:-$path}"
        ;;
    rooignore) ignore_of "$kind" "$file" ;;
    agents_md) rules_of "$kind" "$file" AGENTS.md ;;
    roo_rules) rules_of "$kind" "$file" ".roo/rules/$base" ;;
    roo_commands) text_of "$kind" "$file" ".roo/commands/$base" commands ;;
    mcp_json)
        place=.mcp.json
        [ "$base" = .mcprc ] && place=.mcprc
        text_of "$kind" "$file" "$place" mcp
        ;;
    skills)
        # The last folder of skills in the path is where its project has them.
        place=$(printf '%s' "$path" | grep -oE '\.(locum|roo|agents|claude|kode|kilocode)/skills[^/]*/[^/]*/SKILL\.md$' || true)
        text_of "$kind" "$file" "${place:-$path}" skills
        ;;
    *) passed[$kind]=$((${passed[$kind]:-0} + 1)) ;;
    esac
done <"$dir/index.tsv"

printf '%-20s %6s %8s %6s\n' kind read rejected modes
for kind in $(printf '%s\n' "${!read[@]}" "${!rejected[@]}" | sort -u); do
    printf '%-20s %6d %8d %6s\n' "$kind" "${read[$kind]:-0}" "${rejected[$kind]:-0}" "${modes[$kind]:--}"
done
for kind in $(printf '%s\n' "${!passed[@]}" | sort); do
    printf '%-20s not read: %d files\n' "$kind" "${passed[$kind]}"
done
if [ -s "$reasons" ]; then
    printf '\nrejected:\n'
    while IFS=$'\t' read -r kind file reason; do
        printf '  %s: %s\n' "$file" "$reason"
    done <"$reasons"
fi
