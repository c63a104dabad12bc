//! `Explainer`: what a run would answer to an intent or a tool call, without doing anything.
//!
//! In: a policy, the modes, a checkout if there is one, and questions. Out: answers. A tool call
//! takes the route it takes in a run: the tools of its mode, its arguments, links of the checkout,
//! its intents, whose files they change, the policy. An intent is what any tool of the mode would
//! do. Files are looked at, none is opened.

use std::collections::BTreeMap;

use locum_agent::env::RunEnv;
use locum_agent::session::mode_reach::ModeReach;
use locum_agent::session::other_repositories;
use locum_agent::tools::dispatch::{self, CheckedCall};
use locum_agent::tools::{EffectInputs, ToolContext, VisionSupport};
use locum_base::secret::Redactor;
use locum_base::tool::ToolName;
use locum_files::fields::nearest;
use locum_modes::access::{self, TaskPurpose, ToolOffer, UseError};
use locum_modes::{Mode, ModeSet};
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::lint::explain::{Explanation, explain};
use locum_policy::lint::nearest::NearestRule;
use locum_policy::query::{PolicyQuery, QueriedAct};
use locum_policy::verdict::{Decision, RuleRef, Verdict};
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;

/// Answers questions about one policy.
pub struct Explainer {
    policy: Policy,
    modes: ModeSet,
    workspace: Option<Workspace>,
    /// What holds where a question does not say otherwise.
    facts: Facts,
    /// Whether somebody named the mode among the facts; else it is the default of the policy.
    is_mode_named: bool,
    env: BTreeMap<String, String>,
    /// Nothing is run, so nothing is around it.
    sandbox: Sandbox,
    redactor: Redactor,
    connector: Connector,
    image_models: Vec<String>,
}

/// What a run would say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedQuery {
    /// The call in one line, where a call was asked about.
    pub call: Option<String>,
    /// One for each thing it would do; at least one.
    pub explanations: Vec<Explanation>,
    /// The scripts that the call would run, each with what a run leaves out of it.
    pub scripts: Vec<Script>,
    /// True for a call of a tool of the mode whose arguments were not understood: the policy was
    /// not asked.
    pub is_misread: bool,
}

impl ExplainedQuery {
    /// Returns the strictest of its explanations; of equals the first.
    pub fn worst(&self) -> Option<&Explanation> {
        self.explanations.iter().rev().max_by_key(|one| one.verdict.decision)
    }

    /// Returns what it comes down to.
    pub fn decision(&self) -> Decision {
        self.worst().map_or(Decision::Deny, |one| one.verdict.decision)
    }
}

impl From<Explanation> for ExplainedQuery {
    fn from(explanation: Explanation) -> Self {
        Self { call: None, explanations: vec![explanation], scripts: Vec::new(), is_misread: false }
    }
}

impl Explainer {
    /// Prepares for questions. `facts` hold where a question does not say otherwise; without a
    /// workspace, tool calls have no answer.
    pub fn new(
        policy: Policy,
        modes: ModeSet,
        workspace: Option<Workspace>,
        facts: Facts,
        image_models: Vec<String>,
    ) -> Self {
        Self {
            policy,
            modes,
            workspace,
            facts,
            is_mode_named: false,
            image_models,
            env: BTreeMap::new(),
            sandbox: Sandbox::around_nothing(),
            redactor: Redactor::default(),
            connector: Connector::default(),
        }
    }

    /// Says that somebody named the mode of the questions: then an intent needs a tool of that
    /// mode. A default mode may have none and hand everything to sub-tasks in other modes.
    pub fn in_named_mode(self) -> Self {
        Self { is_mode_named: true, ..self }
    }

    /// Returns what holds where a question does not say otherwise.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the policy that is asked.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Answers one question.
    ///
    /// # Errors
    /// When it has no answer: the mode does not exist, or a tool call is asked about where there is
    /// no checkout.
    pub fn answer(&self, question: &PolicyQuery) -> Result<ExplainedQuery, String> {
        self.answer_under(question, &self.facts)
    }

    /// Answers one question for a machine without a sandbox.
    ///
    /// # Errors
    /// As [`Explainer::answer`].
    pub fn answer_without_sandbox(&self, question: &PolicyQuery) -> Result<ExplainedQuery, String> {
        self.answer_under(question, &Facts { sandboxed: false, ..self.facts.clone() })
    }

    /// Answers one question; `usual` holds where it does not say otherwise.
    fn answer_under(
        &self,
        question: &PolicyQuery,
        usual: &Facts,
    ) -> Result<ExplainedQuery, String> {
        let facts = Facts {
            mode: question.mode.clone().unwrap_or_else(|| usual.mode.clone()),
            trigger: question.trigger.unwrap_or(usual.trigger),
            tier: question.tier.unwrap_or(usual.tier),
            job: question.job.clone().or_else(|| usual.job.clone()),
            ..usual.clone()
        };
        let mode = self.mode(&facts.mode)?;
        let modes = &self.policy.settings().modes;
        // As a root task has it whose model includes every opt-in tool: others may have fewer.
        let offered = access::offered(
            mode,
            ToolOffer {
                switching: modes.switching,
                may_delegate: self.policy.may_delegate(&facts),
                purpose: TaskPurpose::Work,
                included: ToolName::ALL,
            },
        );
        match &question.act {
            _ if !modes.allow.contains(&facts.mode) => {
                Ok(self.mode_not_allowed(question, &facts.mode).into())
            }
            QueriedAct::Intent(intent) => {
                let needs_tool = self.is_mode_named || question.mode.is_some();
                Ok(match access::check_any_tool(mode, &offered, intent) {
                    Err(UseError::NoTool { .. }) if !needs_tool => self.of_intent(intent, &facts),
                    Err(error) => refused(intent, error.to_string()),
                    Ok(()) => self.of_intent(intent, &facts),
                }
                .into())
            }
            QueriedAct::Call(call) => {
                let workspace = self
                    .workspace
                    .as_ref()
                    .ok_or("a tool call needs a git checkout to be looked at")?;
                Ok(match dispatch::parse(call, &offered, self.context(workspace, mode)) {
                    Ok(call) => ExplainedQuery {
                        call: Some(call.headline()),
                        explanations: self.of_call(&call, &facts),
                        scripts: scripts(&call),
                        is_misread: false,
                    },
                    Err(error) => not_a_call(&call.name, &offered, error.0),
                })
            }
        }
    }

    /// Finds a mode.
    ///
    /// # Errors
    /// When there is none of that name; the sentence names one that is nearly so.
    pub fn mode(&self, slug: &str) -> Result<&Mode, String> {
        self.modes.find(slug).ok_or_else(|| {
            let slugs: Vec<&str> = self.modes.iter().map(|mode| mode.slug.as_str()).collect();
            let near = nearest(slug, &slugs)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            format!("there is no mode `{slug}`{near}")
        })
    }

    /// Explains what a call would do: what its session asks the policy, and what the session itself
    /// refuses.
    fn of_call(&self, call: &CheckedCall, facts: &Facts) -> Vec<Explanation> {
        let reach = ModeReach { policy: &self.policy, modes: &self.modes, facts };
        let explained = |intent: &Intent| self.of_intent(intent, facts);
        match reach.of_call(call) {
            None => {
                // Nobody here does the rest without them.
                let left_out = call.left_out().into_iter().map(|it| refused(it.intent, it.why));
                call.intents().iter().map(explained).chain(left_out).collect()
            }
            Some((intent, None)) => vec![explained(&intent)],
            Some((intent, Some(refused))) => {
                let by_policy = explained(&intent);
                let denied = by_policy.verdict.decision == Decision::Deny;
                vec![if denied {
                    by_policy
                } else {
                    Explanation { verdict: refused, nearest: None }
                }]
            }
        }
    }

    /// Explains one intent: edits of another repository are refused before the policy is asked.
    fn of_intent(&self, intent: &Intent, facts: &Facts) -> Explanation {
        if let (Intent::Edit(path), Some(workspace)) = (intent, &self.workspace)
            && let Some(verdict) = other_repositories::denied_edit(&workspace.repo, path)
        {
            return Explanation { verdict, nearest: None };
        }
        explain(&self.policy, intent, facts)
    }

    fn context<'a>(&'a self, workspace: &'a Workspace, mode: &'a Mode) -> ToolContext<'a> {
        ToolContext {
            run: RunEnv {
                tail: None,
                policy: &self.policy,
                env: &self.env,
                sandbox: &self.sandbox,
                redactor: &self.redactor,
                connector: &self.connector,
                search_engine: None,
                embedder: None,
                browser: None,
                state_folder: None,
            },
            skills: None,
            commands: None,
            servers: None,
            layer: None,
            git_hidden: false,
            image_models: &self.image_models,
            checkout: &workspace.checkout,
            repo: &workspace.repo,
            mode,
            facts: &self.facts,
            visible: &|_| false,
            vision: VisionSupport::Blind,
            given: EffectInputs::default(),
        }
    }

    fn mode_not_allowed(&self, question: &PolicyQuery, slug: &str) -> Explanation {
        let intent = match &question.act {
            QueriedAct::Intent(intent) => intent.to_string(),
            QueriedAct::Call(call) => format!("tool({})", call.name),
        };
        let rule = RuleRef::setting("modes.allow", self.policy.origin());
        let reason = format!("mode `{slug}` is not in `modes.allow`: nothing runs in it");
        Explanation {
            verdict: Verdict::denied(intent, reason),
            nearest: Some(NearestRule { rule, why: format!("it does not list `{slug}`") }),
        }
    }
}

/// Returns the scripts that a call would run.
fn scripts(call: &CheckedCall) -> Vec<Script> {
    let script = |intent: Intent| {
        if let Intent::Command(script) = intent { Some(script) } else { None }
    };
    call.intents().into_iter().filter_map(script).collect()
}

/// A call that is answered before the policy is asked.
fn not_a_call(name: &str, offered: &[ToolName], sentence: String) -> ExplainedQuery {
    let known = ToolName::called(name).filter(|tool| offered.contains(tool));
    let intent = known.map_or_else(|| format!("tool({name})"), |tool| format!("tool({tool})"));
    ExplainedQuery { is_misread: known.is_some(), ..refused(intent, sentence).into() }
}

/// What its mode, its tool or the session is against.
fn refused(intent: impl ToString, sentence: String) -> Explanation {
    let reason = sentence.strip_suffix('.').unwrap_or(&sentence).to_owned();
    Explanation { verdict: Verdict::denied(intent.to_string(), reason), nearest: None }
}
