//! Words of a shell that set its variables and do nothing else: `read`, and what may stand before a
//! command.
//!
//! In: commands as the grammar cut them. Out: which variables are set, or nothing where it could be
//! more than that.

use brush_parser::ast;

use crate::command::examine::fed;
use crate::command::loose::search_path;
use crate::command::loose::word::check_variable;
use crate::command::tree::{SimpleCommand, quoted};
use crate::command::word::literal;
use crate::command::{parse, variables};

/// Returns the variables that `read` sets. A name is a plain one: in a part of an array code can
/// stand.
pub(super) fn names_read(words: &[String]) -> Option<Vec<String>> {
    let (program, rest) = words.split_first()?;
    (program == "read").then_some(())?;
    let mut rest = rest.iter();
    let mut names = Vec::new();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-r" if names.is_empty() => {}
            "-d" if names.is_empty() => {
                rest.next().filter(|end| end.chars().count() <= 1)?;
            }
            name => {
                check_variable(name).ok()?;
                names.push(name.to_owned());
            }
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Returns what is set before a command for it alone, as a shell is given it, where that means no
/// harm: how `read` cuts lines, and what any program may be given. `root` is where the repository
/// lies.
pub(super) fn harmless_prefix(
    item: &ast::CommandPrefixOrSuffixItem,
    program: Option<&ast::Word>,
    root: &str,
) -> Option<String> {
    let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item else { return None };
    let (ast::AssignmentName::VariableName(name), ast::AssignmentValue::Scalar(value), false) =
        (&assignment.name, &assignment.value, assignment.append)
    else {
        return None;
    };
    let cuts = name == "IFS" && program?.value == "read";
    let is_harmless = |value: &String| cuts || variables::check(name, value).is_ok();
    match literal(&value.value).ok().filter(is_harmless) {
        Some(value) => Some(format!("{name}={}", quoted(&value))),
        None => search_path::read(assignment, root).map(|path| path.rendered),
    }
}

/// Returns the folders below which the files lie that the members of a pipe print the names of.
pub(super) fn printed_names(members: &[ast::Command]) -> Option<Vec<String>> {
    let simple = |command: &ast::Command| match command {
        ast::Command::Simple(simple) => parse::simple(simple).ok(),
        _ => None,
    };
    let members: Vec<SimpleCommand> = members.iter().map(simple).collect::<Option<_>>()?;
    fed::names(&members.iter().collect::<Vec<_>>())
}

/// Returns true for a list that begins with a program, so that this is what reads first.
pub(super) fn starts_with_a_program(list: &ast::CompoundList) -> bool {
    let first = list.0.first().map(|ast::CompoundListItem(and_or, _)| &and_or.first);
    first.is_some_and(|pipeline| matches!(pipeline.seq.as_slice(), [ast::Command::Simple(_)]))
}

/// Returns true for assignments one of which may keep the others from being made: by an error in
/// arithmetic, or in a redirection.
pub(super) fn may_end_before(found: &ast::SimpleCommand) -> bool {
    let items: Vec<_> = found.prefix.iter().flat_map(|prefix| &prefix.0).collect();
    let is_doubtful = |item: &&ast::CommandPrefixOrSuffixItem| match item {
        ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
            items.len() > 1 && ["$((", "${"].iter().any(|sign| word.value.contains(sign))
        }
        _ => true,
    };
    found.word_or_name.is_none() && items.iter().any(is_doubtful)
}
