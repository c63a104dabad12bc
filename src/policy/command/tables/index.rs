//! The tables by program, and the options of each by name: every word of every command is looked up
//! here.
//!
//! In: the tables. Out: what they say, found without going through all of them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::command::tables::options::OptionTable;
use crate::command::tables::{
    CommandTable, build, checkers, dotnet, git, go, javascript, jvm, looks, native, node, partial,
    python, ruby, rust, text,
};

/// What is known of one program or verb.
pub struct IndexedTable {
    /// The program and, where it has them, the verb.
    pub words: Vec<&'static str>,
    /// What it shares with others, as written.
    pub table: &'static CommandTable,
    pub(crate) options: OptionTable,
    /// Whether a command with an option that is not in it is judged as one without a table.
    pub(crate) is_partial: bool,
}

static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<IndexedTable>>> = LazyLock::new(|| {
    let mut found: HashMap<&'static str, Vec<IndexedTable>> = HashMap::new();
    let whole = [
        text::TABLES,
        git::TABLES,
        build::TABLES,
        checkers::TABLES,
        dotnet::TABLES,
        go::TABLES,
        javascript::TABLES,
        jvm::TABLES,
        looks::TABLES,
        native::TABLES,
        node::TABLES,
        python::TABLES,
        ruby::TABLES,
        rust::TABLES,
    ];
    let whole = whole.into_iter().flatten().map(|table| (table, false));
    let partial = partial::TABLES.iter().map(|table| (table, true));
    for (table, is_partial) in whole.chain(partial) {
        for name in table.names {
            let words: Vec<&str> = name.split(' ').collect();
            let program = words.first().copied().unwrap_or_default();
            let options = OptionTable::new(table.options);
            let known = IndexedTable { words, table, options, is_partial };
            found.entry(program).or_default().push(known);
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

#[cfg(test)]
mod tests {
    use super::{all, of};

    #[test]
    fn no_table_has_an_option_that_is_not_understood() {
        for known in all() {
            for entry in known.table.options.iter().flat_map(|list| list.split_ascii_whitespace()) {
                let name = entry.split('=').next().unwrap();
                assert!(known.options.takes(name).is_some(), "{}: {entry}", known.words.join(" "));
            }
        }
        assert!(of("nothing-of-that-name").is_empty());
        assert!(all().count() > 50);
    }
}
