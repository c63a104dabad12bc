//! Globs of what a run may edit, as `--edit` and the answer on a terminal name them.
//!
//! In: a glob. Out: why it cannot stand in the policy, or opens nothing there.

use locum_base::path::RepoPath;
use locum_policy::paths::protected;
use locum_policy::pattern::Pattern;

/// Returns what is wrong with a glob; `None` where nothing is.
pub(super) fn edit_problem(glob: &str) -> Option<String> {
    let is_plain = !glob.contains(['`', ' ']) && !glob.chars().any(char::is_control);
    if !is_plain || Pattern::parse(&format!("edit({glob})")).is_err() {
        return Some(format!("`{glob}` is not a glob of files"));
    }
    // What no wildcard opens lies below a folder that is written out.
    let whole = || glob.ends_with('/').then_some(glob.len());
    let at = glob.find(['*', '?', '[', '{']).or_else(whole)?;
    let (folder, _) = glob.get(..at)?.rsplit_once('/')?;
    let why = protected(&RepoPath::parse(&format!("{folder}/x")).ok()?)?;
    Some(format!("`{glob}` opens nothing, as `{folder}` is protected ({why})"))
}

#[cfg(test)]
mod tests {
    use super::edit_problem;

    #[test]
    fn a_glob_that_opens_nothing_is_refused_with_why() {
        for glob in ["src/**", "*.sh", "lib/{a,b}/*.rs", "README.md", "**/docs/**", "docs/"] {
            assert_eq!(edit_problem(glob), None, "{glob}");
        }
        for glob in ["/etc", "a b", "a`b`", "../x", ""] {
            let problem = edit_problem(glob).unwrap_or_default();
            assert!(problem.ends_with("is not a glob of files"), "{glob}: {problem}");
        }
        for glob in [".github/**", ".github/", ".github/workflows/*.yml", ".locum/**"] {
            let problem = edit_problem(glob).unwrap_or_default();
            assert!(problem.contains("opens nothing"), "{glob}: {problem}");
        }
    }
}
