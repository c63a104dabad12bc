//! `CommandReport`: a command that ran, and how it ended, for reports and for a parent task.
//!
//! In: how a command ended and what explains it. Out: whether it ended well, and words for it.

use serde::{Deserialize, Serialize};

use crate::tools::command_details::CommandDetails;
use crate::tools::command_end;
use locum_sandbox::exec::Exit;

/// A command in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandReport {
    /// The command as written.
    pub command: String,
    /// Exit code, signal, or why it was killed.
    pub exit: Exit,
    /// What explains it.
    #[serde(default, skip_serializing_if = "CommandDetails::is_empty")]
    pub details: CommandDetails,
    /// For one in the background: what ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundEnd>,
}

/// What ended a command in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackgroundEnd {
    /// It ended by itself.
    Itself,
    /// The model stopped it.
    Stopped,
    /// Its task ended, or came into another mode.
    Task,
}

impl CommandReport {
    /// Returns true when it ended well; one in the background may be stopped.
    pub fn succeeded(&self) -> bool {
        let is_ended_for_it =
            matches!(self.background, Some(BackgroundEnd::Stopped | BackgroundEnd::Task));
        is_ended_for_it || self.exit == Exit::Code(0)
    }

    /// Returns how it ended, in a few words.
    pub fn end(&self) -> String {
        match self.background {
            None => command_end::ended(self.exit),
            Some(BackgroundEnd::Itself) => {
                format!("in the background, {}", command_end::ended(self.exit))
            }
            Some(BackgroundEnd::Stopped) => "in the background, stopped".to_owned(),
            Some(BackgroundEnd::Task) => "in the background, ended with its task".to_owned(),
        }
    }

    /// Returns how it ended and what explains it: "exit 1 (`npm test`: 1 | `tail -5`: 0)", "exit 0,
    /// but `make test` exited with 2". `code` renders a command.
    pub(crate) fn ended(&self, code: impl Fn(&str) -> String) -> String {
        let details = &self.details;
        let failed: Vec<String> = details
            .failures()
            .map(|stage| format!("{} exited with {}", code(&stage.command), stage.code))
            .collect();
        let steps = match details.steps(&code) {
            _ if self.exit == Exit::Code(0) && !failed.is_empty() => {
                format!(", but {}", failed.join(", "))
            }
            steps if steps.is_empty() => String::new(),
            steps => format!(" ({steps})"),
        };
        let missing = match details.programs(&code) {
            programs if programs.is_empty() => String::new(),
            programs => format!(", did not start: {programs}"),
        };
        format!("{}{steps}{missing}", self.end())
    }
}

#[cfg(test)]
mod tests {
    use locum_sandbox::exec::Exit;
    use locum_sandbox::exec::steps::{FailedStep, StageExit};
    use pretty_assertions::assert_eq;

    use super::{BackgroundEnd, CommandReport};
    use crate::report::figures;

    fn report(
        exit: i32,
        stages: &[(&str, i32)],
        background: Option<BackgroundEnd>,
    ) -> CommandReport {
        let stage = |(command, code): &(&str, i32)| StageExit {
            command: (*command).to_owned(),
            code: *code,
        };
        let mut report = CommandReport {
            command: "c".to_owned(),
            exit: Exit::Code(exit),
            details: Default::default(),
            background,
        };
        if !stages.is_empty() {
            report.details.failed_steps =
                vec![FailedStep { stages: stages.iter().map(stage).collect() }];
        }
        report
    }

    #[test]
    fn a_part_that_failed_is_seen_where_the_whole_ended_with_zero() {
        let said = |report: CommandReport| (figures::mark(&report), report.ended(str::to_owned));
        let case = |mark, words: &str| (mark, words.to_owned());
        assert_eq!(said(report(0, &[], None)), case("✅", "exit 0"));
        assert_eq!(
            said(report(0, &[("make test", 2)], None)),
            case("⚠️", "exit 0, but make test exited with 2")
        );
        assert_eq!(said(report(0, &[("grep -q x f", 1)], None)).0, "✅");
        assert_eq!(said(report(0, &[("grep -q x f", 2)], None)).0, "⚠️");
        assert_eq!(said(report(0, &[("git log", 141), ("head -1", 0)], None)).0, "✅");
        assert_eq!(
            said(report(1, &[("npm test", 1), ("tail -5", 0)], None)),
            case("❌", "exit 1 (npm test: 1 | tail -5: 0)")
        );
        for (end, words) in [
            (BackgroundEnd::Stopped, "in the background, stopped"),
            (BackgroundEnd::Task, "in the background, ended with its task"),
        ] {
            assert_eq!(said(report(1, &[], Some(end))), case("✅", words));
        }
        let ended = report(1, &[], Some(BackgroundEnd::Itself));
        assert_eq!(said(ended), case("❌", "in the background, exit 1"));
    }
}
