//! A session as maintainers read it, one paragraph per event.
//!
//! In: journal lines. Out: text. Each turn says what it cost, each task what all of its own did.
//! Long texts are shown by their beginning, and compactions of the context are shown between the
//! turns.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::report::figures;
use crate::session::earlier::SessionFork;
use crate::session::event::{Event, JournalLine};
use crate::session::outcome::CheckReport;
use crate::session::recorded::{
    CompactionKind, GeneratedImage, HookReport, PersonDecision, RecordedDecision,
};
use crate::session::state::SessionState;
use locum_base::image::Image;
use locum_base::text::{self, counted};
use locum_modes::prompts::reminders::may_spend;
use locum_policy::verdict::Decision;

/// Bytes of one text shown.
const TEXT_LIMIT_BYTES: usize = 2000;

/// The events of a session that a reader wants; by default, all.
#[derive(Clone, Debug, Default)]
pub struct EventSelection<'a> {
    /// Of these tasks alone; of all when empty.
    pub tasks: &'a [u32],
    /// Of these turns of a task alone; of all when empty.
    pub turns: &'a [u32],
    /// Only what was refused or held, and what a person decided on it.
    pub refusals: bool,
}

impl EventSelection<'_> {
    /// Returns the lines that are wanted.
    pub fn of<'l>(&self, lines: &'l [JournalLine]) -> Vec<&'l JournalLine> {
        let mut state = SessionState::default();
        let wanted = |line: &&JournalLine| {
            state.apply(line);
            self.has(&line.event, &state)
        };
        lines.iter().filter(wanted).collect()
    }

    /// Returns true for an event that is wanted, given the state it led to.
    fn has(&self, event: &Event, state: &SessionState) -> bool {
        let task = event.task();
        let in_task =
            self.tasks.is_empty() || task.is_some_and(|task| self.tasks.contains(&task.0));
        let turn = task.and_then(|task| state.task(task)).map(|task| task.turn.number);
        let in_turn = self.turns.is_empty() || turn.is_some_and(|turn| self.turns.contains(&turn));
        in_task && in_turn && (!self.refusals || is_refusal(event))
    }
}

fn is_refusal(event: &Event) -> bool {
    match event {
        Event::Judged { verdicts, .. } => {
            verdicts.iter().any(|verdict| verdict.decision != Decision::Allow)
        }
        Event::Answered { refusal, .. } => refusal.is_some(),
        Event::HooksRan { stops, .. } => *stops,
        Event::Decided { .. } => true,
        _ => false,
    }
}

/// Returns a session as maintainers read it, one paragraph per event that is wanted.
pub fn transcript(lines: &[JournalLine], wanted: &EventSelection<'_>) -> String {
    let mut transcript = String::new();
    let mut state = SessionState::default();
    let mut before = None;
    for (at, line) in lines.iter().enumerate() {
        state.apply(line);
        let previous = before.replace(&line.event);
        if !wanted.has(&line.event, &state) {
            continue;
        }
        let paragraph = match (&line.event, previous) {
            (Event::Resumed { .. }, Some(_))
                if forked(&state).is_some_and(|fork| at == fork.lines) =>
            {
                "resumed from the checkpoint".to_owned()
            }
            (Event::Resumed { .. }, Some(before)) => resumed_after(before).to_owned(),
            (event, _) => paragraph(event, &state),
        };
        if !paragraph.is_empty() {
            // Writing into a String cannot fail.
            let _ = writeln!(transcript, "[{}] {paragraph}\n", line.at.strftime("%H:%M:%S"));
        }
    }
    transcript
}

/// Says which session one was made of.
fn went_on(fork: &SessionFork) -> String {
    let SessionFork { session, checkpoint, lines, at } = fork;
    let day = at.strftime("%Y-%m-%d %H:%M:%SZ");
    format!(
        "; made at {day} of session {session}, with everything until its checkpoint {checkpoint} \
         ({lines} events)"
    )
}

/// Returns where a session was made of another.
fn forked(state: &SessionState) -> Option<&SessionFork> {
    state.start.as_ref()?.fork.as_deref()
}

/// Says what a session was resumed after: the event before it tells.
fn resumed_after(before: &Event) -> &'static str {
    match before {
        Event::Decided { .. } => "resumed after the decision",
        Event::Continued { .. } => "resumed",
        Event::Ended(_) => "resumed after the fault",
        _ => "resumed after it had been killed",
    }
}

/// Returns an event as maintainers read it, given the state it led to.
fn paragraph(event: &Event, state: &SessionState) -> String {
    let charged = event.charged().as_ref().map(figures::charged).unwrap_or_default();
    match event {
        Event::Started(start) => format!(
            "session {} in mode {}, from {}{}\n{}",
            start.id,
            start.mode,
            start.base.0,
            start.fork.as_ref().map(|fork| went_on(fork)).unwrap_or_default(),
            shown(&start.task)
        ),
        Event::Resumed { .. } => "resumed".to_owned(),
        Event::Continued { by, budget, words, images } => {
            let words = words.iter().map(|words| format!("\n{by} wrote: {}", shown(words)));
            let rest = may_spend(budget);
            let words: String = words.collect();
            let images = described(images);
            format!("{by} lets the session go on; in all it may spend: {rest}{words}{images}")
        }
        Event::TaskStarted { task, parent, mode, message, .. } => {
            let under = parent.map(|parent| format!(" for task {parent}")).unwrap_or_default();
            format!("task {task}{under} in mode {mode}\n{}", shown(message))
        }
        Event::ParallelStarted { task, calls, from, .. } => {
            format!(
                "task {task} starts {} parallel sub-tasks, each in a worktree of {}",
                calls.len(),
                from.0
            )
        }
        Event::WorkMerged { task, taken, conflicts, kept_ref } => match kept_ref {
            None => {
                format!("what task {task} changed was taken over: {}", counted(taken.len(), "file"))
            }
            Some(kept_ref) => {
                format!(
                    "what task {task} changed was not taken over ({}); it is kept on {kept_ref}",
                    counted(conflicts.len(), "conflict")
                )
            }
        },
        Event::Replied { task, reply, .. } => {
            let calls: String = reply
                .calls
                .iter()
                .map(|call| format!("\n-> {} {}", call.name, shown(&call.arguments)))
                .collect();
            let by = reply.by.iter().map(|by| format!("by {by} · ")).collect::<String>();
            let turn = state.task(*task).map_or(0, |task| task.turn.number);
            format!(
                "task {task}, turn {turn} ({by}{charged}): {}{}{calls}",
                shown(&reply.text),
                described(&reply.images)
            )
        }
        Event::Consulted { task, expert, answer, .. } if answer.is_empty() => {
            format!("task {task} asked the expert {expert}, which gave no answer ({charged})")
        }
        Event::Consulted { task, expert, answer, .. } => {
            format!(
                "task {task} asked the expert {expert}, which answered ({charged}):\n{}",
                shown(answer)
            )
        }
        Event::ImageGenerated { task, generated, .. } => {
            let when = if generated.again { "drawn before" } else { charged.as_str() };
            format!(
                "task {task} had {} draw ({when}): {}{}",
                generated.by,
                shown(&painted(generated)),
                described(generated.image.as_slice())
            )
        }
        Event::ModelUsed { task, by, what, .. } => {
            format!("task {task} used {by}: {what} ({charged})")
        }
        Event::ReplyLost { task, .. } => format!(
            "task {task}: a reply broke off; this much of it is counted, by estimate: {charged}"
        ),
        Event::Compacted { task, how, left_out, text, .. } => {
            let how = match how {
                CompactionKind::Condensed => format!("were condensed ({charged})"),
                CompactionKind::Truncated => "were left out".to_owned(),
            };
            format!(
                "task {task}: the first {left_out} messages of its context {how}; this stands for \
                 them:\n{}",
                shown(text)
            )
        }
        Event::WorkMeasured { task, changes } => {
            format!("task {task} changed {}", figures::changes(changes))
        }
        Event::Noted { text, .. } => format!("note: {text}"),
        Event::Reminded { task, text, .. } => format!("task {task} was told: {}", shown(text)),
        Event::MessageReceived { message } => {
            let images = described(&message.images);
            format!("{} wrote: {}{images}", message.by, shown(&message.text))
        }
        Event::MessageRead { task, .. } => format!("task {task} read it"),
        Event::Judged { headline, verdicts, approval, .. } => {
            let verdict = |verdict: &locum_policy::verdict::Verdict| {
                let rule =
                    verdict.rule().map(|rule| format!(" ({})", rule.place())).unwrap_or_default();
                format!("\n{:?} {}: {}{rule}", verdict.decision, verdict.intent, verdict.reason())
            };
            let approved = approval
                .as_ref()
                .map(|yes| format!("\napproved by {} (hold {})", yes.by, yes.hold))
                .unwrap_or_default();
            format!(
                "judged: {headline}{}{approved}",
                verdicts.iter().map(verdict).collect::<String>()
            )
        }
        Event::Decided { decision, .. } => decided(decision),
        Event::ServersListed { servers } => {
            let tools = |(server, tools): (&String, &BTreeMap<String, String>)| {
                format!("{server} ({})", tools.len())
            };
            format!(
                "MCP servers with their tools: {}",
                servers.iter().map(tools).collect::<Vec<_>>().join(", ")
            )
        }
        Event::ServerNoted { server, what } => format!("MCP server {server} {what}"),
        Event::Performing { .. }
        | Event::Promoting { .. }
        | Event::Checking { .. }
        | Event::TodosChanged { .. } => String::new(),
        Event::Checked { checks, handed_back, .. } => {
            let line = |check: &CheckReport| {
                let CheckReport { command, end, output, .. } = check;
                let output = if output.is_empty() { String::new() } else { format!("\n{output}") };
                format!("\n{command}: {}{output}", figures::check_end(end))
            };
            let back = if *handed_back { ", handed back to the model" } else { "" };
            format!("checks of the policy{back}{}", checks.iter().map(line).collect::<String>())
        }
        Event::HooksRan { event_name, hooks, stops, .. } => {
            let line = |hook: &HookReport| {
                let word = if hook.did_run { "ran" } else { "did not run" };
                let HookReport { command, place, said, .. } = hook;
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                format!("\n{command} ({place}) {word}{said}")
            };
            let against = if *stops { ", against it" } else { "" };
            format!(
                "hooks of {}{against}{}",
                event_name.as_str(),
                hooks.iter().map(line).collect::<String>()
            )
        }
        Event::Answered { tool, observation, .. } => {
            let failed = if observation.is_error { " failed" } else { "" };
            format!(
                "<- {tool}{failed}\n{}{}",
                shown(&observation.text),
                described(&observation.images)
            )
        }
        Event::ModeSwitched { task, from, to, reason, rule, took_ms } => {
            let took = Some(took_ms / 1000).filter(|seconds| *seconds > 0);
            let took = took.map(|seconds| format!(" after {}", figures::duration(seconds)));
            let took = took.unwrap_or_default();
            let rule = rule.as_ref().map(|rule| format!(" ({})", rule.pattern)).unwrap_or_default();
            format!("task {task} goes from mode {from} to {to}{took}{rule}: {}", shown(reason))
        }
        Event::Checkpointed { commit, touched, .. } => {
            format!("checkpoint {} of {}", commit.0, figures::count(touched.len(), "file"))
        }
        Event::TaskEnded { task, result, completed, status, reason, .. } => {
            let own = state
                .task(*task)
                .map(|task| figures::charged(&task.budgeting.own))
                .unwrap_or_default();
            let reason =
                reason.iter().map(|reason| format!(": {}", shown(reason))).collect::<String>();
            format!(
                "task {task} {} ({own}){reason}\n{}",
                figures::task_ended(*completed, *status),
                shown(result)
            )
        }
        Event::Ended(outcome) => {
            let reason =
                outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("ended: {}{reason}", outcome.word.as_str())
        }
    }
}

/// Returns the result of a requested image.
pub fn painted(generated: &GeneratedImage) -> String {
    generated
        .image
        .as_ref()
        .map_or_else(|| format!("no picture: {}", generated.said), ToString::to_string)
}

/// Returns a maintainer's decision as one sentence.
pub fn decided(decision: &RecordedDecision) -> String {
    let RecordedDecision { id, by, word, note } = decision;
    match word {
        PersonDecision::Approve if note.is_empty() => format!("{by} approved {id}"),
        PersonDecision::Approve => format!("{by} approved {id}: {}", shown(note)),
        PersonDecision::Deny { reason } if reason.is_empty() => format!("{by} denied {id}"),
        PersonDecision::Deny { reason } => format!("{by} denied {id}: {}", shown(reason)),
        PersonDecision::Answer { text } => format!("{by} answered {id}: {}", shown(text)),
    }
}

fn described(images: &[Image]) -> String {
    images.iter().map(|image| format!("\n[{image}, sha256 {}]", image.hash)).collect()
}

fn shown(text: &str) -> String {
    let head = text::head(text.trim(), TEXT_LIMIT_BYTES);
    if head.len() < text.trim().len() { format!("{head} [...]") } else { head.to_owned() }
}
