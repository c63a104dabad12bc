//! Which files that judge or shape a run are not in the working tree as they are in the commit it
//! reads.

use std::collections::BTreeSet;

use crate::run::source::FileSource;
use crate::run::trusted::POLICY_FILE;
use locum_modes::places::{AGENT_FOLDERS, AGENTS_FILE, PROJECT_FILES};
use locum_policy::ignore::IGNORE_FILES;
use locum_workspace::repo::{CommitId, Repo};

/// Everything else of a repository that counts lies here.
const OWN_FOLDER: &str = ".locum";

/// Returns the paths of policy, settings, modes, jobs, rules and ignore files that differ between
/// the working tree and a commit, in order. `policy` is where the policy is; `None` where another
/// one was named. What cannot be read counts as different from what can.
pub fn uncommitted(repo: &Repo, commit: &CommitId, policy: Option<&str>) -> Vec<String> {
    let tree = FileSource::WorkingTree(repo.root().to_owned());
    let committed = FileSource::Commit(repo, commit.clone());
    let single = [AGENTS_FILE].iter().chain(IGNORE_FILES).chain(PROJECT_FILES).copied();
    let mut paths: BTreeSet<String> = single.chain(policy).map(str::to_owned).collect();
    let folders = AGENT_FOLDERS.iter().map(|folder| folder.path).chain([OWN_FOLDER]);
    for folder in folders {
        for source in [&tree, &committed] {
            paths.extend(source.paths_below(folder).unwrap_or_default());
        }
    }
    // It counts only where it is the policy of the run.
    if policy != Some(POLICY_FILE) {
        paths.remove(POLICY_FILE);
    }
    let text = |source: &FileSource<'_>, path: &str| {
        source.file(path).map(|file| file.map(|file| file.text)).ok()
    };
    paths.retain(|path| text(&tree, path) != text(&committed, path));
    paths.into_iter().collect()
}

/// Says which files differ, in one line; `None` where none does. `commit` is what a run reads.
pub fn note(paths: &[String], commit: &CommitId) -> Option<String> {
    let (first, others) = paths.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => " and one more file".to_owned(),
        count => format!(" and {count} more files"),
    };
    let verb = if others.is_empty() { "differs" } else { "differ" };
    let commit = locum_base::text::head(&commit.0, 12);
    Some(format!("`{first}`{others} {verb} from commit {commit}, and a run reads the commit"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes the checkout behind the commit")]
mod tests {
    use super::{note, uncommitted};
    use locum_workspace::repo::{CommitId, Repo};
    use locum_workspace::seed;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_differs_from_the_commit_is_named_whichever_side_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            (".locum/policy.yml", "version: 1\n"),
            (".locum/jobs/a.yml", "a\n"),
            (".roomodes", "{}"),
            ("src/a", "a\n"),
        ];
        let commit = seed::repository(folder.path(), &files, "first").unwrap();
        let repo = Repo::open(folder.path()).unwrap();
        let found = |policy| uncommitted(&repo, &commit, policy);
        assert_eq!(found(Some(".locum/policy.yml")), Vec::<String>::new());
        let at = |path: &str| folder.path().join(path);
        std::fs::write(at("src/a"), "b\n").unwrap();
        std::fs::write(at(".locum/policy.yml"), "version: 2\n").unwrap();
        std::fs::write(at(".rooignore"), "secrets\n").unwrap();
        std::fs::remove_file(at(".locum/jobs/a.yml")).unwrap();
        std::fs::write(at(".roomodes"), b"\xff").unwrap();
        let different = [".locum/jobs/a.yml", ".locum/policy.yml", ".rooignore", ".roomodes"];
        assert_eq!(found(Some(".locum/policy.yml")), different);
        assert_eq!(found(None), [different[0], different[2], different[3]]);
    }

    #[test]
    fn one_line_names_the_first_and_counts_the_others() {
        let commit = CommitId("0123456789abcdef".to_owned());
        let said = |paths: &[&str]| {
            note(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>(), &commit)
        };
        assert_eq!(said(&[]), None);
        assert_eq!(
            said(&["a"]).unwrap(),
            "`a` differs from commit 0123456789ab, and a run reads the commit"
        );
        assert!(said(&["a", "b"]).unwrap().starts_with("`a` and one more file differ from"));
        assert!(said(&["a", "b", "c"]).unwrap().starts_with("`a` and 2 more files differ from"));
    }
}
