//! `[[ ... ]]` with operators that only look at files and texts.
//!
//! In: the condition as the grammar cut it. Out: each part judged as `test`, and text in which a
//! shell without `[[` takes no word of it for a command. Operators for numbers are refused: what
//! stands beside them is worked out, and code can stand in it.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use crate::command::loose::walker::ScriptWalker;
use crate::command::loose::word::parsed;
use crate::command::loose::{LooseCommand, UnknownWord};

impl ScriptWalker<'_> {
    /// Reads a condition and renders each part of it as a command of its own.
    pub(super) fn extended_test(&mut self, found: &ExtendedTestExpr) -> Result<(), String> {
        match found {
            ExtendedTestExpr::And(one, other) => self.joined(one, " && ", other),
            ExtendedTestExpr::Or(one, other) => self.joined(one, " || ", other),
            ExtendedTestExpr::Not(inner) => {
                self.out.push("{ ! ");
                self.extended_test(inner)?;
                self.out.push("; }");
                Ok(())
            }
            ExtendedTestExpr::Parenthesized(inner) => self.extended_test(inner),
            ExtendedTestExpr::UnaryTest(operator, word) => {
                if matches!(
                    operator,
                    UnaryPredicate::FdIsOpenTerminal
                        | UnaryPredicate::ShellOptionEnabled
                        | UnaryPredicate::ShellVariableIsSetAndAssigned
                        | UnaryPredicate::ShellVariableIsSetAndNameRef
                ) {
                    return Err(refused(&operator.to_string()));
                }
                let mut command = LooseCommand::default();
                command.simple.words = vec!["test".to_owned(), operator.to_string()];
                let word = self.word(&word.value, &mut command)?;
                self.test(command, &format!("{operator} {word}"));
                Ok(())
            }
            ExtendedTestExpr::BinaryTest(operator, one, other) => {
                let mut command = LooseCommand::default();
                command.simple.words = vec!["test".to_owned()];
                let one = self.word(&one.value, &mut command)?;
                command.simple.words.push(operator.to_string());
                let other = match operator {
                    BinaryPredicate::FilesReferToSameDeviceAndInodeNumbers
                    | BinaryPredicate::LeftFileIsNewerOrExistsWhenRightDoesNot
                    | BinaryPredicate::LeftFileIsOlderOrDoesNotExistWhenRightDoes => {
                        self.word(&other.value, &mut command)?
                    }
                    BinaryPredicate::StringExactlyMatchesPattern
                    | BinaryPredicate::StringDoesNotExactlyMatchPattern
                    | BinaryPredicate::StringExactlyMatchesString
                    | BinaryPredicate::StringDoesNotExactlyMatchString => {
                        self.pattern(&other.value, &mut command)?
                    }
                    BinaryPredicate::StringMatchesRegex
                    | BinaryPredicate::StringContainsSubstring => {
                        if !is_plain_regex(&other.value) {
                            return Err(
                                "the script uses `[[ ... =~ ... ]]` with more than a plain \
                                        pattern"
                                    .to_owned(),
                            );
                        }
                        command.simple.words.push(other.value.clone());
                        other.value.clone()
                    }
                    BinaryPredicate::LeftSortsBeforeRight
                    | BinaryPredicate::LeftSortsAfterRight
                    | BinaryPredicate::ArithmeticEqualTo
                    | BinaryPredicate::ArithmeticNotEqualTo
                    | BinaryPredicate::ArithmeticLessThan
                    | BinaryPredicate::ArithmeticLessThanOrEqualTo
                    | BinaryPredicate::ArithmeticGreaterThan
                    | BinaryPredicate::ArithmeticGreaterThanOrEqualTo => {
                        return Err(refused(&operator.to_string()));
                    }
                };
                self.test(command, &format!("{one} {operator} {other}"));
                Ok(())
            }
        }
    }

    fn joined(
        &mut self,
        one: &ExtendedTestExpr,
        joint: &str,
        other: &ExtendedTestExpr,
    ) -> Result<(), String> {
        self.out.push("{ ");
        self.extended_test(one)?;
        self.out.push(joint);
        self.extended_test(other)?;
        self.out.push("; }");
        Ok(())
    }

    fn test(&mut self, command: LooseCommand, text: &str) {
        self.out.push(&format!("[[ {text} ]]"));
        self.note(command);
    }

    /// A pattern for a text: it names no files.
    fn pattern(&mut self, raw: &str, command: &mut LooseCommand) -> Result<String, String> {
        if crate::command::word::literal(raw).is_ok() {
            return self.word(raw, command);
        }
        let rendered = self.pieces(&parsed(raw)?, raw)?;
        command.push_unknown(UnknownWord::Value, raw);
        Ok(rendered)
    }
}

fn refused(operator: &str) -> String {
    format!("the script uses `{operator}` in `[[ ... ]]`, whose words may hold code; use `[ ... ]`")
}

/// A regular expression that no shell takes for anything else.
fn is_plain_regex(raw: &str) -> bool {
    let text = raw.strip_suffix('$').unwrap_or(raw);
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "^.*+?[]{}_-/:,@%=\\".contains(letter))
        && !text.ends_with('\\')
}
