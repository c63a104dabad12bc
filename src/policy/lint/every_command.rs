//! Rules that allow `command(*)`, which allows less than it says: a command counts only as far as
//! the tables know what it does.

use crate::Policy;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::lint::warning::Warning;
use crate::pattern::{CommandForm, Pattern};
use crate::verdict::{Cause, Decision};

/// Commands that people expect it to allow.
const EXPECTED: &[&str] =
    &["python x.py", "sh -c ls", "sudo ls", "git push", "curl https://example.com", "rm -rf x"];

/// Returns a warning for each such rule, with examples of what it leaves denied.
pub(super) fn warnings(policy: &Policy) -> Vec<Warning> {
    let rules = policy.judge.rules().iter().filter(|rule| rule.decision == Decision::Allow);
    let mut warnings = Vec::new();
    for rule in rules {
        for written in rule.patterns.iter().filter(|written| names_no_program(&written.pattern)) {
            let facts = rule.narrowing.facts(&policy.settings().modes.default);
            let denied: Vec<String> = EXPECTED
                .iter()
                .filter(|script| is_uncovered(policy, script, &facts))
                .map(|script| format!("`{script}`"))
                .collect();
            if denied.is_empty() {
                continue;
            }
            let message = format!(
                "does not allow every command: what runs code, reaches a host or is not known \
                 stays denied unless a rule names it, such as {}",
                denied.join(", ")
            );
            warnings.push(Warning::of_rule(policy, written, message));
        }
    }
    warnings
}

/// Whether it begins with no word; a text that commands begin with is taken as it is.
fn names_no_program(pattern: &Pattern) -> bool {
    let command = pattern.command();
    command.is_some_and(|command| {
        command.words.is_empty() && command.open && command.form == CommandForm::Words
    })
}

/// Whether it is denied although this rule matches it.
fn is_uncovered(policy: &Policy, script: &str, facts: &Facts) -> bool {
    let verdict = policy.decide(&Intent::Command(Script::parse(script)), facts);
    verdict.decision == Decision::Deny && matches!(verdict.cause, Cause::Uncovered { .. })
}

#[cfg(test)]
mod tests {
    use super::warnings;
    use crate::Policy;
    use pretty_assertions::assert_eq;

    #[test]
    fn says_what_every_command_leaves_denied() {
        let warned = |rules: &str| -> Vec<String> {
            let text = format!("version: 1\nrules:\n  - allow: {rules}\n");
            let policy = Policy::parse(&text, "policy.yml").unwrap();
            let found = warnings(&policy).into_iter();
            found
                .map(|warning| format!("{}: {}", warning.rule.line_number(), warning.message))
                .collect()
        };
        let every = warned("[read(**), command(*)]").join("\n");
        assert!(every.starts_with("3: does not allow every command"), "{every}");
        for script in ["`sh -c ls`", "`sudo ls`", "`git push`"] {
            assert!(every.contains(script), "{script}: {every}");
        }
        assert_eq!(warned("[read(**), command(git status), command(ls:*)]"), Vec::<String>::new());
        assert_eq!(
            warned("[read(**), command(*)]\ncommands: { contained: allow }"),
            Vec::<String>::new()
        );
    }
}
