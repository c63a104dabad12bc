//! The tokens of C++ and C#: words, literals and signs, without comments. Takes time in proportion
//! to the text: what is looked at is passed by.

use crate::outline::braces::BraceDialect;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word, or an operator with the word `operator`.
    Word,
    /// A number, a text or a character.
    Literal,
    /// One byte of anything else.
    Sign(u8),
    /// Everything from a bracket of this kind to the one that closes it.
    Group(u8),
    /// `#if` and the like.
    If,
    /// `#else` and the like.
    Else,
    /// `#endif`.
    EndIf,
    /// The name of a `#define` with parameters.
    Macro,
}

/// A token, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    /// Behind its last byte.
    pub(super) end: usize,
}

/// Most bytes of the mark of a raw text, as C++ has it.
const MARK_LIMIT_BYTES: usize = 16;

/// Returns the tokens of a text.
pub(super) fn tokens(dialect: BraceDialect, text: &str) -> Vec<Token> {
    let mut lexer = Lexer { dialect, text: text.as_bytes(), at: 0, tokens: Vec::new() };
    while let Some(byte) = lexer.byte(0) {
        lexer.step(byte);
    }
    lexer.tokens
}

struct Lexer<'t> {
    dialect: BraceDialect,
    text: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        let end = end.clamp(self.at + 1, self.text.len().max(self.at + 1));
        self.tokens.push(Token { kind, start: self.at, end });
        self.at = end;
    }

    /// Returns where the bytes from `start` on end that are like this.
    fn run(&self, start: usize, is_like: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        start + rest.iter().position(|byte| !is_like(*byte)).unwrap_or(rest.len())
    }

    /// Returns the place behind the next `end`.
    fn behind(&self, start: usize, end: &[u8]) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let found = rest.windows(end.len().max(1)).position(|window| window == end);
        found.map_or(self.text.len(), |at| start + at + end.len())
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0xC => self.at += 1,
            b'/' if self.byte(1) == Some(b'/') => self.at = self.run(self.at, |it| it != b'\n'),
            b'/' if self.byte(1) == Some(b'*') => self.at = self.behind(self.at + 2, b"*/"),
            b'#' => self.directive(),
            b'"' => self.push(TokenKind::Literal, self.text_end(self.at)),
            b'\'' => self.push(TokenKind::Literal, self.escaped_end(self.at + 1, b'\'')),
            b'$' | b'@' if self.dialect == BraceDialect::CSharp => self.marked(),
            b'0'..=b'9' => {
                let end = self.run(self.at, |it| is_word(it) || matches!(it, b'.' | b'\''));
                self.push(TokenKind::Literal, end);
            }
            _ if is_word(byte) => self.word(),
            _ => self.push(TokenKind::Sign(byte), self.at + 1),
        }
    }

    fn word(&mut self) {
        let end = self.run(self.at, is_word);
        let word = self.text.get(self.at..end).unwrap_or_default();
        let is_cpp = self.dialect == BraceDialect::Cpp;
        if is_cpp && word.ends_with(b"R") && word.len() <= 3 && self.text.get(end) == Some(&b'"') {
            let behind = self.text.get(end + 1..).unwrap_or_default().iter().copied();
            let mark = behind.take(MARK_LIMIT_BYTES).take_while(|it| !matches!(it, b'(' | b'\n'));
            let mark: Vec<u8> = mark.collect();
            let close = [b")".as_slice(), &mark, b"\""].concat();
            self.push(TokenKind::Literal, self.behind(end + 1 + mark.len(), &close));
        } else if word == b"operator" {
            let signs = self.run(end, |it| it == b' ');
            let call = self.text.get(signs..).is_some_and(|rest| rest.starts_with(b"()"));
            let is_sign = |it: u8| b"+-*/%^&|~!=<>[],".contains(&it);
            let end = if call { signs + 2 } else { self.run(signs, is_sign) };
            self.push(TokenKind::Word, end);
        } else {
            self.push(TokenKind::Word, end);
        }
    }

    /// Takes a text of C# with signs before it, or passes by the signs before anything else.
    fn marked(&mut self) {
        let quote = self.run(self.at, |it| matches!(it, b'$' | b'@'));
        if self.text.get(quote) == Some(&b'"') {
            self.push(TokenKind::Literal, self.text_end(self.at));
        } else {
            self.at = quote;
        }
    }

    /// Returns where a text ends that begins, with its signs, at `start`.
    fn text_end(&self, start: usize) -> usize {
        let open = self.run(start, |it| matches!(it, b'$' | b'@'));
        let signs = self.text.get(start..open).unwrap_or_default();
        let is_verbatim = signs.contains(&b'@');
        if self.dialect == BraceDialect::CSharp && !is_verbatim {
            let quotes = self.run(open, |it| it == b'"') - open;
            if quotes >= 3 {
                return self.behind_quotes(open + quotes, quotes);
            }
        }
        if !signs.contains(&b'$') {
            return match is_verbatim {
                true => self.verbatim_end(open + 1),
                false => self.escaped_end(open + 1, b'"'),
            };
        }
        let (mut at, mut holes) = (open + 1, 0_usize);
        while let Some(byte) = self.text.get(at).copied() {
            let next = self.text.get(at + 1).copied();
            match byte {
                b'{' if holes == 0 && next == Some(b'{') => at += 1,
                b'{' => holes += 1,
                b'}' => holes = holes.saturating_sub(1),
                b'"' if holes > 0 => at = self.text_end(at) - 1,
                b'"' if is_verbatim && next == Some(b'"') => at += 1,
                b'"' => return at + 1,
                b'\\' if !is_verbatim => at += 1,
                b'\n' if !is_verbatim => return at,
                _ => {}
            }
            at += 1;
        }
        self.text.len()
    }

    /// Returns the place behind the next quotes that are as many as these.
    fn behind_quotes(&self, start: usize, count: usize) -> usize {
        let mut at = start;
        while at < self.text.len() {
            let open = self.run(at, |it| it != b'"');
            at = self.run(open, |it| it == b'"');
            if at - open >= count {
                return open + count;
            }
        }
        self.text.len()
    }

    fn verbatim_end(&self, start: usize) -> usize {
        let mut at = start;
        loop {
            at = self.behind(at, b"\"");
            if self.text.get(at) != Some(&b'"') {
                return at;
            }
            at += 1;
        }
    }

    /// Returns where a text with escapes ends; at the latest, where its line does.
    fn escaped_end(&self, start: usize, quote: u8) -> usize {
        let mut at = start;
        while let Some(byte) = self.text.get(at).copied() {
            match byte {
                b'\\' => at += 1,
                b'\n' => return at,
                _ if byte == quote => return at + 1,
                _ => {}
            }
            at += 1;
        }
        self.text.len()
    }

    /// Takes a line of the preprocessor, with those that continue it.
    fn directive(&mut self) {
        let name = self.run(self.at + 1, |it| matches!(it, b' ' | b'\t'));
        let name_end = self.run(name, is_word);
        let kind = match self.text.get(name..name_end).unwrap_or_default() {
            b"if" | b"ifdef" | b"ifndef" => Some(TokenKind::If),
            b"else" | b"elif" | b"elifdef" | b"elifndef" => Some(TokenKind::Else),
            b"endif" => Some(TokenKind::EndIf),
            b"define" => {
                let macro_end = self.run(self.run(name_end, |it| it == b' '), is_word);
                let has_parameters = self.text.get(macro_end) == Some(&b'(');
                (has_parameters && macro_end > name_end).then_some(TokenKind::Macro)
            }
            _ => None,
        };
        let mut end = self.at;
        loop {
            let line_start = end;
            end = self.run(end, |it| it != b'\n');
            let line = self.text.get(line_start..end).unwrap_or_default().trim_ascii_end();
            if end >= self.text.len() || !line.ends_with(b"\\") {
                break;
            }
            end += 1;
        }
        match kind {
            Some(kind) => self.push(kind, end),
            None => self.at = end.max(self.at + 1),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
