//! All that stands behind the commands of a script, however deep: what `behind` finds for one
//! command, and what it finds for that again.
//!
//! In: a script, or one of its commands. Out: each command and script behind it, once. Only what
//! refuses looks here. The work is bounded: where there is more, the search says so.

use std::collections::BTreeSet;

use crate::command::behind::printed;
use crate::command::behind::words::{Behind, WordsBehind, words_in};
use crate::command::behind::{behind, runs_printed};
use crate::command::escapes::{EscapeReader, decoded};
use crate::command::tree::{Redirect, SimpleCommand, quoted};
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
    /// Commands that print what others may run, and texts that others are given as their input.
    printers: Vec<Vec<String>>,
    inputs: Vec<String>,
    /// What was printed so far, and the words behind programs that a shell works out: what is
    /// printed may be the program.
    printed: Vec<Behind>,
    worked_out: Vec<Vec<String>>,
    /// How many of either are put together.
    joined: (usize, usize),
    /// Whether some command runs what a shell works out, or what it is given as its input.
    runs_printed: bool,
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
        search.note_inputs(script);
        commands_of(script).iter().for_each(|simple| search.note_printer(&simple.words));
        search.look_at(words);
        search
    }

    fn new(script: &'s Script) -> Self {
        Self {
            script,
            seen: BTreeSet::new(),
            waiting: Vec::new(),
            printers: Vec::new(),
            inputs: Vec::new(),
            printed: Vec::new(),
            worked_out: Vec::new(),
            joined: (0, 0),
            runs_printed: false,
            words_left: WORDS_LIMIT,
        }
    }

    /// Whether there is more than was looked at.
    pub(crate) fn is_cut(&self) -> bool {
        self.words_left == 0
    }

    /// Looks at a command and behind it.
    fn look_at(&mut self, words: &[String]) {
        self.note_printer(words);
        self.runs_printed |= runs_printed(words);
        if let [program, rest @ ..] = words
            && !rest.is_empty()
            && program.starts_with('$')
        {
            self.worked_out.push(rest.to_vec());
        }
        let found = behind(words, &mut self.words_left);
        found.into_iter().for_each(|inner| self.add(inner));
    }

    fn note_printer(&mut self, words: &[String]) {
        if printed::may_be_run(words) {
            self.printers.push(words.to_vec());
        }
    }

    fn note_inputs(&mut self, script: &Script) {
        let loose = script.loose_commands().unwrap_or_default().iter();
        let loose = loose.flat_map(|loose| &loose.simple.redirects);
        let texts = script.redirects().into_iter().chain(loose).filter_map(|it| match it {
            Redirect::Text(text) | Redirect::Template(text) => Some(text.clone()),
            Redirect::Input { .. }
            | Redirect::Output { .. }
            | Redirect::Duplicate { .. }
            | Redirect::WorkedOut { .. } => None,
        });
        self.inputs.extend(texts);
    }

    /// Adds what is printed or given as input, as scripts: which of it a shell runs is not known.
    fn add_printed(&mut self) {
        for text in std::mem::take(&mut self.inputs) {
            self.add_own(text);
        }
        for words in std::mem::take(&mut self.printers) {
            let mut found = WordsBehind::new(&mut self.words_left);
            printed::texts(&words, &mut found);
            self.printed.extend(found.into_found());
        }
        let (printed, worked_out) = self.joined;
        let mut found = WordsBehind::new(&mut self.words_left);
        for (at, text) in self.printed.iter().enumerate() {
            let Behind::Script(program) = text else { continue };
            let known = if at < printed { worked_out } else { 0 };
            self.worked_out.iter().skip(known).for_each(|rest| found.joined(program, rest));
        }
        let joined = found.into_found();
        let new = self.printed.get(printed..).unwrap_or_default().to_vec();
        self.joined = (self.printed.len(), self.worked_out.len());
        new.into_iter().chain(joined).for_each(|text| self.add(text));
    }

    /// Adds a script that no other command starts, and counts it.
    fn add_own(&mut self, text: String) {
        self.words_left = self.words_left.saturating_sub(words_in(text.len()));
        if !self.is_cut() {
            self.add(Behind::Script(text));
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
        if script.problem().is_some() && script.loose_commands().is_err() {
            plain_quotes(script.text()).into_iter().for_each(|text| self.add_own(text));
            for words in commands_in(script.text()) {
                self.inputs.extend(here_string(&words));
                self.look_at(&words);
            }
            return;
        }
        self.note_inputs(script);
        for simple in commands_of(script) {
            self.look_at(&simple.words);
            if simple.words.iter().any(|word| word.contains(UNKNOWN)) {
                // What is known of such a word is how it is written.
                let plain: Vec<String> =
                    simple.written.iter().map(|word| without_quotes(word)).collect();
                self.look_at(&plain);
            }
        }
    }
}

impl Iterator for BehindSearch<'_> {
    type Item = PartBehind;

    fn next(&mut self) -> Option<PartBehind> {
        if self.waiting.is_empty() && self.runs_printed {
            self.add_printed();
        }
        match self.waiting.pop()? {
            Behind::Words(words) => {
                self.look_at(&words);
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
                    found.extend(commands_of(&inner).iter().map(|simple| simple.words.clone()));
                }
            }
        }
        (!search.is_cut()).then_some(found)
    }
}

/// Returns the simple commands of a script; none where it is not understood.
fn commands_of(script: &Script) -> Vec<&SimpleCommand> {
    let loose = script.loose_commands().unwrap_or_default().iter().map(|loose| &loose.simple);
    script.simple_commands().into_iter().chain(loose).collect()
}

/// Returns the words of each command that may stand in a text which is no script that can be read.
fn commands_in(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.split(SEPARATORS).map(words_of).filter(|words| !words.is_empty())
}

/// Returns the text that a command cut from a script is given as its input by `<<<`.
fn here_string(words: &[String]) -> Option<String> {
    let mut rest = words.iter().skip_while(|word| !word.starts_with("<<<"));
    let text = rest.next()?.trim_start_matches('<');
    if text.is_empty() { rest.next().cloned() } else { Some(text.to_owned()) }
}

/// Takes the quotes of a word away.
fn without_quotes(word: &str) -> String {
    unquoted(word).into_iter().map(|(letter, _)| letter).collect()
}

/// Returns a text with plain quotes instead of those as `$'x'` and `$"x"`, which no script that is
/// judged may hold: once where a shell takes them for quotes, once wherever they stand. Nothing
/// where it holds none.
fn plain_quotes(text: &str) -> Vec<String> {
    if !text.contains("$'") && !text.contains("$\"") {
        return Vec::new();
    }
    [false, true].map(|is_everywhere| with_plain_quotes(text, is_everywhere)).to_vec()
}

fn with_plain_quotes(text: &str, is_everywhere: bool) -> String {
    let (mut plain, mut rest, mut open) = (String::with_capacity(text.len()), text, None);
    while let Some(letter) = rest.chars().next() {
        let is_quote = open.is_none() || is_everywhere;
        let is_comment = letter == '#' && plain.ends_with(char::is_whitespace);
        let length = match rest.strip_prefix("$'").filter(|_| is_quote) {
            Some(behind) => {
                let length = quote_length(behind);
                let inner = behind.get(..length).unwrap_or_default();
                plain.push_str(&quoted(&decoded(inner, EscapeReader::Quote)));
                rest = behind.get(length + 1..).unwrap_or_default();
                continue;
            }
            None if is_quote && rest.starts_with("$\"") => {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            None if is_quote && is_comment => rest.find('\n').unwrap_or(rest.len()),
            None if letter == '\\' && open != Some('\'') => 2,
            None => {
                open = match open {
                    None if matches!(letter, '\'' | '"') => Some(letter),
                    Some(quote) if quote == letter => None,
                    open => open,
                };
                letter.len_utf8()
            }
        };
        let length = rest.ceil_char_boundary(length.min(rest.len()));
        plain.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    plain
}

/// Returns how many bytes stand before the end of a quote as `$'x'`.
fn quote_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'\'' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// Cuts a text into words as a shell does, its quotes taken away; what is not closed ends with it.
fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (letter, is_quoted) in unquoted(text) {
        match words.last_mut().filter(|_| is_quoted || !letter.is_whitespace()) {
            Some(word) => word.push(letter),
            None => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the letters of a text without its quotes, each with whether it is quoted.
fn unquoted(text: &str) -> Vec<(char, bool)> {
    let (mut found, mut quote) = (Vec::with_capacity(text.len()), None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None | Some('"'), '\\') => {
                let escaped = letters.next();
                let is_kept = quote.is_some() && !escaped.is_some_and(|it| "$`\"\\".contains(it));
                let both = is_kept.then_some('\\').into_iter().chain(escaped);
                found.extend(both.map(|letter| (letter, true)));
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (_, letter) => found.push((letter, quote.is_some())),
        }
    }
    found
}

#[cfg(test)]
mod tests;
