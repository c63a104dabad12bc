//! What integration tests share. Each test file uses a part of it.
#![allow(
    dead_code,
    reason = "every test file compiles this anew and uses a part of it, so no expectation would \
              hold everywhere"
)]

pub(crate) mod model_server;
pub(crate) mod stage;
