//! How a task comes into a mode: the policy lets it, holds it for a maintainer, or does not, at a
//! switch and at the start of the run alike.

use serde_json::json;

use crate::session::event::{Event, SessionStart};
use crate::session::judged::reasons;
use crate::session::live::Session;
use crate::session::outcome::TargetMode;
use crate::session::pause::{HeldPreview, WeighedAct};
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use locum_base::chat::ToolCall;
use locum_base::id::TaskId;
use locum_modes::prompts::reminders;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::verdict::Decision;

/// The act of coming into a mode.
#[derive(Clone)]
struct EnteredMode(String);

impl Act for EnteredMode {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Mode(self.0.clone())]
    }
}

impl Session<'_> {
    /// Decides whether a task may come into a mode for a call; returns why not, as the answer to
    /// it.
    ///
    /// # Errors
    /// Also where a maintainer has to decide on it first. `chosen` says who chose the mode.
    pub(crate) fn enter(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        slug: &str,
        chosen: Option<String>,
    ) -> Result<Option<Observation>, Stop> {
        let facts = self.facts(&self.task(id)?.mode);
        let headline = format!("go on in {slug} mode");
        self.entered(id, waiting, (EnteredMode(slug.to_owned()), headline, chosen), &facts)
    }

    /// Decides whether the root task may begin in the mode of the run; returns why not.
    ///
    /// # Errors
    /// Also where a maintainer has to decide on it first.
    pub(crate) fn enter_first(&mut self, start: &SessionStart) -> Result<Option<String>, Stop> {
        // No call asks for it; a hold and its approval need one all the same.
        let call = ToolCall {
            id: String::new(),
            name: "run".to_owned(),
            arguments: json!({ "mode": start.mode }).to_string(),
        };
        let decided = self.state.start_decided.clone();
        let waiting = WaitingCall { decided, ..WaitingCall::new(call, false) };
        let headline = format!("begin in {} mode", start.mode);
        let act = (EnteredMode(start.mode.clone()), headline, None);
        let refused = self.entered(TaskId::default(), &waiting, act, &start.facts)?;
        Ok(refused.map(|refused| {
            let verdicts = refused.refused.map(|refusal| refusal.verdicts).unwrap_or_default();
            if waiting.decided.is_some() { refused.text } else { reasons(&verdicts) }
        }))
    }

    fn entered(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        (act, headline, chosen): (EnteredMode, String, Option<String>),
        facts: &Facts,
    ) -> Result<Option<Observation>, Stop> {
        match self.weigh(id, waiting, &act, facts) {
            WeighedAct::Permitted(permit) if permit.approval().is_some() => {
                self.emit(Event::Judged {
                    task: id,
                    call: waiting.call.id.clone(),
                    headline,
                    command: None,
                    verdicts: permit.verdicts().to_vec(),
                    approval: permit.approval().cloned(),
                })?;
                Ok(None)
            }
            WeighedAct::Permitted(_) => Ok(None),
            WeighedAct::DeniedByPerson(decided, refusal) => {
                let text = reminders::denied_by_person(&decided.by, decided.reason());
                Ok(Some(Observation::refused(text, refusal)))
            }
            WeighedAct::Refused(refusal) if refusal.decision == Decision::Hold && self.pauses() => {
                let target = self.target_mode(&act.0);
                let target = target.map(|target| TargetMode { chosen, ..target });
                let preview = HeldPreview { headline, target, ..HeldPreview::default() };
                Err(self.stop_on_hold(id, waiting, &refusal, preview))
            }
            WeighedAct::Refused(refusal) => {
                let text = reminders::refused(&reasons(&refusal.verdicts), &[]);
                Ok(Some(Observation::refused(text, refusal)))
            }
        }
    }
}
