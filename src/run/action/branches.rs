//! The branch that a run's change would be pushed to, looked at before anything runs: a name that
//! no branch of ours can have is a mistake of the set-up, and costs no model.
//!
//! In: an admitted event and its work. Out: the mistake, with the place that names the branch.

use crate::run::action::ActionEnv;
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::work_items::{self, WorkItem};
use crate::run::error::RunError;
use crate::run::plan::RunSubject;
use crate::run::publish::own_branch::OwnBranchName;
use locum_base::secret::Redactor;
use locum_policy::schema::PublishForm;

/// The input that names the branch for changes.
const BRANCH_TEMPLATE: &str = "INPUT_BRANCH_TEMPLATE";

/// Checks the name of the branch that the change of a run would be pushed to, where it has one of
/// its own.
///
/// # Errors
/// When no branch of ours can have it.
pub(super) fn check_own(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    item: &WorkItem,
) -> Result<(), RunError> {
    let subject = item.subject(admitted);
    let has_own = match subject.publish_form(work_items::forms(admitted, item.mode())) {
        PublishForm::PullRequest => true,
        PublishForm::Commit => !matches!(subject, RunSubject::PullRequest { .. }),
        PublishForm::Review | PublishForm::Comment => false,
    };
    if !has_own || item.check().is_some() {
        return Ok(());
    }
    let policy = &admitted.config.policy;
    let (template, place) = match &env.inputs.branch_template {
        Some(template) => (template, BRANCH_TEMPLATE),
        None => (&policy.settings().publish.branch, policy.origin()),
    };
    let own = OwnBranchName::of(template, &subject, item.task());
    let name = own.as_str();
    let base = work_items::base_branch(env, admitted);
    let refused = if [base.as_str(), &admitted.event.default_branch].contains(&name) {
        Some(format!("the branch for changes would be `{name}`, which they are merged into"))
    } else {
        let checked = own.checked(None, (&base, &Redactor::new([])));
        checked.err().map(|refused| refused.to_string())
    };
    let hint = "begin the name with a word and a slash, and let it hold `{subject}`, such as \
                `locum/{subject}-{slug}`";
    refused.map_or(Ok(()), |refused| Err(RunError::usage(place, refused).hint(hint)))
}
