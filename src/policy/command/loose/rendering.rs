//! Words and assignments of a script with expansions: what is known of each, and how a shell is
//! given it.
//!
//! In: raw words, in the place where the walk has come to. Out: words of a command, known or marked
//! as unknown, and their text. Substitutions in them are walked too.

use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{ParserOptions, ast};

use crate::command::loose::walker::ScriptWalker;
use crate::command::loose::word::{self, check_arithmetic, check_parameter, escaped};
use crate::command::loose::{LooseCommand, UnknownWord, files_like};
use crate::command::tree::quoted;
use crate::command::word::literal;

impl ScriptWalker<'_> {
    /// Notes a variable that is set and returns how that is rendered.
    pub(super) fn assignment(
        &mut self,
        assignment: &ast::Assignment,
        word: &ast::Word,
        command: &mut LooseCommand,
    ) -> Result<String, String> {
        let mut inner = LooseCommand::default();
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
                Ok(format!("{name}={rendered}"))
            }
            (ast::AssignmentValue::Array(_), _, _) => Err("the script sets an array".to_owned()),
            (ast::AssignmentValue::Scalar(_), _, _) => {
                Err("the script changes a variable or a part of one".to_owned())
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
        let pieces = brush_parser::word::parse(raw, &ParserOptions::default())
            .map_err(|_| format!("the word `{raw}` cannot be read"))?;
        let rendered = self.pieces(&pieces, raw, QuoteState::None)?;
        if let Ok(known) = known {
            command.simple.words.push(known.clone());
            return Ok(quoted(&known));
        }
        if let Some(values) = self.bound.values_of(&pieces, raw) {
            command.push_unknown(UnknownWord::OneOf(values), raw);
            // Between quotes, no value becomes several words.
            return Ok(if raw.contains(['"', '\'']) {
                rendered
            } else {
                format!("\"{rendered}\"")
            });
        }
        command.push_unknown(files_like(raw), raw);
        Ok(if rendered.is_empty() { "''".to_owned() } else { rendered })
    }

    fn pieces(
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
                Ok(format!("\"{}\"", self.pieces(inner, raw, QuoteState::Double)?))
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
