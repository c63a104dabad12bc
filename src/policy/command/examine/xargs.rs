//! Options of `xargs`, and where the command begins that it starts.
//!
//! In: the words of a command. Out: what is known of how it cuts its input, or nothing where an
//! option is not known.

use std::sync::LazyLock;

use crate::command::tables::launchers::XARGS;
use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::words;

static OPTIONS: LazyLock<OptionTable> = LazyLock::new(|| OptionTable::new([XARGS, ""]));

/// Options of `xargs`.
#[derive(Default)]
pub(super) struct XargsOptions {
    /// Whether names end with the byte 0.
    pub(super) null: bool,
    /// Whether nothing runs where there is no name.
    pub(super) needs_names: bool,
    /// Whether it counts lines.
    pub(super) lines: bool,
    /// Whether it counts names, other than one at a time.
    several: bool,
    /// What stands for a name.
    pub(super) mark: Option<String>,
}

impl XargsOptions {
    /// Takes an option; returns whether its value is one that is known.
    fn takes(&mut self, option: &GivenOption<'_>) -> bool {
        let value = option.value.unwrap_or_default();
        match option.name {
            "-0" | "--null" => self.null = true,
            "-I" => self.mark = Some(value.to_owned()),
            "-L" => self.lines = true,
            "-r" | "--no-run-if-empty" => self.needs_names = true,
            "-n" | "--max-args" => self.several |= value != "1",
            _ => {}
        }
        let is_known = match (option.takes, option.name) {
            (OptionArgument::Nothing, _) => true,
            (_, "-I") => !value.is_empty() && !value.starts_with('-'),
            (_, _) => words::is_number(value),
        };
        is_known && !option.after_equals
    }
}

/// Returns the options of `xargs`, and where the command begins that it starts.
pub(super) fn options(words: &[String]) -> Option<(XargsOptions, usize)> {
    let mut given = XargsOptions::default();
    let mut at = 1;
    while words.get(at).is_some_and(|word| word.starts_with('-')) {
        let read = OPTIONS.read(words, at);
        let all = read.given.iter().all(|option| given.takes(option));
        at = Some(read.next).filter(|_| read.is_known && all)?;
    }
    // With these, `xargs` takes back what stands for a name.
    let is_taken_back = given.mark.is_some() && (given.lines || given.several);
    (!is_taken_back).then_some((given, at))
}
