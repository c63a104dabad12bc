//! `RuleSite`: where a rule stands in the text of a policy file, and changes of that text which
//! leave every other letter of it as it is: comments, order and spelling.
//!
//! In: the file's text and the pattern that decided. Out: a changed text. A layout that is not
//! understood is left alone, and the caller reads and judges whatever comes out.

use crate::rule::{RuleConditions, tier_word, trigger_word};
use crate::verdict::{Decision, RuleRef};
use crate::written::quoted;
use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlDocument, YamlNode, YamlValue};

/// A rule that holds, in the text of its file.
pub(super) struct RuleSite<'t> {
    text: &'t str,
    /// Whether the list of rules is written in brackets.
    is_flow_list: bool,
    /// The rule itself.
    rule: YamlNode,
    /// Its `hold` with the patterns.
    hold: MapEntry,
    /// Its `except`, where it has one.
    except: Option<MapEntry>,
}

/// A rule to be written.
pub(super) struct NewRule<'r> {
    /// What it says.
    pub(super) decision: Decision,
    /// What it is about.
    pub(super) pattern: &'r str,
    /// When it counts.
    pub(super) conditions: &'r RuleConditions,
    /// Why, in the maintainer's words.
    pub(super) reason: Option<&'r str>,
}

impl<'t> RuleSite<'t> {
    /// Finds the rule that holds by a pattern.
    pub(super) fn find(text: &'t str, wanted: &RuleRef) -> Option<Self> {
        let root = YamlDocument::parse(text).root?;
        let rules = entry(&root, "rules")?.node;
        let is_wanted = |node: &YamlNode| {
            node.place.line == wanted.line_number()
                && node.text().is_some_and(|text| text == wanted.pattern)
        };
        rules.list()?.iter().find_map(|rule| {
            let hold = entry(rule, "hold")?;
            let patterns = hold.node.list().unwrap_or(std::slice::from_ref(&hold.node));
            patterns.iter().any(is_wanted).then(|| Self {
                text,
                is_flow_list: starts_with(text, &rules, '['),
                rule: rule.clone(),
                except: entry(rule, "except"),
                hold: hold.clone(),
            })
        })
    }

    /// Returns the text with `allow` in place of `hold`.
    pub(super) fn allowing(&self) -> Option<String> {
        let at = offset(self.text, self.hold.key_place)?;
        let rest = self.text.get(at..)?.strip_prefix("hold")?;
        Some(format!("{}allow{rest}", self.text.get(..at)?))
    }

    /// Returns the text with a pattern taken out of the rule.
    pub(super) fn excepting(&self, pattern: &str) -> Option<String> {
        let pattern = quoted(pattern);
        let flow = starts_with(self.text, &self.rule, '{');
        let Some(except) = &self.except else {
            let end = self.end(&self.hold.node, flow)?;
            if flow {
                return self.inserted(end, &format!(", except: {pattern}"));
            }
            let indent = self.hold.key_place.column.saturating_sub(1);
            return self.line_after(end, indent, &format!("except: {pattern}"));
        };
        let start = offset(self.text, except.node.place)?;
        match except.node.list() {
            Some(_) if starts_with(self.text, &except.node, '[') => {
                self.inserted(start + 1, &format!("{pattern}, "))
            }
            Some(items) => {
                let last = items.last()?;
                let dash = self.dash_before(last)?;
                self.line_after(self.end(last, false)?, dash, &format!("- {pattern}"))
            }
            None => {
                let end = self.end(&except.node, flow)?;
                let listed = format!("[{}, {pattern}]", self.text.get(start..end)?);
                Some(format!("{}{listed}{}", self.text.get(..start)?, self.text.get(end..)?))
            }
        }
    }

    /// Returns the text without the pattern at a place, which is one of several.
    pub(super) fn without(&self, place: Position) -> Option<String> {
        let items = self.hold.node.list().filter(|items| items.len() > 1)?;
        let item = items.iter().find(|item| item.place == place)?;
        self.without_item(item, starts_with(self.text, &self.hold.node, '['))
    }

    /// Returns the text without the rule, which is one of several.
    pub(super) fn removed(&self) -> Option<String> {
        self.without_item(&self.rule, self.is_flow_list)
    }

    /// Returns the text without an item of a list of several.
    fn without_item(&self, item: &YamlNode, is_flow_list: bool) -> Option<String> {
        let (mut start, mut end) = (offset(self.text, item.place)?, self.end(item, is_flow_list)?);
        if !is_flow_list {
            self.dash_before(item)?;
            let (line, line_end) = self.line_around(start, end)?;
            return self.cut(line, line_end);
        }
        let rest = self.text.get(end..)?;
        if let Some(behind) = rest.trim_start_matches(' ').strip_prefix(',') {
            end = self.text.len() - behind.trim_start_matches(' ').len();
        } else if let Some(before) = self.text.get(..start)?.trim_end().strip_suffix(',') {
            start = before.len();
        }
        let (line, line_end) = self.line_around(start, end).unwrap_or((start, end));
        let is_alone = self.text.get(line..start)?.trim().is_empty() && line_end > end;
        if is_alone { self.cut(line, line_end) } else { self.cut(start, end) }
    }

    /// Returns the text with another rule behind this one.
    pub(super) fn followed_by(&self, rule: &NewRule<'_>) -> Option<String> {
        let word = match rule.decision {
            Decision::Allow => "allow",
            Decision::Hold => "hold",
            Decision::Deny => "deny",
        };
        let mut keys = vec![format!("{word}: {}", quoted(rule.pattern))];
        keys.extend(condition_keys(rule.conditions));
        keys.extend(rule.reason.map(|reason| format!("reason: {}", quoted(reason))));
        let end = self.end(&self.rule, false)?;
        if self.is_flow_list {
            return self.inserted(end, &format!(", {{ {} }}", keys.join(", ")));
        }
        let dash = self.dash_before(&self.rule)?;
        let margin = " ".repeat(dash as usize + 2);
        let lines = keys.join(&format!("{}{margin}", self.line_end()));
        self.line_after(end, dash, &format!("- {lines}"))
    }

    /// Returns the line around a place, with its line end, where only a comment follows the place.
    fn line_around(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let line = self.text.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = self.text.get(end..)?;
        let behind = rest.split('\n').next()?;
        let is_last = behind.trim().is_empty() || behind.trim_start().starts_with('#');
        is_last.then(|| (line, (end + behind.len() + 1).min(self.text.len())))
    }

    fn cut(&self, start: usize, end: usize) -> Option<String> {
        Some(format!("{}{}", self.text.get(..start)?, self.text.get(end..)?))
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn inserted(&self, at: usize, what: &str) -> Option<String> {
        Some(format!("{}{what}{}", self.text.get(..at)?, self.text.get(at..)?))
    }

    /// Returns the text with a line behind the one that holds a place.
    fn line_after(&self, at: usize, indent: u32, line: &str) -> Option<String> {
        let rest = self.text.get(at..)?;
        let margin = " ".repeat(indent as usize);
        let end = self.line_end();
        match rest.find('\n') {
            Some(newline) => self.inserted(at + newline + 1, &format!("{margin}{line}{end}")),
            None => self.inserted(self.text.len(), &format!("{end}{margin}{line}{end}")),
        }
    }

    /// Returns the blanks before the dash of a list's item, where it stands on the item's line.
    fn dash_before(&self, item: &YamlNode) -> Option<u32> {
        let line = self.text.lines().nth(item.place.line.checked_sub(1)? as usize)?;
        let column = item.place.column.checked_sub(1)? as usize;
        let before: String = line.chars().take(column).collect();
        let indent = before.find('-')?;
        let blank = |text: &str| text.chars().all(|letter| letter == ' ');
        let (head, tail) = before.split_at_checked(indent)?;
        (blank(head) && blank(tail.strip_prefix('-')?)).then(|| u32::try_from(indent).ok())?
    }

    /// Returns the first byte behind a value.
    fn end(&self, node: &YamlNode, flow: bool) -> Option<usize> {
        let start = offset(self.text, node.place)?;
        let rest = self.text.get(start..)?;
        let inner = || flow || rest.starts_with(['[', '{']);
        match &node.value {
            YamlValue::List(_) | YamlValue::Map(_) if rest.starts_with(['[', '{']) => {
                Some(start + bracketed(rest)?)
            }
            YamlValue::List(items) => self.end(items.last()?, inner()),
            YamlValue::Map(entries) => self.end(&entries.last()?.node, inner()),
            YamlValue::Null => None,
            YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {
                Some(start + scalar(rest, flow)?)
            }
        }
    }
}

fn entry(map: &YamlNode, key: &str) -> Option<MapEntry> {
    map.entries()?.iter().find(|entry| entry.key == key).cloned()
}

fn starts_with(text: &str, node: &YamlNode, letter: char) -> bool {
    let rest = offset(text, node.place).and_then(|at| text.get(at..));
    rest.is_some_and(|rest| rest.starts_with(letter))
}

/// Returns the byte at a line and column.
fn offset(text: &str, place: Position) -> Option<usize> {
    let (line, column) = (place.line.checked_sub(1)? as usize, place.column.checked_sub(1)?);
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let rest = text.get(start..)?;
    let within = rest.char_indices().map(|(at, _)| at).nth(column as usize);
    Some(start + within.unwrap_or(rest.len()))
}

/// Returns the length of a plain or quoted value; `None` for other spellings.
fn scalar(text: &str, flow: bool) -> Option<usize> {
    match text.chars().next()? {
        quote @ ('"' | '\'') => quotation(text, quote),
        '|' | '>' | '&' | '*' | '!' => None,
        _ => {
            let line = text.split('\n').next()?;
            let comment = line.find(" #").unwrap_or(line.len());
            let ends =
                if flow { line.find([',', ']', '}']).unwrap_or(line.len()) } else { comment };
            Some(line.get(..ends.min(comment))?.trim_end().len())
        }
    }
}

fn quotation(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => {
                letters.next();
            }
            '\'' if quote == '\'' && letters.peek().is_some_and(|(_, next)| *next == '\'') => {
                letters.next();
            }
            letter if letter == quote => return Some(at + letter.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Returns the length of a list or mapping in brackets.
fn bracketed(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(letter) = text.get(at..)?.chars().next() {
        let starts =
            text.get(..at)?.chars().next_back().is_none_or(|before| " \n[{,".contains(before));
        match letter {
            '"' | '\'' if starts => {
                at += quotation(text.get(at..)?, letter)?;
                continue;
            }
            '#' if starts => {
                at += text.get(at..)?.find('\n')?;
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += letter.len_utf8();
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the keys that say when a rule counts.
fn condition_keys(conditions: &RuleConditions) -> Vec<String> {
    let list = |key: &str, words: Vec<String>| {
        (!words.is_empty()).then(|| format!("{key}: [{}]", words.join(", ")))
    };
    let names = |names: &[String]| names.iter().map(|name| word(name)).collect();
    let triggers = conditions.triggers.iter().map(|trigger| trigger_word(*trigger).to_owned());
    let tiers = conditions.tiers.iter().map(|tier| tier_word(*tier).to_owned());
    [
        list("modes", names(&conditions.modes)),
        list("triggers", triggers.collect()),
        list("tiers", tiers.collect()),
        list("jobs", names(&conditions.jobs)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a name as YAML reads it: as it is, or quoted.
fn word(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if begins && name.chars().all(plain) && !matches!(name, "true" | "false" | "null") {
        name.to_owned()
    } else {
        quoted(name)
    }
}
