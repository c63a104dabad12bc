//! `Finding`: what a review reports about a place, with how bad it is and how sure the reviewer is.
//! A floor and a budget keep most noise out, and what was said before is not said again. What is
//! said to show a finding is compared with what was run.
//!
//! In: a result in the model's words, and the lines that can be commented on. Out: findings, each
//! with a hidden line by which it is known again.

mod proof;

use sha2::{Digest as _, Sha256};

use crate::report::figures;
use crate::report::markdown::{contained, marker, visible};
use crate::session::command_report::CommandReport;
use locum_forge::{CommentableLines, ThreadComment};
use locum_policy::schema::review::{CONFIDENCES, Confidence, ReviewRules, SEVERITIES, Severity};

/// How the hidden line of a finding begins.
pub const FINDING_MARK: &str = "<!-- locum:v1 kind=finding ";

/// Most comments of one review.
pub(super) const COMMENT_LIMIT: usize = 50;

/// Most findings of one result.
const FINDINGS_LIMIT: usize = 200;

/// Most characters of one comment.
pub(super) const COMMENT_LIMIT_CHARS: usize = 20_000;

/// Characters of an entry in which severity and confidence stand.
const HEAD_CHARS: usize = 300;

/// Something that a review reports about lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path of the file.
    pub path: String,
    /// First line, counted from 1.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// How bad it is.
    pub severity: Severity,
    /// How sure the reviewer is.
    pub confidence: Confidence,
    /// What is said, in Markdown.
    pub body: String,
}

/// What a finding is known by from one review to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFinding {
    /// Path of the file.
    pub path: String,
    /// Its words, without numbers and signs, as a digest.
    pub words: String,
    /// The text of its line, as a digest; empty where it is not known.
    pub line: String,
    /// The text of its file, as a digest; empty where it is not known.
    pub file: String,
    /// The workflow run that reported it; empty before it is.
    pub run: String,
}

/// What became of the findings of one review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenFindings {
    /// Those that become comments, by place.
    pub kept: Vec<Finding>,
    /// How many were said in an earlier review.
    pub repeated: usize,
    /// How many are below the floor or beyond the budget.
    pub left_out: usize,
}

impl Finding {
    /// Returns what it is known by; `file` is the text of its file.
    pub fn known_by(&self, file: Option<&str>) -> KnownFinding {
        let first = self.body.lines().next().unwrap_or_default();
        let words: String = first
            .replace(&self.path, "")
            .chars()
            .filter(|letter| letter.is_alphabetic())
            .flat_map(char::to_lowercase)
            .collect();
        let at = usize::try_from(self.last).ok().and_then(|last| last.checked_sub(1));
        let line = file.zip(at).and_then(|(file, at)| file.lines().nth(at));
        let line = line.map(str::trim).filter(|line| !line.is_empty());
        KnownFinding {
            path: self.path.clone(),
            words: digest(&words),
            line: line.map(digest).unwrap_or_default(),
            file: file.map(digest).unwrap_or_default(),
            run: String::new(),
        }
    }
}

impl KnownFinding {
    /// Returns the hidden line of its comment. `run` names the workflow run that wrote it.
    pub fn marker(&self, run: &str) -> String {
        let (words, line, file) = (&self.words, &self.line, &self.file);
        marker("finding", &[("words", words), ("line", line), ("file", file), ("run", run)])
    }

    /// Reads a comment of ours at a path; `None` for what is no finding.
    fn parse(path: &str, body: &str) -> Option<Self> {
        let line = body.lines().next()?.strip_prefix(FINDING_MARK)?;
        let value = |key: &str| {
            line.split(' ')
                .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                .unwrap_or_default()
        };
        Some(Self {
            path: path.to_owned(),
            words: value("words").to_owned(),
            line: value("line").to_owned(),
            file: value("file").to_owned(),
            run: value("run").to_owned(),
        })
    }

    /// Reads a comment of ours; `None` for what is no finding, or on no file.
    pub fn of_comment(comment: &ThreadComment) -> Option<Self> {
        let place = comment.place.as_deref()?;
        let path = place.rsplit_once(':').map_or(place, |(path, _)| path);
        Self::parse(path, &comment.body)
    }

    /// Returns whether its file still has this text; where it does not know, whether its line is
    /// there.
    pub fn is_of(&self, file: &str) -> bool {
        match (self.file.as_str(), self.line.as_str()) {
            ("", "") => true,
            ("", known) => file.lines().any(|line| digest(line.trim()) == known),
            (known, _) => digest(file) == known,
        }
    }

    /// Returns whether another one is the same: it says the same, or is about the same text.
    pub fn is(&self, other: &Self) -> bool {
        self.path == other.path
            && (self.words == other.words || (!self.line.is_empty() && self.line == other.line))
    }
}

/// Returns what a result reports about lines that can be commented on: entries of lists that name
/// `path:line` or `path:line-line`.
pub fn findings(
    summary: &str,
    commands: &[CommandReport],
    lines: &CommentableLines,
) -> Vec<Finding> {
    let mut found = all_findings(summary, commands, lines);
    found.truncate(COMMENT_LIMIT);
    found
}

/// Returns what a result reports about these lines, as far as anything is read of it.
pub fn all_findings(
    summary: &str,
    commands: &[CommandReport],
    lines: &CommentableLines,
) -> Vec<Finding> {
    entries(&visible(summary))
        .iter()
        .filter(|entry| numbers_of_fixed(entry).is_empty())
        .filter_map(|entry| finding(entry, lines))
        .map(|finding| proof::checked(finding, commands))
        .take(FINDINGS_LIMIT)
        .collect()
}

/// Returns the numbers of the earlier findings that a result calls fixed, in entries of lists that
/// begin with the word: `Fixed: finding 12`.
pub fn fixed(summary: &str) -> Vec<u64> {
    entries(&visible(summary)).iter().flat_map(|entry| numbers_of_fixed(entry)).collect()
}

fn numbers_of_fixed(entry: &str) -> Vec<u64> {
    let head = entry.lines().next().unwrap_or_default().replace(['*', '`', '_'], "").to_lowercase();
    let Some((_, named)) =
        head.trim_start().strip_prefix("fixed").and_then(|rest| rest.split_once("finding"))
    else {
        return Vec::new();
    };
    // What follows the numbers may hold others: lines, counts.
    let words = named.trim_start_matches('s').split([' ', ',', '#', ':']);
    let words = words.filter(|word| !matches!(*word, "" | "and" | "finding" | "findings"));
    words.map_while(|word| word.trim_end_matches('.').parse().ok()).take(COMMENT_LIMIT).collect()
}

/// Chooses what becomes comments: nothing said before, nothing below the floor, the worst first.
/// `known_by` gives what a finding is known by.
pub fn chosen(
    found: Vec<Finding>,
    rules: ReviewRules,
    earlier: &[KnownFinding],
    known_by: impl Fn(&Finding) -> KnownFinding,
) -> ChosenFindings {
    let mut chosen = ChosenFindings::default();
    let mut said: Vec<KnownFinding> = earlier.to_vec();
    for finding in found {
        let known = known_by(&finding);
        if said.iter().any(|one| one.is(&known)) {
            chosen.repeated += 1;
        } else if finding.severity < rules.floor || finding.confidence < rules.confidence {
            chosen.left_out += 1;
        } else {
            // Two of one review may be about the same line.
            said.push(KnownFinding { line: String::new(), ..known });
            chosen.kept.push(finding);
        }
    }
    chosen.kept.sort_by_key(|one| std::cmp::Reverse((one.severity, one.confidence)));
    let room = usize::try_from(rules.comments).unwrap_or(usize::MAX);
    chosen.left_out += chosen.kept.len().saturating_sub(room);
    chosen.kept.truncate(room);
    chosen.kept.sort_by(|one, other| (&one.path, one.first).cmp(&(&other.path, other.first)));
    chosen
}

/// Returns how many findings there are of each severity, the worst first.
pub fn counted(findings: &[Finding]) -> String {
    let of = |severity: Severity, word: &str| {
        let count = findings.iter().filter(|one| one.severity == severity).count();
        (count > 0).then(|| format!("{count} {}", word.replace('-', " ")))
    };
    let each: Vec<String> =
        SEVERITIES.iter().rev().filter_map(|(word, severity)| of(*severity, word)).collect();
    format!("{}: {}", figures::count(findings.len(), "finding"), each.join(", "))
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Reads how bad a finding is; one that does not say is worth a change.
fn severity_of(head: &str) -> Severity {
    let says = |words: &[&str]| words.iter().any(|word| has_word(head, word));
    if says(&["blocker", "critical", "high severity"]) {
        Severity::Blocker
    } else if says(&["nit", "nitpick", "low severity"]) {
        Severity::Nit
    } else {
        Severity::ShouldFix
    }
}

/// Reads how sure the reviewer is.
fn confidence_of(head: &str) -> Confidence {
    let said = CONFIDENCES.iter().find(|(word, _)| {
        has_word(head, &format!("{word} confidence"))
            || has_word(head, &format!("confidence {word}"))
            || has_word(head, &format!("confidence: {word}"))
    });
    match said {
        Some((_, confidence)) => *confidence,
        None if has_word(head, "question") => Confidence::Low,
        None => Confidence::default(),
    }
}

/// Returns whether words stand in a text, and not within others.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
        is_end(before) && is_end(after)
    })
}

/// Returns the entries of a text's lists, each with what is indented below it; code keeps its own
/// indentation. A list below an entry that names a place is part of it; others have entries of
/// their own, as under a heading.
fn entries(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut open, mut fence) = (false, None);
    // How deep the last entry is that names a place, and its words.
    let mut outer: Option<(usize, usize)> = None;
    for line in text.lines() {
        let content = line.trim_start();
        let depth = line.len() - content.len();
        if let Some(inside) = fence
            && let Some(entry) = found.last_mut()
        {
            entry.push('\n');
            entry.push_str(line.get(depth.min(inside)..).unwrap_or_default());
            fence = fence.filter(|_| !content.starts_with("```"));
            continue;
        }
        let numbered = content.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| content.strip_prefix(mark));
        let item =
            item.or_else(|| numbered.strip_prefix(". ").filter(|_| numbered.len() < content.len()));
        let part = outer.is_some_and(|(outer, _)| open && depth > outer);
        match item.filter(|_| !part) {
            Some(item) => {
                outer = names_place(item).then_some((depth, line.len() - item.len()));
                found.push(item.to_owned());
                open = true;
            }
            None if content.is_empty() => {
                // What follows may be code by its indentation alone.
                if let Some(entry) = found.last_mut().filter(|_| open) {
                    entry.push('\n');
                }
            }
            None if depth == 0 => open = false,
            None => {
                if let Some(entry) = found.last_mut().filter(|_| open) {
                    entry.push('\n');
                    let inside = outer.map_or(depth, |(_, words)| depth.min(words));
                    entry.push_str(line.get(inside..).unwrap_or_default());
                    fence = content.starts_with("```").then_some(depth);
                }
            }
        }
    }
    found.iter().map(|entry| entry.trim_end().to_owned()).collect()
}

/// Returns whether a text begins with something like `path:3`, a few words after its start.
fn names_place(entry: &str) -> bool {
    let head: String = entry.chars().take(HEAD_CHARS).collect();
    head.match_indices(':').any(|(at, _)| {
        let (before, after) = (head.get(..at), head.get(at + 1..));
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
        before.is_some_and(|before| before.ends_with(is_name))
            && after.is_some_and(|after| after.starts_with(|letter: char| letter.is_ascii_digit()))
    })
}

fn finding(entry: &str, lines: &CommentableLines) -> Option<Finding> {
    let head = entry.lines().next()?;
    let (path, first, last) =
        lines.keys().find_map(|path| place(head, path).map(|(first, last)| (path, first, last)))?;
    let spans = lines.get(path)?;
    let span = spans.iter().find(|(from, to)| from <= &last && &last <= to)?;
    let body = contained(&figures::clip(entry, COMMENT_LIMIT_CHARS));
    let said: String = head.replace(path.as_str(), "").chars().take(HEAD_CHARS).collect();
    let said = said.replace(['*', '`', '_'], "").to_lowercase();
    Some(Finding {
        path: path.clone(),
        first: first.max(span.0),
        last,
        severity: severity_of(&said),
        confidence: confidence_of(&said),
        body,
    })
}

/// Finds `path:3` or `path:3-5` in a line.
fn place(line: &str, path: &str) -> Option<(u32, u32)> {
    let named = format!("{path}:");
    line.match_indices(&named).find_map(|(at, _)| {
        let is_whole = line.get(..at)?.chars().next_back().is_none_or(|letter| {
            !letter.is_alphanumeric() && !matches!(letter, '/' | '.' | '-' | '_')
        });
        let rest = line.get(at + named.len()..)?;
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        let first = digits(rest);
        let (start, last) =
            (first.parse::<u32>().ok()?, rest.get(first.len()..)?.strip_prefix('-').map(digits));
        let last =
            last.and_then(|last| last.parse().ok()).filter(|last| *last >= start).unwrap_or(start);
        (is_whole && start > 0).then_some((start, last))
    })
}

#[cfg(test)]
mod tests;
