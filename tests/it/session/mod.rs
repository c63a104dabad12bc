//! Scripted runs of the loop at library level: a real checkout, a real policy, real tools; the
//! model is a script and time stands still.

mod accounting;
mod after_edit;
mod background;
mod checks;
mod commands;
mod condense;
mod contained;
mod endings;
mod estimates;
mod fetch;
mod fixture;
mod go_on;
mod hidden;
mod holds;
mod hooks;
mod images;
mod left_behind;
mod memory;
mod messages;
mod mistakes;
mod parallel;
mod records;
mod refusals;
mod resume;
mod reviews;
mod rewind;
mod route;
mod scripts;
mod switching;
mod web_search;
