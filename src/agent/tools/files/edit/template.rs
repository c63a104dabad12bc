//! What takes the place of a match: a text as it is, or one with `$1`, `${name}` and `$&` for what
//! the pattern found. A group that the pattern lacks is refused; it never stands for empty text.

use std::ops::Range;

/// A part of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    /// A text as it is.
    Text(String),
    /// What a group of the pattern found; 0 for all of it.
    Group(usize),
}

/// What takes the place of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<TemplatePart>);

/// A group that the pattern lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the replacement names the group `{0}`, which the pattern has not; write `$$` for a `$`")]
pub struct UnknownGroup(String);

impl Template {
    /// Returns one that is a text as it is.
    pub fn literal(text: &str) -> Self {
        Self(vec![TemplatePart::Text(text.to_owned())])
    }

    /// Reads a replacement. `group` returns the number of a group by its name or number, where
    /// there is one. A `$` before anything else is a `$`.
    ///
    /// # Errors
    /// When it names a group that there is not.
    pub fn parse(text: &str, group: impl Fn(&str) -> Option<usize>) -> Result<Self, UnknownGroup> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            plain.push_str(before);
            rest = after;
            if let Some(after) = rest.strip_prefix('$') {
                plain.push('$');
                rest = after;
                continue;
            }
            let Some((name, after)) = name_of(rest) else {
                plain.push('$');
                continue;
            };
            // Of two digits, both are meant where there are so many groups.
            let (number, after) = match group(name) {
                Some(number) => (number, after),
                None if name.len() == 2 && rest.starts_with(name) => {
                    let (first, _) = name.split_at(1);
                    let number = group(first).ok_or_else(|| UnknownGroup(name.to_owned()))?;
                    (number, rest.get(1..).unwrap_or_default())
                }
                None => return Err(UnknownGroup(name.to_owned())),
            };
            parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
            parts.push(TemplatePart::Group(number));
            rest = after;
        }
        plain.push_str(rest);
        parts.push(TemplatePart::Text(plain));
        Ok(Self(parts))
    }

    /// Returns how many bytes the text for a match has; `None` for more than can be counted.
    pub fn size(&self, group: impl Fn(usize) -> Option<Range<usize>>) -> Option<usize> {
        self.0.iter().try_fold(0_usize, |size, part| {
            size.checked_add(match part {
                TemplatePart::Text(part) => part.len(),
                TemplatePart::Group(number) => group(*number).map_or(0, |range| range.len()),
            })
        })
    }

    /// Returns the text for a match; `group` returns where a group lies in the searched text.
    pub fn fill(&self, text: &str, group: impl Fn(usize) -> Option<Range<usize>>) -> String {
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                TemplatePart::Text(part) => filled.push_str(part),
                TemplatePart::Group(number) => {
                    let found = group(*number).and_then(|range| text.get(range));
                    filled.push_str(found.unwrap_or_default());
                }
            }
        }
        filled
    }
}

/// Returns the group that is named behind a `$`, and what follows: `1`, `&`, `{name}`, `<name>`.
fn name_of(rest: &str) -> Option<(&str, &str)> {
    if let Some(after) = rest.strip_prefix('&') {
        return Some(("0", after));
    }
    for (open, close) in [('{', '}'), ('<', '>')] {
        let inner = rest.strip_prefix(open).and_then(|rest| rest.split_once(close));
        if let Some((name, after)) = inner {
            let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
            return (!name.is_empty() && name.chars().all(is_name)).then_some((name, after));
        }
    }
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| rest.split_at(digits))
}

#[cfg(test)]
mod tests {
    use super::Template;
    use pretty_assertions::assert_eq;

    #[test]
    fn groups_are_filled_in_and_unknown_ones_refused() {
        let group = |name: &str| match name {
            "0" => Some(0),
            "1" | "key" => Some(1),
            _ => None,
        };
        let found = |number: usize| if number == 0 { Some(0..3) } else { Some(0..1) };
        for (text, expected) in [
            ("x", Ok("x")),
            ("$1_y", Ok("a_y")),
            ("${key}y$<key>", Ok("aya")),
            ("$&$0", Ok("abcabc")),
            ("$10", Ok("a0")),
            ("$$1", Ok("$1")),
            ("$(x) $ ${a-b} 5$", Ok("$(x) $ ${a-b} 5$")),
            ("$2", Err("`2`")),
            ("${none}", Err("`none`")),
        ] {
            let filled = Template::parse(text, group).map(|template| {
                let filled = template.fill("abc", found);
                assert_eq!(template.size(found), Some(filled.len()), "{text}");
                filled
            });
            match expected {
                Ok(expected) => assert_eq!(filled.as_deref(), Ok(expected), "{text}"),
                Err(name) => assert!(filled.unwrap_err().to_string().contains(name), "{text}"),
            }
        }
        assert_eq!(Template::literal("$1").fill("abc", found), "$1");
    }
}
