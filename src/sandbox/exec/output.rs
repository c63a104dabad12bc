//! `BoundedOutput`: the beginning and the end of an output of any length, in bounded memory.

use std::collections::VecDeque;

use locum_base::secret::Redactor;
use locum_base::text::ClippedText;

/// Bytes kept beyond each cut, redacted together with the rest and then left out. So no part of a
/// secret that lies across a cut is shown, as long as the secret, however encoded, is no longer
/// than this.
const MARGIN_BYTES: usize = 8 * 1024;

/// Collects output: the first half of the limit as it comes, then the last half of whatever
/// follows.
#[derive(Debug)]
pub struct BoundedOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_bytes: usize,
    tail_bytes: usize,
    total_bytes: usize,
}

impl BoundedOutput {
    /// Prepares for at most `limit_bytes`, half from each end.
    pub fn new(limit_bytes: usize) -> Self {
        let tail_bytes = limit_bytes / 2;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_bytes: limit_bytes - tail_bytes,
            tail_bytes,
            total_bytes: 0,
        }
    }

    /// Prepares for at most `limit_bytes` of redacted text; see [`BoundedOutput::finish_redacted`].
    pub(crate) fn with_margin(limit_bytes: usize) -> Self {
        Self::new(limit_bytes.saturating_add(2 * MARGIN_BYTES))
    }

    /// Returns what was kept, as [`BoundedOutput::finish`] does, without secrets and without parts
    /// of secrets at the cut. Masks are shorter than what they replace, so leaving out the margin
    /// of the redacted text leaves out that of the output too.
    pub(crate) fn finish_redacted(mut self, redactor: &Redactor) -> ClippedText {
        let limit_bytes = self.head_bytes + self.tail_bytes - 2 * MARGIN_BYTES;
        if self.missing_bytes() == 0 {
            let fits = self.total_bytes <= limit_bytes;
            let text = redactor.redact(&self.finish().text);
            if fits {
                return ClippedText { text, omitted_bytes: 0 };
            }
            // It fits with the margin, but not without: redacted as a whole, then cut.
            return ClippedText::head_tail(&text, limit_bytes);
        }
        let head = redactor.redact(&String::from_utf8_lossy(whole_head(&self.head)));
        let tail =
            redactor.redact(&String::from_utf8_lossy(whole_tail(self.tail.make_contiguous())));
        let head = head
            .get(..head.floor_char_boundary(head.len().saturating_sub(MARGIN_BYTES)))
            .unwrap_or_default();
        let tail =
            tail.get(tail.ceil_char_boundary(MARGIN_BYTES.min(tail.len()))..).unwrap_or_default();
        ClippedText::ends(head, tail, self.total_bytes.saturating_sub(head.len() + tail.len()))
    }

    /// Returns what was kept so far, as text, without a word on what was left out.
    pub(crate) fn latest(&self) -> String {
        let kept: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total_bytes = self.total_bytes.saturating_add(bytes.len());
        let (first, rest) = bytes.split_at(bytes.len().min(self.head_bytes - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(self.tail_bytes)..).unwrap_or_default();
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.tail_bytes);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
    }

    /// Returns what was kept, as text, with a line in place of what was left out.
    pub fn finish(mut self) -> ClippedText {
        if self.missing_bytes() == 0 {
            self.head.extend(self.tail);
            let text = String::from_utf8_lossy(&self.head).into_owned();
            return ClippedText { text, omitted_bytes: 0 };
        }
        let (head, tail) = (whole_head(&self.head), whole_tail(self.tail.make_contiguous()));
        let omitted_bytes = self.total_bytes - head.len() - tail.len();
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        ClippedText::ends(&head, &tail, omitted_bytes)
    }

    fn missing_bytes(&self) -> usize {
        self.total_bytes - self.head.len() - self.tail.len()
    }
}

/// Cuts off a character that is not complete at the end.
fn whole_head(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

/// Cuts off what is left of a character at the start: three bytes at most.
fn whole_tail(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    bytes.get(cut..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::BoundedOutput;
    use locum_base::secret::{Redactor, Secret};
    use locum_base::text::ClippedText;

    fn collect(limit_bytes: usize, pieces: &[&[u8]]) -> ClippedText {
        let mut ends = BoundedOutput::new(limit_bytes);
        pieces.iter().for_each(|piece| ends.push(piece));
        ends.finish()
    }

    fn clipped(text: &str, omitted_bytes: usize) -> ClippedText {
        ClippedText { text: text.to_owned(), omitted_bytes }
    }

    #[test]
    fn keeps_what_fits_whole_however_it_comes() {
        for pieces in [
            &[b"abcdef".as_slice()][..],
            &[b"a", b"bcdef"],
            &[b"abc", b"d", b"", b"ef"],
            &[b"a", b"b", b"c", b"d", b"e", b"f"],
        ] {
            assert_eq!(collect(6, pieces), clipped("abcdef", 0));
        }
        assert_eq!(collect(6, &["aé".as_bytes(), b"\xff"]), clipped("aé\u{fffd}", 0));
    }

    #[test]
    fn keeps_both_ends_of_what_does_not_fit() {
        let expected = clipped("ab\n[... 4 bytes left out ...]\ngh", 4);
        for pieces in [
            &[b"abcdefgh".as_slice()][..],
            &[b"abc", b"defgh"],
            &[b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"],
        ] {
            assert_eq!(collect(4, pieces), expected);
        }
        assert_eq!(collect(4, &[b"a\nxxxxxxyz"]), clipped("a\n[... 6 bytes left out ...]\nyz", 6));
        assert_eq!(collect(0, &[b"abc"]), clipped("[... 3 bytes left out ...]\n", 3));
    }

    #[test]
    fn shows_no_part_of_a_secret_that_lies_across_a_cut() {
        let secret = "correct-horse-battery-staple-42";
        let redactor = Redactor::new([Secret::new(secret)]);
        for shift in 0..80 {
            for fill in ["x".repeat(100_000), "y".repeat(200)] {
                let mut ends = BoundedOutput::with_margin(100);
                ends.push(
                    format!("{}{secret}{fill}{secret}{}", "a".repeat(shift), "b".repeat(shift))
                        .as_bytes(),
                );
                let clipped = ends.finish_redacted(&redactor);
                assert!(clipped.omitted_bytes > 0 && clipped.text.len() < 150, "{clipped:?}");
                let parts = (0..=secret.len() - 6).filter_map(|at| secret.get(at..at + 6));
                assert_eq!(
                    parts.filter(|part| clipped.text.contains(part)).count(),
                    0,
                    "{}",
                    clipped.text
                );
            }
        }
    }

    #[test]
    fn never_cuts_a_character() {
        assert_eq!(
            collect(6, &["aéé____éé".as_bytes()]),
            clipped("aé\n[... 8 bytes left out ...]\né", 8)
        );
    }
}
