//! What build tools make directly in a checkout's root: where nothing new can be made there in the
//! sandbox, it is made before.
//!
//! In: the root, and other folders that are closed alike. Out: empty folders and files at the names
//! tools are known to use. Whatever is still empty in the end is removed.
#![expect(
    clippy::disallowed_methods,
    reason = "an empty file or folder that was made here and not used is removed"
)]

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// What a tool makes next to the file it is known by.
struct BuildTool {
    known_by: &'static str,
    folders: &'static [&'static str],
    files: &'static [&'static str],
}

const TOOLS: &[BuildTool] = &[
    BuildTool { known_by: "Cargo.toml", folders: &["target"], files: &["Cargo.lock"] },
    BuildTool { known_by: "package.json", folders: &["node_modules"], files: &[] },
    BuildTool { known_by: "go.mod", folders: &[], files: &["go.sum"] },
    BuildTool { known_by: "pyproject.toml", folders: &["__pycache__"], files: &[] },
    BuildTool { known_by: "setup.py", folders: &["__pycache__"], files: &[] },
    BuildTool { known_by: "pom.xml", folders: &["target"], files: &[] },
    BuildTool { known_by: "build.gradle", folders: &["build"], files: &[] },
    BuildTool { known_by: "build.gradle.kts", folders: &["build"], files: &[] },
    BuildTool { known_by: "CMakeLists.txt", folders: &["build"], files: &[] },
    BuildTool { known_by: "mix.exs", folders: &["_build", "deps"], files: &[] },
];

/// What was made. Dropping it removes what is still empty.
#[derive(Debug, Default)]
pub(crate) struct ToolOutputs {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl ToolOutputs {
    /// Makes what the tools known by their files in `folders` need there. What cannot be made the
    /// tool will complain about.
    pub(crate) fn make(folders: &BTreeSet<PathBuf>) -> Self {
        let mut made = Self::default();
        folders.iter().for_each(|folder| made.make_in(folder));
        made
    }

    fn make_in(&mut self, root: &Path) {
        for tool in TOOLS.iter().filter(|tool| root.join(tool.known_by).is_file()) {
            for folder in tool.folders.iter().map(|name| root.join(name)) {
                if fs::create_dir(&folder).is_ok() {
                    self.folders.push(folder);
                }
            }
            for file in tool.files.iter().map(|name| root.join(name)) {
                if OpenOptions::new().write(true).create_new(true).open(&file).is_ok() {
                    self.files.push(file);
                }
            }
        }
    }
}

impl Drop for ToolOutputs {
    fn drop(&mut self) {
        for file in &self.files {
            if fs::symlink_metadata(file).is_ok_and(|facts| facts.is_file() && facts.len() == 0) {
                let _ = fs::remove_file(file);
            }
        }
        for folder in &self.folders {
            // Fails when it is in use.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ToolOutputs;

    #[test]
    fn what_was_not_used_is_removed_and_what_was_stays() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("Cargo.toml"), "").unwrap();
        std::fs::write(root.path().join("go.mod"), "").unwrap();
        let made = ToolOutputs::make(&[root.path().to_owned()].into());
        assert!(root.path().join("target").is_dir() && root.path().join("go.sum").is_file());
        assert!(!root.path().join("node_modules").exists());
        std::fs::write(root.path().join("Cargo.lock"), "used").unwrap();
        drop(made);
        assert!(!root.path().join("target").exists() && !root.path().join("go.sum").exists());
        assert!(root.path().join("Cargo.lock").exists());
        drop(ToolOutputs::make(&[root.path().to_owned()].into()));
        assert!(root.path().join("Cargo.lock").exists());
    }
}
