//! Which part of a review's findings becomes comments: a floor and a budget against noise.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A matter of taste.
    Nit,
    /// Worth a change.
    #[default]
    ShouldFix,
    /// Stands in the way of merging.
    Blocker,
}

/// How sure the reviewer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A guess or a question.
    Low,
    /// Likely.
    #[default]
    Medium,
    /// Seen.
    High,
}

/// Words for severities, as written in policies and results.
pub const SEVERITIES: &[(&str, Severity)] =
    &[("nit", Severity::Nit), ("should-fix", Severity::ShouldFix), ("blocker", Severity::Blocker)];

/// Words for confidence.
pub const CONFIDENCES: &[(&str, Confidence)] =
    &[("low", Confidence::Low), ("medium", Confidence::Medium), ("high", Confidence::High)];

/// Which findings become comments on lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewRules {
    /// The least severity.
    pub floor: Severity,
    /// The least confidence.
    pub confidence: Confidence,
    /// Most comments of one review; the worst are kept.
    pub comments: u32,
}

impl Default for ReviewRules {
    fn default() -> Self {
        Self { floor: Severity::ShouldFix, confidence: Confidence::Medium, comments: 10 }
    }
}
