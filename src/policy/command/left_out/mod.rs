//! Where a script would show files that a run leaves out by the words it adds, or keeps from being
//! read by its sandbox: for those who run the script as it is written, without one.
//!
//! In: a script that knows what may not be seen. Out: the files and folders to look through for
//! such files, and where git shows its own. Nothing is looked at here.

mod ripgrep;

use crate::command::examine::{CommandEffects, PathUse};
use crate::command::left_out::ripgrep::file_options;
use crate::command::loose::UnknownWord;
use crate::command::neutral;
use crate::command::tables::{git, verbs, wrappers};
use crate::command::variables;
use crate::command::{Script, UNKNOWN};
use locum_base::path::RepoPath;

/// Files that say what searches and git pass over, in lower case.
const RULE_FILES: &[&str] = &[".gitignore", ".ignore", ".rgignore"];

/// Searches like `grep` that no table has, in the order of the alphabet.
const OTHER_SEARCHES: &[&str] = &[
    "ack",
    "ag",
    "bzgrep",
    "egrep",
    "fgrep",
    "pcre2grep",
    "pcregrep",
    "rgrep",
    "ugrep",
    "xzgrep",
    "zgrep",
];

/// What a run leaves out of what a script shows of the text of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files and folders below which all of it lies that is on the disk.
    pub below: Vec<RepoPath>,
    /// Searches that pass over hidden names and over what git ignores.
    pub searches: Vec<PassingSearch>,
    /// What programs that no table has may take for names of files.
    pub named: Vec<RepoPath>,
    /// Folders in which git shows some of what it keeps: files of its index and of commits.
    pub committed: Vec<RepoPath>,
    /// True where git may have been given files first that it does not ignore.
    pub added: bool,
    /// True where git may be led to another repository, or to other settings.
    pub elsewhere: bool,
}

/// A search that passes over hidden names and over what git ignores, unless a pattern names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassingSearch {
    /// The file or folder that is searched.
    pub below: RepoPath,
    /// The folder that its patterns count from.
    pub folder: RepoPath,
    /// Patterns of files, as `rg -g` takes them.
    pub globs: Vec<String>,
    /// Whether hidden names count like others.
    pub hidden_names: bool,
}

/// A command of a script.
struct RunCommand<'s> {
    words: &'s [String],
    /// Whether no variable is set for it that may change what programs do.
    is_plain: bool,
    /// Whether a word of it that is not known may be an option.
    may_have_options: bool,
    effects: CommandEffects,
}

/// What a script may change of what its other commands show.
struct ScriptChanges {
    /// Whether something else may be passed over.
    rules: bool,
    index: IndexChange,
    /// Whether names may be given to a program that reads the files.
    gives_names: bool,
}

/// What git's index may have got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexChange {
    Nothing,
    /// Files that git does not ignore, and those of commits.
    NotIgnored,
    Anything,
}

impl Script {
    /// Returns where a run leaves files out of what this script shows.
    pub fn left_out(&self) -> LeftOut {
        let mut found = LeftOut::default();
        if self.neutral.unseen.is_empty() {
            return found;
        }
        let commands = self.run_commands();
        let changes = self.changes(&commands);
        for command in &commands {
            found.named.extend(command.effects.perhaps.iter().cloned());
            found.below.extend(moved(command));
            found.below.extend(searched_by_another(command));
            let shows = self.neutral.leaves_out(command.words)
                && (changes.gives_names || !neutral::shows_names_alone(command.words));
            match command.inner().first().map(String::as_str) {
                Some("git") if shows => self.shown_by_git(command, &changes, &mut found),
                _ if shows => self.searched(command, &changes, &mut found),
                _ => {}
            }
        }
        if found.below.iter().any(RepoPath::is_root) {
            found.below = vec![RepoPath::root()];
        }
        for paths in [&mut found.below, &mut found.named, &mut found.committed] {
            paths.sort();
            paths.dedup();
        }
        found.searches.sort();
        found.searches.dedup();
        found
    }

    fn run_commands(&self) -> Vec<RunCommand<'_>> {
        let is_plain = |name: &str, value: &str| variables::check(name, value).is_ok();
        let strict = self.examinations().into_iter().map(|(simple, effects)| RunCommand {
            words: simple.words.as_slice(),
            is_plain: simple.variables.iter().all(|(name, value)| is_plain(name, value)),
            may_have_options: false,
            effects,
        });
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| {
            let (set, words) =
                command.simple.words.split_at_checked(command.assignments).unwrap_or_default();
            let is_harmless = |word: &String| {
                word.split_once('=').is_some_and(|(name, value)| is_plain(name, value))
            };
            RunCommand {
                words,
                is_plain: set.iter().all(is_harmless),
                may_have_options: command.unknown.iter().any(|(_, unknown)| may_be_option(unknown)),
                effects: command.examine(&self.folder),
            }
        });
        strict.chain(loose).collect()
    }

    fn changes(&self, commands: &[RunCommand<'_>]) -> ScriptChanges {
        let redirected = self.redirected().1;
        let writes = !redirected.is_empty()
            || commands.iter().any(|command| !command.effects.edits.is_empty());
        let rules = (writes && self.tree.is_err())
            || redirected.iter().any(is_file_of_rules)
            || commands.iter().any(changes_rules);
        let is_not_ignored = |command: &RunCommand<'_>| !rules && adds_what_is_not_ignored(command);
        let mut changing = commands.iter().filter(|command| !keeps_index(command)).peekable();
        let index = if self.tree.is_err() {
            IndexChange::Anything
        } else if changing.peek().is_none() {
            IndexChange::Nothing
        } else if changing.all(is_not_ignored) {
            IndexChange::NotIgnored
        } else {
            IndexChange::Anything
        };
        let gives_names = self.tree.is_err() || self.names("xargs");
        ScriptChanges { rules, index, gives_names }
    }

    /// Notes what git shows, where it runs, and whether it may show what is on the disk alone.
    fn shown_by_git(&self, command: &RunCommand<'_>, changes: &ScriptChanges, found: &mut LeftOut) {
        let inner = command.inner();
        let Some(folder) = self.folder_of_git(inner).filter(|_| command.is_plain) else {
            found.elsewhere = true;
            return;
        };
        found.committed.push(folder);
        let shows_kept = is_clear(command) && shows_committed(inner);
        match changes.index {
            IndexChange::Nothing if shows_kept => {}
            IndexChange::NotIgnored if shows_kept => found.added = true,
            IndexChange::Nothing | IndexChange::NotIgnored | IndexChange::Anything => {
                found.below.push(RepoPath::root());
            }
        }
    }

    /// Notes where a search looks: the paths that it names, where nothing else can be meant.
    fn searched(&self, command: &RunCommand<'_>, changes: &ScriptChanges, found: &mut LeftOut) {
        let inner = command.inner();
        let changes_folder = self.names("cd");
        let inside = |used: &PathUse| match used {
            PathUse::Inside(path) => Some(path.clone()),
            PathUse::Perhaps(_) | PathUse::Outside(_) | PathUse::Scratch(_) => None,
        };
        let named: Option<Vec<RepoPath>> = command.effects.reads.iter().map(inside).collect();
        // Behind a change of folder, paths are not those that the words name.
        let below = named
            .filter(|named| is_clear(command) && !changes_folder && !named.is_empty())
            .unwrap_or_else(|| vec![RepoPath::root()]);
        let is_rg = inner.first().is_some_and(|program| program == "rg");
        let is_usual = command.is_plain && !command.may_have_options && !changes.rules;
        let is_known = |globs: &[String]| {
            globs.is_empty() || !(changes_folder || globs.iter().any(|glob| glob.contains(UNKNOWN)))
        };
        let options = if is_rg && is_usual { file_options(inner) } else { None };
        let options = options.filter(|options| is_known(&options.globs));
        match options {
            Some(options) => found.searches.extend(below.into_iter().map(|below| PassingSearch {
                below,
                folder: self.folder.clone(),
                globs: options.globs.clone(),
                hidden_names: options.has_types,
            })),
            None => found.below.extend(below),
        }
    }

    /// Returns the folder that git looks for its repository from; `None` where that is not known.
    fn folder_of_git(&self, words: &[String]) -> Option<RepoPath> {
        let (folders, from_verb) = parts_of_git(words).filter(|_| !self.names("cd"))?;
        if from_verb.first()?.starts_with('-') {
            return None;
        }
        let mut folders = folders.into_iter();
        folders.try_fold(self.folder.clone(), |from, written| self.folder_at(&from, written))
    }

    fn folder_at(&self, from: &RepoPath, written: &str) -> Option<RepoPath> {
        let root = self.neutral.root.as_str();
        match written.strip_prefix(root).filter(|_| !root.is_empty()) {
            Some("" | "/") => Some(RepoPath::root()),
            Some(rest) => RepoPath::parse(rest.strip_prefix('/')?).ok(),
            None => from.join(written).ok(),
        }
    }

    /// Returns true where a word of one of its commands is this one.
    fn names(&self, wanted: &str) -> bool {
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| &command.simple);
        let mut commands = self.simple_commands().into_iter().chain(loose);
        commands.any(|simple| simple.words.iter().any(|word| word == wanted))
    }
}

impl RunCommand<'_> {
    /// Returns the words of what it starts, where it does nothing else.
    fn inner(&self) -> &[String] {
        self.words.get(wrappers::innermost(self.words)..).unwrap_or_default()
    }
}

/// Returns true for a word that may be an option once a shell has worked it out.
fn may_be_option(unknown: &UnknownWord) -> bool {
    match unknown {
        UnknownWord::Files(glob) => glob.starts_with(['-', '*', '?', '[']),
        UnknownWord::Pipe | UnknownWord::Home(_) => false,
        UnknownWord::Value | UnknownWord::OneOf(_) | UnknownWord::Names(_) => true,
    }
}

/// Returns the folders that a git names before its verb, and its words from the verb on, or from an
/// option on that may change what it shows; at least one.
fn parts_of_git(words: &[String]) -> Option<(Vec<&str>, &[String])> {
    let (program, mut behind) = words.split_first().filter(|(program, _)| *program == "git")?;
    let mut folders = Vec::new();
    loop {
        let (word, rest) = behind.split_first()?;
        if word == "-C" {
            let (folder, rest) = rest.split_first()?;
            folders.push(folder.as_str());
            behind = rest;
        } else if verbs::is_dropped(program, word) {
            behind = rest;
        } else {
            return Some((folders, behind));
        }
    }
}

/// Returns the verb of a git without options that matter, with the words behind it.
fn verb_of_git(words: &[String]) -> Option<(&str, &[String])> {
    let (_, from_verb) = parts_of_git(words)?;
    from_verb.split_first().map(|(verb, behind)| (verb.as_str(), behind))
}

/// Returns true for a command behind which git's index has the files that it had.
fn keeps_index(command: &RunCommand<'_>) -> bool {
    const VERBS: &[&str] =
        &["status", "ls-files", "rev-parse", "branch", "describe", "merge-base", "rev-list"];
    let CommandEffects { only_reads, findings, starts, .. } = &command.effects;
    let inner = command.inner();
    !neutral::names_git(command.words)
        || (*only_reads && findings.is_empty() && starts.is_empty())
        || shows_committed(inner)
        || verb_of_git(inner).is_some_and(|(verb, _)| VERBS.contains(&verb))
}

/// Returns true for a git that takes into its index what it does not ignore, or has in commits.
fn adds_what_is_not_ignored(command: &RunCommand<'_>) -> bool {
    const OPTIONS: &[&str] =
        &["-A", "--all", "-u", "--update", "-v", "--verbose", "-n", "--dry-run", "--"];
    let is_harmless = |word: &String| !word.starts_with('-') || OPTIONS.contains(&word.as_str());
    is_clear(command)
        && verb_of_git(command.inner()).is_some_and(|(verb, behind)| match verb {
            "add" => behind.iter().all(is_harmless),
            "commit" | "restore" | "checkout" | "rm" => true,
            _ => false,
        })
}

/// Returns true for a command that may change what searches and git pass over.
fn changes_rules(command: &RunCommand<'_>) -> bool {
    let CommandEffects { reads, edits, perhaps, globs, only_reads, .. } = &command.effects;
    // Into a folder, a file goes under its own name.
    let names_rules = !edits.is_empty() && edits.iter().chain(reads).any(is_file_of_rules);
    let takes_back = verb_of_git(command.inner())
        .is_some_and(|(verb, _)| !matches!(verb, "add" | "commit"))
        && edits.iter().any(|used| !git::is_name_of_a_file(text_of(used)));
    let finds_files = !only_reads && !globs.is_empty();
    let may_name_rules = perhaps.iter().any(|path| is_called_like_rules(path.as_str()));
    names_rules || takes_back || finds_files || may_name_rules
}

fn is_file_of_rules(used: &PathUse) -> bool {
    is_called_like_rules(text_of(used))
}

fn is_called_like_rules(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    RULE_FILES.contains(&name.as_str()) || path.contains(UNKNOWN)
}

fn text_of(used: &PathUse) -> &str {
    match used {
        PathUse::Inside(path) | PathUse::Perhaps(path) => path.as_str(),
        PathUse::Outside(text) | PathUse::Scratch(text) => text,
    }
}

/// Returns what a command moves to another name, under which it may be read.
fn moved(command: &RunCommand<'_>) -> Vec<RepoPath> {
    let inner = command.inner();
    let moves = inner.first().is_some_and(|program| program == "mv")
        || verb_of_git(inner).is_some_and(|(verb, _)| verb == "mv");
    let is_named = |used: &&PathUse| !matches!(used, PathUse::Perhaps(_));
    let named: Vec<&PathUse> = command.effects.edits.iter().filter(is_named).collect();
    let sources = named.split_last().filter(|_| moves).map(|(_, sources)| sources);
    let inside = sources.unwrap_or_default().iter().filter_map(|used| used.inside());
    inside.cloned().collect()
}

/// Returns where a search looks that no table has, if it goes through folders.
fn searched_by_another(command: &RunCommand<'_>) -> Vec<RepoPath> {
    let Some((program, behind)) = command.inner().split_first() else { return Vec::new() };
    let recursive = |word: &String| {
        word.starts_with("--r")
            || word.starts_with("--d")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R', 'd']))
    };
    let goes_through_folders =
        matches!(program.as_str(), "ack" | "ag" | "rgrep") || behind.iter().any(recursive);
    if !OTHER_SEARCHES.contains(&program.as_str()) || !goes_through_folders {
        return Vec::new();
    }
    let names_paths = behind.iter().filter(|word| !word.starts_with('-')).count() > 1;
    if !names_paths {
        return vec![RepoPath::root()];
    }
    let named = command.effects.perhaps.iter().filter(|path| !path.as_str().starts_with('-'));
    named.cloned().collect()
}

/// Returns true for a git that shows what it keeps, and nothing that is on the disk alone.
fn shows_committed(words: &[String]) -> bool {
    let Some((verb, behind)) = verb_of_git(words) else { return false };
    let has = |starts: &[&str]| {
        let options = behind.iter().take_while(|word| *word != "--");
        let mut options = options.filter(|word| word.starts_with('-'));
        options.any(|word| starts.iter().any(|start| word.starts_with(start)))
    };
    match verb {
        "log" | "show" | "diff-tree" | "diff-index" | "blame" => true,
        "diff" | "diff-files" => !has(&["--no-i"]),
        "grep" => !has(&["--no-i", "--no-e", "--u"]),
        "ls-files" => behind.iter().all(|word| !word.starts_with('-')),
        _ => false,
    }
}

/// Returns true for a command whose words are all known, but for what it starts.
fn is_clear(command: &RunCommand<'_>) -> bool {
    fn is_known(effects: &CommandEffects) -> bool {
        effects.findings.iter().all(|finding| finding.started)
            && effects.globs.is_empty()
            && effects.starts.iter().all(|inner| is_known(&inner.effects))
    }
    is_known(&command.effects) && !command.words.iter().any(|word| word.contains(UNKNOWN))
}

#[cfg(test)]
mod tests;
