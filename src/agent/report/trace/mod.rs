//! A session as a trace: one span for the run, each task, each reply of a model, each call, in
//! OpenTelemetry's terms for agents.
//!
//! In: the lines of a journal, what is known of the models. Out: spans, in the order they ended.
//! Everything is read off the journal, names of spans too, so that a resumed session reports the
//! same spans again. Texts of users, models and tools are left out unless requested. Sending is
//! done elsewhere.

mod attribute;
pub mod otlp;
pub mod span;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::report::trace::span::{Parent, Span, SpanKind, SpanNames};
use crate::session::event::{Event, JournalLine, SessionStart};
use crate::session::outcome::{ChargedUsage, Outcome};
use crate::session::recorded::{CompactionKind, ReplyCharge};
use crate::session::word::Severity;
use crate::tools::Observation;
use crate::tools::flow::complete::CompletionStatus;
use locum_base::chat::{Reply, StopReason, ToolCall};
use locum_base::id::TaskId;
use locum_policy::verdict::Verdict;

/// A model as a trace names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedModel {
    /// Its provider, as OpenTelemetry calls it.
    pub provider: &'static str,
    /// Its name at the provider.
    pub name: String,
}

/// What a trace depends on besides the journal.
#[derive(Clone, Debug)]
pub struct TraceFacts {
    /// The root task's model.
    pub main: TracedModel,
    /// The model that sub-tasks use.
    pub task: TracedModel,
    /// The model that sums conversations up; each task's own when absent.
    pub condense: Option<TracedModel>,
    /// The models of modes that have one of their own, by slug.
    pub own: BTreeMap<String, TracedModel>,
    /// Whether texts of users, models and tools are included.
    pub content: bool,
    /// What the run is part of.
    pub parent: Option<Parent>,
}

/// Returns the spans of a session, the run's last; none for a journal that does not begin.
pub fn spans(lines: &[JournalLine], facts: &TraceFacts) -> Vec<Span> {
    let mut tracer: Option<Tracer<'_>> = None;
    for line in lines {
        match (&mut tracer, &line.event) {
            (None, Event::Started(start)) => tracer = Some(Tracer::new(facts, start, line.at)),
            (None, _) => {}
            (Some(tracer), event) => tracer.take(line.at, event),
        }
    }
    tracer.map(Tracer::finish).unwrap_or_default()
}

/// What has been read so far.
struct Tracer<'a> {
    facts: &'a TraceFacts,
    names: SpanNames,
    run: Span,
    last: Timestamp,
    open: BTreeMap<TaskId, OpenTask>,
    ended: Vec<Span>,
}

/// A task that has not ended.
struct OpenTask {
    span: Span,
    mode: String,
    is_root: bool,
    turns: u32,
    shortened: u32,
    /// Replies that broke off.
    lost: u32,
    /// What its own requests used up.
    own: ChargedUsage,
    /// Since when its model has been asked.
    since: Timestamp,
    calls: BTreeMap<String, Span>,
}

impl<'a> Tracer<'a> {
    fn new(facts: &'a TraceFacts, start: &SessionStart, at: Timestamp) -> Self {
        let names = SpanNames::new(&start.id, facts.parent.as_ref());
        let mut run = names.span(
            "run",
            facts.parent.as_ref().map(|parent| parent.span_id.clone()),
            "locum run".to_owned(),
            at,
        );
        run.attributes.text("gen_ai.conversation.id", start.id.as_str());
        run.attributes.text("locum.mode", &start.mode);
        run.attributes.text("locum.policy.hash", &start.policy_hash);
        run.attributes.text("vcs.ref.base.revision", &start.base.0);
        if let Some(job) = &start.facts.job {
            run.attributes.text("locum.job", job);
        }
        if facts.content {
            run.attributes.text("locum.task", &start.task);
        }
        Self { facts, names, run, last: at, open: BTreeMap::new(), ended: Vec::new() }
    }

    fn take(&mut self, at: Timestamp, event: &Event) {
        self.last = at;
        let open = event.task().and_then(|task| self.open.get_mut(&task));
        if let Some((open, charged)) = open.zip(event.charged()) {
            open.own.add(charged);
        }
        match event {
            Event::TaskStarted { task, parent, parent_call, mode, message, .. } => {
                self.begin(*task, parent.zip(parent_call.as_deref()), mode, message);
            }
            Event::Replied { task, reply, charge, .. } => self.replied(*task, reply, charge),
            Event::Compacted { task, how: CompactionKind::Condensed, text, charge, .. } => {
                self.summed_up(*task, text, charge);
            }
            Event::Consulted { task, call, charge, .. }
            | Event::ImageGenerated { task, call, charge, .. }
            | Event::ModelUsed { task, call, charge, .. } => {
                if let Some(span) = self.call(*task, call) {
                    span.attributes.spent(charge);
                }
            }
            Event::Judged { task, call, headline, verdicts, .. } => {
                self.judged(*task, call, headline, verdicts)
            }
            Event::Performing { task, call, .. } => {
                if let Some(span) = self.call(*task, call) {
                    span.start = at;
                }
            }
            Event::Answered { task, call, observation, refusal, mistake, .. } => {
                let failure = match (refusal, mistake, observation.is_error) {
                    (Some(_), _, _) => Some("refused"),
                    (None, true, _) => Some("mistake"),
                    (None, false, true) => Some("failed"),
                    (None, false, false) => None,
                };
                self.answered(*task, call, observation, failure);
            }
            Event::TaskEnded { task, result, completed, status, .. } => {
                let failure = || status.map_or("not_completed", CompletionStatus::as_str);
                self.end(*task, result, (!completed).then(failure))
            }
            Event::Ended(outcome) => self.outcome(outcome),
            Event::ModeSwitched { task, to, .. } => {
                if let Some(open) = self.open.get_mut(task) {
                    open.mode.clone_from(to);
                    open.since = at;
                }
            }
            Event::Compacted { task, .. }
            | Event::Reminded { task, .. }
            | Event::MessageRead { task, .. }
            | Event::TodosChanged { task, .. } => {
                if let Some(open) = self.open.get_mut(task) {
                    open.since = at;
                }
            }
            Event::Resumed { .. } | Event::Continued { .. } => {
                self.open.values_mut().for_each(|open| open.since = at)
            }
            Event::ReplyLost { task, charge } => self.lost(*task, charge),
            Event::Started(_)
            | Event::ParallelStarted { .. }
            | Event::WorkMerged { .. }
            | Event::WorkMeasured { .. }
            | Event::Noted { .. }
            | Event::Decided { .. }
            | Event::HooksRan { .. }
            | Event::MessageReceived { .. }
            | Event::Promoting { .. }
            | Event::ServersListed { .. }
            | Event::Checking { .. }
            | Event::Checked { .. }
            | Event::ServerNoted { .. }
            | Event::Checkpointed { .. } => {}
        }
    }

    fn begin(&mut self, task: TaskId, asked: Option<(TaskId, &str)>, mode: &str, message: &str) {
        let at = self.last;
        let by_call =
            asked.and_then(|(parent, call)| self.call(parent, call).map(|span| span.id.clone()));
        let parent = by_call.unwrap_or_else(|| self.run.id.clone());
        let mut span = self.names.span(
            &format!("task {task}"),
            Some(parent),
            format!("invoke_agent {mode}"),
            at,
        );
        span.attributes.text("gen_ai.operation.name", "invoke_agent");
        span.attributes.text("gen_ai.provider.name", "locum");
        span.attributes.text("gen_ai.agent.name", mode);
        span.attributes.text("gen_ai.agent.id", &task.to_string());
        span.attributes.text("gen_ai.conversation.id", &self.names.session);
        if self.facts.content {
            span.attributes.messages("gen_ai.input.messages", "user", message, &[]);
        }
        let open = OpenTask {
            span,
            mode: mode.to_owned(),
            is_root: asked.is_none(),
            turns: 0,
            shortened: 0,
            lost: 0,
            own: ChargedUsage::default(),
            since: at,
            calls: BTreeMap::new(),
        };
        self.open.insert(task, open);
    }

    fn replied(&mut self, task: TaskId, reply: &Reply, charge: &ReplyCharge) {
        let (facts, at) = (self.facts, self.last);
        let Some(open) = self.open.get_mut(&task) else { return };
        let model = open.model(facts);
        let mut span = self.names.chat(
            &format!("chat {task} {}", open.turns),
            &open.span.id,
            model,
            (open.since, at),
        );
        span.attributes.spent(charge);
        span.attributes.text("gen_ai.response.model", reply.by.as_deref().unwrap_or(&model.name));
        let finish = match reply.stop {
            StopReason::End => "stop",
            StopReason::ToolUse => "tool_calls",
            StopReason::Length => "length",
            StopReason::Filtered => "content_filter",
        };
        span.attributes.texts("gen_ai.response.finish_reasons", &[finish]);
        if facts.content {
            span.attributes.messages(
                "gen_ai.output.messages",
                "assistant",
                &reply.text,
                &reply.calls,
            );
        }
        if !reply.fixed {
            self.ended.push(span);
        }
        let names = &self.names;
        let called = |call: &ToolCall| {
            let seed = format!("call {task} {} {}", open.turns, call.id);
            let mut span = names.span(
                &seed,
                Some(open.span.id.clone()),
                format!("execute_tool {}", call.name),
                at,
            );
            span.attributes.text("gen_ai.operation.name", "execute_tool");
            span.attributes.text("gen_ai.tool.name", &call.name);
            span.attributes.text("gen_ai.tool.type", "function");
            span.attributes.text("gen_ai.tool.call.id", &call.id);
            if facts.content {
                span.attributes.text("gen_ai.tool.call.arguments", &call.arguments);
            }
            (call.id.clone(), span)
        };
        open.calls = reply.calls.iter().map(called).collect();
        open.turns += 1;
        open.since = at;
    }

    /// Takes a reply in that broke off: the journal does not say whose it was, so it stands under
    /// the task's own model.
    fn lost(&mut self, task: TaskId, charge: &ReplyCharge) {
        let (facts, at) = (self.facts, self.last);
        let Some(open) = self.open.get_mut(&task) else { return };
        let mut span = self.names.chat(
            &format!("lost {task} {}", open.lost),
            &open.span.id,
            open.model(facts),
            (open.since, at),
        );
        span.attributes.spent(charge);
        span.fail("reply_lost");
        self.ended.push(span);
        open.lost += 1;
        open.since = at;
    }

    fn summed_up(&mut self, task: TaskId, text: &str, charge: &ReplyCharge) {
        let (facts, at) = (self.facts, self.last);
        let Some(open) = self.open.get_mut(&task) else { return };
        let model = facts.condense.as_ref().unwrap_or(open.model(facts));
        let mut span = self.names.chat(
            &format!("condense {task} {}", open.shortened),
            &open.span.id,
            model,
            (open.since, at),
        );
        span.attributes.spent(charge);
        span.attributes.text("locum.purpose", "condense");
        if facts.content {
            span.attributes.messages("gen_ai.output.messages", "assistant", text, &[]);
        }
        self.ended.push(span);
        open.shortened += 1;
        open.since = at;
    }

    fn judged(&mut self, task: TaskId, call: &str, headline: &str, verdicts: &[Verdict]) {
        let (content, at) = (self.facts.content, self.last);
        let Some(span) = self.call(task, call) else { return };
        span.start = at;
        if let Some(worst) = verdicts.iter().max_by_key(|verdict| verdict.decision) {
            span.attributes
                .text("locum.policy.decision", &format!("{:?}", worst.decision).to_lowercase());
            if let Some(rule) = worst.rule() {
                span.attributes.text("locum.policy.rule", &rule.pattern);
            }
        }
        if content {
            span.attributes.text("locum.call", headline);
        }
    }

    fn answered(
        &mut self,
        task: TaskId,
        call: &str,
        observation: &Observation,
        failure: Option<&str>,
    ) {
        let (content, at) = (self.facts.content, self.last);
        let Some(open) = self.open.get_mut(&task) else { return };
        open.since = at;
        let Some(mut span) = open.calls.remove(call) else { return };
        span.end = at;
        if let Some(failure) = failure {
            span.fail(failure);
        }
        if content {
            span.attributes.text("gen_ai.tool.call.result", &observation.text);
        }
        self.ended.push(span);
    }

    /// Ends the span of a task; `failure` is why it is a failed one.
    fn end(&mut self, task: TaskId, result: &str, failure: Option<&str>) {
        let Some(mut open) = self.open.remove(&task) else { return };
        open.span.end = self.last;
        if let Some(failure) = failure {
            open.span.fail(failure);
        }
        if self.facts.content {
            open.span.attributes.messages("gen_ai.output.messages", "assistant", result, &[]);
        }
        self.close(open);
    }

    /// Records a task that is over, and its calls that were not answered.
    fn close(&mut self, mut open: OpenTask) {
        open.span.attributes.number("locum.turns", u64::from(open.turns));
        open.span.attributes.total("own", open.own.usage, open.own.cost_usd);
        for mut span in open.calls.into_values() {
            span.end = self.last;
            span.fail("not_answered");
            self.ended.push(span);
        }
        self.ended.push(open.span);
    }

    fn outcome(&mut self, outcome: &Outcome) {
        let word = outcome.word;
        self.run.end = self.last;
        self.run.attributes.text("locum.outcome", word.as_str());
        self.run
            .attributes
            .number("locum.refusals", u64::try_from(outcome.refusals.len()).unwrap_or(u64::MAX));
        self.run
            .attributes
            .number("locum.changes", u64::try_from(outcome.changes.len()).unwrap_or(u64::MAX));
        self.run.attributes.number("locum.turns", u64::from(outcome.spent.turns));
        self.run.attributes.number("locum.tool_calls", u64::from(outcome.spent.tool_calls));
        // Under names of its own: whoever adds up what requests took should not count it twice.
        self.run.attributes.total("total", outcome.spent.usage, outcome.spent.cost_usd);
        if word.severity() == Severity::Bad {
            self.run.fail(word.as_str());
        }
    }

    fn call(&mut self, task: TaskId, call: &str) -> Option<&mut Span> {
        self.open.get_mut(&task)?.calls.get_mut(call)
    }

    /// Ends what is still open when the journal ends.
    fn finish(mut self) -> Vec<Span> {
        for (_, mut open) in std::mem::take(&mut self.open).into_iter().rev() {
            open.span.end = self.last;
            self.close(open);
        }
        self.run.end = self.last;
        self.ended.push(self.run);
        self.ended
    }
}

impl OpenTask {
    /// Returns the model that replies in it.
    fn model<'f>(&self, facts: &'f TraceFacts) -> &'f TracedModel {
        facts.own.get(&self.mode).unwrap_or(if self.is_root { &facts.main } else { &facts.task })
    }
}

impl SpanNames {
    /// Returns the span of one request to a model.
    fn chat(
        &self,
        seed: &str,
        task: &str,
        model: &TracedModel,
        (start, end): (Timestamp, Timestamp),
    ) -> Span {
        let mut span =
            self.span(seed, Some(task.to_owned()), format!("chat {}", model.name), start);
        (span.end, span.kind) = (end, SpanKind::Client);
        span.attributes.text("gen_ai.operation.name", "chat");
        span.attributes.text("gen_ai.provider.name", model.provider);
        span.attributes.text("gen_ai.request.model", &model.name);
        span.attributes.text("gen_ai.conversation.id", &self.session);
        span
    }
}
