//! `list_files`: lists a folder, or everything below it.
//!
//! What lies nearest comes first: a list that is cut still shows every folder of the upper levels.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::{FOLDER, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::opened::{ListedPath, OpenedFolder};
use crate::tools::search::walk::SkippedFolders;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Most entries listed.
pub const ENTRY_LIMIT: usize = 200;

/// Levels below the folder that are listed at most.
const DEPTH_LIMIT: usize = 64;

/// A folder about to be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFiles {
    place: ResolvedPath,
    recursive: bool,
}

impl Tool for ListFiles {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "List a folder, or with `recursive` what lies below it, at \
        most 200 entries; folders end in `/`. Ignored files, dependencies and build output \
        are left out.";
    const REQUIRED: &'static [&'static str] = &["path"];
    const PEERS: PeerWords =
        PeerWords { renames: &[FOLDER], hook_names: &["LS"], ..PeerWords::NONE };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Relative to the repository root; `.` for the root" },
            "recursive": { "type": "boolean" }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place = arguments.optional_place(
            "path",
            "the folder, relative to the repository root",
            context,
        )?;
        let recursive =
            arguments.flag("recursive", false, "whether to list what lies below, too")?;
        arguments.finish()?;
        Ok(Self { place, recursive })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("list {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let folder = OpenedFolder::open_folder("list", &self.place, permit, context)?;
        let (mut entries, cut) = if self.recursive {
            deep(&folder, context)
        } else {
            folder.level(SkippedFolders::Git, 0, ENTRY_LIMIT, |it| (context.visible)(&it.path))
        };
        entries.sort_by(|left, right| compare(&left.path, &right.path));
        Ok(Observation::said(format!("{}{}", render(&entries, cut), folder.unnamed_note())))
    }
}

/// Goes down level by level until nothing is left or the list is full.
fn deep(folder: &OpenedFolder<'_>, context: ToolContext<'_>) -> (Vec<ListedPath>, bool) {
    let mut entries: Vec<ListedPath> = Vec::new();
    for depth in 0..DEPTH_LIMIT {
        let room = ENTRY_LIMIT - entries.len();
        let visible = |entry: &ListedPath| (context.visible)(&entry.path);
        let (added, cut) = folder.level(SkippedFolders::Bulk, depth, room, visible);
        let is_last = !added.iter().any(|entry| entry.is_folder);
        entries.extend(added);
        if cut || is_last {
            return (entries, cut);
        }
    }
    (entries, true)
}

fn render(entries: &[ListedPath], cut: bool) -> String {
    if entries.is_empty() {
        return "No files found.".to_owned();
    }
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| format!("{}{}", entry.path, if entry.is_folder { "/" } else { "" }))
        .collect();
    let tail = "\n\n(File list truncated. Use list_files on specific subdirectories if you need \
                to explore further.)";
    format!("{}{}", lines.join("\n"), if cut { tail } else { "" })
}

/// Orders paths part by part, numbers in them by value, without regard to case.
fn compare(left: &RepoPath, right: &RepoPath) -> Ordering {
    let parts = |path: &RepoPath| path.parts().map(sort_key).collect::<Vec<_>>();
    parts(left).cmp(&parts(right)).then_with(|| left.cmp(right))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum NameChunk {
    Number(u64),
    Text(String),
}

fn sort_key(part: &str) -> Vec<NameChunk> {
    let mut pieces: Vec<NameChunk> = Vec::new();
    for letter in part.chars().flat_map(char::to_lowercase) {
        let digit = letter.to_digit(10).filter(|_| letter.is_ascii_digit()).map(u64::from);
        match (digit, pieces.last_mut()) {
            (Some(digit), Some(NameChunk::Number(number))) => {
                *number = number.saturating_mul(10).saturating_add(digit)
            }
            (Some(digit), _) => pieces.push(NameChunk::Number(digit)),
            (None, Some(NameChunk::Text(text))) => text.push(letter),
            (None, _) => pieces.push(NameChunk::Text(letter.to_string())),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::ENTRY_LIMIT;
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;

    fn list(fixture: &ToolFixture, at: &str, recursive: bool) -> String {
        fixture
            .call(
                "list_files",
                &serde_json::json!({ "path": at, "recursive": recursive }).to_string(),
            )
            .text
    }

    #[test]
    fn lists_without_what_is_ignored_or_bulky() {
        let fixture = ToolFixture::new(&[
            (".gitignore", "*.log\nbuild/\n"),
            (".github/ci.yml", ""),
            ("a.log", ""),
            ("build/x", ""),
            ("file10", ""),
            ("File9", ""),
            ("node_modules/m/index.js", ""),
            ("src/deep/b.rs", ""),
            ("src/a.rs", ""),
        ]);
        assert_eq!(
            list(&fixture, ".", true),
            ".gitignore\nFile9\nfile10\nsrc/\nsrc/a.rs\nsrc/deep/\nsrc/deep/b.rs"
        );
        assert_eq!(
            list(&fixture, ".", false),
            ".github/\n.gitignore\nFile9\nfile10\nnode_modules/\nsrc/"
        );
        assert_eq!(list(&fixture, "src", false), "src/a.rs\nsrc/deep/");
        assert_eq!(
            list(&fixture, "node_modules", true),
            "node_modules/m/\nnode_modules/m/index.js"
        );
        assert_eq!(list(&fixture, "build", true), "build/x");
        assert_eq!(list(&fixture, "File9", false), "Cannot list `File9`: it is not a folder.");
        assert_eq!(list(&fixture, "none", false), "Cannot list `none`: it does not exist.");
    }

    #[test]
    fn a_cut_list_keeps_the_upper_levels() {
        let many: Vec<String> = (0..300).map(|file| format!("a/f{file}")).collect();
        let mut files: Vec<(&str, &str)> = many.iter().map(|file| (file.as_str(), "")).collect();
        files.extend([("z/y/x", ""), ("last", "")]);
        let text = list(&ToolFixture::new(&files), ".", true);
        assert_eq!(
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('(')).count(),
            ENTRY_LIMIT
        );
        assert!(
            text.starts_with("a/\na/f0\na/f1\na/f10\n")
                || text.starts_with("a/\na/f0\na/f1\na/f2\n"),
            "{text}"
        );
        assert!(
            text.contains("\nlast\n")
                && text.contains("\nz/\n")
                && text.contains("File list truncated"),
            "{text}"
        );
    }

    #[test]
    fn leaves_out_what_may_not_be_read() {
        let mut fixture =
            ToolFixture::new(&[("src/a.rs", ""), ("src/key.pem", ""), ("secret/x", "")]);
        fixture.hidden = vec!["src/key.pem", "secret", "secret/x"];
        assert_eq!(list(&fixture, ".", true), "src/\nsrc/a.rs");
    }
}
