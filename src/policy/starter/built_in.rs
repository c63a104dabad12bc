//! Rules that a starter shares with the built-in policy: commands that look, those whose files are
//! judged as edits, and those that both refuse by word, so that a model that reads why does not try
//! again.
//!
//! In: the text of `config/policy.yml`. Out: its rules as they are written there, so that there is
//! one list of each.

use crate::BUILTIN_TEXT;

/// Returns the first line and the patterns of the allowing rule with a title.
pub(super) fn allowing(title: &str) -> String {
    let first = format!("  - allow: # {title}\n");
    let rule = rules().into_iter().find(|rule| rule.starts_with(&first)).unwrap_or_default();
    rule.split_inclusive('\n').filter(|line| !line.starts_with("    modes:")).collect()
}

/// Returns the rules that deny.
pub(super) fn denying() -> String {
    rules().into_iter().filter(|rule| rule.starts_with("  - deny:")).collect()
}

/// Returns the text of each rule, with the ends of its lines.
fn rules() -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    let lines = BUILTIN_TEXT.lines().skip_while(|line| *line != "rules:").skip(1);
    for line in lines.take_while(|line| !line.is_empty()) {
        if line.starts_with("  - ") {
            rules.push(String::new());
        }
        if let Some(rule) = rules.last_mut() {
            rule.push_str(line);
            rule.push('\n');
        }
    }
    rules
}
