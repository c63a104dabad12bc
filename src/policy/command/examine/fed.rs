//! Programs that are given the names of files by another one: `find ... -exec`, `... | xargs`.
//!
//! In: the words of `xargs` and the commands before it in its pipe. Out: what is started, with the
//! folders below which all files lie in the place of their names. Where the names come from has to
//! be known. What is hidden among the files, the sandbox keeps from being read.

use crate::command::UNKNOWN;
use crate::command::examine::examiner::Examiner;
use crate::command::examine::given::stands_for_files;
use crate::command::examine::names::source;
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

/// Returns true for words that may be given files whose names are not known, where `mark` stands.
pub(super) fn takes_files(words: &[String], mark: &str) -> bool {
    let Some(program) = words.first() else { return false };
    only_parses(words)
        || words::holds(READERS, program)
        || (words::holds(WRITERS, program) && stands_for_files(words, mark))
}

/// Returns true for a program that only looks at the grammar of files. A name must not be taken for
/// an option, so each has to begin with a folder.
pub(super) fn only_parses(words: &[String]) -> bool {
    let [program, option, ..] = words else { return false };
    matches!((program.as_str(), option.as_str()), ("bash" | "sh", "-n") | ("php", "-l"))
}

/// Returns true for a program that only reads, whatever its words are.
pub(crate) fn only_reads(program: &str) -> bool {
    words::holds(READERS, program)
}

/// Returns the folders below which all files lie that are named by the output of a pipe.
pub(crate) fn names(commands: &[&SimpleCommand]) -> Option<Vec<String>> {
    source(commands, &RepoPath::root()).map(|files| files.folders)
}

/// Returns words with files in the place of a mark, or at the end where there is none.
pub(super) fn with_files(words: &[String], mark: &str, files: &[&str]) -> Vec<String> {
    let mut out = Vec::with_capacity(words.len() + files.len());
    for word in words {
        if word == mark {
            out.extend(files.iter().map(|file| (*file).to_owned()));
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

/// Returns what `xargs` does behind these commands; `None` where something about it is not known.
pub(crate) fn xargs(
    words: &[String],
    before: &[&SimpleCommand],
    folder: &RepoPath,
) -> Option<CommandEffects> {
    let (given, at) = xargs::options(words)?;
    let inner = words.get(at..)?;
    let program = inner.first()?;
    let files = source(before, folder)?;
    let by_null = (given.null && files.null) || separated(words, before, folder).is_some();
    // Names would run into one.
    if files.null && !given.null {
        return None;
    }
    let mark = given.mark.unwrap_or_default();
    let place = if mark.is_empty() { UNKNOWN } else { mark.as_str() };
    let mut placed = inner.to_vec();
    placed.extend(mark.is_empty().then(|| place.to_owned()));
    let writes = words::holds(WRITERS, program)
        && stands_for_files(&placed, place)
        // A name that looks like an option would be one.
        && files.are_below
        && !files.folders.iter().any(|folder| folder.starts_with('-'));
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
    let known = words::holds(READERS, program) || (by_null && writes);
    // `xargs` replaces no program: other words would be judged than those that run.
    if *program == mark {
        return None;
    }
    let inside = |word: &&String| !mark.is_empty() && word.contains(&mark) && **word != mark;
    if !known || inner.iter().any(|word| inside(&word)) || inner.iter().any(|word| word == "--") {
        return None;
    }
    let folders: Vec<&str> = files.folders.iter().map(String::as_str).collect();
    let mut started = with_files(inner, &mark, &folders);
    if mark.is_empty() {
        started.extend(files.folders.iter().cloned());
    }
    let effects = CommandEffects::of(&started, folder);
    let reason = starts("xargs", &started);
    let finding = UncoveredWord { index: at, reason, unfamiliar: false, started: true };
    Some(CommandEffects {
        findings: vec![finding],
        starts: vec![StartedCommand { words: started, effects: effects.clone() }],
        only_starts: false,
        needs_sandbox: true,
        ..effects
    })
}

/// Returns the words of a pipe that ends with `xargs`, all of them, with names that end where no
/// name can: where what is started changes the files, and nothing else is cut otherwise.
pub(crate) fn separated(
    words: &[String],
    before: &[&SimpleCommand],
    folder: &RepoPath,
) -> Option<Vec<Vec<String>>> {
    let (given, at) = xargs::options(words)?;
    let files = source(before, folder)?;
    let writes = words.get(at).is_some_and(|program| words::holds(WRITERS, program));
    let cut = given.null || files.null || given.lines;
    let mut all = files.by_null.filter(|_| writes && !cut)?;
    let mut xargs = words.to_vec();
    xargs.insert(1, "-0".to_owned());
    all.push(xargs);
    (all.len() == before.len() + 1).then_some(all)
}
