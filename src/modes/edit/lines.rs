//! The lines of a mode file and what stands on which of them. In: the text; out: line ranges of
//! modes and of their keys. Only block YAML, one key a line, is understood; anything else is
//! `None`. Lines count from 1, ranges exclude their end.

use crate::schema::TOP_KEY;
use locum_files::yaml::{YamlDocument, YamlNode};

/// A text cut into lines, each with its end.
pub(super) struct TextLines(Vec<String>);

/// The modes of a list.
pub(super) struct ModeItems {
    /// Columns before a mode's dash.
    pub(super) indent: usize,
    /// Lines of each.
    pub(super) ranges: Vec<(u32, u32)>,
}

/// The keys of a mode.
pub(super) struct ModeLines {
    /// Columns before its keys.
    pub(super) indent: usize,
    /// Each key with its lines.
    pub(super) keys: Vec<(String, u32, u32)>,
    /// The line after its last.
    pub(super) end: u32,
}

impl TextLines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.split_inclusive('\n').map(str::to_owned).collect())
    }

    pub(super) fn text(&self) -> String {
        self.0.concat()
    }

    pub(super) fn line(&self, number: u32) -> Option<&str> {
        self.0.get(usize::try_from(number).ok()?.checked_sub(1)?).map(String::as_str)
    }

    /// Returns the text with some lines replaced by others.
    pub(super) fn with_lines(&self, first: u32, end: u32, new: &str) -> String {
        let cut = |number: u32| {
            usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1).min(self.0.len())
        };
        let (before, after) = (
            self.0.get(..cut(first)).unwrap_or_default(),
            self.0.get(cut(end)..).unwrap_or_default(),
        );
        let mut text = before.concat();
        if !text.is_empty() && !text.ends_with('\n') && !new.is_empty() {
            text.push('\n');
        }
        let new = if text.ends_with("\r\n")
            || (text.is_empty() && after.first().is_some_and(|line| line.ends_with("\r\n")))
        {
            new.replace('\n', "\r\n")
        } else {
            new.to_owned()
        };
        text + &new + &after.concat()
    }

    pub(super) fn with_end(&self, new: &str) -> String {
        let end = u32::try_from(self.0.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.with_lines(end, end, new)
    }

    /// Returns the modes of a list in block style.
    pub(super) fn items(&self, modes: &[YamlNode]) -> Option<ModeItems> {
        let mut dashes: Vec<(u32, usize)> = Vec::new();
        for mode in modes {
            let entries = mode.entries()?;
            let first = entries.first()?;
            let (line, column) = (
                first.key_place.line,
                usize::try_from(first.key_place.column).ok()?.checked_sub(1)?,
            );
            let before = self.line(line)?.chars().take(column).collect::<String>();
            let dash = before
                .strip_suffix(' ')
                .map(str::trim_end)
                .and_then(|before| before.strip_suffix('-'))?;
            if !dash.chars().all(|letter| letter == ' ') {
                return None;
            }
            dashes.push((line, dash.len()));
        }
        let indent = dashes.first()?.1;
        if dashes.iter().any(|(_, other)| *other != indent)
            || dashes.is_sorted_by(|one, next| one.0 >= next.0) && dashes.len() > 1
        {
            return None;
        }
        let after_all = u32::try_from(self.0.len()).ok()?.checked_add(1)?;
        let ends = dashes.iter().skip(1).map(|(line, _)| *line).chain([after_all]);
        let ranges = dashes
            .iter()
            .zip(ends)
            .map(|((first, _), limit)| (*first, self.end(*first, limit, indent)))
            .collect();
        Some(ModeItems { indent, ranges })
    }

    /// Reads the text again and returns the mode at a place in its list.
    pub(super) fn items_again(&self, at: usize) -> Option<ModeLines> {
        let root = YamlDocument::parse(&self.text()).root?;
        let list = if root.list().is_some() { &root } else { root.get(TOP_KEY)? };
        let items = self.items(list.list()?)?;
        let (_, end) = *items.ranges.get(at)?;
        let entries = list.list()?.get(at)?.entries()?;
        let indent = usize::try_from(entries.first()?.key_place.column).ok()?.checked_sub(1)?;
        let is_whole = entries
            .iter()
            .zip(entries.iter().skip(1))
            .all(|(one, next)| one.key_place.line < next.key_place.line);
        let is_straight = entries.iter().all(|entry| {
            usize::try_from(entry.key_place.column).is_ok_and(|column| column == indent + 1)
        });
        if !is_whole || !is_straight {
            return None;
        }
        let limits = entries.iter().skip(1).map(|entry| entry.key_place.line).chain([end]);
        let keys = entries.iter().zip(limits).map(|(entry, limit)| {
            let first = entry.key_place.line;
            (entry.key.clone(), first, self.end(first, limit, indent))
        });
        Some(ModeLines { indent, keys: keys.collect(), end })
    }

    /// Returns the line after the last that belongs to what begins on `first`: lines that stand
    /// further in, and list items that stand no further in than their key. Comments and blank lines
    /// after it are not its own.
    fn end(&self, first: u32, limit: u32, indent: usize) -> u32 {
        let mut end = first + 1;
        for number in first + 1..limit {
            let Some(line) = self.line(number) else { break };
            let depth = line.len() - line.trim_start_matches(' ').len();
            let is_item = depth == indent && line.trim_start().starts_with("- ");
            if line.trim().is_empty() || (depth <= indent && line.trim_start().starts_with('#')) {
                continue;
            }
            if depth <= indent && !is_item {
                break;
            }
            end = number + 1;
        }
        end
    }

    /// Returns what stands between modes: an empty line where the file has one between them.
    pub(super) fn gap(&self, ranges: &[(u32, u32)]) -> &'static str {
        let is_apart = ranges
            .iter()
            .skip(1)
            .all(|(first, _)| self.line(first - 1).is_some_and(|line| line.trim().is_empty()));
        if ranges.len() > 1 && is_apart { "\n" } else { "" }
    }

    /// Returns the first line of the comment that stands right above a line.
    pub(super) fn with_comments_above(&self, first: u32) -> u32 {
        (1..first)
            .rev()
            .take_while(|number| {
                self.line(*number).is_some_and(|line| line.trim_start().starts_with('#'))
            })
            .last()
            .unwrap_or(first)
    }
}
