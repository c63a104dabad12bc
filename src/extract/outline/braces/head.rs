//! What stands before a brace or a semicolon: the tokens since the last one, and what they define.

use crate::outline::braces::token::{Token, TokenKind};
use crate::outline::braces::{BraceDialect, Scope};

/// Words before brackets that are no function's parameters.
const NO_FUNCTIONS: &[&str] = &[
    "__attribute__",
    "__declspec",
    "alignas",
    "decltype",
    "explicit",
    "noexcept",
    "requires",
    "throw",
];

/// Words that stand behind the parameters of a function.
const BEHIND_PARAMETERS: &[&str] = &[
    "__attribute__",
    "const",
    "final",
    "noexcept",
    "override",
    "requires",
    "throw",
    "try",
    "volatile",
    "where",
];

/// Words of C++ that say, with a colon, who may see what follows.
const LABELS: &[&str] =
    &["Q_SIGNALS", "Q_SLOTS", "private", "protected", "public", "signals", "slots"];

/// Most of these words before a colon: `public slots:`.
const LABEL_LIMIT_WORDS: usize = 2;

/// What a head means, before a brace.
pub(super) enum HeadMeaning<'t> {
    /// Something else; what stands in the braces is passed by.
    Nothing,
    /// The braces are a part of it, and more follows.
    Value,
    /// A definition of this name, whose braces are passed by.
    Whole(Token),
    /// A definition of this name, with others in its braces.
    Holder(Token, Scope<'t>),
    /// No definition; the braces hold some.
    Transparent,
}

/// The tokens since the last brace or semicolon.
pub(super) struct Head<'t> {
    pub(super) dialect: BraceDialect,
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
}

impl<'t> Head<'t> {
    /// Returns where it begins.
    pub(super) fn start(&self) -> Option<usize> {
        self.tokens.first().map(|token| token.start)
    }

    /// Whether, with a colon, it says who may see what follows.
    pub(super) fn is_label(&self) -> bool {
        self.dialect == BraceDialect::Cpp
            && (1..=LABEL_LIMIT_WORDS).contains(&self.tokens.len())
            && self.tokens.iter().all(|token| LABELS.contains(&self.word(token)))
    }

    /// Says what it means before a brace.
    pub(super) fn before_brace(&self, scope: Scope<'t>) -> HeadMeaning<'t> {
        let grouped = grouped(&self.tokens);
        let items = self.without_prefixes(&grouped);
        let (Some(first), Some(last)) = (items.first(), items.last()) else {
            return HeadMeaning::Nothing;
        };
        let is_cpp = self.dialect == BraceDialect::Cpp;
        if is_cpp && self.word(first) == "extern" && last.kind == TokenKind::Literal {
            return HeadMeaning::Transparent;
        }
        let is_behind_parameters = last.kind == TokenKind::Group(b'(')
            || matches!(self.word(last), "const" | "noexcept" | "override");
        if let Some((word, name)) = self.holder(items)
            && (word == "namespace" || !(is_cpp && is_behind_parameters))
        {
            return match word {
                "enum" => HeadMeaning::Whole(name),
                "namespace" => HeadMeaning::Holder(name, Scope::Namespace),
                _ => HeadMeaning::Holder(name, Scope::Type(self.word(&name))),
            };
        }
        match self.function(items) {
            Some(at) if is_cpp && self.is_member_value(items.get(at..).unwrap_or_default()) => {
                HeadMeaning::Value
            }
            Some(at) if is_cpp || scope != Scope::Namespace => {
                items.get(at).map_or(HeadMeaning::Nothing, |name| HeadMeaning::Whole(*name))
            }
            Some(_) => HeadMeaning::Nothing,
            None if has_value(items) => HeadMeaning::Value,
            None if is_cpp && items.len() > 1 => HeadMeaning::Value,
            None if is_cpp => HeadMeaning::Nothing,
            None => self.property(items, scope).map_or(HeadMeaning::Nothing, HeadMeaning::Whole),
        }
    }

    /// Returns the name of what it defines before a semicolon.
    pub(super) fn statement(&self, scope: Scope<'t>) -> Option<Token> {
        let grouped = grouped(&self.tokens);
        let items = self.without_prefixes(&grouped);
        match self.dialect {
            BraceDialect::Cpp => self.cpp_statement(items, scope),
            BraceDialect::CSharp => self.csharp_statement(items, scope),
        }
    }

    fn cpp_statement(&self, items: &[Token], scope: Scope<'t>) -> Option<Token> {
        match self.word(items.first()?) {
            "using" | "concept" => items.get(1).copied().filter(|_| has_value(items)),
            "typedef" => items.iter().rfind(|it| it.kind == TokenKind::Word).copied(),
            "friend" | "static_assert" => None,
            _ => {
                let at = self.function(items)?;
                let (name, parameters) = (items.get(at)?, items.get(at + 1)?);
                // A variable with its first value, or the call of a macro.
                let first = self.text.get(parameters.start + 1..)?.trim_start().bytes().next()?;
                let is_value = first == b'"' || first.is_ascii_digit();
                let is_own = scope == Scope::Type(self.word(name));
                (!is_value && (at > 0 || is_own)).then_some(*name)
            }
        }
    }

    fn csharp_statement(&self, items: &[Token], scope: Scope<'t>) -> Option<Token> {
        if self.word(items.first()?) == "using" {
            return None;
        }
        if let Some((_, name)) = self.holder(items) {
            return Some(name);
        }
        let is_delegate = items.iter().any(|item| self.word(item) == "delegate");
        if scope == Scope::Namespace && !is_delegate {
            return None;
        }
        let arrow = items.windows(2).position(is_arrow);
        let before = arrow.and_then(|at| items.get(..at)).unwrap_or(items);
        match self.function(before) {
            Some(at) => before.get(at).copied(),
            None => arrow.and_then(|_| self.property(before, scope)),
        }
    }

    fn word(&self, token: &Token) -> &'t str {
        let word = self.text.get(token.start..token.end).unwrap_or_default();
        if token.kind == TokenKind::Word { word } else { "" }
    }

    /// Leaves out attributes and the parameters of templates in front.
    fn without_prefixes<'i>(&self, mut items: &'i [Token]) -> &'i [Token] {
        loop {
            items = match items {
                [first, rest @ ..] if first.kind == TokenKind::Group(b'[') => rest,
                [first, group, rest @ ..]
                    if matches!(group.kind, TokenKind::Group(_))
                        && matches!(self.word(first), "template" | "alignas" | "__attribute__") =>
                {
                    rest
                }
                _ => return items,
            };
        }
    }

    /// Returns the word that begins a type or a namespace, and its name; for one without a name,
    /// the word itself.
    fn holder(&self, items: &[Token]) -> Option<(&'t str, Token)> {
        let at = items.iter().position(|item| self.is_holder(item))?;
        let (before, rest) = items.split_at_checked(at)?;
        if before.iter().any(|item| item.kind == TokenKind::Group(b'(')) || has_value(items) {
            return None;
        }
        let (keyword, rest) = rest.split_first()?;
        let mut name = *keyword;
        let mut rest = rest.iter().peekable();
        while let Some(item) = rest.next() {
            match item.kind {
                TokenKind::Word if matches!(self.word(item), "class" | "struct" | "final") => {}
                TokenKind::Word => name = *item,
                TokenKind::Group(b'(' | b'[') | TokenKind::Sign(b'.') => {}
                TokenKind::Sign(b':') => {
                    if rest.next_if(|next| next.kind == TokenKind::Sign(b':')).is_none() {
                        break;
                    }
                }
                _ => break,
            }
        }
        let word = self.word(keyword);
        // Elsewhere these are names.
        let is_name = matches!(word, "record" | "interface") && name.start == keyword.start;
        (!is_name).then_some((word, name))
    }

    fn is_holder(&self, token: &Token) -> bool {
        match self.word(token) {
            "namespace" | "class" | "struct" | "enum" => true,
            "union" => self.dialect == BraceDialect::Cpp,
            "interface" | "record" => self.dialect == BraceDialect::CSharp,
            _ => false,
        }
    }

    /// Returns where the name of the function is that it begins: before its parameters, behind
    /// macros with parameters.
    fn function(&self, items: &[Token]) -> Option<usize> {
        let mut found = None;
        for (at, item) in items.iter().enumerate() {
            if item.kind == TokenKind::Sign(b'=') {
                return found;
            }
            if item.kind != TokenKind::Group(b'(') {
                continue;
            }
            let before = |count: usize| at.checked_sub(count).and_then(|at| items.get(at));
            let count = before(1).map_or(1, |item| match item.kind {
                TokenKind::Group(b'<') => 2,
                _ => 1,
            });
            let Some(name) = before(count).filter(|item| item.kind == TokenKind::Word) else {
                continue;
            };
            if NO_FUNCTIONS.contains(&self.word(name)) {
                continue;
            }
            found = Some(at - count);
            let next = items.get(at + 1).map(|next| self.word(next));
            if next.is_none_or(|word| word.is_empty() || BEHIND_PARAMETERS.contains(&word)) {
                return found;
            }
        }
        found
    }

    /// Whether the brace behind a function's head belongs to a value of a member: `A() : x{1}`.
    fn is_member_value(&self, items: &[Token]) -> bool {
        let mut colons = items.chunk_by(|left, right| {
            left.kind == TokenKind::Sign(b':') && right.kind == TokenKind::Sign(b':')
        });
        let has_values = colons.any(|run| matches!(run, [it] if it.kind == TokenKind::Sign(b':')));
        let last = items.last().map(|item| item.kind);
        has_values && matches!(last, Some(TokenKind::Word | TokenKind::Group(b'<')))
    }

    /// Returns the name of a property of C#, with its braces or its value behind it.
    fn property(&self, items: &[Token], scope: Scope<'t>) -> Option<Token> {
        let (first, last) = (items.first()?, items.last()?);
        let ends = matches!(last.kind, TokenKind::Word | TokenKind::Group(b'['));
        let is_property = scope != Scope::Namespace
            && items.len() > 1
            && first.kind == TokenKind::Word
            && ends
            && !has_value(items);
        items.iter().rfind(|item| item.kind == TokenKind::Word).copied().filter(|_| is_property)
    }
}

/// Whether a value is given, outside of brackets.
fn has_value(items: &[Token]) -> bool {
    items.iter().any(|item| item.kind == TokenKind::Sign(b'='))
}

fn is_arrow(pair: &[Token]) -> bool {
    matches!(pair, [first, second]
        if first.kind == TokenKind::Sign(b'=') && second.kind == TokenKind::Sign(b'>'))
}

/// Returns the tokens with everything in brackets as one.
fn grouped(tokens: &[Token]) -> Vec<Token> {
    let mut items: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut open: Vec<usize> = Vec::new();
    for token in tokens.iter().copied() {
        let opens = match token.kind {
            TokenKind::Sign(b')') => b'(',
            TokenKind::Sign(b']') => b'[',
            // Not of an arrow.
            TokenKind::Sign(b'>')
                if items.last().is_none_or(|last| {
                    last.end < token.start || !matches!(last.kind, TokenKind::Sign(b'-' | b'='))
                }) =>
            {
                b'<'
            }
            TokenKind::Sign(b'(' | b'[' | b'<') => {
                open.push(items.len());
                items.push(token);
                continue;
            }
            _ => {
                items.push(token);
                continue;
            }
        };
        let is_opened = |at: &usize| {
            let kind = items.get(*at).map(|item| item.kind);
            kind == Some(TokenKind::Sign(opens))
        };
        // What is less than something else opens nothing.
        while opens != b'<'
            && open.last().is_some_and(|at| {
                items.get(*at).is_some_and(|item| item.kind == TokenKind::Sign(b'<'))
            })
        {
            open.pop();
        }
        match open.pop_if(|at| is_opened(at)) {
            Some(at) => {
                let start = items.get(at).map_or(token.start, |item| item.start);
                items.truncate(at);
                items.push(Token { kind: TokenKind::Group(opens), start, end: token.end });
            }
            None => items.push(token),
        }
    }
    items
}
