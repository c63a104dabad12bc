//! The text of the pull request of `locum init --pull-request`.
//!
//! In: the files, the policy and the replayed events. Out: Markdown. Words of other people, such as
//! commands and logins, stand in code spans.

use std::fmt::Write as _;

use locum_agent::report::markdown::{code, fold, inline};
use locum_policy::command::Script;
use locum_policy::intent::{Facts, Intent};

use crate::cli::onboarding::OnboardingPlan;
use crate::cli::onboarding::replayed::{Replay, ReplayedEnd};
use crate::cli::policy_explain::word;

/// The longest month, for limits of a day.
const DAYS: f64 = 31.0;

/// Rows of one table.
const ROWS_LIMIT: usize = 60;

/// What the text is made of.
pub(super) struct OnboardingText<'a> {
    /// The files and the policy.
    pub(super) plan: &'a OnboardingPlan<'a>,
    /// The replayed events.
    pub(super) replay: &'a Replay,
}

// NOTE: writing to a string cannot fail, so results of `write!` are dropped here.
impl OnboardingText<'_> {
    /// Writes the text.
    pub(super) fn render(&self) -> String {
        let mut text = String::from(
            "This pull request lets Locum, a coding agent without a person at its side, work in \
             this repository. Nothing starts before it is merged. Delete the files to switch it \
             off.\n\nIt adds:\n\n",
        );
        for (path, _) in self.plan.files {
            let _ = writeln!(text, "- {}", code(path));
        }
        self.jobs(&mut text);
        self.people(&mut text);
        self.events(&mut text);
        self.commands(&mut text);
        self.ceiling(&mut text);
        self.rights(&mut text);
        text
    }

    fn jobs(&self, text: &mut String) {
        if self.plan.jobs.is_empty() {
            return;
        }
        text.push_str("\n## Jobs\n\nThese start by themselves once it is merged:\n\n");
        for job in self.plan.jobs {
            let _ = writeln!(text, "- {}: {}", code(job.name), job.about);
        }
    }

    fn people(&self, text: &mut String) {
        text.push_str("\n## Who could start a run\n\n");
        if self.replay.people.is_empty() {
            text.push_str("GitHub lists no events of the last 30 days here.\n");
            return;
        }
        text.push_str(
            "People of the last events, by what GitHub says they may do here. \"Could start\": a \
             command in a comment.\n\n| who | permission | events | could start |\n\
             |---|---|---|---|\n",
        );
        for (login, person) in &self.replay.people {
            let permission =
                person.permission.map_or("not known", |permission| permission.as_str());
            let command = match &person.command {
                Ok(()) => "yes".to_owned(),
                Err(why) => format!("no: {}", cell(why)),
            };
            let _ = writeln!(
                text,
                "| {} | {permission} | {} | {command} |",
                code_cell(login),
                person.events
            );
        }
    }

    fn events(&self, text: &mut String) {
        let events = &self.replay.events;
        if events.is_empty() {
            return;
        }
        let started =
            events.iter().filter(|event| matches!(event.end, ReplayedEnd::Starts(_))).count();
        let refused =
            events.iter().filter(|event| matches!(event.end, ReplayedEnd::Refused(_))).count();
        let _ = write!(
            text,
            "\n## The last {} events, replayed\n\n{started} of them would have started a run, \
             {refused} would have been refused, the others ask nothing of Locum.\n\n",
            events.len()
        );
        let mut table =
            String::from("| event | by | on | would have started |\n|---|---|---|---|\n");
        for event in events.iter().take(ROWS_LIMIT) {
            let on = event.number.map(|number| format!("#{number}")).unwrap_or_default();
            let end = match &event.end {
                ReplayedEnd::Nothing => "nothing".to_owned(),
                ReplayedEnd::Starts(what) => format!("**a run: {}**", inline(what)),
                ReplayedEnd::Refused(why) => format!("refused: {}", cell(why)),
            };
            let _ =
                writeln!(table, "| {} | {} | {on} | {end} |", event.name, code_cell(&event.actor));
        }
        text.push_str(&fold("Each event", &table));
        text.push('\n');
    }

    fn commands(&self, text: &mut String) {
        text.push_str("\n## The commands of your CI, as the policy decides\n\n");
        if self.plan.ci.is_empty() {
            text.push_str("No plain command was found in the workflows of this repository.\n");
            return;
        }
        let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
        text.push_str(
            "In mode `code`:\n\n| command | where | decision | by |\n|---|---|---|---|\n",
        );
        for each in self.plan.ci.iter().take(ROWS_LIMIT) {
            let intent = Intent::Command(Script::parse(&each.command));
            let verdict = self.plan.policy.decide(&intent, &facts);
            let by = verdict.rule().map_or_else(
                || cell(&verdict.reason()),
                |rule| format!("{}, line {}", code_cell(&rule.pattern), rule.line_number()),
            );
            let _ = writeln!(
                text,
                "| {} | {} | {} | {by} |",
                code_cell(&each.command),
                code_cell(&each.place),
                word(verdict.decision)
            );
        }
    }

    fn ceiling(&self, text: &mut String) {
        let settings = self.plan.policy.settings();
        text.push_str("\n## What it may cost\n\n");
        let run = settings.budget.cost_usd;
        let _ = match settings.spending_limits.daily.cost_usd {
            Some(day) => writeln!(
                text,
                "At most **${:.2} a month**: {day:.2} US dollars a day (`budget.daily.cost_usd`) \
                 on 31 days. One run takes at most {run:.2} (`budget.cost_usd`). Prices are those \
                 of Locum's table of models; the minutes of the runners come on top.",
                day * DAYS
            ),
            None => writeln!(
                text,
                "One run takes at most {run:.2} US dollars (`budget.cost_usd`). **No limit holds \
                 many runs together**: `budget: {{ daily: {{ cost_usd: 10.00 }} }}` would, at \
                 {:.2} a month.",
                10.0 * DAYS
            ),
        };
    }

    fn rights(&self, text: &mut String) {
        text.push_str("\n## Rights of the workflow\n\n| right | why |\n|---|---|\n");
        for (right, why) in rights(self.plan.workflow) {
            let _ = writeln!(text, "| `{right}` | {} |", cell(why));
        }
        text.push_str(
            "\nMerging is up to you. Afterwards, add the secret that the workflow names, and under \
             Settings, Actions, General, tick \"Allow GitHub Actions to create and approve pull \
             requests\".\n",
        );
    }
}

/// The rights that a workflow of `init` gives its jobs, with why: `contents: write # to push`.
fn rights(workflow: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for line in workflow.lines() {
        if let Some((right, why)) = line.trim().split_once(" # to ")
            && [": read", ": write"].iter().any(|level| right.ends_with(level))
            && !found.contains(&(right, why))
        {
            found.push((right, why));
        }
    }
    found
}

/// Text for one cell of a table.
fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}

/// A code span for one cell of a table.
fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::rights;

    #[test]
    fn rights_are_read_with_their_reasons() {
        let workflow = "    permissions:\n      contents: write # to push branches\n      issues: \
                        read\n# to nothing\n      contents: write # to push branches\n      x: \
                        read # to see\n";
        assert_eq!(rights(workflow), [("contents: write", "push branches"), ("x: read", "see")]);
    }
}
