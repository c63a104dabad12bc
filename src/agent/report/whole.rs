//! Where a result is whole that a comment or a pull request cuts.
//!
//! In: an outcome, and how many runs share the summary of the step. Out: a sentence that is true
//! whatever the other runs came to: the summary has all of it, or as much as fits.

use crate::report::figures;
use crate::report::markdown::address;
use crate::report::surface::Surface;
use crate::session::outcome::Outcome;

/// GitHub drops the job summary of a step that has more bytes than this ("Job summary isolation and
/// limits", <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>).
pub const SUMMARY_LIMIT_BYTES: usize = 1024 * 1024;

/// Most bytes of a character as the forge counts them, in UTF-16.
pub(crate) const CHARACTER_LIMIT_BYTES: usize = 3;

/// Characters of a summary that a result leaves to what stands around it.
const AROUND_CHARS: usize = 30_000;

/// Says where all of a result is, or more of it.
pub(crate) fn sentence(run_url: Option<&str>, outcome: &Outcome, runs: usize) -> String {
    let Some(url) = run_url else {
        return format!("`locum session show {}` has all of it.", outcome.session);
    };
    let share_chars = SUMMARY_LIMIT_BYTES / runs.max(1) / CHARACTER_LIMIT_BYTES;
    let length = figures::width(&Surface::Markdown.said(outcome.summary.trim(), usize::MAX));
    let extent = if length <= share_chars.saturating_sub(AROUND_CHARS) {
        "has all of it"
    } else {
        "shows as much of it as fits"
    };
    format!("[The summary of the job]({}) {extent}.", address(url))
}

#[cfg(test)]
mod tests {
    use super::{SUMMARY_LIMIT_BYTES, sentence};
    use crate::report::sample;
    use crate::report::summary::job_summary;
    use crate::session::outcome::Outcome;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_the_summary_is_said_to_have_whole_it_has_whole_beside_any_others() {
        let mut said = [0, 0];
        for filler in ["a line of the result\n", "文章の一行 <b>\n"] {
            for (length, runs) in
                [(1_000, 20), (20_000, 5), (20_000, 12), (100_000, 1), (200_000, 1), (400_000, 1)]
            {
                let text: String = filler.chars().cycle().take(length).collect();
                let summary = format!("{text}the end of it");
                let outcome = Outcome { summary, ..sample::with_diff_lines(5_000) };
                let share_bytes = SUMMARY_LIMIT_BYTES / runs;
                let shown = job_summary(&outcome, "code", "Published.", share_bytes);
                assert!(shown.len() <= share_bytes, "{filler:?} {length} {runs}: {}", shown.len());
                let is_whole = shown.contains("the end of it");
                let all = sentence(Some("https://x.example/1"), &outcome, runs);
                let claims = all.ends_with("has all of it.");
                assert!(is_whole || !claims, "{filler:?} {length} {runs}");
                said[usize::from(claims)] += 1;
            }
        }
        assert!(said.iter().all(|count| *count > 3), "{said:?}");
        let at_home = sentence(None, &sample::outcome(), 1);
        assert_eq!(at_home, "`locum session show 0199aabb` has all of it.");
    }
}
