//! How a session stops for a decision at a held call or a question, and finds it when it resumes
//! there.

use crate::session::hold::{hold_id, question_id};
use crate::session::judged::{reasons, starts_task, unfit};
use crate::session::live::Session;
use crate::session::outcome::{HeldCall, OutcomeWord, PendingDecision, Question, TargetMode};
use crate::session::recorded::{PersonDecision, RecordedDecision};
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::session::task::unfit::completes;
use crate::tools::dispatch::{self, CheckedCall};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::text::ClippedText;
use locum_policy::Permit;
use locum_policy::approval::Approval;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::schema::OnHold;
use locum_policy::verdict::{Decision, Refusal};
use locum_workspace::diff;

/// Bytes of a held call's arguments that are shown.
const ARGUMENTS_LIMIT_BYTES: usize = 4 * 1024;

/// Bytes of a held edit's diff that are shown.
const DIFF_LIMIT_BYTES: usize = 16 * 1024;

/// Most calls of one reply that wait for decisions at once, beside the first.
const HELD_LIMIT: usize = 20;

/// Largest file a diff is shown of.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// What a maintainer decided on a held call.
pub(crate) enum HoldDecision {
    /// It may be performed, once.
    Approved(Approval),
    /// It may not.
    Denied(RecordedDecision),
}

/// What became of an act that the policy, and where need be a maintainer, decided on.
pub(crate) enum WeighedAct<A> {
    /// It may happen.
    Permitted(Permit<A>),
    /// The policy denies it, or holds it and nobody decided yet.
    Refused(Box<Refusal>),
    /// It was held, and a maintainer denied it.
    DeniedByPerson(RecordedDecision, Box<Refusal>),
}

/// What is shown of a held call besides its arguments.
#[derive(Default)]
pub(crate) struct HeldPreview {
    /// What it would do, in one line.
    pub(crate) headline: String,
    /// What it would change.
    pub(crate) diff: Option<String>,
    /// The mode it leads to.
    pub(crate) target: Option<TargetMode>,
    /// What a note for later runs would say; empty where it would be removed.
    pub(crate) note: Option<String>,
}

impl Session<'_> {
    /// Returns the decision on a held call; `None` without a decision on exactly this hold.
    pub(crate) fn decision_on(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        refusal: &Refusal,
    ) -> Option<HoldDecision> {
        let decided = waiting.decided.as_ref()?;
        if decided.id != hold_id(self.start(), id, &waiting.call, &refusal.verdicts) {
            return None;
        }
        match &decided.word {
            PersonDecision::Approve => {
                let intents =
                    refusal.verdicts.iter().map(|verdict| verdict.intent.clone()).collect();
                let (hold, by) = (decided.id.clone(), decided.by.clone());
                Some(HoldDecision::Approved(Approval { hold, by, intents }))
            }
            PersonDecision::Deny { .. } => Some(HoldDecision::Denied(decided.clone())),
            PersonDecision::Answer { .. } => None,
        }
    }

    /// Decides on an act of a call: by the policy, and where that holds it, by what a maintainer
    /// said.
    pub(crate) fn weigh<A: Act + Clone>(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        act: &A,
        facts: &Facts,
    ) -> WeighedAct<A> {
        if let Some(refusal) = self.of_other_repository(act) {
            return WeighedAct::Refused(refusal);
        }
        let policy = self.parts.run.policy;
        let refusal = match policy.admit(act.clone(), facts) {
            Ok(permit) => return WeighedAct::Permitted(permit),
            Err(refusal) => refusal,
        };
        match self.decision_on(id, waiting, &refusal) {
            None => WeighedAct::Refused(refusal),
            Some(HoldDecision::Denied(decided)) => WeighedAct::DeniedByPerson(decided, refusal),
            Some(HoldDecision::Approved(approval)) => {
                match policy.admit_approved(act.clone(), facts, approval) {
                    Ok(permit) => WeighedAct::Permitted(permit),
                    Err(refusal) => WeighedAct::Refused(refusal),
                }
            }
        }
    }

    /// Returns true when the run stops at what is held.
    pub(crate) fn pauses(&self) -> bool {
        self.parts.run.policy.settings().on_hold == OnHold::Pause
    }

    /// Returns the stop at a held call, with what a maintainer needs to decide on it.
    pub(crate) fn hold(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        call: &CheckedCall,
        refusal: &Refusal,
    ) -> Stop {
        let target = call.intents().into_iter().find_map(|intent| match intent {
            Intent::Mode(slug) | Intent::Delegate(slug) => self.target_mode(&slug),
            _other => None,
        });
        let note = match call {
            CheckedCall::WriteMemory(write) => Some(write.text().unwrap_or_default().to_owned()),
            _other => None,
        };
        match self.preview(id, call) {
            Ok(diff) => {
                let preview = HeldPreview { headline: call.headline(), diff, target, note };
                self.stop_on_hold(id, waiting, refusal, preview)
            }
            Err(stop) => stop,
        }
    }

    /// Returns the stops at other calls of the same reply that a maintainer has to decide on, so
    /// that all are decided at once. Each is judged again when its turn comes.
    pub(crate) fn also_held(&mut self, id: TaskId, stop: &Stop) -> Result<Vec<Stop>, Stop> {
        let Some(PendingDecision::Hold(first)) = stop.waiting.as_deref() else {
            return Ok(Vec::new());
        };
        if self.state.task(id).is_none() {
            // The mode that the run is to begin in is held.
            return Ok(Vec::new());
        }
        let system_prompt = self.system_prompt(id)?;
        let open: Vec<WaitingCall> = self
            .task(id)?
            .turn
            .open()
            .filter(|waiting| waiting.call.id != first.call && waiting.decided.is_none())
            .filter(|waiting| !completes(waiting) && !starts_task(waiting))
            .take(HELD_LIMIT)
            .cloned()
            .collect();
        let mut stops = Vec::new();
        for waiting in open {
            if unfit(self.task(id)?, &waiting).is_some() {
                continue;
            }
            let parsed = self
                .task_env(id)?
                .with(|context| dispatch::parse(&waiting.call, &system_prompt.offered, context));
            let Ok(call) = parsed else { continue };
            let facts = self.facts(&self.task(id)?.mode);
            match self.weigh(id, &waiting, &call, &facts) {
                WeighedAct::Refused(refusal) if refusal.decision == Decision::Hold => {
                    stops.push(self.hold(id, &waiting, &call, &refusal));
                }
                WeighedAct::Permitted(_)
                | WeighedAct::Refused(_)
                | WeighedAct::DeniedByPerson(..) => {}
            }
        }
        Ok(stops)
    }

    /// Returns the stop at a hold, with what is shown of it.
    pub(crate) fn stop_on_hold(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        refusal: &Refusal,
        preview: HeldPreview,
    ) -> Stop {
        let held = self.held_call(id, waiting, refusal, preview);
        let reason = format!("`{}` needs a person: {}", held.headline, reasons(&refusal.verdicts));
        let waiting = Some(Box::new(PendingDecision::Hold(Box::new(held))));
        Stop { waiting, ..Stop::session(OutcomeWord::OnHold, reason) }
    }

    fn held_call(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        refusal: &Refusal,
        HeldPreview { headline, diff, target, note }: HeldPreview,
    ) -> HeldCall {
        let redactor = self.parts.run.redactor;
        let start = self.start();
        let clipped =
            |diff: String| ClippedText::head_tail(&redactor.redact(&diff), DIFF_LIMIT_BYTES).text;
        // Before the root task there is only the mode it would begin in.
        let mode = self.state.task(id).map_or(&start.mode, |task| &task.mode);
        HeldCall {
            id: hold_id(start, id, &waiting.call, &refusal.verdicts),
            task: id,
            call: waiting.call.id.clone(),
            mode: mode.clone(),
            tool: waiting.call.name.clone(),
            headline: redactor.redact(&headline),
            arguments: ClippedText::head_tail(&waiting.call.arguments, ARGUMENTS_LIMIT_BYTES).text,
            verdicts: refusal.verdicts.clone(),
            diff: diff.map(clipped),
            target,
            // It holds no secret, is short, and is approved as a whole.
            note: note.map(|note| redactor.redact(&note)),
        }
    }

    /// Returns the stop at a question.
    pub(crate) fn ask_people(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        text: String,
        suggestions: Vec<String>,
    ) -> Stop {
        let name = question_id(self.start(), id, &waiting.call);
        let question =
            Question { id: name, task: id, call: waiting.call.id.clone(), text, suggestions };
        let stop = Stop::session(OutcomeWord::NeedsInput, "a question has to be answered first");
        Stop { waiting: Some(Box::new(PendingDecision::Question(question))), ..stop }
    }

    /// Returns who answered the question this call asks, and what; `None` without an answer.
    pub(crate) fn answer_to<'w>(
        &self,
        id: TaskId,
        waiting: &'w WaitingCall,
    ) -> Option<(&'w str, &'w str)> {
        let decided = waiting.decided.as_ref()?;
        let named = decided.id == question_id(self.start(), id, &waiting.call);
        match &decided.word {
            PersonDecision::Answer { text } if named => Some((&decided.by, text)),
            PersonDecision::Answer { .. }
            | PersonDecision::Approve
            | PersonDecision::Deny { .. } => None,
        }
    }

    /// Returns what an edit would change; `None` for other calls, and where the file may not be
    /// read.
    fn preview(&mut self, id: TaskId, call: &CheckedCall) -> Result<Option<String>, Stop> {
        let Some(HeldFile { path, before }) = self.held_file(id, call)? else { return Ok(None) };
        let after = call.content_after(before.as_deref());
        let change = after.and_then(|after| diff::between(&path, before.as_deref(), &after));
        Ok(change.map(|change| change.patch))
    }

    /// Returns the file that an edit would change, and what it holds; `None` for other calls, and
    /// where the file may not be read.
    pub(crate) fn held_file(
        &mut self,
        id: TaskId,
        call: &CheckedCall,
    ) -> Result<Option<HeldFile>, Stop> {
        let intents = call.intents().into_iter();
        let edited = |intent| if let Intent::Edit(path) = intent { Some(path) } else { None };
        let Some(path) = { intents }.find_map(edited) else { return Ok(None) };
        let facts = self.facts(&self.task(id)?.mode);
        let read = self.parts.run.policy.admit(HeldFileRead(path.clone()), &facts);
        let Ok(permit) = read else { return Ok(None) };
        let before = self.place(id)?.checkout.read(&permit, &path, FILE_LIMIT_BYTES).ok();
        Ok(Some(HeldFile { path, before }))
    }
}

/// A file that a held call would change.
pub(crate) struct HeldFile {
    path: RepoPath,
    /// What it holds; `None` where there is none.
    pub(crate) before: Option<Vec<u8>>,
}

/// The act of looking at a file that a held call would change.
struct HeldFileRead(RepoPath);

impl Act for HeldFileRead {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.0.clone())]
    }
}
