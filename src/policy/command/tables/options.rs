//! Options of a command, read by a table: names with `=`, letters in one word, values behind them.
//!
//! In: the words of a command and a table of options. Out: each option that was given, with its
//! value. What it means is for who asks.

use std::collections::HashMap;

use crate::words;

/// What an option of a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionArgument {
    Nothing,
    Optional,
    Value,
    ReadFile,
    WrittenFile,
    Lines,
    KindAndFile,
    Two,
    Setting,
    Attached,
    Text,
}

/// An entry of a program to which letters in one word are one option: `-overlay` is no `-o`.
const NO_LETTERS: &str = "-";

/// Options by name.
#[derive(Debug, Default)]
pub(crate) struct OptionTable(HashMap<&'static str, OptionArgument>);

/// An option that a command was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenOption<'w> {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) takes: OptionArgument,
    /// Its value; `None` also where it lacks the one it needs.
    pub(crate) value: Option<&'w str>,
    /// The word its value is in: its own, or a later one.
    pub(crate) at: usize,
    /// Whether `=` stands between a single letter and the value. Most programs take it for a part
    /// of the value.
    pub(crate) after_equals: bool,
}

/// What one word of options holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OptionWord<'w> {
    /// Its options, up to the first that is not in the table.
    pub(crate) given: Vec<GivenOption<'w>>,
    /// Whether all are in the table, and none has a value that takes none.
    pub(crate) is_known: bool,
    /// The word behind it and its values.
    pub(crate) next: usize,
}

impl OptionTable {
    /// Reads options in the notation of `tables`.
    pub(crate) fn new(options: [&'static str; 2]) -> Self {
        let mut found = HashMap::new();
        for entry in options.into_iter().flat_map(str::split_ascii_whitespace) {
            let (option, takes) = match entry.split_once('=') {
                None => (entry, OptionArgument::Nothing),
                Some((option, "?")) => (option, OptionArgument::Optional),
                Some((option, "")) => (option, OptionArgument::Value),
                Some((option, "<")) => (option, OptionArgument::ReadFile),
                Some((option, ">")) => (option, OptionArgument::WrittenFile),
                Some((option, ":")) => (option, OptionArgument::Lines),
                Some((option, "+")) => (option, OptionArgument::KindAndFile),
                Some((option, "=")) => (option, OptionArgument::Two),
                Some((option, "@")) => (option, OptionArgument::Setting),
                Some((option, "~")) => (option, OptionArgument::Attached),
                Some((option, "*")) => (option, OptionArgument::Text),
                // Nothing else is written in the tables; an option that is not known is refused.
                Some(_) => continue,
            };
            // Of two the first counts.
            found.entry(option).or_insert(takes);
        }
        Self(found)
    }

    /// Returns what an option takes; `None` when the table does not have it.
    pub(crate) fn takes(&self, option: &str) -> Option<OptionArgument> {
        self.0.get(option).copied()
    }

    /// Returns the option that a word begins with up to its first `:`, and what stands behind that.
    fn before_colon<'w>(&self, word: &'w str) -> Option<(&'static str, OptionArgument, &'w str)> {
        let start = word.split_inclusive(':').next().filter(|start| start.ends_with(':'))?;
        let (name, takes) = self.0.get_key_value(start)?;
        Some((name, *takes, word.get(start.len()..)?))
    }

    /// Reads the word of options at `index`, and the values behind it.
    pub(crate) fn read<'w>(&self, words: &'w [String], index: usize) -> OptionWord<'w> {
        let mut read = OptionWord { given: Vec::new(), is_known: true, next: index + 1 };
        let has_long_letters = self.0.contains_key(NO_LETTERS);
        let word = words.get(index).map_or("", String::as_str);
        let (name, value) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if let Some((name, takes)) = self.0.get_key_value(name) {
            read.named((name, *takes), value, words);
        } else if let Some((name, takes, value)) = self.before_colon(word) {
            read.named((name, takes), Some(value), words);
        } else {
            let letters = word.strip_prefix('-').filter(|_| !has_long_letters);
            read.is_known =
                letters.is_some_and(|letters| read.letters(self, letters, words).is_some());
        }
        if has_long_letters {
            read.given.iter_mut().for_each(|option| option.after_equals = false);
        }
        read
    }
}

impl<'w> OptionWord<'w> {
    /// Takes an option that is written out, with what stands behind its `=`.
    fn named(
        &mut self,
        (name, takes): (&'static str, OptionArgument),
        value: Option<&'w str>,
        words: &'w [String],
    ) {
        let takes_none = matches!(
            takes,
            OptionArgument::Nothing | OptionArgument::Two | OptionArgument::Attached
        );
        self.is_known = value.is_none() || !takes_none;
        if !self.is_known {
            return;
        }
        if value.is_none() && takes.is_one_word() {
            self.with_next(name, takes, words);
        } else if takes == OptionArgument::Two {
            self.with_next(name, takes, words);
            self.with_next(name, takes, words);
        } else {
            self.with_own(name, takes, value, value.is_some() && name.len() == 2);
        }
    }

    /// Takes an option with a value that stands in its own word, or none.
    fn with_own(
        &mut self,
        name: &'static str,
        takes: OptionArgument,
        value: Option<&'w str>,
        after_equals: bool,
    ) {
        self.given.push(GivenOption { name, takes, value, at: self.next - 1, after_equals });
    }

    /// Takes an option with the next word as its value.
    fn with_next(&mut self, name: &'static str, takes: OptionArgument, words: &'w [String]) {
        let value = words.get(self.next).map(String::as_str);
        self.given.push(GivenOption { name, takes, value, at: self.next, after_equals: false });
        self.next += usize::from(value.is_some());
    }

    /// Takes letters that stand in one word; `None` where one is not in the table.
    fn letters(
        &mut self,
        table: &OptionTable,
        letters: &'w str,
        words: &'w [String],
    ) -> Option<()> {
        if let Some(takes) = table.takes("-#").filter(|_| words::is_number(letters)) {
            self.with_own("-#", takes, Some(letters), false);
            return Some(());
        }
        if letters.is_empty() || letters.starts_with('-') {
            return None;
        }
        for (place, letter) in letters.char_indices() {
            let rest = letters.get(place + letter.len_utf8()..).unwrap_or_default();
            let (name, takes) = table.0.get_key_value(format!("-{letter}").as_str())?;
            match takes {
                OptionArgument::Nothing => self.with_own(name, *takes, None, false),
                OptionArgument::Attached if place == 0 => {
                    self.with_own(name, *takes, Some(rest), false);
                    return Some(());
                }
                // None of a single letter takes two.
                OptionArgument::Two | OptionArgument::Attached => return None,
                _ if takes.is_one_word() && rest.is_empty() => {
                    self.with_next(name, *takes, words);
                    return Some(());
                }
                _ => {
                    let value = Some(rest).filter(|rest| !rest.is_empty());
                    let behind = rest.strip_prefix('=');
                    self.with_own(name, *takes, behind.or(value), behind.is_some());
                    return Some(());
                }
            }
        }
        Some(())
    }
}

impl GivenOption<'_> {
    /// Whether the value is missing that it needs.
    pub(crate) fn lacks_value(&self) -> bool {
        let needs = self.takes.is_one_word() || self.takes == OptionArgument::Two;
        needs && self.value.is_none()
    }
}

impl OptionArgument {
    /// Whether it needs one word: the rest of its own, or the next.
    fn is_one_word(self) -> bool {
        match self {
            Self::Value
            | Self::ReadFile
            | Self::WrittenFile
            | Self::Lines
            | Self::KindAndFile
            | Self::Setting
            | Self::Text => true,
            Self::Nothing | Self::Optional | Self::Two | Self::Attached => false,
        }
    }
}

#[cfg(test)]
mod tests;
