//! How git is run: without anything a repository's configuration could start, in the repository the
//! script is in and no other, and without files that may not be seen.
//!
//! In: the words of a simple command, some of which may not be known. Out: words to add to it, and
//! variables that say the same to a git that another program starts.

use std::sync::Arc;

use crate::command::UNKNOWN;
use crate::command::tables::{git, programs, verbs, wrappers};
use crate::glob::PathGlob;

/// Settings that take away from a repository's configuration whatever starts programs.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.attributesFile", "/dev/null"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    // A difference inside a submodule is shown by another git, which heeds that repository's
    // settings.
    ("diff.submodule", "short"),
    ("status.submoduleSummary", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("protocol.ext.allow", "never"),
];

/// Whose commits are that a contained script makes: they stay in its layer, and a stash needs an
/// author, whom nobody named on a fresh machine.
const AUTHOR: &[(&str, &str)] = &[("user.name", "command"), ("user.email", "command@localhost")];

/// The tree without entries: attributes are read from it, so that no filter, driver or conversion
/// is found.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Verbs that show differences, which attributes could hand to other programs.
const SHOWS: &[&str] = &["diff", "log", "show", "diff-tree", "diff-files", "diff-index", "blame"];

/// Verbs that show files that no word names, and take patterns of files to leave out.
const LEAVES_OUT: &[&str] =
    &["diff", "log", "show", "diff-tree", "diff-files", "diff-index", "grep", "status", "ls-files"];

/// Verbs that show a file when they are given its number.
const BY_NUMBER: &[&str] = &["show", "diff", "grep", "diff-tree", "diff-index"];

/// What is known of the place a script runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeutralFolder {
    /// Where the repository lies, without a slash at its end; empty where that is not known.
    pub(super) root: String,
    /// What may not be seen.
    pub(super) unseen: Arc<[PathGlob]>,
}

impl NeutralFolder {
    /// Returns the words with what is added to them.
    pub(super) fn words(&self, words: &[String]) -> Vec<String> {
        let mut all: Vec<String> = words
            .iter()
            .enumerate()
            .map(|(at, word)| self.instead(words, at).unwrap_or_else(|| word.clone()))
            .collect();
        for (at, added) in self.added(words).into_iter().rev() {
            all.splice(at.min(all.len())..at.min(all.len()), added);
        }
        all
    }

    /// Returns what is put in a word's place: what may be any object has to be a commit, for it
    /// could be any file.
    pub(super) fn instead(&self, words: &[String], at: usize) -> Option<String> {
        let start = wrappers::innermost(words);
        let (words, at) = (words.get(start..)?, at.checked_sub(start)?);
        let verb = verbs::verb(words)?;
        let numbers = !self.unseen.is_empty()
            && words.first().is_some_and(|word| word == "git")
            && BY_NUMBER.contains(&verb);
        let word = words
            .get(at)
            .filter(|_| numbers && words.iter().take(at).all(|before| before != "--"))?;
        let separator = if word.contains("...") { "..." } else { ".." };
        let as_commit = |part: &str| {
            let any = git::may_be_any_object(part) && git::path_of_revision(part).is_none();
            if any { format!("{part}^{{commit}}") } else { part.to_owned() }
        };
        let commits: Vec<String> = word.split(separator).map(as_commit).collect();
        Some(commits.join(separator)).filter(|commits| commits != word)
    }

    /// Returns words to add, each list with the index of the word it goes before, in order.
    pub(super) fn added(&self, words: &[String]) -> Vec<(usize, Vec<String>)> {
        let start = wrappers::innermost(words);
        let mut added = self.added_to_program(words.get(start..).unwrap_or_default());
        for (at, _) in &mut added {
            *at += start;
        }
        added
    }

    /// Returns true for words to which patterns of what may not be seen are added.
    pub(super) fn leaves_out(&self, words: &[String]) -> bool {
        self.added(words) != Self::default().added(words)
    }

    fn added_to_program(&self, words: &[String]) -> Vec<(usize, Vec<String>)> {
        match words.first().map(String::as_str) {
            Some("git") => self.added_to_git(words),
            Some("rg") => self.added_before_operands(words, |glob| {
                vec![format!("--iglob=!{}", from_anywhere(glob))]
            }),
            Some("grep") if programs::descends(words) => {
                self.added_before_operands(words, grep_excludes)
            }
            _ => Vec::new(),
        }
    }

    fn added_to_git(&self, words: &[String]) -> Vec<(usize, Vec<String>)> {
        let mut first = vec!["--no-pager".to_owned(), "--no-optional-locks".to_owned()];
        first.extend(
            SETTINGS.iter().flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")]),
        );
        let mut added = vec![(1, first)];
        let verb = verbs::place(words);
        if let Some((at, verb)) = verb.and_then(|at| words.get(at).map(|verb| (at, verb))) {
            if SHOWS.contains(&verb.as_str()) {
                let no_drivers = if verb == "blame" {
                    vec!["--no-textconv"]
                } else {
                    vec!["--no-ext-diff", "--no-textconv"]
                };
                added.push((at + 1, no_drivers.into_iter().map(str::to_owned).collect()));
            }
            if LEAVES_OUT.contains(&verb.as_str())
                && git::shows_files(verb, words.get(at + 1..).unwrap_or_default())
            {
                let leave_out =
                    |glob: &PathGlob| format!(":(top,exclude,icase,glob){}", glob.text());
                added.push((words.len(), self.unseen.iter().map(leave_out).collect()));
            }
        }
        added
    }

    /// For programs of which a later pattern overrules an earlier one, and which look no further
    /// for options after `--`.
    fn added_before_operands(
        &self,
        words: &[String],
        exclude: impl Fn(&PathGlob) -> Vec<String>,
    ) -> Vec<(usize, Vec<String>)> {
        let end = programs::end_of_options(words);
        vec![(end, self.unseen.iter().flat_map(exclude).collect())]
    }

    /// Returns variables for a script that names git: what [`NeutralFolder::words`] says, to a git
    /// started by something else.
    pub(super) fn environment(&self, contained: bool) -> Vec<(String, String)> {
        let mut variables: Vec<(String, String)> = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "false"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        if !contained {
            variables.push(("GIT_ATTR_SOURCE".to_owned(), EMPTY_TREE.to_owned()));
        }
        // Named empty, a program for differences is started all the same, and ends git. Where what
        // a script starts is contained, a difference is worth more than that.
        let settings = SETTINGS.iter().filter(|(key, _)| !contained || *key != "diff.external");
        let settings = settings.chain(AUTHOR.iter().filter(|_| contained));
        variables.push(("GIT_CONFIG_COUNT".to_owned(), settings.clone().count().to_string()));
        for (index, (key, value)) in settings.enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned()));
            variables.push((format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned()));
        }
        if !self.root.is_empty() {
            variables.push(("GIT_DIR".to_owned(), format!("{}/.git", self.root)));
            variables.push(("GIT_WORK_TREE".to_owned(), self.root.clone()));
        }
        variables
    }
}

/// Returns true for words one of which names git, alone or in a text that something else may run.
pub(super) fn names_git(words: &[String]) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    words
        .iter()
        .filter(|word| *word != UNKNOWN)
        .any(|word| word.split(|letter| !is_letter(letter)).any(|part| part == "git"))
}

/// Returns true for a command that shows what files are called, and nothing of what is in them.
pub(super) fn shows_names_alone(words: &[String]) -> bool {
    let words = words.get(wrappers::innermost(words)..).unwrap_or_default();
    match words.first().map(String::as_str) {
        Some("git") => verbs::place(words).is_some_and(|at| {
            let behind = words.get(at + 1..).unwrap_or_default();
            words.get(at).is_some_and(|verb| git::shows_names_alone(verb, behind))
        }),
        // Further behind, the word may be the value of an option.
        Some("rg") => words.get(1).is_some_and(|word| word == "--files"),
        _ => false,
    }
}

/// A pattern that also holds where the search begins in a folder.
fn from_anywhere(glob: &PathGlob) -> String {
    let text = glob.text();
    if text.starts_with("**/") { text } else { format!("**/{text}") }
}

/// `grep` leaves files and folders out by their names alone.
fn grep_excludes(glob: &PathGlob) -> Vec<String> {
    let text = glob.text();
    let (kind, rest) = text
        .strip_suffix("/**")
        .map_or(("--exclude", text.as_str()), |rest| ("--exclude-dir", rest));
    let name = rest.rsplit('/').next().unwrap_or_default();
    if name.chars().all(|letter| letter == '*') || rest.contains(".git/") {
        return vec!["--exclude-dir=.git".to_owned()];
    }
    vec![format!("{kind}={name}")]
}

#[cfg(test)]
mod tests {
    use super::NeutralFolder;
    use crate::glob::PathGlob;
    use pretty_assertions::assert_eq;

    const UNSEEN: &[&str] = &["**/.env", "kept/**", "a/drafts/*", ".git/config"];

    fn run(unseen: &[&str], text: &str) -> Vec<String> {
        let unseen = unseen.iter().map(|glob| PathGlob::parse(glob).unwrap()).collect();
        let neutral = NeutralFolder { root: String::new(), unseen };
        neutral.words(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    /// The words without the settings that every git is given.
    fn shown(unseen: &[&str], text: &str) -> String {
        let words = run(unseen, text);
        let mut left: Vec<&str> = Vec::new();
        let mut rest = words.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            match word {
                "-c" => {
                    rest.next();
                }
                "--no-optional-locks" => {}
                word => left.push(word),
            }
        }
        left.join(" ")
    }

    #[test]
    fn every_git_runs_without_what_a_repository_could_start() {
        for text in ["git", "git log", "git --no-pager branch", "git commit -m x"] {
            let words = run(&[], text);
            assert_eq!(words[..3], ["git", "--no-pager", "--no-optional-locks"], "{text}");
            assert!(words.contains(&"core.hooksPath=/dev/null".to_owned()), "{text}");
        }
        for text in ["rg x", "cat git", "grep x a", "hg log"] {
            assert_eq!(run(&[], text).join(" "), text);
        }
    }

    #[test]
    fn differences_are_shown_without_drivers() {
        let drivers = "--no-ext-diff --no-textconv";
        for (text, expected) in [
            ("git log -1", format!("git --no-pager log {drivers} -1")),
            ("git -P show a", format!("git --no-pager -P show {drivers} a")),
            ("git diff", format!("git --no-pager diff {drivers}")),
            ("git blame a", "git --no-pager blame --no-textconv a".to_owned()),
            ("git branch -a", "git --no-pager branch -a".to_owned()),
            ("git", "git --no-pager".to_owned()),
        ] {
            assert_eq!(shown(&[], text), expected);
        }
    }

    #[test]
    fn programs_that_find_files_themselves_leave_out_what_may_not_be_seen() {
        let pathspecs: Vec<String> =
            UNSEEN.iter().map(|glob| format!(":(top,exclude,icase,glob){glob}")).collect();
        let pathspecs = pathspecs.join(" ");
        let iglobs = "--iglob=!**/.env --iglob=!**/kept/** --iglob=!**/a/drafts/* \
                      --iglob=!**/.git/config";
        let excludes = "--exclude=.env --exclude-dir=kept --exclude-dir=.git --exclude-dir=.git";
        let drivers = "--no-ext-diff --no-textconv";
        for (text, expected) in [
            ("git diff a", format!("git --no-pager diff {drivers} a {pathspecs}")),
            ("git log -p a", format!("git --no-pager log {drivers} -p a {pathspecs}")),
            ("git grep x", format!("git --no-pager grep x {pathspecs}")),
            ("git -P grep x", format!("git --no-pager -P grep x {pathspecs}")),
            (
                "git log --stat=80 a",
                format!("git --no-pager log {drivers} --stat=80 a {pathspecs}"),
            ),
            ("git log -np a", format!("git --no-pager log {drivers} -np a {pathspecs}")),
            (
                "git log -p -- --follow",
                format!("git --no-pager log {drivers} -p -- --follow {pathspecs}"),
            ),
            ("git ls-files a", format!("git --no-pager ls-files a {pathspecs}")),
            ("git log -p --follow=x", format!("git --no-pager log {drivers} -p --follow=x")),
            ("git log -p -L1:a", format!("git --no-pager log {drivers} -p -L1:a")),
            ("git log -", format!("git --no-pager log {drivers} -")),
            ("git ls-files --error-unmatch", "git --no-pager ls-files --error-unmatch".to_owned()),
            ("git log ap", format!("git --no-pager log {drivers} ap")),
            ("git -p log a", format!("git --no-pager -p log {drivers} a")),
            // No file is shown, or the options allow no patterns.
            ("git log a", format!("git --no-pager log {drivers} a")),
            ("git log -p --follow a", format!("git --no-pager log {drivers} -p --follow a")),
            ("git diff --no-index a b", format!("git --no-pager diff {drivers} --no-index a b")),
            ("git branch", "git --no-pager branch".to_owned()),
            ("rg x src", format!("rg x src {iglobs}")),
            ("rg -- x src", format!("rg {iglobs} -- x src")),
            ("grep -r x -- a", format!("grep -r x {excludes} -- a")),
            ("grep -n x a", "grep -n x a".to_owned()),
            ("git -c a=b grep x", format!("git --no-pager grep x {pathspecs}")),
            ("git -C . grep x", format!("git --no-pager -C . grep x {pathspecs}")),
            ("timeout 5 rg x src", format!("timeout 5 rg x src {iglobs}")),
            ("env CI=1 nice grep -r x", format!("env CI=1 nice grep -r x {excludes}")),
            ("timeout 5 git grep x", format!("timeout 5 git --no-pager grep x {pathspecs}")),
            ("cat -r a", "cat -r a".to_owned()),
        ] {
            assert_eq!(shown(UNSEEN, text), expected);
        }
    }

    /// By its number any file could be shown, one that may not be seen as well.
    #[test]
    fn an_object_named_by_its_number_has_to_be_a_commit() {
        let last = |unseen: &[&str], text: &str| {
            let words = shown(unseen, text);
            words.split(' ').find(|word| word.starts_with("abcd")).map(str::to_owned).unwrap()
        };
        for (text, expected) in [
            ("git show abcd1234", "abcd1234^{commit}"),
            ("git show --stat abcd1234", "abcd1234^{commit}"),
            ("git -P diff abcd1234 a", "abcd1234^{commit}"),
            ("timeout 5 git show abcd1234", "abcd1234^{commit}"),
            ("git grep x abcd", "abcd^{commit}"),
            ("git diff abcd1234..abcd", "abcd1234^{commit}..abcd^{commit}"),
            ("git diff abcd1234...main", "abcd1234^{commit}...main"),
            ("git show abcd1234:a", "abcd1234:a"),
            ("git show abcdxyz", "abcdxyz"),
            ("git show -- abcd1234", "abcd1234"),
            ("git log abcd1234", "abcd1234"),
            ("hg show abcd1234", "abcd1234"),
        ] {
            assert_eq!(last(UNSEEN, text), expected, "{text}");
            let plain = text.split(' ').find(|word| word.starts_with("abcd")).unwrap();
            assert_eq!(last(&[], text), plain, "{text}");
        }
    }
}
