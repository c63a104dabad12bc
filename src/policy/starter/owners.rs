//! Files that have owners of their own, as `CODEOWNERS` says: their edits wait for a maintainer.
//!
//! In: the repository's paths and its `CODEOWNERS`. Out: patterns of edits with their owners. Who
//! owns everything owns nothing in particular, so that such lines are left out, as are those that
//! name no file there is.

use std::collections::BTreeSet;

use crate::glob::LetterCase;
use crate::intent::Intent;
use crate::paths::Protection;
use crate::pattern::Pattern;
use crate::starter::scan::{ProposedLine, StarterScan};

/// Where the file lies; GitHub takes the first it finds:
/// <https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners>.
pub(super) const PLACES: &[&str] = &[".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/// Most lines that are taken over.
const MOST: usize = 40;

/// Returns the edits that have owners of their own.
pub(super) fn find(scan: &StarterScan) -> Vec<ProposedLine> {
    let text = PLACES.iter().find_map(|place| {
        scan.texts.iter().find(|(path, _)| path.as_str() == *place).map(|(_, text)| text)
    });
    let entries: Vec<(&str, BTreeSet<&str>)> =
        text.map(|text| text.lines().filter_map(entry).collect()).unwrap_or_default();
    let everybody: BTreeSet<&str> = entries
        .iter()
        .filter(|(pattern, _)| is_everything(pattern))
        .flat_map(|(_, owners)| owners.iter().copied())
        .collect();
    let protection = Protection::default();
    let mut lines: Vec<ProposedLine> = Vec::new();
    for (pattern, owners) in &entries {
        let glob = glob(pattern);
        let Some(glob) = glob.filter(|_| !is_everything(pattern)) else { continue };
        let text = format!("edit({glob})");
        // The last line about something counts.
        lines.retain(|line| line.pattern != text);
        let Ok(parsed) = Pattern::parse(&text) else { continue };
        let covers = |path| parsed.matches(&Intent::Edit(path), LetterCase::Ignored);
        let is_open = |path: &&locum_base::path::RepoPath| protection.of_edit(path).is_none();
        let names_files = scan.files.iter().filter(is_open).any(|path| covers(path.clone()));
        if names_files && !owners.is_empty() && !owners.is_subset(&everybody) {
            let words: Vec<&str> = owners.iter().copied().collect();
            lines.extend(ProposedLine::new(text, words.join(" ")));
        }
    }
    let all = lines.clone();
    lines.retain(|line| !line.is_covered(&all));
    lines.truncate(MOST);
    lines
}

/// Reads one line: a pattern and its owners; `None` for a comment and for what GitHub passes over.
fn entry(line: &str) -> Option<(&str, BTreeSet<&str>)> {
    let text = line.split(" #").next().unwrap_or_default().trim();
    // Sections in brackets are of other forges.
    let is_pattern = !text.starts_with(['#', '[', '^', '!']) && !text.contains('\\');
    let mut words = text.split_whitespace();
    let pattern = words.next().filter(|_| is_pattern)?;
    Some((pattern, words.filter(|word| word.contains('@')).collect()))
}

fn is_everything(pattern: &str) -> bool {
    pattern.trim_matches(['/', '*']).is_empty()
}

/// Writes a pattern as a glob of the policy.
fn glob(pattern: &str) -> Option<String> {
    if pattern.contains(['?', '[', ']', '{', '}', '(', ')', '"', ',']) {
        return None;
    }
    let bare = pattern.trim_start_matches('/').trim_start_matches("**/").trim_end_matches('/');
    // A slash before the end ties a pattern to the top.
    let is_tied = pattern.trim_end_matches('/').contains('/') && !pattern.starts_with("**/");
    let begin = if is_tied { "" } else { "**/" };
    let name = bare.rsplit('/').next().unwrap_or_default();
    // A name without an ending is a folder, as a rule.
    let is_folder = pattern.ends_with('/') || !name.contains(['.', '*']);
    let end = if is_folder { "/**" } else { "" };
    (!bare.is_empty()).then(|| format!("{begin}{bare}{end}"))
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::starter::scan::StarterScan;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_has_owners_of_its_own_waits_for_them() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let files =
            ["src/auth/a.rs", "src/b.rs", "docs/a.md", "web/x.js", "sql/m.sql", ".github/a"];
        for (owners, expected) in [
            ("* @acme/all\n", &[][..]),
            ("* @acme/all\n/src/ @acme/all\n", &[]),
            ("* @acme/all\n/src/auth/ @acme/security # careful\n", &["edit(src/auth/**)"]),
            ("/src/auth @sec\n*.js @web\n", &["edit(src/auth/**)", "edit(**/*.js)"]),
            ("docs/ @docs a@example.org\n", &["edit(**/docs/**)"]),
            ("/sql/*.sql @dba\n/sql/*.sql\n", &[]),
            ("/src/ @a\n/src/auth/ @b\n", &["edit(src/**)"]),
            ("/gone/ @a\n.github/ @a\n!x @a\n[Section] @a\n", &[]),
        ] {
            let files = files.iter().map(|file| path(file)).collect();
            let mut scan = StarterScan { files, ..StarterScan::default() };
            scan.texts.insert(path(".github/CODEOWNERS"), owners.to_owned());
            let found: Vec<String> = find(&scan).into_iter().map(|line| line.pattern).collect();
            assert_eq!(found, expected, "{owners}");
        }
    }
}
