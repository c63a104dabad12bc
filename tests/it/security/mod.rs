//! What an attacker gains: nothing. Each test makes an attack on a run of the binary, or on the
//! policy, and looks for its effect everywhere it could show. `docs/security-tests.md` says which
//! class of attack is covered by which test.

mod classes;
mod holes;
mod limits;
mod logs;
mod secrets;
