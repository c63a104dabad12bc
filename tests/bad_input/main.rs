//! What is not as it should be: settings, the repository, the model, what the model asks for, the
//! machine. Each case ends with the right word and exit code, a message a maintainer can act on, a
//! whole journal, and the checkout as it was or at its last checkpoint.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests make checkouts and start the binary"
)]

#[path = "../support/mod.rs"]
mod support;

mod effects;
mod model;
mod modes;
mod setup;
