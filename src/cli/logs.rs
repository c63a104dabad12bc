//! Logging: `tracing` events to stderr, filtered by `-v`/`-q`, `LOCUM_LOG` and Actions' own debug
//! switch.

use std::fmt;
use std::io;

use indicatif::ProgressBar;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::args::{GlobalArgs, LogFormat};
use crate::cli::colour::{Colours, Role};
use crate::cli::line_filter::LineFilter;
use crate::config::environment::Environment;
use crate::run::error::RunError;
use locum_agent::report::markdown::visible;

/// Variable with a filter in tracing's own words (`locum=debug,hyper=info`).
const VARIABLE: &str = "LOCUM_LOG";

/// Starts logging for the rest of the process. Lines pass the filter and go above what stands
/// `below` them.
///
/// # Errors
/// When `LOCUM_LOG` is not a filter.
pub fn start(
    global: &GlobalArgs,
    environment: &Environment,
    lines_pass: LineFilter,
    below: ProgressBar,
) -> Result<(), RunError> {
    let filter = filter(global, environment)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || FilteredWriter { passes: lines_pass.clone(), below: below.clone() })
        .with_ansi(false);
    // NOTE: fails only where a test has started logging before.
    let _ = match global.log_format {
        LogFormat::Text if shows_spans(global, environment) => {
            lines.without_time().with_target(false).finish().try_init()
        }
        LogFormat::Text => {
            let colours = Colours::of(global.color, &io::stderr());
            lines.event_format(PlainLines(colours)).finish().try_init()
        }
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init(),
    };
    Ok(())
}

/// Whether a reader asked for more than what happened: lines then say in which run, task and call.
fn shows_spans(global: &GlobalArgs, environment: &Environment) -> bool {
    global.verbose > 0
        || environment.get(VARIABLE).is_some()
        || environment.get("RUNNER_DEBUG") == Some("1")
}

/// Lines for people between those of the progress: `warning: what happened`, with the facts.
struct PlainLines(Colours);

impl<S, N> FormatEvent<S, N> for PlainLines
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = *event.metadata().level();
        let (role, word) = if level == Level::ERROR {
            (Role::Bad, "error:")
        } else if level == Level::WARN {
            (Role::Caution, "warning:")
        } else {
            (Role::Advice, "info:")
        };
        write!(writer, "{} ", self.0.paint(role, word))?;
        // They may hold text of anyone.
        let mut facts = String::new();
        context.field_format().format_fields(Writer::new(&mut facts), event)?;
        writeln!(writer, "{}", visible(&facts))
    }
}

/// Writes each event to stderr without secrets and without commands to a runner, whatever the
/// crates below say at their most talkative, and whatever a fact holds.
struct FilteredWriter {
    passes: LineFilter,
    below: ProgressBar,
}

impl io::Write for FilteredWriter {
    /// Takes a whole event at once, as the formatter gives it.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.below.suspend(|| io::stderr().write_all(&self.passes.written_bytes(event)))?;
        Ok(event.len())
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
    use std::sync::mpsc::{Sender, channel};

    use super::{PlainLines, filter, shows_spans};
    use crate::cli::args::GlobalArgs;
    use crate::cli::colour::Colours;
    use crate::config::environment::Environment;
    use pretty_assertions::assert_eq;

    #[test]
    fn flags_win_over_variables() {
        let check = |quiet: bool, verbose: u8, pairs: &[(&str, &str)], expected: &str| {
            let global = GlobalArgs { verbose, quiet, ..GlobalArgs::default() };
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

    /// Takes what a logger writes.
    #[derive(Clone)]
    struct Written(Sender<Vec<u8>>);

    impl std::io::Write for Written {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            self.0.send(line.to_vec()).unwrap();
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_for_people_says_what_happened_and_not_where_in_the_program() {
        let (to, written) = channel();
        let to = Written(to);
        let lines =
            tracing_subscriber::fmt().with_ansi(false).event_format(PlainLines(Colours::OFF));
        let logger = lines.with_writer(move || to.clone()).finish();
        // NOTE: with a single subscriber alive, tests on other threads could answer for this one.
        let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
        tracing::subscriber::with_default(logger, || {
            let _run = tracing::info_span!("run", session = "0199aabb").entered();
            tracing::warn!(server = "time", "the server did not start");
        });
        let text = String::from_utf8(written.try_iter().flatten().collect()).unwrap();
        assert_eq!(text, "warning: the server did not start server=\"time\"\n");
    }

    #[test]
    fn only_who_asks_for_more_reads_where_in_a_run_it_happened() {
        for (verbose, pairs, expected) in [
            (0, &[][..], false),
            (1, &[], true),
            (0, &[("LOCUM_LOG", "warn")], true),
            (0, &[("RUNNER_DEBUG", "1")], true),
        ] {
            let global = GlobalArgs { verbose, ..GlobalArgs::default() };
            let environment = Environment::from_pairs(pairs.iter().copied());
            assert_eq!(shows_spans(&global, &environment), expected, "{verbose} {pairs:?}");
        }
    }

    #[test]
    fn refuses_a_filter_that_is_none() {
        let global = GlobalArgs::default();
        let error =
            filter(&global, &Environment::from_pairs([("LOCUM_LOG", "locum=loud")])).unwrap_err();
        assert!(
            error.report().starts_with("error: LOCUM_LOG: `locum=loud` is not a log filter"),
            "{error}"
        );
    }
}
