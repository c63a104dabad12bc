//! `list_code_definition_names`: shows what a file, or each file directly in a folder, defines.
//!
//! In: a path. Out: functions, types and modules with their lines, of files in a language that is
//! known. A process of its own parses them. Each file is judged for itself.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::extracted::extracted;
use crate::tools::peer_words::{FOLDER, PATH, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::walk::SkippedFolders;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_extract::outline::language::Language;
use locum_extract::outline::{Definition, TextOutline};
use locum_extract::request::{ExtractAnswer, ExtractRequest};
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;

/// Most files of a folder that are looked at.
pub const FILES_LIMIT: usize = 100;

/// Most bytes of one file; a larger one is generated.
const FILE_LIMIT_BYTES: u64 = 1024 * 1024;

/// Most bytes of all files together.
const FILES_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// Most bytes shown.
const SHOWN_LIMIT_BYTES: usize = 64 * 1024;

/// Most files that are left out by name.
const NAMES_LIMIT: usize = 10;

/// A place whose definitions are about to be shown.
#[derive(Clone, Debug)]
pub struct ListCodeDefinitionNames {
    place: ResolvedPath,
}

impl Tool for ListCodeDefinitionNames {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "List what a source file, or each one in a folder, defines, \
        with its lines.";
    const REQUIRED: &'static [&'static str] = &["path"];
    const PEERS: PeerWords = PeerWords {
        renames: &[PATH, FOLDER],
        // It shows lines of files, and a guard of what is read means that, too.
        hook_names: &["Read"],
        ..PeerWords::NONE
    };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({ "path": { "type": "string" } })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let meaning = "the file or folder, relative to the repository root";
        let place = arguments.place("path", meaning, context)?;
        arguments.finish()?;
        Ok(Self { place })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("outline {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let folder = OpenedFolder::open("outline", &self.place, permit, context)?;
        let listed = self.listed(&folder, context)?;
        if listed.paths.is_empty() {
            return Ok(Observation::said(format!(
                "No source code lies directly in `{}`. Known are {}.{}",
                self.place.asked,
                Language::names().join(", "),
                if listed.has_refused { REFUSED } else { "" }
            )));
        }
        let (mut files, wanted) = read(&folder, &listed.paths);
        let outlines = self.outlines(&wanted).await?;
        for ((place, ..), outline) in wanted.iter().zip(outlines) {
            if let Some(file) = files.get_mut(*place) {
                file.outline = outline.map_err(|error| error.to_string());
            }
        }
        if let ([file], false) = (files.as_slice(), folder.is_folder())
            && let Err(why) = &file.outline
        {
            return Err(self.failed(&format!("it {why}")));
        }
        Ok(Observation::said(render(&files, &listed)))
    }
}

impl ListCodeDefinitionNames {
    fn failed(&self, why: &str) -> CallError {
        CallError(format!("Cannot outline `{}`: {why}.", self.place.asked))
    }

    /// Asks a process of its own what the texts define.
    async fn outlines(&self, wanted: &[WantedText]) -> Result<Vec<TextOutline>, CallError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let texts = wanted.iter().map(|(_, language, text)| (*language, text.as_slice()));
        match extracted(ExtractRequest::Outline(texts.collect())).await {
            Ok(ExtractAnswer::Outline(outlines)) if outlines.len() == wanted.len() => Ok(outlines),
            Ok(ExtractAnswer::Outline(_) | ExtractAnswer::Text(_)) => {
                Err(self.failed("its reader gives no outline"))
            }
            Ok(ExtractAnswer::Failed(why)) | Err(why) if wanted.len() == 1 => {
                Err(self.failed(&why))
            }
            Ok(ExtractAnswer::Failed(why)) | Err(why) => {
                Err(self.failed(&format!("{why}. Outline its files one by one")))
            }
        }
    }

    /// Lists the files to look at.
    fn listed(
        &self,
        folder: &OpenedFolder<'_>,
        context: ToolContext<'_>,
    ) -> Result<ListedCode, CallError> {
        let is_code = |path: &RepoPath| Language::of(path.as_str()).is_some();
        let visible = context.visible;
        if !folder.is_folder() {
            let path = folder.path();
            if !visible(path) {
                return Err(self.failed("it may not be read"));
            }
            if !is_code(path) {
                return Err(self.failed(&format!(
                    "its name is of no language that is known. Known are {}. `read_file` and \
                     `search_files` show other files",
                    Language::names().join(", ")
                )));
            }
            return Ok(ListedCode {
                paths: vec![path.clone()],
                has_refused: false,
                has_more: false,
            });
        }
        let list = |room, kept: &dyn Fn(&RepoPath) -> bool| {
            folder.level(SkippedFolders::Git, 0, room, |entry| {
                !entry.is_folder && is_code(&entry.path) && kept(&entry.path)
            })
        };
        let (files, has_more) = list(FILES_LIMIT, visible);
        let (refused, _) = list(1, &|path| !visible(path));
        let paths = files.into_iter().map(|entry| entry.path).collect();
        Ok(ListedCode { paths, has_refused: !refused.is_empty(), has_more })
    }
}

/// Said where some files are not shown because of the policy or the mode.
const REFUSED: &str = "\n(Source files that may not be read are left out.)";

/// The files that are looked at.
struct ListedCode {
    paths: Vec<RepoPath>,
    /// Whether there are others that may not be read.
    has_refused: bool,
    /// Whether there are more than are looked at.
    has_more: bool,
}

/// A file, and what it defines.
struct OutlinedFile {
    path: RepoPath,
    /// Its definitions, or why it is left out: `is binary`.
    outline: Result<Vec<Definition>, String>,
}

/// What is to be parsed: the place of the file among all, its language and its text.
type WantedText = (usize, Language, Vec<u8>);

/// Reads the files, as far as they are not too large together.
fn read(folder: &OpenedFolder<'_>, paths: &[RepoPath]) -> (Vec<OutlinedFile>, Vec<WantedText>) {
    let (mut files, mut wanted, mut room) = (Vec::new(), Vec::new(), FILES_LIMIT_BYTES);
    for path in paths {
        let mut text = Vec::new();
        let left_out = match folder.read_into(path, FILE_LIMIT_BYTES, &mut text) {
            Err(FileError::TooLarge { .. }) => Some("is larger than 1 MiB"),
            Err(_) => Some("cannot be read"),
            Ok(()) if text.contains(&0) => Some("is binary"),
            Ok(()) if text.len() > room => Some("comes after 16 MiB of others"),
            Ok(()) => None,
        };
        if let (None, Some(language)) = (left_out, Language::of(path.as_str())) {
            room -= text.len();
            wanted.push((files.len(), language, text));
        }
        let outline = left_out.map_or(Ok(Vec::new()), |why| Err(why.to_owned()));
        files.push(OutlinedFile { path: path.clone(), outline });
    }
    (files, wanted)
}

fn render(files: &[OutlinedFile], listed: &ListedCode) -> String {
    let mut text = String::new();
    for (place, file) in files.iter().enumerate() {
        if !render_file(&mut text, file) {
            let _ = write!(
                text,
                "\n(Cut after 64 KiB, in file {} of {}. Outline single files, or search them with \
                 `search_files`, for what is left.)",
                place + 1,
                files.len(),
            );
            break;
        }
    }
    text.push_str(&notes(files, listed));
    text.trim().to_owned()
}

/// Adds what a file defines; returns whether there was room for all of it.
fn render_file(text: &mut String, file: &OutlinedFile) -> bool {
    let definitions = file.outline.as_deref().unwrap_or_default();
    if !definitions.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}# {}", file.path);
    }
    for found in definitions {
        if text.len() > SHOWN_LIMIT_BYTES {
            return false;
        }
        let (first, last) = (found.first_line, found.last_line);
        let depth = "  ".repeat(found.depth);
        let _ = writeln!(text, "{first}-{last} | {depth}{}", found.head);
    }
    true
}

/// Says what is not shown.
fn notes(files: &[OutlinedFile], listed: &ListedCode) -> String {
    let mut text = String::new();
    match files.iter().filter(|file| file.outline.as_ref().is_ok_and(Vec::is_empty)).count() {
        0 => {}
        1 => text.push_str("\n(1 file defines nothing.)"),
        count => {
            let _ = write!(text, "\n({count} files define nothing.)");
        }
    }
    let left_out = files.iter().filter_map(|file| {
        let why = file.outline.as_ref().err()?;
        Some(format!("`{}` {why}", file.path))
    });
    let left_out: Vec<String> = left_out.collect();
    if !left_out.is_empty() {
        let named = left_out.get(..left_out.len().min(NAMES_LIMIT)).unwrap_or_default();
        let others = left_out.len() - named.len();
        let others = if others > 0 { format!("; and {others} more") } else { String::new() };
        let _ = write!(text, "\n(Left out: {}{others}.)", named.join("; "));
    }
    if listed.has_refused {
        text.push_str(REFUSED);
    }
    if listed.has_more {
        let _ = write!(
            text,
            "\n(The first {FILES_LIMIT} source files of the folder. Outline others one by one.)"
        );
    }
    text
}

#[cfg(test)]
mod tests;
