//! Scripts with words that only a shell can work out: variables, globs, substitutions, loops. Used
//! where a policy says `commands: { expansions: allow }`, and to say which rule a refused script
//! runs into.
//!
//! In: a script that `parse` refused. Out: every simple command in it at any depth, substitutions
//! included, each word known or marked as unknown. Functions, arithmetic conditions, coprocesses
//! and expansions that could hold code are refused here too.

mod braces;
mod condition;
mod kept;
mod list;
mod producer;
mod rendering;
mod search_path;
mod sets;
mod suffix;
mod variable;
mod walker;
mod ways;
mod word;

use crate::command::UNKNOWN;
use crate::command::tree::{Redirect, SimpleCommand};

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
    /// It is any number of names of files below these folders; each is a word of its own, and none
    /// is an option.
    Names(Vec<String>),
    /// It is this path behind `~/`, or those that match it, which a tool keeps.
    Home(String),
}

/// A number that stands for any. Texts that stand for others are not in the script itself.
const NUMBER: &str = "8675309";
/// The hash of a commit that stands for any.
const HASH: &str = "feedc0de5eed";
/// The name of a package of Go that stands for any.
const PACKAGE: &str = "feedc0de5eed.example/acme";
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
    /// What the loops before it go through that may be protected: the variable, and a word of the
    /// list as it is written.
    pub listed: Vec<(String, String)>,
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
