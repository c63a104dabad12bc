//! `ActionInputs`: the Action's inputs that are about one event and no setting: what to do, and who
//! may ask for it.
//!
//! In: the environment. Out: typed inputs, or every mistake at once. Inputs can only tighten what
//! the policy gives.

use std::path::{Path, PathBuf};

use crate::config::environment::Environment;
use crate::config::source::ConfigErrors;
use locum_files::diagnostic::Diagnostic;
use locum_policy::Policy;
use locum_policy::schema::{Forks, Triggers};

/// Name of the bundle in the runner's temporary folder, unless an input names another file.
const BUNDLE_FILE: &str = "locum.bundle";

/// Inputs of the Action about one event. An empty input counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionInputs {
    /// The task, for events that carry none.
    pub prompt: Option<String>,
    /// A file of the trusted ref that holds the task.
    pub prompt_file: Option<String>,
    /// The job to run.
    pub job: Option<String>,
    /// The branch pull requests are made against.
    pub base_branch: Option<String>,
    /// Name of the branch for changes.
    pub branch_template: Option<String>,
    /// The word commands start with.
    pub trigger_phrase: Option<String>,
    /// The label that starts a run.
    pub label_trigger: Option<String>,
    /// Logins that may start runs; empty means everyone the policy lets.
    pub allow_users: Vec<String>,
    /// Bots that may start runs; empty means every one the policy lists.
    pub allow_bots: Vec<String>,
    /// What pull requests from forks may start; `None` leaves it to the policy.
    pub allow_fork: Option<Forks>,
    /// Decide and plan, but neither run nor publish.
    pub dry_run: bool,
    /// The file that what was found is written to, as SARIF.
    pub sarif: Option<String>,
    /// Whether the token is the workflow's own, whose pushes start no other workflow.
    pub is_workflow_token: bool,
    /// The bundle of a run that works in one job and publishes in another.
    pub bundle: Option<BundleInput>,
}

/// The file between the two jobs of a run, and which of both this one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleInput {
    /// What this job does with it.
    pub step: BundleStep,
    /// Its path.
    pub file: PathBuf,
}

/// What a job does with a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleStep {
    /// It works and writes it, and nothing else anywhere.
    Write,
    /// It publishes what is in it.
    Publish,
}

impl ActionInputs {
    /// Reads the inputs.
    ///
    /// # Errors
    /// Every input with a value it cannot have.
    pub fn read(environment: &Environment) -> Result<Self, ConfigErrors> {
        let (inputs, mistakes) = Self::read_with_mistakes(environment);
        if mistakes.is_empty() { Ok(inputs) } else { Err(ConfigErrors(mistakes)) }
    }

    /// Reads the inputs as far as they can be read, and every mistake in the others.
    pub fn read_with_mistakes(environment: &Environment) -> (Self, Vec<Diagnostic>) {
        let text = |name: &str| environment.get(name).map(str::to_owned);
        let mut errors = Vec::new();
        let allow_fork = match environment.get("INPUT_ALLOW_FORK") {
            None => None,
            Some("never") => Some(Forks::Deny),
            Some("review") => Some(Forks::ReadOnly),
            Some(other) => {
                errors.push(wrong("INPUT_ALLOW_FORK", other, "never or review"));
                None
            }
        };
        let dry_run = match environment.get("INPUT_DRY_RUN") {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                errors.push(wrong("INPUT_DRY_RUN", other, "true or false"));
                false
            }
        };
        let allow_bots = logins(environment.get("INPUT_ALLOW_BOTS"));
        if allow_bots.iter().any(|bot| bot.contains('*')) {
            errors.push(wrong("INPUT_ALLOW_BOTS", "*", "names only"));
        }
        let step = match environment.get("INPUT_BUNDLE") {
            None => None,
            Some("write") => Some(BundleStep::Write),
            Some("publish") => Some(BundleStep::Publish),
            Some(other) => {
                errors.push(wrong("INPUT_BUNDLE", other, "write or publish"));
                None
            }
        };
        let file = match environment.get("INPUT_BUNDLE_FILE") {
            Some(file) => PathBuf::from(file),
            None => Path::new(environment.get("RUNNER_TEMP").unwrap_or_default()).join(BUNDLE_FILE),
        };
        let inputs = Self {
            bundle: step.map(|step| BundleInput { step, file }),
            prompt: text("INPUT_PROMPT"),
            prompt_file: text("INPUT_PROMPT_FILE"),
            job: text("INPUT_JOB"),
            base_branch: text("INPUT_BASE_BRANCH"),
            branch_template: text("INPUT_BRANCH_TEMPLATE"),
            trigger_phrase: text("INPUT_TRIGGER_PHRASE"),
            label_trigger: text("INPUT_LABEL_TRIGGER"),
            allow_users: logins(environment.get("INPUT_ALLOW_USERS")),
            allow_bots,
            allow_fork,
            dry_run,
            sarif: text("INPUT_SARIF"),
            is_workflow_token: environment.get("WORKFLOW_TOKEN") == Some("true"),
        };
        (inputs, errors)
    }

    /// Returns a policy with its triggers as these inputs tighten them.
    pub fn applied_to(&self, policy: Policy) -> Policy {
        let triggers = self.tighten(&policy.settings().triggers);
        policy.with_triggers(triggers)
    }

    /// Returns the policy's triggers as these inputs tighten them, with the words of the inputs in
    /// place of its own. What the policy does not start, no input starts.
    fn tighten(&self, triggers: &Triggers) -> Triggers {
        let mut tightened = triggers.clone();
        if let (Some(comment), Some(phrase)) = (&mut tightened.comment, &self.trigger_phrase) {
            comment.prefix.clone_from(phrase);
        }
        if let (Some(label), Some(name)) = (&mut tightened.label, &self.label_trigger) {
            label.name.clone_from(name);
        }
        if !self.allow_bots.is_empty() {
            tightened.bots.retain(|bot| {
                self.allow_bots.iter().any(|allowed| allowed.eq_ignore_ascii_case(bot))
            });
        }
        tightened.forks = match (triggers.forks, self.allow_fork) {
            (Forks::Deny, _) | (_, Some(Forks::Deny)) => Forks::Deny,
            (Forks::ReadOnly, _) | (_, Some(Forks::ReadOnly)) => Forks::ReadOnly,
            (Forks::Contained, _) | (_, Some(Forks::Contained)) => Forks::Contained,
            (Forks::Allow, None | Some(Forks::Allow)) => Forks::Allow,
        };
        tightened
    }

    /// Returns whether this job works for another one that publishes, and writes nothing itself.
    pub fn writes_bundle(&self) -> bool {
        self.bundle.as_ref().is_some_and(|bundle| bundle.step == BundleStep::Write)
    }

    /// Returns whether these inputs say what is to be done.
    pub fn has_task(&self) -> bool {
        self.prompt.is_some() || self.prompt_file.is_some() || self.job.is_some()
    }

    /// Returns true when these inputs let a user start runs.
    pub fn allows_user(&self, login: &str) -> bool {
        self.allow_users.is_empty()
            || self.allow_users.iter().any(|allowed| allowed.eq_ignore_ascii_case(login))
    }
}

fn logins(text: Option<&str>) -> Vec<String> {
    text.unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|login| !login.is_empty())
        .map(str::to_owned)
        .collect()
}

fn wrong(variable: &str, value: &str, wanted: &str) -> Diagnostic {
    Diagnostic::about(variable, format!("cannot be `{value}`")).hint(format!("one of: {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::ActionInputs;
    use crate::config::environment::Environment;
    use locum_policy::schema::{Forks, Triggers};
    use pretty_assertions::assert_eq;

    fn inputs(pairs: &[(&str, &str)]) -> ActionInputs {
        ActionInputs::read(&Environment::from_pairs(pairs.iter().copied())).unwrap()
    }

    #[test]
    fn an_empty_input_is_absent() {
        assert_eq!(
            inputs(&[
                ("INPUT_PROMPT", ""),
                ("INPUT_ALLOW-USERS", " , "),
                ("INPUT_DRY_RUN", "false")
            ]),
            ActionInputs::default()
        );
    }

    #[test]
    fn names_every_input_that_is_wrong() {
        let wrong = Environment::from_pairs([
            ("INPUT_ALLOW_FORK", "always"),
            ("INPUT_DRY_RUN", "yes"),
            ("INPUT_ALLOW_BOTS", "*"),
        ]);
        let places: Vec<String> = ActionInputs::read(&wrong)
            .unwrap_err()
            .0
            .into_iter()
            .map(|error| error.origin)
            .collect();
        assert_eq!(places, ["INPUT_ALLOW_FORK", "INPUT_DRY_RUN", "INPUT_ALLOW_BOTS"]);
    }

    #[test]
    fn inputs_take_away_and_never_give() {
        let triggers = Triggers {
            bots: vec!["a[bot]".into(), "b[bot]".into()],
            forks: Forks::ReadOnly,
            label: None,
            ..Triggers::default()
        };
        let tightened = inputs(&[
            ("INPUT_ALLOW_BOTS", "B[bot], c[bot]"),
            ("INPUT_LABEL_TRIGGER", "go"),
            ("INPUT_ALLOW_FORK", "never"),
        ])
        .tighten(&triggers);
        assert_eq!(
            (tightened.bots, tightened.forks, tightened.label.is_none()),
            (vec!["b[bot]".to_owned()], Forks::Deny, true)
        );
        let review = inputs(&[("INPUT_ALLOW_FORK", "review")]);
        assert_eq!(
            review.tighten(&Triggers { forks: Forks::Deny, ..triggers.clone() }).forks,
            Forks::Deny
        );
        assert_eq!(
            review.tighten(&Triggers { forks: Forks::Allow, ..triggers }).forks,
            Forks::ReadOnly
        );
    }

    #[test]
    fn only_listed_users_where_users_are_listed() {
        let some = inputs(&[("INPUT_ALLOW_USERS", "Alice, bob")]);
        assert_eq!(
            [some.allows_user("alice"), some.allows_user("eve"), inputs(&[]).allows_user("eve")],
            [true, false, true]
        );
    }
}
