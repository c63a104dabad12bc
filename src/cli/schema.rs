//! `locum schema NAME`: the JSON Schema of one of the files users write, for editors and checks, or
//! of what a run prints for programs.

use serde_json::{Map, Value as Json, json};

use crate::cli::ExitStatus;
use crate::cli::inspect_args::SchemaWord;
use crate::cli::output::Output;
use crate::config::schema;
use crate::run::error::RunError;
use crate::run::job::Job;
use locum_agent::session::event_schema;
use locum_models::scripted::script;
use locum_modes::json_schema as modes_schema;
use locum_policy::{Policy, cases};

/// Prints a schema.
///
/// # Errors
/// Never; the shape is that of every subcommand.
pub fn run(name: SchemaWord, output: &mut Output) -> Result<ExitStatus, RunError> {
    output.json(&whole(name));
    Ok(ExitStatus::Done)
}

/// Returns a schema with what says that it is one.
pub fn whole(name: SchemaWord) -> Json {
    let (title, schema) = match name {
        SchemaWord::Policy => ("A policy of locum, .locum/policy.yml", Policy::schema()),
        SchemaWord::Job => ("A job of locum, .locum/jobs/NAME.yml", Job::schema()),
        SchemaWord::Config => ("Settings of locum, .locum/config.yml", schema::schema()),
        SchemaWord::PolicyTest => {
            ("Tests of a policy of locum, .locum/policy-tests.yml", cases::schema())
        }
        SchemaWord::Script => ("A script of fixed replies for locum", script::schema()),
        SchemaWord::Modes => ("Modes of locum, .locum/modes.yml", modes_schema::schema()),
        SchemaWord::Events => {
            ("A line of `locum run --output-format stream-json`", event_schema::schema())
        }
    };
    let mut whole = Map::from_iter([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), json!(title)),
    ]);
    if let Json::Object(keywords) = schema {
        whole.extend(keywords);
    }
    Json::Object(whole)
}
