//! Arguments of `locum memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with the notes that runs keep for later ones.
#[derive(Clone, Debug, Subcommand)]
pub enum MemoryCommand {
    /// List every note with its source.
    List(MemoryListArgs),
    /// Show one note with its source.
    Show(MemoryNoteArgs),
    /// Write a note by hand, in place of one of its name.
    ///
    /// The text is read from stdin, unless `--text` or `--file` gives it.
    Set(MemorySetArgs),
    /// Remove a note.
    Remove(MemoryNoteArgs),
    /// Show who changed which note, the newest change first.
    Log(MemoryListArgs),
}

/// How notes are listed.
#[derive(Clone, Debug, Args)]
pub struct MemoryListArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which note is meant.
#[derive(Clone, Debug, Args)]
pub struct MemoryNoteArgs {
    /// Name of the note.
    pub name: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to write.
#[derive(Clone, Debug, Args)]
pub struct MemorySetArgs {
    /// Name of the note: small letters, digits and `-`.
    pub name: String,
    /// Text of the note, at most 4096 bytes.
    #[arg(long, conflicts_with = "file")]
    pub text: Option<String>,
    /// File that holds the text.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
