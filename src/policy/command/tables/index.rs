//! The tables by program, and the options of each by name: every word of every command is looked up
//! here.
//!
//! In: the tables. Out: what they say, found without going through all of them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::command::tables::{CommandTable, build, checkers, git, native, node, text, tools};

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
}

/// What is known of one program or verb.
pub struct IndexedTable {
    /// The program and, where it has them, the verb.
    pub words: Vec<&'static str>,
    /// What it shares with others, as written.
    pub table: &'static CommandTable,
    options: HashMap<&'static str, OptionArgument>,
}

impl IndexedTable {
    /// Returns what an option takes; `None` when the table does not have it.
    pub(crate) fn takes(&self, option: &str) -> Option<OptionArgument> {
        self.options.get(option).copied()
    }
}

static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<IndexedTable>>> = LazyLock::new(|| {
    let mut found: HashMap<&'static str, Vec<IndexedTable>> = HashMap::new();
    let tables = [
        text::TABLES,
        git::TABLES,
        build::TABLES,
        checkers::TABLES,
        native::TABLES,
        node::TABLES,
        tools::TABLES,
    ];
    for table in tables.into_iter().flatten() {
        for name in table.names {
            let words: Vec<&str> = name.split(' ').collect();
            let program = words.first().copied().unwrap_or_default();
            let options = read(table.options);
            found.entry(program).or_default().push(IndexedTable { words, table, options });
        }
    }
    found
});

/// Returns what is known of a program and its verbs, in the order of the tables.
pub(crate) fn of(program: &str) -> &'static [IndexedTable] {
    BY_PROGRAM.get(program).map(Vec::as_slice).unwrap_or_default()
}

/// Returns everything that is known.
pub fn all() -> impl Iterator<Item = &'static IndexedTable> {
    BY_PROGRAM.values().flatten()
}

/// Reads options in the notation of `tables`.
pub(crate) fn read(options: [&'static str; 2]) -> HashMap<&'static str, OptionArgument> {
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
            // Nothing else is written in the tables; an option that is not known is refused.
            Some(_) => continue,
        };
        // Of two the first counts.
        found.entry(option).or_insert(takes);
    }
    found
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{OptionArgument, all, of, read};

    #[test]
    fn options_take_what_their_notation_says() {
        let options =
            read(["-l --color=?  -n=", "--file=< -o=> -L=: --report=+ --arg== -p=@ -W=~ -n"]);
        let expected = [
            ("-l", OptionArgument::Nothing),
            ("--color", OptionArgument::Optional),
            ("-n", OptionArgument::Value),
            ("--file", OptionArgument::ReadFile),
            ("-o", OptionArgument::WrittenFile),
            ("-L", OptionArgument::Lines),
            ("--report", OptionArgument::KindAndFile),
            ("--arg", OptionArgument::Two),
            ("-p", OptionArgument::Setting),
            ("-W", OptionArgument::Attached),
        ];
        assert_eq!(options, expected.into());
    }

    #[test]
    fn no_table_has_an_option_that_is_not_understood() {
        for known in all() {
            for entry in known.table.options.iter().flat_map(|list| list.split_ascii_whitespace()) {
                let name = entry.split('=').next().unwrap();
                assert!(known.takes(name).is_some(), "{}: {entry}", known.words.join(" "));
            }
        }
        assert!(of("nothing-of-that-name").is_empty());
        assert!(all().count() > 50);
    }
}
