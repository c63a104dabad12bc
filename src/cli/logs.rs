//! Logging: `tracing` events to stderr, filtered by `-v`/`-q`, `LOCUM_LOG` and Actions' own debug
//! switch.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::args::{GlobalArgs, LogFormat};
use crate::config::environment::Environment;
use crate::run::error::RunError;
use locum_base::secret::plain::PlainValues;

/// Variable with a filter in tracing's own words (`locum=debug,hyper=info`).
const VARIABLE: &str = "LOCUM_LOG";

/// Starts logging for the rest of the process.
///
/// # Errors
/// When `LOCUM_LOG` is not a filter.
pub fn start(
    global: &GlobalArgs,
    environment: &Environment,
    hidden: PlainValues,
) -> Result<(), RunError> {
    let filter = filter(global, environment)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || RedactingWriter { hidden: hidden.clone() })
        .with_ansi(false);
    // NOTE: fails only where a test has started logging before.
    let _ = match global.log_format {
        LogFormat::Text => lines.without_time().with_target(false).finish().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init(),
    };
    Ok(())
}

/// Writes each line to stderr without secrets, whatever the crates below say at their most
/// talkative.
struct RedactingWriter {
    hidden: PlainValues,
}

impl io::Write for RedactingWriter {
    /// Takes a whole line at once, as the formatter gives it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(&self.hidden.hide_bytes(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Flags win over `LOCUM_LOG`, that over `RUNNER_DEBUG` (set when a job is run again with debug
/// logging).
fn filter(global: &GlobalArgs, environment: &Environment) -> Result<EnvFilter, RunError> {
    let words = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => match environment.get(VARIABLE) {
            Some(words) => words,
            None if environment.get("RUNNER_DEBUG") == Some("1") => "info,locum=debug",
            // What the client of GitHub says of a failed request, the error says better.
            None => "warn,locum=info,octocrab=off",
        },
        (false, 1) => "info,locum=debug",
        (false, _) => "debug,locum=trace",
    };
    EnvFilter::try_new(words).map_err(|error| {
        RunError::usage(VARIABLE, format!("`{words}` is not a log filter: {error}"))
            .hint("for example `debug`, or `locum=trace,hyper=info`")
    })
}

#[cfg(test)]
mod tests {
    use super::filter;
    use crate::cli::args::{GlobalArgs, LogFormat};
    use crate::config::environment::Environment;
    use pretty_assertions::assert_eq;

    #[test]
    fn flags_win_over_variables() {
        let check = |quiet: bool, verbose: u8, pairs: &[(&str, &str)], expected: &str| {
            let global = GlobalArgs { repo: None, verbose, quiet, log_format: LogFormat::Text };
            let filter = filter(&global, &Environment::from_pairs(pairs.iter().copied()))
                .unwrap()
                .to_string();
            let mut parts: Vec<&str> = filter.split(',').collect();
            parts.sort_unstable();
            assert_eq!(parts.join(","), expected, "{quiet} {verbose} {pairs:?}");
        };
        check(false, 0, &[], "locum=info,octocrab=off,warn");
        check(false, 0, &[("LOCUM_LOG", "trace")], "trace");
        check(false, 0, &[("RUNNER_DEBUG", "1")], "info,locum=debug");
        check(false, 1, &[("LOCUM_LOG", "trace")], "info,locum=debug");
        check(false, 2, &[], "debug,locum=trace");
        check(true, 0, &[("LOCUM_LOG", "trace")], "error");
    }

    #[test]
    fn refuses_a_filter_that_is_none() {
        let global =
            GlobalArgs { repo: None, verbose: 0, quiet: false, log_format: LogFormat::Text };
        let error =
            filter(&global, &Environment::from_pairs([("LOCUM_LOG", "locum=loud")])).unwrap_err();
        assert!(
            error.report().starts_with("error: LOCUM_LOG: `locum=loud` is not a log filter"),
            "{error}"
        );
    }
}
