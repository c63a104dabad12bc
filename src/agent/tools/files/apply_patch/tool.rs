//! The tool around [`crate::tools::files::apply_patch::apply`]: the patch in, files written, moved
//! and removed, a short notice out.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::aliases::decisive::{DecisiveParameters, FILE_EDIT, TRIED_OUT};
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::apply_patch::parse::{Hunk, NO_FILE, parse};
use crate::tools::files::apply_patch::{AppliedPatch, PatchError, PatchedFile, apply_asking};
use crate::tools::files::known::{SeenFile, content_hash};
use crate::tools::files::overwrite::{DOCUMENT, is_document, refusal, refuse_outdated, seen_after};
use crate::tools::files::text::echo::echo;
use crate::tools::files::text::excerpt::together;
use crate::tools::files::text::kept_ends::KeptEnds;
use crate::tools::files::text::lines::EditedLines;
use crate::tools::files::{FILE_LIMIT_BYTES, is_binary};
use crate::tools::peer_words::PeerWords;
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::{EntryKind, FileError};

/// Most bytes of changed places shown in an answer.
const ECHO_LIMIT_BYTES: usize = 8 * 1024;

/// A patch about to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyPatch {
    hunks: Vec<Hunk>,
    /// Every file it names, by the text that names it.
    places: Vec<(String, ResolvedPath)>,
}

/// A patch of which the paths are relative to a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderPatch {
    /// The folder, as the model wrote it.
    pub folder: String,
    /// The patch.
    pub patch: String,
}

impl Tool for ApplyPatch {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Change, create, move and delete files by one patch; all of \
        it is applied or nothing.\n*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: \
        src/b.rs (only to move it)\n@@ a line above the place (only to tell places apart)\n a line \
        that stays\n-a line that goes\n+a line that comes\n*** Add File: src/new.rs\n+its \
        lines\n*** Delete File: src/old.rs\n*** End Patch\nGive about three lines that stay around \
        each change; chunks go from top to bottom.";
    const REQUIRED: &'static [&'static str] = &["patch"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[("input", "patch"), ("patch_text", "patch"), ("patchText", "patch")]],
        decisive: &[DECISIVE, FILE_EDIT, TRIED_OUT],
        // There a command does it, and a guard of files means it, too.
        hook_names: &["Edit", "Write", "MultiEdit"],
        ..PeerWords::NONE
    };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({ "patch": { "type": "string", "description": "The patch, from `*** Begin Patch` to `*** End Patch`" } })
    }

    /// Checks the patch and asks the mode about every file it names, on both ends of a move.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let hunks = hunks(&mut arguments, context)?;
        arguments.finish()?;
        let mut places: Vec<(String, ResolvedPath)> = Vec::new();
        for path in hunks.iter().flat_map(Hunk::paths) {
            if places.iter().any(|(known, _)| known == path) {
                continue;
            }
            let place = find(path, &hunks, context)?.into_edited(ToolName::ApplyPatch, context)?;
            places.push((path.to_owned(), place));
        }
        Ok(Self { hunks, places })
    }

    fn intents(&self) -> Vec<Intent> {
        let moved = self.hunks.iter().filter_map(|hunk| match hunk {
            Hunk::Update { path, to: Some(_), .. } => Some(Intent::Read(self.real(path))),
            Hunk::Update { to: None, .. } | Hunk::Add { .. } | Hunk::Delete { .. } => None,
        });
        let mut intents: Vec<Intent> =
            self.places.iter().flat_map(|(_, place)| place.edit_intents()).chain(moved).collect();
        intents.dedup();
        intents
    }

    fn headline(&self) -> String {
        let names: Vec<&str> = self.places.iter().map(|(name, _)| name.as_str()).collect();
        format!("edit {}", names.join(", "))
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let read = |real: &RepoPath| self.text_of(real, permit, context);
        let AppliedPatch { files: changes, questions } =
            apply_asking(&self.hunks, |path| self.real(path), read)
                .map_err(|error| CallError(format!("Nothing was changed: {error}.")))?;
        if let Some(refusal) = self.refused(&changes, context)? {
            return Ok(refusal);
        }
        if let Some(asked) = asked(&questions, &changes, permit, context) {
            return Ok(asked);
        }
        let limit = usize::try_from(FILE_LIMIT_BYTES).unwrap_or(usize::MAX);
        if let Some(long) = changes
            .iter()
            .find(|change| change.after.as_ref().is_some_and(|text| text.len() > limit))
        {
            return Err(CallError(format!(
                "Nothing was changed: `{}` would have more than {limit} bytes.",
                long.path
            )));
        }
        let links = changes.iter().map(|change| &change.path);
        let links: Vec<&RepoPath> = links.filter(|path| is_link(path, context)).collect();
        let mut done = Observation::default();
        let moved = self.moved(&changes);
        for change in changes.iter().filter(|change| change.before != change.after) {
            let is_source = moved.iter().any(|(from, _)| *from == change.path);
            let source = moved.iter().find(|(_, to)| *to == change.path);
            // A file that moves keeps its permissions.
            let renamed = source.map_or(Ok(()), |(from, to)| {
                context.checkout.rename(permit, from, to)?;
                // Both have changed, whatever becomes of the rest.
                note(&mut done.touched, from);
                note(&mut done.touched, to);
                Ok(())
            });
            let written = renamed.and_then(|()| match &change.after {
                Some(text) => context.checkout.write(permit, &change.path, text.as_bytes()),
                None if is_source => Ok(()),
                None => context.checkout.remove(permit, &change.path),
            });
            if let Err(error) = written {
                done.is_error = true;
                let _ =
                    write!(done.text, "Cannot write `{}`: {error}. Done before that:", change.path);
                break;
            }
            note(&mut done.touched, &change.path);
            if let Some(after) = &change.after {
                let before = change.before.as_deref().unwrap_or(after);
                let whole = change.changed.is_empty();
                done.seen.extend(if whole {
                    vec![SeenFile::new(&change.path, after.as_bytes())]
                } else {
                    seen_after(&change.path, before.as_bytes(), after.as_bytes(), context)
                });
            }
        }
        if done.text.is_empty() {
            done.text.push_str("Applied, no need to read again:");
        }
        let made = changes.iter().filter(|change| done.touched.contains(&change.path));
        done.text.push_str(&notice(made, &links, context.visible));
        Ok(done)
    }

    fn edited(mut arguments: CallFields, context: ToolContext<'_>) -> Vec<ResolvedPath> {
        let hunks = hunks(&mut arguments, context).unwrap_or_default();
        let paths = hunks.iter().flat_map(Hunk::paths);
        paths.filter_map(|path| find(path, &hunks, context).ok()).collect()
    }
}

/// Finds what a path of a patch names: what is deleted or moved is the name itself, and a link
/// there is not followed.
fn find(path: &str, hunks: &[Hunk], context: ToolContext<'_>) -> Result<ResolvedPath, CallError> {
    if hunks.iter().any(|hunk| hunk.is_about_name(path)) {
        ResolvedPath::find_name(path, context)
    } else {
        ResolvedPath::find(path, context)
    }
}

/// Reads the patch, with the paths of its folder.
fn hunks(arguments: &mut CallFields, context: ToolContext<'_>) -> Result<Vec<Hunk>, CallError> {
    let (folder, patch) = match arguments.mapped_value("patch") {
        Some(FolderPatch { folder, patch }) => (ResolvedPath::find(&folder, context)?.asked, patch),
        None => {
            let meaning = "the patch, from `*** Begin Patch` to `*** End Patch`";
            (RepoPath::root(), arguments.text("patch", meaning)?)
        }
    };
    let hunks =
        parse(&patch).map_err(|error| CallError(format!("Nothing was changed: {error}.")))?;
    if hunks.is_empty() {
        return Err(CallError(format!("Nothing was changed: {NO_FILE}.")));
    }
    Ok(hunks.into_iter().map(|hunk| hunk.below(&folder)).collect())
}

impl ApplyPatch {
    fn real(&self, name: &str) -> RepoPath {
        self.places
            .iter()
            .find(|(known, _)| known == name)
            .map_or_else(RepoPath::root, |(_, place)| place.real.clone())
    }

    /// Returns both ends of the moves of files that nothing else of the patch is about.
    fn moved(&self, changes: &[PatchedFile<RepoPath>]) -> Vec<(RepoPath, RepoPath)> {
        let change = |path: &RepoPath| changes.iter().find(|change| change.path == *path);
        let named: Vec<RepoPath> =
            self.hunks.iter().flat_map(Hunk::paths).map(|path| self.real(path)).collect();
        let is_named_once =
            |path: &RepoPath| named.iter().filter(|other| *other == path).count() == 1;
        let ends = self.hunks.iter().filter_map(|hunk| match hunk {
            Hunk::Update { path, to: Some(to), .. } => Some((self.real(path), self.real(to))),
            Hunk::Update { to: None, .. } | Hunk::Add { .. } | Hunk::Delete { .. } => None,
        });
        ends.filter(|(from, to)| {
            is_named_once(from)
                && is_named_once(to)
                && change(from).is_some_and(|it| it.before.is_some() && it.after.is_none())
                && change(to).is_some_and(|it| it.before.is_none() && it.after.is_some())
        })
        .collect()
    }

    /// Refuses changes of files that hold something else than the model knows, and new contents of
    /// files that it never read or that leave out most of them.
    fn refused(
        &self,
        changes: &[PatchedFile<RepoPath>],
        context: ToolContext<'_>,
    ) -> Result<Option<Observation>, CallError> {
        for PatchedFile { path, before, after, changed } in changes {
            let Some(before) = before.as_ref().filter(|before| after.as_ref() != Some(*before))
            else {
                continue;
            };
            refuse_outdated(path, before.as_bytes(), context)?;
            let Some(after) = after.as_ref().filter(|_| changed.is_empty()) else { continue };
            let place = ResolvedPath::plain(path.clone());
            if let Some(refusal) = refusal(&place, before.as_bytes(), after, context) {
                return Ok(Some(refusal));
            }
        }
        Ok(None)
    }

    fn text_of(
        &self,
        real: &RepoPath,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Option<String>, PatchError> {
        let unreadable = |why: String| PatchError::Unreadable { path: real.to_string(), why };
        let mut about = self.hunks.iter().filter(|hunk| self.names(hunk, real));
        if is_link(real, context) {
            return if about.all(|hunk| matches!(hunk, Hunk::Delete { .. })) {
                Ok(Some(String::new()))
            } else {
                let why = "is a link: a patch deletes it, or changes what it leads to";
                Err(unreadable(why.to_owned()))
            };
        }
        match context.checkout.read(permit, real, FILE_LIMIT_BYTES) {
            Ok(content)
                if is_document(real, &content)
                    && about.any(|hunk| matches!(hunk, Hunk::Update { .. })) =>
            {
                Err(unreadable(format!("is {DOCUMENT}")))
            }
            Ok(content) if is_binary(&content) => Err(unreadable("is a binary file".into())),
            Ok(content) => {
                String::from_utf8(content).map(Some).map_err(|_| unreadable("is not UTF-8".into()))
            }
            Err(FileError::Missing(_)) => Ok(None),
            Err(error) => Err(unreadable(format!("cannot be read: {error}"))),
        }
    }

    /// Whether a hunk is about a file.
    fn names(&self, hunk: &Hunk, real: &RepoPath) -> bool {
        hunk.paths().any(|path| self.real(path) == *real)
    }
}

/// Whether a link stands at a place itself.
fn is_link(real: &RepoPath, context: ToolContext<'_>) -> bool {
    let entry = context.checkout.entry(real);
    matches!(entry, Ok(Some(entry)) if entry.kind == EntryKind::Link)
}

/// Asks about chunks that may be meant for other places, until the same patch is sent again for the
/// same files.
fn asked(
    questions: &[PatchError],
    changes: &[PatchedFile<RepoPath>],
    permit: &Permit<CheckedCall>,
    context: ToolContext<'_>,
) -> Option<Observation> {
    let known = context.given.known.filter(|_| !questions.is_empty())?;
    let mut about = String::new();
    for PatchedFile { path, before, after, .. } in changes {
        let _ = writeln!(about, "{path}");
        for text in [before, after].into_iter().flatten() {
            about.push_str(&content_hash(text.as_bytes()));
        }
    }
    let key = content_hash(about.as_bytes());
    // A person who approved the edit saw where it goes.
    if permit.approval().is_some() || known.is_confirmed(&key) {
        return None;
    }
    let text = format!("Nothing was changed: {}", together(questions));
    Some(Observation { unconfirmed: Some(key), ..Observation::failed(text) })
}

/// Adds a path once.
fn note(touched: &mut Vec<RepoPath>, path: &RepoPath) {
    if !touched.contains(path) {
        touched.push(path.clone());
    }
}

/// Says what became of each file, and what stands now where it was changed.
fn notice<'a>(
    changes: impl Iterator<Item = &'a PatchedFile<RepoPath>>,
    links: &[&RepoPath],
    may_be_read: &dyn Fn(&RepoPath) -> bool,
) -> String {
    let mut text = String::new();
    let mut left = ECHO_LIMIT_BYTES;
    for change in changes {
        let mark = match (&change.before, &change.after) {
            (None, _) => 'A',
            (Some(_), None) => 'D',
            (Some(_), Some(_)) => 'M',
        };
        let what = if links.contains(&&change.path) { "the link " } else { "" };
        let _ = write!(text, "\n{mark} {what}{}", change.path);
        if let Some(kept) = kept_ends(change) {
            let _ = write!(text, " (with {})", kept.words());
        }
        let after = change.after.as_ref().filter(|_| may_be_read(&change.path));
        let shown = after.map_or_else(String::new, |after| {
            let before = change.before.as_deref().map(EditedLines::new);
            let before = before.as_ref().map_or(&[][..], EditedLines::lines);
            echo(before, EditedLines::new(after).lines(), &change.changed)
        });
        if shown.len() <= left {
            left -= shown.len();
            text.push_str(&shown);
        }
    }
    if text.is_empty() { "\nnothing: every file is already so".to_owned() } else { text }
}

/// Returns what a file that was replaced as a whole has of the one before.
fn kept_ends(change: &PatchedFile<RepoPath>) -> Option<KeptEnds> {
    let PatchedFile { before, after, changed, .. } = change;
    let (before, after) = before.as_deref().zip(after.as_deref())?;
    if changed.is_empty() { KeptEnds::shared(before, after) } else { None }
}

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "reverse revert undo",
        instead: "Write the patch as the change that you want.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "strip base_dir root",
        redundant: ". ./",
        instead: "Paths of a patch are relative to the repository root.",
        ..DecisiveParameters::NONE
    },
];

#[cfg(test)]
mod tests;
