//! `generate_image`: has an image model generate an image and writes it to a file.
//!
//! In: a prompt, a target path, perhaps an image to start from. Out: a checked call; then, with the
//! image that the session had generated, the file. The session chooses and asks the image model,
//! charges it and keeps the result.

use serde_json::{Value, json};

use crate::tools::aliases::decisive::TRIED_OUT;
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::files::write::write;
use crate::tools::peer_words::PeerWords;
use crate::tools::picture::holds_secret;
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::tool::{Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::image::{Image, ImageKind};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Longest description of an image, in bytes.
const PROMPT_LIMIT_BYTES: usize = 32 * 1024;

/// Formats that image models generate; none generates GIFs.
const KINDS: [ImageKind; 3] = [ImageKind::Png, ImageKind::Jpeg, ImageKind::Webp];

/// An image about to be generated and written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerateImage {
    /// What is to be seen.
    pub prompt: String,
    place: ResolvedPath,
    /// What kind of image the file's name asks for.
    pub kind: ImageKind,
    from: Option<ResolvedPath>,
    models: Vec<String>,
}

impl Tool for GenerateImage {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str =
        "Have another model draw a picture into a file, from this task's budget.";
    const REQUIRED: &'static [&'static str] = &["prompt", "path"];
    const PEERS: PeerWords =
        PeerWords { decisive: &[TRIED_OUT], hook_names: &["Write"], ..PeerWords::NONE };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::ImageModel);

    fn properties() -> Value {
        json!({
            "prompt": { "type": "string", "description": "What to draw: all it is told" },
            "path": { "type": "string", "description": "Ends in .png, .jpg or .webp" },
            "image": { "type": ["string", "null"], "description": "Path of one to start from" }
        })
    }

    /// Checks the arguments and the mode's restriction.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let prompt = arguments.words("prompt", "what is to be seen")?;
        let place =
            arguments.place("path", "the file, relative to the repository root", context)?;
        let from = arguments.optional_text("image", "path of an image to start from")?;
        let from = from
            .filter(|path| !path.trim().is_empty())
            .map(|path| ResolvedPath::find(&path, context))
            .transpose()?;
        arguments.finish()?;
        let place = place.into_edited(ToolName::GenerateImage, context)?;
        if context.image_models.is_empty() {
            return Err(CallError(
                "No model that draws pictures is configured for this run \
                 (`models.pointers.image`)."
                    .to_owned(),
            ));
        }
        if prompt.len() > PROMPT_LIMIT_BYTES {
            return Err(CallError(format!(
                "`prompt` of `generate_image` has more than {PROMPT_LIMIT_BYTES} bytes."
            )));
        }
        let name = place.real.name().unwrap_or_default();
        let kind = KINDS.into_iter().find(|kind| kind.fits_name(name)).ok_or_else(|| {
            CallError(format!(
                "`path` of `generate_image` has to end in .png, .jpg, .jpeg or .webp; `{}` does \
                 not.",
                place.real
            ))
        })?;
        Ok(Self { prompt, place, kind, from, models: context.image_models.to_vec() })
    }

    fn intents(&self) -> Vec<Intent> {
        let from = self.from.iter().map(|place| Intent::Read(place.real.clone()));
        let models = self.models.iter().map(|name| Intent::Expert(name.clone()));
        self.place.edit_intents().chain(from).chain(models).collect()
    }

    fn headline(&self) -> String {
        format!("draw {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let ResolvedPath { asked, real, .. } = &self.place;
        let Some((picture, bytes)) =
            context.given.picture.and_then(|picture| Some((picture, picture.content.bytes()?)))
        else {
            let text = "The picture that was drawn is gone; nothing was written.";
            return Err(CallError(text.to_owned()));
        };
        if picture.kind != self.kind {
            let kind = picture.kind.as_str();
            return Err(CallError(format!(
                "What was drawn is an {picture}, which is no content for `{asked}`; nothing was \
                 written. It is kept: the same call with a `path` that ends in .{kind} writes it \
                 and draws nothing anew."
            )));
        }
        if holds_secret(bytes, context) {
            let text = "What was drawn holds a secret in its bytes; nothing was written.";
            return Err(CallError(text.to_owned()));
        }
        let existed = write(&self.place, bytes, permit, context)?;
        let done = if existed { "Replaced" } else { "Created" };
        let text = format!(
            "{done} `{asked}` ({picture}). Whether it shows what it should is not checked; \
             read_file shows it to a model that sees images."
        );
        Ok(Observation { touched: vec![real.clone()], ..Observation::said(text) })
    }
}

impl GenerateImage {
    /// Reads the image it starts from; `None` where it starts from nothing.
    ///
    /// # Errors
    /// A sentence for the model, where there is no such image or it may not be sent.
    pub fn source(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Option<Image>, CallError> {
        let Some(place) = &self.from else { return Ok(None) };
        let refused =
            |why: String| CallError(format!("Nothing was drawn: `{}` {why}.", place.asked));
        let bytes = context
            .checkout
            .read(permit, &place.real, FILE_LIMIT_BYTES)
            .map_err(|error| refused(format!("cannot be started from: {error}")))?;
        let image = Image::parse(&bytes).map_err(|error| refused(error.to_string()))?;
        if holds_secret(&bytes, context) {
            return Err(refused("holds a secret in its bytes and is sent nowhere".to_owned()));
        }
        Ok(Some(image))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they are about")]
mod tests;
