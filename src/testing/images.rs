//! Small images.

use locum_base::chat::ToolResult;
use locum_base::image::{Image, ImageContent};

/// The beginning of a PNG of this many pixels.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x02\0\0\0");
    bytes
}

/// An answer that shows images: a PNG, a GIF, and one whose bytes are gone.
pub fn answer(call_id: &str) -> ToolResult {
    let parse = |bytes: &[u8]| Image::parse(bytes).unwrap();
    let (png, gif) = (parse(&png(2, 3)), parse(&gif(2, 3)));
    let gone = Image { content: ImageContent::default(), ..png.clone() };
    ToolResult {
        call_id: call_id.into(),
        text: "File: a".into(),
        images: vec![png, gif, gone],
        ..ToolResult::default()
    }
}

/// The beginning of a JPEG of this many pixels.
pub fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe0\0\x04xx\xff\xc0\0\x11\x08".to_vec();
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend([0; 8]);
    bytes
}

/// The beginning of a GIF of this many pixels.
pub fn gif(width: u16, height: u16) -> Vec<u8> {
    [&b"GIF89a"[..], &width.to_le_bytes(), &height.to_le_bytes(), &[0; 4]].concat()
}
