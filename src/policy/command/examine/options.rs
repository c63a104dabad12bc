//! Options of a command, looked up in its table: whether they are known, and what they take.
//!
//! In: an option word and the words after it. Out: files that are read or written, and findings.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::path_use;
use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::command::tables::settings;
use crate::words;

/// Options that take the next word whatever it looks like, where it is often a pattern that starts
/// with `-`.
const PATTERN_GIVERS: &[(&str, &str)] =
    &[("rg", "-e"), ("rg", "--regexp"), ("grep", "-e"), ("grep", "--regexp"), ("git grep", "-e")];

/// Options whose value git is given as a revision.
const REVISIONS: &str = "--changed --changedSince --from-ref --new-from-merge-base --new-from-rev \
                         --only-changed --since --to-ref";

/// Programs whose options that name files take several, with `:` between them.
const WITH_PATHS: &str = "javac javap";

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
        if read.is_known {
            return true;
        }
        let word = words.get(index).map_or("", String::as_str);
        // Asked for help, git may start what its settings name.
        let asks = word == "--help" && !name.starts_with("git ");
        if asks {
            self.options.push(word.to_owned());
        } else {
            self.unlisted(name, index, word);
        }
        asks
    }

    /// Whether a table has every option of the command.
    pub(super) fn has_only_known_options(&self, options: &OptionTable) -> bool {
        let words = self.words;
        let mut at = self.next;
        while let Some(word) = words.get(at).filter(|word| *word != "--") {
            at += 1;
            if word.len() > 1 && word.starts_with('-') {
                let read = options.read(words, at - 1);
                if !read.is_known {
                    return false;
                }
                at = read.next;
            }
        }
        true
    }

    fn given(&mut self, name: &str, index: usize, option: GivenOption<'_>) {
        let GivenOption { name: met, takes, value, at, after_equals } = option;
        self.options.push(match value.filter(|_| takes == OptionArgument::Attached) {
            // The whole of it says which of its family it is.
            Some(value) => format!("{met}{value}"),
            None => met.to_owned(),
        });
        if words::holds(REVISIONS, met) && value.is_some_and(|value| value.starts_with('-')) {
            self.finding(index, format!("git may take the value of `{met}` for an option"));
        }
        match takes {
            OptionArgument::Nothing => {}
            OptionArgument::Optional => {
                value.into_iter().for_each(|value| self.handed_value(met, index, value));
            }
            OptionArgument::Setting | OptionArgument::Attached => {
                self.setting(name, met, index, value.unwrap_or_default());
            }
            OptionArgument::Value
            | OptionArgument::ReadFile
            | OptionArgument::WrittenFile
            | OptionArgument::Lines
            | OptionArgument::KindAndFile
            | OptionArgument::Text
            | OptionArgument::Two => {
                let Some(value) = value else {
                    self.finding(index, format!("an option of `{name}` without its value"));
                    return;
                };
                if at > index {
                    self.value_apart(name, met, at, value);
                }
                if matches!(takes, OptionArgument::Value | OptionArgument::Two) {
                    self.handed_value(met, at, value);
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
            OptionArgument::ReadFile if words::holds(WITH_PATHS, name) => {
                let folder = self.folder;
                let paths = value.split(':').filter_map(|path| path_use(path, folder));
                self.found.reads.extend(paths);
            }
            OptionArgument::ReadFile => {
                self.address(name, index, value);
                self.found.reads.extend(path_use(value, self.folder));
            }
            OptionArgument::WrittenFile => self.written(name, value),
            OptionArgument::KindAndFile => {
                let several = is_golangci_lint(name);
                let parts = value.split(move |letter: char| several && letter == ',');
                let files = parts.filter_map(|part| part.split_once(':'));
                files
                    .filter(|(kind, _)| !matches!(*kind, "term" | "term-missing"))
                    .for_each(|(_, file)| self.written(name, file));
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
            | OptionArgument::Text
            | OptionArgument::Two => {}
        }
    }

    /// Refuses what may be the address of another machine.
    pub(super) fn address(&mut self, name: &str, index: usize, word: &str) {
        if name == "go tool pprof" && word.contains(':') {
            self.finding(index, format!("`{name}` may take `{word}` for an address"));
        }
    }

    fn written(&mut self, name: &str, file: &str) {
        if is_golangci_lint(name) && matches!(file, "stdout" | "stderr") {
            return;
        }
        self.found.only_reads = false;
        self.found.edits.extend(path_use(file, self.folder));
    }

    fn setting(&mut self, name: &str, option: &str, index: usize, value: &str) {
        let read = settings::read(name, option, value);
        if let Some(file) = settings::written(name, option, value) {
            self.written(name, file);
            return;
        }
        if !settings::is_known(name, option, value) {
            self.finding(
                index,
                format!("`{value}` for `{option}` of `{name}` is not known to be harmless"),
            );
        }
        if let Some(file) = read {
            self.found.reads.extend(path_use(file, self.folder));
        } else if self.found.runs_code {
            self.refuse_protected_value(index, value);
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

/// Returns true for the verbs of a program that has names for its two outputs.
fn is_golangci_lint(name: &str) -> bool {
    name.starts_with("golangci-lint ")
}
