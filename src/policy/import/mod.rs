//! Turns another tool's lists of allowed and denied commands into a policy that decides the same,
//! or more strictly.
//!
//! In: the text of that tool's settings. Out: a policy text, and in sentences what could not be
//! carried over and what became something else. The policy spells out the switches it needs
//! (`commands: { expansions: allow }`), so that a maintainer sees them and can take them away.

mod jsonc;
mod outside;
mod permissions;
mod roo;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::Policy;
use crate::schema::PolicyErrors;
use crate::written::quoted;
use locum_base::text::code_list;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::yaml::{YamlDocument, YamlNode, YamlValue};

/// Whose settings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Roo Code and Kilo Code: `allowedCommands` and `deniedCommands`.
    Roo,
    /// Kode: `permissions` of `.kode/settings.json`.
    Kode,
    /// Claude Code: `permissions` of `.claude/settings.json`.
    Claude,
}

/// A policy made from another tool's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPolicy {
    /// The policy file's text.
    pub policy: String,
    /// What could not be carried over: sentences without a full stop.
    pub notes: Vec<String>,
    /// What became something else, as no policy says the same: sentences without a full stop.
    pub changes: Vec<String>,
}

/// The text of a settings file and how it is named in errors and notes.
#[derive(Clone, Copy, Debug)]
pub struct ImportSource<'a> {
    /// Path or name for messages.
    pub origin: &'a str,
    /// Its text: JSON, with comments if need be, or YAML.
    pub text: &'a str,
}

/// A settings file that has been read.
struct ImportedSettings<'a> {
    origin: &'a str,
    root: YamlNode,
}

/// Reads settings and returns the policy they amount to. `origin` names the settings in errors.
///
/// # Errors
/// As [`import_all`].
pub fn import(peer: Peer, text: &str, origin: &str) -> Result<ImportedPolicy, PolicyErrors> {
    import_all(peer, &[ImportSource { origin, text }], &[])
}

/// Reads settings files as their tool merges them, and returns the policy they amount to. Lists are
/// joined; of anything else the later file's word counts, so that the order is user, project,
/// local. `roots` are the absolute paths at which the repository lies, first the one without links;
/// none where that is not known. Absolute paths below them are paths of the repository.
///
/// # Errors
/// Every mistake of the settings at once; and, should a rule make a policy that cannot be read,
/// that.
pub fn import_all(
    peer: Peer,
    sources: &[ImportSource<'_>],
    roots: &[&str],
) -> Result<ImportedPolicy, PolicyErrors> {
    let mut faults = Vec::new();
    let mut files = Vec::new();
    for source in sources {
        let document = YamlDocument::parse(&jsonc::plain(source.text));
        let mut mistakes = Diagnostics(document.mistakes);
        match document.root {
            Some(root) if root.entries().is_some() => {
                files.push(ImportedSettings { origin: source.origin, root })
            }
            Some(root) => mistakes.wanted(&root, "settings", "a mapping").unwrap_or_default(),
            None if mistakes.0.is_empty() => mistakes.add(Position::default(), "the file is empty"),
            None => {}
        }
        faults.extend(mistakes.in_file(source.origin));
    }
    let roots = roots.iter().filter(|root| !root.is_empty());
    let roots = roots.map(|root| (*root).to_owned()).collect();
    let mut draft = PolicyDraft { roots, ..PolicyDraft::default() };
    match peer {
        Peer::Roo => roo::read(&files, &mut draft),
        Peer::Kode | Peer::Claude => permissions::read(peer, &files, &mut draft),
    }
    faults.append(&mut draft.faults);
    if !faults.is_empty() {
        return Err(PolicyErrors(faults));
    }
    let origins: Vec<&str> = sources.iter().map(|source| source.origin).collect();
    let policy = draft.accepted(&origins.join(", "))?;
    Ok(ImportedPolicy { policy, notes: draft.notes, changes: draft.changes })
}

/// A policy in the making.
#[derive(Debug, Default)]
struct PolicyDraft {
    rules: Vec<DraftRule>,
    /// Settings below `commands`.
    commands: Vec<(&'static str, String)>,
    budget: Vec<(&'static str, String)>,
    /// Absolute globs that commands may read, and with `!` those they may not.
    outside: Vec<String>,
    /// Where the repository lies; none where that is not known.
    roots: Vec<String>,
    notes: Vec<String>,
    changes: Vec<String>,
    /// What is wrong with the settings.
    faults: Vec<Diagnostic>,
}

#[derive(Debug, Default)]
struct DraftRule {
    decision: &'static str,
    patterns: Vec<String>,
    except: Vec<String>,
    comment: &'static str,
}

impl PolicyDraft {
    fn rule(&mut self, decision: &'static str, pattern: String) {
        self.rules.push(DraftRule { decision, patterns: vec![pattern], ..DraftRule::default() });
    }

    /// Says what is left out, and where it stands.
    fn note(&mut self, origin: &str, place: Position, note: impl std::fmt::Display) {
        self.notes.push(format!("{origin}:{}: {note}", place.line));
    }

    /// Says what is something else here than it was there, and where it stands.
    fn changed(&mut self, origin: &str, place: Position, change: impl std::fmt::Display) {
        self.changes.push(format!("{origin}:{}: {change}", place.line));
    }

    /// Returns the texts of a list; none when it is absent or null.
    fn texts(
        &mut self,
        origin: &str,
        node: Option<&YamlNode>,
        key: &str,
    ) -> Vec<(String, Position)> {
        let Some(node) = node.filter(|node| node.value != YamlValue::Null) else {
            return Vec::new();
        };
        let mut mistakes = Diagnostics::default();
        let texts = mistakes.texts(node, key);
        self.faults.extend(mistakes.in_file(origin));
        texts
    }

    /// Returns a text that is a policy. A rule that no policy may have beside the others, because
    /// of what they allow together, is held.
    ///
    /// # Errors
    /// What is wrong with it besides.
    fn accepted(&mut self, origin: &str) -> Result<String, PolicyErrors> {
        loop {
            let (text, lines) = self.render(origin);
            let Err(errors) = Policy::parse(&text, "the imported policy") else { return Ok(text) };
            let wrong = errors.0.iter().find_map(|error| {
                let rule = *lines.get(&error.place.line)?;
                self.rules.get(rule).filter(|rule| rule.decision == "allow")?;
                Some((rule, error.message.clone()))
            });
            let Some((rule, message)) = wrong else { return Err(errors) };
            let Some(rule) = self.rules.get_mut(rule) else { return Err(errors) };
            rule.decision = "hold";
            let what = code_list(&rule.patterns);
            self.changes.push(format!("{what} is held: beside the other rules, {message}"));
        }
    }

    /// Writes the policy; also returns which rule stands in which line.
    fn render(&self, origin: &str) -> (String, BTreeMap<u32, usize>) {
        let mut text = format!("# Made from {}.\n", one_line(origin));
        let mut places = BTreeMap::new();
        for (what, sentences) in [("Not carried over", &self.notes), ("Changed", &self.changes)] {
            for sentence in sentences {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "# {what}: {}.", one_line(sentence));
            }
        }
        text.push_str("version: 1\n\nrules:\n");
        let mut written = BTreeSet::new();
        for (index, rule) in self.rules.iter().enumerate() {
            let mut lines = format!("  - {}: {}\n", rule.decision, listed(&rule.patterns));
            if !rule.except.is_empty() {
                let _ = writeln!(lines, "    except: {}", listed(&rule.except));
            }
            // Settings say the same in several words, and in several files.
            if !written.insert(lines.clone()) {
                continue;
            }
            if !rule.comment.is_empty() {
                let _ = writeln!(text, "  # {}", rule.comment);
            }
            let line = text.lines().count().saturating_add(1);
            places.insert(u32::try_from(line).unwrap_or(u32::MAX), index);
            text.push_str(&lines);
        }
        for (section, settings) in [("commands", &self.commands), ("budget", &self.budget)] {
            if !settings.is_empty() {
                let settings: Vec<String> =
                    settings.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                let _ = write!(text, "\n{section}: {{ {} }}\n", settings.join(", "));
            }
        }
        (text, places)
    }
}

/// Writes texts as a YAML list in which nothing has a meaning of its own.
fn listed(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    if let [one] = quoted.as_slice() { one.clone() } else { format!("[{}]", quoted.join(", ")) }
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod risk_tests;
#[cfg(test)]
mod tests;
