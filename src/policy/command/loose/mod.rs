//! Scripts with words that only a shell can work out: variables, globs, substitutions, loops. Used
//! where a policy says `commands: { expansions: allow }`, and to say which rule a refused script
//! runs into.
//!
//! In: a script that `parse` refused. Out: every simple command in it at any depth, substitutions
//! included, each word known or marked as unknown. Functions, arithmetic conditions, coprocesses
//! and expansions that could hold code are refused here too.

mod braces;
mod condition;
mod list;
mod producer;
mod rendering;
mod sets;
mod variable;
mod walker;
mod word;

use crate::command::UNKNOWN;
use crate::command::examine::{CommandEffects, PathUse, UncoveredWord, fed, given};
use crate::command::tables::index;
use crate::command::tables::programs::{self, ANY_WORD};
use crate::command::tree::{Redirect, SimpleCommand};
use crate::glob::PathGlob;
use locum_base::path::RepoPath;

/// What is known of a word that a shell works out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownWord {
    /// Its value cannot be known before the shell runs.
    Value,
    /// It names the files that match this glob.
    Files(String),
    /// It is one of these: the values of a loop's variable.
    OneOf(Vec<LoopValue>),
    /// It is the end of a pipe (`<(...)`).
    Pipe,
}

/// A number that stands for any. Texts that stand for others are not in the script itself.
const NUMBER: &str = "8675309";
/// The hash of a commit that stands for any.
const HASH: &str = "feedc0de5eed";
/// A new file for temporary use.
const NEW_FILE: &str = "/tmp/tmp.l0cumSamp1e";
/// What stands for a text of the same form.
const SAMPLES: &[&str] = &[NUMBER, HASH, "l0cumSamp1e"];

/// What a word may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopValue {
    /// This text.
    Text(String),
    /// The name of any file that matches this glob.
    Files(String),
    /// A text of the same form as this one, which stands for all of them.
    Like(String),
    /// The name of any file below these folders.
    Below(Vec<String>),
}

impl LoopValue {
    /// Returns true for a text without a letter.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
}

/// Most ways in which a command is looked at.
const WAYS_LIMIT: usize = 64;

impl UnknownWord {
    /// Returns why a program may take it for something else than it looks like.
    fn danger(&self, program: &str) -> Option<String> {
        match self {
            Self::Value => {
                Some(format!("what a shell makes of this word may mean anything to `{program}`"))
            }
            // What matches is the same option with another value.
            Self::Files(glob) if is_text_option(program, glob) => None,
            Self::Files(glob) if glob.starts_with(['*', '?', '-']) => {
                Some(format!("a file may have the name of an option; write `./{glob}`"))
            }
            Self::Files(_) | Self::OneOf(_) | Self::Pipe => None,
        }
    }
}

/// One simple command; unknown words hold [`UNKNOWN`](crate::command::UNKNOWN).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LooseCommand {
    /// Words and redirections; assignments come first, as words.
    pub simple: SimpleCommand,
    /// How many words are assignments.
    pub assignments: usize,
    /// What is known of the unknown words, by index.
    pub unknown: Vec<(usize, UnknownWord)>,
    /// Whether it does nothing but set variables that mean nothing to programs.
    pub only_sets: bool,
    /// Why no rule may allow it.
    pub refused: Option<String>,
}

/// Returns the script as it would run: line ends as the shell wants them, without separators at its
/// start.
pub fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .trim_start_matches([';', ' ', '\t', '\n'])
        .trim_end()
        .to_owned()
}

/// A script with expansions, judged and ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseScript {
    /// Every simple command, substitutions included.
    pub commands: Vec<LooseCommand>,
    /// What a shell is given.
    pub text: String,
    /// What there is in it besides simple commands.
    pub shape: ScriptFeatures,
}

/// What makes a script hard to see through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptFeatures {
    /// `|`
    pub pipes: bool,
    /// `<`, `>` and their variants.
    pub redirects: bool,
    /// Words that a shell works out.
    pub expansions: bool,
    /// Groups, conditions, loops, commands in the background.
    pub flow: bool,
}

impl LooseCommand {
    /// Adds a word that is not known before a shell runs, and is written like `raw`.
    fn push_unknown(&mut self, what: UnknownWord, raw: &str) {
        self.unknown.push((self.simple.words.len(), what));
        self.simple.words.push(UNKNOWN.to_owned());
        self.simple.unknown.push(raw.to_owned());
    }

    /// Looks at a command some of whose words are not known before it runs: at each way it may come
    /// out, where those are known.
    pub fn examine(&self, folder: &RepoPath) -> CommandEffects {
        if let Some(refused) = &self.refused {
            let never = Some(refused.clone());
            return CommandEffects { never, ..CommandEffects::default() };
        }
        let program = self.simple.words.get(self.assignments).map_or("", String::as_str);
        // To what only reads, a folder stands for the files below it.
        let only_reads = fed::only_reads(program);
        let mut is_given_files = false;
        let mut ways = vec![self.clone()];
        for (place, (index, unknown)) in self.unknown.iter().enumerate() {
            let UnknownWord::OneOf(values) = unknown else { continue };
            // What it says is all the same.
            if matches!(program, "echo" | "printf" | "true" | "false" | "basename" | "dirname")
                && *index > self.assignments
            {
                continue;
            }
            let mut all = Vec::new();
            for value in values {
                match value {
                    LoopValue::Below(folders) if only_reads => {
                        is_given_files = true;
                        all.extend(folders.iter().cloned().map(LoopValue::Text));
                    }
                    value => all.push(value.clone()),
                }
            }
            ways = ways
                .iter()
                .flat_map(|way| all.iter().map(|value| way.with(place, value)))
                .collect();
            if ways.len() > WAYS_LIMIT {
                let never = Some("the script has too many loops in each other".to_owned());
                return CommandEffects { never, ..CommandEffects::default() };
            }
        }
        let mut effects = ways.iter().map(|way| way.examine_one(folder));
        let first = effects.next().unwrap_or_default();
        let mut found = effects.fold(first, CommandEffects::and);
        found.needs_sandbox |= is_given_files;
        self.names_a_sample(&mut found);
        found
    }

    /// Refuses a number or a commit as the name of a file: any file could be called like that.
    fn names_a_sample(&self, found: &mut CommandEffects) {
        let holds = |text: &str| [NUMBER, HASH].iter().any(|sample| text.contains(sample));
        let names = |used: &PathUse| match used {
            PathUse::Inside(path) => holds(path.as_str()),
            PathUse::Outside(path) => holds(path) && !path.starts_with("/tmp/"),
            // Only if there is no such number or commit.
            PathUse::Perhaps(_) | PathUse::Scratch(_) => false,
        };
        let mut used = found.reads.iter().chain(&found.edits);
        if used.any(names) || found.trees.iter().any(|path| holds(path.as_str())) {
            let index = self.unknown.first().map_or(usize::MAX, |(index, _)| *index);
            let reason = "a number or a commit that is not known before it runs would be the name \
                          of a file"
                .to_owned();
            let finding = UncoveredWord { unfamiliar: false, started: false, index, reason };
            found.findings.push(finding);
        }
    }

    /// Returns the command with a value for one of its unknown words.
    fn with(&self, place: usize, value: &LoopValue) -> Self {
        let mut way = self.clone();
        let Some((index, unknown)) = way.unknown.get_mut(place) else { return way };
        match value {
            LoopValue::Files(glob) => *unknown = UnknownWord::Files(glob.clone()),
            LoopValue::Below(_) => *unknown = UnknownWord::Value,
            LoopValue::Text(text) | LoopValue::Like(text) => {
                if let Some(word) = way.simple.words.get_mut(*index) {
                    word.clone_from(text);
                }
                // Its place is known now, and where the program stands nothing may be unknown.
                *unknown = UnknownWord::OneOf(Vec::new());
            }
        }
        way
    }

    fn examine_one(&self, folder: &RepoPath) -> CommandEffects {
        let before = self.assignments;
        let mut words: Vec<String> = self.simple.words.iter().skip(before).cloned().collect();
        let program = words.first().cloned().unwrap_or_default();
        let tolerant = ANY_WORD.contains(&program.as_str());
        let known = !index::of(&program).is_empty()
            || matches!(program.as_str(), "find" | "sed" | "awk" | "gawk" | "mawk" | "nawk")
            || programs::runner(&program).is_some();
        let finding = |index: &usize, reason| UncoveredWord {
            unfamiliar: false,
            started: false,
            index: *index,
            reason,
        };
        let mut findings = Vec::new();
        let mut never = None;
        for (index, unknown) in &self.unknown {
            let Some(at) = index.checked_sub(before) else { continue };
            let Some(word) = words.get_mut(at) else { continue };
            *word = match unknown {
                UnknownWord::OneOf(values) if values.is_empty() => word.clone(),
                UnknownWord::Value | UnknownWord::OneOf(_) => "x".to_owned(),
                UnknownWord::Files(glob) => glob.replace(['*', '?'], "x"),
                UnknownWord::Pipe => "-".to_owned(),
            };
            if at == 0 {
                never = Some("the name of the program is not known before it runs".to_owned());
            } else if known && !tolerant {
                findings.extend(unknown.danger(&program).map(|reason| finding(index, reason)));
            }
        }
        for at in given::instructions(&words) {
            let is_here = |(index, _): &&(usize, UnknownWord)| *index == at + before;
            if let Some((index, UnknownWord::Files(glob))) = self.unknown.iter().find(is_here)
                // To be a revision, it would need a branch with the name of its folder.
                && (program != "git" || !glob.contains('/'))
            {
                let reason = format!(
                    "`{program}` may read the name of a file that `{glob}` matches as a script, an \
                     option's value or a revision"
                );
                findings.push(finding(index, reason));
            }
        }
        let mut found = CommandEffects::of(&words, folder);
        // To some programs, a second name is a file to write, or nothing that is known.
        let second = self.with_second_names(&words, before);
        let counts_names = second.is_some_and(|words| {
            let second = CommandEffects::of(&words, folder);
            !second.edits.is_empty() || (found.findings.is_empty() && !second.findings.is_empty())
        });
        for finding in &mut found.findings {
            finding.index = finding.index.saturating_add(before);
        }
        found.findings.extend(findings);
        let guessed =
            self.unknown.iter().find(|(_, unknown)| matches!(unknown, UnknownWord::Files(_)));
        if let Some((index, _)) = guessed.filter(|_| counts_names || !found.edits.is_empty()) {
            let reason =
                format!("which files `{program}` would change is not known before it runs");
            found.findings.push(finding(index, reason));
        }
        for (index, unknown) in &self.unknown {
            let UnknownWord::Files(glob) = unknown else { continue };
            let inside =
                glob.strip_prefix('/').map_or_else(|| format!("{folder}/{glob}"), str::to_owned);
            match PathGlob::parse(&inside) {
                Ok(found_glob) => found.globs.push((glob.starts_with('/'), found_glob)),
                Err(reason) => found.findings.push(finding(index, reason)),
            }
        }
        found.never = never.or(found.never);
        found
    }
}

impl LooseCommand {
    /// Returns the words with each glob as two names; `None` where there is no glob. What stands in
    /// quotes is the one name that a loop is at.
    fn with_second_names(&self, words: &[String], before: usize) -> Option<Vec<String>> {
        let is_quoted = |at: usize| {
            let written = self.simple.written.get(at).map_or("", String::as_str);
            written.starts_with('"') && written.ends_with('"')
        };
        let is_glob = |at: usize| {
            let is_here = |(index, unknown): &(usize, UnknownWord)| {
                *index == at + before && matches!(unknown, UnknownWord::Files(_))
            };
            self.unknown.iter().any(is_here) && !is_quoted(at + before)
        };
        let doubled = |(at, word): (usize, &String)| {
            let times = if is_glob(at) { 2 } else { 1 };
            std::iter::repeat_n(word.clone(), times)
        };
        let second: Vec<String> = words.iter().enumerate().flat_map(doubled).collect();
        (second.len() > words.len()).then_some(second)
    }
}

/// Returns true for a glob behind an option that takes a pattern of names.
fn is_text_option(program: &str, glob: &str) -> bool {
    let option = glob.split_once('=').map(|(option, _)| option).unwrap_or_default();
    matches!(program, "grep" | "egrep" | "fgrep")
        && matches!(option, "--include" | "--exclude" | "--exclude-dir")
}

/// `lib/*.rs` matches files like `lib/x.rs`. A glob that could be an option, a hidden file or
/// any ending at all is unknown, and so is every word with another expansion or a quote in it.
fn files_like(raw: &str) -> UnknownWord {
    let (folder, name) = raw.rsplit_once('/').map_or(("", raw), |(folder, name)| (folder, name));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let plain = |text: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./*?=".contains(letter))
    };
    if ending.is_empty()
        || ending.contains(['*', '?'])
        || folder.contains(['*', '?'])
        || name.starts_with('.')
        || !plain(raw)
    {
        return UnknownWord::Value;
    }
    UnknownWord::Files(raw.to_owned())
}

/// Returns the redirections of all commands.
pub(super) fn redirects(commands: &[LooseCommand]) -> impl Iterator<Item = &Redirect> {
    commands.iter().flat_map(|command| &command.simple.redirects)
}

#[cfg(test)]
mod tests;
