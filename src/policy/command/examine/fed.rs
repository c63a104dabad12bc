//! Programs that are given the names of files by another one: `find ... -exec`, `... | xargs`,
//! `PROGRAM $(...)`.
//!
//! In: the words of `xargs` and the commands before it in its pipe. Out: what is started, with the
//! folders below which all files lie in the place of their names. Where the names come from has to
//! be known. What is hidden among the files, the sandbox keeps from being read.

use crate::command::UNKNOWN;
use crate::command::examine::examiner::Examiner;
use crate::command::examine::given::{self, stands_for_files};
use crate::command::examine::names::{self, are_packages, source};
use crate::command::examine::xargs;
use crate::command::examine::{CommandEffects, StartedCommand, UncoveredWord};
use crate::command::tree::SimpleCommand;
use crate::words;
use locum_base::path::RepoPath;

/// Programs that only read, whatever their words: a name that holds a blank may become an option.
const READERS: &str = "\
    b2sum basename cat cksum comm cut dirname du echo egrep fgrep fold grep head ls md5sum nl od \
    paste readlink realpath rev sha1sum sha224sum sha256sum sha384sum sha512sum stat sum tac \
    tail wc";

/// Programs that change the files they are given and nothing else.
const WRITERS: &str = "chmod rm sed touch";

/// Programs that print the words they are given and look at no file.
const PRINTERS: &str = "basename dirname echo";

/// All packages below where `go` runs.
const PACKAGES: &str = "./...";

/// Returns true for words that may be given files whose names are not known, where `mark` stands.
pub(super) fn takes_files(words: &[String], mark: &str) -> bool {
    let Some(program) = words.first() else { return false };
    only_parses(words)
        || words::holds(READERS, program)
        || (words::holds(WRITERS, program) && stands_for_files(words, mark))
        || checks_files(words, mark)
}

/// Returns true for a program of the tables that checks, formats or searches the files that stand
/// in the place of `mark`. None of their names may be taken for an option.
pub(crate) fn checks_files(words: &[String], mark: &str) -> bool {
    given::checks_files(words, mark)
}

/// Returns true for a program that only looks at the grammar of files. A name must not be taken for
/// an option, so each has to begin with a folder.
pub(super) fn only_parses(words: &[String]) -> bool {
    let [program, option, ..] = words else { return false };
    matches!(
        (program.as_str(), option.as_str()),
        ("bash" | "sh", "-n")
            | ("php", "-l")
            | ("ruby", "-c" | "-wc" | "-cw")
            | ("node", "--check")
    )
}

/// Returns true for a program that only reads, whatever its words are.
pub(crate) fn only_reads(program: &str) -> bool {
    words::holds(READERS, program)
}

/// Returns true for words of `go` that are given packages, any number of them.
pub(crate) fn tests_packages(words: &[String]) -> bool {
    matches!(words, [go, verb, ..] if go == "go" && matches!(verb.as_str(), "test" | "vet"))
}

/// Returns the folders below which all files lie that are named by the output of a pipe.
pub(crate) fn names(commands: &[&SimpleCommand]) -> Option<Vec<String>> {
    source(commands, None).map(|files| files.folders)
}

/// Returns the same with the words of the first command so that each name is one word and none is
/// taken for an option; `None` where it is not known how.
pub(crate) fn plain_names(commands: &[&SimpleCommand]) -> Option<(Vec<String>, Vec<String>)> {
    let files = source(commands, None).filter(|files| !files.null)?;
    let plain = names::plainly(&commands.first()?.words)?;
    Some((plain, files.folders))
}

/// Returns words with files in the place of a mark; at the end where the mark is empty.
pub(super) fn with_files<S: AsRef<str>>(words: &[String], mark: &str, files: &[S]) -> Vec<String> {
    let files = || files.iter().map(|file| file.as_ref().to_owned());
    if mark.is_empty() {
        return words.iter().cloned().chain(files()).collect();
    }
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        if word == mark {
            out.extend(files());
        } else {
            out.push(word.clone());
        }
    }
    out
}

impl Examiner<'_> {
    /// Notes a command that this one starts beside what it does itself.
    pub(super) fn starts_also(&mut self, index: usize, words: Vec<String>) {
        let effects = CommandEffects::of(&words, self.folder);
        let reason = starts("find", &words);
        self.found.findings.push(UncoveredWord { index, reason, unfamiliar: false, started: true });
        self.found.needs_sandbox = true;
        self.found.runs_code |= effects.runs_code;
        self.found.only_reads &= effects.only_reads;
        self.found.reads.extend(effects.reads.iter().cloned());
        self.found.edits.extend(effects.edits.iter().cloned());
        self.found.starts.push(StartedCommand { words, effects });
    }
}

/// The folders that stand for files were not given like that, so the words are not shown.
fn starts(program: &str, words: &[String]) -> String {
    let started = words.first().map_or("", String::as_str);
    format!("`{program}` starts `{started}` for files, and no rule allows that")
}

/// Returns what `xargs` does where it starts a program that prints its words, whatever it is given.
pub(crate) fn prints(words: &[String], folder: &RepoPath) -> Option<CommandEffects> {
    words.first().filter(|program| *program == "xargs")?;
    let (given, at) = xargs::options(words)?;
    let inner = words.get(at..)?;
    let program = inner.first()?;
    let is_mark = given.mark.is_some_and(|mark| program.contains(&mark));
    if is_mark || !words::holds(PRINTERS, program) {
        return None;
    }
    started(at, vec![inner.to_vec()], folder)
}

/// Returns what `xargs` does behind these commands; `None` where something about it is not known.
pub(crate) fn xargs(
    words: &[String],
    before: &[&SimpleCommand],
    folder: &RepoPath,
) -> Option<CommandEffects> {
    if let Some(printing) = prints(words, folder) {
        return Some(printing);
    }
    let (given, at) = xargs::options(words)?;
    let inner = words.get(at..)?;
    let program = inner.first()?;
    let mark = given.mark.as_deref().unwrap_or_default();
    let inside = |word: &&String| !mark.is_empty() && word.contains(mark) && **word != mark;
    let is_joined = inner.iter().any(|word| inside(&word) || word == "--");
    // `xargs` replaces no program: other words would be judged than those that run.
    let may_run = program != mark && !is_joined;
    if may_run && tests_packages(inner) && are_packages(before) {
        return started(at, vec![with_files(inner, mark, &[PACKAGES])], folder);
    }
    let files = source(before, Some(folder))?;
    let separated = separated(words, before, folder).is_some();
    let by_null = (given.null && files.null) || separated;
    // Names would run into one.
    if files.null && !given.null {
        return None;
    }
    let place = if mark.is_empty() { UNKNOWN } else { mark };
    let mut placed = inner.to_vec();
    placed.extend(mark.is_empty().then(|| place.to_owned()));
    if words::holds(WRITERS, program) && !files.are_below {
        let mut effects = CommandEffects::of(words, folder);
        for finding in &mut effects.findings {
            finding.reason = format!(
                "to `{program}`, a name that begins with `-` would be an option; `find .` prints \
                 `./` before each"
            );
        }
        return Some(effects);
    }
    // A name that looks like an option would be one.
    let is_option = files.folders.iter().any(|folder| folder.starts_with('-'));
    let writes = words::holds(WRITERS, program)
        && stands_for_files(&placed, place)
        && files.are_below
        && !is_option;
    let parses = only_parses(inner);
    let checks = checks_names(&placed, place)
        && !is_option
        && (files.are_below || (files.of_git && separated));
    let known = words::holds(READERS, program) || (by_null && (writes || checks));
    if !known || !may_run {
        return None;
    }
    let mut all = if parses {
        // It takes one file.
        files.folders.iter().map(|folder| with_files(inner, mark, &[folder])).collect()
    } else {
        vec![with_files(inner, mark, &files.folders)]
    };
    if checks && !parses && !given.needs_names {
        let without = |word: &&String| mark.is_empty() || **word != mark;
        all.push(inner.iter().filter(without).cloned().collect());
    }
    let found = started(at, all, folder)?;
    Some(CommandEffects { needs_sandbox: true, ..found })
}

/// Returns true for words that may be given names where `mark` stands, none of which is an option.
fn checks_names(words: &[String], mark: &str) -> bool {
    let reads = words.first().is_some_and(|program| only_reads(program));
    !reads && (only_parses(words) || checks_files(words, mark))
}

/// Returns what `xargs` does, the words of which start one of these commands from a place on.
fn started(at: usize, all: Vec<Vec<String>>, folder: &RepoPath) -> Option<CommandEffects> {
    let reason = starts("xargs", all.first()?);
    let started = |words: Vec<String>| {
        let effects = CommandEffects::of(&words, folder);
        StartedCommand { words, effects }
    };
    let starts: Vec<StartedCommand> = all.into_iter().map(started).collect();
    let effects = starts.iter().map(|started| started.effects.clone());
    let effects = effects.reduce(CommandEffects::and)?;
    let finding = UncoveredWord { index: at, reason, unfamiliar: false, started: true };
    Some(CommandEffects { findings: vec![finding], starts, only_starts: false, ..effects })
}

/// Returns the words of a pipe that ends with `xargs`, all of them, with names that end where no
/// name can, and none that looks like an option: where what is started changes or checks the files,
/// and nothing else is cut otherwise.
pub(crate) fn separated(
    words: &[String],
    before: &[&SimpleCommand],
    folder: &RepoPath,
) -> Option<Vec<Vec<String>>> {
    let (given, at) = xargs::options(words)?;
    let inner = words.get(at..)?;
    let files = source(before, Some(folder))?;
    let mark = given.mark.as_deref().unwrap_or_default();
    let place = if mark.is_empty() { UNKNOWN } else { mark };
    let mut placed = inner.to_vec();
    placed.extend(mark.is_empty().then(|| place.to_owned()));
    let checks = checks_names(&placed, place);
    let writes = inner.first().is_some_and(|program| words::holds(WRITERS, program));
    let of_git = checks && files.of_git;
    let cut = given.lines || ((given.null || files.null) && !of_git);
    let mut all = files.by_null.filter(|_| (writes || checks) && !cut)?;
    if of_git {
        let first = all.first_mut()?;
        *first = names::plainly(first)?;
    }
    let mut xargs = words.to_vec();
    if !given.null {
        xargs.insert(1, "-0".to_owned());
    }
    all.push(xargs);
    (all.len() == before.len() + 1).then_some(all)
}
