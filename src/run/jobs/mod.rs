//! What is known of jobs from one run to the next: how they ended, which are paused, which of their
//! times were answered, and the page that shows it.

pub mod dashboard;
pub mod state_ref;
pub mod states;
pub mod times;
