//! Where modes are defined. In: a path below the repository's root; out: what kind of file it is
//! and which file wins. Reads nothing.

/// The mode files of a repository, relative to its root; modes of a later one take the place of
/// those of an earlier one.
pub const PROJECT_FILES: &[&str] =
    &[".kilocodemodes", "custom_modes.yaml", ".roomodes", ".locum/modes.yml"];

/// The mode files of the user's configuration folder, in the same order.
pub const USER_FILES: &[&str] = &["custom_modes.yaml", "modes.yml"];

/// The file of the user's configuration folder whose modes win over every repository's.
pub const ORGANIZATION_FILE: &str = "organization-modes.yml";

/// A file whose sections may describe an agent.
pub const AGENTS_FILE: &str = "AGENTS.md";

/// Whose agent files a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentKind {
    /// Sub-agents of Claude Code and Kode, agents of GitHub Copilot. They do not take the place of
    /// a built-in mode: there they are something beside modes.
    Claude,
    /// Agents of Kilo Code and OpenCode, which are modes there too.
    Kilo,
    /// Our own agent files.
    Locum,
}

/// A folder of agent files.
#[derive(Clone, Copy, Debug)]
pub struct AgentFolder {
    /// Path in the repository.
    pub path: &'static str,
    /// Whose files they are.
    pub kind: AgentKind,
    /// Whether files of its folders count too.
    pub is_deep: bool,
}

const fn folder(path: &'static str, kind: AgentKind, is_deep: bool) -> AgentFolder {
    AgentFolder { path, kind, is_deep }
}

/// The folders of agent files; modes of a later one take the place of those of an earlier one.
pub const AGENT_FOLDERS: &[AgentFolder] = &[
    folder(".agents", AgentKind::Claude, false),
    folder(".github/agents", AgentKind::Claude, false),
    folder(".claude/agents", AgentKind::Claude, true),
    folder(".kode/agents", AgentKind::Claude, true),
    folder(".opencode/mode", AgentKind::Kilo, false),
    folder(".opencode/modes", AgentKind::Kilo, false),
    folder(".opencode/agent", AgentKind::Kilo, true),
    folder(".opencode/agents", AgentKind::Kilo, true),
    folder(".kilocode/mode", AgentKind::Kilo, false),
    folder(".kilocode/modes", AgentKind::Kilo, false),
    folder(".kilocode/agent", AgentKind::Kilo, true),
    folder(".kilocode/agents", AgentKind::Kilo, true),
    folder(".kilo/mode", AgentKind::Kilo, false),
    folder(".kilo/modes", AgentKind::Kilo, false),
    folder(".kilo/agent", AgentKind::Kilo, true),
    folder(".kilo/agents", AgentKind::Kilo, true),
    folder(".locum/agents", AgentKind::Locum, true),
];

/// Returns the folder that makes a file an agent file, its place among them, and the file's path
/// below it without its ending.
pub fn agent_folder(path: &str) -> Option<(usize, &'static AgentFolder, &str)> {
    AGENT_FOLDERS.iter().enumerate().find_map(|(index, folder)| {
        let below = path.strip_prefix(folder.path)?.strip_prefix('/')?.strip_suffix(".md")?;
        let counts = !below.is_empty()
            && (folder.is_deep || !below.contains('/'))
            && !below.eq_ignore_ascii_case("README");
        counts.then_some((index, folder, below))
    })
}

/// Returns true for a file that may define modes.
pub fn may_define(path: &str) -> bool {
    path == AGENTS_FILE || PROJECT_FILES.contains(&path) || agent_folder(path).is_some()
}

/// Returns true for a file of the user's configuration folder, wherever that is.
pub fn is_user_file(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    USER_FILES.contains(&name) || name == ORGANIZATION_FILE
}

#[cfg(test)]
mod tests {
    use super::{AgentKind, agent_folder, may_define};
    use pretty_assertions::assert_eq;

    #[test]
    fn knows_agent_files_by_their_folder() {
        for (path, expected) in [
            (".claude/agents/review.md", Some((AgentKind::Claude, "review"))),
            (".claude/agents/team/review.md", Some((AgentKind::Claude, "team/review"))),
            (".agents/review.md", Some((AgentKind::Claude, "review"))),
            (".agents/skills/x/SKILL.md", None),
            (".kilo/agent/a/b.md", Some((AgentKind::Kilo, "a/b"))),
            (".kilo/mode/a/b.md", None),
            (".locum/agents/x.md", Some((AgentKind::Locum, "x"))),
            (".claude/agents/README.md", None),
            (".claude/agents/notes.txt", None),
            ("docs/.claude/agents/x.md", None),
        ] {
            assert_eq!(
                agent_folder(path).map(|(_, folder, below)| (folder.kind, below)),
                expected,
                "{path}"
            );
            assert_eq!(may_define(path), expected.is_some(), "{path}");
        }
        assert!(may_define(".roomodes") && may_define("AGENTS.md") && !may_define("sub/.roomodes"));
    }
}
