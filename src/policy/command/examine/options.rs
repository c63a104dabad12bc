//! Options of a command, looked up in its table: whether they are known, and what they take.
//!
//! In: an option word and the words after it. Out: files that are read or written, and findings.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::path_use;
use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::command::tables::settings;

/// Options that take the next word whatever it looks like, where it is often a pattern that starts
/// with `-`.
const PATTERN_GIVERS: &[(&str, &str)] =
    &[("rg", "-e"), ("rg", "--regexp"), ("grep", "-e"), ("grep", "--regexp"), ("git grep", "-e")];

impl Examiner<'_> {
    /// Looks up the word of options at `index`, and takes their values along; returns whether all
    /// of it is known.
    pub(super) fn option(&mut self, table: &OptionTable, name: &str, index: usize) -> bool {
        let words = self.words;
        let read = table.read(words, index);
        self.next = read.next;
        for option in read.given {
            self.given(name, index, option);
        }
        if !read.is_known {
            let word = words.get(index).map_or("", String::as_str);
            self.unlisted(name, index, word);
        }
        read.is_known
    }

    fn given(&mut self, name: &str, index: usize, option: GivenOption<'_>) {
        let GivenOption { name: met, takes, value, at, after_equals } = option;
        self.options.push(match value.filter(|_| takes == OptionArgument::Attached) {
            // The whole of it says which of its family it is.
            Some(value) => format!("{met}{value}"),
            None => met.to_owned(),
        });
        match takes {
            OptionArgument::Nothing | OptionArgument::Optional => {}
            OptionArgument::Setting | OptionArgument::Attached => {
                self.setting(name, met, index, value.unwrap_or_default());
            }
            OptionArgument::Value
            | OptionArgument::ReadFile
            | OptionArgument::WrittenFile
            | OptionArgument::Lines
            | OptionArgument::KindAndFile
            | OptionArgument::Two => {
                let Some(value) = value else {
                    self.finding(index, format!("an option of `{name}` without its value"));
                    return;
                };
                if at > index {
                    self.value_apart(name, met, at, value);
                }
                self.value(takes, name, index, value);
                if after_equals {
                    self.value(takes, name, index, &format!("={value}"));
                }
            }
        }
    }

    fn value(&mut self, takes: OptionArgument, name: &str, index: usize, value: &str) {
        match takes {
            OptionArgument::ReadFile => self.found.reads.extend(path_use(value, self.folder)),
            OptionArgument::WrittenFile => {
                self.found.only_reads = false;
                self.found.edits.extend(path_use(value, self.folder));
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

    fn setting(&mut self, name: &str, option: &str, index: usize, value: &str) {
        if !settings::is_known(name, option, value) {
            self.finding(
                index,
                format!("`{value}` for `{option}` of `{name}` is not known to be harmless"),
            );
        }
    }

    /// Refuses a value in a word of its own that looks like an option: many programs would take it
    /// for one.
    fn value_apart(&mut self, name: &str, option: &str, at: usize, value: &str) {
        let is_text = PATTERN_GIVERS.contains(&(name, option))
            || value.as_bytes().get(1).is_none_or(u8::is_ascii_digit);
        if value.starts_with('-') && !is_text {
            self.finding(
                at,
                format!(
                    "`{value}` could be an option of `{name}`; write it right behind `{option}`"
                ),
            );
        }
    }
}
