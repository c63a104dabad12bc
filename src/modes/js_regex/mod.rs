//! Brings a JavaScript regular expression (no flags) into the dialect of `fancy-regex`. In: the
//! pattern as a mode file has it; out: a pattern that matches the same texts, written with explicit
//! character ranges so that nothing depends on the other dialect's rules.
//!
//! Follows ECMA-262 with the legacy syntax of its Annex B (`]` and `{` as plain characters, octal
//! and needless escapes). Differs in two things: a character outside the basic plane counts as one,
//! not as two code units; and a group inside a repeated group keeps what it matched in an earlier
//! round. What cannot be said in the other dialect (a back-reference inside a look-behind) is an
//! error.

mod charset;
mod class;
mod groups;

use crate::js_regex::charset::{LINE_END, Range};
use crate::js_regex::groups::count_groups;

/// Groups may nest this deep.
const DEPTH_LIMIT: usize = 50;
/// Repetition counts above this are taken as unbounded; no path is that long.
const REPEAT_LIMIT: u32 = 10_000;

/// Why a pattern is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsRegexError {
    /// JavaScript refuses it too.
    #[error("{what} at character {at}")]
    Invalid {
        /// What is wrong with the pattern.
        what: &'static str,
        /// Where, counted from 1.
        at: usize,
    },
    /// JavaScript takes it, but it cannot be said here.
    #[error("{what} is not supported")]
    Unsupported {
        /// The unsupported construct.
        what: &'static str,
    },
}

/// Translates a pattern.
///
/// # Errors
/// When the pattern is not valid JavaScript, or uses something that has no counterpart.
pub(crate) fn translate(pattern: &str) -> Result<String, JsRegexError> {
    let chars: Vec<char> = pattern.chars().collect();
    let (groups, names) = count_groups(&chars)?;
    let mut translator = RegexTranslator {
        chars,
        at: 0,
        groups,
        names,
        out: String::new(),
        depth: 0,
        behind: 0,
        opened: 0,
        open: Vec::new(),
    };
    translator.disjunction()?;
    if translator.at < translator.chars.len() {
        return Err(translator.invalid("unmatched `)`"));
    }
    Ok(translator.out)
}

/// What a parenthesis opens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    Capturing,
    Plain,
    Ahead,
    Behind,
}

struct RegexTranslator {
    chars: Vec<char>,
    at: usize,
    /// Capturing groups of the whole pattern: an escaped number up to it is a back-reference.
    groups: usize,
    /// Names of groups with the number of the group.
    names: Vec<(String, usize)>,
    out: String,
    depth: usize,
    /// How many look-behinds are open.
    behind: usize,
    /// Capturing groups opened so far.
    opened: usize,
    /// Numbers of the capturing groups that stand open.
    open: Vec<usize>,
}

impl RegexTranslator {
    fn disjunction(&mut self) -> Result<(), JsRegexError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(JsRegexError::Unsupported { what: "nesting this deep" });
        }
        while let Some(next) = self.peek() {
            match next {
                ')' => break,
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                }
                _ => self.term()?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn term(&mut self) -> Result<(), JsRegexError> {
        let Some(next) = self.next() else { return Ok(()) };
        let repeatable = match next {
            '^' => self.put("\\A", false),
            '$' => self.put("\\z", false),
            '(' => self.group()?,
            '.' => self.put_set(LINE_END, true),
            '[' => self.class()?,
            '\\' => self.escape()?,
            '*' | '+' | '?' => return Err(self.invalid_before("nothing to repeat")),
            '{' if self.counts_after_brace().is_some() => {
                return Err(self.invalid_before("nothing to repeat"));
            }
            literal => self.put_char(u32::from(literal))?,
        };
        self.quantifier(repeatable)
    }

    fn quantifier(&mut self, repeatable: bool) -> Result<(), JsRegexError> {
        let Some((least, most)) = self.repetition()? else { return Ok(()) };
        if !repeatable {
            return Err(self.invalid_before("nothing to repeat"));
        }
        if least > REPEAT_LIMIT {
            return Err(JsRegexError::Unsupported { what: "a repetition this long" });
        }
        let most = most
            .filter(|most| *most <= REPEAT_LIMIT)
            .map(|most| most.to_string())
            .unwrap_or_default();
        self.out.push_str(&format!("{{{least},{most}}}"));
        if self.take('?') {
            self.out.push('?');
        }
        Ok(())
    }

    /// Reads a quantifier without its `?`, if one stands here.
    fn repetition(&mut self) -> Result<Option<(u32, Option<u32>)>, JsRegexError> {
        let counts = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                let Some((least, most, end)) = self.counts_after_brace() else {
                    self.at -= 1;
                    return Ok(None);
                };
                self.at = end - 1;
                (least, most)
            }
            Some(_) | None => return Ok(None),
        };
        self.at += 1;
        if counts.1.is_some_and(|most| most < counts.0) {
            return Err(self.invalid_before("numbers out of order in `{}`"));
        }
        Ok(Some(counts))
    }

    /// Reads `n}`, `n,}` or `n,m}`; returns the counts and the place after the brace, or `None`
    /// when the brace is a plain character.
    fn counts_after_brace(&self) -> Option<(u32, Option<u32>, usize)> {
        let rest = self.chars.get(self.at..)?;
        let length = rest.iter().position(|char| *char == '}')?;
        let text: String = rest.get(..length)?.iter().collect();
        let count = |digits: &str| {
            (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| digits.parse::<u32>().unwrap_or(u32::MAX))
        };
        let (least, most) = match text.split_once(',') {
            None => {
                let exactly = count(&text)?;
                (exactly, Some(exactly))
            }
            Some((least, "")) => (count(least)?, None),
            Some((least, most)) => (count(least)?, Some(count(most)?)),
        };
        Some((least, most, self.at + length + 1))
    }

    /// Translates a group whose `(` has been read; returns whether it may be repeated.
    fn group(&mut self) -> Result<bool, JsRegexError> {
        let opened_at = self.at;
        let (open, kind) = if !self.take('?') {
            ("(", GroupKind::Capturing)
        } else if self.take(':') {
            ("(?:", GroupKind::Plain)
        } else if self.take('=') {
            ("(?:(?=", GroupKind::Ahead)
        } else if self.take('!') {
            ("(?:(?!", GroupKind::Ahead)
        } else if self.take_all("<=") {
            ("(?<=", GroupKind::Behind)
        } else if self.take_all("<!") {
            ("(?<!", GroupKind::Behind)
        } else if self.take('<') {
            while self.next().is_some_and(|char| char != '>') {}
            ("(", GroupKind::Capturing)
        } else {
            return Err(self.invalid("invalid group"));
        };
        self.out.push_str(open);
        self.behind += usize::from(kind == GroupKind::Behind);
        if kind == GroupKind::Capturing {
            self.opened += 1;
            self.open.push(self.opened);
        }
        self.disjunction()?;
        if kind == GroupKind::Capturing {
            self.open.pop();
        }
        self.behind -= usize::from(kind == GroupKind::Behind);
        if !self.take(')') {
            return Err(JsRegexError::Invalid { what: "unterminated group", at: opened_at });
        }
        self.out.push(')');
        if kind == GroupKind::Ahead {
            // Looking ahead twice is looking ahead once; the engine does not repeat it, JavaScript
            // does.
            let repetition = self.repetition()?;
            let _lazy = repetition.is_some() && self.take('?');
            self.out.push_str(if repetition.is_some_and(|(least, _)| least == 0) {
                "|)"
            } else {
                ")"
            });
        }
        Ok(matches!(kind, GroupKind::Plain | GroupKind::Capturing))
    }

    /// Translates an escape outside a class whose backslash has been read; returns whether it may
    /// be repeated.
    fn escape(&mut self) -> Result<bool, JsRegexError> {
        let Some(next) = self.peek() else { return Err(self.invalid("`\\` at the end")) };
        match next {
            'b' | 'B' => {
                self.at += 1;
                let word = "[0-9A-Z_a-z]";
                let (inside, outside) = (
                    format!("(?<={word})(?={word})|(?<!{word})(?!{word})"),
                    format!("(?<={word})(?!{word})|(?<!{word})(?={word})"),
                );
                Ok(self.put(&format!("(?:{})", if next == 'b' { outside } else { inside }), false))
            }
            '1'..='9' => match self.backreference() {
                Some(number) => self.put_backreference(number),
                None => {
                    let char = self.escaped_char()?;
                    self.put_char(char)
                }
            },
            'k' if !self.names.is_empty() => {
                self.at += 1;
                let number = self.named_backreference()?;
                self.put_backreference(number)
            }
            _ => match self.class_escape() {
                Some((set, negated)) => Ok(self.put_set(set, negated)),
                None => {
                    let char = self.escaped_char()?;
                    self.put_char(char)
                }
            },
        }
    }

    fn backreference(&mut self) -> Option<usize> {
        let digits: String =
            self.chars.get(self.at..)?.iter().take_while(|char| char.is_ascii_digit()).collect();
        let number = digits.parse::<usize>().ok().filter(|number| *number <= self.groups)?;
        self.at += digits.len();
        Some(number)
    }

    fn named_backreference(&mut self) -> Result<usize, JsRegexError> {
        let broken = self.invalid("invalid named reference");
        if !self.take('<') {
            return Err(broken);
        }
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let name: String = rest.iter().take_while(|char| **char != '>').collect();
        if rest.len() == name.chars().count() {
            return Err(broken);
        }
        self.at += name.chars().count() + 1;
        self.names.iter().find(|(known, _)| *known == name).map(|(_, number)| *number).ok_or(broken)
    }

    /// In JavaScript a reference to a group that took no part, or that it stands in, matches the
    /// empty text.
    fn put_backreference(&mut self, number: usize) -> Result<bool, JsRegexError> {
        if self.behind > 0 {
            return Err(JsRegexError::Unsupported {
                what: "a back-reference inside a look-behind",
            });
        }
        if self.open.contains(&number) {
            return Ok(self.put("(?:a{0})", true));
        }
        Ok(self.put(&format!("(?:(?({number})\\{number}|))"), true))
    }

    /// Reads `d`, `w`, `s` and their opposites.
    fn class_escape(&mut self) -> Option<(&'static [Range], bool)> {
        let found = charset::named(self.peek()?)?;
        self.at += 1;
        Some(found)
    }

    /// Reads what stands after a backslash as one character.
    fn escaped_char(&mut self) -> Result<u32, JsRegexError> {
        let Some(next) = self.next() else { return Err(self.invalid("`\\` at the end")) };
        Ok(match next {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            'c' => match self.peek().filter(char::is_ascii_alphabetic) {
                Some(letter) => {
                    self.at += 1;
                    u32::from(letter) % 32
                }
                None => {
                    self.at -= 1;
                    u32::from('\\')
                }
            },
            'x' => self.hex(2).unwrap_or_else(|| u32::from('x')),
            'u' => match self.hex(4) {
                Some(high @ 0xD800..=0xDBFF) => self.low_surrogate(high)?,
                Some(unit) => unit,
                None => u32::from('u'),
            },
            '0'..='7' => self.octal(next),
            'k' if !self.names.is_empty() => {
                return Err(self.invalid_before("invalid named reference"));
            }
            other => u32::from(other),
        })
    }

    fn low_surrogate(&mut self, high: u32) -> Result<u32, JsRegexError> {
        let back = self.at;
        if self.take_all("\\u")
            && let Some(low @ 0xDC00..=0xDFFF) = self.hex(4)
        {
            return Ok(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
        self.at = back;
        Err(JsRegexError::Unsupported { what: "half a surrogate pair" })
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text: String = self.chars.get(self.at..self.at + digits)?.iter().collect();
        let value = text
            .chars()
            .all(|char| char.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(&text, 16).ok())??;
        self.at += digits;
        Some(value)
    }

    fn octal(&mut self, first: char) -> u32 {
        let mut value = first.to_digit(8).unwrap_or_default();
        while let Some(digit) =
            self.peek().and_then(|char| char.to_digit(8)).filter(|digit| value * 8 + digit <= 0o377)
        {
            self.at += 1;
            value = value * 8 + digit;
        }
        value
    }

    fn put(&mut self, text: &str, repeatable: bool) -> bool {
        self.out.push_str(text);
        repeatable
    }

    fn put_char(&mut self, code: u32) -> Result<bool, JsRegexError> {
        let Some(text) = charset::char_text(code) else {
            return Err(JsRegexError::Unsupported { what: "half a surrogate pair" });
        };
        Ok(self.put(&text, true))
    }

    fn put_set(&mut self, ranges: &[Range], negated: bool) -> bool {
        self.put(&charset::class_text(ranges, negated), true)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn take(&mut self, wanted: char) -> bool {
        let taken = self.peek() == Some(wanted);
        self.at += usize::from(taken);
        taken
    }

    fn take_all(&mut self, wanted: &str) -> bool {
        let wanted: Vec<char> = wanted.chars().collect();
        let taken = self.chars.get(self.at..).is_some_and(|rest| rest.starts_with(&wanted));
        self.at += if taken { wanted.len() } else { 0 };
        taken
    }

    fn invalid(&self, what: &'static str) -> JsRegexError {
        JsRegexError::Invalid { what, at: self.at + 1 }
    }

    fn invalid_before(&self, what: &'static str) -> JsRegexError {
        JsRegexError::Invalid { what, at: self.at }
    }
}
