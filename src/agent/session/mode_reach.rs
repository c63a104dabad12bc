//! Which modes a task in one mode can come to, by a switch or with a sub-task, as far as the policy
//! and the modes themselves decide. In: a policy, the modes, the facts of the mode the task is in;
//! out: a verdict, or why not. The session asks before it acts, `locum policy explain` without
//! acting. What a task did before is the session's matter.

use crate::tools::dispatch::CheckedCall;
use crate::tools::shown_text::shown_name;
use crate::tools::{Control, Observation};
use locum_modes::{Mode, ModeEntry, ModeSet};
use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::{Decision, Refusal, RefusedBy, Verdict};

/// Why a task does not go on in a mode.
pub enum RefusedSwitch {
    /// The request is wrong: there is no such mode, or the task is in it.
    Mistake(String),
    /// It is not allowed.
    Denied(Box<Verdict>),
}

impl RefusedSwitch {
    /// Refuses a mode for a reason that no rule of the policy gives.
    pub(crate) fn denied(slug: &str, said: String) -> Self {
        let intent = Intent::Mode(slug.to_owned()).to_string();
        Self::Denied(Box::new(Verdict::denied(intent, said)))
    }

    /// Says that no mode may follow the one a task is in.
    pub(crate) fn none_follows(mode: &str) -> Self {
        Self::denied("*", format!("no other mode may follow `{mode}` here"))
    }

    /// Returns the answer to the call that wanted it.
    pub(crate) fn observation(self) -> Observation {
        match self {
            Self::Mistake(text) => Observation::mistake(text),
            Self::Denied(verdict) => {
                let text = format!("The mode stays: {}.", verdict.reason().trim_end_matches('.'));
                let verdicts = vec![*verdict];
                let refusal = Refusal {
                    decision: Decision::Deny,
                    verdicts,
                    hint: None,
                    by: RefusedBy::Policy,
                };
                Observation::refused(text, Box::new(refusal))
            }
        }
    }

    /// Returns the denial of an intent.
    fn verdict(self, intent: &Intent) -> Verdict {
        match self {
            Self::Mistake(text) => said(intent, &text),
            Self::Denied(verdict) => *verdict,
        }
    }
}

fn said(intent: &Intent, sentence: &str) -> Verdict {
    let reason = sentence.strip_suffix('.').unwrap_or(sentence).to_owned();
    Verdict::denied(intent.to_string(), reason)
}

/// What the modes that a task can come to depend on.
#[derive(Clone, Copy)]
pub struct ModeReach<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Every mode there is.
    pub modes: &'a ModeSet,
    /// The facts of the task, with the mode it is in.
    pub facts: &'a Facts,
}

impl ModeReach<'_> {
    /// Decides whether the task may go on in a mode. A held mode is not refused here.
    ///
    /// # Errors
    /// When it may not, whoever agrees.
    pub fn switch(&self, slug: &str) -> Result<Verdict, RefusedSwitch> {
        if let Some(text) = self.unknown(slug) {
            return Err(RefusedSwitch::Mistake(text));
        }
        if self.facts.mode == slug {
            return Err(RefusedSwitch::Mistake(format!("Already in {slug} mode.")));
        }
        let verdict = self.verdict(slug);
        if verdict.decision == Decision::Deny {
            return Err(RefusedSwitch::Denied(Box::new(verdict)));
        }
        if self.modes.find(slug).is_some_and(|mode| mode.entry == ModeEntry::Delegated) {
            let said = format!("mode `{slug}` is for sub-tasks only; no task switches to it");
            return Err(RefusedSwitch::denied(slug, said));
        }
        Ok(verdict)
    }

    /// Refuses a mode that decides on requests: a task in it would grant its own.
    ///
    /// # Errors
    /// When the mode is one.
    pub fn request(&self, slug: &str) -> Result<(), RefusedSwitch> {
        if self.modes.find(slug).is_some_and(Mode::coordinates) {
            return Err(RefusedSwitch::Mistake(format!(
                "Mode `{slug}` decides on requests like this one. Name the mode that the work \
                 needs, or none."
            )));
        }
        Ok(())
    }

    /// Returns why no sub-task may run in a mode, as a sentence for the model.
    pub fn delegation_refused(&self, slug: &str) -> Option<String> {
        let is_kept = |mode: &Mode| mode.entry == ModeEntry::NotDelegated;
        self.unknown(slug).or_else(|| {
            self.modes.find(slug).is_some_and(is_kept).then(|| {
                format!("No sub-task runs in mode `{slug}`; its file says `mode: primary`.")
            })
        })
    }

    /// Returns that there is no such mode, as a sentence for the model.
    pub fn unknown(&self, slug: &str) -> Option<String> {
        if self.modes.find(slug).is_some() {
            return None;
        }
        let usable = |mode: &&Mode| {
            let facts = Facts { mode: mode.slug.clone(), ..self.facts.clone() };
            ModeReach { facts: &facts, ..*self }.verdict(&mode.slug).decision != Decision::Deny
        };
        let slugs: Vec<&str> =
            self.modes.iter().filter(usable).map(|mode| mode.slug.as_str()).collect();
        let slug = shown_name(slug);
        Some(format!("Invalid mode: {slug}. There are: {}.", slugs.join(", ")))
    }

    /// Returns what a call that asks for another mode comes down to: what the policy is asked in
    /// the end, and the refusal, if any. `None` for other calls.
    pub fn of_call(&self, call: &CheckedCall) -> Option<(Intent, Option<Verdict>)> {
        match call {
            CheckedCall::RequestModeSwitch(asked) => match asked.control() {
                Control::RequestSwitch { slug: Some(slug), .. } => {
                    let refused = self.switch(slug).and_then(|_| self.request(slug)).err();
                    let intent = Intent::Mode(slug.clone());
                    let refused = refused.map(|refused| refused.verdict(&intent));
                    Some((intent, refused))
                }
                _ => {
                    let follows =
                        |mode: &Mode| !mode.coordinates() && self.switch(&mode.slug).is_ok();
                    let refused = RefusedSwitch::none_follows(&self.facts.mode);
                    let refused = (!self.modes.iter().any(follows))
                        .then(|| refused.verdict(&Intent::Session));
                    Some((Intent::Session, refused))
                }
            },
            CheckedCall::SwitchMode(asked) => {
                let Control::SwitchMode { slug, .. } = asked.control() else { return None };
                let intent = Intent::Mode(slug.clone());
                let refused = self.switch(slug).err().map(|refused| refused.verdict(&intent));
                Some((intent, refused))
            }
            CheckedCall::NewTask(task) => {
                let intent = Intent::Delegate(task.mode.clone());
                let refused = self.delegation_refused(&task.mode);
                let refused = refused.map(|sentence| said(&intent, &sentence));
                Some((intent, refused))
            }
            _ => None,
        }
    }

    fn verdict(&self, slug: &str) -> Verdict {
        self.policy.decide(&Intent::Mode(slug.to_owned()), self.facts)
    }
}
