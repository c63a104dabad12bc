//! Where a script would show files that a run leaves out by the words it adds: for those who run
//! the script as it is written.
//!
//! In: a script that knows what may not be seen. Out: the files and folders to look through for
//! such files, and whether git's own are among them. Nothing is looked at here.

use crate::command::examine::{CommandEffects, PathUse};
use crate::command::neutral;
use crate::command::tables::wrappers;
use crate::command::{Script, UNKNOWN};
use locum_base::path::RepoPath;

/// What a run leaves out of what a script shows of the text of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files and folders below which all of it lies that is on the disk.
    pub below: Vec<RepoPath>,
    /// The same, for searches that pass over hidden names and over what git ignores.
    pub below_searched: Vec<RepoPath>,
    /// True where git shows some of what it keeps: files of its index and of commits.
    pub committed: bool,
}

/// Where a command shows files that a run leaves out.
enum Shown {
    OnDisk(Vec<RepoPath>),
    Searched(Vec<RepoPath>),
    Committed,
}

impl Script {
    /// Returns where a run leaves files out of what this script shows.
    pub fn left_out(&self) -> LeftOut {
        let strict = self.examinations().into_iter();
        let strict = strict.map(|(simple, effects)| (simple.words.as_slice(), effects));
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| {
            let words = command.simple.words.get(command.assignments..).unwrap_or_default();
            (words, command.examine(&self.folder))
        });
        let commands: Vec<(&[String], CommandEffects)> = strict.chain(loose).collect();
        // Names may be given to a program that reads the files.
        let gives_names = self.tree.is_err() || self.names("xargs");
        let only_looks = self.tree.is_ok()
            && commands.iter().all(|(words, effects)| {
                effects.edits.is_empty()
                    && (!neutral::names_git(words) || keeps_files_as_they_are(words))
            });
        let mut found = LeftOut::default();
        let shown = commands
            .iter()
            .filter(|(words, _)| self.neutral.leaves_out(words))
            .filter(|(words, _)| gives_names || !neutral::shows_names_alone(words))
            .map(|(words, effects)| shown(words, effects, only_looks));
        for shown in shown {
            match shown {
                Shown::OnDisk(below) => found.below.extend(below),
                Shown::Searched(below) => found.below_searched.extend(below),
                Shown::Committed => found.committed = true,
            }
        }
        let changes_folder = self.names("cd");
        for below in [&mut found.below, &mut found.below_searched] {
            // Behind a change of folder, paths are not those that the words name.
            if below.iter().any(RepoPath::is_root) || (!below.is_empty() && changes_folder) {
                *below = vec![RepoPath::root()];
            }
            below.sort();
            below.dedup();
        }
        found
    }

    /// Returns true where a word of one of its commands is this one.
    fn names(&self, wanted: &str) -> bool {
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| &command.simple);
        let mut commands = self.simple_commands().into_iter().chain(loose);
        commands.any(|simple| simple.words.iter().any(|word| word == wanted))
    }
}

/// Returns the verb of a git without options that matter, with the words behind it.
fn verb_of_git(words: &[String]) -> Option<(&String, &[String])> {
    let words = words.get(wrappers::innermost(words)..)?;
    let (_, behind) = words.split_first().filter(|(program, _)| *program == "git")?;
    let is_plain = |word: &&String| matches!(word.as_str(), "-P" | "--no-pager");
    behind.get(behind.iter().take_while(is_plain).count()..)?.split_first()
}

/// Returns true for a git behind which its index and commits have the files that they had.
fn keeps_files_as_they_are(words: &[String]) -> bool {
    const VERBS: &[&str] =
        &["status", "ls-files", "rev-parse", "branch", "describe", "merge-base", "rev-list"];
    shows_committed(words)
        || verb_of_git(words).is_some_and(|(verb, _)| VERBS.contains(&verb.as_str()))
}

/// Returns true for a git that shows what it keeps, and nothing that is on the disk alone.
fn shows_committed(words: &[String]) -> bool {
    let Some((verb, behind)) = verb_of_git(words) else { return false };
    let has = |starts: &[&str]| {
        let options = behind.iter().take_while(|word| *word != "--");
        let mut options = options.filter(|word| word.starts_with('-'));
        options.any(|word| starts.iter().any(|start| word.starts_with(start)))
    };
    match verb.as_str() {
        "log" | "show" | "diff-tree" | "diff-index" | "blame" => true,
        "diff" | "diff-files" => !has(&["--no-i"]),
        "grep" => !has(&["--no-i", "--no-e", "--u"]),
        "ls-files" => behind.iter().all(|word| !word.starts_with('-')),
        _ => false,
    }
}

/// Returns true for a search that passes over hidden names and over what git ignores.
fn passes_over_ignored(words: &[String]) -> bool {
    const LETTERS: &str = "nilcwFSsHNIovxpPUABCemtT0123456789";
    const OPTIONS: &[&str] = &[
        "--line-number",
        "--no-line-number",
        "--ignore-case",
        "--smart-case",
        "--case-sensitive",
        "--files-with-matches",
        "--count",
        "--count-matches",
        "--word-regexp",
        "--line-regexp",
        "--fixed-strings",
        "--only-matching",
        "--no-heading",
        "--heading",
        "--with-filename",
        "--no-filename",
        "--color",
        "--sort",
        "--max-count",
        "--after-context",
        "--before-context",
        "--context",
        "--type",
        "--type-not",
        "--regexp",
        "--multiline",
        "--pcre2",
        "--json",
        "--stats",
        "--files",
    ];
    let is_known = |word: &String| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            OPTIONS.contains(&word.split('=').next().unwrap_or_default())
        }
        Some(letters) => letters.chars().all(|letter| LETTERS.contains(letter)),
        None => true,
    };
    let is_rg = words.first().is_some_and(|program| program == "rg");
    is_rg && words.iter().take_while(|word| *word != "--").all(is_known)
}

/// Returns where a command shows such files: the paths that it names, where nothing else can be
/// meant.
fn shown(words: &[String], effects: &CommandEffects, only_looks: bool) -> Shown {
    let inner = words.get(wrappers::innermost(words)..).unwrap_or_default();
    let is_git = inner.first().is_some_and(|program| program == "git");
    let is_known = effects.findings.is_empty()
        && effects.globs.is_empty()
        && !inner.iter().any(|word| word == UNKNOWN);
    if is_known && only_looks && shows_committed(words) {
        return Shown::Committed;
    }
    let inside = |used: &PathUse| match used {
        PathUse::Inside(path) => Some(path.clone()),
        PathUse::Perhaps(_) | PathUse::Outside(_) | PathUse::Scratch(_) => None,
    };
    let named: Option<Vec<RepoPath>> = effects.reads.iter().map(inside).collect();
    // Git shows what a commit touches, wherever that is.
    let below = named
        .filter(|named| is_known && !is_git && !named.is_empty())
        .unwrap_or_else(|| vec![RepoPath::root()]);
    if passes_over_ignored(inner) { Shown::Searched(below) } else { Shown::OnDisk(below) }
}

#[cfg(test)]
mod tests {
    use crate::command::Script;
    use crate::glob::PathGlob;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    fn left_out(script: &Script) -> String {
        let found = script.left_out();
        let committed = found.committed.then(|| "git".to_owned());
        let below = found.below.iter().map(ToString::to_string);
        let searched = found.below_searched.iter().map(|path| format!("?{path}"));
        committed.into_iter().chain(below).chain(searched).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_run_leaves_out_lies_below_what_a_command_goes_through() {
        for (text, expected) in [
            ("grep -rn x src docs", "docs src"),
            ("grep -rn x src && rg x src/a", "src ?src/a"),
            ("grep -n x src/a", ""),
            ("cat src/a", ""),
            ("rg x", "?."),
            ("rg x src", "?src"),
            ("rg -n -A3 --type=rust x src", "?src"),
            ("rg -u x src", "."),
            ("rg -nu x src", "."),
            ("rg --hidden x src", "src"),
            ("rg -. x src", "."),
            ("rg --no-ignore x src", "src"),
            ("rg -g '*' x src", "src"),
            ("rg x src | head", "?src"),
            ("rg x src && rg x", "?."),
            ("timeout 5 rg x src", "?."),
            ("rg --unheard x src", "."),
            ("cd src && rg x a", "?."),
            ("for f in a b; do rg x $f; done", "?."),
            ("rg x src/*", "?."),
            // What git keeps.
            ("git grep x src", "git"),
            ("git grep --untracked x", "."),
            ("git grep --no-index x", "."),
            ("git show HEAD", "git"),
            ("git -P diff -- src", "git"),
            ("git diff | head", "git"),
            ("git -C src diff", "."),
            ("git status -s && git diff", "git"),
            ("git log -p", "git"),
            ("git log", ""),
            ("git branch", ""),
            ("git add -A && git diff --cached", "."),
            ("git diff > out.patch", "git"),
            ("git diff && rg x src", "git ?src"),
            // Names alone.
            ("rg --files src", ""),
            ("rg -e --files src", "?src"),
            ("git status -s", ""),
            ("git status -v", "."),
            ("git ls-files", ""),
            ("git ls-files | head", ""),
            ("git ls-files | xargs wc -l", "git"),
            ("git ls-files -o | xargs wc -l", "."),
            ("cat $(git ls-files src)", "."),
        ] {
            let unseen = [PathGlob::parse("**/.env").unwrap()];
            let script = Script::parse(text).leaving_out(unseen.into());
            assert_eq!(left_out(&script), expected, "{text}");
            assert_eq!(left_out(&Script::parse(text)), "", "{text}, where everything may be seen");
        }
    }

    #[test]
    fn paths_are_those_of_the_folder_that_the_script_runs_in() {
        let unseen = [PathGlob::parse("**/.env").unwrap()];
        let script = Script::parse_in("rg x . ../docs", &RepoPath::parse("src").unwrap());
        assert_eq!(left_out(&script.leaving_out(unseen.into())), "?docs ?src");
    }
}
