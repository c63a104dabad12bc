//! What is said of a job that does not exist.

use crate::run::error::RunError;
use crate::run::job::Job;
use crate::run::source::JOBS_FOLDER;
use locum_files::fields::nearest;

/// Says that there is no job of this name, and which there are. `place` is where it was named.
pub fn unknown_job(place: &str, name: &str, jobs: &[Job]) -> RunError {
    let known: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let near = nearest(name, &known).map(|near| format!("did you mean `{near}`? "));
    let hint = if known.is_empty() {
        format!("there is none in `{JOBS_FOLDER}/` of this commit")
    } else {
        format!("{}known: {}", near.unwrap_or_default(), known.join(", "))
    };
    RunError::usage(place, format!("there is no job `{name}`")).hint(hint)
}
