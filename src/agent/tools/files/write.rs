//! `write_to_file`: creates a file or replaces its whole content.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::tools::aliases::decisive::{DecisiveParameters, FILE_EDIT, TRIED_OUT, WHOLE_OR_PART};
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::known::SeenFile;
use crate::tools::files::overwrite::refusal;
use crate::tools::files::text::blank;
use crate::tools::files::text::kept_ends::{KeptEnds, with_kept_ends};
use crate::tools::peer_words::{PATH, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_base::text::counted;
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::{EntryKind, FileError};

/// A file about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteToFile {
    place: ResolvedPath,
    sent: String,
    /// What is around it and is written only where the file has that already.
    around: Option<(String, TakenOff)>,
}

/// What is written in place of what a file holds.
struct WrittenContent<'c> {
    text: Cow<'c, str>,
    taken_off: Option<TakenOff>,
    kept: Option<KeptEnds>,
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
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

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
        let before = self.before(permit, context)?;
        let content = self.content(before.as_deref());
        if let Some(refusal) = before.as_ref().and_then(|before| self.futile(before, context)) {
            return Ok(refusal);
        }
        let limit = usize::try_from(FILE_LIMIT_BYTES).unwrap_or(usize::MAX);
        if content.text.len() > limit {
            return Err(CallError(format!(
                "Nothing was changed: with its CRLF line ends, `{asked}` would have more than \
                 {limit} bytes."
            )));
        }
        let existed = write(&self.place, content.text.as_bytes(), permit, context)?;
        let lines = counted(content.text.lines().count(), "line");
        let before = before.filter(|_| (context.visible)(real));
        let before = before.map(|before| String::from_utf8_lossy(&before).lines().count());
        let done = match (existed, before) {
            (false, _) => format!("Created {} ({lines})", created(&self.place)),
            (true, None) => format!("Replaced the content of `{asked}` ({lines})"),
            (true, Some(before)) => {
                format!("Replaced the content of `{asked}` ({lines}; {before} before)")
            }
        };
        Ok(Observation {
            touched: vec![real.clone()],
            seen: vec![SeenFile::new(real, content.text.as_bytes())],
            ..Observation::said(format!("{done}. {}", content.said()))
        })
    }

    fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        Some(self.content(before).text.into_owned().into_bytes())
    }
}

impl WriteToFile {
    /// Returns why nothing would take the place of what the file holds, whoever approves it.
    pub(crate) fn futile(&self, before: &[u8], context: ToolContext<'_>) -> Option<Observation> {
        refusal(&self.place, before, &self.content(Some(before)).text, context)
    }

    /// Returns what the file holds; `None` where there is none. Whatever else cannot be read is
    /// not replaced either.
    fn before(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Option<Vec<u8>>, CallError> {
        let ResolvedPath { asked, real, .. } = &self.place;
        match context.checkout.read(permit, real, FILE_LIMIT_BYTES) {
            Ok(before) => Ok(Some(before)),
            Err(FileError::Missing(_)) => Ok(None),
            Err(error @ FileError::TooLarge { .. }) => Err(CallError(format!(
                "Nothing was changed: {error}, so nobody has seen all that would be lost. Change a \
                 part of it with a command; if it is meant to go, delete it first."
            ))),
            Err(error) => Err(CallError(format!("Cannot write `{asked}`: {error}."))),
        }
    }

    /// Returns what is written in place of the file's content: with the line ends it has, and
    /// without what is around the content that was sent.
    fn content(&self, before: Option<&[u8]>) -> WrittenContent<'_> {
        let (inner, taken_off) = self.inner(before);
        let (text, kept) = with_kept_ends(before, inner);
        WrittenContent { text, taken_off, kept }
    }

    /// Returns the content without what is around it, and what that is: nothing that this file has
    /// itself.
    fn inner(&self, before: Option<&[u8]>) -> (&str, Option<TakenOff>) {
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

/// Names a file that was created: where a link leads, that is not the link.
pub(crate) fn created(place: &ResolvedPath) -> String {
    let ResolvedPath { asked, real, .. } = place;
    if asked == real { format!("`{asked}`") } else { format!("`{real}`, where `{asked}` leads") }
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

impl WrittenContent<'_> {
    /// Says how the file differs from what was sent.
    fn said(&self) -> String {
        let taken_off = self.taken_off.map(|what| format!("{} not written. ", what.words()));
        let kept = self.kept.map(|what| format!("It keeps {}. ", what.words()));
        match (taken_off, kept) {
            (None, None) => "It holds exactly what was sent; no need to read it again.".to_owned(),
            (taken_off, kept) => format!(
                "{}{}It holds the rest as it was sent; no need to read it again.",
                taken_off.unwrap_or_default(),
                kept.unwrap_or_default()
            ),
        }
    }
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
mod tests;
