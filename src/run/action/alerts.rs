//! Open alerts as what a job is about: read from the forge, given to the model as data.
//!
//! In: the sources that a job names. Out: the alerts as material, or why the job is left out.

use crate::run::action::ActionEnv;
use crate::run::action::declined::Declined;
use crate::run::action::work_items::WorkItem;
use crate::run::error::RunError;
use crate::run::task_material::TaskMaterial;
use locum_base::secret::Redactor;

/// Reads the alerts of a job.
///
/// # Errors
/// When the job is left out since there are none, or the forge does not answer or does not let the
/// token read them.
pub(super) async fn materials(
    env: &ActionEnv<'_>,
    item: &WorkItem,
) -> Result<Vec<TaskMaterial>, Declined> {
    let redactor = Redactor::new(env.environment.secrets());
    let mut materials = Vec::new();
    for source in item.alerts() {
        let name = source.as_str();
        let alerts = env.forge.alerts(*source).await.map_err(|error| {
            RunError::internal(error).hint(
                "code scanning needs `permissions: { security-events: read }`; Dependabot's alerts \
                 need a `github-token` of a GitHub App or a personal one that may read them",
            )
        })?;
        if !alerts.is_empty() {
            materials.push(TaskMaterial {
                what: format!("open {name} alerts"),
                origin: "the forge, in the words of others".to_owned(),
                text: redactor.redact(&alerts.join("\n")),
            });
        }
    }
    if materials.is_empty() && !item.alerts().is_empty() {
        let job = item.job().unwrap_or_default();
        return Err(Declined::Refused(format!("job `{job}` is left out: no alert is open")));
    }
    Ok(materials)
}
