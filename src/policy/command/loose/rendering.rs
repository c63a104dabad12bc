//! Words and assignments of a script with expansions: what is known of each, and how a shell is
//! given it.
//!
//! In: raw words, in the place where the walk has come to. Out: words of a command, known or marked
//! as unknown, and their text. Substitutions in them are walked too.

use brush_parser::ast;
use brush_parser::word::{WordPiece, WordPieceWithSource};

use crate::command::UNKNOWN;
use crate::command::examine::fed;
use crate::command::home;
use crate::command::loose::producer::{self, PlainNames};
use crate::command::loose::walker::ScriptWalker;
use crate::command::loose::word::{
    self, check_arithmetic, check_parameter, check_variable, escaped, parsed,
};
use crate::command::loose::{LoopValue, LooseCommand, PACKAGE, UnknownWord, files_like};
use crate::command::tables::{verbs, wrappers};
use crate::command::tree::quoted;
use crate::command::word::literal;

impl ScriptWalker<'_> {
    /// Notes a variable that is set and returns how that is rendered.
    pub(super) fn assignment(
        &mut self,
        assignment: &ast::Assignment,
        word: &ast::Word,
        is_alone: bool,
        command: &mut LooseCommand,
    ) -> Result<String, String> {
        let mut inner = LooseCommand::default();
        if let (ast::AssignmentName::VariableName(name), true) = (&assignment.name, is_alone)
            && let Err(refused) = check_variable(name)
        {
            command.refused = Some(refused);
        }
        match (&assignment.value, &assignment.name, assignment.append) {
            (
                ast::AssignmentValue::Array(values),
                ast::AssignmentName::VariableName(name),
                false,
            ) => {
                let value = |(key, value): &(Option<ast::Word>, ast::Word)| match key {
                    None => self.word(&value.value, &mut inner),
                    Some(_) => Err("the script sets a part of an array".to_owned()),
                };
                let rendered: Vec<String> = values.iter().map(value).collect::<Result<_, _>>()?;
                command.simple.words.push(word.value.clone());
                self.variables.set(name, None, false);
                Ok(format!("{name}=({})", rendered.join(" ")))
            }
            (
                ast::AssignmentValue::Scalar(value),
                ast::AssignmentName::VariableName(name),
                false,
            ) => {
                let rendered = self.word(&value.value, &mut inner)?;
                let known = inner.simple.words.first().filter(|_| inner.unknown.is_empty());
                match known {
                    Some(value) => command.simple.words.push(format!("{name}={value}")),
                    None => command.push_unknown(UnknownWord::Value, &word.value),
                }
                let values = if is_alone {
                    self.variables.values_of_assigned(&parsed(&value.value)?, &value.value)
                } else {
                    None
                };
                // An error in arithmetic ends the line before the value is set.
                let works_out = |sign: &&str| value.value.contains(*sign);
                let sure = values.is_some() || !["$((", "${"].iter().any(works_out);
                self.variables.set(name, values, is_alone && sure);
                if is_alone {
                    self.variables.set_names(name, &parsed(&value.value)?);
                }
                Ok(format!("{name}={rendered}"))
            }
            (ast::AssignmentValue::Array(_), _, _) => Err("the script sets an array".to_owned()),
            (ast::AssignmentValue::Scalar(_), _, _) => {
                Err(format!("the script changes a variable or a part of one (`{}`)", word.value))
            }
        }
    }

    /// Notes a word, known or not, and returns how it is rendered.
    pub(super) fn word(&mut self, raw: &str, command: &mut LooseCommand) -> Result<String, String> {
        let known = literal(raw);
        if let (Ok(known), false) = (&known, raw.contains('(')) {
            command.simple.words.push(known.clone());
            return Ok(quoted(known));
        }
        let pieces = parsed(raw)?;
        if let Some(PlainNames { script, folders }) = names_for(&pieces, command) {
            self.shape.expansions = true;
            let rendered = self.script(&script)?;
            command.push_unknown(UnknownWord::Names(folders), raw);
            return Ok(format!("$( {rendered}\n)"));
        }
        let rendered = self.pieces(&pieces, raw)?;
        if let Ok(known) = known {
            command.simple.words.push(known.clone());
            return Ok(quoted(&known));
        }
        let is_quoted = raw.contains(['"', '\'']);
        self.shape.expansions = true;
        if let Some(path) = of_home(raw, command) {
            command.push_unknown(UnknownWord::Home(path), raw);
            return Ok(rendered);
        }
        let values = self.variables.values_of(&pieces, raw);
        let is_program = command.simple.words.len() == command.assignments;
        match values.as_deref() {
            // What it is known to be is what the program is given.
            Some([LoopValue::Text(text)]) if !is_program && (is_quoted || !text.is_empty()) => {
                command.simple.words.push(text.clone());
                return Ok(quoted(text));
            }
            Some(values) => {
                command.push_unknown(UnknownWord::OneOf(values.to_vec()), raw);
                // Between quotes, no value becomes several words.
                return Ok(if is_quoted { rendered } else { format!("\"{rendered}\"") });
            }
            None => {}
        }
        let unknown = match self.variables.values_of_list(&[(raw, Some(pieces))]) {
            // The words of a substitution: only names of files, or of packages, are what a program
            // is given many of.
            Some(values) if are_words(&values, command) => UnknownWord::OneOf(values),
            _ => files_like(raw),
        };
        command.push_unknown(unknown, raw);
        Ok(if rendered.is_empty() { "''".to_owned() } else { rendered })
    }

    /// Notes a word of a loop's list. It is rendered as it is written: a shell may make several
    /// words of it, or none.
    pub(super) fn word_of_list(
        &mut self,
        raw: &str,
        command: &mut LooseCommand,
    ) -> Result<String, String> {
        if let (Ok(known), false) = (literal(raw), raw.contains('(')) {
            command.simple.words.push(known.clone());
            return Ok(quoted(&known));
        }
        let rendered = self.pieces(&parsed(raw)?, raw)?;
        match literal(raw) {
            Ok(known) => command.simple.words.push(known),
            Err(_) => {
                self.shape.expansions = true;
                command.push_unknown(files_like(raw), raw);
            }
        }
        Ok(if rendered.is_empty() { "''".to_owned() } else { rendered })
    }

    /// Leaves words unknown that would change what is added to the others, and makes sure that one
    /// which may be any object is a commit.
    pub(super) fn settle(&self, command: &mut LooseCommand, rendered: &mut [String]) {
        let before = command.assignments;
        let words = command.simple.words.get(before..).unwrap_or_default();
        let added = self.neutral.added(words);
        let is_git = words.iter().any(|word| word == "git");
        let verb = wrappers::innermost(words);
        let verb = words.get(verb..).and_then(verbs::place).map(|at| at + verb);
        let mut settled = Vec::new();
        let known = |(_, what): &&(usize, UnknownWord)| matches!(what, UnknownWord::OneOf(_));
        let count = command.unknown.iter().filter(known).count();
        for (index, what) in &command.unknown {
            let UnknownWord::OneOf(values) = what else { continue };
            let Some(at) = index.checked_sub(before) else { continue };
            let with = |value: &LoopValue| {
                let text = match value {
                    LoopValue::Text(text) | LoopValue::Like(text) => text,
                    LoopValue::Files(glob) if !is_git => glob,
                    LoopValue::Below(_) if !is_git => return Some(None),
                    LoopValue::Files(_) | LoopValue::Below(_) => return None,
                };
                let mut words = words.to_vec();
                words.get_mut(at)?.clone_from(text);
                let behind = match self.neutral.instead(&words, at) {
                    Some(commit) => Some(behind_commit(&commit, text)?),
                    None => None,
                };
                (self.neutral.added(&words) == added).then_some(behind)
            };
            let all: Option<Vec<Option<String>>> = values.iter().map(with).collect();
            let is_behind = verb.is_some_and(|verb| at > verb) && count == 1;
            let all = all.filter(|_| !is_git || is_behind);
            settled.push((*index, all));
        }
        for (index, all) in settled {
            let mut behind: Vec<String> = all.iter().flatten().flatten().cloned().collect();
            behind.dedup();
            let word = rendered.get_mut(index);
            let as_commit = match (behind.as_slice(), &word) {
                ([behind], Some(word)) => as_commit(word, behind),
                _ => None,
            };
            if all.is_none() || (as_commit.is_none() && !behind.is_empty()) {
                let unknown = command.unknown.iter_mut().find(|(at, _)| *at == index);
                unknown.into_iter().for_each(|(_, what)| *what = UnknownWord::Value);
            } else if let (Some(as_commit), Some(word)) = (as_commit, word) {
                *word = as_commit;
            }
        }
    }

    /// Renders the pieces of a word.
    pub(super) fn pieces(
        &mut self,
        pieces: &[WordPieceWithSource],
        raw: &str,
    ) -> Result<String, String> {
        self.pieces_in(pieces, raw, QuoteState::None)
    }

    fn pieces_in(
        &mut self,
        pieces: &[WordPieceWithSource],
        raw: &str,
        quotes: QuoteState,
    ) -> Result<String, String> {
        let mut out = String::new();
        for piece in pieces {
            let source = raw.get(piece.start_index..piece.end_index).unwrap_or_default();
            out.push_str(&self.piece(&piece.piece, source, raw, quotes)?);
        }
        Ok(out)
    }

    fn piece(
        &mut self,
        piece: &WordPiece,
        source: &str,
        raw: &str,
        quotes: QuoteState,
    ) -> Result<String, String> {
        let refused = |what: &str| Err(format!("the word `{raw}` holds {what}"));
        match (piece, quotes) {
            // Brackets between double quotes are only text.
            (WordPiece::Text(text), QuoteState::Double) => Ok(escaped(text)),
            (WordPiece::Text(text), QuoteState::None) if text.contains(['(', ')']) => {
                refused("a bracket")
            }
            (WordPiece::Text(text), QuoteState::None) => Ok(word::bare(text)),
            (WordPiece::SingleQuotedText(text), _) => Ok(quoted(text)),
            (WordPiece::EscapeSequence(text), _) => {
                let letter = text.strip_prefix('\\').unwrap_or(text);
                Ok(match quotes {
                    QuoteState::Double => escaped(letter),
                    QuoteState::None if letter == "\n" => String::new(),
                    QuoteState::None => quoted(letter),
                })
            }
            (WordPiece::TildeExpansion(_), _) => {
                let plain = source.starts_with('~')
                    && source
                        .chars()
                        .skip(1)
                        .all(|letter| letter.is_ascii_alphanumeric() || "._+-".contains(letter));
                if plain { Ok(source.to_owned()) } else { refused("a tilde") }
            }
            (WordPiece::ParameterExpansion(_), _) => {
                check_parameter(source, raw).map(|()| source.to_owned())
            }
            (WordPiece::ArithmeticExpression(inner), _) => {
                check_arithmetic(&inner.value, raw).map(|()| format!("$(({}))", inner.value))
            }
            (WordPiece::DoubleQuotedSequence(inner), _) => {
                Ok(format!("\"{}\"", self.pieces_in(inner, raw, QuoteState::Double)?))
            }
            (WordPiece::BackquotedCommandSubstitution(script), _) if script.contains('\\') => {
                refused("nested backticks")
            }
            (
                WordPiece::CommandSubstitution(script)
                | WordPiece::BackquotedCommandSubstitution(script),
                _,
            ) => Ok(format!("$( {}\n)", self.script(script)?)),
            (WordPiece::AnsiCQuotedText(_) | WordPiece::GettextDoubleQuotedSequence(_), _) => {
                refused("a `$'...'` quote")
            }
        }
    }
}

#[derive(Clone, Copy)]
enum QuoteState {
    None,
    Double,
}

/// Returns names that a word stands for, where the words before it are those of a program that may
/// be given any of them.
fn names_for(pieces: &[WordPieceWithSource], command: &LooseCommand) -> Option<PlainNames> {
    let [WordPieceWithSource { piece: WordPiece::CommandSubstitution(script), .. }] = pieces else {
        return None;
    };
    let mut words = command.simple.words.get(command.assignments..)?.to_vec();
    let program = words.first()?;
    if fed::only_reads(program) {
        return None;
    }
    words.push(UNKNOWN.to_owned());
    fed::checks_files(&words, UNKNOWN).then(|| producer::plain_names(script)).flatten()
}

/// Returns the path of a tool that a word behind a program names in a home.
fn of_home(raw: &str, command: &LooseCommand) -> Option<String> {
    let program = command.simple.words.get(command.assignments)?;
    // Among folders, it prints names alone.
    let around = || home::around_tools(raw).filter(|_| program == "find");
    home::of_tools(raw).or_else(around)
}

/// Whether any number of such words may be given to a program.
fn are_words(values: &[LoopValue], command: &LooseCommand) -> bool {
    match values {
        [LoopValue::Below(_)] => true,
        [LoopValue::Like(name)] if name == PACKAGE => {
            let words = command.simple.words.get(command.assignments..).unwrap_or_default();
            fed::tests_packages(words.get(wrappers::innermost(words)..).unwrap_or_default())
        }
        _ => false,
    }
}

/// Returns what stands behind the commit in a word that has to be one: nothing, or the end of a
/// range.
fn behind_commit(commit: &str, text: &str) -> Option<String> {
    let (before, behind) = commit.split_once("^{commit}")?;
    let is_end = behind.is_empty() || behind.starts_with("..");
    (is_end && format!("{before}{behind}") == text).then(|| behind.to_owned())
}

/// Returns a word whose quotes hold a commit, perhaps with the end of a range behind it, so that it
/// can be no other object.
fn as_commit(word: &str, behind: &str) -> Option<String> {
    let within = word.strip_suffix('"').and_then(|open| open.strip_suffix(behind));
    let within = within.map(|open| format!("{open}^{{commit}}{behind}\""));
    let open = || word.strip_suffix(behind)?.strip_suffix('"');
    within.or_else(|| Some(format!("{}^{{commit}}\"{behind}", open()?)))
}
