//! Definitions of C++ and C# by their braces, whose grammars would add 9 MB to the program.
//!
//! In: tokens. Out: what stands before a brace or a semicolon outside of functions, as far as it
//! defines something. Bodies are passed by, with the depth that `#if` had for each `#else`.
//! Macros that hide a brace are read as they are written.

mod head;
mod token;

use crate::outline::braces::head::{Head, HeadMeaning};
use crate::outline::braces::token::{Token, TokenKind};
use crate::outline::{FoundPlace, OutlinedText};

/// A language that is read by its braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BraceDialect {
    Cpp,
    CSharp,
}

/// Most tokens looked at before braces: those before a value in braces are looked at again with the
/// next one. A constructor that gives values to 1,000 members takes 1.5 million.
const WORK_LIMIT_TOKENS: usize = 10_000_000;

/// Adds what a text defines; `None` where it takes too long to parse.
pub(super) fn outline(dialect: BraceDialect, outline: &mut OutlinedText<'_>) -> Option<()> {
    let tokens = token::tokens(dialect, outline.text);
    let head = Head { dialect, text: outline.text, tokens: Vec::new() };
    let mut reader = BraceReader {
        tokens: &tokens,
        at: 0,
        round: 0,
        head,
        open: Vec::new(),
        before: Vec::new(),
        work: 0,
        outline,
    };
    while !reader.outline.is_full() {
        if reader.work > WORK_LIMIT_TOKENS {
            return None;
        }
        let Some(token) = tokens.get(reader.at).copied() else { break };
        reader.at += 1;
        reader.take(token);
    }
    let end = reader.outline.text.len();
    while reader.open.last().is_some() {
        reader.close(end);
    }
    Some(())
}

/// A brace that is open outside of functions.
struct OpenBrace<'t> {
    /// The definition that it belongs to, by its number, and where that begins.
    definition: Option<(usize, usize)>,
    scope: Scope<'t>,
    /// How many definitions it stands in, with its own.
    depth: usize,
}

/// What definitions stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope<'t> {
    /// A file or a namespace.
    Namespace,
    /// A type of this name.
    Type(&'t str),
}

struct BraceReader<'r, 't> {
    tokens: &'r [Token],
    at: usize,
    /// Round and square brackets that are open.
    round: usize,
    head: Head<'t>,
    open: Vec<OpenBrace<'t>>,
    /// How many were open at each `#if`.
    before: Vec<usize>,
    /// Tokens looked at before braces so far.
    work: usize,
    outline: &'r mut OutlinedText<'t>,
}

impl<'t> BraceReader<'_, 't> {
    fn take(&mut self, token: Token) {
        match token.kind {
            TokenKind::If => self.before.push(self.open.len()),
            TokenKind::Else => self.take_else(token),
            TokenKind::EndIf => {
                self.before.pop();
            }
            TokenKind::Macro => self.add(token, token.start, token.end),
            TokenKind::Sign(b'{') if self.round > 0 => self.pass_by(token),
            TokenKind::Sign(b'{') => self.take_brace(token),
            TokenKind::Sign(b'}') => {
                self.close(token.end);
                self.clear();
            }
            TokenKind::Sign(b';') => {
                if self.round == 0
                    && let Some(place) = self.head.statement(self.scope())
                {
                    self.add(place, token.start, token.end);
                }
                self.clear();
            }
            TokenKind::Sign(b':') if self.head.is_label() => self.clear(),
            TokenKind::Sign(sign) => {
                match sign {
                    b'(' | b'[' => self.round += 1,
                    b')' | b']' => self.round = self.round.saturating_sub(1),
                    _ => {}
                }
                self.head.tokens.push(token);
            }
            TokenKind::Word | TokenKind::Literal | TokenKind::Group(_) => {
                self.head.tokens.push(token);
            }
        }
    }

    /// Takes back the braces that the other branch left open.
    fn take_else(&mut self, token: Token) {
        let before = self.before.last().copied().unwrap_or(self.open.len());
        while self.open.len() > before {
            self.close(token.start);
        }
        self.clear();
    }

    fn take_brace(&mut self, brace: Token) {
        self.work += self.head.tokens.len();
        let depth = self.depth();
        match self.head.before_brace(self.scope()) {
            HeadMeaning::Nothing => {
                self.end_of_body();
                self.clear();
            }
            HeadMeaning::Value => self.pass_by(brace),
            HeadMeaning::Whole(name) => {
                let end = self.end_of_body();
                self.add(name, name.start, end);
                self.clear();
            }
            HeadMeaning::Transparent => {
                self.open.push(OpenBrace { definition: None, scope: self.scope(), depth });
                self.clear();
            }
            HeadMeaning::Holder(name, scope) => {
                let start = self.head.start().unwrap_or(name.start);
                let number = self.outline.found.len();
                self.add(name, name.start, brace.end);
                let definition = Some((number, start));
                self.open.push(OpenBrace { definition, scope, depth: depth + 1 });
                self.clear();
            }
        }
    }

    fn scope(&self) -> Scope<'t> {
        self.open.last().map_or(Scope::Namespace, |open| open.scope)
    }

    fn depth(&self) -> usize {
        self.open.last().map_or(0, |open| open.depth)
    }

    fn clear(&mut self) {
        self.head.tokens.clear();
        self.round = 0;
    }

    /// Adds a definition of this name that begins with the head.
    fn add(&mut self, name: Token, start: usize, end: usize) {
        let is_macro = name.kind == TokenKind::Macro;
        let start = self.head.start().filter(|_| !is_macro).unwrap_or(start);
        self.outline.add(FoundPlace { start, name: name.start, end }, self.depth());
    }

    /// Closes the innermost open brace; its definition ends here.
    fn close(&mut self, end: usize) {
        let Some(open) = self.open.pop() else { return };
        if let Some((number, start)) = open.definition {
            let last_line = self.outline.last_line(start, end);
            if let Some(definition) = self.outline.found.get_mut(number) {
                definition.last_line = last_line;
            }
        }
    }

    /// Passes a value in braces by; it stays in the head as one token.
    fn pass_by(&mut self, brace: Token) {
        let end = self.end_of_body();
        self.head.tokens.push(Token { kind: TokenKind::Literal, start: brace.start, end });
    }

    /// Goes behind the brace that closes the one just taken; returns where that is in the text.
    fn end_of_body(&mut self) -> usize {
        let (mut depth, mut before) = (1_usize, Vec::new());
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.kind {
                TokenKind::If => before.push(depth),
                TokenKind::Else => depth = before.last().copied().unwrap_or(depth),
                TokenKind::EndIf => {
                    before.pop();
                }
                TokenKind::Sign(b'{') => depth += 1,
                TokenKind::Sign(b'}') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return token.end;
            }
        }
        self.outline.text.len()
    }
}

#[cfg(test)]
mod tests;
