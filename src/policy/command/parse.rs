//! From text to tree: a real shell grammar reads the script, then every node of it is either on the
//! list here or refused.
//!
//! In: a script as the model wrote it. Out: a tree of literal words, or the first construct that
//! keeps it from being judged. Nothing is expanded, and nothing unknown is passed on.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::{Parser, ParserOptions, ast};

use crate::command::limits;
use crate::command::tree::{
    AndOr, CommandList, ListOperator, Pipeline, Redirect, ShellCommand, SimpleCommand,
};
use crate::command::{variables, word};

/// Most simple commands in a script.
pub const COMMANDS_LIMIT: usize = 500;

/// Reads a script.
///
/// # Errors
/// Names what cannot be judged, as the middle of a sentence: "the script uses ...".
pub fn parse(text: &str) -> Result<CommandList, String> {
    limits::check(text)?;
    let program = program(text)?;
    let mut tree = CommandList::default();
    for complete in &program.complete_commands {
        tree.0.extend(list(complete)?.0);
    }
    let commands = tree.simple_commands();
    if commands.is_empty() {
        return Err("the script runs nothing".to_owned());
    }
    if commands.len() > COMMANDS_LIMIT {
        return Err(format!("the script has more than {COMMANDS_LIMIT} commands"));
    }
    for word in commands.iter().flat_map(|simple| &simple.words) {
        check_word(word)?;
    }
    Ok(tree)
}

/// Reads a script by the grammar of a shell, whatever is in it.
pub(super) fn program(text: &str) -> Result<ast::Program, String> {
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let options = ParserOptions::default();
        Parser::new(Cursor::new(text.as_bytes()), &options).parse_program()
    }));
    match parsed {
        Ok(Ok(program)) => Ok(program),
        Ok(Err(error)) => Err(format!("the script is not complete shell syntax ({error})")),
        Err(_) => Err("the script could not be read".to_owned()),
    }
}

/// Returns true for a script that is one list of commands each of which runs only if all before it
/// succeeded.
pub(super) fn is_chain(text: &str) -> bool {
    let Ok(program) = program(text) else { return false };
    let [ast::CompoundList(items)] = program.complete_commands.as_slice() else { return false };
    matches!(
        items.as_slice(),
        [ast::CompoundListItem(and_or, ast::SeparatorOperator::Sequence)]
            if and_or.additional.iter().all(|next| matches!(next, ast::AndOr::And(_)))
    )
}

/// Returns true for a script that is one list between brackets and nothing else.
pub(super) fn is_subshell(text: &str) -> bool {
    if !text.starts_with('(') || limits::check(text).is_err() {
        return false;
    }
    let Ok(program) = program(text) else { return false };
    let [ast::CompoundList(items)] = program.complete_commands.as_slice() else { return false };
    let [ast::CompoundListItem(and_or, ast::SeparatorOperator::Sequence)] = items.as_slice() else {
        return false;
    };
    let ast::Pipeline { timed: None, bang: false, seq } = &and_or.first else { return false };
    let is_alone = and_or.additional.is_empty();
    is_alone
        && matches!(
            seq.as_slice(),
            [ast::Command::Compound(ast::CompoundCommand::Subshell(_), None)]
        )
}

/// Refuses words that look like options but are not.
fn check_word(word: &str) -> Result<(), String> {
    match word.chars().next() {
        Some(
            first @ ('\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'),
        ) => Err(format!(
            "the word `{word}` starts with U+{:04X}, which only looks like `-`",
            u32::from(first)
        )),
        _ => Ok(()),
    }
}

fn list(compound: &ast::CompoundList) -> Result<CommandList, String> {
    let mut found = Vec::with_capacity(compound.0.len());
    for ast::CompoundListItem(and_or, separator) in &compound.0 {
        match separator {
            ast::SeparatorOperator::Sequence => {}
            ast::SeparatorOperator::Async => {
                return Err("the script starts a command in the background (`&`)".to_owned());
            }
        }
        let first = pipeline(&and_or.first)?;
        let mut rest = Vec::with_capacity(and_or.additional.len());
        for next in &and_or.additional {
            rest.push(match next {
                ast::AndOr::And(next) => (ListOperator::And, pipeline(next)?),
                ast::AndOr::Or(next) => (ListOperator::Or, pipeline(next)?),
            });
        }
        found.push(AndOr { first, rest });
    }
    Ok(CommandList(found))
}

fn pipeline(found: &ast::Pipeline) -> Result<Pipeline, String> {
    if found.timed.is_some() {
        return Err("the script uses `time`".to_owned());
    }
    if found.seq.is_empty() {
        return Err("the script holds an empty pipeline".to_owned());
    }
    Ok(Pipeline {
        negated: found.bang,
        commands: found.seq.iter().map(command).collect::<Result<_, _>>()?,
    })
}

fn command(found: &ast::Command) -> Result<ShellCommand, String> {
    match found {
        ast::Command::Simple(found) => simple(found).map(ShellCommand::Simple),
        ast::Command::Compound(compound, redirects) => {
            let mut found = Vec::new();
            for redirect in redirects.iter().flat_map(|list| &list.0) {
                add_redirect(redirect, &mut found)?;
            }
            self::compound(compound, found)
        }
        ast::Command::Function(_) => Err("the script defines a function".to_owned()),
        ast::Command::ExtendedTest(..) => Err("the script uses `[[ ... ]]`".to_owned()),
    }
}

fn compound(
    found: &ast::CompoundCommand,
    redirects: Vec<Redirect>,
) -> Result<ShellCommand, String> {
    let unlisted = |what: &str| Err(format!("the script uses {what}"));
    match found {
        ast::CompoundCommand::Subshell(found) => {
            Ok(ShellCommand::Subshell(list(&found.list)?, redirects))
        }
        ast::CompoundCommand::BraceGroup(found) => {
            Ok(ShellCommand::Group(list(&found.list)?, redirects))
        }
        ast::CompoundCommand::IfClause(found) => {
            let mut arms = vec![(list(&found.condition)?, list(&found.then)?)];
            let mut last = None;
            for clause in found.elses.iter().flatten() {
                match &clause.condition {
                    Some(condition) => arms.push((list(condition)?, list(&clause.body)?)),
                    None => last = Some(list(&clause.body)?),
                }
            }
            Ok(ShellCommand::If(arms, last, redirects))
        }
        ast::CompoundCommand::Arithmetic(_) => unlisted("arithmetic (`((...))`)"),
        ast::CompoundCommand::ArithmeticForClause(_) | ast::CompoundCommand::ForClause(_) => {
            unlisted("a `for` loop")
        }
        ast::CompoundCommand::CaseClause(_) => unlisted("`case`"),
        ast::CompoundCommand::WhileClause(_) | ast::CompoundCommand::UntilClause(_) => {
            unlisted("a loop")
        }
        ast::CompoundCommand::Coprocess(_) => unlisted("a coprocess"),
    }
}

pub(super) fn simple(found: &ast::SimpleCommand) -> Result<SimpleCommand, String> {
    let mut command = SimpleCommand::default();
    for item in found.prefix.iter().flat_map(|prefix| &prefix.0) {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                add_redirect(redirect, &mut command.redirects)?
            }
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                command.variables.push(variable(assignment, word)?)
            }
            ast::CommandPrefixOrSuffixItem::Word(_) => {
                return Err("the script holds a word where none is expected".to_owned());
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                return Err(process_substitution());
            }
        }
    }
    command.written = written(found).collect();
    command.source = found.to_string();
    let Some(name) = &found.word_or_name else {
        return Err(format!(
            "the script {} without a command",
            if command.variables.is_empty() { "redirects" } else { "sets a variable" }
        ));
    };
    command.words.push(literal(name)?);
    for item in found.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                add_redirect(redirect, &mut command.redirects)?
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => command.words.push(literal(word)?),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => match assignment
                .value
            {
                ast::AssignmentValue::Scalar(_) => command.words.push(literal(word)?),
                ast::AssignmentValue::Array(_) => return Err("the script sets an array".to_owned()),
            },
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                return Err(process_substitution());
            }
        }
    }
    Ok(command)
}

/// Returns the program's name and the words behind it as they are written.
pub(super) fn written(found: &ast::SimpleCommand) -> impl Iterator<Item = String> + '_ {
    let suffix = found.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        ast::CommandPrefixOrSuffixItem::Word(word)
        | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => Some(word.value.clone()),
        ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => Some(item.to_string()),
        ast::CommandPrefixOrSuffixItem::IoRedirect(_) => None,
    });
    found.word_or_name.iter().map(|name| name.value.clone()).chain(suffix)
}

fn variable(assignment: &ast::Assignment, word: &ast::Word) -> Result<(String, String), String> {
    let (ast::AssignmentName::VariableName(name), ast::AssignmentValue::Scalar(value), false) =
        (&assignment.name, &assignment.value, assignment.append)
    else {
        return Err(format!(
            "the script changes a variable or sets a part of one (`{}`)",
            word.value
        ));
    };
    // A name that is refused is reported before its value is looked at.
    variables::check_name(name)?;
    let value = word::assigned(&value.value)
        .map_err(|why| format!("the word `{}` holds {why}", value.value))?;
    variables::check(name, &value)?;
    Ok((name.clone(), value))
}

fn process_substitution() -> String {
    "the script uses a process substitution".to_owned()
}

fn literal(found: &ast::Word) -> Result<String, String> {
    word::literal(&found.value).map_err(|why| format!("the word `{}` holds {why}", found.value))
}

pub(super) fn add_redirect(
    redirect: &ast::IoRedirect,
    found: &mut Vec<Redirect>,
) -> Result<(), String> {
    match redirect {
        ast::IoRedirect::File(fd, kind, target) => found.push(file_redirect(*fd, kind, target)?),
        ast::IoRedirect::OutputAndError(target, append) => {
            found.push(Redirect::Output { fd: 1, path: literal(target)?, append: *append });
            found.push(Redirect::Duplicate { fd: 2, to: 1 });
        }
        ast::IoRedirect::HereString(fd, text) => {
            standard_input(*fd)?;
            found.push(Redirect::Text(format!("{}\n", literal(text)?)));
        }
        ast::IoRedirect::HereDocument(fd, here) => {
            standard_input(*fd)?;
            let body = here.doc.value.clone();
            if here.requires_expansion && body.contains(['$', '`', '\\']) {
                return Err(
                    "a here-document in which the shell expands; quote its delimiter (`<<'EOF'`)"
                        .to_owned(),
                );
            }
            let body = if here.remove_tabs { without_tabs(&body) } else { body };
            found.push(Redirect::Text(body));
        }
    }
    Ok(())
}

fn file_redirect(
    fd: Option<i32>,
    kind: &ast::IoFileRedirectKind,
    target: &ast::IoFileRedirectTarget,
) -> Result<Redirect, String> {
    let number = |default: u32| descriptor(fd, default);
    let path = match target {
        ast::IoFileRedirectTarget::Filename(word) => Some(literal(word)?),
        ast::IoFileRedirectTarget::Fd(_) | ast::IoFileRedirectTarget::Duplicate(_) => None,
        ast::IoFileRedirectTarget::ProcessSubstitution(..) => return Err(process_substitution()),
    };
    let file =
        || path.ok_or_else(|| "the script redirects to something that is not a file".to_owned());
    match kind {
        ast::IoFileRedirectKind::Read => Ok(Redirect::Input { path: file()?, fd: number(0)? }),
        ast::IoFileRedirectKind::Write | ast::IoFileRedirectKind::Clobber => {
            Ok(Redirect::Output { path: file()?, fd: number(1)?, append: false })
        }
        ast::IoFileRedirectKind::Append => {
            Ok(Redirect::Output { path: file()?, fd: number(1)?, append: true })
        }
        ast::IoFileRedirectKind::DuplicateOutput => {
            Ok(Redirect::Duplicate { to: duplicate_target(target)?, fd: number(1)? })
        }
        ast::IoFileRedirectKind::DuplicateInput | ast::IoFileRedirectKind::ReadAndWrite => {
            Err("the script uses a redirection other than `<`, `>`, `>>` and `2>&1`".to_owned())
        }
    }
}

/// Returns the descriptor that is redirected: input, output or errors.
pub(super) fn descriptor(fd: Option<i32>, default: u32) -> Result<u32, String> {
    match fd {
        None => Ok(default),
        Some(fd) => u32::try_from(fd)
            .ok()
            .filter(|fd| *fd <= 2)
            .ok_or_else(|| format!("the script redirects descriptor {fd}")),
    }
}

/// `>&1` and `>&2`; with a name instead of a number it would write a file.
fn duplicate_target(target: &ast::IoFileRedirectTarget) -> Result<u32, String> {
    let number = match target {
        ast::IoFileRedirectTarget::Fd(fd) => u32::try_from(*fd).ok(),
        ast::IoFileRedirectTarget::Duplicate(word) => literal(word)?.parse().ok(),
        ast::IoFileRedirectTarget::Filename(_)
        | ast::IoFileRedirectTarget::ProcessSubstitution(..) => None,
    };
    number
        .filter(|fd| *fd == 1 || *fd == 2)
        .ok_or_else(|| "the script uses `>&` with something other than 1 or 2".to_owned())
}

pub(super) fn standard_input(fd: Option<i32>) -> Result<(), String> {
    if fd.is_none_or(|fd| fd == 0) {
        Ok(())
    } else {
        Err("the script gives text to a descriptor other than 0".to_owned())
    }
}

pub(super) fn without_tabs(body: &str) -> String {
    body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}
