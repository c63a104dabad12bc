//! Commands whose output has a known form: a number, a commit, names of files, a new file for
//! temporary use.
//!
//! In: the script of a substitution. Out: what its output may be, as one text or word by word;
//! `None` where that is not known. What it prints when it fails counts too: most often nothing.

use crate::command::examine::fed;
use crate::command::examine::names::{lists_packages, passes_lines, passes_on};
use crate::command::loose::{HASH, LoopValue, NEW_FILE, NUMBER, PACKAGE};
use crate::command::parse;
use crate::command::tree::{AndOr, ListOperator, Redirect, ShellCommand, SimpleCommand, quoted};
use crate::words;

/// What lines look like that a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OutputForm {
    /// Digits.
    Number,
    /// The hash of a commit, perhaps shortened.
    Commit,
    /// The name of a new file.
    NewFile,
    /// The name of a package of Go.
    Package,
    /// The hash of a commit, or this text where there is none.
    CommitOr(String),
}

/// Output of a known form.
struct KnownOutput {
    form: OutputForm,
    /// Whether it is one line at most.
    one: bool,
}

/// Returns what the output of a script may be as one text between double quotes.
pub(super) fn text_of(script: &str) -> Option<Vec<LoopValue>> {
    let commands = pipeline(script)?;
    let commands: Vec<&SimpleCommand> = commands.iter().collect();
    let is_list = commands.iter().any(|command| {
        let verb = command.words.get(1).map(String::as_str);
        matches!(verb, Some("log" | "rev-list"))
    });
    let KnownOutput { form, one } = known(&commands)?;
    // A list may be empty though what prints it ends well.
    let nothing = if is_list { LoopValue::Like } else { LoopValue::Text };
    one.then(|| {
        let mut values = values(form);
        values.push(nothing(String::new()));
        values
    })
}

/// Returns what each word of the output of a script may be, cut at blanks.
pub(super) fn words_of(script: &str) -> Option<Vec<LoopValue>> {
    let commands = pipeline(script)?;
    let commands: Vec<&SimpleCommand> = commands.iter().collect();
    match known(&commands) {
        Some(KnownOutput { form, .. }) => Some(values(form)),
        None => fed::names(&commands).map(|folders| vec![LoopValue::Below(folders)]),
    }
}

/// Names of files that a script prints, each one word and none like an option.
pub(super) struct PlainNames {
    /// The script that prints them so.
    pub(super) script: String,
    /// The folders below which they lie.
    pub(super) folders: Vec<String>,
}

/// Returns the names of files that a script prints, and how it prints none that would be cut in two
/// or taken for an option.
pub(super) fn plain_names(script: &str) -> Option<PlainNames> {
    let mut commands = pipeline(script)?;
    let (words, folders) = fed::plain_names(&commands.iter().collect::<Vec<_>>())?;
    commands.first_mut()?.words = words;
    let script = commands.iter().map(rendered).collect::<Option<Vec<_>>>()?.join(" | ");
    Some(PlainNames { script, folders })
}

/// Returns a command as it is written in a script, where only what it says goes elsewhere.
fn rendered(command: &SimpleCommand) -> Option<String> {
    let mut words: Vec<String> = command.words.iter().map(|word| quoted(word)).collect();
    for redirect in &command.redirects {
        let Redirect::Output { fd: 2, path, append } = redirect else { return None };
        words.push(format!("2>{}{}", if *append { ">" } else { "" }, quoted(path)));
    }
    command.variables.is_empty().then(|| words.join(" "))
}

fn values(form: OutputForm) -> Vec<LoopValue> {
    let like = |sample: &str| LoopValue::Like(sample.to_owned());
    match form {
        OutputForm::Number => vec![like(NUMBER)],
        OutputForm::Commit => vec![like(HASH)],
        OutputForm::NewFile => vec![like(NEW_FILE)],
        OutputForm::Package => vec![like(PACKAGE)],
        OutputForm::CommitOr(text) => vec![like(HASH), LoopValue::Text(text)],
    }
}

/// Reads a script that is one pipe, whose words are all known, and perhaps `|| true`.
fn pipeline(script: &str) -> Option<Vec<SimpleCommand>> {
    let tree = parse::parse(script).ok()?;
    let [AndOr { first, rest }] = tree.0.as_slice() else { return None };
    let silent = |command: &ShellCommand| match command {
        ShellCommand::Simple(simple) => {
            matches!(simple.words.as_slice(), [word] if word == "true" || word == ":")
                && simple.redirects.is_empty()
        }
        _ => false,
    };
    let rest_is_silent = rest.iter().all(|(operator, pipeline)| {
        *operator == ListOperator::Or && pipeline.commands.iter().all(silent)
    });
    let plain = |(index, command): (usize, &ShellCommand)| match command {
        ShellCommand::Simple(simple) => {
            // What is said on the other descriptor is no output, unless it is made one.
            let known = |redirect: &Redirect| match redirect {
                // Behind a pipe, it would be read instead.
                Redirect::Input { fd, .. } => *fd == 0 && index == 0,
                Redirect::Output { fd, .. } => *fd == 2,
                Redirect::Text(_) => index == 0,
                Redirect::Duplicate { .. } | Redirect::WorkedOut { .. } | Redirect::Template(_) => {
                    false
                }
            };
            simple.redirects.iter().all(known).then(|| simple.clone())
        }
        _ => None,
    };
    (rest_is_silent && !first.negated).then_some(())?;
    first.commands.iter().enumerate().map(plain).collect()
}

fn known(commands: &[&SimpleCommand]) -> Option<KnownOutput> {
    let (last, before) = commands.split_last()?;
    let words: Vec<&str> = last.words.iter().map(String::as_str).collect();
    let (form, one) = match words.as_slice() {
        ["nproc"] | ["date", "+%s" | "+%Y" | "+%Y%m%d"] => (OutputForm::Number, true),
        ["wc", "-l" | "-w" | "-c" | "-m"] => (OutputForm::Number, true),
        ["grep" | "egrep" | "fgrep", rest @ ..] if counts_lines(rest) => (OutputForm::Number, true),
        ["seq", rest @ ..] => {
            let numbers =
                (1..=3).contains(&rest.len()) && rest.iter().all(|word| words::is_number(word));
            numbers.then_some((OutputForm::Number, false))?
        }
        ["mktemp"] | ["mktemp", "-d"] => (OutputForm::NewFile, true),
        ["tr", "-d", " " | "[:space:]" | "[:blank:]"] => {
            known(before).filter(|known| known.one).map(|known| (known.form, true))?
        }
        ["tac"] => known(before).map(|known| (known.form, known.one))?,
        ["head" | "tail" | "sort" | "uniq", ..] => {
            let passed = passes_lines(&last.words).filter(|passed| !passed.by_null)?;
            let is_one = passed.count.is_some_and(|count| count == "1");
            known(before).map(|known| (known.form, known.one || is_one))?
        }
        ["grep", ..] if passes_on(&last.words) => {
            known(before).map(|known| (known.form, known.one))?
        }
        ["go", "list", ..] if lists_packages(&last.words) => (OutputForm::Package, false),
        ["git", "rev-list", "--count", revision] if is_revision(revision) => {
            (OutputForm::Number, true)
        }
        ["git", "merge-base", one, other] if is_revision(one) && is_revision(other) => {
            (OutputForm::Commit, true)
        }
        ["git", "rev-parse", rest @ ..] => (of_rev_parse(rest)?, true),
        ["git", "log", rest @ ..] => {
            let is_format = |word: &&&str| {
                matches!(**word, "--format=%h" | "--format=%H")
                    || matches!(**word, "--pretty=%h" | "--pretty=%H")
                    || matches!(**word, "--pretty=format:%h" | "--pretty=format:%H")
            };
            let (formats, rest): (Vec<&str>, Vec<&str>) = rest.iter().partition(is_format);
            (formats.len() == 1).then(|| listed_commits(&rest))??
        }
        ["git", "rev-list", rest @ ..] => listed_commits(rest)?,
        _ => return None,
    };
    Some(KnownOutput { form, one })
}

/// Whether these words make `grep` print how many lines match, in one file or its input.
fn counts_lines(words: &[&str]) -> bool {
    let (options, operands): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with('-'));
    let plain = |option: &&str| {
        option.len() > 1 && option.chars().skip(1).all(|letter| "cEFGhinvwx".contains(letter))
    };
    options.iter().all(plain)
        && options.iter().any(|option| option.contains('c'))
        && matches!(operands.len(), 1 | 2)
}

/// Returns what `git rev-parse` prints. What is no revision it prints as it is.
fn of_rev_parse(words: &[&str]) -> Option<OutputForm> {
    let (options, named): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with('-'));
    let [revision] = named.as_slice() else { return None };
    let known = options.iter().all(|option| matches!(*option, "--short" | "--verify" | "-q"));
    (known && is_revision(revision)).then_some(())?;
    Some(if options.contains(&"--verify") {
        OutputForm::Commit
    } else {
        OutputForm::CommitOr((*revision).to_owned())
    })
}

/// Returns what is printed where words choose commits, and nothing of them is shown but their hash.
fn listed_commits(words: &[&str]) -> Option<(OutputForm, bool)> {
    let mut one = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--" => break,
            "-n" => {
                let count = rest.next().filter(|count| words::is_number(count))?;
                one |= *count == "1";
            }
            "--all" | "--reverse" | "--no-merges" | "--merges" | "--first-parent"
            | "--topo-order" | "--date-order" => {}
            // Most histories begin once; elsewhere git is given two lines as one word, and fails.
            "--max-parents=0" => one = true,
            option if option.starts_with('-') => {
                let text =
                    ["--since=", "--until=", "--after=", "--before=", "--author=", "--grep="];
                let count = option
                    .strip_prefix("--max-count=")
                    .or_else(|| option.strip_prefix("-n"))
                    .or_else(|| option.strip_prefix('-'));
                match count.filter(|count| words::is_number(count)) {
                    Some(count) => one |= count == "1",
                    None => text.iter().find(|text| option.starts_with(**text)).map(drop)?,
                }
            }
            _ => {}
        }
    }
    Some((OutputForm::Commit, one))
}

/// One revision in plain words, no range.
fn is_revision(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./~^".contains(letter);
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.chars().all(plain)
        && !word.contains("..")
        && !word.contains("^-")
}

#[cfg(test)]
mod tests {
    use super::{plain_names, text_of, words_of};
    use crate::command::loose::{HASH, LoopValue, NEW_FILE, NUMBER, PACKAGE};
    use pretty_assertions::assert_eq;

    fn like(sample: &str) -> LoopValue {
        LoopValue::Like(sample.to_owned())
    }

    #[test]
    fn one_line_of_a_known_form_is_a_text() {
        let empty = || LoopValue::Text(String::new());
        for script in [
            "git log -1 --format=%H -- docs",
            "git log --format=%h | head -1",
            "git rev-list --max-parents=0 HEAD",
        ] {
            assert_eq!(text_of(script), Some(vec![like(HASH), like("")]), "{script}");
        }
        for (script, sample) in [
            ("nproc", NUMBER),
            ("wc -l < a", NUMBER),
            ("git ls-files | wc -l", NUMBER),
            ("cat a | wc -l | tr -d ' '", NUMBER),
            ("grep -c x a", NUMBER),
            ("grep -ci x a 2>/dev/null || true", NUMBER),
            ("mktemp -d", NEW_FILE),
            ("git merge-base HEAD main", HASH),
            ("git rev-parse --verify HEAD", HASH),
            ("nproc | grep -v 1", NUMBER),
        ] {
            assert_eq!(text_of(script), Some(vec![like(sample), empty()]), "{script}");
        }
        let or_itself = vec![like(HASH), LoopValue::Text("HEAD~1".to_owned()), empty()];
        assert_eq!(text_of("git rev-parse --short HEAD~1"), Some(or_itself));
        for script in [
            "wc -l a",
            "wc -lc",
            "wc -l < a 2>&1",
            "wc -l < a; echo -x",
            "wc -l < a && echo -x",
            "wc -l < a || echo -x",
            "! wc -l < a",
            "grep -c x a b",
            "grep -cr x a",
            "grep -cH x a",
            "grep -c",
            "grep x a",
            "seq 3",
            "mktemp -d /etc/XXXX",
            "mktemp -u",
            "git log --format=%h -3",
            "git log --format=%s -1",
            "git log --format=%h --format=%s -1",
            "git log --format=%h --name-only -1",
            "git log --format=%h -p -1",
            "git log --format=%h --graph -1",
            "git rev-parse --abbrev-ref HEAD",
            "git rev-parse a..b",
            "git rev-parse -x",
            "git rev-parse a^-",
            "git rev-parse a b",
            "nproc | cat",
            "go list ./...",
            "go list -f x ./... | head -1",
            "nproc | grep -o x",
            "echo 1",
            "git $x",
        ] {
            assert_eq!(text_of(script), None, "{script}");
        }
    }

    #[test]
    fn many_lines_of_a_known_form_are_words() {
        for (script, sample) in [
            ("seq 5", NUMBER),
            ("seq 1 2 9", NUMBER),
            ("git log --format=%h -3", HASH),
            ("git log --pretty=format:%H --since=x main..HEAD | tac", HASH),
            ("git rev-list --reverse --max-count=9 HEAD | head -n 3", HASH),
        ] {
            assert_eq!(words_of(script), Some(vec![like(sample)]), "{script}");
        }
        for script in ["go list ./...", "go list ./a/... | grep -v b | sort", "go list"] {
            assert_eq!(words_of(script), Some(vec![like(PACKAGE)]), "{script}");
        }
        let below = |folder: &str| Some(vec![LoopValue::Below(vec![folder.to_owned()])]);
        assert_eq!(words_of("find docs -name '*.md'"), below("docs"));
        assert_eq!(words_of("git ls-files | sort"), below("."));
        assert_eq!(words_of("git diff --name-only -- docs"), below("."));
        for script in [
            "seq -3 3",
            "seq -f %s 3",
            "seq -s- 3",
            "git rev-list --objects HEAD",
            "git rev-list --boundary a..b",
            "git log --format=%h | head -c 3",
            "git log --format=%h | head -3 < a",
            "git log --format=%h | sed s/^/-/",
            "cat a",
            "find docs -printf -x",
            "go list -m all",
            "go list ./... | sed s/^/-/",
            "git diff -- --name-only",
            "git diff --name-only --stat",
            "git diff --name-only --no-index a b",
        ] {
            assert_eq!(words_of(script), None, "{script}");
        }
    }

    #[test]
    fn names_are_printed_so_that_none_is_cut_or_looks_like_an_option() {
        let plain = "':(exclude)-*' ':(exclude)@*' ':(exclude)* *'";
        for (script, expected, folder) in [
            ("git ls-files '*.go'", format!("'git' 'ls-files' '*.go' {plain}"), "."),
            (
                "git diff --name-only HEAD -- docs 2>/dev/null | grep -v x | head -3",
                format!(
                    "'git' 'diff' '--name-only' 'HEAD' '--' 'docs' {plain} 2>'/dev/null' | 'grep' \
                     '-v' 'x' | 'head' '-3'"
                ),
                ".",
            ),
            (
                "find src -name '*.java'",
                "'find' 'src' '-name' '*.java' '!' '-path' '*[[:space:]]*'".to_owned(),
                "src",
            ),
            (
                "find src -name a -print | sort",
                "'find' 'src' '-name' 'a' '!' '-path' '*[[:space:]]*' '-print' | 'sort'".to_owned(),
                "src",
            ),
        ] {
            let found = plain_names(script).unwrap();
            assert_eq!((found.script, found.folders), (expected, vec![folder.to_owned()]));
        }
        for script in [
            "git ls-files -z",
            "git ls-files --error-unmatch a",
            "find src -name a -o -name b",
            "find src -print0",
            "find src -name a -prune",
            "find -P src",
            "find src -exec cat {} +",
            "grep -rl x src",
            "GIT_PAGER=cat git ls-files",
            "cat a",
        ] {
            assert!(plain_names(script).is_none(), "{script}");
        }
    }
}
