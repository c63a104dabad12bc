//! Character classes of a JavaScript pattern: `[a-z]`, with its escapes.

use crate::js_regex::charset::{Range, complement};
use crate::js_regex::{JsRegexError, RegexTranslator};

impl RegexTranslator {
    /// Translates a class whose `[` has been read.
    pub(super) fn class(&mut self) -> Result<bool, JsRegexError> {
        let opened_at = self.at;
        let unterminated =
            JsRegexError::Invalid { what: "unterminated character class", at: opened_at };
        let negated = self.take('^');
        let mut ranges: Vec<Range> = Vec::new();
        loop {
            match self.peek() {
                None => return Err(unterminated),
                Some(']') => break,
                Some(_) => {}
            }
            let from = self.class_atom()?;
            let is_range = self.peek() == Some('-')
                && self.chars.get(self.at + 1).is_some_and(|char| *char != ']');
            if !is_range {
                ranges.extend(from);
                continue;
            }
            self.at += 1;
            let to = self.class_atom()?;
            match (one_char(&from), one_char(&to)) {
                (Some(from), Some(to)) if from <= to => ranges.push((from, to)),
                (Some(_), Some(_)) => {
                    return Err(self.invalid_before("range out of order in character class"));
                }
                (None, _) | (_, None) => {
                    ranges.extend(from);
                    ranges.push((0x2D, 0x2D));
                    ranges.extend(to);
                }
            }
        }
        self.at += 1;
        if ranges
            .iter()
            .any(|(from, to)| char::from_u32(*from).is_none() || char::from_u32(*to).is_none())
        {
            return Err(JsRegexError::Unsupported { what: "half a surrogate pair" });
        }
        Ok(self.put_set(&ranges, negated))
    }

    fn class_atom(&mut self) -> Result<Vec<Range>, JsRegexError> {
        let Some(next) = self.next() else {
            return Err(self.invalid("unterminated character class"));
        };
        if next != '\\' {
            return Ok(vec![(u32::from(next), u32::from(next))]);
        }
        if let Some((set, negated)) = self.class_escape() {
            return Ok(if negated { complement(set) } else { set.to_vec() });
        }
        let char = match self.chars.get(self.at..).unwrap_or_default() {
            ['b', ..] => {
                self.at += 1;
                0x08
            }
            ['c', control, ..] if control.is_ascii_digit() || *control == '_' => {
                let control = u32::from(*control) % 32;
                self.at += 2;
                control
            }
            _ => self.escaped_char()?,
        };
        Ok(vec![(char, char)])
    }
}

/// Returns the character that a set is, where it is one.
fn one_char(set: &[Range]) -> Option<u32> {
    match set {
        [(from, to)] if from == to => Some(*from),
        _ => None,
    }
}
