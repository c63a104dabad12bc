//! What tests share: a checkout with a home of its own, and servers on 127.0.0.1 that stand for
//! models and for GitHub.

#[expect(
    clippy::disallowed_types,
    unreachable_pub,
    reason = "the unit tests of the forge use this file too, and more of it"
)]
pub(crate) mod github;
pub(crate) mod json_schema;
pub(crate) mod model_server;
pub(crate) mod stage;
