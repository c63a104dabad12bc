//! What stands behind a program's name besides plain words: redirections whose files or texts a
//! shell works out, and assignments that `export` and `env` are given.
//!
//! In: such an item, at the place where the walk has come to. Out: a redirection of which every
//! file is known, and its text. What is read counts as what `cat` reads; a text is given to
//! programs that only read, and to `tee`.

use brush_parser::ast;
use brush_parser::word::{WordPiece, WordPieceWithSource};

use crate::command::examine::fed;
use crate::command::loose::walker::ScriptWalker;
use crate::command::loose::word::{check_arithmetic, check_parameter, parsed};
use crate::command::loose::{LoopValue, LooseCommand, UnknownWord, search_path};
use crate::command::parse::{add_redirect, descriptor, standard_input, without_tabs};
use crate::command::tree::Redirect;
use crate::command::word::literal;

/// How a file is used by a redirection.
enum FileAccess {
    /// It is read by this descriptor.
    Read(u32),
    /// It is written: the descriptor and the operator behind it.
    Written(String),
}

impl ScriptWalker<'_> {
    /// Notes a redirection of a command.
    pub(super) fn redirect(
        &mut self,
        redirect: &ast::IoRedirect,
        command: &mut LooseCommand,
    ) -> Result<(), String> {
        match redirect {
            ast::IoRedirect::File(fd, kind, ast::IoFileRedirectTarget::Filename(word))
                if literal(&word.value).is_err() =>
            {
                let written = |operator: &str| {
                    let fd = descriptor(*fd, 1)?;
                    Ok::<FileAccess, String>(FileAccess::Written(format!("{fd}{operator}")))
                };
                let access = match kind {
                    ast::IoFileRedirectKind::Read => FileAccess::Read(descriptor(*fd, 0)?),
                    ast::IoFileRedirectKind::Write | ast::IoFileRedirectKind::Clobber => {
                        written(">")?
                    }
                    ast::IoFileRedirectKind::Append => written(">>")?,
                    ast::IoFileRedirectKind::ReadAndWrite
                    | ast::IoFileRedirectKind::DuplicateInput
                    | ast::IoFileRedirectKind::DuplicateOutput => {
                        return add_redirect(redirect, &mut command.simple.redirects);
                    }
                };
                self.file(&word.value, access, command)
            }
            ast::IoRedirect::OutputAndError(word, append) if literal(&word.value).is_err() => {
                let operator = if *append { "1>>" } else { "1>" };
                self.file(&word.value, FileAccess::Written(operator.to_owned()), command)?;
                command.simple.redirects.push(Redirect::Duplicate { fd: 2, to: 1 });
                Ok(())
            }
            ast::IoRedirect::HereDocument(fd, here)
                if here.requires_expansion
                    && here.doc.value.contains(['$', '`', '\\'])
                    && takes_text(command) =>
            {
                standard_input(*fd)?;
                let body = if here.remove_tabs {
                    without_tabs(&here.doc.value)
                } else {
                    here.doc.value.clone()
                };
                let pieces = parsed_text(&body)?;
                let body = self.template(&pieces, &body)?;
                command.simple.redirects.push(Redirect::Template(body));
                Ok(())
            }
            ast::IoRedirect::HereString(fd, word)
                if literal(&word.value).is_err() && takes_text(command) =>
            {
                standard_input(*fd)?;
                let pieces = parsed(&word.value)?;
                let body = self.template(one_text(&pieces), &word.value)?;
                command.simple.redirects.push(Redirect::Template(format!("{body}\n")));
                Ok(())
            }
            other => add_redirect(other, &mut command.simple.redirects),
        }
    }

    /// Notes an assignment behind a program's name, and returns how it is rendered.
    pub(super) fn assigned_word(
        &mut self,
        assignment: &ast::Assignment,
        word: &ast::Word,
        command: &mut LooseCommand,
    ) -> Result<String, String> {
        let is_set = matches!(program_of(command), "export" | "env");
        let path = search_path::read(assignment, &self.neutral.root);
        match path.filter(|_| is_set && literal(&word.value).is_err()) {
            Some(path) => {
                command.simple.words.push(path.known);
                Ok(path.rendered)
            }
            None => self.word(&word.value, command),
        }
    }

    /// Notes a redirection to or from a file whose name a shell works out. Before all values are
    /// gathered, one that is not known is only passed over.
    fn file(
        &mut self,
        raw: &str,
        access: FileAccess,
        command: &mut LooseCommand,
    ) -> Result<(), String> {
        let pieces = parsed(raw)?;
        let rendered = self.pieces(&pieces, raw)?;
        self.shape.expansions = true;
        let Some(values) = self.variables.values_of_file(&pieces, raw) else {
            return self.unknown_file(raw);
        };
        let word = if raw.contains('"') { rendered } else { format!("\"{rendered}\"") };
        let values = values.into_iter().filter(|value| !value.is_empty());
        match access {
            FileAccess::Read(fd) => {
                let values: Vec<LoopValue> = values.map(readable).collect();
                if values.is_empty() {
                    return self.unknown_file(raw);
                }
                let mut reader = LooseCommand::default();
                reader.simple.words.push("cat".to_owned());
                reader.push_unknown(UnknownWord::OneOf(values), raw);
                reader.simple.written = vec!["cat".to_owned(), raw.to_owned()];
                self.note(reader);
                let (operator, written) = (format!("{fd}<"), Vec::new());
                command.simple.redirects.push(Redirect::WorkedOut { operator, word, written });
                Ok(())
            }
            FileAccess::Written(operator) => {
                let Some(written) = values.map(writable).collect::<Option<Vec<String>>>() else {
                    return self.unknown_file(raw);
                };
                if written.is_empty() {
                    return self.unknown_file(raw);
                }
                command.simple.redirects.push(Redirect::WorkedOut { operator, word, written });
                Ok(())
            }
        }
    }

    fn unknown_file(&self, raw: &str) -> Result<(), String> {
        match literal(raw) {
            Err(why) if self.variables.are_known() => Err(format!("the word `{raw}` holds {why}")),
            Err(_) | Ok(_) => Ok(()),
        }
    }

    /// Renders a text that a shell works out where it ends a line of its own.
    fn template(&mut self, pieces: &[WordPieceWithSource], raw: &str) -> Result<String, String> {
        let mut out = String::new();
        for piece in pieces {
            let source = raw.get(piece.start_index..piece.end_index).unwrap_or_default();
            match &piece.piece {
                // The line behind it would be one with it.
                WordPiece::Text(text) if !text.contains("\\\n") => out.push_str(&in_text(text)),
                WordPiece::EscapeSequence(text) => {
                    out.push_str(&in_text(text.strip_prefix('\\').unwrap_or(text)));
                }
                WordPiece::ParameterExpansion(_) => {
                    check_parameter(source, source)?;
                    out.push_str(source);
                }
                WordPiece::ArithmeticExpression(inner) => {
                    check_arithmetic(&inner.value, source)?;
                    out.push_str(&format!("$(({}))", inner.value));
                }
                WordPiece::CommandSubstitution(script) => {
                    let rendered = format!("$( {}\n)", self.script(script)?);
                    // The text's lines are joined before it runs, within its quotes too.
                    if rendered.contains("\\\n") {
                        return Err("a substitution in a text that is given to a command holds a \
                                    backslash at the end of a line"
                            .to_owned());
                    }
                    out.push_str(&rendered);
                }
                _ => {
                    return Err("a text that is given to a command holds more than variables and \
                                substitutions; quote its delimiter (`<<'EOF'`)"
                        .to_owned());
                }
            }
        }
        self.shape.expansions = true;
        Ok(out)
    }
}

/// Returns the program of a command, where it is known already.
fn program_of(command: &LooseCommand) -> &str {
    command.simple.words.get(command.assignments).map_or("", String::as_str)
}

/// Whether a text that is not known may be given to a command: it does no more than show it.
fn takes_text(command: &LooseCommand) -> bool {
    let program = program_of(command);
    program == "tee" || fed::only_reads(program)
}

/// Cuts the text of a here-document into pieces.
fn parsed_text(body: &str) -> Result<Vec<WordPieceWithSource>, String> {
    brush_parser::word::parse_heredoc(body, &brush_parser::ParserOptions::default())
        .map_err(|_| "a here-document cannot be read; quote its delimiter (`<<'EOF'`)".to_owned())
}

/// Returns the pieces between the double quotes of a word that is one text.
fn one_text(pieces: &[WordPieceWithSource]) -> &[WordPieceWithSource] {
    match pieces {
        [WordPieceWithSource { piece: WordPiece::DoubleQuotedSequence(inner), .. }] => inner,
        pieces => pieces,
    }
}

/// What is read of a value: any file of the folder where its name could be one that looks like an
/// option, which a redirection takes for a file.
fn readable(value: LoopValue) -> LoopValue {
    match value {
        LoopValue::Files(glob) if glob.starts_with(['*', '?', '-']) => {
            LoopValue::Below(vec![".".to_owned()])
        }
        value => value,
    }
}

/// Returns the file that is written where a word has this value; `None` where that is not known.
fn writable(value: LoopValue) -> Option<String> {
    match value {
        LoopValue::Text(text) => Some(text),
        // In the repository, any file could be called like that.
        LoopValue::Like(text) => text.starts_with("/tmp/").then_some(text),
        LoopValue::Files(_) | LoopValue::Below(_) => None,
    }
}

/// Text of a here-document in which a shell works words out.
fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '$' | '`' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
