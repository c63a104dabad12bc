//! `SettledRun`: what a run is judged by, settled from its request and the trusted configuration
//! alone: no model is built, and the machine is not looked at.

use std::rc::Rc;

use crate::config::settings::Settings;
use crate::run::error::RunError;
use crate::run::first_message::FirstMessage;
use crate::run::first_mode::FirstMode;
use crate::run::job;
use crate::run::plan::RunSubject;
use crate::run::run_request::RunRequest;
use crate::run::trusted::TrustedConfig;
use locum_modes::{Mode, ModeEntry, ModeModel, ModeSet, ModelNeed};
use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;

/// What a run is judged by.
pub(super) struct SettledRun {
    /// The mode that the root task starts in.
    pub(super) first: FirstMode,
    /// Decides on every effect of the run.
    pub(super) policy: Rc<Policy>,
    /// Settings of the trusted ref, the user and the environment together.
    pub(super) settings: Settings,
    /// First message of the root task, without what the request adds to it.
    pub(super) message: FirstMessage,
    /// Every mode, as the slash command leaves it.
    pub(super) modes: ModeSet,
    /// Slugs of those that the policy lets run.
    pub(super) runnable: Vec<String>,
}

impl SettledRun {
    /// Settles it.
    ///
    /// # Errors
    /// Every mistake of the first place that has any: settings, the task, modes.
    pub(super) fn of(request: &RunRequest, config: &TrustedConfig<'_>) -> Result<Self, RunError> {
        let policy = Rc::unwrap_or_clone(Rc::clone(&config.policy));
        let policy = Rc::new(policy.of_job(request.facts.job.as_deref()));
        let settings = config.settings_with(&request.overrides.flags)?;
        let message = FirstMessage::read(&request.task, request.words, config)?;
        let first = FirstMode::of(request, &message, &settings, config);
        let runnable = config.runnable()?;
        first.find(config.modes()?, &runnable)?;
        let modes = narrowed_by_command(config.modes()?.clone(), &message, &first.slug, &settings);
        let settled = Self { first, policy, settings, message, modes, runnable };
        settled.check_first(request)?;
        Ok(settled)
    }

    /// Returns the mode that the root task starts in.
    ///
    /// # Errors
    /// As [`FirstMode::find`].
    pub(super) fn mode(&self) -> Result<&Mode, RunError> {
        self.first.find(&self.modes, &self.runnable)
    }

    /// Returns whether some mode that may run may ask a profile for something, by the policy.
    pub(super) fn is_askable(&self, name: &str, request: &RunRequest) -> bool {
        self.runnable.iter().any(|mode| {
            let facts = Facts { mode: mode.clone(), ..request.facts.clone() };
            let intent = Intent::Expert(name.to_owned());
            self.policy.decide(&intent, &facts).decision != Decision::Deny
        })
    }

    /// Checks that a run may start in its mode, and a job work in it.
    fn check_first(&self, request: &RunRequest) -> Result<(), RunError> {
        let (mode, slug) = (self.mode()?, &self.first.slug);
        if mode.entry == ModeEntry::Delegated {
            let what = format!(
                "mode `{slug}` is for sub-tasks only (`mode: subagent` in `{}`)",
                mode.source.file().unwrap_or_default()
            );
            return Err(RunError::usage(&self.first.origin, what)
                .hint("name a mode that starts it as a sub-task, or take that line out"));
        }
        if let (RunSubject::Job { name, .. }, Some(work)) = (&request.subject, &request.work)
            && let Some(mistake) = job::unusable_step(name, work, &self.modes, slug)
        {
            return Err(mistake.into());
        }
        Ok(())
    }
}

/// Returns the modes as the slash command leaves them: narrowed, and the first one on its model
/// unless a model was requested.
fn narrowed_by_command(
    modes: ModeSet,
    message: &FirstMessage,
    first: &str,
    settings: &Settings,
) -> ModeSet {
    let Some(command) = &message.command else { return modes };
    let model = command.model.as_ref().filter(|_| settings.values.model.is_none());
    modes.map(|mode| {
        let narrowed =
            command.rights.as_ref().map_or_else(|| mode.clone(), |rights| rights.narrow(&mode));
        match model.filter(|_| mode.slug == first) {
            Some(name) => {
                let need = ModelNeed::Preferred;
                Mode {
                    model: Some(ModeModel {
                        name: name.clone(),
                        provider: None,
                        base_url: None,
                        need,
                    }),
                    ..narrowed
                }
            }
            None => narrowed,
        }
    })
}
