//! Images of a conversation as an adapter sends them: in base64, or words in their place.
//!
//! In: images and the kinds a model takes. Out: what goes over the wire. Bytes are encoded while
//! the body is written; nothing is decoded.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

use locum_base::image::{Image, ImageKind};

/// An image as it is sent, or the text that replaces it.
#[derive(Clone, Copy)]
pub(crate) enum SentImage<'a> {
    /// Sent as an image.
    Image(EncodedImage<'a>),
    /// Why there is none.
    Note(&'static str),
}

/// An image that is sent.
#[derive(Clone, Copy)]
pub(crate) struct EncodedImage<'a> {
    pub(crate) kind: ImageKind,
    pub(crate) bytes: &'a [u8],
}

/// Bytes that are written in base64.
#[derive(Clone, Copy)]
pub(crate) struct Base64<'a>(pub(crate) &'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// An image that is written as an address.
#[derive(Clone, Copy)]
pub(crate) struct DataUri<'a>(pub(crate) EncodedImage<'a>);

impl Serialize for DataUri<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = Base64Display::new(self.0.bytes, &STANDARD);
        serializer.collect_str(&format_args!("data:{};base64,{data}", self.0.kind.media_type()))
    }
}

/// Returns images as a model that takes these kinds is sent them; one that sees none takes no kind.
pub(crate) fn sent_images<'a>(
    images: &'a [Image],
    kinds: &'static [ImageKind],
) -> impl Iterator<Item = SentImage<'a>> {
    images.iter().map(move |image| match image.content.bytes() {
        _ if !kinds.contains(&image.kind) => {
            SentImage::Note("(An image stands here that this model cannot be shown.)")
        }
        Some(bytes) => SentImage::Image(EncodedImage { kind: image.kind, bytes }),
        None => SentImage::Note("(An image stood here that is gone. Look at it again to see it.)"),
    })
}
