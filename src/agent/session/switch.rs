//! Which mode a task continues in: `switch_mode`, `request_mode_switch`, and the coordinator's
//! decision.
//!
//! The policy speaks first: which modes there may be, which may follow which, whether the mode may
//! do what the task was just kept from, and that a sub-task gains nothing that was not delegated to
//! it. Then a task of its own in a mode that coordinates decides on every request, with
//! `coordinate_mode`; the mode that a request names is a wish. It is asked like any model and
//! judged like any task. What a rule holds waits for a maintainer. A refusal is an error for
//! whoever asked, and stands in the run's refusals.

use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::mode_reach::{ModeReach, RefusedSwitch};
use crate::session::stop::Stop;
use crate::session::system_prompt;
use crate::session::task::turn::WaitingCall;
use crate::session::task::{ChosenMode, TaskState};
use crate::tools::{Control, Observation};
use locum_base::id::TaskId;
use locum_base::text::single_blanks;
use locum_base::tool::ToolName;
use locum_modes::access::{self, TaskPurpose, ToolOffer};
use locum_modes::prompts::task::{ModeChoice, choice_message};
use locum_modes::{Mode, widening};
use locum_policy::budget::Budget;
use locum_policy::intent::{Facts, Intent};
use locum_policy::kind::RuleKind;
use locum_policy::schema::{ModeRules, Switching};
use locum_policy::verdict::{Decision, Verdict};

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

/// A mode to go on in.
struct WantedMode<'w> {
    slug: &'w str,
    reason: &'w str,
    chooser: ModeChooser,
}

/// Who chose a mode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModeChooser {
    /// The model at work, which may switch by itself; the policy let it.
    Itself,
    /// The model at work, by a request that nobody but the policy decides on.
    Request,
    /// The task that was asked.
    Coordinator,
}

impl Session<'_> {
    /// Answers `request_mode_switch`: with why not, or once the coordinator decided.
    pub(crate) fn request_switch(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        wished: Option<String>,
        reason: &str,
    ) -> Result<(), Stop> {
        let task = self.task(id)?;
        if let Some(slug) = &wished {
            let facts = self.facts(&task.mode);
            let refused = self
                .switch_refused(task, slug)
                .or_else(|| self.mode_reach(&facts).request(slug).err());
            if let Some(refused) = refused {
                return self.answer_not(id, waiting, refused.observation());
            }
        }
        let may_follow =
            |mode: &&Mode| !mode.coordinates() && self.switch_refused(task, &mode.slug).is_none();
        let fit: Vec<String> =
            self.parts.modes.iter().filter(may_follow).map(|mode| mode.slug.clone()).collect();
        if fit.is_empty() {
            let refused = RefusedSwitch::none_follows(&task.mode);
            return self.answer_not(id, waiting, refused.observation());
        }
        if let Some(coordinator) = self.coordinator() {
            return self.start_choice(id, waiting, &fit, (coordinator, wished, reason));
        }
        match (wished, fit.as_slice()) {
            (Some(slug), _) => {
                let wanted = WantedMode { slug: &slug, reason, chooser: ModeChooser::Request };
                self.go_on(id, waiting, &wanted)
            }
            (None, [slug]) => {
                let wanted = WantedMode { slug, reason, chooser: ModeChooser::Request };
                self.go_on(id, waiting, &wanted)
            }
            (None, several) => {
                let text = format!(
                    "Several modes may follow: {}. Name one of them in `mode_slug`.",
                    several.join(", ")
                );
                self.answer_mistake(id, waiting, text)
            }
        }
    }

    /// Answers `switch_mode`, which was judged already.
    pub(crate) fn switch_by_itself(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        slug: &str,
        reason: &str,
    ) -> Result<(), Stop> {
        self.go_on(id, waiting, &WantedMode { slug, reason, chooser: ModeChooser::Itself })
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
                let facts = self.facts(&self.task(id)?.mode);
                if let Err(refused) = self.mode_reach(&facts).request(&slug) {
                    return self.answer_not(id, waiting, refused.observation());
                }
                let (slug, reason) = (slug.as_str(), reason.as_str());
                let wanted = WantedMode { slug, reason, chooser: ModeChooser::Coordinator };
                self.go_on(id, waiting, &wanted)
            }
            Some(ChosenMode { slug: None, reason }) => {
                let text = format!("The coordinator refused another mode: {reason}");
                self.answer_not(id, waiting, Observation::failed(text))
            }
            None => {
                let text = format!("The coordinator decided nothing: {ended}");
                self.answer_not(id, waiting, Observation::failed(text))
            }
        }
    }

    /// Answers a call for a mode: with a switch, or with why not.
    ///
    /// # Errors
    /// Also where a maintainer has to decide on it first.
    fn go_on(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        wanted: &WantedMode<'_>,
    ) -> Result<(), Stop> {
        let WantedMode { slug, reason, chooser } = *wanted;
        if let Some(refused) = self.switch_refused(self.task(id)?, slug) {
            return self.answer_not(id, waiting, refused.observation());
        }
        let by = match chooser {
            ModeChooser::Coordinator => "The coordinator chose it",
            ModeChooser::Itself | ModeChooser::Request => "You chose it",
        };
        let chosen = if reason.trim().is_empty() {
            format!("{by}.")
        } else {
            format!("{by}: {}", reason.trim())
        };
        if chooser != ModeChooser::Itself {
            let coordinated = (chooser == ModeChooser::Coordinator).then(|| chosen.clone());
            if let Some(not) = self.enter(id, waiting, slug, coordinated)? {
                return self.answer_not(id, waiting, not);
            }
        }
        let mode = self.mode(slug)?;
        let about = mode.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let about = about.map(|text| format!(": {}", single_blanks(text))).unwrap_or_default();
        let text = format!(
            "From the next turn on in {slug} mode{about}. {}\nThere you may {}. Whatever is not \
             listed is refused.{}",
            single_blanks(&chosen),
            self.rights(mode),
            self.background.get(&id).map_or("", |commands| commands.end_with_mode())
        );
        let control = Control::SwitchMode { slug: slug.to_owned(), reason: reason.to_owned() };
        let said = Observation::said(self.parts.run.redactor.redact(&text));
        self.answer(id, waiting, Observation { control: Some(control), ..said })
    }

    /// Writes down a switch that was approved, with what in the policy lets it be.
    pub(crate) fn switch(&mut self, id: TaskId, slug: String, reason: String) -> Result<(), Stop> {
        let task = self.task(id)?;
        let (from, took) = (task.mode.clone(), task.budgeting.since_reply());
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let verdict = self.parts.run.policy.decide(&Intent::Mode(slug.clone()), &self.facts(&from));
        let rule = verdict.rule().cloned();
        self.emit(Event::ModeSwitched { task: id, from, to: slug, reason, rule, took_ms })
    }

    /// Returns the mode in which requests are decided: the first of `modes.allow` that there is and
    /// that no rule keeps from running.
    fn coordinator(&self) -> Option<String> {
        let coordinates = |slug: &&String| {
            self.parts.modes.find(slug).is_some_and(Mode::coordinates)
                && self.mode_verdict(slug, slug).decision == Decision::Allow
        };
        self.parts.run.policy.settings().modes.allow.iter().find(coordinates).cloned()
    }

    fn start_choice(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        several: &[String],
        (coordinator, wished, reason): (String, Option<String>, &str),
    ) -> Result<(), Stop> {
        let task = self.task(id)?;
        let modes: Vec<(&Mode, String)> = several
            .iter()
            .filter_map(|slug| self.parts.modes.find(slug))
            .map(|mode| (mode, self.choosable(&task.mode, mode)))
            .collect();
        let message = choice_message(&ModeChoice {
            from: &task.mode,
            task: &task.message,
            reason,
            wished: wished.as_deref(),
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
            mode: coordinator,
            message: self.parts.run.redactor.redact(&message),
            title: None,
            todos: Vec::new(),
            budget,
            tree: None,
        })
    }

    /// Returns what a coordinator has to know of a mode that may follow another.
    fn choosable(&self, from: &str, mode: &Mode) -> String {
        let held = self.mode_verdict(from, &mode.slug).decision == Decision::Hold;
        let may = if held { "may, after a person agreed," } else { "may" };
        format!("{may} {}", self.rights(mode))
    }

    fn mode_verdict(&self, from: &str, slug: &str) -> Verdict {
        self.parts.run.policy.decide(&Intent::Mode(slug.to_owned()), &self.facts(from))
    }

    /// Returns why a task may not go on in a mode, whoever agrees.
    pub(crate) fn switch_refused(&self, task: &TaskState, slug: &str) -> Option<RefusedSwitch> {
        let under_way = |control: &Control| matches!(control, Control::SwitchMode { .. });
        if task.turn.pending_controls.iter().any(under_way) {
            let text = "A switch to another mode is under way already.".to_owned();
            return Some(RefusedSwitch::Mistake(text));
        }
        match self.mode_reach(&self.facts(&task.mode)).switch(slug) {
            Err(refused) => return Some(refused),
            Ok(verdict) if verdict.decision == Decision::Hold && !self.pauses() => {
                return Some(RefusedSwitch::Denied(Box::new(verdict)));
            }
            Ok(_) => {}
        }
        let mode = self.parts.modes.find(slug)?;
        if let Some(gained) = self.gained(task, mode) {
            let given = task.modes.first().unwrap_or(&task.mode);
            let said = format!(
                "this task was given to mode `{given}`, and `{slug}` may do more: {gained}. What \
                 needs that goes into your result, for the task above"
            );
            return Some(RefusedSwitch::denied(slug, said));
        }
        let (tool, path) = task.nudges.last_denied_edit.as_ref()?;
        let error = access::check_intent(mode, *tool, &Intent::Edit(path.clone())).err()?;
        Some(RefusedSwitch::denied(slug, error.to_string()))
    }

    /// Returns what a sub-task would gain in a mode over the one it was given.
    fn gained(&self, task: &TaskState, mode: &Mode) -> Option<String> {
        task.parent?;
        let given = task.modes.first().and_then(|slug| self.parts.modes.find(slug))?;
        if let Some(gained) = widening::gained(given, mode) {
            return Some(gained);
        }
        let (policy, from, to) =
            (self.parts.run.policy, self.facts(&given.slug), self.facts(&mode.slug));
        if policy.may_delegate(&to) && !policy.may_delegate(&from) {
            return Some("it may start sub-tasks".to_owned());
        }
        let tools = mode.tools();
        let used = |kind: RuleKind| {
            matches!(kind, RuleKind::Delegate | RuleKind::Expert)
                || matches!(kind, RuleKind::MemoryRead | RuleKind::MemoryWrite)
                || tools.iter().any(|tool| system_prompt::use_of(*tool) == Some(kind))
        };
        let rule = policy.gained((&from, &to), used)?;
        Some(format!("by `{}` ({}:{})", rule.pattern, rule.origin, rule.line_number()))
    }

    /// Returns which modes there are to come to for a task with these facts.
    pub(crate) fn mode_reach<'f>(&'f self, facts: &'f Facts) -> ModeReach<'f> {
        ModeReach { policy: self.parts.run.policy, modes: self.parts.modes, facts }
    }

    /// Says which modes could do what a task's mode keeps it from, and how to get there; empty
    /// where none can be had.
    pub(crate) fn other_modes(&self, id: TaskId, denied: DeniedByMode<'_>) -> Result<String, Stop> {
        let task = self.task(id)?;
        let how = match self.parts.run.policy.settings().modes.switching {
            Switching::Off => return Ok(String::new()),
            _ if task.purpose == TaskPurpose::Decide => return Ok(String::new()),
            Switching::Coordinator if !self.mode(&task.mode)?.coordinates() => {
                ToolName::RequestModeSwitch
            }
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
        let switches =
            [ToolName::SwitchMode, ToolName::RequestModeSwitch, ToolName::CoordinateMode];
        let has = !switches.contains(&denied.tool)
            && access::offered(mode, offer).contains(&denied.tool)
            && !self.usable_tools(mode, &[denied.tool]).is_empty();
        has && denied.intent.is_none_or(|intent| {
            access::check_intent(mode, denied.tool, intent).is_ok()
                && policy.decide(intent, &facts).decision != Decision::Deny
        })
    }
}
