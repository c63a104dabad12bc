//! Checks: instructions by which a pull request is judged, one file each. In: files and where they
//! lie; out: the checks by name, each with what is wrong with its file. Reads nothing, and judges
//! nothing.

use crate::prompts::PromptFile;
use crate::prompts::head::{FrontMatterKeys, HeadReader};
use locum_base::path::RepoPath;
use locum_files::diagnostic::Diagnostic;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};
use locum_policy::glob::{LetterCase, PathGlob};
use locum_policy::schema::events::{ALL_CHECKS, POLICY_CHECK};

/// Folders of a repository that hold checks; one of an earlier folder takes the place of a later
/// one's.
pub const FOLDERS: &[&str] = &[OWN_FOLDER, ".continue/checks"];
/// The folder whose files may have no mistakes.
const OWN_FOLDER: &str = ".locum/checks";
/// Longest file of a check, in bytes.
const CHECK_LIMIT_BYTES: usize = 64 * 1024;
/// Longest name that is shown, in characters.
const NAME_LIMIT_CHARS: usize = 100;

const KEYS: FrontMatterKeys = FrontMatterKeys {
    read: &["name", "description", "mode", "paths"],
    passed_over: &["model", "tools", "rules", "prompt", "version", "author", "tags", "schema"],
};

/// A check, read from its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// Path of its file.
    pub origin: String,
    /// What policies and commands call it by: the file's name without the ending, which no head
    /// changes.
    pub slug: String,
    /// Its name, as people see it: on the commit it is the name of the check run, by which a branch
    /// can require it.
    pub name: String,
    /// The mode that makes it; where it names none, a run chooses the one for reviews.
    pub mode: Option<String>,
    /// One line for lists.
    pub description: Option<String>,
    /// It is made only where one of these paths changed. Without any it is about every change, also
    /// about one that nobody could look up.
    pub paths: Vec<PathGlob>,
    /// Instructions below the header, which the model reads as a part of its task, with what is
    /// said there of verdicts.
    pub body: String,
}

impl Check {
    /// Returns whether it is about a change of these paths.
    pub fn is_about(&self, changed: &[String]) -> bool {
        let fits = |path: &String| {
            RepoPath::parse(path).is_ok_and(|path| {
                self.paths.iter().any(|glob| glob.matches(&path, LetterCase::Exact))
            })
        };
        self.paths.is_empty() || changed.iter().any(fits)
    }

    /// Returns the task of the run that makes it.
    pub fn task(&self) -> String {
        let about = self.description.as_deref().filter(|about| *about != self.name);
        let about = about.map(|about| format!(" ({about})")).unwrap_or_default();
        format!(
            "Make the check `{}`{about} of the change under review.\n\n{}\n\nYou judge, and \
             change nothing. End with `attempt_completion` and its `verdict`: `pass`, `fail`, or \
             `neutral` where the check is not about this change. In `result`, give the reason in a \
             line, then a list entry with `path:line` for each thing that is wrong. A change that \
             you suggest stands there as a fenced `diff`.",
            self.name, self.body
        )
    }
}

/// A file of a check, read.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFile {
    /// Path of the file.
    pub origin: String,
    /// What policies and commands call it by: the file's name without the ending, whatever the name
    /// is that people see.
    pub slug: String,
    /// What the file says without effect; in our own files that is a mistake.
    pub warnings: Vec<Diagnostic>,
    /// The check, or every mistake in the file.
    pub check: Result<Check, Vec<Diagnostic>>,
}

/// Reads files, the strongest first: the first of a name counts. Files that are no checks are left
/// out. Sorted by name.
pub fn read_all(texts: &[PromptFile]) -> Vec<CheckFile> {
    let mut files: Vec<CheckFile> = Vec::new();
    for (slug, text) in texts.iter().filter_map(|text| Some((slug_of(&text.path)?, text))) {
        if files.iter().all(|known| known.slug != slug) {
            files.push(read(slug, text));
        }
    }
    files.sort_by(|one, other| one.slug.cmp(&other.slug));
    files
}

/// Returns true for the file of a check.
pub fn is_check_file(path: &str) -> bool {
    slug_of(path).is_some()
}

fn slug_of(path: &str) -> Option<&str> {
    let below = FOLDERS.iter().find_map(|folder| path.strip_prefix(folder)?.strip_prefix('/'))?;
    let slug = below.strip_suffix(".md")?;
    (!slug.contains('/') && !matches!(slug, "README" | "Readme" | "ReadMe")).then_some(slug)
}

fn read(slug: &str, file: &PromptFile) -> CheckFile {
    let mut reader = HeadReader::new(file, file.path.starts_with(OWN_FOLDER), CHECK_LIMIT_BYTES);
    let (head, body) = reader.split();
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if slug.is_empty() || slug.starts_with(['.', '-']) || !slug.chars().all(is_plain) {
        let message = format!("`{slug}` is no name of a check: letters, digits, `-`, `_` and `.`");
        reader.wrong(Position::default(), message);
    }
    if [POLICY_CHECK, ALL_CHECKS].contains(&slug) {
        reader.wrong(
            Position::default(),
            format!("`{slug}` means something else where checks are named"),
        );
    }
    if body.is_empty() {
        reader.wrong(Position::default(), "no text says what is checked");
    }
    let (slug, origin) = (slug.to_owned(), file.path.clone());
    let (name, body) = (slug.clone(), body.to_owned());
    let mut check = Check { slug: slug.clone(), name, origin, body, ..Check::default() };
    if let Some(head) = head {
        reader.check_keys(&head, KEYS);
        if let Some(name) = reader.text(&head, "name") {
            let place = head.get("name").map_or(head.place, |node| node.place);
            if name.lines().count() > 1 || name.chars().count() > NAME_LIMIT_CHARS {
                let message =
                    format!("`name` is one line of {NAME_LIMIT_CHARS} characters at most");
                reader.wrong(place, message);
            }
            check.name = name;
        }
        check.description = reader.text(&head, "description");
        check.mode = reader.text(&head, "mode");
        check.paths = paths(&head, &mut reader);
    }
    let (check, warnings) = reader.finish(check);
    CheckFile { slug, origin: file.path.clone(), check, warnings }
}

/// Reads patterns of paths: one, or a list.
fn paths(head: &YamlNode, reader: &mut HeadReader<'_>) -> Vec<PathGlob> {
    let Some(node) = head.get("paths") else { return Vec::new() };
    let nodes = node.list().unwrap_or(std::slice::from_ref(node));
    let mut globs = Vec::new();
    for node in nodes {
        let YamlValue::Text(text) = &node.value else {
            reader.wrong(node.place, format!("`paths` holds patterns, found {}", node.kind()));
            continue;
        };
        match PathGlob::parse(text) {
            Ok(glob) => globs.push(glob),
            Err(error) => reader.wrong(node.place, format!("`{text}`: {error}")),
        }
    }
    globs
}

#[cfg(test)]
mod tests {
    use super::{Check, read_all};
    use crate::prompts::PromptFile;
    use pretty_assertions::assert_eq;

    fn file(path: &str, text: &str) -> PromptFile {
        PromptFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn check(text: &str) -> Result<Check, Vec<String>> {
        let read = read_all(&[file(".locum/checks/api.md", text)]).remove(0).check;
        read.map_err(|mistakes| {
            let line = |one: &locum_files::diagnostic::Diagnostic| {
                format!("{}:{} {}", one.place.line, one.place.column, one.message)
            };
            mistakes.iter().map(line).collect()
        })
    }

    #[test]
    fn a_file_is_a_check_by_the_name_in_its_head() {
        let text = "---\nname: Public API\ndescription: No breaks\nmode: ask\npaths: [src/**, \
                    Cargo.toml]\n---\n\nLook at every `pub`.\n";
        let read = check(text).unwrap();
        assert_eq!(
            (read.slug.as_str(), read.name.as_str(), read.mode.as_deref(), read.body.as_str()),
            ("api", "Public API", Some("ask"), "Look at every `pub`.")
        );
        let about = |path: &str| read.is_about(&[path.to_owned()]);
        assert_eq!(
            [about("src/a/b.rs"), about("Cargo.toml"), about("docs/a.md")],
            [true, true, false]
        );
        let task = read.task();
        assert!(task.starts_with("Make the check `Public API` (No breaks)"), "{task}");
        assert!(task.contains("Look at every `pub`.") && task.contains("`verdict`"), "{task}");
        let plain = check("Only text.").unwrap();
        assert_eq!((plain.name.as_str(), plain.is_about(&[])), ("api", true));
    }

    #[test]
    fn mistakes_have_their_places() {
        for (text, expected) in [
            ("---\nname: a\n---\n", vec!["0:0 no text says what is checked"]),
            ("---\npaths: 3\n---\nx", vec!["2:8 `paths` holds patterns, found a number"]),
            ("---\nmod: ask\n---\nx", vec!["2:1 key `mod` has no effect"]),
            ("---\nname: [a]\n---\nx", vec!["2:7 `name` has to be text, found a list"]),
        ] {
            assert_eq!(check(text).unwrap_err(), expected, "{text}");
        }
        let reserved = read_all(&[file(".locum/checks/policy.md", "x")]).remove(0).check;
        assert!(reserved.unwrap_err()[0].message.contains("means something else"));
    }

    #[test]
    fn checks_of_continue_are_read_and_our_own_come_first() {
        let theirs =
            "---\nname: Security Audit\ndescription: Security Audit\nmodel: m\nodd: 1\n---\nAudit.";
        let files = read_all(&[
            file(".locum/checks/a.md", "ours"),
            file(".continue/checks/a.md", "theirs"),
            file(".continue/checks/audit.md", theirs),
            file(".continue/checks/README.md", "About."),
            file(".continue/checks/deep/b.md", "no"),
            file(".continue/checks/c.txt", "no"),
        ]);
        let found: Vec<_> = files
            .iter()
            .map(|file| (file.slug.as_str(), file.check.as_ref().unwrap().body.as_str()))
            .collect();
        assert_eq!(found, [("a", "ours"), ("audit", "Audit.")]);
        assert_eq!(files[1].warnings.len(), 1, "{:?}", files[1].warnings);
    }
}
