//! `FileEdit`: one change of one file, for every tool that makes one. The file is read and judged
//! against what the model knows of it, the engine asked, the result written, and the answer shows
//! what stands there now.

use std::fmt::Write as _;

use crate::tools::dispatch::CheckedCall;
use crate::tools::files::apply_diff::{AppliedDiff, NearCopies};
use crate::tools::files::edit::texts::TextEdit;
use crate::tools::files::edit::{ChangeError, FileChange, change};
use crate::tools::files::known::{SeenFile, content_hash};
use crate::tools::files::overwrite::{
    DOCUMENT, is_document, refuse_outdated, refuse_unread, seen_after,
};
use crate::tools::files::text::echo::echo;
use crate::tools::files::text::excerpt::together;
use crate::tools::files::text::lines::EditedLines;
use crate::tools::files::write::{created, write};
use crate::tools::files::{FILE_LIMIT_BYTES, is_binary};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::near_names::{WantedEntry, did_you_mean};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::text::counted;
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;

/// Most changed places that an answer names by their lines.
const NAMED_CHANGES_LIMIT: usize = 100;

/// A change of a file about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    place: ResolvedPath,
    change: FileChange,
}

impl FileEdit {
    /// Asks the mode whether the tool may edit there.
    ///
    /// # Errors
    /// The mode's own words.
    pub(crate) fn checked(
        tool: ToolName,
        place: ResolvedPath,
        change: FileChange,
        context: ToolContext<'_>,
    ) -> Result<Self, CallError> {
        let place = place.into_edited(tool, context)?;
        Ok(Self { place, change })
    }

    /// Returns what the policy decides on.
    pub(crate) fn intents(&self) -> Vec<Intent> {
        let read = self.change.reads().then(|| Intent::Read(self.place.real.clone()));
        let mut intents: Vec<Intent> = self.place.edit_intents().chain(read).collect();
        intents.dedup();
        intents
    }

    /// Returns what it does, for readers.
    pub(crate) fn headline(&self) -> String {
        format!("edit {}", self.place.asked)
    }

    /// Makes the change, or asks whether it is meant.
    ///
    /// # Errors
    /// When the file cannot be read or written, or the change does not fit.
    pub(crate) fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let ResolvedPath { asked, real, .. } = &self.place;
        if let Some(content) = self.new_file()
            && let Err(FileError::Missing(_)) =
                context.checkout.read(permit, real, FILE_LIMIT_BYTES)
        {
            write(&self.place, content.as_bytes(), permit, context)?;
            let lines = counted(content.lines().count(), "line");
            return Ok(Observation {
                touched: vec![real.clone()],
                seen: vec![SeenFile::new(real, content.as_bytes())],
                ..Observation::said(format!("Created {} ({lines}).", created(&self.place)))
            });
        }
        let original = self.read(permit, context)?;
        let may_be_read = (context.visible)(real);
        refuse_outdated(real, original.as_bytes(), context)?;
        if self.change.counts() {
            refuse_unread(real, original.as_bytes(), context)?;
        }
        let applied = match self.applied(&original, NearCopies::Ask) {
            Err(question) if question.is_question() => {
                let key = self.confirmation(&original, &question);
                // A person who approved the edit saw where it goes.
                if permit.approval().is_none()
                    && context.given.known.is_some_and(|known| !known.is_confirmed(&key))
                {
                    let why = if may_be_read {
                        question.to_string()
                    } else {
                        "another place may be meant. Send the same call again if this one is."
                            .to_owned()
                    };
                    let text = format!("Nothing was changed in `{asked}`: {why}");
                    return Ok(Observation { unconfirmed: Some(key), ..Observation::failed(text) });
                }
                self.applied(&original, NearCopies::Take)
            }
            done => done,
        };
        let applied = applied.map_err(|error| {
            let why = if may_be_read {
                error.to_string()
            } else {
                "the edit does not fit, and the file may not be read.".to_owned()
            };
            CallError(format!("Nothing was changed in `{asked}`: {why}"))
        })?;
        let limit = usize::try_from(FILE_LIMIT_BYTES).unwrap_or(usize::MAX);
        if applied.content.len() > limit {
            return Err(CallError(format!(
                "Nothing was changed: `{asked}` would have more than {limit} bytes."
            )));
        }
        write(&self.place, applied.content.as_bytes(), permit, context)?;
        let text = notice(&self.place, &original, &applied, may_be_read);
        Ok(Observation {
            touched: vec![real.clone()],
            seen: seen_after(real, original.as_bytes(), applied.content.as_bytes(), context),
            ..Observation::said(text)
        })
    }

    /// Returns what the file would hold after it; `None` where it does not fit.
    pub(crate) fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        let Some(before) = before else {
            return self.new_file().map(|content| content.as_bytes().to_vec());
        };
        let text = std::str::from_utf8(before).ok()?;
        Some(self.applied(text, NearCopies::Take).ok()?.content.into_bytes())
    }

    /// Returns the content of the file that is made by it where there is none: other agents'
    /// tools put a text in the place of nothing.
    fn new_file(&self) -> Option<&str> {
        match &self.change {
            FileChange::Texts(edits) => match edits.as_slice() {
                [TextEdit { old, new, .. }] if old.is_empty() => Some(new),
                _ => None,
            },
            _ => None,
        }
    }

    fn read(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<String, CallError> {
        let ResolvedPath { asked, real, .. } = &self.place;
        let original =
            context.checkout.read(permit, real, FILE_LIMIT_BYTES).map_err(|error| match error {
                FileError::Missing(_) => CallError(format!(
                    "`{asked}` does not exist; write_to_file creates files.{}",
                    did_you_mean(asked, WantedEntry::File, context)
                )),
                error => CallError(format!("Cannot read `{asked}`: {error}.")),
            })?;
        let unchanged = |why: &str| CallError(format!("`{asked}` is {why}; nothing was changed."));
        if [asked, real].into_iter().any(|path| is_document(path, &original)) {
            return Err(unchanged(DOCUMENT));
        }
        if is_binary(&original) {
            return Err(unchanged("a binary file"));
        }
        String::from_utf8(original).map_err(|_| unchanged("not UTF-8"))
    }

    fn applied(&self, original: &str, near_copies: NearCopies) -> Result<AppliedDiff, ChangeError> {
        change(original, &self.change, near_copies)
    }

    /// Returns what tells a question from others, and from the same one about another content of
    /// the file: of blocks those that are asked about, else the whole change.
    fn confirmation(&self, original: &str, question: &ChangeError) -> String {
        let what = match (question, &self.change) {
            // As it is shown, it may be cut.
            (_, FileChange::Blocks(_)) => format!("{question:?}"),
            (_, change) => serde_json::to_string(change).unwrap_or_default(),
        };
        let content = content_hash(original.as_bytes());
        content_hash(format!("{}\n{content}\n{what}", self.place.real).as_bytes())
    }
}

/// Says what changed and what stands there now, so that the model need not read the file again.
fn notice(
    place: &ResolvedPath,
    original: &str,
    applied: &AppliedDiff,
    may_be_read: bool,
) -> String {
    let mut text = format!("Changed `{}`:", place.asked);
    for change in applied.changed.iter().take(NAMED_CHANGES_LIMIT) {
        let end = change.line + change.added.max(1) - 1;
        let _ = match change.added {
            0 => write!(
                text,
                " {} removed at line {};",
                counted(change.removed, "line"),
                change.line
            ),
            _ => write!(
                text,
                " lines {}-{end} (+{} -{});",
                change.line, change.added, change.removed
            ),
        };
    }
    if let more @ 1.. = applied.changed.len().saturating_sub(NAMED_CHANGES_LIMIT) {
        let _ = write!(text, " {};", counted(more, "more place"));
    }
    let mut text = text.trim_end_matches(';').to_owned();
    if may_be_read {
        let (before, after) = (EditedLines::new(original), EditedLines::new(&applied.content));
        let shown = echo(before.lines(), after.lines(), &applied.changed);
        let _ = write!(text, ". No need to read it again; it reads now:{shown}");
    } else {
        text.push('.');
    }
    if applied.failed.is_empty() {
        return text;
    }
    let _ = write!(
        text,
        "\n{} of the blocks did not fit; send only these again:",
        applied.failed.len()
    );
    if may_be_read {
        let _ = write!(text, "\n\n{}", together(&applied.failed));
    }
    text
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes a file as somebody else would")]
mod tests {
    use super::notice;
    use crate::tools::files::apply_diff::{AppliedDiff, BlockError};
    use crate::tools::files::text::lines::ChangedRange;
    use crate::tools::fixture::ToolFixture;
    use crate::tools::resolved_path::ResolvedPath;
    use locum_base::path::RepoPath;
    use locum_base::tool::ToolName;
    use locum_modes::file_regex::FileRegex;
    use locum_policy::intent::{Act, Intent};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn a_miss_shows_nothing_of_a_file_that_may_not_be_read() {
        let mut fixture = ToolFixture::new(&[("a", "kept to itself\n")]);
        let arguments =
            json!({ "path": "a", "diff": "<<<<<<< SEARCH\nkept\n=======\nx\n>>>>>>> REPLACE" })
                .to_string();
        assert!(fixture.call("apply_diff", &arguments).text.contains("kept to itself"));
        fixture.hidden.push("a");
        assert!(!fixture.call("apply_diff", &arguments).text.contains("itself"));
    }

    #[test]
    fn a_document_is_changed_by_no_edit_and_a_text_that_is_called_so_by_every_one() {
        let pdf = "%PDF-1.4\n(Hello) Tj\n%%EOF\n";
        let fixture = ToolFixture::new(&[("a.pdf", pdf), ("b.bin", pdf), ("c.pdf", "Hello\n")]);
        std::os::unix::fs::symlink("a.pdf", fixture.at("link")).unwrap();
        let block = "<<<<<<< SEARCH\nHello\n=======\nx\n>>>>>>> REPLACE";
        let calls = |path: &str| {
            let patch =
                format!("*** Begin Patch\n*** Update File: {path}\n@@\n-Hello\n+x\n*** End Patch");
            [
                ("Edit", json!({ "path": path, "old_string": "Hello", "new_string": "x" })),
                ("search_and_replace", json!({ "path": path, "search": "Hello", "replace": "x" })),
                ("apply_diff", json!({ "path": path, "diff": block })),
                ("insert_content", json!({ "path": path, "line": 0, "content": "x" })),
                ("apply_patch", json!({ "patch": patch })),
            ]
        };
        for (name, arguments) in ["a.pdf", "b.bin", "link"].into_iter().flat_map(calls) {
            let done = fixture.call(name, &arguments.to_string());
            assert!(done.is_error && done.text.contains("is a document"), "{name}: {}", done.text);
        }
        assert_eq!((fixture.content("a.pdf"), fixture.content("b.bin")), (pdf.into(), pdf.into()));
        for (name, arguments) in calls("c.pdf") {
            let done = fixture.call(name, &arguments.to_string());
            assert!(!done.is_error, "{name}: {}", done.text);
            std::fs::write(fixture.at("c.pdf"), "Hello\n").unwrap();
        }
        let delete = json!({ "patch": "*** Begin Patch\n*** Delete File: a.pdf\n*** End Patch" });
        assert!(!fixture.call("apply_patch", &delete.to_string()).is_error);
        assert!(!fixture.at("a.pdf").exists());
    }

    #[test]
    fn an_answer_to_an_edit_that_does_not_fit_never_holds_a_long_line() {
        let long = format!("{}\nshort\n", "x".repeat(200_000));
        let lines = "line of many\n".repeat(200);
        let fixture = ToolFixture::new(&[("min.js", long.as_str()), ("many", lines.as_str())]);
        let block = |at: usize| format!("<<<<<<< SEARCH\nnone {at}\n=======\nx\n>>>>>>> REPLACE");
        let blocks: String = (0..200).map(|at| format!("{}\n", block(at))).collect();
        for (name, arguments) in [
            ("Edit", json!({ "path": "min.js", "old_string": "NOPE", "new_string": "x" })),
            ("Edit", json!({ "path": "min.js", "old_string": "shorter", "new_string": "x" })),
            (
                "multi_edit",
                json!({
                    "path": "min.js", "edits": [{ "old_string": "NOPE", "new_string": "x" }]
                }),
            ),
            ("search_and_replace", json!({ "path": "min.js", "search": "NOPE", "replace": "x" })),
            (
                "insert_content",
                json!({ "path": "min.js", "line": 2, "line_text": "no", "content": "x" }),
            ),
            ("apply_diff", json!({ "path": "min.js", "diff": block(1) })),
            ("apply_diff", json!({ "path": "many", "diff": blocks })),
        ] {
            let done = fixture.call(name, &arguments.to_string());
            assert!(done.is_error && done.text.len() < 20 * 1024, "{name} {}", done.text.len());
        }
    }

    #[test]
    fn what_answers_guesses_about_a_file_is_also_judged_as_reading_it() {
        let mut fixture = ToolFixture::new(&[("a", "kept to itself\n")]);
        fixture.mode.groups[0].file_regex = Some(FileRegex::parse("^b$").unwrap());
        let edit = json!({ "old_string": "kept", "new_string": "x" });
        let block = "<<<<<<< SEARCH\nkept\n=======\nx\n>>>>>>> REPLACE";
        for (name, arguments, reads) in [
            ("search_and_replace", json!({ "search": "k", "replace": "x" }), true),
            (
                "search_and_replace",
                json!({ "search": "k.*f", "replace": "x", "use_regex": true }),
                true,
            ),
            ("multi_edit", json!({ "edits": [edit] }), true),
            ("Edit", edit.clone(), true),
            ("notebook_edit", json!({ "cell_id": "a", "new_source": "x" }), true),
            ("apply_diff", json!({ "diff": block }), false),
            ("insert_content", json!({ "line": 0, "content": "x" }), false),
        ] {
            let parsed = |path: &str| {
                let mut arguments = arguments.clone();
                arguments["path"] = json!(path);
                fixture.parse(name, &arguments.to_string(), ToolName::ALL)
            };
            let path = RepoPath::parse("b").unwrap();
            let mut intents = vec![Intent::Edit(path.clone())];
            intents.extend(reads.then_some(Intent::Read(path)));
            assert_eq!(parsed("b").unwrap().intents(), intents, "{name}");
            assert_eq!(parsed("a").is_err(), reads, "{name}");
        }
    }

    #[test]
    fn a_line_that_may_be_another_copys_is_taken_when_it_is_sent_again() {
        let call = |fixture: &mut ToolFixture, line: usize| {
            let diff = format!(
                "<<<<<<< SEARCH\n:start_line:{line}\n-------\nx\n=======\ny\n>>>>>>> REPLACE"
            );
            let arguments = json!({ "path": "a", "diff": diff }).to_string();
            fixture.known.get_or_insert_default();
            let done = fixture.call("apply_diff", &arguments);
            fixture.known.get_or_insert_default().note(&done.seen, done.unconfirmed.as_ref());
            done.is_error
        };
        let replied = |fixture: &mut ToolFixture| {
            fixture.known.get_or_insert_default().replied();
        };
        let mut fixture = ToolFixture::new(&[("a", "x\nb\nx\n")]);
        // Twice in one reply, the question was not read.
        assert!(call(&mut fixture, 3) && call(&mut fixture, 3));
        replied(&mut fixture);
        fixture.call("read_file", r#"{"path": "a"}"#);
        replied(&mut fixture);
        // Another line is another question.
        assert!(call(&mut fixture, 1));
        assert!(!call(&mut fixture, 3));
        assert_eq!(fixture.content("a"), "x\nb\ny\n");
        // A file that changed in between is asked about once more.
        let mut fixture = ToolFixture::new(&[("a", "x\nb\nx\n")]);
        assert!(call(&mut fixture, 3));
        replied(&mut fixture);
        let diff = "<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE";
        let other = json!({ "path": "a", "diff": diff }).to_string();
        assert!(!fixture.call("apply_diff", &other).is_error);
        assert!(call(&mut fixture, 3));
        replied(&mut fixture);
        assert!(!call(&mut fixture, 3));
        assert_eq!(fixture.content("a"), "x\nc\ny\n");
    }

    #[test]
    fn the_notice_names_lines_and_failures() {
        let path = RepoPath::parse("a/b.rs").unwrap();
        let place = ResolvedPath::plain(path);
        let changed = vec![
            ChangedRange { line: 3, removed: 1, added: 2 },
            ChangedRange { line: 9, removed: 4, added: 0 },
        ];
        let content = "1\n2\n3\n4\n5\n6\n7\n8\n9\n".to_owned();
        let applied = AppliedDiff { content, changed, failed: vec![] };
        assert_eq!(
            notice(&place, "", &applied, true),
            "Changed `a/b.rs`: lines 3-4 (+2 -1); 4 lines removed at line 9. No need to read it \
             again; it reads now:\n1 | 1\n2 | 2\n3 | 3\n4 | 4\n5 | 5\n6 | 6\n7 | 7\n8 | 8\n9 | 9"
        );
        assert_eq!(
            notice(&place, "", &applied, false),
            "Changed `a/b.rs`: lines 3-4 (+2 -1); 4 lines removed at line 9."
        );
        let text = notice(
            &place,
            "",
            &AppliedDiff { failed: vec![BlockError::EmptySearch], ..applied },
            true,
        );
        assert!(
            text.contains("1 of the blocks did not fit")
                && text.ends_with("give the lines to replace"),
            "{text}"
        );
    }

    #[test]
    fn the_answer_shows_what_stands_there_now() {
        let fixture = ToolFixture::new(&[("a", "1\n2\n3\n4\n5\n6\n7\n")]);
        let diff = "<<<<<<< SEARCH\n:start_line:4\n-------\n4\n=======\nfour\n>>>>>>> REPLACE";
        let arguments = json!({ "path": "a", "diff": diff }).to_string();
        assert_eq!(
            fixture.call("apply_diff", &arguments).text,
            "Changed `a`: lines 4-4 (+1 -1). No need to read it again; it reads now:\n2 | 2\n3 | \
             3\n4 | four\n5 | 5\n6 | 6"
        );
    }
}
