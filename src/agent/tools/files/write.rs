//! `write_to_file`: creates a file or replaces its whole content.

use serde_json::{Value, json};

use crate::tools::aliases::decisive::{DecisiveParameters, FILE_EDIT, TRIED_OUT, WHOLE_OR_PART};
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::known::SeenFile;
use crate::tools::files::overwrite::refusal;
use crate::tools::files::text::blank;
use crate::tools::peer_words::{PATH, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_base::text::counted;
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::EntryKind;

/// A file about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteToFile {
    place: ResolvedPath,
    sent: String,
    /// What is around it and is written only where the file has that already.
    around: Option<(String, TakenOff)>,
}

/// What was around a content and is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenOff {
    /// A code fence.
    Fence,
    /// Line numbers.
    Numbers,
    /// A code fence, and line numbers within.
    Both,
}

impl Tool for WriteToFile {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Create a file, or replace a whole one; folders are made as \
        needed. For parts of a file use another edit tool.";
    const REQUIRED: &'static [&'static str] = &["path", "content"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            PATH,
            &[("file_text", "content"), ("contents", "content"), ("new_content", "content")],
        ],
        lists_files: true,
        hook_names: &["Write"],
        decisive: &[WHOLE_OR_PART, DECISIVE, FILE_EDIT, TRIED_OUT],
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Relative to the repository root" },
            "content": { "type": "string", "description": "The complete content, without line numbers and without anything left out" }
        })
    }

    /// Checks the arguments and the mode's restriction.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place =
            arguments.place("path", "the file, relative to the repository root", context)?;
        let content = arguments.text("content", "the complete content of the file")?;
        arguments.finish()?;
        let place = place.into_edited(ToolName::WriteToFile, context)?;
        let limit = usize::try_from(FILE_LIMIT_BYTES).unwrap_or(usize::MAX);
        if content.len() > limit {
            return Err(CallError(format!(
                "`content` of `write_to_file` has {} bytes, more than the {limit} that are \
                 written.",
                content.len()
            )));
        }
        let around = bare(&place.asked, &content);
        Ok(Self { place, sent: content, around })
    }

    fn intents(&self) -> Vec<Intent> {
        self.place.edit_intents().collect()
    }

    fn headline(&self) -> String {
        format!("write {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let ResolvedPath { asked, real, .. } = &self.place;
        // What cannot be read is for the write to say.
        let before = context.checkout.read(permit, real, FILE_LIMIT_BYTES).ok();
        let (content, taken_off) = self.content(before.as_deref());
        if let Some(before) = &before
            && let Some(refusal) = refusal(&self.place, before, content, context)
        {
            return Ok(refusal);
        }
        let existed = write(&self.place, content.as_bytes(), permit, context)?;
        let lines = counted(content.lines().count(), "line");
        let before = before.filter(|_| (context.visible)(real));
        let before = before.map(|before| String::from_utf8_lossy(&before).lines().count());
        let done = match (existed, before) {
            (false, _) => format!("Created `{asked}` ({lines})"),
            (true, None) => format!("Replaced the content of `{asked}` ({lines})"),
            (true, Some(before)) => {
                format!("Replaced the content of `{asked}` ({lines}; {before} before)")
            }
        };
        let text = match taken_off.map(TakenOff::words) {
            None => {
                format!("{done}. It holds exactly what was sent; no need to read it again.")
            }
            Some(what) => format!(
                "{done}. {what} not written. It holds the rest as it was sent; no need to read it \
                 again."
            ),
        };
        Ok(Observation {
            touched: vec![real.clone()],
            seen: vec![SeenFile::new(real, content.as_bytes())],
            ..Observation::said(text)
        })
    }

    fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        Some(self.content(before).0.as_bytes().to_vec())
    }
}

impl WriteToFile {
    /// Returns what is written in place of the file's content, and what is left out of it: nothing
    /// that this file has itself.
    fn content(&self, before: Option<&[u8]>) -> (&str, Option<TakenOff>) {
        let Some((bare, what)) = &self.around else { return (&self.sent, None) };
        let before = String::from_utf8_lossy(before.unwrap_or_default());
        let is_like_this = match what {
            TakenOff::Fence => before.starts_with("```"),
            TakenOff::Numbers => is_counted(&before),
            TakenOff::Both => before.starts_with("```") || is_counted(&before),
        };
        if is_like_this { (&self.sent, None) } else { (bare, Some(*what)) }
    }
}

/// Writes a whole file; returns true when there was one before.
///
/// # Errors
/// A sentence for the model.
pub(crate) fn write(
    place: &ResolvedPath,
    content: &[u8],
    permit: &Permit<CheckedCall>,
    context: ToolContext<'_>,
) -> Result<bool, CallError> {
    let ResolvedPath { asked, real, .. } = place;
    let existed =
        matches!(context.checkout.entry(real), Ok(Some(entry)) if entry.kind == EntryKind::File);
    let written = context.checkout.write(permit, real, content);
    written.map_err(|error| CallError(format!("Cannot write `{asked}`: {error}.")))?;
    Ok(existed)
}

impl TakenOff {
    fn words(self) -> &'static str {
        match self {
            Self::Fence => "The code fence around it was",
            Self::Numbers => "The line numbers in front of its lines were",
            Self::Both => "The code fence around it and the line numbers were",
        }
    }
}

/// Endings of files in which code stands between fences, in lowercase.
const WITH_FENCES: &[&str] =
    &[".md", ".mdx", ".markdown", ".mdown", ".mkd", ".mdc", ".rmd", ".qmd"];

/// Takes off what models put around a file's content: a code fence, or the numbers of all its
/// lines. `None` where there is nothing of that.
pub fn bare(path: &RepoPath, content: &str) -> Option<(String, TakenOff)> {
    let has_fences = path.name().is_some_and(|name| {
        let name = name.to_lowercase();
        WITH_FENCES
            .iter()
            .any(|ending| name.ends_with(ending) || name.contains(&format!("{ending}.")))
    });
    let unfenced = if has_fences { None } else { unfence(content) };
    let inner = unfenced.unwrap_or(content);
    let text = inner.strip_suffix('\n').unwrap_or(inner);
    match unfenced {
        None if is_counted(text) => Some((without_numbers(inner), TakenOff::Numbers)),
        Some(_) if is_counted(text) => Some((without_numbers(inner), TakenOff::Both)),
        Some(inner) => Some((inner.to_owned(), TakenOff::Fence)),
        None => None,
    }
}

/// Returns true for lines that all have their number in front of them, from 1 on.
fn is_counted(text: &str) -> bool {
    let text = text.strip_suffix('\n').unwrap_or(text);
    !text.is_empty()
        && blank::is_numbered(text)
        && text.lines().zip(1..).all(|(line, number)| blank::first_number(line) == Some(number))
}

fn without_numbers(text: &str) -> String {
    let (text, end) = text.strip_suffix('\n').map_or((text, ""), |text| (text, "\n"));
    format!("{}{end}", blank::strip_numbers(text))
}

/// Returns what is between a first line that starts with three backticks and a last line of just
/// these, where no other line starts so; the line end before the closing fence is the file's own.
fn unfence(content: &str) -> Option<&str> {
    let (_, inner) = content.strip_prefix("```").and_then(|rest| rest.split_once('\n'))?;
    let inner = inner.trim_end_matches(['\n', '\r', ' ']).strip_suffix("```")?;
    let is_whole = inner.is_empty() || inner.ends_with('\n');
    let is_one = !inner.lines().any(|line| line.trim_start().starts_with("```"));
    (is_whole && is_one).then_some(inner)
}

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "insert_at insert_after insert_before position line line_number start_line \
                end_line line_range offset diff",
        instead: "It writes whole files; `apply_diff` changes a part of one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "mode write_mode file_mode open_mode operation action",
        redundant: "w wt wb w+ write overwrite replace create 644 0644",
        instead: "It writes whole files; `apply_diff` changes a part of one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "overwrite allow_overwrite overwrite_existing replace_existing",
        redundant: "true",
        is_off_decisive: true,
        instead: "It replaces a file that exists; `list_files` shows whether there is one.",
    },
    DecisiveParameters {
        names: "create_only only_create if_not_exists no_overwrite no_clobber",
        instead: "It replaces a file that exists; `list_files` shows whether there is one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "encoding content_encoding base64 is_base64",
        redundant: "utf-8 utf8 ascii us-ascii text plain",
        instead: "`content` is written as it is, in UTF-8.",
        ..DecisiveParameters::NONE
    },
];

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes a file as somebody else would")]
mod tests {
    use super::{bare, unfence};
    use crate::tools::Observation;
    use crate::tools::files::known::KnownFiles;
    use crate::tools::fixture::ToolFixture;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn takes_off_a_wrapping_fence_only() {
        for (content, expected) in [
            ("```rust\nfn a() {}\n```", Some("fn a() {}\n")),
            ("```\na\n```\n", Some("a\n")),
            ("```\n```", Some("")),
            ("```\na", None),
            ("a\n```", None),
            ("x = ```a```", None),
            ("```sh\na\n```\nand\n```sh\nb\n```\n", None),
        ] {
            assert_eq!(unfence(content), expected, "{content}");
        }
    }

    #[test]
    fn takes_off_numbers_when_every_line_has_one() {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        for (name, content, expected) in [
            ("a.rs", "1 | a\n2 |   b\n", Some("a\n  b\n")),
            ("a.rs", "1 | a\nb\n", None),
            ("a.rs", "", None),
            ("a.md", "```\na\n```", None),
            ("a.qmd", "```\na\n```", None),
            ("a.md.j2", "```\na\n```", None),
            ("a.py", "```py\na\n```", Some("a\n")),
            ("a.py", "```py\n1 | a\n```", Some("a\n")),
            // Numbers that do not count the lines are the file's own.
            ("a.txt", "1 | 2\n3 | 4\n", None),
            ("a.txt", "5 |x\n", None),
        ] {
            let bare = bare(&path(name), content).map(|(bare, _)| bare);
            assert_eq!(bare.as_deref(), expected, "{name} {content}");
        }
    }

    #[test]
    fn what_a_file_has_itself_is_written() {
        let fixture = ToolFixture::new(&[("rows", "1 | a\n2 | b\n"), ("fenced", "```\na\n```\n")]);
        for (path, content) in
            [("rows", "1 | a\n2 | b\n3 | c\n"), ("fenced", "```\nb\n```\n"), ("new", "1 | 2\n")]
        {
            write(&fixture, path, content);
            let expected = if path == "new" { "2\n" } else { content };
            assert_eq!(std::fs::read_to_string(fixture.at(path)).unwrap(), expected, "{path}");
        }
    }

    fn write(fixture: &ToolFixture, path: &str, content: &str) -> Observation {
        let arguments = json!({ "path": path, "content": content }).to_string();
        fixture.call("write_to_file", &arguments)
    }

    /// Does a call, lets the model know what it showed, and has it reply.
    fn noted(fixture: &mut ToolFixture, call: impl Fn(&ToolFixture) -> Observation) -> Observation {
        let done = call(fixture);
        let known = fixture.known.get_or_insert_default();
        known.note(&done.seen, done.unconfirmed.as_ref());
        known.replied();
        done
    }

    #[test]
    fn says_what_it_replaced_and_what_it_did_not_write() {
        let fixture = ToolFixture::new(&[("a", "1\n2\n3\n")]);
        for (path, content, expected) in [
            (
                "new",
                "x\n",
                "Created `new` (1 line). It holds exactly what was sent; no need to read it again.",
            ),
            (
                "a",
                "x\ny\n",
                "Replaced the content of `a` (2 lines; 3 before). It holds exactly what was sent; no need to read it again.",
            ),
            (
                "a",
                "```\nx\n```\n",
                "Replaced the content of `a` (1 line; 2 before). The code fence around it was not written. It holds the rest as it was sent; no need to read it again.",
            ),
            (
                "a",
                "1 | x\n",
                "Replaced the content of `a` (1 line; 1 before). The line numbers in front of its lines were not written. It holds the rest as it was sent; no need to read it again.",
            ),
        ] {
            assert_eq!(write(&fixture, path, content).text, expected);
        }
    }

    #[test]
    fn a_file_that_was_not_read_or_has_changed_since_is_not_overwritten() {
        let mut fixture = ToolFixture::new(&[("a", "1\n2\n"), ("empty", "")]);
        fixture.known = Some(KnownFiles::default());
        let refused = write(&fixture, "a", "x\n");
        assert!(refused.is_error && refused.touched.is_empty(), "{refused:?}");
        assert!(
            refused.text.contains("exists (2 lines), and you have not read it. Call `read_file`"),
            "{}",
            refused.text
        );
        for allowed in [("new", "x\n"), ("empty", "x\n"), ("a", "1\n2\n")] {
            assert!(!write(&fixture, allowed.0, allowed.1).is_error, "{allowed:?}");
        }
        noted(&mut fixture, |fixture| fixture.call("read_file", r#"{"path": "a"}"#));
        assert!(!noted(&mut fixture, |fixture| write(fixture, "a", "x\n")).is_error);
        assert!(!noted(&mut fixture, |fixture| write(fixture, "a", "y\n")).is_error);
        std::fs::write(fixture.at("a"), "by somebody else\n").unwrap();
        let refused = write(&fixture, "a", "x\n");
        assert!(
            refused.is_error
                && refused.text.contains("since you last read or wrote it. Call `read_file`"),
            "{}",
            refused.text
        );
        assert_eq!(fixture.content("a"), "by somebody else\n");
    }

    #[test]
    fn what_leaves_most_of_a_file_out_is_refused_until_it_is_sent_again() {
        let long = "line\n".repeat(182);
        let mut fixture = ToolFixture::new(&[("a", long.as_str())]);
        noted(&mut fixture, |fixture| fixture.call("read_file", r#"{"path": "a"}"#));
        let lazy = "def f():\n    # ... existing code ...\n";
        for _ in 0..2 {
            let refused = noted(&mut fixture, |fixture| write(fixture, "a", lazy));
            assert!(
                refused.is_error
                    && refused.text.contains("`# ... existing code ...` stands for text of `a`"),
                "{}",
                refused.text
            );
        }
        let short = "def f(): pass\n";
        let refused = noted(&mut fixture, |fixture| write(fixture, "a", short));
        assert!(
            refused.is_error
                && refused.text.contains(
                    "has 182 lines, and this would leave 1. To change a part of it use `apply_diff`"
                ),
            "{}",
            refused.text
        );
        assert!(noted(&mut fixture, |fixture| write(fixture, "a", "other\n")).is_error);
        assert!(noted(&mut fixture, |fixture| write(fixture, "a", short)).is_error);
        assert!(!noted(&mut fixture, |fixture| write(fixture, "a", short)).is_error);
        assert_eq!(fixture.content("a"), short);
    }
}
