//! `FailedCheck`: what failed of the checks of a commit, with the end of its output.

use locum_base::secret::view::without_escapes;

/// Failed jobs or checks that are read at most.
pub const FAILED_LIMIT: usize = 5;

/// Bytes of one output that are kept at most: those around its last error.
pub const OUTPUT_LIMIT_BYTES: usize = 12 * 1024;

/// Lines of errors from before the kept part.
const EARLIER_LIMIT: usize = 20;

/// Lines kept after the last error: how the step ended.
const AFTER_LINES: usize = 3;

/// How a runner marks an error.
const ERROR_MARK: &str = "##[error]";

/// Endings of a job, a check or a workflow that are failures.
const FAILURES: [&str; 3] = ["failure", "timed_out", "startup_failure"];

/// Returns whether an ending, in the forge's word, is a failure.
pub fn is_failure(conclusion: &str) -> bool {
    FAILURES.contains(&conclusion)
}

/// Returns whether an ending, in the forge's word, is a success; what was skipped proves nothing.
pub fn is_success(conclusion: &str) -> bool {
    conclusion == "success"
}

/// One job or check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// Its name.
    pub name: String,
    /// Its page on the web; may be empty.
    pub url: String,
    /// Names of the steps that failed, for a job.
    pub steps: Vec<String>,
    /// The part of its output that matters; `Err` says why there is none.
    pub output: Result<String, String>,
}

/// Returns the part of a job's log that shows why it failed: up to its last error, without times
/// and colours, and the errors before it in a line each.
pub fn excerpt(log: &str) -> String {
    let lines: Vec<String> = log.lines().map(plain).collect();
    let last = lines.iter().rposition(|line| line.starts_with(ERROR_MARK));
    let end = last.map_or(lines.len(), |last| (last + 1 + AFTER_LINES).min(lines.len()));
    let mut begin = end;
    let mut room = OUTPUT_LIMIT_BYTES;
    while let Some(line) = begin.checked_sub(1).and_then(|before| lines.get(before)) {
        let Some(rest) = room.checked_sub(line.len() + 1) else { break };
        (room, begin) = (rest, begin - 1);
    }
    let (before, kept) = lines.split_at(begin);
    let kept = kept.iter().take(end - begin);
    let errors = before.iter().filter(|line| line.starts_with(ERROR_MARK)).take(EARLIER_LIMIT);
    let left_out = (begin > 0).then(|| format!("[{begin} lines before this are left out]"));
    errors.chain(&left_out).chain(kept).map(|line| format!("{line}\n")).collect()
}

/// Returns a line of a log without its time and without colours.
fn plain(line: &str) -> String {
    let line = line.trim_start_matches('\u{feff}');
    let is_time = |word: &str| {
        word.len() >= 20 && word.ends_with('Z') && word.as_bytes().get(10) == Some(&b'T')
    };
    let line = match line.split_once(' ') {
        Some((time, rest)) if is_time(time) => rest,
        _ => line,
    };
    without_escapes(line)
}

#[cfg(test)]
mod tests {
    use super::{OUTPUT_LIMIT_BYTES, excerpt};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_log_is_kept_up_to_its_last_error_without_times_and_colours() {
        let log = "2026-01-02T03:04:05.1234567Z ##[group]Run cargo test\n\
                   2026-01-02T03:04:06.1234567Z \u{1b}[31;1mfailed\u{1b}[0m\u{1b}(B: a test\n\
                   2026-01-02T03:04:07.1234567Z ##[error]Process completed with exit code 101.\n\
                   2026-01-02T03:04:08.1234567Z Post job cleanup.\nb\nc\nd\n";
        assert_eq!(
            excerpt(log),
            "##[group]Run cargo test\nfailed: a test\n##[error]Process completed with exit code \
             101.\nPost job cleanup.\nb\nc\n"
        );
        assert_eq!(excerpt("no error\nhere\n"), "no error\nhere\n");
        assert_eq!(excerpt(""), "");
    }

    #[test]
    fn of_a_long_log_the_end_is_kept_and_the_errors_before_it() {
        let long = format!(
            "##[error]first\n{}##[error]last\n",
            "a line of forty letters, more or less ok\n".repeat(2_000)
        );
        let kept = excerpt(&long);
        assert!(kept.starts_with("##[error]first\n["), "{kept}");
        assert!(kept.ends_with("##[error]last\n"), "{kept}");
        assert!(kept.len() <= OUTPUT_LIMIT_BYTES + 100, "{}", kept.len());
        let one_line = "x".repeat(OUTPUT_LIMIT_BYTES * 2);
        assert_eq!(excerpt(&one_line), "[1 lines before this are left out]\n");
    }
}
