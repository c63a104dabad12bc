//! cargo-fuzz: `entry::modes` with whatever libFuzzer thinks of.
#![no_main]
#![expect(dead_code, reason = "each target calls one of the entries")]

#[path = "../../it/commands/entry.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|text: &str| entry::modes(text));
