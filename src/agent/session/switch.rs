//! Which mode a task continues in: `switch_mode`, `request_mode_switch`, and the coordinator's
//! decision.
//!
//! The policy speaks first: which modes there may be, which may follow which, and whether the mode
//! may do what the task was just kept from. Where a request names a mode, or only one is left, that
//! is the decision. Where several are left, a task of its own in coordinator mode decides, with
//! `coordinate_mode`; it is asked like any model and judged like any task. A refusal is an error
//! for whoever asked.

use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::stop::Stop;
use crate::session::system_prompt::{self, ToolPrerequisites};
use crate::session::task::turn::WaitingCall;
use crate::session::task::{ChosenMode, TaskState};
use crate::tools::{Control, Observation};
use locum_base::id::TaskId;
use locum_base::tool::ToolName;
use locum_modes::access::{self, COORDINATOR, TaskPurpose, ToolOffer};
use locum_modes::prompts::task::{ModeChoice, choice_message};
use locum_modes::{Mode, ModeEntry};
use locum_policy::budget::Budget;
use locum_policy::intent::{Facts, Intent};
use locum_policy::schema::{ModeRules, Switching};
use locum_policy::verdict::{Decision, RuleRef};

/// Model replies a decision on a mode may take.
const CHOICE_TURNS: u32 = 8;

/// What a call wanted that its mode denies.
#[derive(Clone, Copy)]
pub(crate) struct DeniedByMode<'d> {
    /// The tool it called.
    pub(crate) tool: ToolName,
    /// What it wanted to do, where that much is known.
    pub(crate) intent: Option<&'d Intent>,
}

impl Session<'_> {
    /// Answers `request_mode_switch`: with a switch, with why not, or once the coordinator decided.
    pub(crate) fn request_switch(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        slug: Option<String>,
        reason: &str,
    ) -> Result<(), Stop> {
        if let Some(slug) = slug {
            return self.switch_or_refuse(id, waiting, &slug, reason);
        }
        let task = self.task(id)?;
        let slugs: Vec<String> = self
            .parts
            .modes
            .iter()
            .map(|mode| mode.slug.clone())
            .filter(|slug| slug != COORDINATOR)
            .collect();
        let fit: Vec<String> =
            slugs.into_iter().filter(|slug| self.switch_refused(task, slug).is_none()).collect();
        match fit.as_slice() {
            [] => self.answer_mistake(
                id,
                waiting,
                format!("The policy lets no other mode follow `{}` here.", task.mode),
            ),
            [slug] => self.switch_or_refuse(id, waiting, slug, reason),
            several if self.mode_refused(COORDINATOR).is_some() => {
                let text = format!(
                    "Several modes may follow: {}. Name one of them in `mode_slug`.",
                    several.join(", ")
                );
                self.answer_mistake(id, waiting, text)
            }
            several => self.start_choice(id, waiting, several, reason),
        }
    }

    /// Answers a call for a named mode.
    pub(crate) fn switch_or_refuse(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        slug: &str,
        reason: &str,
    ) -> Result<(), Stop> {
        if let Some(text) = self.switch_refused(self.task(id)?, slug) {
            return self.answer_mistake(id, waiting, text);
        }
        let control = Control::SwitchMode { slug: slug.to_owned(), reason: reason.to_owned() };
        let said = Observation::said(format!(
            "From the next turn on in {slug} mode, with that mode's tools."
        ));
        self.answer(id, waiting, Observation { control: Some(control), ..said })
    }

    /// Answers `request_mode_switch` with what the coordinator decided.
    pub(crate) fn answer_from_choice(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        choice: TaskId,
    ) -> Result<(), Stop> {
        let choice = self.task(choice)?;
        let ended = choice.ended.as_ref().map(|end| end.result.clone()).unwrap_or_default();
        match choice.chosen.clone() {
            Some(ChosenMode { slug: Some(slug), reason }) => {
                self.switch_or_refuse(id, waiting, &slug, &reason)
            }
            Some(ChosenMode { slug: None, reason }) => self.answer_mistake(
                id,
                waiting,
                format!("The coordinator refused another mode: {reason}"),
            ),
            None => self.answer_mistake(
                id,
                waiting,
                format!("The coordinator decided nothing: {ended}"),
            ),
        }
    }

    /// Writes down a switch that was approved, with the rule that lets it be.
    pub(crate) fn switch(&mut self, id: TaskId, slug: String, reason: String) -> Result<(), Stop> {
        let from = self.task(id)?.mode.clone();
        let policy = self.parts.run.policy;
        let rule = if policy.settings().modes.transitions.contains_key(&from) {
            Some(RuleRef {
                pattern: "modes.transitions".to_owned(),
                origin: policy.origin().to_owned(),
                line: 0,
            })
        } else {
            policy.decide(&Intent::Mode(slug.clone()), &self.facts(&slug)).rule().cloned()
        };
        self.emit(Event::ModeSwitched { task: id, from, to: slug, reason, rule })
    }

    fn start_choice(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        several: &[String],
        reason: &str,
    ) -> Result<(), Stop> {
        let task = self.task(id)?;
        let modes: Vec<&Mode> =
            several.iter().filter_map(|slug| self.parts.modes.find(slug)).collect();
        let message = choice_message(&ModeChoice {
            from: &task.mode,
            task: &task.message,
            reason,
            modes: &modes,
        });
        let rest = task.rest_for_sub_task();
        let budget = Budget {
            minutes: rest.minutes.max(1),
            turns: rest.turns.clamp(1, CHOICE_TURNS),
            tool_calls: rest.tool_calls.max(1),
            ..rest
        };
        self.emit(Event::TaskStarted {
            task: self.next_task(),
            parent: Some(id),
            parent_call: Some(waiting.call.id.clone()),
            mode: COORDINATOR.to_owned(),
            message: self.parts.run.redactor.redact(&message),
            todos: Vec::new(),
            budget,
            tree: None,
        })
    }

    /// Returns why a task may not go on in a mode, as a sentence for the model.
    fn switch_refused(&self, task: &TaskState, slug: &str) -> Option<String> {
        if let Some(text) = self.mode_refused(slug) {
            return Some(text);
        }
        if task.mode == slug {
            return Some(format!("Already in {slug} mode."));
        }
        if task
            .turn
            .pending_controls
            .iter()
            .any(|control| matches!(control, Control::SwitchMode { .. }))
        {
            return Some("A switch to another mode is under way already.".to_owned());
        }
        let transitions = self.parts.run.policy.settings().modes.transitions.get(&task.mode);
        if let Some(follow) = transitions.filter(|follow| !follow.iter().any(|mode| mode == slug)) {
            return Some(format!(
                "The policy lets mode `{}` be followed only by: {}.",
                task.mode,
                follow.join(", ")
            ));
        }
        let mode = self.parts.modes.find(slug)?;
        if mode.entry == ModeEntry::Delegated {
            return Some(format!("Mode `{slug}` is for sub-tasks only; no task switches to it."));
        }
        let (tool, path) = task.nudges.last_denied_edit.as_ref()?;
        access::check_intent(mode, *tool, &Intent::Edit(path.clone()))
            .err()
            .map(|error| error.to_string())
    }

    /// Returns why no task may be in a mode, as a sentence for the model.
    pub(crate) fn mode_refused(&self, slug: &str) -> Option<String> {
        let allowed = |slug: &str| {
            self.parts.run.policy.decide(&Intent::Mode(slug.to_owned()), &self.facts(slug)).decision
                == Decision::Allow
        };
        let usable = || {
            self.parts
                .modes
                .iter()
                .map(|mode| mode.slug.as_str())
                .filter(|slug| allowed(slug))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if self.parts.modes.find(slug).is_none() {
            Some(format!("Invalid mode: {slug}. There are: {}.", usable()))
        } else if !allowed(slug) {
            Some(format!("The policy does not allow mode `{slug}`. It allows: {}.", usable()))
        } else {
            None
        }
    }

    /// Says which modes could do what a task's mode keeps it from, and how to get there; empty
    /// where none can be had.
    pub(crate) fn other_modes(&self, id: TaskId, denied: DeniedByMode<'_>) -> Result<String, Stop> {
        let task = self.task(id)?;
        let how = match self.parts.run.policy.settings().modes.switching {
            Switching::Off => return Ok(String::new()),
            _ if task.purpose == TaskPurpose::Decide => return Ok(String::new()),
            Switching::Coordinator if task.mode != COORDINATOR => ToolName::RequestModeSwitch,
            Switching::Coordinator | Switching::Direct => ToolName::SwitchMode,
        };
        let could = |mode: &&Mode| {
            self.switch_refused(task, &mode.slug).is_none() && self.could_do(task, mode, denied)
        };
        let slugs: Vec<String> =
            self.parts.modes.iter().filter(could).map(|mode| format!("`{}`", mode.slug)).collect();
        if slugs.is_empty() {
            return Ok(String::new());
        }
        Ok(format!(" Modes that may: {}; {how} leads there.", slugs.join(", ")))
    }

    /// Returns whether a task could do in a mode what it was denied. To switch modes, no other mode
    /// is named.
    fn could_do(&self, task: &TaskState, mode: &Mode, denied: DeniedByMode<'_>) -> bool {
        let facts: Facts = self.facts(&mode.slug);
        let policy = self.parts.run.policy;
        let ModeRules { switching, delegation, .. } = &policy.settings().modes;
        let offer = ToolOffer {
            switching: *switching,
            may_delegate: delegation.from.contains(&mode.slug) && task.depth < delegation.depth,
            purpose: TaskPurpose::Work,
            included: &[],
        };
        let instructions = self.parts.instructions;
        let servers = self.parts.servers.is_any();
        let known = ToolPrerequisites {
            skills: &instructions.skills.of_mode(&mode.slug),
            experts: &system_prompt::askable(&instructions.experts, policy, &facts),
            generates_images: system_prompt::may_generate_images(
                &instructions.image_models,
                policy,
                &facts,
            ),
            servers,
            resources: servers,
        };
        let switches =
            [ToolName::SwitchMode, ToolName::RequestModeSwitch, ToolName::CoordinateMode];
        let has = !switches.contains(&denied.tool)
            && access::offered(mode, offer).contains(&denied.tool)
            && !system_prompt::shown(&[denied.tool], policy, &facts, known).is_empty();
        has && denied.intent.is_none_or(|intent| {
            access::check_intent(mode, denied.tool, intent).is_ok()
                && policy.decide(intent, &facts).decision != Decision::Deny
        })
    }
}
