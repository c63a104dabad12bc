//! Every integration test in one program, which is linked once: a module a subject.
//!
//! What a module needs of another test is in `support`. Tests run beside each other in one process,
//! so none may change what the process has one of: environment, working directory, signals, limits.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make checkouts, start programs and read what is left"
)]

mod action;
mod bad_input;
mod book;
mod browser;
mod ceilings;
mod cli;
mod cli_reference;
mod codebase_meaning;
mod codebase_search;
mod commands;
mod compatibility;
mod config_set;
mod demo;
mod docs;
mod doctor;
mod doctor_workflows;
mod documents;
mod edit_tools;
mod edits;
mod experts;
mod fetched;
mod fidelity;
mod given_images;
mod holds;
mod hook;
mod hook_hidden;
mod hooks;
mod house;
mod house_words;
mod init;
mod init_workflow;
mod jobs;
mod json_docs;
mod local_review;
mod mcp;
mod mcp_layer;
mod mcp_sign_in;
mod memory;
mod models;
mod orchestration;
mod outcomes;
mod outlines;
mod pictures;
mod policy;
mod policy_check;
mod prompts;
mod real_tasks;
mod recipes;
mod resume;
mod schema;
mod security;
mod self_run;
mod session;
mod small_tools;
mod start;
mod start_hooks;
mod support;
mod telemetry;
mod toolchains;
mod tools_page;
mod trigger;
mod tutorial;
mod web_search;
