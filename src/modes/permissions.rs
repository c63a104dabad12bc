//! `Permissions`: the permission map of an agent file. In: rules in the file's order, and what is
//! to be done; out: denied or not.
//!
//! The last rule that matches wins, as in the programs these files are from. A map can only take
//! away here: `allow` and `ask` leave the decision to the policy, since no user is there to ask.

use locum_policy::command::Script;
use locum_policy::glob::name_matches;

/// Most rules of one map.
pub const RULES_LIMIT: usize = 500;

/// What a rule of a map is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionKind {
    /// Reading, listing and searching files.
    Read,
    /// Creating, changing and deleting files.
    Edit,
    /// Running commands, whatever they do.
    Command,
    /// Tools of MCP servers.
    Mcp,
    /// Handing work to sub-tasks.
    Delegate,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionAction {
    /// The policy decides, as without the rule.
    Allow,
    /// A user would decide; here the policy does.
    Ask,
    /// Denied, whatever the policy says.
    Deny,
}

/// One rule of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRule {
    /// What it is about.
    pub permission: PermissionKind,
    /// `*` for any letters, `?` for one; a path, or a command as written.
    pub pattern: String,
    /// Allow, ask or deny.
    pub action: PermissionAction,
}

/// A permission map. An empty one takes nothing away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions(pub Vec<PermissionRule>);

impl Permissions {
    /// Returns true when the last rule of a permission denies everything, so that it need not be
    /// offered at all.
    pub fn deny_all(&self, permission: PermissionKind) -> bool {
        let last = self.0.iter().rev().find(|rule| rule.permission == permission);
        last.is_some_and(|rule| rule.pattern == "*" && rule.action == PermissionAction::Deny)
    }

    /// Returns the rule that denies a path, or `None`.
    pub fn denying(&self, permission: PermissionKind, subject: &str) -> Option<&PermissionRule> {
        let rule = self
            .0
            .iter()
            .rev()
            .find(|rule| rule.permission == permission && matches(&rule.pattern, subject))?;
        (rule.action == PermissionAction::Deny).then_some(rule)
    }

    /// Returns the rule that denies a script: one that denies it as written, or one of its
    /// commands. A script that cannot be parsed is denied by the first rule about commands that
    /// denies anything.
    pub fn denying_script(&self, script: &Script) -> Option<&PermissionRule> {
        let whole = self.denying(PermissionKind::Command, script.text().trim());
        let commands = script.simple_commands();
        if commands.is_empty() {
            return whole.or_else(|| {
                self.0.iter().find(|rule| {
                    rule.permission == PermissionKind::Command
                        && rule.action == PermissionAction::Deny
                })
            });
        }
        if commands.len() == 1 && script.redirects().is_empty() {
            return commands.first().and_then(|command| {
                self.denying(PermissionKind::Command, &command.words.join(" "))
            });
        }
        let denying = commands
            .iter()
            .find_map(|command| self.denying(PermissionKind::Command, &command.words.join(" ")));
        denying.or_else(|| whole.filter(|rule| rule.pattern != "*"))
    }

    /// Returns the patterns of a permission that are not denied, for messages.
    pub fn left(&self, permission: PermissionKind) -> Vec<&str> {
        let rules = self
            .0
            .iter()
            .filter(|rule| rule.permission == permission && rule.action != PermissionAction::Deny);
        rules.map(|rule| rule.pattern.as_str()).collect()
    }
}

/// A pattern that ends in a blank and `*` also matches what stands before the blank alone.
fn matches(pattern: &str, subject: &str) -> bool {
    name_matches(pattern, subject)
        || pattern.strip_suffix(" *").is_some_and(|start| name_matches(start, subject))
}

#[cfg(test)]
mod tests {
    use super::{PermissionAction, PermissionKind, PermissionRule, Permissions};
    use locum_policy::command::Script;
    use pretty_assertions::assert_eq;

    fn map(permission: PermissionKind, rules: &[(&str, PermissionAction)]) -> Permissions {
        Permissions(
            rules
                .iter()
                .map(|(pattern, action)| PermissionRule {
                    permission,
                    pattern: (*pattern).to_owned(),
                    action: *action,
                })
                .collect(),
        )
    }

    #[test]
    fn the_last_match_wins() {
        let edits = map(
            PermissionKind::Edit,
            &[
                ("*", PermissionAction::Deny),
                ("docs/*", PermissionAction::Allow),
                ("docs/api/*", PermissionAction::Ask),
                ("*.lock", PermissionAction::Deny),
            ],
        );
        for (path, denied) in [
            ("src/a.rs", true),
            ("docs/a/b.md", false),
            ("docs/api/x.md", false),
            ("docs/x.lock", true),
        ] {
            assert_eq!(edits.denying(PermissionKind::Edit, path).is_some(), denied, "{path}");
        }
        assert!(edits.denying(PermissionKind::Read, "src/a.rs").is_none());
        assert!(!edits.deny_all(PermissionKind::Edit));
        assert!(
            map(
                PermissionKind::Edit,
                &[("docs/*", PermissionAction::Allow), ("*", PermissionAction::Deny)]
            )
            .deny_all(PermissionKind::Edit)
        );
        assert!(!Permissions::default().deny_all(PermissionKind::Edit));
    }

    #[test]
    fn every_command_of_a_script_counts() {
        let commands = map(
            PermissionKind::Command,
            &[
                ("*", PermissionAction::Deny),
                ("git diff *", PermissionAction::Allow),
                ("ls", PermissionAction::Allow),
            ],
        );
        for (script, denied) in [
            ("git diff", false),
            ("git diff --stat", false),
            ("git difftool", true),
            ("ls && git diff x", false),
            ("git diff; rm -r x", true),
            ("ls | sh", true),
            ("git diff $(rm x)", true),
            ("ls -l", true),
        ] {
            assert_eq!(
                commands.denying_script(&Script::parse(script)).is_some(),
                denied,
                "{script}"
            );
        }
        let forbidden = map(PermissionKind::Command, &[("*>*", PermissionAction::Deny)]);
        assert!(forbidden.denying_script(&Script::parse("ls > x")).is_some());
        assert!(forbidden.denying_script(&Script::parse("ls")).is_none());
        assert!(
            Permissions::default().denying_script(&Script::parse("git diff $(rm x)")).is_none()
        );
    }
}
