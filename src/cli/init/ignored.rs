//! Whether git would leave out of a commit what `locum init` wrote, or take in what builds write,
//! and the lines that change it.
//!
//! In: a repository and paths. Out: lines for the end of the top `.gitignore`. For what
//! `locum init` wrote every ignore file that git reads counts: those of the checkout,
//! `.git/info/exclude` and the user's own. For what builds write those of the checkout count, as
//! others have no more.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use locum_base::path::RepoPath;
use locum_policy::starter::build_output::BuildOutput;
use locum_workspace::repo::Repo;

/// Returns what has to be at the end of the top `.gitignore` for git to take these files in: as few
/// lines as do; none where it takes them anyway.
pub(super) fn lines_to_keep(repo: &Repo, paths: &[&str], global: Option<PathBuf>) -> Vec<String> {
    let root = repo.root();
    let exclude = repo.git_folders().pop().map(|git| git.join("info/exclude"));
    let last: Vec<Gitignore> =
        [exclude, global].into_iter().flatten().map(|file| matcher(root, &file, &[])).collect();
    let mut lines: Vec<String> = Vec::new();
    for path in paths.iter().filter_map(|path| RepoPath::parse(path).ok()) {
        // Git keeps what it has, whatever its ignore files say.
        if repo.tracked(|tracked| *tracked == path, 1).is_ok_and(|found| !found.is_empty()) {
            continue;
        }
        // A file below a folder that is left out cannot be brought back by itself.
        let folders =
            path.as_str().match_indices('/').filter_map(|(end, _)| path.as_str().get(..=end));
        for part in folders.chain([path.as_str()]) {
            if is_ignored(root, part, (&lines, &last)) {
                lines.push(format!("!/{part}"));
            }
        }
    }
    lines
}

/// Returns the lines without which git takes in what builds and tests write; none for what the
/// repository holds on purpose.
pub(super) fn lines_to_ignore(repo: &Repo, outputs: &[BuildOutput]) -> Vec<&'static str> {
    let mut lines: Vec<&'static str> = Vec::new();
    for BuildOutput { file, line } in outputs {
        let Ok(path) = RepoPath::parse(file) else { continue };
        let folder = path.parent();
        let is_held =
            || repo.tracked(|own| own.is_within(&folder), 1).is_ok_and(|found| !found.is_empty());
        let mut parts = file.match_indices('/').filter_map(|(end, _)| file.get(..=end));
        let is_ignored = |part: &str| is_ignored(repo.root(), part, (&[], &[]));
        if !lines.contains(line) && !parts.any(is_ignored) && !is_ignored(file) && !is_held() {
            lines.push(line);
        }
    }
    lines
}

/// Whether a folder (with a slash at its end) or file is left out by its own name, with these lines
/// at the end of the top `.gitignore`; what counts after that comes last.
fn is_ignored(root: &Path, part: &str, (lines, last): (&[String], &[Gitignore])) -> bool {
    let name = part.trim_end_matches('/');
    // Those nearest to the file count first.
    let folders = name.rmatch_indices('/').filter_map(|(end, _)| name.get(..end));
    let mut near: Vec<Gitignore> = folders
        .map(|folder| root.join(folder))
        .map(|folder| matcher(&folder, &folder.join(".gitignore"), &[]))
        .collect();
    near.push(matcher(root, &root.join(".gitignore"), lines));
    let found = near.iter().chain(last).find_map(|matcher| {
        let found = matcher.matched(root.join(name), part.ends_with('/'));
        (!found.is_none()).then(|| found.is_ignore())
    });
    found.unwrap_or(false)
}

fn matcher(folder: &Path, file: &Path, lines: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    // What cannot be read leaves nothing out.
    let _ = builder.add(file);
    for line in lines {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::{lines_to_ignore, lines_to_keep};
    use locum_policy::starter::build_output::BuildOutput;
    use locum_testing::repository::init;
    use locum_workspace::repo::Repo;
    use pretty_assertions::assert_eq;

    #[test]
    fn each_ignore_file_that_swallows_a_file_is_answered_by_the_fewest_lines() {
        for (file, text, expected) in [
            (".gitignore", "target/\n", &[][..]),
            (".gitignore", "/*\n!/src\n", &["!/.locum/"]),
            (".gitignore", ".*\n", &["!/.locum/"]),
            (".gitignore", ".locum\n", &["!/.locum/"]),
            (".gitignore", "*.yml\n", &["!/.locum/policy.yml"]),
            (".gitignore", ".*\n*.yml\n", &["!/.locum/", "!/.locum/policy.yml"]),
            (".git/info/exclude", ".locum/\n", &["!/.locum/"]),
            (".locum/.gitignore", "jobs\n", &[]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            init(folder.path());
            for folder in [".git/info", ".locum"].map(|name| folder.path().join(name)) {
                std::fs::create_dir_all(folder).unwrap();
            }
            std::fs::write(folder.path().join(file), text).unwrap();
            let repo = Repo::open(folder.path()).unwrap();
            let lines = lines_to_keep(&repo, &[".locum/policy.yml"], None);
            assert_eq!(lines, expected, "{file}: {text}");
            // They do what they say: nothing is left to bring back.
            let ignore = folder.path().join(".gitignore");
            let before = std::fs::read_to_string(&ignore).unwrap_or_default();
            std::fs::write(&ignore, format!("{before}{}\n", lines.join("\n"))).unwrap();
            assert_eq!(
                lines_to_keep(&repo, &[".locum/policy.yml"], None),
                [""; 0],
                "{file}: {text}"
            );
        }
    }

    #[test]
    fn build_output_is_named_unless_an_ignore_file_of_the_checkout_swallows_it() {
        for (file, text, expected) in [
            ("README", "", &["node_modules/", "__pycache__/"][..]),
            (".gitignore", "node_modules\n*.pyc\n", &["__pycache__/"]),
            (".gitignore", "web/node_modules/*\n__pycache__/\n", &[]),
            ("web/.gitignore", "/node_modules\n", &["__pycache__/"]),
            (".gitignore", "/node_modules/\n", &["node_modules/", "__pycache__/"]),
            // What is the user's own does not count where the Action runs.
            (".git/info/exclude", "node_modules/\n", &["node_modules/", "__pycache__/"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            init(folder.path());
            for folder in [".git/info", "web"].map(|name| folder.path().join(name)) {
                std::fs::create_dir_all(folder).unwrap();
            }
            std::fs::write(folder.path().join(file), text).unwrap();
            let repo = Repo::open(folder.path()).unwrap();
            let output = |file: &str, line| BuildOutput { file: file.to_owned(), line };
            let outputs = [
                output("web/node_modules/x", "node_modules/"),
                output("api/__pycache__/x", "__pycache__/"),
                output("lib/__pycache__/x", "__pycache__/"),
            ];
            assert_eq!(lines_to_ignore(&repo, &outputs), expected, "{file}: {text}");
        }
    }
}
