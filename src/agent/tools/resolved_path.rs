//! A path of a call, found in the checkout: as it was written, and with its links followed.
//!
//! In: the text a model wrote. Out: the place it names, or one sentence why there is none; and what
//! the mode and the policy decide on where a tool edits there.

use std::path::Path;

use crate::tools::kept_output::OUTPUT_SCHEME;
use crate::tools::{CallError, ToolContext};
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::access;
use locum_policy::intent::Intent;

/// A place in the checkout: the path as written and where it really lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// As the model wrote it, in its plain form.
    pub asked: RepoPath,
    /// With every link followed.
    pub real: RepoPath,
    /// Whether something that may not be read is to be changed there.
    hidden: bool,
}

impl ResolvedPath {
    /// As [`ResolvedPath::find`]; without a text it is the root of the repository.
    ///
    /// # Errors
    /// See [`ResolvedPath::find`].
    pub fn find_or_root(text: Option<&str>, context: ToolContext<'_>) -> Result<Self, CallError> {
        text.map_or_else(|| Ok(Self::plain(RepoPath::root())), |text| Self::find(text, context))
    }

    /// Finds the place a text names.
    ///
    /// # Errors
    /// When it is not a path inside the repository or leads out of it.
    pub fn find(text: &str, context: ToolContext<'_>) -> Result<Self, CallError> {
        let asked = asked(text, context)?;
        let real = context.resolve(&asked).map_err(|error| sentence(&error))?;
        Ok(Self { real, ..Self::plain(asked) })
    }

    /// As [`ResolvedPath::find`], without following a link at the end: the name itself.
    ///
    /// # Errors
    /// See [`ResolvedPath::find`].
    pub fn find_name(text: &str, context: ToolContext<'_>) -> Result<Self, CallError> {
        let asked = asked(text, context)?;
        let real = context.checkout.resolve_name(&asked).map_err(|error| sentence(&error))?;
        Ok(Self { real, ..Self::plain(asked) })
    }

    /// Returns the place of a path that leads through no link.
    pub(crate) fn plain(path: RepoPath) -> Self {
        Self { asked: path.clone(), real: path, hidden: false }
    }

    /// Asks the mode whether the tool may edit here, and looks whether what is there may be read.
    ///
    /// # Errors
    /// The mode's own words; also where commands would not see the edit.
    pub(crate) fn into_edited(
        self,
        tool: ToolName,
        context: ToolContext<'_>,
    ) -> Result<Self, CallError> {
        self.check_edit(tool, context)?;
        let real = &self.real;
        if context.layer.is_some_and(|layer| layer.is_shared(real) && layer.covers(real)) {
            return Err(CallError(format!(
                "`{}` cannot be edited here: git ignores its folder, and this worktree only sees \
                 what is there. A command can change it for later commands; that is neither merged \
                 nor published.",
                self.asked
            )));
        }
        // What cannot be looked at counts as there.
        let is_there = !matches!(context.checkout.entry(&self.real), Ok(None));
        Ok(Self { hidden: is_there && !(context.visible)(&self.real), ..self })
    }

    /// Returns what the policy decides on where a tool edits here. What becomes of a file shows
    /// what it held, in diffs and in answers, and may end it: so one that is there has to be
    /// readable.
    pub(crate) fn edit_intents(&self) -> impl Iterator<Item = Intent> {
        let read = self.hidden.then(|| Intent::Read(self.real.clone()));
        std::iter::once(Intent::Edit(self.real.clone())).chain(read)
    }

    /// Asks the mode whether the tool may edit here, under the path as written and the real one.
    ///
    /// # Errors
    /// The mode's own words.
    pub fn check_edit(&self, tool: ToolName, context: ToolContext<'_>) -> Result<(), CallError> {
        for path in [&self.asked, &self.real] {
            access::check_edit(context.mode, tool, path)
                .map_err(|error| CallError(error.to_string()))?;
        }
        Ok(())
    }
}

/// Reads a path as a model writes it.
fn asked(text: &str, context: ToolContext<'_>) -> Result<RepoPath, CallError> {
    if text.trim_start().starts_with(OUTPUT_SCHEME) {
        return Err(CallError(format!(
            "`{OUTPUT_SCHEME}N` is not a file: it is an answer that is kept, which `read_file` and \
             `search_files` alone open."
        )));
    }
    RepoPath::parse(below_root(text, context.seen_root())).map_err(|error| sentence(&error))
}

/// Takes the checkout's own absolute path off the front: models that saw it write it.
fn below_root<'a>(text: &'a str, root: &Path) -> &'a str {
    match root.to_str().and_then(|root| text.strip_prefix(root)) {
        Some("") => ".",
        Some(rest) => {
            rest.strip_prefix('/').map_or(text, |rest| if rest.is_empty() { "." } else { rest })
        }
        None => text,
    }
}

fn sentence(error: &dyn std::error::Error) -> CallError {
    let text = error.to_string();
    let mut letters = text.chars();
    let first: String =
        letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    CallError(format!("{first}{}.", letters.as_str()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::below_root;
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn a_kept_answer_is_no_place_to_write_to() {
        let fixture = ToolFixture::new(&[("a", "x\n")]);
        let patch = "*** Begin Patch\n*** Add File: output://3\n+x\n*** End Patch";
        for (tool, arguments) in [
            ("write_to_file", json!({ "path": "output://3", "content": "x\n" })),
            ("Edit", json!({ "path": "output://3", "old_string": "x", "new_string": "y" })),
            ("apply_patch", json!({ "patch": patch })),
            ("list_files", json!({ "path": "output://3" })),
        ] {
            let done = fixture.call(tool, &arguments.to_string());
            assert!(done.is_error && done.text.contains("`output://N` is not a file"), "{done:?}");
        }
        assert!(!fixture.at("output:").exists());
        let other = json!({ "path": "output/3", "content": "x\n" }).to_string();
        assert!(!fixture.call("write_to_file", &other).is_error);
    }

    #[test]
    fn takes_the_checkouts_own_path_off() {
        for (text, expected) in [
            ("/w/repo/src/a", "src/a"),
            ("/w/repo", "."),
            ("/w/repo/", "."),
            ("/w/repository/a", "/w/repository/a"),
            ("a", "a"),
        ] {
            assert_eq!(below_root(text, Path::new("/w/repo")), expected, "{text}");
        }
    }
}
