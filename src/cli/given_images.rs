//! `--image`: images that a user gives with a task, or with a message to a session.
//!
//! In: files, relative to the folder of the call. Out: images that a model can be shown, or which
//! file is none. Whether the model sees them is known later.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cli::CommandContext;
use crate::run::error::RunError;
use crate::run::extras::RunExtras;
use crate::run::prepare::PreparedRun;
use locum_base::image::{self, IMAGE_LIMIT_BYTES, Image};

/// Returns what a run begins with that is given these images.
///
/// # Errors
/// When one cannot be read or shown.
pub fn extras(
    run: &mut PreparedRun,
    files: &[PathBuf],
    context: &CommandContext,
) -> Result<RunExtras, RunError> {
    let mut extras = RunExtras::default();
    for file in files {
        let bytes = read(file, context)?;
        let from = format!("given with the task as `{}`", file.display());
        extras.add_image(run, &bytes, from).map_err(|why| not_shown(file, &why))?;
    }
    if extras.unseen_images > 0 {
        run.plan.notes.push(extras.unseen(run));
    }
    Ok(extras)
}

/// Reads the images of a message to a session; `parse` says what a file's bytes are.
///
/// # Errors
/// When one cannot be read or shown, or they are too many.
pub fn of_message(
    files: &[PathBuf],
    context: &CommandContext,
    parse: impl Fn(&[u8]) -> Result<Image, String>,
) -> Result<Vec<Image>, RunError> {
    let read = |file: &PathBuf| parse(&read(file, context)?).map_err(|why| not_shown(file, &why));
    let images = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    image::check_room(&images).map_err(|error| RunError::usage("--image", error.to_string()))?;
    Ok(images)
}

fn read(file: &Path, context: &CommandContext) -> Result<Vec<u8>, RunError> {
    let mut bytes = Vec::new();
    File::open(context.folder.join(file))
        .and_then(|file| file.take(IMAGE_LIMIT_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| not_shown(file, &error.to_string()).hint(context.looked_for_in()))?;
    Ok(bytes)
}

fn not_shown(file: &Path, why: &str) -> RunError {
    RunError::usage("--image", format!("`{}` is not shown: {why}", file.display()))
}
