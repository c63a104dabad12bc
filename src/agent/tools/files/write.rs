//! `write_to_file`: creates a file or replaces its whole content.

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::apply_diff::blank;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::EntryKind;

/// A file about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteToFile {
    place: ResolvedPath,
    content: String,
}

impl Tool for WriteToFile {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Create a file, or replace a whole one; folders are made as \
        needed. For changes to an existing file prefer apply_diff.";
    const REQUIRED: &'static [&'static str] = &["path", "content"];

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
        place.check_edit(ToolName::WriteToFile, context)?;
        let limit = usize::try_from(FILE_LIMIT_BYTES).unwrap_or(usize::MAX);
        if content.len() > limit {
            return Err(CallError(format!(
                "`content` of `write_to_file` has {} bytes, more than the {limit} that are \
                 written.",
                content.len()
            )));
        }
        let content = bare(&place, content);
        Ok(Self { place, content })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Edit(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("write {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let existed = write(&self.place, self.content.as_bytes(), permit, context)?;
        let done = if existed { "Replaced the content of" } else { "Created" };
        let text = format!(
            "{done} `{}` ({} lines). It holds exactly what was sent; no need to read it again.",
            self.place.asked,
            self.content.lines().count()
        );
        Ok(Observation { touched: vec![self.place.real.clone()], ..Observation::said(text) })
    }

    fn content_after(&self, _before: Option<&[u8]>) -> Option<Vec<u8>> {
        Some(self.content.clone().into_bytes())
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
    let ResolvedPath { asked, real } = place;
    let existed =
        matches!(context.checkout.entry(real), Ok(Some(entry)) if entry.kind == EntryKind::File);
    let written = context.checkout.write(permit, real, content);
    written.map_err(|error| CallError(format!("Cannot write `{asked}`: {error}.")))?;
    Ok(existed)
}

/// Takes off what models put around a file's content: a code fence, or line numbers on every line.
fn bare(place: &ResolvedPath, content: String) -> String {
    let markdown = place.asked.name().is_some_and(|name| {
        [".md", ".mdx", ".markdown"].iter().any(|ending| name.to_lowercase().ends_with(ending))
    });
    let unfenced = if markdown { None } else { unfence(&content) };
    let content = unfenced.unwrap_or(content);
    let text = content.strip_suffix('\n').unwrap_or(&content);
    if text.is_empty() || !blank::is_numbered(text) {
        return content;
    }
    let end = if text.len() < content.len() { "\n" } else { "" };
    format!("{}{end}", blank::strip_numbers(text))
}

/// Returns what is between a first line that starts with three backticks and a last line of just
/// these; the line end before the closing fence is the file's own.
fn unfence(content: &str) -> Option<String> {
    let (_, inner) = content.strip_prefix("```").and_then(|rest| rest.split_once('\n'))?;
    let inner = inner.trim_end_matches(['\n', '\r', ' ']).strip_suffix("```")?;
    (inner.is_empty() || inner.ends_with('\n')).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{bare, unfence};
    use crate::tools::arguments::ResolvedPath;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn takes_off_a_wrapping_fence_only() {
        for (content, expected) in [
            ("```rust\nfn a() {}\n```", Some("fn a() {}\n")),
            ("```\na\n```\n", Some("a\n")),
            ("```\n```", Some("")),
            ("```\na", None),
            ("a\n```", None),
            ("x = ```a```", None),
        ] {
            assert_eq!(unfence(content).as_deref(), expected, "{content}");
        }
    }

    #[test]
    fn takes_off_numbers_when_every_line_has_one() {
        let place = |name: &str| ResolvedPath {
            asked: RepoPath::parse(name).unwrap(),
            real: RepoPath::parse(name).unwrap(),
        };
        for (name, content, expected) in [
            ("a.rs", "1 | a\n2 |   b\n", "a\n  b\n"),
            ("a.rs", "1 | a\nb\n", "1 | a\nb\n"),
            ("a.rs", "", ""),
            ("a.md", "```\na\n```", "```\na\n```"),
            ("a.py", "```py\na\n```", "a\n"),
        ] {
            assert_eq!(bare(&place(name), content.to_owned()), expected, "{name} {content}");
        }
    }
}
