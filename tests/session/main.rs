//! Scripted runs of the loop at library level: a real checkout, a real policy, real tools; the
//! model is a script and time stands still.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "helpers of tests, which fail by panicking and make checkouts to work in"
)]

mod accounting;
mod condense;
mod endings;
mod estimates;
mod fetch;
mod fixture;
mod hidden;
mod holds;
mod images;
mod mistakes;
mod parallel;
mod resume;
mod route;
mod switching;
