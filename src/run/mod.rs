//! Floor 8: one run, start to end: request, plan, session, publish.

pub mod request;
