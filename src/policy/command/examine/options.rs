//! Options of a command, looked up in its table: whether they are known, and what they take.
//!
//! In: an option word and the words after it. Out: files that are read or written, and findings.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::path_use;
use crate::command::tables::index::{IndexedTable, OptionArgument};
use crate::command::tables::settings;
use crate::words;

/// Options that take the next word whatever it looks like, where it is often a pattern that starts
/// with `-`.
const PATTERN_GIVERS: &[(&str, &str)] =
    &[("rg", "-e"), ("rg", "--regexp"), ("grep", "-e"), ("grep", "--regexp"), ("git grep", "-e")];

impl Examiner<'_> {
    /// Looks up one option word, which may be a cluster of letters, and takes its value along.
    pub(super) fn option(&mut self, known: &IndexedTable, name: &str, index: usize, word: &str) {
        let (option, value) =
            word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        if let Some(takes) = known.takes(option) {
            self.options.push(option.to_owned());
            match (takes, value) {
                (OptionArgument::Nothing | OptionArgument::Two, Some(_)) => {
                    self.unlisted(name, index, word)
                }
                (OptionArgument::Two, None) => {
                    for _ in 0..2 {
                        let value = self.next_value(name, option);
                        self.value(takes, name, index, value);
                    }
                }
                (OptionArgument::Nothing | OptionArgument::Optional, _) => {}
                (OptionArgument::Attached, None) => self.setting(name, option, index, None),
                // An option with something right behind it takes no `=`.
                (OptionArgument::Attached, Some(_)) => self.unlisted(name, index, word),
                (OptionArgument::Setting, value) => {
                    let value = value.map(str::to_owned).or_else(|| self.take_next());
                    self.setting(name, option, index, value);
                }
                (
                    OptionArgument::Value
                    | OptionArgument::ReadFile
                    | OptionArgument::WrittenFile
                    | OptionArgument::KindAndFile
                    | OptionArgument::Lines,
                    value,
                ) => {
                    let value = value.map(str::to_owned).or_else(|| self.next_value(name, option));
                    self.value(takes, name, index, value);
                }
            }
            return;
        }
        let digits = word.strip_prefix('-').is_some_and(words::is_number);
        if digits && (known.takes("-#").is_some() || known.takes("--oneline").is_some()) {
            return;
        }
        if word.starts_with("--") {
            self.unlisted(name, index, word);
            return;
        }
        self.cluster(known, name, index, word);
    }

    fn cluster(&mut self, known: &IndexedTable, name: &str, index: usize, word: &str) {
        let letters = word.strip_prefix('-').unwrap_or(word);
        for (at, letter) in letters.char_indices() {
            let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            let option = format!("-{letter}");
            let takes = known.takes(&option);
            match takes {
                // The whole of it says which of its family it is.
                Some(OptionArgument::Attached) => self.options.push(word.to_owned()),
                Some(_) => self.options.push(option.clone()),
                None => {}
            }
            match takes {
                Some(OptionArgument::Nothing) => {}
                Some(OptionArgument::Optional) => return,
                Some(
                    takes @ (OptionArgument::Value
                    | OptionArgument::ReadFile
                    | OptionArgument::WrittenFile
                    | OptionArgument::KindAndFile
                    | OptionArgument::Lines),
                ) => {
                    let value = if rest.is_empty() {
                        self.next_value(name, &option)
                    } else {
                        Some(rest.to_owned())
                    };
                    self.value(takes, name, index, value);
                    return;
                }
                Some(OptionArgument::Setting) => {
                    let value =
                        if rest.is_empty() { self.take_next() } else { Some(rest.to_owned()) };
                    self.setting(name, &option, index, value);
                    return;
                }
                Some(OptionArgument::Attached) if at == 0 => {
                    return self.setting(name, &option, index, Some(rest.to_owned()));
                }
                // None of a single letter takes two.
                Some(OptionArgument::Two | OptionArgument::Attached) | None => {
                    self.unlisted(name, index, word);
                    return;
                }
            }
        }
    }

    pub(super) fn value(
        &mut self,
        takes: OptionArgument,
        name: &str,
        index: usize,
        value: Option<String>,
    ) {
        let Some(value) = value else {
            self.finding(index, format!("an option of `{name}` without its value"));
            return;
        };
        match takes {
            OptionArgument::ReadFile => self.found.reads.extend(path_use(&value, self.folder)),
            OptionArgument::WrittenFile => {
                self.found.only_reads = false;
                self.found.edits.extend(path_use(&value, self.folder));
            }
            OptionArgument::KindAndFile => {
                if let Some((_, file)) = value.split_once(':') {
                    self.found.only_reads = false;
                    self.found.edits.extend(path_use(file, self.folder));
                }
            }
            OptionArgument::Lines => match value.rsplit_once(':') {
                Some((_, file)) if !file.is_empty() => {
                    self.found.reads.extend(path_use(file, self.folder))
                }
                _ => self.finding(index, format!("lines of `{name}` without the file they are in")),
            },
            OptionArgument::Nothing
            | OptionArgument::Optional
            | OptionArgument::Value
            | OptionArgument::Setting
            | OptionArgument::Attached
            | OptionArgument::Two => {}
        }
    }

    pub(super) fn setting(
        &mut self,
        name: &str,
        option: &str,
        index: usize,
        value: Option<String>,
    ) {
        let value = value.unwrap_or_default();
        if !settings::is_known(name, option, &value) {
            self.finding(
                index,
                format!("`{value}` for `{option}` of `{name}` is not known to be harmless"),
            );
        }
    }

    /// Takes the next word as an option's value. One that looks like an option is refused: many
    /// programs would take it for one.
    pub(super) fn next_value(&mut self, name: &str, option: &str) -> Option<String> {
        let index = self.next;
        let value = self.take_next()?;
        let is_text = PATTERN_GIVERS.contains(&(name, option))
            || value.as_bytes().get(1).is_none_or(u8::is_ascii_digit);
        if value.starts_with('-') && !is_text {
            self.finding(
                index,
                format!(
                    "`{value}` could be an option of `{name}`; write it right behind `{option}`"
                ),
            );
        }
        Some(value)
    }

    pub(super) fn take_next(&mut self) -> Option<String> {
        let value = self.words.get(self.next).cloned();
        self.next += usize::from(value.is_some());
        value
    }
}
