//! A run as it happens, one line per event: tasks, decisions with rule and line, results of
//! commands.
//!
//! In: an event. Out: lines for a terminal, or nothing for events without news for a reader. No
//! colours, no control characters.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::report::figures;
use crate::report::markdown::visible;
use crate::report::transcript;
use crate::session::event::{Event, JournalLine};
use crate::session::outcome::{CheckReport, Outcome, PendingDecision};
use crate::session::recorded::{CompactionKind, HookReport, TouchedPath};
use crate::session::state::SessionState;
use crate::tools::command_details::CommandDetails;
use crate::tools::{Observation, Todo, TodoState};
use locum_base::id::TaskId;
use locum_base::text::{counted, head};
use locum_modes::prompts::reminders::may_spend;
use locum_policy::intent::Intent;
use locum_policy::verdict::{Decision, Refusal, RefusedBy, Verdict};
use locum_sandbox::exec::Exit;

/// Bytes of the word at the beginning of a line about what a task does.
const WORD_BYTES: usize = 10;

/// Longest line shown, in characters.
const LINE_LIMIT_CHARS: usize = 160;

/// A run that is followed line by line.
#[derive(Debug, Default)]
pub struct LiveLines {
    /// When calls began that have not ended.
    begun: BTreeMap<(TaskId, String), Timestamp>,
}

impl LiveLines {
    /// Returns the lines for what happened, given the state it led to. A call that took a second or
    /// more says how long it took.
    pub fn lines(&mut self, line: &JournalLine, state: &SessionState) -> Vec<String> {
        let mut lines = lines(&line.event, state);
        match &line.event {
            Event::Judged { task, call, .. }
            | Event::Performing { task, call, .. }
            | Event::Checking { task, call, .. } => {
                self.begun.insert((*task, call.clone()), line.at);
            }
            Event::Answered { task, call, .. } | Event::Checked { task, call, .. } => {
                let since = self.begun.remove(&(*task, call.clone())).unwrap_or(line.at);
                let seconds = u64::try_from(line.at.duration_since(since).as_secs()).unwrap_or(0);
                if let (Some(last), 1..) = (lines.last_mut(), seconds) {
                    last.push_str(&format!(" · {}", figures::duration(seconds)));
                }
            }
            _ => {}
        }
        lines
    }
}

/// Returns the lines for an event, without line ends, given the state it led to. What happens in a
/// task that works beside others says in which.
fn lines(event: &Event, state: &SessionState) -> Vec<String> {
    let isolated_commits = event.task().filter(|task| state.tree_owner(*task).is_some());
    let lines = match event {
        Event::Answered { task, call, tool, observation, refusal, .. } => {
            let waiting = state.task(*task).and_then(|task| task.turn.call(call));
            let headline = waiting.and_then(|waiting| waiting.headline.as_deref());
            let headline = headline.unwrap_or(tool);
            match refusal {
                Some(refusal) => refused(refusal, observation, headline),
                None => answered(observation, headline).into_iter().collect(),
            }
        }
        event => lines_of(event),
    };
    match isolated_commits {
        Some(task) => lines.into_iter().map(|line| of_task(task, line)).collect(),
        None => lines,
    }
}

/// Returns the last line of a run, once it is known what became of its result.
pub fn outcome(outcome: &Outcome) -> String {
    let reason = outcome.reason.as_ref().map(|reason| format!(" · {reason}")).unwrap_or_default();
    one_line(&format!("outcome {}{reason}", outcome.word.as_str()))
}

/// Puts the task into a line that does not begin with one.
fn of_task(task: TaskId, line: String) -> String {
    match line.split_at_checked(WORD_BYTES).filter(|(word, _)| word.starts_with("  ")) {
        Some((word, rest)) => {
            figures::clip(&format!("{word}[task {task}] {rest}"), LINE_LIMIT_CHARS)
        }
        None => line,
    }
}

fn lines_of(event: &Event) -> Vec<String> {
    match event {
        Event::Started(start) => {
            vec![format!(
                "session {} · base {} · policy {}",
                start.id,
                figures::short(&start.base),
                head(&start.policy_hash, 12)
            )]
        }
        Event::Resumed { .. } => vec!["resumed".to_owned()],
        Event::Continued { by, budget, .. } => {
            vec![one_line(&format!("{by} lets it go on · {}", may_spend(budget)))]
        }
        Event::TaskStarted { task, mode, title, message, .. } => {
            let what = title.as_deref().unwrap_or(message);
            vec![format!("task {task} · {mode} · {}", one_line(what))]
        }
        Event::Replied { reply, .. } if !reply.text.trim().is_empty() => {
            vec![format!("  says    {}", one_line(&reply.text))]
        }
        Event::Judged { approval: Some(yes), verdicts, .. } => verdicts
            .iter()
            .map(verdict_line)
            .chain([one_line(&format!("  yes     {} approved hold {}", yes.by, yes.hold))])
            .collect(),
        Event::Decided { decision, .. } => vec![one_line(&transcript::decided(decision))],
        Event::Judged { verdicts, .. } => {
            verdicts.iter().filter(|verdict| is_news(verdict)).map(verdict_line).collect()
        }
        Event::Consulted { expert, answer, .. } => {
            let answer = if answer.is_empty() { "gave no answer" } else { answer.as_str() };
            vec![one_line(&format!("  expert  {expert} · {answer}"))]
        }
        Event::ImageGenerated { generated, .. } => vec![one_line(&format!(
            "  picture {} · {}",
            generated.by,
            transcript::painted(generated)
        ))],
        Event::ModelUsed { by, what, .. } => vec![one_line(&format!("  model   {by} · {what}"))],
        Event::ReplyLost { task, charge } => {
            vec![format!(
                "task {task} · a reply broke off · about {} tokens lost",
                charge.usage.total()
            )]
        }
        Event::Compacted { task, how, left_out, .. } => {
            let how = if *how == CompactionKind::Condensed { "condensed" } else { "left out" };
            vec![format!("task {task} · the first {left_out} messages {how}")]
        }
        Event::ParallelStarted { task, calls, .. } => {
            vec![format!("task {task} · {} parallel sub-tasks", calls.len())]
        }
        Event::WorkMerged { task, taken, conflicts, kept_ref } => vec![match kept_ref {
            None => format!("task {task} · {} taken over", counted(taken.len(), "file")),
            Some(kept_ref) => one_line(&format!(
                "task {task} · not taken over, {} · kept on {kept_ref}",
                counted(conflicts.len(), "conflict")
            )),
        }],
        Event::Noted { text, .. } => vec![one_line(&format!("note: {text}"))],
        Event::ModeSwitched { task, from, to, reason, .. } => {
            vec![format!("task {task} · {from} → {to} · {}", one_line(reason))]
        }
        Event::TaskEnded { task, result, completed, status, reason, .. } => {
            let word = figures::task_ended(*completed, *status);
            let said = reason.as_ref().filter(|_| !completed).unwrap_or(result);
            vec![format!("task {task} {word} · {}", one_line(said))]
        }
        Event::Checking { commands, .. } => {
            vec![one_line(&format!("  checks  {}", commands.join(", ")))]
        }
        Event::Checked { checks, handed_back, .. } => {
            let back = handed_back.then(|| "  checks  handed back to the model".to_owned());
            let line = |check: &CheckReport| {
                one_line(&format!(
                    "  check   {} · {}",
                    check.command,
                    figures::check_end(&check.end)
                ))
            };
            checks.iter().map(line).chain(back).collect()
        }
        Event::HooksRan { hooks, .. } => {
            let news = hooks.iter().filter(|hook| !hook.said.is_empty() || !hook.did_run);
            let line = |hook: &HookReport| {
                let word = if hook.did_run { "" } else { "did not run: " };
                one_line(&format!("  hook    {} · {word}{}", hook.command, hook.said))
            };
            news.map(line).collect()
        }
        Event::MessageReceived { message } => {
            vec![format!("message of {} · {}", message.by, one_line(&message.text))]
        }
        Event::ServerNoted { server, what } => vec![format!("MCP server {server} {what}")],
        Event::Ended(outcome) => outcome.pending().map(|pending| waits(&pending)).collect(),
        Event::Checkpointed { touched, .. } => touched.iter().filter_map(changed).collect(),
        Event::TodosChanged { todos, .. } => checklist(todos).into_iter().collect(),
        Event::Answered { .. }
        | Event::Replied { .. }
        | Event::Reminded { .. }
        | Event::WorkMeasured { .. }
        | Event::MessageRead { .. }
        | Event::ServersListed { .. }
        | Event::Performing { .. }
        | Event::Promoting { .. } => Vec::new(),
    }
}

/// Returns what a call came to that was not refused, where that is news: a command ended, or
/// something failed.
fn answered(observation: &Observation, headline: &str) -> Option<String> {
    match observation.exit {
        Some(exit) => Some(exit_line(exit, &observation.command)),
        None => observation.is_error.then(|| failed_line(headline, &observation.text)),
    }
}

fn failed_line(headline: &str, text: &str) -> String {
    one_line(&format!("  failed  {headline} · {}", one_line(text)))
}

/// Returns a file that was changed, with its lines against the commit that the run began with.
fn changed(file: &TouchedPath) -> Option<String> {
    let (added, removed) = file.amount?;
    Some(one_line(&format!("  edit    {} · +{added} −{removed}", file.path)))
}

/// Returns how far a checklist is, and its first line that is not done.
fn checklist(todos: &[Todo]) -> Option<String> {
    let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
    let open = todos.iter().find(|todo| todo.state != TodoState::Done);
    let open = open.map(|todo| format!(" · {}", todo.text)).unwrap_or_default();
    let line = format!("  todo    {done}/{} done{open}", todos.len());
    (!todos.is_empty()).then(|| one_line(&line))
}

/// Returns who or what refused a call. A command of which only some changes were taken back also
/// shows how it ended.
fn refused(refusal: &Refusal, observation: &Observation, headline: &str) -> Vec<String> {
    let exit = observation.exit.map(|exit| exit_line(exit, &observation.command));
    match &refusal.by {
        RefusedBy::Person { login, reason } => {
            let reason = match reason.as_str() {
                "" => String::new(),
                reason => format!(" · {reason}"),
            };
            vec![one_line(&format!("  denied  {headline} · by {login}{reason}"))]
        }
        RefusedBy::Policy | RefusedBy::Secret if refusal.verdicts.is_empty() => {
            std::iter::once(failed_line(headline, &observation.text)).chain(exit).collect()
        }
        RefusedBy::Policy | RefusedBy::Secret => {
            refusal.verdicts.iter().map(verdict_line).chain(exit).collect()
        }
    }
}

/// Returns what waits for a person.
fn waits(pending: &PendingDecision) -> String {
    one_line(&match pending {
        PendingDecision::Hold(held) => {
            let rule = held.verdicts.iter().find(|verdict| verdict.decision == Decision::Hold);
            let why = rule.map(|verdict| format!(" · {}", verdict.reason())).unwrap_or_default();
            format!("  hold    {} · waits as {}{why}", held.headline, held.id)
        }
        PendingDecision::Question(question) => format!("  asks    {}", question.text),
    })
}

/// What stays within the session is always allowed, and a refusal is shown with its answer.
fn is_news(verdict: &Verdict) -> bool {
    verdict.decision == Decision::Allow && verdict.intent != Intent::Session.to_string()
}

/// Returns a verdict as one line: decision, intent, and the rule with its place, or the guard's
/// reason.
pub(crate) fn verdict_line(verdict: &Verdict) -> String {
    let decision = match verdict.decision {
        Decision::Allow => "allow",
        Decision::Hold => "hold",
        Decision::Deny => "deny",
    };
    let why = match verdict.rule() {
        Some(rule) => format!("{} {} · {}", rule.place(), rule.pattern, verdict.reason()),
        None => verdict.reason(),
    };
    one_line(&format!("  {decision:<5}   {:<38} {why}", verdict.intent))
}

fn exit_line(exit: Exit, details: &CommandDetails) -> String {
    let mut words = vec![exit_words(exit), details.steps(str::to_owned)];
    words.extend(
        (!details.not_started.is_empty())
            .then(|| format!("did not start: {}", details.programs(str::to_owned))),
    );
    words.retain(|word| !word.is_empty());
    one_line(&format!("  exit    {}", words.join(" · ")))
}

fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => code.to_string(),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "timed out".to_owned(),
        Exit::TooManyProcesses => "too many processes".to_owned(),
    }
}

/// Returns the first line of a text, without control characters, cut to one screen line.
fn one_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    figures::clip(&visible(line), LINE_LIMIT_CHARS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{LiveLines, lines, one_line, outcome, verdict_line};
    use crate::report::sample;
    use crate::session::event::{Event, JournalLine};
    use crate::session::outcome::{Outcome, OutcomeWord};
    use crate::session::recorded::TouchedPath;
    use crate::session::state::SessionState;
    use crate::tools::{Observation, Todo, TodoState};
    use jiff::Timestamp;
    use locum_base::id::TaskId;
    use locum_base::path::RepoPath;
    use locum_policy::verdict::{Cause, Decision, Refusal, RefusedBy, RuleRef, Verdict};
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    fn verdict(decision: Decision) -> Verdict {
        let rule = RuleRef::at("command(cargo add:*)", ".locum/policy.yml", 21);
        Verdict {
            decision,
            intent: "command(cargo add regex)".to_owned(),
            cause: Cause::Rule { rule, said: "new dependencies need a person".to_owned() },
        }
    }

    #[test]
    fn shows_rule_line_and_reason() {
        assert_eq!(
            verdict_line(&verdict(Decision::Deny)),
            "  deny    command(cargo add regex)               .locum/policy.yml:21 command(cargo \
             add:*) · new dependencies need a person"
        );
    }

    #[test]
    fn a_setting_has_no_line() {
        let rule = RuleRef::setting("modes.allow", ".locum/policy.yml");
        let cause = Cause::Rule { rule, said: "listed".to_owned() };
        let line = verdict_line(&Verdict { cause, ..verdict(Decision::Allow) });
        assert!(line.ends_with(" .locum/policy.yml modes.allow · listed"), "{line}");
    }

    #[test]
    fn a_guard_without_a_rule_shows_its_reason() {
        let guard = Verdict::denied("command(x)".to_owned(), "`.git` is protected".to_owned());
        assert!(verdict_line(&guard).ends_with("`.git` is protected"));
    }

    #[test]
    fn shows_an_allowed_call_once_and_leaves_refusals_to_their_answer() {
        let judged = |decision| Event::Judged {
            task: TaskId(1),
            call: "c".into(),
            headline: "run x".into(),
            command: None,
            verdicts: vec![verdict(decision)],
            approval: None,
        };
        assert_eq!(lines(&judged(Decision::Allow), &SessionState::default()).len(), 1);
        assert_eq!(lines(&judged(Decision::Deny), &SessionState::default()).len(), 0);
    }

    fn answer(observation: Observation, refusal: Option<Refusal>) -> Vec<String> {
        let event = Event::Answered {
            task: TaskId(1),
            call: "c".to_owned(),
            tool: "apply_diff".to_owned(),
            observation,
            refusal: refusal.map(Box::new),
            mistake: false,
        };
        lines(&event, &SessionState::default())
    }

    #[test]
    fn a_call_that_takes_its_time_says_how_long_it_took() {
        let at = |second, event| JournalLine { at: Timestamp::from_second(second).unwrap(), event };
        let performing = Event::Performing {
            task: TaskId(1),
            call: "c".to_owned(),
            before: Vec::new(),
            snapshot: None,
        };
        let answered = Event::Answered {
            task: TaskId(1),
            call: "c".to_owned(),
            tool: "apply_diff".to_owned(),
            observation: Observation::failed("no"),
            refusal: None,
            mistake: false,
        };
        let (mut live, state) = (LiveLines::default(), SessionState::default());
        assert_eq!(live.lines(&at(10, performing.clone()), &state), [""; 0]);
        let last = live.lines(&at(75, answered.clone()), &state);
        assert_eq!(last, ["  failed  apply_diff · no · 1 min 5 s"]);
        live.lines(&at(80, performing), &state);
        assert_eq!(live.lines(&at(80, answered), &state), ["  failed  apply_diff · no"]);
    }

    #[test]
    fn edits_say_how_much_changed_and_the_checklist_how_far_it_is() {
        let path = RepoPath::parse("src/a.rs").unwrap();
        let file = |amount| TouchedPath { path: path.clone(), diff_lines: None, amount };
        let saved = Event::Checkpointed {
            tree: None,
            commit: CommitId("0".repeat(40)),
            touched: vec![file(Some((3, 1))), file(None)],
            uncommitted: BTreeSet::new(),
        };
        assert_eq!(lines(&saved, &SessionState::default()), ["  edit    src/a.rs · +3 −1"]);
        let todo = |text: &str, state| Todo { text: text.to_owned(), state };
        let todos = vec![todo("read", TodoState::Done), todo("mend", TodoState::Started)];
        let changed = Event::TodosChanged { task: TaskId(0), todos };
        assert_eq!(lines(&changed, &SessionState::default()), ["  todo    1/2 done · mend"]);
    }

    #[test]
    fn what_failed_is_one_line_and_what_went_well_none() {
        assert_eq!(answer(Observation::said("Changed `a`."), None), [""; 0]);
        assert_eq!(
            answer(Observation::failed("Nothing was changed in `a`: no.\nmore"), None),
            ["  failed  apply_diff · Nothing was changed in `a`: no."]
        );
    }

    #[test]
    fn a_persons_no_names_the_person_and_the_policys_the_rule() {
        let refusal = Refusal {
            decision: Decision::Hold,
            verdicts: vec![verdict(Decision::Hold)],
            hint: None,
            by: RefusedBy::Policy,
        };
        let observation = Observation::failed("no");
        let policys = answer(observation.clone(), Some(refusal.clone()));
        assert!(policys.len() == 1 && policys[0].starts_with("  hold    command("), "{policys:?}");
        assert_eq!(
            answer(observation, Some(refusal.by_person("ann", "not today"))),
            ["  denied  apply_diff · by ann · not today"]
        );
    }

    #[test]
    fn what_waits_is_named_at_the_end_and_the_outcome_says_why() {
        let held = sample::held();
        let waiting = lines(&Event::Ended(Box::new(held.clone())), &SessionState::default());
        assert!(!waiting.is_empty() && waiting[0].starts_with("  hold    "), "{waiting:?}");
        let reason = Some("the push was refused".to_owned());
        assert_eq!(
            outcome(&Outcome { word: OutcomeWord::NotPublished, reason, ..held }),
            "outcome not-published · the push was refused"
        );
    }

    #[test]
    fn a_line_is_one_line_in_which_nothing_hides() {
        assert_eq!(one_line("\n a\u{1b}[31m\nb"), " a(U+001B)[31m");
        assert_eq!(one_line(&"x".repeat(500)).chars().count(), 160);
    }
}
