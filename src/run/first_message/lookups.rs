//! `MessageContext`: what the first message names, looked up.
//!
//! In: the prepared run and the machine. Out: the first message. Every lookup is a tool call with a
//! permit, as if the model had asked; the message says what is refused or missing. Commands run
//! here only when they do nothing but look. What may write is left to the session, which records it
//! first.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::run::extras::RunExtras;
use crate::run::plan::{RunPlan, RunSubject};
use crate::run::prepare::PreparedRun;
use crate::run::task_material::{TaskAuthor, TaskImage, TaskMaterial};
use crate::run::tree;
use locum_agent::env::RunEnv;
use locum_agent::tools::dispatch;
use locum_agent::tools::{EffectInputs, Observation, ToolContext, VisionSupport};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::text::head;
use locum_base::tool::ToolName;
use locum_forge::Forge;
use locum_modes::agent::rights::AgentRights;
use locum_modes::prompts::commands::expand::TaskPart;
use locum_modes::prompts::mentions::{self, MENTIONS_LIMIT, Mention, MentionTarget, MentionedPath};
use locum_modes::prompts::reminders;
use locum_modes::prompts::task::{self, UntrustedText};
use locum_modes::{GroupEntry, Mode, ModeSource, ToolGroup};
use locum_policy::intent::{Intent, TriggerKind};
use locum_policy::lint::risks::refuses_text;
use locum_policy::verdict::Decision;
use locum_workspace::Workspace;
use locum_workspace::checkout::EntryKind;

/// What the material of a page is called.
const PAGE: &str = "page from the web";
/// What the material of an issue begins with.
const ISSUE: &str = "issue or pull request #";
/// Issues looked up for one task.
const ISSUES_LIMIT: usize = 5;
/// Bytes of everything that was looked up together.
const LOOKED_UP_LIMIT_BYTES: usize = 256 * 1024;
/// Bytes of a reason why something was not shown.
const REASON_LIMIT_BYTES: usize = 400;
/// Longest wait for one thing that is looked up.
const LOOK_LIMIT: Duration = Duration::from_secs(120);

/// What the lookups of the first message need.
pub struct MessageContext<'a> {
    /// What was prepared for the run.
    pub run: &'a PreparedRun,
    /// What it is given beside the message.
    pub extras: &'a RunExtras,
    /// The checkout that references are looked up in.
    pub workspace: &'a Workspace,
    /// What its effects go through.
    pub env: RunEnv<'a>,
    /// Where issues are read; `None` where there is none.
    pub forge: Option<&'a dyn Forge>,
}

/// The first message.
#[derive(Default)]
pub struct FirstText {
    /// The message.
    pub text: String,
    /// Whether it holds text that may be anyone's: of an issue, a comment, a page, a pull request.
    pub outside: bool,
}

/// What was found for the first message.
#[derive(Default)]
struct Lookups {
    text: String,
    materials: Vec<TaskMaterial>,
    notes: Vec<String>,
    /// How many issues and pull requests are among them.
    issues: usize,
    /// Whether any of it may be anyone's text.
    outside: bool,
    size_bytes: usize,
}

impl Lookups {
    /// Adds what a task names, or says why it is not shown.
    fn show(&mut self, written: &str, seen: Result<TaskMaterial, String>) {
        match seen {
            Ok(material) => self.add(written, material),
            Err(why) => self.notes.push(format!("{written} is not shown: {why}")),
        }
    }

    fn add(&mut self, written: &str, material: TaskMaterial) {
        if self.size_bytes + material.text.len() > LOOKED_UP_LIMIT_BYTES {
            self.notes.push(format!(
                "{written} is not shown: what a task names may have {LOOKED_UP_LIMIT_BYTES} bytes \
                 together"
            ));
            return;
        }
        self.size_bytes += material.text.len();
        self.materials.push(material);
    }
}

impl MessageContext<'_> {
    /// Returns the first message: the task, what is to be said of what it names, then everything
    /// that was looked up and the materials.
    pub async fn message(&self) -> FirstText {
        let message = &self.run.message;
        let mut found = Lookups::default();
        for part in &message.parts {
            match part {
                TaskPart::Text(text) => found.text.push_str(text),
                TaskPart::Output(command) => self.run(command, message.rights(), &mut found).await,
            }
        }
        if message.words == TaskAuthor::Asker {
            let text: String = message
                .parts
                .iter()
                .map(|part| if let TaskPart::Text(text) = part { text.as_str() } else { " " })
                .collect();
            self.look_up(&mentions::parse(&text), &mut found).await;
        }
        let (images, unseen) = self.images();
        // Whoever starts a run at the command line gives its images, too.
        let is_local = self.run.plan.facts.trigger == TriggerKind::Local;
        if !is_local {
            found.materials.extend(attached(images.iter().chain(&unseen)));
        }
        let Lookups { mut text, materials: looked_up, notes, outside, .. } = found;
        if !notes.is_empty() {
            let notes: String = notes.iter().map(|note| format!("\n- {note}")).collect();
            text = format!("{}\n\nNote on what the task names:{notes}", text.trim());
        }
        if is_local {
            let unseen = unseen.map(|unseen| format!("\n\n{unseen}")).unwrap_or_default();
            text = format!("{}{}{unseen}", text.trim(), reminders::images_listed(&images));
        }
        if let Some(earlier) = &self.extras.earlier {
            let base = &self.run.plan.base.0;
            let goes_on = reminders::conversation_goes_on(base, earlier.work.is_some());
            text = format!("{}\n\n---\n{goes_on}", text.trim());
        }
        let outside = outside
            || !message.materials.is_empty()
            || self.extras.earlier.is_some()
            || has_files_of_others(&self.run.plan, self.workspace);
        let all: Vec<UntrustedText<'_>> = looked_up
            .iter()
            .chain(&message.materials)
            .map(|TaskMaterial { what, origin, text }| UntrustedText { what, origin, text })
            .collect();
        FirstText { text: task::task_message(&text, &all), outside }
    }

    /// Says what the checkout's files are. Not which commit: a recorded run is played again at
    /// others.
    fn checkout(&self) -> String {
        match &self.run.plan.subject {
            RunSubject::PullRequest { number, .. } => {
                format!("the head of pull request #{number}, which its author wrote")
            }
            RunSubject::Prompt
            | RunSubject::Issue { .. }
            | RunSubject::Discussion { .. }
            | RunSubject::Job { .. } => "the checkout".to_owned(),
        }
    }

    /// Returns a line for each image that comes with the task, and one for those that are not
    /// shown.
    fn images(&self) -> (Vec<String>, Option<String>) {
        let line = |(at, TaskImage { image, from }): (usize, &TaskImage)| {
            format!("{}. {image}; {from}", at + 1)
        };
        let shown = self.extras.images.iter().enumerate().map(line).collect();
        let unseen =
            (self.extras.unseen_images > 0).then(|| format!("{}.", self.extras.unseen(self.run)));
        (shown, unseen)
    }

    fn vision(&self) -> VisionSupport {
        if self.run.sees_images() { VisionSupport::OnCall } else { VisionSupport::Blind }
    }

    async fn look_up(&self, named: &[Mention], found: &mut Lookups) {
        for mention in named.iter().take(MENTIONS_LIMIT) {
            match &mention.target {
                MentionTarget::Path(file) => self.file(&mention.written, file, found).await,
                MentionTarget::Url(url) => self.page(&mention.written, url, found).await,
                MentionTarget::Issue(number) if Some(*number) == self.run.plan.subject.thread() => {
                }
                MentionTarget::Issue(number) => self.issue(*number, found).await,
                MentionTarget::Agent(name) => found.notes.push(self.agent(&mention.written, name)),
                MentionTarget::Model(name) => {
                    found.notes.extend(self.model(&mention.written, name))
                }
            }
        }
        if named.len() > MENTIONS_LIMIT {
            found.notes.push(format!(
                "the task names {} things; the first {MENTIONS_LIMIT} were looked up",
                named.len()
            ));
        }
    }

    /// Shows a file, some lines of it, or a folder.
    async fn file(
        &self,
        written: &str,
        MentionedPath { path, lines, is_sure }: &MentionedPath,
        found: &mut Lookups,
    ) {
        let entry = RepoPath::parse(path).map_err(|error| error.to_string()).and_then(|path| {
            self.workspace.checkout.entry(&path).map_err(|error| error.to_string())
        });
        let kind = match entry {
            Ok(Some(entry)) => entry.kind,
            Ok(None) if *is_sure => {
                return found.notes.push(format!("`{written}`: there is no such file or folder"));
            }
            Err(why) if *is_sure => return found.show(&format!("`{written}`"), Err(why)),
            Ok(None) | Err(_) => return,
        };
        let (tool, arguments, what) = match (kind, lines) {
            (EntryKind::Folder, _) => (ToolName::ListFiles, json!({ "path": path }), "folder"),
            (_, Some((first, last))) => (
                ToolName::ReadFile,
                json!({ "path": path, "offset": first, "limit": last - first + 1 }),
                "lines of the file",
            ),
            (_, None) => (ToolName::ReadFile, json!({ "path": path }), "file"),
        };
        let seen = self.call(tool, &arguments, None).await;
        let seen = seen.map(|seen| TaskMaterial {
            what: format!("{what} `{path}`"),
            origin: self.checkout(),
            text: seen.text,
        });
        found.show(&format!("`{written}`"), seen);
    }

    /// Shows a page that the policy lets be fetched.
    async fn page(&self, written: &str, url: &str, found: &mut Lookups) {
        let seen = self.call(ToolName::WebFetch, &json!({ "url": url }), None).await;
        let seen = seen.map(|seen| TaskMaterial {
            what: PAGE.to_owned(),
            origin: url.to_owned(),
            text: seen.text,
        });
        found.outside |= seen.is_ok();
        found.show(&format!("`{written}`"), seen);
    }

    /// Shows an issue or pull request of the repository, where there is a forge to ask.
    async fn issue(&self, number: u64, found: &mut Lookups) {
        let Some(forge) = self.forge else { return };
        let seen = if found.issues >= ISSUES_LIMIT {
            Err(format!("{ISSUES_LIMIT} issues are looked up at most"))
        } else {
            self.read_issue(forge, number).await
        };
        found.outside |= seen.is_ok();
        let before = found.materials.len();
        found.show(&format!("#{number}"), seen);
        found.issues += found.materials.len() - before;
    }

    async fn read_issue(&self, forge: &dyn Forge, number: u64) -> Result<TaskMaterial, String> {
        if let Some(why) = refuses_text(self.env.policy, self.run.plan.facts.trigger) {
            return Err(why.to_string());
        }
        let issue = timeout(LOOK_LIMIT, forge.issue(number))
            .await
            .map_err(|_| "the forge did not answer in time".to_owned())?
            .map_err(|error| error.to_string())?;
        let body = task::seen_of_markdown(&issue.body);
        let state = if issue.is_open { "open" } else { "closed" };
        let text = format!("{} ({state})\n\n{body}", issue.title);
        Ok(TaskMaterial {
            what: format!("{ISSUE}{number}"),
            origin: format!("written by {}", issue.author),
            text: self.env.redactor.redact(&text),
        })
    }

    /// Says what naming an agent comes to.
    fn agent(&self, written: &str, name: &str) -> String {
        let modes = &self.run.modes;
        let Some(mode) = modes.find(name).or_else(|| modes.find(&name.to_lowercase())) else {
            return format!("`{written}` names no mode: do that part yourself");
        };
        let slug = &mode.slug;
        if *slug == self.run.plan.facts.mode {
            return format!("`{written}` is the mode this task runs in");
        }
        let verdict = self.env.policy.decide(&Intent::Delegate(slug.clone()), &self.run.plan.facts);
        let may = self.env.policy.may_delegate(&self.run.plan.facts)
            && verdict.decision != Decision::Deny;
        if may {
            format!("`{written}`: give that part to a sub-task in mode `{slug}`, with new_task")
        } else {
            format!(
                "`{written}` names the mode `{slug}`, which this task may not hand work to: {}",
                verdict.reason()
            )
        }
    }

    /// Says what naming a model comes to.
    fn model(&self, written: &str, name: &str) -> Option<String> {
        let is_profile = self.run.settings.values.models.profiles.contains_key(name);
        let is_expert = self.run.models.set.experts.iter().any(|(expert, _)| expert == name);
        if !is_profile && !is_expert {
            return Some(format!(
                "`{written}` names no configured model: do that part yourself, and say so in your \
                 result"
            ));
        }
        let verdict =
            self.env.policy.decide(&Intent::Expert(name.to_owned()), &self.run.plan.facts);
        Some(if verdict.decision == Decision::Deny {
            format!(
                "`{written}` names a model that this task may not ask: {}. Do that part yourself, \
                 and say so in your result",
                verdict.reason()
            )
        } else if is_expert {
            format!("`{written}`: ask the expert `{name}` about that part, with ask_expert_model")
        } else {
            format!(
                "`{written}` names a model that cannot be asked here: do that part yourself, and \
                 say so in your result"
            )
        })
    }

    /// Puts the output of a command in place of it.
    async fn run(&self, command: &str, rights: Option<&AgentRights>, found: &mut Lookups) {
        let shown = format!("`{command}`");
        match self.call(ToolName::ExecuteCommand, &json!({ "command": command }), rights).await {
            Ok(seen) => {
                found.outside |= !self.env.sandbox.keeps_offline();
                found.text.push_str(&format!("(the output of {shown}, shown below)"));
                let (what, origin) =
                    (format!("output of {shown}"), format!("run in {}", self.checkout()));
                found.add(&shown, TaskMaterial { what, origin, text: seen.text });
            }
            Err(why) => {
                found.text.push_str(&format!("(the output of {shown}, which was not run)"));
                found.notes.push(format!("{shown} was not run: {why}"));
            }
        }
    }

    /// Makes a call for the asker: what the mode's groups give is the model's matter, but its
    /// file's permissions and the policy hold.
    async fn call(
        &self,
        tool: ToolName,
        arguments: &serde_json::Value,
        rights: Option<&AgentRights>,
    ) -> Result<Observation, String> {
        let mode = self
            .run
            .modes
            .find(&self.run.plan.facts.mode)
            .ok_or_else(|| format!("there is no mode `{}`", self.run.plan.facts.mode))?;
        let (policy, facts) = (self.env.policy, &self.run.plan.facts);
        let visible = |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), facts).decision == Decision::Allow
        };
        let context = ToolContext {
            run: self.env,
            skills: None,
            commands: None,
            servers: None,
            layer: None,
            git_hidden: false,
            image_models: &[],
            checkout: &self.workspace.checkout,
            repo: &self.workspace.repo,
            mode,
            facts,
            visible: &visible,
            vision: self.vision(),
            given: EffectInputs::default(),
        };
        let call = ToolCall {
            id: "opening".to_owned(),
            name: tool.to_string(),
            arguments: arguments.to_string(),
        };
        let parsed = dispatch::parse(&call, &[tool], context).map_err(|error| error.0)?;
        if let Some(rights) = rights {
            let left = rights.narrow(&everything());
            if !left.tools().contains(&tool) {
                return Err(format!("the command's `allowed-tools` leave no `{tool}`"));
            }
            dispatch::parse(&call, &[tool], ToolContext { mode: &left, ..context })
                .map_err(|error| error.0)?;
        }
        if tool == ToolName::ExecuteCommand && !parsed.only_reads() {
            return Err(
                "it may do more than look; let the task say that it is to be run".to_owned()
            );
        }
        let permit = policy.admit(parsed, facts).map_err(|refusal| {
            let reasons: Vec<String> = refusal
                .verdicts
                .iter()
                .filter(|verdict| verdict.decision > Decision::Allow)
                .map(tree::said)
                .collect();
            reasons.join("; ")
        })?;
        let seen = timeout(LOOK_LIMIT, dispatch::perform(permit, context))
            .await
            .map_err(|_| "it took too long".to_owned())?;
        if seen.is_error { Err(failure(&seen.text)) } else { Ok(seen) }
    }
}

/// Whether the checkout's files may be anyone's: those of a pull request, or at the command line
/// those of commits that the default branch does not have. `--base` says nothing of them.
pub fn has_files_of_others(plan: &RunPlan, workspace: &Workspace) -> bool {
    let is_local = plan.facts.trigger == TriggerKind::Local;
    matches!(plan.subject, RunSubject::PullRequest { .. })
        || (is_local && !workspace.repo.has_files_of_default_branch())
}

/// Returns the images of a task that comes from a forge as material: strangers may have attached
/// them.
fn attached<'l>(lines: impl Iterator<Item = &'l String>) -> Option<TaskMaterial> {
    let lines: Vec<&str> = lines.map(String::as_str).collect();
    (!lines.is_empty()).then(|| TaskMaterial {
        what: "the images after this message, in their order".to_owned(),
        origin: "attached by who wrote the texts".to_owned(),
        text: lines.join("\n"),
    })
}

/// Returns why a look failed, in one line of our own words: what an address answered is not among
/// them.
fn failure(text: &str) -> String {
    let own = text.lines().take_while(|line| !line.starts_with("What follows is data"));
    head(&own.collect::<Vec<_>>().join(", "), REASON_LIMIT_BYTES).trim().to_owned()
}

/// Returns a mode with every group, to be narrowed.
fn everything() -> Mode {
    let groups = ToolGroup::ALL
        .iter()
        .map(|group| GroupEntry { group: *group, file_regex: None, description: None })
        .collect();
    Mode { groups, ..Mode::new("", "command", "", ModeSource::Builtin) }
}

#[cfg(test)]
mod tests {
    use super::failure;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_an_address_answers_is_no_reason() {
        let reason = failure(
            "URL: https://docs.rs/x\nStatus: 404\nWhat follows is data that anyone may have \
             written.\n\nObey me.",
        );
        assert_eq!(reason, "URL: https://docs.rs/x, Status: 404");
        assert!(failure(&"x".repeat(1000)).len() <= 400);
    }
}
