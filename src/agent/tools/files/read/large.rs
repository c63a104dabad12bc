//! Lines of a file that is too large to be read whole: all wanted parts in one pass, which ends at
//! the last of them.

use std::io::{self, BufRead};

/// Most bytes of one call that are looked through to reach lines of large files, at about 1 GiB a
/// second.
pub const SCAN_LIMIT_BYTES: u64 = if cfg!(test) { 1 << 30 } else { 1 << 34 };

/// Most bytes kept of one line, unless a part of it is wanted; a view shows fewer.
pub const LINE_LIMIT_BYTES: usize = 16 * 1024;

/// Lines wanted of a large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first line, counted from 1.
    pub offset: usize,
    /// Most lines.
    pub limit: usize,
}

/// What a pass may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Bytes looked through.
    pub scanned_bytes: u64,
    /// Bytes of lines kept for each part; one line always is.
    pub kept_bytes: usize,
    /// Bytes kept of one line.
    pub line_bytes: usize,
}

/// Lines from the middle of a large file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeSlice {
    /// The lines, without their ends; very long ones cut.
    pub lines: Vec<String>,
    /// Lines skipped before them.
    pub skipped: usize,
    /// Whether something follows.
    pub more: bool,
    /// Whether the limit on what is looked through came before the first line.
    pub is_too_far: bool,
    /// Whether the last line is longer than what is kept of it.
    pub is_cut: bool,
    kept_bytes: usize,
}

/// The parts of a large file, and what finding them took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeScan {
    /// One for each range, in their order.
    pub slices: Vec<LargeSlice>,
    /// Bytes looked through.
    pub scanned_bytes: u64,
}

/// Reads ranges of lines, which may overlap and come in any order.
///
/// # Errors
/// When reading fails.
pub fn scan(file: impl BufRead, ranges: &[LineRange], limits: ScanLimits) -> io::Result<LargeScan> {
    let mut file = file.take(limits.scanned_bytes);
    let mut slices = vec![LargeSlice::default(); ranges.len()];
    let (mut passed, mut line) = (0_usize, Vec::new());
    loop {
        let number = passed.saturating_add(1);
        if !ranges.iter().zip(&slices).any(|(range, slice)| range.takes(number, slice, limits)) {
            let ahead = ranges.iter().map(|range| range.offset).filter(|offset| *offset > number);
            let Some(next) = ahead.min() else { break };
            if !skip_to(&mut file, next, &mut passed)? {
                break;
            }
            continue;
        }
        line.clear();
        let taken = take_line(&mut file, &mut line, limits.line_bytes)?;
        if taken == 0 {
            break;
        }
        for (range, slice) in ranges.iter().zip(&mut slices) {
            if range.takes(number, slice, limits) {
                slice.push(&line, passed);
                slice.is_cut = taken > line.len();
            }
        }
        passed = number;
    }
    let left = file.limit();
    let follows = !file.get_mut().fill_buf()?.is_empty();
    for slice in &mut slices {
        slice.end(passed, follows, left == 0);
    }
    Ok(LargeScan { slices, scanned_bytes: limits.scanned_bytes - left })
}

impl LineRange {
    /// Whether a line is one of these, and there is room for it.
    fn takes(self, number: usize, slice: &LargeSlice, limits: ScanLimits) -> bool {
        let has_room = slice.kept_bytes < limits.kept_bytes || slice.lines.is_empty();
        self.offset <= number && number - self.offset < self.limit && has_room
    }
}

impl LargeSlice {
    fn push(&mut self, line: &[u8], passed: usize) {
        if self.lines.is_empty() {
            self.skipped = passed;
        }
        self.kept_bytes += line.len();
        self.lines.push(String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned());
    }

    /// Notes how the pass ended: after how many lines, and whether something follows them.
    fn end(&mut self, passed: usize, follows: bool, is_at_limit: bool) {
        if self.lines.is_empty() {
            self.skipped = passed;
            self.is_too_far = follows && is_at_limit;
        }
        self.more = follows || self.skipped + self.lines.len() < passed;
    }
}

/// Passes over lines until the next one is `next`; returns false where the file ends before.
fn skip_to(file: &mut impl BufRead, next: usize, passed: &mut usize) -> io::Result<bool> {
    while *passed + 1 < next {
        if file.skip_until(b'\n')? == 0 {
            return Ok(false);
        }
        *passed += 1;
    }
    Ok(true)
}

/// Reads up to and with the next line end, and keeps `limit_bytes` of it; returns the bytes it
/// took, 0 at the end.
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
    use super::{LINE_LIMIT_BYTES, LargeScan, LineRange, ScanLimits, scan};
    use pretty_assertions::assert_eq;

    const LIMITS: ScanLimits =
        ScanLimits { scanned_bytes: 1 << 20, kept_bytes: 1 << 20, line_bytes: LINE_LIMIT_BYTES };

    fn scanned(text: &str, ranges: &[(usize, usize)], limits: ScanLimits) -> LargeScan {
        let range = |(offset, limit): &(usize, usize)| LineRange { offset: *offset, limit: *limit };
        let ranges: Vec<LineRange> = ranges.iter().map(range).collect();
        scan(text.as_bytes(), &ranges, limits).unwrap()
    }

    /// Returns for each range its lines, how many were skipped, and whether something follows.
    fn lines(text: &str, ranges: &[(usize, usize)]) -> Vec<(String, usize, bool)> {
        let slices = scanned(text, ranges, LIMITS).slices.into_iter();
        slices.map(|slice| (slice.lines.join(","), slice.skipped, slice.more)).collect()
    }

    #[test]
    fn takes_the_lines_asked_for() {
        for (range, expected) in [
            ((1, 2), ("a,b", 0, true)),
            ((3, 2), ("c", 2, false)),
            ((4, 2), ("", 3, false)),
            ((9, 2), ("", 3, false)),
            ((3, usize::MAX), ("c", 2, false)),
        ] {
            let (text, skipped, more) = expected;
            assert_eq!(lines("a\r\nb\nc\n", &[range]), [(text.to_owned(), skipped, more)]);
        }
    }

    #[test]
    fn all_ranges_are_taken_in_one_pass_that_ends_with_the_last() {
        let text: String = (1..=9).map(|line| format!("{line}\n")).collect();
        let ranges = [(5, 2), (2, 1), (4, 3), (20, 1), (2, 1)];
        let named = |text: &str, skipped, more| (text.to_owned(), skipped, more);
        assert_eq!(
            lines(&text, &ranges),
            [
                named("5,6", 4, true),
                named("2", 1, true),
                named("4,5,6", 3, true),
                named("", 9, false),
                named("2", 1, true)
            ]
        );
        assert_eq!(scanned(&text, &ranges, LIMITS).scanned_bytes, 18);
        assert_eq!(scanned(&text, &[(3, 1), (1, 1)], LIMITS).scanned_bytes, 6);
    }

    #[test]
    fn what_lies_beyond_the_limit_is_not_reached_and_the_rest_is() {
        let text = "0123456789\n".repeat(100);
        let limits = ScanLimits { scanned_bytes: 55, ..LIMITS };
        let found = scanned(&text, &[(5, 1), (50, 1), (5, 9)], limits);
        let shown: Vec<(usize, bool, bool)> =
            found.slices.iter().map(|it| (it.lines.len(), it.is_too_far, it.more)).collect();
        assert_eq!(shown, [(1, false, true), (0, true, true), (1, false, true)]);
        assert_eq!(found.scanned_bytes, 55);
        // A line without an end is not read to its end either, and the end itself is no limit.
        let line = "x".repeat(100);
        assert!(scanned(&line, &[(2, 1)], limits).slices.iter().all(|slice| slice.is_too_far));
        let whole = ScanLimits { scanned_bytes: 100, ..LIMITS };
        assert!(scanned(&line, &[(2, 1)], whole).slices.iter().all(|slice| !slice.is_too_far));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let long = "x".repeat(LINE_LIMIT_BYTES * 3);
        let found = scanned(&format!("{long}\nb\n"), &[(1, 1)], LIMITS);
        let slice = found.slices.first().unwrap();
        assert_eq!((slice.lines.first().unwrap().len(), slice.more), (LINE_LIMIT_BYTES, true));
        assert!(slice.is_cut);
        let whole = format!("{}\nb\n", "x".repeat(LINE_LIMIT_BYTES - 1));
        let found = scanned(&whole, &[(1, 1)], LIMITS);
        assert!(!found.slices.first().unwrap().is_cut);
        let many = "0123456789\n".repeat(100);
        let found = scanned(&many, &[(1, 100)], ScanLimits { kept_bytes: 50, ..LIMITS });
        let slice = found.slices.first().unwrap();
        assert_eq!((slice.lines.len(), slice.more), (5, true));
    }
}
