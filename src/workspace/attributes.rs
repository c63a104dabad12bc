//! What `.gitattributes` of a commit say about a path: which line ends the checkout has where git
//! keeps `\n`, and whether a filter stands between the two.
//!
//! In: the tree of a commit and paths. Out: content as git keeps it from content as it lies in the
//! checkout, and back. Read from the commit, never from the checkout, so that what a run writes
//! there has no say. `text=auto` alone changes nothing: where it would, git asks the index.

use std::collections::BTreeMap;
use std::iter::successors;

use git2::{FileMode, Repository, Tree};
use globset::{GlobBuilder, GlobMatcher};

use crate::repo::RepoError;
use crate::stored::StoredFile;
use crate::trees::stored_in;
use locum_base::path::RepoPath;

/// Largest `.gitattributes` that is read, in bytes; a larger one says nothing.
const FILE_LIMIT_BYTES: usize = 256 * 1024;

/// The attributes of a commit, read folder by folder on first use.
pub(super) struct Attributes<'a> {
    git: &'a Repository,
    tree: &'a Tree<'a>,
    folders: BTreeMap<RepoPath, Vec<AttributeRule>>,
}

/// The attributes of one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PathAttributes {
    text: Option<TextAttribute>,
    crlf: Option<bool>,
    /// The filter its content goes through, `lfs` for one.
    pub(super) filter: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAttribute {
    Yes,
    No,
    Auto,
}

#[derive(Debug)]
struct AttributeRule {
    pattern: GlobMatcher,
    /// True when the pattern names a path below the file's folder, false when it names a file
    /// anywhere below.
    anchored: bool,
    says: Vec<String>,
}

impl<'a> Attributes<'a> {
    /// Prepares for questions about a commit's tree.
    pub(super) fn new(git: &'a Repository, tree: &'a Tree<'a>) -> Self {
        Self { git, tree, folders: BTreeMap::new() }
    }

    /// Returns what is said about a path: of two rules the later one counts, of two files the
    /// nearer one.
    ///
    /// # Errors
    /// When git cannot read the tree.
    pub(super) fn of(&mut self, path: &RepoPath) -> Result<PathAttributes, RepoError> {
        let above = |folder: &RepoPath| (!folder.is_root()).then(|| folder.parent());
        let folders: Vec<RepoPath> = successors(Some(path.parent()), above).collect();
        let mut found = PathAttributes::default();
        for folder in folders.into_iter().rev() {
            let below = path
                .as_str()
                .get(if folder.is_root() { 0 } else { folder.as_str().len() + 1 }..)
                .unwrap_or_default();
            let name = path.name().unwrap_or_default();
            for rule in self.rules_in(&folder)? {
                if rule.pattern.is_match(if rule.anchored { below } else { name }) {
                    rule.says.iter().for_each(|word| found.hear(word));
                }
            }
        }
        Ok(found)
    }

    fn rules_in(&mut self, folder: &RepoPath) -> Result<&[AttributeRule], RepoError> {
        if !self.folders.contains_key(folder) {
            let file = folder.join(".gitattributes").ok();
            let stored =
                file.map(|file| stored_in(self.git, self.tree, &file)).transpose()?.flatten();
            let rules = match stored {
                Some(StoredFile { mode, content })
                    if mode != FileMode::Link && content.len() <= FILE_LIMIT_BYTES =>
                {
                    String::from_utf8_lossy(&content).lines().filter_map(parse_line).collect()
                }
                _ => Vec::new(),
            };
            self.folders.insert(folder.clone(), rules);
        }
        Ok(self.folders.get(folder).map(Vec::as_slice).unwrap_or_default())
    }
}

impl PathAttributes {
    /// Whether what git keeps of a file has gone through a filter. A link has not.
    pub(super) fn is_filtered(&self, kept: &StoredFile) -> bool {
        self.filter.is_some() && kept.mode != FileMode::Link
    }

    /// Whether a checkout may have other content than git keeps.
    pub(super) fn converts(&self) -> bool {
        self.filter.is_some() || self.text.is_some() || self.crlf.is_some()
    }

    /// Returns the content git keeps for what lies in the checkout.
    pub(super) fn kept(&self, stored: StoredFile) -> StoredFile {
        if !self.has_line_ends(&stored) {
            return stored;
        }
        StoredFile { content: with_line_ends(&stored.content, b"\n"), ..stored }
    }

    /// Returns the content of the checkout for what git keeps.
    pub(super) fn checked_out(&self, stored: StoredFile) -> StoredFile {
        if self.crlf != Some(true) || !self.has_line_ends(&stored) {
            return stored;
        }
        StoredFile { content: with_line_ends(&stored.content, b"\r\n"), ..stored }
    }

    fn has_line_ends(&self, stored: &StoredFile) -> bool {
        match (self.text, self.crlf) {
            _ if stored.mode == FileMode::Link => false,
            (Some(TextAttribute::No), _) | (None | Some(TextAttribute::Auto), None) => false,
            (Some(TextAttribute::Yes), _) => true,
            (None | Some(TextAttribute::Auto), Some(_)) => !stored.content.contains(&0),
        }
    }

    fn hear(&mut self, word: &str) {
        match word {
            "text" => self.text = Some(TextAttribute::Yes),
            "-text" | "binary" => self.text = Some(TextAttribute::No),
            "!text" => self.text = None,
            "text=auto" => self.text = Some(TextAttribute::Auto),
            "eol=crlf" => self.crlf = Some(true),
            "eol=lf" => self.crlf = Some(false),
            "-eol" | "!eol" => self.crlf = None,
            "-filter" | "!filter" => self.filter = None,
            word => {
                if let Some(filter) = word.strip_prefix("filter=") {
                    self.filter = Some(filter.to_owned());
                }
            }
        }
    }
}

/// Reads one line; comments, macros and negative patterns, which git ignores too, say nothing.
fn parse_line(line: &str) -> Option<AttributeRule> {
    let line = line.trim();
    let (pattern, says) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once([' ', '\t'])?,
    };
    if pattern.is_empty() || pattern.starts_with(['#', '!', '[']) {
        return None;
    }
    let anchored = pattern.trim_end_matches('/').contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let glob =
        GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build().ok()?;
    Some(AttributeRule {
        pattern: glob.compile_matcher(),
        anchored,
        says: says.split_whitespace().map(str::to_owned).collect(),
    })
}

/// Returns the lines of a content, each with this end.
fn with_line_ends(content: &[u8], end: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(text) => {
                written.extend_from_slice(text.strip_suffix(b"\r").unwrap_or(text));
                written.extend_from_slice(end);
            }
            None => written.extend_from_slice(line),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use git2::FileMode;

    use super::Attributes;
    use crate::fixture::{RepoFixture, path};
    use crate::stored::StoredFile;

    fn file(content: &[u8]) -> StoredFile {
        StoredFile { mode: FileMode::Blob, content: content.to_vec() }
    }

    /// Checks what is kept of `\r\n` and `\n` lines, and how `\n` is checked out.
    fn check(attributes: &str, at: &str, kept: &[u8], checked_out: &[u8]) {
        let fixture = RepoFixture::new();
        fixture.write(".gitattributes", attributes);
        fixture.write("sub/.gitattributes", "*.near -text\n");
        fixture.commit("attributes");
        let tree = fixture.repo.git.head().unwrap().peel_to_tree().unwrap();
        let found = Attributes::new(&fixture.repo.git, &tree).of(&path(at)).unwrap();
        assert_eq!(found.kept(file(b"a\r\nb\nc")), file(kept), "{attributes}{at}");
        assert_eq!(found.checked_out(file(b"a\nb")), file(checked_out), "{attributes}{at}");
    }

    #[test]
    fn knows_which_line_ends_a_path_has() {
        let (raw, clean) = (b"a\r\nb\nc".as_slice(), b"a\nb\nc".as_slice());
        let (lf, crlf) = (b"a\nb".as_slice(), b"a\r\nb".as_slice());
        check("", "x.bat", raw, lf);
        check("*.bat eol=crlf\n", "x.bat", clean, crlf);
        check("*.bat eol=crlf\n", "deep/x.bat", clean, crlf);
        check("*.bat eol=crlf\n", "x.sh", raw, lf);
        check("*.bat text eol=crlf\n*.bat -text\n", "x.bat", raw, lf);
        check("* text=auto\n", "x.bat", raw, lf);
        check("* text=auto eol=crlf\n", "x.bat", clean, crlf);
        check("*.sh text\n", "x.sh", clean, lf);
        check("# *.bat eol=crlf\n", "x.bat", raw, lf);
        check("sub/*.bat eol=crlf\n", "sub/x.bat", clean, crlf);
        check("sub/*.bat eol=crlf\n", "sub/deep/x.bat", raw, lf);
        check("/x.bat eol=crlf\n", "sub/x.bat", raw, lf);
        check("* eol=crlf\n", "sub/x.near", raw, lf);
        check("\"a b\" eol=crlf\n", "a b", clean, crlf);
    }

    #[test]
    fn leaves_binary_content_and_links_alone() {
        let fixture = RepoFixture::new();
        fixture.write(".gitattributes", "* eol=crlf\n*.psd filter=lfs diff=lfs -text\n");
        fixture.commit("attributes");
        let tree = fixture.repo.git.head().unwrap().peel_to_tree().unwrap();
        let mut attributes = Attributes::new(&fixture.repo.git, &tree);
        let found = attributes.of(&path("x")).unwrap();
        let link = StoredFile { mode: FileMode::Link, ..file(b"a\r\n") };
        for stored in [file(b"\0a\r\n"), link] {
            assert_eq!(
                (found.kept(stored.clone()), found.checked_out(stored.clone())),
                (stored.clone(), stored)
            );
        }
        assert_eq!(found.filter, None);
        assert_eq!(attributes.of(&path("x.psd")).unwrap().filter.as_deref(), Some("lfs"));
    }
}
