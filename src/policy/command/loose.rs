//! Scripts with words that only a shell can work out: variables, globs, substitutions, loops. Used where a policy says
//! `commands: { expansions: allow }`, and to say which rule a refused script runs into.
//!
//! In: a script that `parse` refused. Out: every simple command in it at any depth, substitutions included, each word known or
//! marked as unknown. Functions, arithmetic conditions, coprocesses and expansions that could hold code are refused here too.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, ast};

use crate::base::path::RepoPath;
use crate::policy::command::examine::{Examination, Finding, examine};
use crate::policy::command::tables::{self, ANY_WORD, RUN_OTHERS};
use crate::policy::command::tree::{Redirect, Simple};
use crate::policy::command::{limits, parse, word};

/// Stands for a word that is not known; no pattern can hold it.
pub const UNKNOWN: &str = "\0";
/// Longest script of this kind, in bytes.
pub const LOOSE_LIMIT_BYTES: usize = 4 * 1024;
/// Most characters and keywords that open a level; the grammar may look at each of them twice.
const OPENERS_LIMIT: usize = 10;
/// Deepest nesting of substitutions.
const DEPTH_LIMIT: usize = 3;

/// What is known of a word that a shell works out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing.
    Value,
    /// It names files like this one: the glob with its wildcards filled in.
    Files(String),
    /// It is the end of a pipe (`<(...)`).
    Pipe,
}

/// One simple command; unknown words hold [`UNKNOWN`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LooseCommand {
    /// Words and redirections; assignments come first, as words.
    pub simple: Simple,
    /// How many words are assignments.
    pub assignments: usize,
    /// What is known of the unknown words, by index.
    pub unknown: Vec<(usize, Unknown)>,
}

/// Returns the script as it would run: line ends as the shell wants them, without separators at its start.
#[must_use]
pub fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_start_matches([';', ' ', '\t', '\n']).trim_end().to_owned()
}

/// Reads a script, already brought to its [`plain`] form.
///
/// # Errors
/// Names what cannot be judged even so.
pub fn parse(text: &str) -> Result<Vec<LooseCommand>, String> {
    limits::check_letters(text)?;
    let keywords = text.split_whitespace().filter(|word| matches!(*word, "if" | "for" | "while" | "until" | "case" | "!" | "{")).count();
    if text.len() > LOOSE_LIMIT_BYTES || keywords + text.matches(['(', '`', '{']).count() > OPENERS_LIMIT {
        return Err("the script is too long or too deeply nested for a script with expansions".to_owned());
    }
    let mut reading = Reading { found: Vec::new(), depth: 0 };
    reading.script(text)?;
    if reading.found.is_empty() { Err("the script runs nothing".to_owned()) } else { Ok(reading.found) }
}

/// Looks at a command some of whose words are not known before it runs.
#[must_use]
pub fn examine_loose(command: &LooseCommand, folder: &RepoPath) -> Examination {
    let before = command.assignments;
    let mut words: Vec<String> = command.simple.words.iter().skip(before).cloned().collect();
    let program = words.first().cloned().unwrap_or_default();
    let tolerant = ANY_WORD.contains(&program.as_str());
    let known = tables::all().any(|table| table.words.first() == Some(&program.as_str()))
        || matches!(program.as_str(), "find" | "sed")
        || RUN_OTHERS.contains(&program.as_str());
    let mut findings = Vec::new();
    let mut never = None;
    for (index, unknown) in &command.unknown {
        let Some(at) = index.checked_sub(before) else { continue };
        let Some(word) = words.get_mut(at) else { continue };
        *word = match unknown {
            Unknown::Files(like) => like.clone(),
            Unknown::Pipe => "-".to_owned(),
            Unknown::Value => "x".to_owned(),
        };
        if at == 0 {
            never = Some("the name of the program is not known before it runs".to_owned());
        } else if *unknown == Unknown::Value && known && !tolerant {
            findings.push(Finding {
                unfamiliar: false,
                index: *index,
                reason: format!("what a shell makes of this word may mean anything to `{program}`"),
            });
        }
    }
    let mut found = examine(&words, folder);
    for finding in &mut found.findings {
        finding.index = finding.index.saturating_add(before);
    }
    found.findings.extend(findings);
    let guessed = command.unknown.iter().find(|(_, unknown)| matches!(unknown, Unknown::Files(_)));
    if let Some((index, _)) = guessed.filter(|_| !found.edits.is_empty()) {
        let reason = format!("which files `{program}` would change is not known before it runs");
        found.findings.push(Finding { unfamiliar: false, index: *index, reason });
    }
    found.never = never.or(found.never);
    found
}

struct Reading {
    found: Vec<LooseCommand>,
    depth: usize,
}

impl Reading {
    fn script(&mut self, text: &str) -> Result<(), String> {
        if self.depth > DEPTH_LIMIT {
            return Err("the script nests substitutions too deeply".to_owned());
        }
        let options = ParserOptions::default();
        let program = catch_unwind(AssertUnwindSafe(|| Parser::new(Cursor::new(text.as_bytes()), &options).parse_program()));
        let Ok(Ok(program)) = program else { return Err("the script is not complete shell syntax".to_owned()) };
        self.depth += 1;
        program.complete_commands.iter().try_for_each(|list| self.list(list))?;
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self, list: &ast::CompoundList) -> Result<(), String> {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            self.pipeline(&and_or.first)?;
            for next in &and_or.additional {
                match next {
                    ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => self.pipeline(pipeline)?,
                }
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) -> Result<(), String> {
        pipeline.seq.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &ast::Command) -> Result<(), String> {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                let mut command = LooseCommand::default();
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    parse::add_redirect(redirect, &mut command.simple.redirects)?;
                }
                if !command.simple.redirects.is_empty() {
                    self.found.push(command);
                }
                self.compound(compound)
            }
            ast::Command::Function(_) => Err("the script defines a function".to_owned()),
            ast::Command::ExtendedTest(..) => Err("the script uses `[[ ... ]]`".to_owned()),
        }
    }

    /// A keyword counts as a command of its own, so that a rule has to name it.
    fn compound(&mut self, compound: &ast::CompoundCommand) -> Result<(), String> {
        match compound {
            ast::CompoundCommand::Subshell(inner) => self.list(&inner.list),
            ast::CompoundCommand::BraceGroup(inner) => self.list(&inner.list),
            ast::CompoundCommand::ForClause(found) => {
                self.keyword("for", found.values.iter().flatten())?;
                self.list(&found.body.list)
            }
            ast::CompoundCommand::WhileClause(found) => self.repeated("while", found),
            ast::CompoundCommand::UntilClause(found) => self.repeated("until", found),
            ast::CompoundCommand::IfClause(found) => {
                self.keyword("if", std::iter::empty())?;
                self.list(&found.condition)?;
                self.list(&found.then)?;
                for clause in found.elses.iter().flatten() {
                    clause.condition.iter().try_for_each(|condition| self.list(condition))?;
                    self.list(&clause.body)?;
                }
                Ok(())
            }
            ast::CompoundCommand::CaseClause(found) => {
                self.keyword("case", std::iter::once(&found.value).chain(found.cases.iter().flat_map(|case| &case.patterns)))?;
                found.cases.iter().filter_map(|case| case.cmd.as_ref()).try_for_each(|list| self.list(list))
            }
            ast::CompoundCommand::Arithmetic(_) | ast::CompoundCommand::ArithmeticForClause(_) => {
                Err("the script uses arithmetic (`((...))`)".to_owned())
            }
            ast::CompoundCommand::Coprocess(_) => Err("the script uses a coprocess".to_owned()),
        }
    }

    fn repeated(&mut self, keyword: &str, found: &ast::WhileOrUntilClauseCommand) -> Result<(), String> {
        self.keyword(keyword, std::iter::empty())?;
        self.list(&found.0)?;
        self.list(&found.1.list)
    }

    fn keyword<'w>(&mut self, keyword: &str, words: impl Iterator<Item = &'w ast::Word>) -> Result<(), String> {
        let mut command = LooseCommand::default();
        command.simple.words.push(keyword.to_owned());
        for word in words {
            self.word(&word.value, &mut command)?;
        }
        self.found.push(command);
        Ok(())
    }

    fn simple(&mut self, found: &ast::SimpleCommand) -> Result<(), String> {
        let mut command = LooseCommand::default();
        for item in found.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, &mut command)?;
        }
        command.assignments = command.simple.words.len();
        if let Some(name) = &found.word_or_name {
            self.word(&name.value, &mut command)?;
        }
        for item in found.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut command)?;
        }
        self.found.push(command);
        Ok(())
    }

    fn item(&mut self, item: &ast::CommandPrefixOrSuffixItem, command: &mut LooseCommand) -> Result<(), String> {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => parse::add_redirect(redirect, &mut command.simple.redirects),
            ast::CommandPrefixOrSuffixItem::Word(word) => self.word(&word.value, command),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => match &assignment.value {
                ast::AssignmentValue::Scalar(_) => self.word(&word.value, command),
                ast::AssignmentValue::Array(values) => {
                    let mut inner = LooseCommand::default();
                    for (key, value) in values {
                        key.iter().try_for_each(|key| self.word(&key.value, &mut inner))?;
                        self.word(&value.value, &mut inner)?;
                    }
                    command.simple.words.push(word.value.clone());
                    Ok(())
                }
            },
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(ast::ProcessSubstitutionKind::Read, inner) => {
                command.unknown.push((command.simple.words.len(), Unknown::Pipe));
                command.simple.words.push(UNKNOWN.to_owned());
                self.list(&inner.list)
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(ast::ProcessSubstitutionKind::Write, _) => {
                Err("the script uses a process substitution that is written to".to_owned())
            }
        }
    }

    fn word(&mut self, raw: &str, command: &mut LooseCommand) -> Result<(), String> {
        let known = word::literal(raw);
        if let (Ok(known), false) = (&known, raw.contains('(')) {
            command.simple.words.push(known.clone());
            return Ok(());
        }
        let pieces = brush_parser::word::parse(raw, &ParserOptions::default()).map_err(|_| format!("the word `{raw}` cannot be read"))?;
        if let Ok(known) = known {
            self.pieces(&pieces, raw)?;
            command.simple.words.push(known);
            return Ok(());
        }
        check_parameters(raw)?;
        self.pieces(&pieces, raw)?;
        let known = if has_expansion(&pieces) { Unknown::Value } else { files_like(raw) };
        command.unknown.push((command.simple.words.len(), known));
        command.simple.words.push(UNKNOWN.to_owned());
        Ok(())
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], raw: &str) -> Result<(), String> {
        let refused = |what: &str| Err(format!("the word `{raw}` holds {what}"));
        for piece in pieces {
            match &piece.piece {
                WordPiece::Text(text) if text.contains(['(', ')']) => return refused("a bracket"),
                WordPiece::Text(_)
                | WordPiece::SingleQuotedText(_)
                | WordPiece::EscapeSequence(_)
                | WordPiece::TildeExpansion(_)
                | WordPiece::ParameterExpansion(_) => {}
                WordPiece::DoubleQuotedSequence(inner) => self.pieces_in_quotes(inner, raw)?,
                WordPiece::CommandSubstitution(script) => self.script(script)?,
                WordPiece::BackquotedCommandSubstitution(script) if script.contains('\\') => return refused("nested backticks"),
                WordPiece::BackquotedCommandSubstitution(script) => self.script(script)?,
                WordPiece::ArithmeticExpression(inner) if inner.value.contains(['$', '`', '[', '(', '\'', '"']) => {
                    return refused("arithmetic with more than numbers and names");
                }
                WordPiece::ArithmeticExpression(_) => {}
                WordPiece::AnsiCQuotedText(_) | WordPiece::GettextDoubleQuotedSequence(_) => return refused("a `$'...'` quote"),
            }
        }
        Ok(())
    }

    /// Brackets between double quotes are only text.
    fn pieces_in_quotes(&mut self, pieces: &[WordPieceWithSource], raw: &str) -> Result<(), String> {
        for piece in pieces {
            if !matches!(piece.piece, WordPiece::Text(_)) {
                self.pieces(std::slice::from_ref(piece), raw)?;
            }
        }
        Ok(())
    }
}

/// Lets through the expansions of parameters that hold no code: `$NAME`, `${NAME}`, `${#NAME}`, `${NAME:-plain}` and the like.
fn check_parameters(raw: &str) -> Result<(), String> {
    let refused = || Err(format!("the word `{raw}` holds an expansion that could run code"));
    if raw.contains("$[") {
        return refused();
    }
    for body in raw.split("${").skip(1) {
        let Some((body, _)) = body.split_once('}') else { return refused() };
        let body = body.strip_prefix('#').unwrap_or(body);
        let named = body.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        let rest = ["[@]", "[*]"].iter().find_map(|index| named.strip_prefix(index)).unwrap_or(named);
        let cuts = rest.starts_with(['%', '#']);
        let plain = |letter: char| letter.is_ascii_alphanumeric() || " _.,:/+-*?#%^=".contains(letter) || (cuts && letter == '\\');
        let special = matches!(body, "?" | "@" | "*" | "$" | "!" | "-");
        if !special && (named.len() == body.len() || !rest.chars().all(plain)) {
            return refused();
        }
    }
    Ok(())
}

fn has_expansion(pieces: &[WordPieceWithSource]) -> bool {
    pieces.iter().any(|piece| match &piece.piece {
        WordPiece::Text(_) | WordPiece::SingleQuotedText(_) | WordPiece::EscapeSequence(_) => false,
        WordPiece::DoubleQuotedSequence(inner) => has_expansion(inner),
        _ => true,
    })
}

/// `lib/*.rs` stands for files like `lib/x.rs`. A glob that could be an option, a hidden file or any ending at all says nothing.
fn files_like(raw: &str) -> Unknown {
    let (folder, name) = raw.rsplit_once('/').map_or(("", raw), |(folder, name)| (folder, name));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let plain = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./*?".contains(letter));
    if ending.is_empty() || ending.contains(['*', '?']) || folder.contains(['*', '?']) || name.starts_with('.') || !plain(raw) {
        return Unknown::Value;
    }
    Unknown::Files(raw.replace(['*', '?'], "x"))
}

/// Returns the redirections of all commands.
pub fn redirects(commands: &[LooseCommand]) -> impl Iterator<Item = &Redirect> {
    commands.iter().flat_map(|command| &command.simple.redirects)
}
