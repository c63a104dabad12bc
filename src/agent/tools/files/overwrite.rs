//! Whether an edit may replace what a file holds: only what the model has seen, and not most of it
//! by mistake.

use crate::tools::files::is_binary;
use crate::tools::files::known::{Acquaintance, SeenFile, content_hash};
use crate::tools::files::text::omission::{Omission, omission};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_base::text::counted;
use locum_extract::document::DocumentKind;

/// What is said of a document that a part is to be changed of.
pub(crate) const DOCUMENT: &str =
    "a document: what was shown is its text and not what the file holds. Change it with a command";

/// Refuses an edit of a file that holds something else than the model read or wrote last. One that
/// it never read passes here.
///
/// # Errors
/// A sentence for the model.
pub(crate) fn refuse_outdated(
    path: &RepoPath,
    content: &[u8],
    context: ToolContext<'_>,
) -> Result<(), CallError> {
    let outdated = acquaintance(path, content, context) == Some(Acquaintance::Outdated);
    if outdated {
        return Err(CallError(format!(
            "Nothing was changed: `{path}` was changed by a command or by somebody else since you \
             last read or wrote it. Call `read_file` on it, then edit what it holds now."
        )));
    }
    Ok(())
}

/// Refuses an edit at the number of a line in a file that the model never read.
///
/// # Errors
/// A sentence for the model.
pub(crate) fn refuse_unread(
    path: &RepoPath,
    content: &[u8],
    context: ToolContext<'_>,
) -> Result<(), CallError> {
    let unread = acquaintance(path, content, context) == Some(Acquaintance::Unread);
    if unread {
        return Err(CallError(format!(
            "Nothing was changed: you have not read `{path}`, so its lines have no numbers you \
             could know. Call `read_file` on it first."
        )));
    }
    Ok(())
}

/// Notes what a file holds after a part of it was changed. The model knows the whole only if it
/// knew it before.
pub(crate) fn seen_after(
    path: &RepoPath,
    before: &[u8],
    after: &[u8],
    context: ToolContext<'_>,
) -> Vec<SeenFile> {
    let unread = acquaintance(path, before, context) == Some(Acquaintance::Unread);
    if unread { Vec::new() } else { vec![SeenFile::new(path, after)] }
}

/// Says what the model that calls knows of a file; `None` where no model calls.
fn acquaintance(path: &RepoPath, content: &[u8], context: ToolContext<'_>) -> Option<Acquaintance> {
    context.given.known.map(|known| known.acquaintance(path, content))
}

/// Whether a file is a document: the text that is shown of it is not what it holds, and a change of
/// what it holds as a text would destroy it. A notebook is text itself.
pub(crate) fn is_document(path: &RepoPath, content: &[u8]) -> bool {
    match DocumentKind::of(path.as_str(), content) {
        Some(DocumentKind::Pdf | DocumentKind::Docx | DocumentKind::Xlsx) => true,
        Some(DocumentKind::Notebook) | None => false,
    }
}

/// Whether a file is a document or a binary file, which text would destroy.
fn is_no_text(path: &RepoPath, before: &[u8], after: &str) -> bool {
    match DocumentKind::of(path.as_str(), before) {
        Some(DocumentKind::Notebook) => !after.trim_start().starts_with('{'),
        Some(_) | None => is_document(path, before) || is_binary(before),
    }
}

/// Refuses to replace the whole content of a file with `after` where the model does not know what
/// it holds, or leaves out most of it. What is meant in spite of that is sent once more.
pub(crate) fn refusal(
    place: &ResolvedPath,
    before: &[u8],
    after: &str,
    context: ToolContext<'_>,
) -> Option<Observation> {
    let (path, known) = (&place.asked, context.given.known?);
    let text = String::from_utf8_lossy(before);
    if before.is_empty() || before == after.as_bytes() || !(context.visible)(&place.real) {
        return None;
    }
    if let Err(error) = refuse_outdated(&place.real, before, context) {
        return Some(Observation::failed(error.0));
    }
    if known.acquaintance(&place.real, before) == Acquaintance::Unread {
        return Some(Observation::failed(format!(
            "Nothing was changed: `{path}` exists ({}), and you have not read it. Call `read_file` \
             on it first, or change a part of it with `apply_diff`.",
            counted(text.lines().count(), "line")
        )));
    }
    if is_no_text(path, before, after) {
        let overwrite = content_hash(format!("{path}\n{after}").as_bytes());
        if known.is_confirmed(&overwrite) {
            return None;
        }
        let text = format!(
            "Nothing was changed: `{path}` is not a text file, and what was shown of it is not all \
             it holds. To change it use a command. If text is meant to take its place, send the \
             same call once more."
        );
        return Some(Observation { unconfirmed: Some(overwrite), ..Observation::failed(text) });
    }
    // What was read of it holds signs for what could not be shown; they would be written as such.
    if after.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(before).is_err() {
        return Some(Observation::failed(format!(
            "Nothing was changed: `{path}` is not UTF-8, and the `�` in the content would take the \
             place of bytes of it. Change it with a command, such as `iconv` or `sed`."
        )));
    }
    match omission(&text, after)? {
        Omission::Placeholder(line) => Some(Observation::failed(format!(
            "Nothing was changed: `{line}` stands for text of `{path}` that would be lost. Send \
             the complete content, or change a part of it with `apply_diff`. If the words are \
             meant as they are, word them otherwise."
        ))),
        Omission::Shrinkage { before, after: lines } => {
            let overwrite = content_hash(format!("{path}\n{after}").as_bytes());
            if known.is_confirmed(&overwrite) {
                return None;
            }
            let text = format!(
                "Nothing was changed: `{path}` has {before} lines, and this would leave {lines}. \
                 To change a part of it use `apply_diff`. If the rest is meant to go, send the \
                 same call once more."
            );
            Some(Observation { unconfirmed: Some(overwrite), ..Observation::failed(text) })
        }
    }
}
