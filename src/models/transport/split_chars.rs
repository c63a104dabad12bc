//! `SplitChars`: characters that a server cut in two between the texts of two events, made whole
//! again.
//!
//! In: the JSON of an event that cannot be read as it is. Out: the same without split characters.
//! The first half of one at the end of a text is kept for the text that begins with the second
//! half; a half without its other half is replaced. Servers cut a text into pieces by bytes, or by
//! the 16-bit units their language counts in, and write half a character as an escape of its own
//! (`\ud83d`).

/// How an escape of a 16-bit unit begins.
const ESCAPE: &[u8] = b"\\u";
/// Bytes of such an escape.
const ESCAPE_BYTES: usize = 6;
/// Replacement for half a character.
const REPLACED: &[u8] = "\u{fffd}".as_bytes();

/// The first half of a character whose second half did not come yet.
#[derive(Clone, Debug, Default)]
pub(super) struct SplitChars {
    first: Vec<u8>,
}

/// What an escape encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapeUnit {
    Whole,
    FirstHalf,
    SecondHalf,
}

impl SplitChars {
    /// Returns JSON whose texts hold whole characters only.
    pub(super) fn repaired(&mut self, json: &[u8]) -> String {
        let first = std::mem::take(&mut self.first);
        let mut out = Vec::with_capacity(json.len() + first.len());
        let mut rest = json;
        while let Some(byte) = rest.first() {
            // Only at the beginning of a text does a quotation mark stand before an escape or a
            // byte beyond ASCII.
            let begins = out.last() == Some(&b'"');
            let taken = match (byte, unit(rest)) {
                (b'\\', Some((EscapeUnit::FirstHalf, _)))
                    if unit_after(rest) == Some(EscapeUnit::SecondHalf) =>
                {
                    out.extend_from_slice(head(rest, 2 * ESCAPE_BYTES));
                    2 * ESCAPE_BYTES
                }
                (b'\\', Some((EscapeUnit::FirstHalf, escape))) => {
                    if rest.get(ESCAPE_BYTES) == Some(&b'"') {
                        self.first = escape.to_vec();
                    } else {
                        out.extend_from_slice(REPLACED);
                    }
                    ESCAPE_BYTES
                }
                (b'\\', Some((EscapeUnit::SecondHalf, escape))) => {
                    if begins && first.starts_with(ESCAPE) {
                        out.extend_from_slice(&first);
                        out.extend_from_slice(escape);
                    } else {
                        out.extend_from_slice(REPLACED);
                    }
                    ESCAPE_BYTES
                }
                (b'\\', _) => {
                    out.extend_from_slice(head(rest, 2));
                    2
                }
                (b'"', _) => {
                    if let Some(at) = unfinished(&out) {
                        self.first = out.split_off(at);
                    }
                    out.push(b'"');
                    1
                }
                (byte, _) => {
                    if begins && is_continuation(*byte) && !first.starts_with(ESCAPE) {
                        out.extend_from_slice(&first);
                    }
                    out.push(*byte);
                    1
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn head(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(..count).unwrap_or(bytes)
}

/// Reads the escape of a 16-bit unit at the start.
fn unit(bytes: &[u8]) -> Option<(EscapeUnit, &[u8])> {
    let digits = std::str::from_utf8(bytes.strip_prefix(ESCAPE)?.get(..4)?).ok()?;
    let unit = match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => EscapeUnit::FirstHalf,
        0xdc00..=0xdfff => EscapeUnit::SecondHalf,
        _ => EscapeUnit::Whole,
    };
    Some((unit, head(bytes, ESCAPE_BYTES)))
}

fn unit_after(bytes: &[u8]) -> Option<EscapeUnit> {
    unit(bytes.get(ESCAPE_BYTES..)?).map(|(unit, _)| unit)
}

/// Finds a character at the end whose last bytes are missing.
fn unfinished(bytes: &[u8]) -> Option<usize> {
    let back = bytes.iter().rev().take(3).position(|byte| !is_continuation(*byte))?;
    let at = bytes.len() - back - 1;
    let needed = match bytes.get(at)? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    (back + 1 < needed).then_some(at)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::SplitChars;

    fn repaired(events: &[&[u8]]) -> Vec<String> {
        let mut split = SplitChars::default();
        events.iter().map(|event| split.repaired(event)).collect()
    }

    #[test]
    fn two_halves_become_one_character_wherever_it_was_cut() {
        assert_eq!(
            repaired(&[br#"{"a":"x\ud83d"}"#, br#"{"a":"\ude00y"}"#]),
            [r#"{"a":"x"}"#, r#"{"a":"\ud83d\ude00y"}"#]
        );
        assert_eq!(repaired(&[br#"{"a":"\uD83D"}"#, br#"{"b":1}"#]), [r#"{"a":""}"#, r#"{"b":1}"#]);
        for at in 1..4 {
            let (first, second) = "😀".as_bytes().split_at(at);
            let events = [
                [b"{\"a\":\"x".as_slice(), first, b"\"}"].concat(),
                [b"{\"a\":\"".as_slice(), second, b"y\"}"].concat(),
            ];
            assert_eq!(
                repaired(&[&events[0], &events[1]]),
                [r#"{"a":"x"}"#, r#"{"a":"😀y"}"#],
                "cut after {at} bytes"
            );
        }
    }

    #[test]
    fn the_same_text_under_two_names_is_made_whole_under_both() {
        assert_eq!(
            repaired(&[br#"{"a":"\ud83d","b":"\ud83d"}"#, br#"{"a":"\ude00","b":"\ude00"}"#]),
            [r#"{"a":"","b":""}"#, r#"{"a":"\ud83d\ude00","b":"\ud83d\ude00"}"#]
        );
    }

    #[test]
    fn what_has_no_other_half_is_replaced() {
        for (event, whole) in [
            (br#"{"a":"\ud83dx"}"#.as_slice(), "{\"a\":\"\u{fffd}x\"}"),
            (br#"{"a":"\ude00x"}"#, "{\"a\":\"\u{fffd}x\"}"),
            (br#"{"a":"x\ude00"}"#, "{\"a\":\"x\u{fffd}\"}"),
            (b"{\"a\":\"\xf0\x9fx\"}", "{\"a\":\"\u{fffd}x\"}"),
            (b"{\"a\":\"\x9fx\"}", "{\"a\":\"\u{fffd}x\"}"),
        ] {
            assert_eq!(repaired(&[event]), [whole]);
        }
    }

    #[test]
    fn whole_characters_and_other_escapes_stay_as_they_are() {
        for event in [
            r#"{"a":"\ud83d\ude00é\\ud83d \"\u00e9\n"}"#,
            r#"{"a":"ü"}"#,
            r#"{"a":"\"#,
            r#"{"a":"\u12"}"#,
        ] {
            assert_eq!(repaired(&[event.as_bytes()]), [event]);
        }
    }
}
