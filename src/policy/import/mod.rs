//! Turns another tool's lists of allowed and denied commands into a policy that decides the same, or more strictly.
//!
//! In: the text of that tool's settings. Out: a policy text and what could not be carried over, in sentences. The policy spells
//! out the switches it needs (`commands: { expansions: allow }`), so that a maintainer sees them and can take them away.

mod permissions;
mod roo;

use std::fmt::Write as _;

use crate::base::fields::Mistakes;
use crate::base::yaml::{Document, Node};
use crate::policy::schema::PolicyErrors;
use crate::policy::{Policy, errors};

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
pub struct Imported {
    /// The policy file's text.
    pub policy: String,
    /// What could not be carried over: sentences without a full stop.
    pub notes: Vec<String>,
}

/// Reads settings and returns the policy they amount to. `origin` names the settings in errors.
///
/// # Errors
/// Every mistake of the settings at once; and, should a rule make a policy that cannot be read, that.
pub fn import(peer: Peer, text: &str, origin: &str) -> Result<Imported, PolicyErrors> {
    let document = Document::parse(text);
    let mut mistakes = Mistakes(document.mistakes);
    let mut draft = Draft::default();
    match document.root {
        Some(root) if root.entries().is_some() => match peer {
            Peer::Roo => roo::read(&root, &mut draft, &mut mistakes),
            Peer::Kode | Peer::Claude => permissions::read(peer, &root, &mut draft, &mut mistakes),
        },
        Some(root) => mistakes.wanted(&root, "settings", "a mapping"),
        None if mistakes.0.is_empty() => mistakes.add(crate::base::yaml::Place::default(), "the file is empty"),
        None => {}
    }
    if !mistakes.0.is_empty() {
        return Err(errors(mistakes.0, origin));
    }
    let imported = Imported { policy: draft.render(origin), notes: draft.notes };
    Policy::parse(&imported.policy, "the imported policy")?;
    Ok(imported)
}

/// A policy in the making.
#[derive(Debug, Default)]
struct Draft {
    rules: Vec<DraftRule>,
    /// Settings below `commands`.
    commands: Vec<(&'static str, String)>,
    budget: Vec<(&'static str, String)>,
    /// Absolute globs that commands may read, and with `!` those they may not.
    outside: Vec<String>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct DraftRule {
    decision: &'static str,
    patterns: Vec<String>,
    except: Vec<String>,
    comment: &'static str,
}

impl Draft {
    fn rule(&mut self, decision: &'static str, pattern: String) {
        self.rules.push(DraftRule { decision, patterns: vec![pattern], except: Vec::new(), comment: "" });
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn render(&self, origin: &str) -> String {
        let mut text = format!("# Made from {}.\n", one_line(origin));
        for note in &self.notes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# Not carried over: {}.", one_line(note));
        }
        text.push_str("version: 1\n\nrules:\n");
        for rule in &self.rules {
            if !rule.comment.is_empty() {
                let _ = writeln!(text, "  # {}", rule.comment);
            }
            let _ = writeln!(text, "  - {}: {}", rule.decision, listed(&rule.patterns));
            if !rule.except.is_empty() {
                let _ = writeln!(text, "    except: {}", listed(&rule.except));
            }
        }
        for (section, settings) in [("commands", &self.commands), ("budget", &self.budget)] {
            if !settings.is_empty() {
                let settings: Vec<String> = settings.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                let _ = write!(text, "\n{section}: {{ {} }}\n", settings.join(", "));
            }
        }
        text
    }
}

/// Returns the values of a list of texts under a key; `None` when the key is absent or null.
fn texts(node: Option<&Node>, key: &str, mistakes: &mut Mistakes) -> Option<Vec<String>> {
    let node = node.filter(|node| node.value != crate::base::yaml::Value::Null)?;
    Some(mistakes.texts(node, key).into_iter().map(|(text, _)| text).collect())
}

/// Writes texts as a YAML list in which nothing has a meaning of its own.
fn listed(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    if let [one] = quoted.as_slice() { one.clone() } else { format!("[{}]", quoted.join(", ")) }
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Writes words so that a command pattern reads exactly them.
fn pattern_words(words: &[&str]) -> String {
    let plain = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./=,@%+:".contains(letter));
    let quote = |word: &&str| if plain(word) { (*word).to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests;
