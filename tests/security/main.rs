//! What an attacker gains: nothing. Each test makes an attack on a run of the binary, or on the
//! policy, and looks for its effect everywhere it could show. `docs/security.md` says which class
//! of attack is covered by which test.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests make checkouts, start the binary and look at what is left"
)]

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/github.rs"]
#[expect(dead_code, unreachable_pub, reason = "a server shared by many tests")]
mod github;

#[path = "../action/fixture.rs"]
#[expect(dead_code, reason = "a fixture shared by many tests")]
mod fixture;

mod classes;
mod limits;
mod logs;
mod secrets;
