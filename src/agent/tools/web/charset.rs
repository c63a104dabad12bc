//! `DecodedText`: the text of a page's bytes, whatever charset they are in.
//!
//! In: the bytes, and what their server says of them. Out: the text, and what a reader should know
//! of how it was read. A mark at the beginning counts before what the server says, and that before
//! what the page says of itself, as in a browser.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes at the beginning of a page in which it may say its charset.
const SOUGHT_BYTES: usize = 1024;

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecodedText {
    pub(super) text: String,
    /// What a reader should know of how it was read.
    pub(super) note: Option<String>,
}

impl DecodedText {
    /// Reads bytes; a body that was cut may end within a character.
    pub(super) fn of(content_type: &str, body: &[u8], is_cut: bool) -> Self {
        let named = in_header(content_type);
        let (encoding, body, note) = if let Some((encoding, mark)) = Encoding::for_bom(body) {
            (encoding, body.get(mark..).unwrap_or_default(), None)
        } else if let Some(encoding) = named.and_then(known) {
            (encoding, body, None)
        } else if let Some(encoding) = in_page(body) {
            (encoding, body, None)
        } else {
            let encoding = if is_utf8(body) { UTF_8 } else { WINDOWS_1252 };
            let why = match named {
                Some(_) => Some("Its charset is not known"),
                None if encoding == WINDOWS_1252 => Some("It names no charset and is not UTF-8"),
                None => None,
            };
            let note = why.map(|why| format!("{why}; it was read as {}.", encoding.name()));
            (encoding, body, note)
        };
        let (text, is_damaged) = encoding.decode_without_bom_handling(body);
        let damage = || format!("Parts of it are not {} and are shown as �.", encoding.name());
        let note = note.or_else(|| (is_damaged && !is_cut).then(damage));
        Self { text: text.into_owned(), note }
    }
}

/// Returns whether bytes that say nothing of themselves are a text.
pub(super) fn looks_like_text(body: &[u8]) -> bool {
    let start = body.get(..body.len().min(4096)).unwrap_or_default();
    let is_binary = |byte: &u8| {
        byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c' | b'\x1b')
    };
    Encoding::for_bom(body).is_some() || (is_utf8(start) && !start.iter().any(is_binary))
}

/// Returns whether bytes are UTF-8, perhaps cut within a character.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

fn in_header(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Returns the charset that HTML or XML names. Who can be read so far is not in UTF-16.
fn in_page(body: &[u8]) -> Option<&'static Encoding> {
    let start = body.get(..body.len().min(SOUGHT_BYTES)).unwrap_or_default();
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let of_xml = || {
        let (declaration, _) = start.strip_prefix("<?xml")?.split_once("?>")?;
        value(declaration.split_once("encoding")?.1)
    };
    let mut tags = start.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
    let label = of_xml().or_else(|| tags.find_map(|tag| value(tag.split_once("charset")?.1)))?;
    let encoding = known(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// Returns the value after an attribute's name.
fn value(rest: &str) -> Option<&str> {
    let quotes = ['"', '\''];
    let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(quotes);
    let stops = |letter: char| letter.is_whitespace() || letter == ';' || quotes.contains(&letter);
    rest.split(stops).next().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{DecodedText, looks_like_text};

    #[test]
    fn a_text_is_read_in_its_charset() {
        let sjis = b"\x93\xfa\x96\x7b".as_slice();
        let meta = |label: &str| [format!("<meta charset={label}>").as_bytes(), sjis].concat();
        for (kind, body, text) in [
            ("text/html; charset=Shift_JIS", sjis.to_vec(), "日本"),
            ("text/html;Charset=\"shift_jis\"; x=y", sjis.to_vec(), "日本"),
            ("text/html", meta("'Shift_JIS'"), "<meta charset='Shift_JIS'>日本"),
            ("text/html; charset=nothing", meta("sjis"), "<meta charset=sjis>日本"),
            (
                "text/html",
                b"<META http-equiv=Content-Type content=\"text/html; charset=iso-8859-1\">\xe9"
                    .to_vec(),
                "<META http-equiv=Content-Type content=\"text/html; charset=iso-8859-1\">é",
            ),
            (
                "text/xml",
                b"<?xml version='1.0' encoding='iso-8859-2'?>\xb1".to_vec(),
                "<?xml version='1.0' encoding='iso-8859-2'?>ą",
            ),
            ("text/plain; charset=windows-1252", b"\x93\x80\x94".to_vec(), "“€”"),
            ("text/plain; charset=latin1", b"caf\xe9".to_vec(), "café"),
            ("text/plain; charset=utf-16", b"\xff\xfeh\0i\0".to_vec(), "hi"),
            ("text/plain", b"\xfe\xff\0h\0i".to_vec(), "hi"),
            ("text/plain; charset=latin1", b"\xef\xbb\xbf\xc3\xa9".to_vec(), "é"),
            ("text/html", b"<meta charset=utf-16>\xc3\xa9".to_vec(), "<meta charset=utf-16>é"),
            ("", "é".into(), "é"),
        ] {
            let expected = DecodedText { text: text.to_owned(), note: None };
            assert_eq!(DecodedText::of(kind, &body, false), expected, "{kind}");
        }
    }

    #[test]
    fn what_is_guessed_or_damaged_is_said() {
        let note = |kind: &str, body: &[u8], is_cut| DecodedText::of(kind, body, is_cut).note;
        let check = |kind: &str, body: &[u8], words: &str| {
            assert_eq!(note(kind, body, false).as_deref(), Some(words), "{kind}");
        };
        let guessed = "It names no charset and is not UTF-8; it was read as windows-1252.";
        check("text/plain", b"caf\xe9.", guessed);
        check("text/plain; charset=x", b"x", "Its charset is not known; it was read as UTF-8.");
        let damaged = "Parts of it are not UTF-8 and are shown as \u{fffd}.";
        check("text/plain; charset=utf-8", b"caf\xe9", damaged);
        assert_eq!(note("text/plain; charset=utf-8", b"caf\xc3", true), None);
        assert_eq!(note("text/plain", b"caf\xc3", true), None);
    }

    #[test]
    fn bytes_are_a_text_where_they_read_as_one() {
        let long = ["é".repeat(2048).as_bytes(), b"x"].concat();
        for (body, expected) in [
            (b"fn main() {}\n".as_slice(), true),
            (&long, true),
            (long.get(1..).unwrap(), false),
            (b"\xff\xfeh\0", true),
            (b"a\0b", false),
            (b"\x7fELF", false),
            (b"caf\xe9 ", false),
        ] {
            assert_eq!(looks_like_text(body), expected, "{:?}", body.get(..4));
        }
    }
}
