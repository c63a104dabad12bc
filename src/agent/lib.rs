//! The agent: tools the model can call, the session that drives them, and reports of how it went.
//!
//! In: models, modes, a policy, a checkout. Out: a journal, an outcome, and texts about it. Every
//! effect takes a permit.
//!
//! # The way of a call
//!
//! 1. [`tools::dispatch::parse`] makes a checked call of what a model wrote, or a sentence that
//!    says what to write instead. It looks at paths and changes nothing.
//! 2. The call's intents say everything it would do. `Policy::admit` gives a permit for all of
//!    them, or a refusal that names a rule and a line.
//! 3. [`tools::dispatch::perform`] does it under the permit. A failure is an answer, too.
//!
//! A tool is one file below [`tools`] and one row of the table in `locum_base`.
//!
//! # A session
//!
//! [`session::run`] is the loop: context to the model, its calls through the policy, everything
//! into the journal, until there is an [`Outcome`](session::outcome::Outcome). Its state is a fold
//! over the journal ([`session::state`]), so that a killed run resumes where it stopped.
//! [`session::step`] reads off the state what comes next.
//!
//! # Reports
//!
//! [`report`] makes texts of outcomes and journals: summaries, pull requests, reviews, transcripts.
//! Pure: no clock, no environment.

pub mod embedder;
pub mod env;
pub mod report;
pub mod search_engine;
pub mod session;
pub mod tools;
