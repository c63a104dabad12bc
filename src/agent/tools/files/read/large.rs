//! Lines of a file that is too large to be read whole: what comes before them is skipped, what
//! comes after is left alone.

use std::io::{self, BufRead};

/// Most bytes that are skipped to reach the first line.
const SCAN_LIMIT_BYTES: u64 = 64 << 30;

/// Most bytes kept of one line, unless a part of it is wanted; a view shows fewer.
pub const LINE_LIMIT_BYTES: usize = 16 * 1024;

/// Lines from the middle of a large file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LargeSlice {
    /// The lines, without their ends; very long ones cut.
    pub lines: Vec<String>,
    /// Lines skipped before them.
    pub skipped: usize,
    /// Whether something follows.
    pub more: bool,
}

/// Reads `limit` lines from line `offset`, counted from 1, as long as they take at most
/// `limit_bytes`, and keeps `line_limit_bytes` of each. One line always comes where there is one.
///
/// # Errors
/// When reading fails, or the first line lies too far inside.
pub fn lines_of_large(
    mut file: impl BufRead,
    offset: usize,
    limit: usize,
    (limit_bytes, line_limit_bytes): (usize, usize),
) -> io::Result<LargeSlice> {
    let mut slice = LargeSlice::default();
    let mut scanned = 0;
    while slice.skipped + 1 < offset {
        match file.skip_until(b'\n')? {
            0 => return Ok(slice),
            size => scanned += size as u64,
        }
        slice.skipped += 1;
        if scanned > SCAN_LIMIT_BYTES {
            return Err(io::Error::other("the line lies too far inside"));
        }
    }
    let mut taken = 0;
    while slice.lines.len() < limit && (taken < limit_bytes || slice.lines.is_empty()) {
        let mut line = Vec::new();
        if take_line(&mut file, &mut line, line_limit_bytes)? == 0 {
            return Ok(slice);
        }
        taken += line.len();
        slice.lines.push(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned());
    }
    slice.more = !file.fill_buf()?.is_empty();
    Ok(slice)
}

/// Reads up to and with the next line end, and keeps `limit_bytes` of it; returns the bytes it took,
/// 0 at the end.
fn take_line(file: &mut impl BufRead, kept: &mut Vec<u8>, limit_bytes: usize) -> io::Result<usize> {
    let mut taken = 0;
    loop {
        let part = file.fill_buf()?;
        let end = part.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let size = end.unwrap_or(part.len());
        let room = limit_bytes.saturating_sub(kept.len()).min(size);
        kept.extend_from_slice(part.get(..room).unwrap_or_default());
        if end.is_none() && kept.len() >= limit_bytes && size > 0 {
            file.consume(size);
            return Ok(taken + size + file.skip_until(b'\n')?);
        }
        file.consume(size);
        taken += size;
        if end.is_some() || size == 0 {
            return Ok(taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_LIMIT_BYTES, lines_of_large};
    use pretty_assertions::assert_eq;

    fn lines(text: &str, offset: usize, limit: usize) -> (Vec<String>, usize, bool) {
        let slice =
            lines_of_large(text.as_bytes(), offset, limit, (1 << 20, LINE_LIMIT_BYTES)).unwrap();
        (slice.lines, slice.skipped, slice.more)
    }

    #[test]
    fn takes_the_lines_asked_for() {
        let text = "a\r\nb\nc\n";
        let owned =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(text, 1, 2), (owned(&["a", "b"]), 0, true));
        assert_eq!(lines(text, 3, 2), (owned(&["c"]), 2, false));
        assert_eq!(lines(text, 4, 2), (owned(&[]), 3, false));
        assert_eq!(lines(text, 9, 2), (owned(&[]), 3, false));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let long = "x".repeat(LINE_LIMIT_BYTES * 3);
        let (shown, _, more) = lines(&format!("{long}\nb\n"), 1, 1);
        assert_eq!((shown.first().unwrap().len(), more), (LINE_LIMIT_BYTES, true));
        let many = "0123456789\n".repeat(100);
        let slice = lines_of_large(many.as_bytes(), 1, 100, (50, LINE_LIMIT_BYTES)).unwrap();
        assert_eq!((slice.lines.len(), slice.more), (5, true));
    }
}
