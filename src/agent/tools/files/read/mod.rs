//! `read_file`: shows files, or parts of them, with line numbers.
//!
//! A call names one file or several. Each is an intent of its own: one that may not be read, or is
//! not there, is named in the answer and the others are shown.

pub mod indentation;
pub mod large;
mod shown;
pub mod view;
pub mod wanted;

use std::fs::File;
use std::io::Read as _;

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::extracted::document_text;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::known::SeenFile;
use crate::tools::files::read::large::SCAN_LIMIT_BYTES;
use crate::tools::files::read::shown::{NO_ROOM, ShownFile};
use crate::tools::files::read::wanted::{FileCount, ReadSource, WantedFile};
use crate::tools::kept_output::read_output;
use crate::tools::peer_words::{PATH, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::near_names::{WantedEntry, did_you_mean};
use crate::tools::tool::{LeftOut, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_extract::document::{DOCUMENT_LIMIT_BYTES, DocumentKind};
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;
use locum_workspace::layer::Layer;

/// Lines shown unless the call asks for less.
pub const DEFAULT_LINES: usize = 2000;

/// Most bytes of a file shown by one call; another call can read the rest.
pub const SHOWN_LIMIT_BYTES: usize = 48 * 1024;

/// Most bytes of all files shown by one call.
const SHOWN_TOGETHER_LIMIT_BYTES: usize = 96 * 1024;

/// The same of an answer that was shortened because it is longer than this.
const OUTPUT_SHOWN_LIMIT_BYTES: usize = 16 * 1024;

/// Bytes by which a document is known.
const DOCUMENT_START_BYTES: u64 = 1024;

/// Most files of one call.
const FILES_LIMIT: usize = 20;

/// Most files that a headline names.
const FILES_NAMED: usize = 3;

/// Files about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// In the order they are shown; never empty.
    files: Vec<WantedFile>,
}

impl Tool for ReadFile {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Read files with line numbers, whole or in part: text, \
        PDF, DOCX, XLSX, notebooks; look at images. Mode `indentation` shows the complete block around one line.";
    const REQUIRED: &'static [&'static str] = &["path"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            PATH,
            &[("start_line", "offset"), ("line_start", "offset"), ("max_lines", "limit")],
        ],
        hook_names: &["Read"],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        let ranges = json!({ "type": "array", "items": { "type": "string" } });
        json!({
            "path": { "type": "string", "description": "Relative to the repository root" },
            "line_ranges": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Parts such as `10-40`"
            },
            "files": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "path": { "type": "string" }, "line_ranges": ranges }
                },
                "description": "More files for the same call"
            },
            "mode": { "type": "string", "enum": ["slice", "indentation", "raw"], "description": "`raw`: a notebook's JSON" },
            "offset": { "type": "integer", "description": "First line, default 1" },
            "limit": { "type": "integer", "description": "Most lines, default 2000" },
            "column": { "type": "integer", "description": "Shows line `offset` from this character" },
            "indentation": {
                "type": "object",
                "properties": {
                    "anchor_line": { "type": "integer", "description": "Default `offset`" },
                    "max_levels": { "type": "integer", "description": "0 for all" },
                    "include_siblings": { "type": "boolean" },
                    "include_header": { "type": "boolean", "description": "Default true" },
                    "max_lines": { "type": "integer" }
                },
                "additionalProperties": false
            }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let mut others = arguments.objects("files", "more files, each with its `path`")?;
        if others.len() >= FILES_LIMIT {
            return Err(CallError(format!(
                "`read_file` takes {FILES_LIMIT} files a call at most, not {}.",
                others.len() + 1
            )));
        }
        let count = if others.is_empty() { FileCount::One } else { FileCount::Several };
        let mut files = vec![WantedFile::parse(&mut arguments, count, context)?];
        arguments.finish()?;
        for fields in &mut others {
            files.push(WantedFile::parse(fields, count, context)?);
        }
        others.into_iter().try_for_each(CallFields::finish)?;
        let call = Self { files };
        if call.intents().is_empty() { Err(call.nothing_to_read()) } else { Ok(call) }
    }

    fn intents(&self) -> Vec<Intent> {
        let mut intents = Vec::new();
        for intent in self.files.iter().filter_map(|file| file.source.intent()) {
            if !intents.contains(&intent) {
                intents.push(intent);
            }
        }
        intents
    }

    fn without(&self, refused: &dyn Fn(&Intent) -> Option<String>) -> Option<Self> {
        let mut files = self.files.clone();
        for file in &mut files {
            if let Some(why) = file.source.intent().and_then(|intent| refused(&intent)) {
                let path = file.source.to_string();
                file.source = ReadSource::Unread { path, why };
            }
        }
        let rest = Self { files };
        (!rest.intents().is_empty()).then_some(rest)
    }

    fn left_out(&self) -> Vec<LeftOut> {
        self.files.iter().filter_map(|file| file.source.left_out()).collect()
    }

    fn headline(&self) -> String {
        let named: Vec<String> =
            self.files.iter().take(FILES_NAMED).map(|file| file.source.to_string()).collect();
        match self.files.len().saturating_sub(FILES_NAMED) {
            0 => format!("read {}", named.join(", ")),
            more => format!("read {} and {more} more", named.join(", ")),
        }
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let mut scan_bytes = SCAN_LIMIT_BYTES;
        if let [file] = self.files.as_slice() {
            let limits = ReadLimits { room_bytes: SHOWN_LIMIT_BYTES, scan_bytes: &mut scan_bytes };
            return read(file, limits, permit, context).await;
        }
        let (mut texts, mut left) = (Vec::new(), SHOWN_TOGETHER_LIMIT_BYTES);
        let mut all = Observation { is_error: true, ..Observation::default() };
        for (at, file) in self.files.iter().enumerate() {
            let room_bytes = (left / (self.files.len() - at)).min(SHOWN_LIMIT_BYTES);
            if room_bytes == 0 {
                texts.push(format!("File: {}\n{NO_ROOM}", file.source));
                continue;
            }
            let limits = ReadLimits { room_bytes, scan_bytes: &mut scan_bytes };
            let one = read(file, limits, permit, context).await.unwrap_or_else(|error| {
                let head = format!("File: {}\n", file.source);
                let why = error.0.strip_prefix(&head).unwrap_or(&error.0);
                Observation::failed(format!("{head}{why}"))
            });
            left = left.saturating_sub(one.text.len());
            all.is_error &= one.is_error;
            all.seen.extend(one.seen);
            all.images.extend(one.images);
            texts.push(one.text);
        }
        Ok(Observation { text: texts.join("\n\n"), ..all })
    }
}

impl ReadFile {
    /// Says of each file why it is not read.
    fn nothing_to_read(&self) -> CallError {
        let said = |file: &WantedFile| {
            let left_out = file.source.left_out()?;
            Some(format!("File: {}\n{}", file.source, left_out.why))
        };
        CallError(self.files.iter().filter_map(said).collect::<Vec<_>>().join("\n\n"))
    }
}

/// What is left of a call's limits for one of its files.
struct ReadLimits<'r> {
    /// Most bytes of it that are shown.
    room_bytes: usize,
    /// Most bytes looked through in files that are not read whole; what was is taken off.
    scan_bytes: &'r mut u64,
}

/// Reads one file of a call.
async fn read(
    wanted: &WantedFile,
    ReadLimits { room_bytes, scan_bytes }: ReadLimits<'_>,
    permit: &Permit<CheckedCall>,
    context: ToolContext<'_>,
) -> Result<Observation, CallError> {
    let shown = ShownFile { wanted, room_bytes, about: "" };
    let place = match &wanted.source {
        ReadSource::File(place) => place,
        ReadSource::Output(number) => {
            let text = read_output(*number, context)?;
            let room_bytes = room_bytes.min(OUTPUT_SHOWN_LIMIT_BYTES);
            return ShownFile { room_bytes, ..shown }.text(&text);
        }
        ReadSource::Unread { why, .. } => return Err(CallError(why.clone())),
    };
    let file = SeenPlace { place, permit, context };
    let content = match file.content(FILE_LIMIT_BYTES) {
        Err(FileError::TooLarge { size_bytes, .. }) => {
            let is_document = !wanted.is_raw && file.is_document().map_err(|e| file.unread(e))?;
            if !is_document {
                let opened = file.open().map_err(|error| file.unread(error))?;
                return shown.large(size_bytes, opened, scan_bytes).await;
            }
            file.content(DOCUMENT_LIMIT_BYTES)
        }
        content => content,
    };
    let content = content.map_err(|error| file.unread(error))?;
    // What a command left is judged later: only then it is the checkout's.
    let seen = match file.layer() {
        Some(_) => Vec::new(),
        None => vec![SeenFile::new(&place.real, &content)],
    };
    let kind = DocumentKind::of(place.asked.as_str(), &content).filter(|_| !wanted.is_raw);
    let observation = match kind {
        None => shown.content(&content, context)?,
        Some(kind) => match document_text(kind, &content).await {
            Ok(text) => {
                let about =
                    format!("Text of this {}; lines are those of the text.\n\n", kind.name());
                ShownFile { about: &about, ..shown }.text(&text)?
            }
            // A notebook is text itself, also one that is broken.
            Err(why) if kind == DocumentKind::Notebook => {
                let about = format!("Shown as it is, not by its cells: {why}.\n\n");
                ShownFile { about: &about, ..shown }.content(&content, context)?
            }
            Err(why) => {
                return Err(CallError(format!("Cannot read `{}`: {why}.", place.asked)));
            }
        },
    };
    Ok(Observation { seen, ..observation })
}

/// A file where commands see it: what they left of it, or what the checkout has.
#[derive(Clone, Copy)]
struct SeenPlace<'c> {
    place: &'c ResolvedPath,
    permit: &'c Permit<CheckedCall>,
    context: ToolContext<'c>,
}

impl<'c> SeenPlace<'c> {
    fn layer(&self) -> Option<&'c Layer> {
        self.context.layer.filter(|layer| layer.covers(&self.place.real))
    }

    fn content(&self, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
        let (permit, real) = (self.permit, &self.place.real);
        match self.layer() {
            None => self.context.checkout.read(permit, real, limit_bytes),
            Some(layer) if layer.entry(real).is_none() => Err(FileError::Missing(real.clone())),
            Some(layer) => layer.read(permit, real, limit_bytes),
        }
    }

    fn open(&self) -> Result<File, FileError> {
        match self.layer() {
            None => self.context.checkout.open_file(self.permit, &self.place.real),
            Some(layer) => layer.open_file(self.permit, &self.place.real),
        }
    }

    /// Whether a file that is too large to be shown is a document whose text may be.
    fn is_document(&self) -> Result<bool, FileError> {
        let mut start = Vec::new();
        let read = self.open()?.take(DOCUMENT_START_BYTES).read_to_end(&mut start);
        Ok(read.is_ok() && DocumentKind::of(self.place.asked.as_str(), &start).is_some())
    }

    fn unread(&self, error: FileError) -> CallError {
        unread(self.place, error, self.context)
    }
}

fn unread(place: &ResolvedPath, error: FileError, context: ToolContext<'_>) -> CallError {
    let path = &place.asked;
    match error {
        FileError::NotAFile { what: "a directory", .. } => CallError(format!(
            "Cannot read `{path}` because it is a directory; list_files shows what is in it."
        )),
        error @ FileError::Missing(_) => {
            let near = did_you_mean(path, WantedEntry::File, context);
            CallError(format!("Cannot read `{path}`: {error}.{near}"))
        }
        error => CallError(format!("Cannot read `{path}`: {error}.")),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they are about")]
mod tests;
