//! `OutputTail`: the latest lines of the commands that run, for a reader who follows along.
//!
//! In: bytes as commands write them. Out: the last whole lines, without secrets. Bounded; what a
//! model and the journal get is collected elsewhere.

use tokio::sync::watch;

use locum_base::secret::Redactor;

/// Bytes kept. No secret is as long as what is left out at their beginning.
const KEPT_BYTES: usize = 16 * 1024;

/// Bytes at the end of them that lines are taken from.
const SHOWN_BYTES: usize = 4 * 1024;

/// The latest output of the commands that run.
#[derive(Debug)]
pub struct OutputTail(watch::Sender<Vec<u8>>);

impl Default for OutputTail {
    fn default() -> Self {
        Self(watch::Sender::new(Vec::new()))
    }
}

impl OutputTail {
    /// Forgets what earlier commands wrote.
    pub fn clear(&self) {
        self.0.send_modify(Vec::clear);
    }

    /// Takes the next bytes.
    pub fn push(&self, bytes: &[u8]) {
        self.0.send_modify(|kept| {
            kept.extend_from_slice(bytes);
            kept.drain(..kept.len().saturating_sub(KEPT_BYTES));
        });
    }

    /// Returns the last lines, at most `most`, without secrets. A line that is not whole is left
    /// out: the rest of a secret may be on its way. Of a line that was written over, the last text
    /// counts.
    pub fn lines(&self, most: usize, redactor: &Redactor) -> Vec<String> {
        let kept = self.0.borrow();
        let whole = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(kept.get(..whole).unwrap_or_default());
        let text = redactor.redact(&text);
        let from = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES));
        let written = |line: &str| line.rsplit('\r').next().unwrap_or_default().to_owned();
        let lines: Vec<String> = text
            .get(from..)
            .unwrap_or_default()
            .lines()
            .map(written)
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines.get(lines.len().saturating_sub(most)..).unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_BYTES, OutputTail};
    use locum_base::secret::{Redactor, Secret};
    use pretty_assertions::assert_eq;

    #[test]
    fn the_last_whole_lines_are_shown_without_secrets() {
        let secret = "correct-horse-battery-staple-42";
        let redactor = Redactor::new([Secret::new(secret)]);
        let tail = OutputTail::default();
        tail.push(b"one\ntwo\n\n10 %\r20 %\nthr");
        assert_eq!(tail.lines(2, &redactor), ["two", "20 %"]);
        tail.push(b"ee\nkey correct-horse-");
        assert_eq!(tail.lines(1, &redactor), ["three"]);
        tail.push(b"battery-staple-42\n");
        assert!(!tail.lines(9, &redactor).concat().contains("horse"));
        tail.clear();
        assert_eq!(tail.lines(9, &redactor), [""; 0]);
    }

    #[test]
    fn output_of_any_length_takes_bounded_room() {
        let tail = OutputTail::default();
        (0..100).for_each(|_| tail.push(&[b'x'; 1024]));
        tail.push(b"\nend\n");
        assert_eq!(tail.0.borrow().len(), KEPT_BYTES);
        let lines = tail.lines(9, &Redactor::new([]));
        assert_eq!((lines.len(), lines[1].as_str()), (2, "end"));
    }
}
