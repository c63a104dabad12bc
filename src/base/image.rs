//! `Image`: an image in a conversation, known by its bytes and never by its name.
//!
//! In: the bytes of a file or of a reply. Out: its kind, its size as its header says, its hash, and
//! what it counts for. Nothing is ever decoded, so that a small file that claims to be a huge
//! image costs nothing here. Callers decide who is shown it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Largest image a model is shown, in bytes: 5 MB as base64 (Anthropic API, "Vision": limits of one
/// image).
pub const IMAGE_LIMIT_BYTES: usize = 3_750_000;
/// Most pixels of one side (Anthropic API, "Vision").
pub const IMAGE_LIMIT_SIDE: u32 = 8000;
/// Most images of one conversation: with more of them, providers take smaller ones only.
pub const IMAGES_LIMIT: usize = 20;
/// Most bytes of all images of one conversation: as base64 they stay below the 20 MB that Gemini
/// takes in one request.
pub const IMAGES_LIMIT_BYTES: usize = 12 * 1024 * 1024;

/// Says that images are too many, or too large together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a conversation holds {IMAGES_LIMIT} images of {IMAGES_LIMIT_BYTES} bytes together at most"
)]
pub struct TooManyImages;

/// Checks that a conversation has room for images.
///
/// # Errors
/// When they are too many, or too large together.
pub fn check_room<'i>(images: impl IntoIterator<Item = &'i Image>) -> Result<(), TooManyImages> {
    let (count, bytes) = images.into_iter().fold((0_usize, 0_usize), |(count, bytes), image| {
        (count.saturating_add(1), bytes.saturating_add(image.size_bytes))
    });
    if count > IMAGES_LIMIT || bytes > IMAGES_LIMIT_BYTES { Err(TooManyImages) } else { Ok(()) }
}

/// What an image is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
}

impl ImageKind {
    /// Every kind, for iteration.
    pub const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp];

    /// Looks at the first bytes; `None` for anything else.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let at = |from: usize, wanted: &[u8]| bytes.get(from..from + wanted.len()) == Some(wanted);
        if at(0, b"\x89PNG\r\n\x1a\n") && at(12, b"IHDR") {
            Some(Self::Png)
        } else if at(0, b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
            Some(Self::Gif)
        } else if at(0, b"RIFF") && at(8, b"WEBP") {
            Some(Self::Webp)
        } else {
            None
        }
    }

    /// Returns its name as media types have it.
    pub fn as_str(self) -> &'static str {
        self.media_type().trim_start_matches("image/")
    }

    /// Returns its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// Returns true when a file of this name would be expected to hold it.
    pub fn fits_name(self, name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match (self, ending.as_deref()) {
            (Self::Jpeg, Some("jpg")) => true,
            (_, Some(ending)) => ending == self.as_str(),
            (_, None) => false,
        }
    }
}

/// An image in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Format, by its first bytes.
    pub kind: ImageKind,
    /// Pixels from left to right, as its header says.
    pub width: u32,
    /// Pixels from top to bottom, as its header says.
    pub height: u32,
    /// Its length in bytes.
    pub size_bytes: usize,
    /// SHA-256 of its bytes, which name its file next to the journal.
    pub hash: String,
    /// Its bytes; not written where it is described.
    #[serde(skip)]
    pub content: ImageContent,
}

/// The bytes of an image, shared by everything that shows it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ImageContent(Option<Arc<[u8]>>);

impl ImageContent {
    /// Returns the bytes; `None` where they were not kept.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }
}

impl fmt::Debug for ImageContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.0.as_ref().map_or(0, |bytes| bytes.len()))
    }
}

/// Why bytes are not an image that a model can be shown: a fragment that follows "it".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Another kind of file.
    #[error("is not a PNG, JPEG, GIF or WebP image")]
    NoImage,
    /// The header gives no size.
    #[error("begins as a {} but its header is broken", kind.as_str())]
    Broken {
        /// What it begins as.
        kind: ImageKind,
    },
    /// Too many bytes.
    #[error("has {size_bytes} bytes, more than the {IMAGE_LIMIT_BYTES} of an image that is shown")]
    TooLarge {
        /// Length in bytes.
        size_bytes: usize,
    },
    /// Too many pixels.
    #[error(
        "is {width}x{height}, more than the {IMAGE_LIMIT_SIDE} pixels a side of an image that is \
         shown"
    )]
    TooWide {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
}

impl Image {
    /// Reads the header of an image.
    ///
    /// # Errors
    /// When the bytes are not an image, broken, or larger than models are shown.
    pub fn parse(bytes: &[u8]) -> Result<Self, ImageError> {
        let image = Self::measure(bytes)?;
        if image.width > IMAGE_LIMIT_SIDE || image.height > IMAGE_LIMIT_SIDE {
            return Err(ImageError::TooWide { width: image.width, height: image.height });
        }
        if bytes.len() > IMAGE_LIMIT_BYTES {
            return Err(ImageError::TooLarge { size_bytes: bytes.len() });
        }
        Ok(image)
    }

    /// Reads the header of an image, however large: for images that models give and none is shown.
    ///
    /// # Errors
    /// When the bytes are not an image, or broken.
    pub fn measure(bytes: &[u8]) -> Result<Self, ImageError> {
        let kind = ImageKind::of(bytes).ok_or(ImageError::NoImage)?;
        let size = imagesize::blob_size(bytes).map_err(|_| ImageError::Broken { kind })?;
        let side = |pixels: usize| {
            u32::try_from(pixels)
                .ok()
                .filter(|pixels| *pixels > 0)
                .ok_or(ImageError::Broken { kind })
        };
        let (width, height) = (side(size.width)?, side(size.height)?);
        let hash = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            kind,
            width,
            height,
            size_bytes: bytes.len(),
            hash,
            content: ImageContent(Some(bytes.into())),
        })
    }

    /// Puts back the bytes that were stored separately; those of another image are not taken.
    pub fn with_content(self, bytes: &[u8]) -> Self {
        match Self::measure(bytes) {
            Ok(found) if found.hash == self.hash => found,
            Ok(_) | Err(_) => self,
        }
    }

    /// Returns about how many tokens it is for the dearest of the models it may be shown to: an
    /// estimate. See [`estimates`].
    pub fn tokens(&self) -> usize {
        estimates(self.width, self.height).into_iter().max().unwrap_or_default()
    }
}

impl fmt::Display for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "image {}x{} {}, ", self.width, self.height, self.kind.as_str())?;
        match self.size_bytes {
            bytes @ 0..1024 => write!(formatter, "{bytes} bytes"),
            bytes => write!(formatter, "{} KB", bytes.div_ceil(1024)),
        }
    }
}

/// Returns about how many tokens an image of this many pixels is for models of OpenAI, Anthropic
/// and Gemini: estimates, as their guides to images put them together, each for the model of theirs
/// that counts most.
///
/// - OpenAI: patches of 32 by 32 pixels, 1,536 at most, times 2.46.
/// - Anthropic: a token for 750 pixels, 4,784 at most.
/// - Gemini: 1,120, or 258 for each tile of 768 by 768 pixels where those are more.
pub fn estimates(width: u32, height: u32) -> [usize; 3] {
    let (width, height) = (
        usize::try_from(width).unwrap_or(usize::MAX),
        usize::try_from(height).unwrap_or(usize::MAX),
    );
    let patches = width.div_ceil(32).saturating_mul(height.div_ceil(32)).min(1536);
    let tiles = width.div_ceil(768).saturating_mul(height.div_ceil(768));
    [
        patches.saturating_mul(246).div_ceil(100),
        width.saturating_mul(height).div_ceil(750).min(4784),
        tiles.saturating_mul(258).max(1120),
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{IMAGE_LIMIT_BYTES, Image, ImageError, ImageKind, estimates};
    use crate::samples::{gif, jpeg, png};

    fn webp(width: u32, height: u32) -> Vec<u8> {
        let (width, height) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
        [&b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"[..], &width[..3], &height[..3]].concat()
    }

    #[test]
    fn tells_images_by_their_bytes() {
        for (bytes, kind, size) in [
            (png(640, 480), ImageKind::Png, (640, 480)),
            (jpeg(300, 20), ImageKind::Jpeg, (300, 20)),
            (gif(7, 9), ImageKind::Gif, (7, 9)),
            (webp(1024, 33), ImageKind::Webp, (1024, 33)),
        ] {
            let image = Image::parse(&bytes).unwrap();
            assert_eq!(
                (image.kind, (image.width, image.height), image.size_bytes),
                (kind, size, bytes.len()),
                "{kind:?}"
            );
            assert_eq!(image.content.bytes(), Some(&bytes[..]));
        }
    }

    #[test]
    fn takes_nothing_else_for_an_image() {
        for (bytes, error) in [
            (&b""[..], ImageError::NoImage),
            (b"<svg/>", ImageError::NoImage),
            (b"\x89PNG", ImageError::NoImage),
            (b"\x89PNG\r\n\x1a\nxxxxJUNK", ImageError::NoImage),
            (b"RIFFxxxxWAVE", ImageError::NoImage),
            (b"BMxxxxxx", ImageError::NoImage),
            (&png(1, 1)[..18], ImageError::Broken { kind: ImageKind::Png }),
            (&jpeg(1, 1)[..8], ImageError::Broken { kind: ImageKind::Jpeg }),
            (b"\xff\xd8\xff\xe0\0\0\0\0\0\0", ImageError::Broken { kind: ImageKind::Jpeg }),
            (b"GIF89a", ImageError::Broken { kind: ImageKind::Gif }),
            (b"RIFF\0\0\0\0WEBP", ImageError::Broken { kind: ImageKind::Webp }),
            (&png(0, 5), ImageError::Broken { kind: ImageKind::Png }),
            (&png(8001, 5), ImageError::TooWide { width: 8001, height: 5 }),
            (&png(5, u32::MAX), ImageError::TooWide { width: 5, height: 4_294_967_295 }),
        ] {
            assert_eq!(Image::parse(bytes).unwrap_err(), error, "{bytes:?}");
        }
        let mut large = png(10, 10);
        large.resize(IMAGE_LIMIT_BYTES, 0);
        assert!(Image::parse(&large).is_ok());
        large.push(0);
        assert_eq!(
            Image::parse(&large).unwrap_err(),
            ImageError::TooLarge { size_bytes: IMAGE_LIMIT_BYTES + 1 }
        );
    }

    #[test]
    fn is_written_without_its_bytes_and_gets_only_its_own_back() {
        let image = Image::parse(&png(640, 480)).unwrap();
        let text = serde_json::to_string(&image).unwrap();
        assert!(
            text.starts_with(r#"{"kind":"png","width":640,"height":480,"size_bytes":29,"hash":""#),
            "{text}"
        );
        let read: Image = serde_json::from_str(&text).unwrap();
        assert_eq!(read.content.bytes(), None);
        assert_eq!(read.clone().with_content(&png(640, 481)), read);
        assert_eq!(read.with_content(&png(640, 480)), image);
        assert_eq!(image.to_string(), "image 640x480 png, 29 bytes");
        assert_eq!(Image { size_bytes: 12_000, ..image }.to_string(), "image 640x480 png, 12 KB");
    }

    #[test]
    fn counts_tokens_by_each_providers_rule() {
        for (size, expected) in [
            ((100, 100), [40, 14, 1120]),
            ((1024, 1024), [2520, 1399, 1120]),
            ((8000, 8000), [3779, 4784, 31218]),
            ((1, 1), [3, 1, 1120]),
        ] {
            assert_eq!(estimates(size.0, size.1), expected, "{size:?}");
        }
    }

    #[test]
    fn knows_the_names_it_fits() {
        for (kind, name, fits) in [
            (ImageKind::Png, "a/b.png", true),
            (ImageKind::Png, "b.PNG", true),
            (ImageKind::Jpeg, "b.jpg", true),
            (ImageKind::Jpeg, "b.jpeg", true),
            (ImageKind::Png, "b.jpg", false),
            (ImageKind::Webp, "webp", false),
        ] {
            assert_eq!(kind.fits_name(name), fits, "{kind:?} {name}");
        }
    }
}
