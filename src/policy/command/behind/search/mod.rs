//! All that stands behind the commands of a script, however deep: what `behind` finds for one
//! command, and what it finds for that again.
//!
//! In: a script, or one of its commands. Out: each command and script behind it, once. Only what
//! refuses looks here. The work is bounded: where there is more, the search says so.

use std::collections::BTreeSet;

use crate::command::behind::words::{Behind, words_in};
use crate::command::behind::{behind, reads_script};
use crate::command::tree::{Redirect, SimpleCommand};
use crate::command::{Script, UNKNOWN};

/// Most words of commands, and parts of scripts, that are copied to be looked at.
const WORDS_LIMIT: usize = 200_000;

/// Where a command may begin in a text that is not read as a script.
const SEPARATORS: [char; 11] = ['\n', '\r', ';', '&', '|', '(', ')', '`', '{', '}', '\0'];

/// Something that stands behind a command.
pub(crate) enum PartBehind {
    /// The words of a command.
    Command(Vec<String>),
    /// A script.
    Script(Box<Script>),
}

/// A search for what stands behind commands.
pub(crate) struct BehindSearch<'s> {
    script: &'s Script,
    seen: BTreeSet<Behind>,
    /// What was found and not looked at.
    waiting: Vec<Behind>,
    words_left: usize,
}

impl<'s> BehindSearch<'s> {
    /// Looks behind all commands of a script.
    pub(crate) fn of_script(script: &'s Script) -> Self {
        let mut search = Self::new(script);
        search.look_into(script);
        search
    }

    /// Looks behind one command of a script.
    pub(crate) fn of_command(script: &'s Script, words: &[String]) -> Self {
        let mut search = Self::new(script);
        search.look_behind(words);
        search
    }

    fn new(script: &'s Script) -> Self {
        let (seen, waiting) = (BTreeSet::new(), Vec::new());
        Self { script, seen, waiting, words_left: WORDS_LIMIT }
    }

    /// Whether there is more than was looked at.
    pub(crate) fn is_cut(&self) -> bool {
        self.words_left == 0
    }

    fn look_behind(&mut self, words: &[String]) {
        let found = behind(words, &mut self.words_left);
        found.into_iter().for_each(|inner| self.add(inner));
    }

    /// Adds what no other command starts, and counts it.
    fn add_own(&mut self, own: Behind) {
        let count = match &own {
            Behind::Words(words) => words.len(),
            Behind::Script(text) => words_in(text.len()),
        };
        self.words_left = self.words_left.saturating_sub(count);
        if !self.is_cut() {
            self.add(own);
        }
    }

    /// Adds what is counted.
    fn add(&mut self, inner: Behind) {
        if self.seen.insert(inner.clone()) {
            self.waiting.push(inner);
        }
    }

    fn look_into(&mut self, script: &Script) {
        if self.is_cut() {
            return;
        }
        let loose = script.loose_commands();
        if script.problem().is_some() && loose.is_err() {
            let has_quotes = has_dollar_quote(script.text());
            for words in commands_in(script.text()) {
                if has_quotes {
                    // Nothing else sees through them.
                    self.add_own(Behind::Words(words));
                } else {
                    self.look_behind(&words);
                }
            }
            return;
        }
        let loose = loose.unwrap_or_default().iter().map(|loose| &loose.simple);
        let commands: Vec<&SimpleCommand> =
            script.simple_commands().into_iter().chain(loose).collect();
        // What is printed may be what a shell beside it reads.
        let is_fed = commands.iter().any(|simple| reads_script(&simple.words));
        for simple in commands {
            self.look_behind(&simple.words);
            if simple.words.iter().any(|word| word.contains(UNKNOWN)) {
                // What is known of such a word is how it is written.
                let plain: Vec<String> =
                    simple.written.iter().map(|word| without_quotes(word)).collect();
                self.look_behind(&plain);
                if simple.written.iter().any(|word| has_dollar_quote(word)) {
                    self.add_own(Behind::Words(plain));
                }
            }
            let printed = match simple.words.split_first() {
                Some((program, words))
                    if is_fed && matches!(program.as_str(), "echo" | "printf") =>
                {
                    Some(words.join(" ").replace("\\n", "\n"))
                }
                _ => None,
            };
            let texts = simple.redirects.iter().filter_map(|redirect| match redirect {
                Redirect::Text(text) if reads_script(&simple.words) => Some(text.clone()),
                _ => None,
            });
            let own = texts.chain(printed).map(Behind::Script);
            own.for_each(|own| self.add_own(own));
        }
    }
}

impl Iterator for BehindSearch<'_> {
    type Item = PartBehind;

    fn next(&mut self) -> Option<PartBehind> {
        match self.waiting.pop()? {
            Behind::Words(words) => {
                self.look_behind(&words);
                Some(PartBehind::Command(words))
            }
            Behind::Script(text) => {
                let inner = self.script.with_text(&text);
                self.look_into(&inner);
                Some(PartBehind::Script(Box::new(inner)))
            }
        }
    }
}

impl Script {
    /// Returns the words of each command that one of its commands may start, however deep: what
    /// stands among its words, and what scripts among them run. `None` where there is more than is
    /// looked at.
    pub fn commands_behind(&self, simple: &SimpleCommand) -> Option<Vec<Vec<String>>> {
        let mut found = Vec::new();
        let mut search = BehindSearch::of_command(self, &simple.words);
        for part in search.by_ref() {
            match part {
                PartBehind::Command(words) => found.push(words),
                PartBehind::Script(inner) => {
                    let loose = inner.loose_commands().unwrap_or_default().iter();
                    let loose = loose.map(|loose| &loose.simple);
                    let commands = inner.simple_commands().into_iter().chain(loose);
                    found.extend(commands.map(|simple| simple.words.clone()));
                }
            }
        }
        (!search.is_cut()).then_some(found)
    }
}

/// Returns the words of each command that may stand in a text which is no script that can be read.
fn commands_in(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.split(SEPARATORS).map(words_of).filter(|words| !words.is_empty())
}

/// Whether a text may hold a quote as `$'x'` or `$"x"`.
fn has_dollar_quote(text: &str) -> bool {
    text.contains("$'") || text.contains("$\"")
}

/// Takes the quotes of a word away.
fn without_quotes(word: &str) -> String {
    word.replace("$'", "").replace("$\"", "").replace(['\'', '"', '\\'], "")
}

/// Cuts a text into words as a shell does, its quotes taken away; what is not closed ends with it.
fn words_of(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None | Some('"'), '\\') => word.extend(letters.next()),
            (None, '$') if matches!(letters.peek(), Some('\'' | '"')) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, letter) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (_, letter) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;
