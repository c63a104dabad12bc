//! `delete_file`: removes one file, or a link and not what it leads to.

use serde_json::{Value, json};

use crate::tools::aliases::decisive::{FILE_EDIT, ONE_FILE, TRIED_OUT};
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::overwrite::refuse_outdated;
use crate::tools::peer_words::{PATH, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::near_names::{WantedEntry, did_you_mean};
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::EntryKind;

/// A file about to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteFile {
    place: ResolvedPath,
}

impl Tool for DeleteFile {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Delete one file.";
    const REQUIRED: &'static [&'static str] = &["path"];
    const PEERS: PeerWords = PeerWords {
        renames: &[PATH],
        decisive: &[ONE_FILE, FILE_EDIT, TRIED_OUT],
        // There a command does it, and a guard of files means it, too.
        hook_names: &["Edit", "Write", "MultiEdit"],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({ "path": { "type": "string" } })
    }

    /// Checks the argument and the mode's restriction.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place = named_place(&mut arguments, "path", context)?;
        arguments.finish()?;
        Ok(Self { place: place.into_edited(ToolName::DeleteFile, context)? })
    }

    fn intents(&self) -> Vec<Intent> {
        self.place.edit_intents().collect()
    }

    fn headline(&self) -> String {
        format!("delete {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let ResolvedPath { asked, real, .. } = &self.place;
        let kind = existing_kind(&self.place, context)?;
        if kind == EntryKind::Folder {
            return Err(CallError(format!(
                "Nothing was deleted: `{asked}` is a folder. Delete its files one by one; empty \
                 folders are no part of a commit."
            )));
        }
        if let Ok(content) = context.checkout.read(permit, real, FILE_LIMIT_BYTES) {
            refuse_outdated(real, &content, context)?;
        }
        let removed = context.checkout.remove(permit, real);
        removed.map_err(|error| CallError(format!("Cannot delete `{asked}`: {error}.")))?;
        let what = if kind == EntryKind::Link { "the link " } else { "" };
        Ok(Observation {
            touched: vec![real.clone()],
            ..Observation::said(format!("Deleted {what}`{asked}`."))
        })
    }

    fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        before.map(|_| Vec::new())
    }

    fn edited(mut arguments: CallFields, context: ToolContext<'_>) -> Vec<ResolvedPath> {
        named_place(&mut arguments, "path", context).into_iter().collect()
    }
}

/// Takes a path that is the name of a file itself: a link at its end is not followed.
///
/// # Errors
/// When it is missing, is not a path inside the repository or leads out of it.
pub(crate) fn named_place(
    arguments: &mut CallFields,
    name: &'static str,
    context: ToolContext<'_>,
) -> Result<ResolvedPath, CallError> {
    let text = arguments.words(name, "the file, relative to the repository root")?;
    if text.trim_end().ends_with('/') {
        return Err(CallError(format!(
            "`{name}` ends with `/`, as the path of a folder does; give that of the file, name \
             included."
        )));
    }
    ResolvedPath::find_name(&text, context)
}

/// Returns what stands at a place.
///
/// # Errors
/// When there is nothing, or it cannot be looked at.
pub(crate) fn existing_kind(
    place: &ResolvedPath,
    context: ToolContext<'_>,
) -> Result<EntryKind, CallError> {
    let ResolvedPath { asked, real, .. } = place;
    match context.checkout.entry(real) {
        Ok(Some(entry)) => Ok(entry.kind),
        Ok(None) => Err(CallError(format!(
            "`{asked}` does not exist.{}",
            did_you_mean(asked, WantedEntry::File, context)
        ))),
        Err(error) => Err(CallError(format!("Cannot look at `{asked}`: {error}."))),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes a file as somebody else would")]
mod tests {
    use crate::tools::files::known::KnownFiles;
    use crate::tools::fixture::ToolFixture;
    use locum_base::path::RepoPath;
    use locum_base::tool::ToolName;
    use locum_modes::file_regex::FileRegex;
    use locum_policy::intent::{Act, Intent};
    use pretty_assertions::assert_eq;

    fn delete(fixture: &ToolFixture, path: &str) -> (bool, String) {
        let done = fixture.call("delete_file", &format!(r#"{{"path": "{path}"}}"#));
        (done.is_error, done.text)
    }

    #[test]
    fn a_file_goes_and_of_a_link_the_link_alone() {
        let fixture = ToolFixture::new(&[("a", "x\n"), ("sub/image", "\0"), ("kept", "k\n")]);
        std::os::unix::fs::symlink("kept", fixture.at("link")).unwrap();
        for (path, said) in [
            ("a", "Deleted `a`."),
            ("./sub/image", "Deleted `sub/image`."),
            ("link", "Deleted the link `link`."),
        ] {
            assert_eq!(delete(&fixture, path), (false, said.to_owned()));
            assert!(!fixture.at(path).exists() && !fixture.at(path).is_symlink());
        }
        assert_eq!(fixture.content("kept"), "k\n");
    }

    #[test]
    fn what_is_judged_is_the_name_itself() {
        let mut fixture = ToolFixture::new(&[("a.md", "x\n"), ("sub/b.rs", "y\n")]);
        std::os::unix::fs::symlink("sub/b.rs", fixture.at("link.md")).unwrap();
        std::os::unix::fs::symlink("sub", fixture.at("folder")).unwrap();
        for (path, real) in [("a.md", "a.md"), ("link.md", "link.md"), ("folder/b.rs", "sub/b.rs")]
        {
            let arguments = format!(r#"{{"path": "{path}"}}"#);
            let call = fixture.parse("delete_file", &arguments, ToolName::ALL).unwrap();
            assert_eq!(call.intents(), [Intent::Edit(RepoPath::parse(real).unwrap())]);
            assert_eq!(call.headline(), format!("delete {path}"));
        }
        fixture.mode.groups[1].file_regex = Some(FileRegex::parse(r"\.md$").unwrap());
        let parsed = |path: &str| {
            let arguments = format!(r#"{{"path": "{path}"}}"#);
            fixture.parse("delete_file", &arguments, ToolName::ALL).is_ok()
        };
        assert_eq!(["a.md", "sub/b.rs", "folder/b.rs"].map(parsed), [true, false, false]);
    }

    #[test]
    fn what_is_no_file_or_has_changed_since_it_was_read_stays() {
        let mut fixture = ToolFixture::new(&[("a", "x\n"), ("sub/b", "y\n")]);
        for (path, expected) in [
            ("b", "`b` does not exist. Did you mean `sub/b`"),
            ("sub", "`sub` is a folder"),
            ("sub/", "`path` ends with `/`"),
            ("../a", "../a"),
            ("", "`path` of `delete_file` is empty"),
        ] {
            let (is_error, text) = delete(&fixture, path);
            assert!(is_error && text.contains(expected), "{path}: {text}");
        }
        fixture.known = Some(KnownFiles::default());
        let seen = fixture.call("read_file", r#"{"path": "a"}"#).seen;
        fixture.known.get_or_insert_default().note(&seen, None);
        std::fs::write(fixture.at("a"), "by somebody else\n").unwrap();
        let (is_error, text) = delete(&fixture, "a");
        assert!(is_error && text.contains("since you last read or wrote it"), "{text}");
        assert_eq!(fixture.content("a"), "by somebody else\n");
    }
}
