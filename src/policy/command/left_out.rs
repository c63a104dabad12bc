//! Where a script would show files that a run leaves out by the words it adds: for those who run
//! the script as it is written.
//!
//! In: a script that knows what may not be seen. Out: the files and folders to look through for
//! such files. Nothing is looked at here.

use crate::command::examine::{CommandEffects, PathUse};
use crate::command::neutral;
use crate::command::tables::wrappers;
use crate::command::{Script, UNKNOWN};
use locum_base::path::RepoPath;

impl Script {
    /// Returns files and folders below which everything lies that a run leaves out of what its
    /// commands show of the text of files; none where a run leaves nothing out.
    pub fn left_out_below(&self) -> Vec<RepoPath> {
        let strict = self.examinations().into_iter();
        let strict = strict.map(|(simple, effects)| (simple.words.as_slice(), effects));
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| {
            let words = command.simple.words.get(command.assignments..).unwrap_or_default();
            (words, command.examine(&self.folder))
        });
        let commands: Vec<(&[String], CommandEffects)> = strict.chain(loose).collect();
        // Names may be given to a program that reads the files.
        let gives_names = self.tree.is_err() || self.names("xargs");
        let mut below: Vec<RepoPath> = commands
            .iter()
            .filter(|(words, _)| self.neutral.leaves_out(words))
            .filter(|(words, _)| gives_names || !neutral::shows_names_alone(words))
            .flat_map(|(words, effects)| looked_through(words, effects))
            .collect();
        // Behind a change of folder, paths are not those that the words name.
        if below.iter().any(RepoPath::is_root) || (!below.is_empty() && self.names("cd")) {
            return vec![RepoPath::root()];
        }
        below.sort();
        below.dedup();
        below
    }

    /// Returns true where a word of one of its commands is this one.
    fn names(&self, wanted: &str) -> bool {
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| &command.simple);
        let mut commands = self.simple_commands().into_iter().chain(loose);
        commands.any(|simple| simple.words.iter().any(|word| word == wanted))
    }
}

/// Returns what a command goes through: the paths that it names, where nothing else can be meant.
fn looked_through(words: &[String], effects: &CommandEffects) -> Vec<RepoPath> {
    let inner = words.get(wrappers::innermost(words)..).unwrap_or_default();
    // Git shows what a commit touches, wherever that is.
    let is_git = inner.first().is_some_and(|program| program == "git");
    let is_known = effects.findings.is_empty()
        && effects.globs.is_empty()
        && !inner.iter().any(|word| word == UNKNOWN);
    let inside = |used: &PathUse| match used {
        PathUse::Inside(path) => Some(path.clone()),
        PathUse::Perhaps(_) | PathUse::Outside(_) | PathUse::Scratch(_) => None,
    };
    let named: Option<Vec<RepoPath>> = effects.reads.iter().map(inside).collect();
    named
        .filter(|named| is_known && !is_git && !named.is_empty())
        .unwrap_or_else(|| vec![RepoPath::root()])
}

#[cfg(test)]
mod tests {
    use crate::command::Script;
    use crate::glob::PathGlob;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    fn below(script: &Script) -> String {
        let below = script.left_out_below();
        below.iter().map(RepoPath::as_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_run_leaves_out_lies_below_what_a_command_goes_through() {
        for (text, expected) in [
            ("grep -rn x src docs", "docs src"),
            ("grep -rn x src && rg x src/a", "src src/a"),
            ("grep -n x src/a", ""),
            ("cat src/a", ""),
            ("rg x", "."),
            ("rg x src", "src"),
            ("rg x src | head", "src"),
            ("rg x src && rg x", "."),
            ("timeout 5 rg x src", "."),
            ("rg --unheard x src", "."),
            ("cd src && rg x a", "."),
            ("for f in a b; do rg x $f; done", "."),
            ("rg x src/*", "."),
            ("git grep x src", "."),
            ("git show HEAD", "."),
            ("git -P diff -- src", "."),
            ("git log -p", "."),
            ("git log", ""),
            ("git branch", ""),
            // Names alone.
            ("rg --files src", ""),
            ("rg -e --files src", "src"),
            ("git status -s", ""),
            ("git status -v", "."),
            ("git ls-files", ""),
            ("git ls-files | head", ""),
            ("git ls-files | xargs wc -l", "."),
            ("cat $(git ls-files src)", "."),
        ] {
            let unseen = [PathGlob::parse("**/.env").unwrap()];
            let script = Script::parse(text).leaving_out(unseen.into());
            assert_eq!(below(&script), expected, "{text}");
            assert_eq!(below(&Script::parse(text)), "", "{text}, where everything may be seen");
        }
    }

    #[test]
    fn paths_are_those_of_the_folder_that_the_script_runs_in() {
        let unseen = [PathGlob::parse("**/.env").unwrap()];
        let script = Script::parse_in("rg x . ../docs", &RepoPath::parse("src").unwrap());
        assert_eq!(below(&script.leaving_out(unseen.into())), "docs src");
    }
}
