//! Reads `review`: which part of a review's findings becomes comments.

use crate::schema::review::{CONFIDENCES, ReviewRules, SEVERITIES};
use locum_files::section::Section;
use locum_files::shape::{OneOf, WholeNumber};

pub(super) fn review(section: &mut Section<'_>) -> ReviewRules {
    let mut rules = ReviewRules::default();
    let about = "The least severity of a finding that becomes a comment on its line.";
    section.set("floor", about, OneOf(SEVERITIES), &mut rules.floor);
    let about = "The least confidence of such a finding.";
    section.set("confidence", about, OneOf(CONFIDENCES), &mut rules.confidence);
    let about = "Most comments on lines of one review; the worst are kept.";
    section.set("comments", about, WholeNumber { least: 0, most: 50 }, &mut rules.comments);
    rules
}
