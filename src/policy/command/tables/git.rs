//! Verbs of git that only show.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, writes};
use crate::words;

const GIT_DIFF: &str = "-p -u -s --patch --no-patch --stat=? --shortstat --numstat --summary --name-only \
     --name-status --raw --cached --staged --merge-base --no-ext-diff --no-textconv --no-color \
     --color=? --word-diff=? --word-diff-regex= --color-words=? -U=? --unified=? -w -b -R -z -a \
     --text --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines \
     --ignore-cr-at-eol --minimal --patience --histogram --diff-algorithm= --diff-filter= -M=? \
     -C=? -D --find-renames=? --find-copies=? --no-renames --check --exit-code --quiet -q \
     --full-index --binary --abbrev=? --relative=? --no-prefix --ignore-submodules=? -S= -G= \
     --pickaxe-all --pickaxe-regex --function-context -W --inter-hunk-context= --dirstat=? \
     --compact-summary --patch-with-stat --cc -c -m --no-indent-heuristic --indent-heuristic \
     --irreversible-delete --stat-width= --stat-count= --stat-name-width= --stat-graph-width=";

const GIT_LOG: &str = "--oneline -# -n= --max-count= --skip= --graph --all --decorate=? --no-decorate --decorate-refs= \
     --author= --committer= --grep= -i --regexp-ignore-case -E -F -P --extended-regexp \
     --fixed-strings --invert-grep --all-match --since= --after= --until= --before= --pretty=? \
     --format=? --abbrev-commit --no-abbrev-commit --no-merges --merges --first-parent --reverse \
     --follow -L=: --date= --relative-date --topo-order --date-order --author-date-order \
     --left-right --cherry --cherry-pick --cherry-mark --boundary --tags=? --branches=? \
     --remotes=? --simplify-by-decoration --full-history --ancestry-path=? --min-parents=? \
     --max-parents=? --no-walk=? --parents --children --notes=? --no-notes --source --log-size \
     --no-mailmap --mailmap --use-mailmap --encoding= --expand-tabs=? --show-pulls --exclude=";

const REFLOG: &str =
    "--oneline -# -n= --max-count= --all --date= --format=? --pretty=? --no-abbrev --abbrev-commit";

/// Returns true for an option of `git log` after which it shows files or what is in them.
pub(super) fn is_about_files(word: &str) -> bool {
    let option = word.split('=').next().unwrap_or_default();
    let listed = |option: &str| {
        GIT_DIFF.split_ascii_whitespace().any(|entry| {
            entry.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    if option.starts_with("--") {
        return listed(option);
    }
    option.chars().skip(1).any(|letter| listed(&format!("-{letter}")))
}

/// Every verb of git's own. Anything else is an alias or a program named `git-...`.
pub(super) const VERBS: &str = "add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr \
     check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean \
     clone column commit commit-graph commit-tree config count-objects credential describe \
     diagnose diff diff-files diff-index diff-tree difftool fast-export fast-import fetch \
     fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc \
     get-tar-commit-id grep hash-object help hook index-pack init init-db interpret-trailers log \
     ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file \
     merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes \
     pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport \
     range-diff read-tree rebase reflog refs remote repack replace replay request-pull rerere \
     reset restore rev-list rev-parse revert rm send-email send-pack shortlog show show-branch \
     show-index show-ref sparse-checkout stage stash status stripspace submodule switch \
     symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info var \
     verify-commit verify-pack verify-tag version whatchanged worktree write-tree";

/// One table per git verb, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    reads(
        &["git status"],
        OperandKind::Revisions,
        "-s -b -u=? -z --short --branch --porcelain=? --long --show-stash --untracked-files=? \
         --ignored=? --ignore-submodules=? --ahead-behind --no-ahead-behind --renames \
         --no-renames --find-renames=?",
    ),
    CommandTable {
        names: &["git diff"],
        options: [GIT_DIFF, "--no-index"],
        operands: OperandKind::Revisions,
        effect: ProgramEffect::Reads,
    },
    reads(&["git diff-files", "git diff-index"], OperandKind::Revisions, GIT_DIFF),
    CommandTable {
        names: &["git log", "git show"],
        options: [GIT_DIFF, GIT_LOG],
        operands: OperandKind::Revisions,
        effect: ProgramEffect::Reads,
    },
    reads(
        &["git shortlog"],
        OperandKind::Revisions,
        "-s -n -e -c --summary --numbered --email --since= --until= --no-merges --group=",
    ),
    reads(
        &["git rev-list"],
        OperandKind::Revisions,
        "-n= --max-count= --count --all --no-merges --merges --first-parent --reverse --since= \
         --until= --left-right --objects --parents --topo-order --branches=? --tags=? --remotes=? \
         --max-parents=? --min-parents=?",
    ),
    reads(
        &["git blame"],
        OperandKind::Revisions,
        "-L= -w -C=? -M=? -s -e -l -t -p -f -n --porcelain --line-porcelain --date= --abbrev=? \
         --show-email --show-name --show-number --since=",
    ),
    reads(
        &["git ls-files"],
        OperandKind::Revisions,
        "-c -d -m -o -i -s -u -k -z -t -v --cached --deleted --modified --others --ignored \
         --stage --unmerged --killed --exclude-standard --directory --error-unmatch --full-name \
         --eol --deduplicate",
    ),
    reads(
        &["git ls-tree"],
        OperandKind::Revisions,
        "-r -d -t -l -z --name-only --name-status --full-name --full-tree --long --abbrev=?",
    ),
    reads(&["git cat-file"], OperandKind::Revisions, "-p -t -s -e"),
    reads(
        &["git rev-parse"],
        OperandKind::Revisions,
        "--short=? --abbrev-ref=? --verify -q --quiet --show-toplevel --show-prefix --git-dir \
         --is-inside-work-tree --is-bare-repository --symbolic-full-name --symbolic --show-cdup \
         --branches=? --tags=? --all",
    ),
    reads(
        &["git describe"],
        OperandKind::Revisions,
        "--tags --always --dirty=? --abbrev=? --long --all --match= --exclude= --exact-match \
         --contains --first-parent --candidates=",
    ),
    writes(
        &["git commit"],
        OperandKind::None,
        "-m= --message= -a --all --amend --no-edit --allow-empty -q --quiet -v --verbose -s \
             --signoff -F=< --file=< --author= --date= --no-gpg-sign",
    ),
    writes(
        &["git add"],
        OperandKind::Paths,
        "-A --all -u --update -n --dry-run -v --verbose -f --force -N --intent-to-add",
    ),
    writes(
        &["git restore"],
        OperandKind::Edited,
        "-W --worktree -q --quiet -s= --source= --progress --no-progress --ignore-unmerged",
    ),
    writes(
        &["git rm"],
        OperandKind::Edited,
        "-r -f -q -n --cached --force --quiet --dry-run --ignore-unmatch",
    ),
    writes(&["git mv"], OperandKind::Edited, "-f -k -n -v --force --dry-run --verbose"),
    writes(&["git checkout"], OperandKind::RevisionThenEdited, "-q --quiet --no-progress"),
    reads(&["git clean"], OperandKind::OnlyWith(&["-n", "--dry-run"]), "-n -d -x -X --dry-run"),
    reads(
        &["git apply"],
        OperandKind::PathsUnder(&["--check", "--stat", "--numstat", "--summary"]),
        "--check --stat --numstat --summary -v --verbose -p= --recount --ignore-whitespace -R \
         --reverse",
    ),
    reads(&["git config --get"], OperandKind::HarmlessKeys, "--local --default="),
    reads(
        &["git merge-base"],
        OperandKind::Revisions,
        "--all -a --octopus --is-ancestor --fork-point --independent",
    ),
    reads(&["git name-rev"], OperandKind::Revisions, "--tags --refs= --name-only --always"),
    reads(
        &["git branch"],
        OperandKind::PatternsUnder(&["--list"]),
        "-a -r -v --all --remotes --list --show-current --verbose --contains= --no-contains= \
         --merged=? --no-merged=? --points-at= --sort= --format= --no-color --color=? --no-column",
    ),
    reads(
        &["git tag"],
        OperandKind::PatternsUnder(&["--list", "-l"]),
        "-l -n=? --list --contains= --no-contains= --merged=? --no-merged=? --points-at= --sort= \
         --format= --no-column",
    ),
    reads(&["git remote"], OperandKind::None, "-v --verbose"),
    reads(&["git reflog show"], OperandKind::Revisions, REFLOG),
    reads(&["git reflog"], OperandKind::None, REFLOG),
    reads(&["git worktree list"], OperandKind::None, "-v --verbose --porcelain -z"),
    reads(&["git count-objects"], OperandKind::None, "-v -H --verbose --human-readable"),
    reads(&["git cherry"], OperandKind::Revisions, "-v --abbrev=?"),
    reads(&["git stash list"], OperandKind::None, "--oneline -# --stat"),
    reads(
        &["git show-ref"],
        OperandKind::Text,
        "--heads --tags --verify -q --quiet --hash=? -s=? -d --abbrev=?",
    ),
    reads(
        &["git for-each-ref"],
        OperandKind::Text,
        "--count= --sort= --format= --contains= --merged= --points-at=",
    ),
    reads(
        // Of a file they look at the name alone.
        &["git check-ignore"],
        OperandKind::Text,
        "-v -n -q --verbose --non-matching --quiet --no-index",
    ),
    reads(&["git check-attr"], OperandKind::Text, "-a -z --all --cached"),
    reads(
        &["git diff-tree"],
        OperandKind::Revisions,
        "-r -t -p --root --no-commit-id --name-only --name-status --stat=? -m -c --cc -z",
    ),
    reads(
        &["git grep"],
        OperandKind::PatternThenPaths(&["-e", "-f"]),
        "-n -i -v -l -L -c -o -w -E -F -G -P -H -h -q -I -p -W -A= -B= -C= -e= -f=< --line-number \
         --ignore-case --name-only --files-with-matches --files-without-match --count \
         --word-regexp --extended-regexp --fixed-strings --perl-regexp --cached --heading --break \
         --show-function --all-match --and --or --not",
    ),
];

/// Returns true for a verb of git's own, which no alias can replace.
pub(crate) fn is_own_verb(verb: &str) -> bool {
    words::holds(VERBS, verb)
}

/// Returns true for verbs of git that show files and know no pattern of what to leave out: a rule
/// has to name them.
pub(crate) fn shows_everything(verb: &str, second: Option<&str>) -> bool {
    let verbs: &str = "\
        archive annotate bundle difftool fast-export format-patch pack-objects range-diff \
        request-pull send-email unpack-file whatchanged";
    let second = second.unwrap_or_default();
    words::holds(verbs, verb) || matches!((verb, second), ("stash", "show") | ("worktree", "add"))
}

/// Returns true when a verb of git that can leave files out shows any that no word names. Some
/// options allow no such patterns.
pub(crate) fn shows_files(verb: &str, words: &[String]) -> bool {
    let options = || {
        words
            .iter()
            .take_while(|word| *word != "--")
            .filter(|word| word.len() > 1 && word.starts_with('-'))
    };
    let named = |wanted: &str| {
        options().any(|word| word == wanted || word.split('=').next() == Some(wanted))
    };
    match verb {
        "log" => {
            !named("--follow")
                && !options().any(|word| word.starts_with("-L"))
                && options().any(|word| is_about_files(word))
        }
        "ls-files" => !named("--error-unmatch"),
        "diff" => !named("--no-index"),
        _ => true,
    }
}

/// Options of `git diff`, `git log` and `git show` with which they show what files are called, and
/// how many lines of them differ.
const NAMES: &[&str] = &[
    "--stat",
    "--shortstat",
    "--numstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--compact-summary",
    "--dirstat",
];

/// Options of the same that show nothing of files.
const WITHOUT_FILES: &[&str] = &[
    "--abbrev-commit",
    "--all",
    "--author",
    "--cached",
    "--color",
    "--date",
    "--decorate",
    "--diff-filter",
    "--find-renames",
    "--first-parent",
    "--format",
    "--graph",
    "--grep",
    "--max-count",
    "--merge-base",
    "--merges",
    "--no-color",
    "--no-commit-id",
    "--no-merges",
    "--no-patch",
    "--no-renames",
    "--oneline",
    "--pretty",
    "--reverse",
    "--since",
    "--staged",
    "--until",
    "-M",
    "-r",
    "-s",
    "-z",
];

/// Returns true for words of `git diff` and the like with which it shows names alone. What may be
/// any object is shown as it is, if it is a file.
fn names_files_alone(words: &[String]) -> bool {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let words = || words.iter().take(end);
    let listed =
        |list: &[&str], word: &String| list.contains(&word.split('=').next().unwrap_or_default());
    let is_number = |word: &String| word.strip_prefix('-').is_some_and(words::is_number);
    let is_harmless = |word: &String| {
        !word.starts_with('-')
            || listed(NAMES, word)
            || listed(WITHOUT_FILES, word)
            || is_number(word)
            || word == "-n"
    };
    words().any(|word| listed(NAMES, word))
        && words().all(is_harmless)
        && !words().any(|word| may_be_any_object(word))
}

/// Returns true for a verb of git that shows what files are called, and nothing of what is in them.
pub(crate) fn shows_names_alone(verb: &str, words: &[String]) -> bool {
    // The differences.
    let is_verbose = |word: &String| {
        word.starts_with("--v")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('v'))
    };
    match verb {
        "status" => !words.iter().any(is_verbose),
        "ls-files" => true,
        "diff" | "log" | "show" | "diff-tree" | "diff-index" | "diff-files" => {
            names_files_alone(words)
        }
        _ => false,
    }
}

/// Returns the index of a word that may be a folder, or a pattern, whose history
/// `git log --follow` shows: then nothing can be left out of it.
pub(crate) fn follows_a_folder(words: &[String]) -> Option<usize> {
    let follows = words.first().is_some_and(|word| word == "git")
        && words.iter().any(|word| word == "--follow");
    let shows = || words.iter().skip(1).any(|word| word.starts_with('-') && is_about_files(word));
    let last = words.len().checked_sub(1).filter(|_| follows && shows())?;
    let name = words.get(last)?.rsplit('/').next().unwrap_or_default();
    let ending = name.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending);
    let is_pattern = name.contains(['*', '?', '[', ':']);
    (is_pattern || !ending.is_some_and(ends_a_file)).then_some(last)
}

/// Returns true for a path whose last part has the ending of a file, as in `a.rs`.
pub(crate) fn is_name_of_a_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let ending = name.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending);
    !word.contains(['*', '?', '[', ':', '~', '^', '@']) && ending.is_some_and(ends_a_file)
}

/// Returns true for a word that git takes for more paths than the one it names: a pattern, which
/// also matches below folders, or one that says how it is meant (`:(top)x`, `:/x`).
pub(crate) fn is_pattern_of_paths(word: &str) -> bool {
    word.starts_with(':') || word.contains(['*', '?', '[', '\\'])
}

/// Returns true for what stands behind the dot in names of files. Folders are called `conf.d`,
/// `x.git` or `v1.2`.
fn ends_a_file(ending: &str) -> bool {
    ending.starts_with(|first: char| first.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !["d", "git"].contains(&ending.to_ascii_lowercase().as_str())
}

/// Returns true for a revision that may be any object, a file's content or a folder's too: by its
/// number or the first letters of it, as `git describe` spells it, or said to be no commit.
pub(crate) fn may_be_any_object(word: &str) -> bool {
    let is_number = |word: &str| {
        (4..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let unmarked = word.trim_start_matches('^');
    let (base, types) =
        unmarked.split_once("^{").map_or((unmarked, ""), |(base, rest)| (base, rest));
    let is_other = !types.is_empty() && !types.starts_with('/') && types != "commit}";
    is_other
        || (types.is_empty() && is_number(base))
        || (types.is_empty() && base.rsplit_once("-g").is_some_and(|(_, number)| is_number(number)))
}

/// Cuts `REVISION:PATH` where git does: at the first colon outside of braces.
pub(crate) fn path_of_revision(word: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in word.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some((word.get(..at)?, word.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}
