//! `move_file`: gives a file another name or folder. What it holds and its permissions stay.

use serde_json::{Value, json};

use crate::tools::aliases::decisive::{FILE_EDIT, ONE_FILE, TRIED_OUT};
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::delete_file::{existing_kind, named_place};
use crate::tools::files::overwrite::{refuse_outdated, seen_after};
use crate::tools::peer_words::{PATH, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::EntryKind;

/// A file about to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveFile {
    from: ResolvedPath,
    to: ResolvedPath,
}

impl Tool for MoveFile {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Move or rename one file, never over another.";
    const REQUIRED: &'static [&'static str] = &["path", "to"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            PATH,
            &[
                ("source", "path"),
                ("source_path", "path"),
                ("from", "path"),
                ("old_path", "path"),
                ("destination", "to"),
                ("destination_path", "to"),
                ("new_path", "to"),
                ("target", "to"),
            ],
        ],
        decisive: &[ONE_FILE, FILE_EDIT, TRIED_OUT],
        // There a command does it, and a guard of files means it, too.
        hook_names: &["Edit", "Write", "MultiEdit"],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string" },
            "to": { "type": "string", "description": "Its new path, name included" }
        })
    }

    /// Checks the arguments and the mode's restriction, on both ends.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let from = named_place(&mut arguments, "path", context)?;
        let to = named_place(&mut arguments, "to", context)?;
        arguments.finish()?;
        let from = from.into_edited(ToolName::MoveFile, context)?;
        let to = to.into_edited(ToolName::MoveFile, context)?;
        if from.real == to.real {
            return Err(CallError(format!(
                "Nothing was moved: `{}` and `{}` are the same.",
                from.asked, to.asked
            )));
        }
        Ok(Self { from, to })
    }

    /// What is moved can be read at its new place.
    fn intents(&self) -> Vec<Intent> {
        let from = self.from.real.clone();
        let to = self.to.edit_intents();
        std::iter::once(Intent::Edit(from.clone())).chain(to).chain([Intent::Read(from)]).collect()
    }

    fn headline(&self) -> String {
        format!("move {} to {}", self.from.asked, self.to.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let (from, to) = (&self.from, &self.to);
        let kept = |why: String| CallError(format!("Nothing was moved: {why}"));
        match existing_kind(from, context)? {
            EntryKind::File => {}
            EntryKind::Folder => {
                let why = format!("`{}` is a folder. Move its files one by one.", from.asked);
                return Err(kept(why));
            }
            EntryKind::Link | EntryKind::Other => {
                return Err(kept(format!("`{}` is a link or a device.", from.asked)));
            }
        }
        match context.checkout.entry(&to.real) {
            Ok(None) => {}
            Ok(Some(entry)) if entry.kind == EntryKind::Folder => {
                let name = from.asked.name().unwrap_or_default();
                let why = format!(
                    "`{}` is a folder. Give the new path with its name: `{}/{name}`.",
                    to.asked, to.asked
                );
                return Err(kept(why));
            }
            Ok(Some(_)) => {
                return Err(kept(format!(
                    "`{}` exists already. Delete it first if it is meant to go.",
                    to.asked
                )));
            }
            Err(error) => return Err(kept(format!("{error}."))),
        }
        let mut seen = Vec::new();
        if let Ok(content) = context.checkout.read(permit, &from.real, FILE_LIMIT_BYTES) {
            refuse_outdated(&from.real, &content, context)?;
            // What the model knows of the file it knows of it at its new place.
            let known = seen_after(&from.real, &content, &content, context);
            seen.extend(known.into_iter().map(|it| it.at(&to.real)));
        }
        let renamed = context.checkout.rename(permit, &from.real, &to.real);
        renamed.map_err(|error| kept(format!("{error}.")))?;
        Ok(Observation {
            touched: vec![from.real.clone(), to.real.clone()],
            seen,
            ..Observation::said(format!("Moved `{}` to `{}`.", from.asked, to.asked))
        })
    }

    fn edited(mut arguments: CallFields, context: ToolContext<'_>) -> Vec<ResolvedPath> {
        let ends = ["path", "to"].map(|name| named_place(&mut arguments, name, context));
        ends.into_iter().flatten().collect()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at the files it is about")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use crate::tools::files::known::KnownFiles;
    use crate::tools::fixture::ToolFixture;
    use locum_base::path::RepoPath;
    use locum_base::tool::ToolName;
    use locum_modes::file_regex::FileRegex;
    use locum_policy::intent::{Act, Intent};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn arguments(from: &str, to: &str) -> String {
        json!({ "path": from, "to": to }).to_string()
    }

    #[test]
    fn a_file_keeps_what_it_holds_and_its_mode_at_its_new_place() {
        let mut fixture = ToolFixture::new(&[("run.sh", "\0x")]);
        fixture.known = Some(KnownFiles::default());
        let mode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode();
        std::fs::set_permissions(fixture.at("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        let done = fixture.call("move_file", &arguments("run.sh", "bin/go.sh"));
        assert_eq!(done.text, "Moved `run.sh` to `bin/go.sh`.");
        assert_eq!(done.touched, ["run.sh", "bin/go.sh"].map(|it| RepoPath::parse(it).unwrap()));
        assert_eq!(std::fs::read(fixture.at("bin/go.sh")).unwrap(), b"\0x");
        assert_eq!(mode(fixture.at("bin/go.sh")) & 0o777, 0o755);
        assert!(!fixture.at("run.sh").exists());
    }

    #[test]
    fn both_ends_are_judged_and_the_first_is_read() {
        let mut fixture = ToolFixture::new(&[("a.md", "x\n"), ("b.rs", "y\n")]);
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let call = fixture.parse("move_file", &arguments("a.md", "c/d.md"), ToolName::ALL).unwrap();
        let ends = [Intent::Edit(path("a.md")), Intent::Edit(path("c/d.md"))];
        assert_eq!(call.intents(), [&ends[..], &[Intent::Read(path("a.md"))]].concat());
        fixture.mode.groups[1].file_regex = Some(FileRegex::parse(r"\.md$").unwrap());
        for (from, to, allowed) in [
            ("a.md", "c.md", true),
            ("a.md", "c.rs", false),
            ("b.rs", "c.md", false),
            ("a.md", "../c.md", false),
            ("a.md", "./a.md", false),
        ] {
            let parsed = fixture.parse("move_file", &arguments(from, to), ToolName::ALL);
            assert_eq!(parsed.is_ok(), allowed, "{from} {to}");
        }
    }

    #[test]
    fn nothing_is_moved_over_a_file_or_from_what_is_none() {
        let mut fixture = ToolFixture::new(&[("a", "x\n"), ("b", "y\n"), ("sub/c", "z\n")]);
        std::os::unix::fs::symlink("a", fixture.at("link")).unwrap();
        for (from, to, expected) in [
            ("a", "b", "`b` exists already"),
            ("a", "link", "`link` exists already"),
            ("a", "new/", "`to` ends with `/`"),
            ("a", "sub", "Give the new path with its name: `sub/a`"),
            ("sub", "d", "`sub` is a folder"),
            ("link", "d", "`link` is a link"),
            ("none", "d", "`none` does not exist"),
            ("a", "b/c", "b"),
        ] {
            let done = fixture.call("move_file", &arguments(from, to));
            assert!(done.is_error && done.text.contains(expected), "{from} {to}: {}", done.text);
            assert!(done.touched.is_empty());
        }
        fixture.known = Some(KnownFiles::default());
        let seen = fixture.call("read_file", r#"{"path": "a"}"#).seen;
        fixture.known.get_or_insert_default().note(&seen, None);
        let moved = fixture.call("move_file", &arguments("a", "d"));
        assert_eq!(moved.seen.first().map(|seen| seen.path.as_str()), Some("d"));
        std::fs::write(fixture.at("a"), "by somebody else\n").unwrap();
        let done = fixture.call("move_file", &arguments("a", "e"));
        assert!(done.is_error && done.text.contains("since you last read"), "{}", done.text);
    }
}
