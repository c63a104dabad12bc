//! Runs hooks in the surroundings of a task and reads what they say.
//!
//! In: hooks, a question and a task's surroundings. Out: what they said, and how each ended, for
//! the journal. A hook is judged like any command of the task and runs in its sandbox; what it
//! writes is thrown away. A guard that may not or cannot run blocks what it guards, and so does one
//! whose decision cannot be read.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::env::RunEnv;
use crate::session::id::SessionId;
use crate::session::judged::reasons;
use crate::session::recorded::HookReport;
use crate::session::task_env::TaskEnv;
use crate::tools::hooks::answer::{self, HookWord};
use crate::tools::hooks::question::{HookedCall, SessionSource, SubAgent};
use crate::tools::hooks::{HookDefinition, HookEvent};
use crate::tools::{EffectInputs, Observation, ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::text::head;
use locum_base::tool::ToolName;
use locum_policy::verdict::{Decision, Verdict};
use locum_workspace::layer::Layer;
use locum_workspace::repo::CommitId;

/// The variable that names the folder of the project to hooks.
const PROJECT_FOLDER: &str = "CLAUDE_PROJECT_DIR";

/// The folder of hooks, whose files have to be those of the trusted commit.
const OWN_FOLDER: &str = ".claude/";

/// Most bytes of an answer that hooks read.
const RESPONSE_LIMIT_BYTES: usize = 64 * 1024;

/// What lets runs go on without hooks.
const WITHOUT_HOOKS: &str = "a rule may allow its command, and `commands: { hooks: off }` in the \
                             policy lets runs go without hooks";

/// Who asks hooks, and which there are.
#[derive(Clone)]
pub(crate) struct HookAsker<'a> {
    /// Every hook of the run.
    pub(crate) hooks: &'a [HookDefinition],
    /// The session that asks.
    pub(crate) session: SessionId,
    /// The commit that is trusted.
    pub(crate) trusted: &'a CommitId,
}

/// What hooks are asked.
pub(crate) enum HookQuestion<'q> {
    /// Whether a call may be performed.
    Before(&'q HookedCall),
    /// What there is to say of a call that succeeded.
    After(&'q HookedCall, &'q Observation),
    /// Whether the root task may end; true where it was kept from it before.
    End(bool),
    /// What the model is to know where a session begins or resumes.
    Begins(SessionSource),
    /// Whether the model may read what a person asks for.
    Prompt(String),
    /// What the model of a sub-task is to know.
    AgentBegins(SubAgent),
    /// Whether a sub-task may end; true where it was kept from it before.
    AgentEnds(SubAgent, bool),
}

/// What hooks said together.
#[derive(Debug, Default)]
pub(crate) struct HooksSaid {
    /// How each ended.
    pub(crate) reports: Vec<HookReport>,
    /// What readers of the outcome have to know.
    pub(crate) notes: Vec<String>,
    /// What the model is to know besides.
    pub(crate) says: Vec<String>,
    /// What becomes of what was asked about.
    pub(crate) end: HooksEnd,
}

/// What becomes of what hooks were asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum HooksEnd {
    /// No hook is against it.
    #[default]
    Free,
    /// A person is to decide, and why.
    Asked(String),
    /// It may not be, and why.
    Blocked(String),
}

impl HookQuestion<'_> {
    pub(crate) fn event(&self) -> HookEvent {
        match self {
            Self::Before(_) => HookEvent::PreToolUse,
            Self::After(..) => HookEvent::PostToolUse,
            Self::End(_) => HookEvent::Stop,
            Self::Begins(_) => HookEvent::SessionStart,
            Self::Prompt(_) => HookEvent::UserPromptSubmit,
            Self::AgentBegins(_) => HookEvent::SubagentStart,
            Self::AgentEnds(..) => HookEvent::SubagentStop,
        }
    }

    /// Returns what matchers are compared with.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Before(call) | Self::After(call, _) => call.names(),
            Self::End(_) | Self::Prompt(_) => vec![self.event().as_str()],
            Self::Begins(source) => vec![source.as_str()],
            Self::AgentBegins(agent) | Self::AgentEnds(agent, _) => vec![&agent.kind],
        }
    }

    fn call(&self) -> Option<&HookedCall> {
        match self {
            Self::Before(call) | Self::After(call, _) => Some(call),
            Self::End(_)
            | Self::Begins(_)
            | Self::Prompt(_)
            | Self::AgentBegins(_)
            | Self::AgentEnds(..) => None,
        }
    }

    /// Returns what a hook reads of this question alone.
    fn own(&self, name: &str, input: &Value) -> Value {
        match self {
            Self::Before(_) => json!({ "tool_name": name, "tool_input": input }),
            Self::After(_, observation) => {
                let text = head(&observation.text, RESPONSE_LIMIT_BYTES);
                let response = match name {
                    "Bash" => json!({ "stdout": text, "stderr": "", "interrupted": false }),
                    _ => json!({
                        "filePath": input.get("file_path"), "success": true, "content": text
                    }),
                };
                json!({ "tool_name": name, "tool_input": input, "tool_response": response })
            }
            Self::End(again) => json!({ "stop_hook_active": again }),
            Self::Begins(source) => json!({ "source": source.as_str() }),
            Self::Prompt(text) => json!({ "prompt": text }),
            Self::AgentBegins(agent) => {
                json!({ "agent_id": agent.id, "agent_type": agent.kind })
            }
            Self::AgentEnds(agent, again) => json!({
                "stop_hook_active": again, "agent_id": agent.id, "agent_type": agent.kind
            }),
        }
    }
}

impl<'a> HookAsker<'a> {
    /// Whether a hook is for an event of a tool.
    pub(crate) fn has(&self, event: HookEvent, call: Option<&HookedCall>) -> bool {
        let names = call.map_or_else(|| vec![event.as_str()], HookedCall::names);
        self.of(event, names).next().is_some()
    }

    /// Whether a hook is for an event of what is called so.
    pub(crate) fn has_for(&self, event: HookEvent, name: &str) -> bool {
        self.of(event, vec![name]).next().is_some()
    }

    /// Returns the hooks for an event of what has these names, each with the one that it is for,
    /// the same command once.
    fn of<'c>(
        &self,
        event: HookEvent,
        names: Vec<&'c str>,
    ) -> impl Iterator<Item = (&'a HookDefinition, &'c str)> {
        let mut known: Vec<&'a str> = Vec::new();
        let hooks = self.hooks.iter().filter(move |hook| hook.event == event);
        hooks.filter_map(move |hook| {
            let name = hook.matched(&names)?;
            if known.contains(&hook.command.as_str()) {
                return None;
            }
            known.push(&hook.command);
            Some((hook, name))
        })
    }

    /// Asks every hook for what is asked about, until one is against it.
    pub(crate) async fn ask(&self, env: &TaskEnv<'_>, question: &HookQuestion<'_>) -> HooksSaid {
        let mut said = HooksSaid::default();
        let nothing = [Value::Null];
        let inputs = question.call().map_or(&nothing[..], |call| &call.inputs);
        for (hook, name) in self.of(question.event(), question.names()) {
            for input in inputs {
                let asked = self.written(env, question, question.own(name, input));
                let word = self.run(env, hook, &asked, &mut said.reports).await;
                said.take(hook, word);
                if matches!(said.end, HooksEnd::Blocked(_)) {
                    return said;
                }
            }
        }
        said
    }

    /// Runs one hook, and writes down how it ended.
    async fn run(
        &self,
        env: &TaskEnv<'_>,
        hook: &HookDefinition,
        input: &str,
        reports: &mut Vec<HookReport>,
    ) -> HookWord {
        let started = match self.changed_file(env, hook) {
            Some(why) => Err((why, Vec::new())),
            None => start(env, hook, input).await,
        };
        let (word, verdicts) = match started {
            Ok((observation, verdicts)) => {
                let streams = observation.streams.unwrap_or_default();
                let word = match observation.exit {
                    Some(exit) => answer::read(hook.event, exit, &streams),
                    None => HookWord::DidNotRun(observation.text),
                };
                (word, verdicts)
            }
            Err((why, verdicts)) => (HookWord::DidNotRun(why), verdicts),
        };
        // What it wrote must not be there for the next command.
        if let Some(layer) = &env.layer
            && let Err(error) = env.place.repo.settle(layer)
        {
            tracing::warn!(%error, "the layer of a hook");
        }
        let (said, did_run) = match &word {
            HookWord::GoesOn => ("", true),
            HookWord::Says(text) | HookWord::Blocks(text) | HookWord::Asks(text) => (&**text, true),
            HookWord::Fails(text) | HookWord::Unreadable(text) => (&**text, true),
            HookWord::DidNotRun(text) => (&**text, false),
        };
        let (command, place) = (hook.command.clone(), hook.place.clone());
        reports.push(HookReport { command, place, did_run, said: said.to_owned(), verdicts });
        word
    }

    /// Says that a file of the hook's own folder is not as the trusted commit has it: then it is
    /// not the hook that is trusted.
    fn changed_file(&self, env: &TaskEnv<'_>, hook: &HookDefinition) -> Option<String> {
        let files = own_files(&hook.command);
        if files.is_empty() {
            return None;
        }
        match env.place.repo.changes(self.trusted, &files) {
            Ok(changes) => changes
                .first()
                .map(|change| format!("`{}` is not as the trusted commit has it", change.path)),
            Err(error) => Some(format!("its files cannot be compared: {error}")),
        }
    }

    /// Returns a question as a hook reads it.
    fn written(&self, env: &TaskEnv<'_>, question: &HookQuestion<'_>, own: Value) -> String {
        let mut fields = Map::new();
        fields.insert("session_id".to_owned(), json!(self.session.as_str()));
        // There is a journal, which hooks cannot read.
        fields.insert("transcript_path".to_owned(), json!("/dev/null"));
        fields.insert("cwd".to_owned(), json!(env.seen_root().display().to_string()));
        fields.insert("permission_mode".to_owned(), json!("default"));
        fields.insert("hook_event_name".to_owned(), json!(question.event().as_str()));
        if let Value::Object(own) = own {
            fields.extend(own);
        }
        env.run.redactor.redact(&Value::Object(fields).to_string())
    }
}

impl HooksSaid {
    /// Takes in what a hook says.
    fn take(&mut self, hook: &HookDefinition, word: HookWord) {
        let HookDefinition { event, command, place, .. } = hook;
        let named = format!("the hook `{command}` ({place})");
        let reason =
            |why: String| if why.is_empty() { "it gives no reason".to_owned() } else { why };
        match word {
            HookWord::GoesOn => {}
            HookWord::Says(text) => self.says.push(format!("{named} says: {text}")),
            HookWord::Blocks(why) => {
                self.end = HooksEnd::Blocked(format!("{named} is against it: {}", reason(why)));
            }
            HookWord::Asks(why) => {
                if self.end == HooksEnd::Free {
                    let why = format!("{named} asks for a person: {}", reason(why));
                    self.end = HooksEnd::Asked(why);
                }
            }
            HookWord::Fails(why) => {
                let event = event.as_str();
                self.notes.push(format!("The hook `{command}` of {event} ({place}) failed: {why}."))
            }
            HookWord::Unreadable(why) => {
                let what = format!(
                    "What the hook `{command}` of {} ({place}) decides cannot be read",
                    event.as_str()
                );
                let blocked = format!("{named} guards it, and its decision cannot be read: {why}");
                self.take_no_decision(*event, (&what, &why), blocked);
            }
            HookWord::DidNotRun(why) => {
                let why = format!("{why}; {WITHOUT_HOOKS}");
                let what =
                    format!("The hook `{command}` of {} ({place}) did not run", event.as_str());
                let blocked = format!("{named} guards it and did not run: {why}");
                self.take_no_decision(*event, (&what, &why), blocked);
            }
        }
    }

    /// Notes what is wrong with a hook that decided nothing, and why. A guard blocks then.
    fn take_no_decision(&mut self, event: HookEvent, (what, why): (&str, &str), blocked: String) {
        if event.guards() {
            self.notes.push(format!("{what}, so what it guards was not done: {why}."));
            self.end = HooksEnd::Blocked(blocked);
        } else {
            self.notes.push(format!("{what}: {why}."));
        }
    }
}

impl TaskEnv<'_> {
    /// Returns the root of the checkout as commands find it.
    pub(crate) fn seen_root(&self) -> PathBuf {
        let stands_for = self.layer.as_deref().and_then(Layer::stands_for);
        stands_for.map_or(self.place.checkout.root(), |other| other.root).to_owned()
    }
}

/// Returns the files in the folder of hooks that a command names.
fn own_files(command: &str) -> BTreeSet<RepoPath> {
    let in_path =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-' | '+');
    let words = command.split(|letter| !in_path(letter));
    let paths = words.filter_map(|word| {
        let at = word.find(OWN_FOLDER)?;
        let is_start =
            word.get(..at).is_some_and(|before| before.chars().all(|c| "./".contains(c)));
        word.get(at..).filter(|_| is_start).and_then(|path| RepoPath::parse(path).ok())
    });
    paths.collect()
}

/// Starts a hook and waits for its end; returns also what the policy said to its command.
async fn start(
    env: &TaskEnv<'_>,
    hook: &HookDefinition,
    input: &str,
) -> Result<(Observation, Vec<Verdict>), (String, Vec<Verdict>)> {
    let plain = |why: String| (why, Vec::new());
    match &env.layer {
        // One that a command wrote to before cannot be mounted again as it is.
        Some(layer) => layer.begin().map_err(|error| plain(error.to_string()))?,
        None if env.run.sandbox.holds() => {}
        None => return Err(plain("without a sandbox, what it writes would stay".to_owned())),
    }
    let mut variables = env.run.env.clone();
    variables.insert(PROJECT_FOLDER.to_owned(), env.seen_root().display().to_string());
    let visible = env.readable();
    let given = EffectInputs { input: Some(input), ..EffectInputs::default() };
    let run = RunEnv { env: &variables, ..env.run };
    let context = ToolContext { given, run, ..env.context(&visible) };
    let arguments =
        json!({ "command": hook.command, "timeout": hook.timeout.as_secs() }).to_string();
    let (id, name) = ("hook".to_owned(), ToolName::ExecuteCommand.to_string());
    let call = ToolCall { id, name, arguments };
    let call = dispatch::parse(&call, &[ToolName::ExecuteCommand], context)
        .map_err(|error| plain(error.to_string()))?;
    let permit = match env.run.policy.admit(call, &env.facts) {
        Ok(permit) => permit,
        Err(refusal) => {
            let does = if refusal.decision == Decision::Hold { "holds" } else { "refuses" };
            let why = format!("the policy {does} it: {}", reasons(&refusal.verdicts));
            return Err((why, refusal.verdicts));
        }
    };
    let verdicts = permit.verdicts().to_vec();
    Ok((dispatch::perform(permit, context).await, verdicts))
}

#[cfg(test)]
mod tests {
    use super::own_files;
    use pretty_assertions::assert_eq;

    #[test]
    fn files_in_the_folder_of_hooks_are_found_in_a_command() {
        for (command, expected) in [
            ("\".\"/.claude/hooks/guard.sh", vec![".claude/hooks/guard.sh"]),
            ("./.claude/guard.py --x=1", vec![".claude/guard.py"]),
            ("sh .claude/a.sh | python3 \"./.claude/b.py\"", vec![".claude/a.sh", ".claude/b.py"]),
            ("sh scripts/guard.sh", vec![]),
            ("cat docs/.claude/x", vec![]),
        ] {
            let found: Vec<String> = own_files(command).iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{command}");
        }
    }
}
