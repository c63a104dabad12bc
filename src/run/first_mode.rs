//! The mode of the root task, and who named it.

use crate::config::settings::Settings;
use crate::config::source::Layer;
use crate::run::error::RunError;
use crate::run::first_message::FirstMessage;
use crate::run::plan::RunSubject;
use crate::run::run_request::RunRequest;
use crate::run::trusted::TrustedConfig;
use crate::run::unknown_mode::unknown_mode;
use locum_modes::{Mode, ModeSet};

/// The mode that the root task starts in.
pub(super) struct FirstMode {
    /// Its slug.
    pub(super) slug: String,
    /// The file and line, flag or variable that names it.
    pub(super) origin: String,
}

impl FirstMode {
    /// Returns the requested mode, the slash command's, the files' or the policy's.
    pub(super) fn of(
        request: &RunRequest,
        message: &FirstMessage,
        settings: &Settings,
        config: &TrustedConfig<'_>,
    ) -> Self {
        let of_settings = || {
            let source = settings.source("mode")?;
            Some((settings.values.mode.clone()?, source.place.clone(), source.layer))
        };
        let named = |(slug, origin, _)| (slug, origin);
        let asked = || {
            of_settings()
                .filter(|(_, _, layer)| matches!(layer, Layer::Flag | Layer::Environment))
                .map(named)
        };
        let of_command = || {
            let command = message.command.as_ref()?;
            Some((command.mode.clone()?, command.origin.clone()))
        };
        let of_policy = || {
            let slug = config.policy.settings().modes.default.clone();
            (slug, format!("{}: `modes.default`", config.policy.origin()))
        };
        let requested = request.mode.clone().map(|slug| {
            let origin = of_job(request, config).or_else(|| of_rule(request, config));
            let origin = origin.unwrap_or_else(|| "--mode".to_owned());
            (slug, origin)
        });
        let (slug, origin) = requested
            .or_else(asked)
            .or_else(of_command)
            .or_else(|| of_settings().map(named))
            .unwrap_or_else(of_policy);
        Self { slug, origin }
    }

    /// Finds it; `runnable` are the modes that the policy lets run.
    ///
    /// # Errors
    /// When there is no such mode, with where it was named.
    pub(super) fn find<'m>(
        &self,
        modes: &'m ModeSet,
        runnable: &[String],
    ) -> Result<&'m Mode, RunError> {
        let unknown = || unknown_mode(&self.origin, &self.slug, (modes, runnable)).into();
        modes.find(&self.slug).ok_or_else(unknown)
    }
}

/// Returns the place of a job's file that names the requested mode.
fn of_job(request: &RunRequest, config: &TrustedConfig<'_>) -> Option<String> {
    let RunSubject::Job { name, .. } = &request.subject else { return None };
    let job = config.jobs().ok()?.iter().find(|job| job.name == *name)?;
    (job.mode == request.mode).then(|| job.place_of_mode())
}

/// Returns the place of the policy that names the mode of what an event starts.
fn of_rule(request: &RunRequest, config: &TrustedConfig<'_>) -> Option<String> {
    let mut rules = config.policy.settings().triggers.rules_for(request.facts.trigger);
    let rule = rules.find(|rule| rule.mode.is_some() && rule.mode == request.mode)?;
    Some(rule.place_of_mode(config.policy.origin()))
}
