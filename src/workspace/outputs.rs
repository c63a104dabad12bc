//! Build output that is wanted in the checkout at the end, although git ignores it.
//!
//! In: a layer, and who judges what is in it. Out: files and links of the checkout, and what was
//! left out of it, with the reasons. What somebody else changed since the run began stays theirs.

use std::collections::BTreeMap;
use std::convert::Infallible;

use git2::FileMode;

use crate::git_data::makes_git_data;
use crate::layer::kept::BroughtFiles;
use crate::layer::{Layer, on_layer};
use crate::links::{self, OnTheWay};
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::OnDisk;
use locum_base::path::RepoPath;

/// Who judges build output.
pub trait OutputJudge {
    /// Whether it is asked for.
    fn is_named(&self, path: &RepoPath) -> bool;
    /// Why a file may not be brought; `None` when it may.
    fn refusal(&self, path: &RepoPath) -> Option<String>;
    /// Why a link may not lead to a path; `None` when it may.
    fn link_refusal(&self, leads_to: &RepoPath) -> Option<String>;
}

/// Files in a layer that git ignores.
#[derive(Default)]
struct IgnoredFiles {
    paths: Vec<RepoPath>,
    /// Names that are no path, each with the folder it is in.
    unnamed: Vec<(RepoPath, String)>,
}

impl Repo {
    /// Brings files that git ignores from a layer into the checkout: those that are asked for and
    /// may be brought. `base` is a commit with what the run itself wrote. Returns what was left out
    /// of these, each with the reason; where a name is no path, its folder. What is gone in the
    /// layer stays in the checkout.
    ///
    /// # Errors
    /// When the layer cannot be looked through.
    pub fn bring_outputs(
        &self,
        layer: &Layer,
        base: Option<&CommitId>,
        judge: &dyn OutputJudge,
    ) -> Result<BTreeMap<RepoPath, String>, RepoError> {
        let (mut left_out, mut brought) = (BTreeMap::new(), layer.brought());
        let IgnoredFiles { paths, unnamed } = self.ignored_files_in(layer)?;
        for path in paths {
            if judge.is_named(&path)
                && let Err(why) = self.bring_output(layer, &path, (base, judge), &mut brought)
            {
                left_out.insert(path, why);
            }
        }
        layer.note_brought(&brought).map_err(|source| on_layer(&RepoPath::root(), source))?;
        let is_named = |folder: &RepoPath| {
            // One that is named by what lies in it counts as well.
            folder.join("name").is_ok_and(|inner| judge.is_named(&inner))
        };
        for (folder, name) in unnamed.into_iter().filter(|(folder, _)| is_named(folder)) {
            let why = || format!("the name `{}` in it is not taken", name.escape_debug());
            left_out.entry(folder).or_insert_with(why);
        }
        Ok(left_out)
    }

    fn bring_output(
        &self,
        layer: &Layer,
        path: &RepoPath,
        (base, judge): (Option<&CommitId>, &dyn OutputJudge),
        brought: &mut BroughtFiles,
    ) -> Result<(), String> {
        if let Some(why) = judge.refusal(path) {
            return Err(why);
        }
        let is_there = |path: &RepoPath| {
            layer.facts(path).is_ok()
                || self.checkout.entry(path).is_ok_and(|entry| entry.is_some())
        };
        if let Some(folder) = makes_git_data(path, is_there) {
            return Err(format!("git would take `{folder}` for a repository of its own"));
        }
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let stored = match layer.stored(path).map_err(|error| said(&error))? {
            OnDisk::Stored(stored) => stored,
            OnDisk::Other | OnDisk::Nothing => return Ok(()),
        };
        if stored.mode == FileMode::Link {
            let outside = "it is a link that leads out of the repository, or nowhere";
            let leads_to = self.led_to(layer, path).ok_or(outside)?;
            if let Some(why) = judge.link_refusal(&leads_to) {
                return Err(why);
            }
        }
        // What was brought before the run was stopped and resumed is its own.
        let changed_ns = || self.stamp(path).map(|stamp| stamp.changed_ns);
        let is_own = brought.contains_key(path) && brought.get(path).copied() == changed_ns();
        let of_others = || self.is_output_of_others(layer, path, (&stored, base));
        if !is_own && of_others().map_err(|error| said(&error))? {
            return Err("somebody else changed it since the run began".to_owned());
        }
        self.checkout.put_stored(path, Some(&stored)).map_err(|error| said(&error))?;
        brought.extend(changed_ns().map(|changed_ns| (path.clone(), changed_ns)));
        Ok(())
    }

    /// Follows a link of a layer and every other link on its way, there or in the checkout, as
    /// text; `None` where it leads out, or around.
    fn led_to(&self, layer: &Layer, link: &RepoPath) -> Option<RepoPath> {
        let look = |at: &RepoPath| {
            let stored = match layer.stored(at) {
                Ok(OnDisk::Nothing) => self.checkout.stored_link(at),
                Ok(OnDisk::Stored(stored)) => Some(stored),
                Ok(OnDisk::Other) | Err(_) => None,
            };
            Ok::<_, Infallible>(match stored.filter(|stored| stored.mode == FileMode::Link) {
                Some(stored) => OnTheWay::Link { target: stored.content, roots: Vec::new() },
                None => OnTheWay::NotALink,
            })
        };
        links::follow(link.parent(), link.name()?, look).ok()
    }

    /// Returns the files in a layer that git ignores.
    fn ignored_files_in(&self, layer: &Layer) -> Result<IgnoredFiles, RepoError> {
        let mut found = IgnoredFiles::default();
        let mut ahead = vec![(RepoPath::root(), false)];
        while let Some((folder, inside)) = ahead.pop() {
            let names = match layer.names(&folder) {
                Ok(names) => names,
                Err(source) if folder.is_root() => return Err(on_layer(&folder, source)),
                // What is too deep down to be looked at is no output.
                Err(_) => continue,
            };
            for name in names {
                let path = match name {
                    Ok(path) => path,
                    Err(at) => {
                        let name = at.file_name().unwrap_or_default().to_string_lossy();
                        found.unnamed.extend(inside.then(|| (folder.clone(), name.into_owned())));
                        continue;
                    }
                };
                let Ok(facts) = layer.facts(&path) else { continue };
                if path.name() == Some(".git") {
                    found.paths.extend(inside.then_some(path));
                    continue;
                }
                if facts.is_dir() && self.other_repository(&path)?.is_some() {
                    continue;
                }
                let ignored = inside || self.stays(layer, &path, facts.is_dir())?;
                if facts.is_dir() {
                    ahead.push((path, ignored));
                } else if ignored {
                    found.paths.push(path);
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes a layer by hand")]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::MetadataExt as _;

    use pretty_assertions::assert_eq;

    use super::OutputJudge;
    use crate::fixture::RepoFixture;
    use crate::layer::Layer;
    use crate::write::FILE_LIMIT_BYTES;
    use locum_base::path::RepoPath;

    /// Wants all but `target`, and refuses what is called as git's, or a secret.
    struct Judge;

    impl OutputJudge for Judge {
        fn is_named(&self, path: &RepoPath) -> bool {
            !path.as_str().starts_with("target")
        }

        fn refusal(&self, path: &RepoPath) -> Option<String> {
            path.parts().any(|part| part == ".git").then(|| "git's own".to_owned())
        }

        fn link_refusal(&self, leads_to: &RepoPath) -> Option<String> {
            self.refusal(leads_to).or_else(|| leads_to.is_root().then(|| "all of it".to_owned()))
        }
    }

    fn layered(files: &[&str]) -> (tempfile::TempDir, Layer) {
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::open(&folder.path().join("layer")).unwrap();
        layer.begin().unwrap();
        for path in files {
            let at = layer.folders().upper.join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, path).unwrap();
        }
        (folder, layer)
    }

    fn shown(left_out: BTreeMap<RepoPath, String>) -> Vec<(String, String)> {
        left_out.into_iter().map(|(path, why)| (path.to_string(), why)).collect()
    }

    #[test]
    fn what_is_wanted_of_what_git_ignores_is_brought_and_nothing_else() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "dist/\ntarget/\n*.log\n");
        let (_folder, layer) =
            layered(&["dist/a/x", "dist/.git/config", "target/y", "src/z.log", "src/new"]);
        let left_out = fixture.repo.bring_outputs(&layer, None, &Judge).unwrap();
        let there = |path: &str| fixture.root.join(path).exists();
        assert_eq!(
            ["dist/a/x", "src/z.log", "dist/.git", "target", "src/new"].map(there),
            [true, true, false, false, false]
        );
        assert_eq!(shown(left_out), [("dist/.git".to_owned(), "git's own".to_owned())]);
    }

    #[test]
    fn what_somebody_else_changed_since_the_run_began_stays_theirs() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "dist/\n");
        for file in ["dist/old", "aside/renamed", "dist/theirs"] {
            fixture.write(file, "before");
        }
        let (_folder, layer) =
            layered(&["dist/old", "dist/theirs", "dist/new", "dist/r/renamed", "dist/n\nx"]);
        let root = &fixture.root;
        let changed = |at: &std::path::Path| {
            let facts = std::fs::metadata(at).unwrap();
            (facts.ctime(), facts.ctime_nsec())
        };
        // The kernel's clock for files moves in steps.
        while changed(&root.join("dist/theirs")) <= changed(&layer.kept().with_file_name("made")) {
            fixture.write("dist/theirs", "of a person");
        }
        std::fs::rename(root.join("aside"), root.join("dist/r")).unwrap();
        let left_out = shown(fixture.repo.bring_outputs(&layer, None, &Judge).unwrap());
        let why = "somebody else changed it since the run began".to_owned();
        assert_eq!(
            left_out,
            [
                ("dist".to_owned(), r"the name `n\nx` in it is not taken".to_owned()),
                ("dist/r/renamed".to_owned(), why.clone()),
                ("dist/theirs".to_owned(), why),
            ]
        );
        for (file, text) in [
            ("dist/theirs", "of a person"),
            ("dist/r/renamed", "before"),
            ("dist/old", "dist/old"),
            ("dist/new", "dist/new"),
        ] {
            assert_eq!(std::fs::read_to_string(root.join(file)).unwrap(), text, "{file}");
        }
    }

    #[test]
    fn links_that_lead_where_nothing_may_be_read_are_left_out_and_named() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "dist/\n");
        fixture.link("../.git", "src/door");
        let (_folder, layer) = layered(&["dist/a/x"]);
        for (name, target) in [
            ("etc", "/etc"),
            ("environ", "/proc/self/environ"),
            ("up", "../../other"),
            ("settings", "../.git/config"),
            ("door", "../src/door/config"),
            ("all", ".."),
            ("loop", "loop"),
            ("x", "a/x"),
            ("again", "x"),
            ("missing", "a/y"),
            ("source", "../src/lib.rs"),
        ] {
            std::os::unix::fs::symlink(target, layer.folders().upper.join("dist").join(name))
                .unwrap();
        }
        let left_out = fixture.repo.bring_outputs(&layer, None, &Judge).unwrap();
        let names: Vec<&str> = left_out.keys().filter_map(|path| path.name()).collect();
        assert_eq!(names, ["all", "door", "environ", "etc", "loop", "settings", "up"]);
        for name in ["x", "again", "missing", "source"] {
            assert!(fixture.root.join("dist").join(name).is_symlink(), "{name}");
        }
        assert!(!fixture.root.join("dist/etc").is_symlink());
    }

    #[test]
    fn a_file_that_is_too_large_and_what_git_would_take_for_a_repository_keep_no_other_out() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "dist/\n");
        let (_folder, layer) = layered(&[
            "dist/big",
            "dist/x",
            "dist/b/HEAD",
            "dist/b/config",
            "dist/b/objects/k",
            "dist/b/refs/k",
            "dist/b/other",
        ]);
        let big = layer.folders().upper.join("dist/big");
        let big = std::fs::File::options().write(true).open(big).unwrap();
        big.set_len(FILE_LIMIT_BYTES + 1).unwrap();
        let left_out = fixture.repo.bring_outputs(&layer, None, &Judge).unwrap();
        let names: Vec<&str> = left_out.keys().map(RepoPath::as_str).collect();
        assert_eq!(
            names,
            ["dist/b/HEAD", "dist/b/config", "dist/b/objects/k", "dist/b/refs/k", "dist/big"]
        );
        assert!(fixture.root.join("dist/x").exists() && fixture.root.join("dist/b/other").exists());
    }
}
