//! The check `policy`: what a pull request changes of Locum's own files is examined, and shown as a
//! check run at the lines of its mistakes. No model is asked, and nothing of it is obeyed.
//!
//! In: an admitted pull request. Out: how the check ended, and one posting under the trusted
//! policy.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::{ActionEnd, ActionEnv, CheckMaker, FinishedCheck, refs};
use crate::run::error::RunError;
use crate::run::policy_check::{self, PolicyExamination};
use crate::run::publish::check_run::why_not_shown;
use crate::run::source::FileSource;
use crate::run::trusted::ConfigOrigin;
use crate::run::user::UserFolder;
use locum_agent::report::figures;
use locum_agent::report::markdown::{code, inline};
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_files::diagnostic::Diagnostic;
use locum_forge::posts::{CheckAnnotation, CheckConclusion, CheckLevel, CheckRun, Posting};
use locum_forge::sanitise::{self, TextRules};
use locum_policy::schema::events::POLICY_CHECK;

/// The name of the check run.
const NAME: &str = "locum policy check";

/// Most findings that the summary lists.
const LISTED_LIMIT: usize = 100;

/// Makes the check where it is requested and the pull request changes files of Locum's own.
///
/// # Errors
/// When commits cannot be fetched or the machine fails.
pub(super) async fn check(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    changed: &[String],
) -> Result<Option<ActionEnd>, RunError> {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let Some(pull_request) = &event.pull_request else { return Ok(None) };
    if !request.checks.names.iter().any(|name| name == POLICY_CHECK) {
        return Ok(None);
    }
    if !changed.iter().any(|path| policy_check::is_own_file(path, &config.settings)) {
        return Ok(None);
    }
    let head = refs::fetch_head(env, pull_request, 1).await?;
    let source = FileSource::Commit(&env.workspace.repo, head.clone());
    let origin = ConfigOrigin { source, user: UserFolder::default(), environment: env.environment };
    let found = policy_check::examine(&origin, &config.settings)?;
    let prefix = config.policy.settings().triggers.prefix().to_owned();
    let rules = TextRules { prefix, ..TextRules::default() };
    let redactor = Redactor::new(env.environment.secrets());
    let clean = |text: &str| sanitise::markdown(text, &rules, &redactor);
    let (conclusion, title) = (conclusion(&found), title(&found));
    let annotations = annotations(&found).into_iter().map(|annotation| CheckAnnotation {
        message: annotation.message.as_deref().map(clean),
        ..annotation
    });
    let posting = Posting::CheckRun(CheckRun {
        commit: head.0,
        name: NAME.to_owned(),
        conclusion,
        title: sanitise::title(&title, &rules, &redactor),
        summary: clean(&summary(&found, &title)),
        annotations: annotations.collect(),
        details_url: env.job.run_url(),
    });
    let unpublished = if env.inputs.dry_run {
        Some("it is a dry run".to_owned())
    } else if env.inputs.writes_bundle() {
        Some("a bundle is written".to_owned())
    } else {
        let posted = env.poster(&config.policy, &request.facts).post(posting).await;
        posted.err().as_ref().map(why_not_shown)
    };
    Ok(Some(ActionEnd::Checked(FinishedCheck {
        name: NAME.to_owned(),
        by: CheckMaker::Program,
        conclusion,
        title,
        details: lines(&found).join("\n"),
        unpublished,
    })))
}

fn conclusion(found: &PolicyExamination) -> CheckConclusion {
    match (found.mistakes.is_empty(), found.has_policy) {
        (false, _) => CheckConclusion::Failure,
        (true, true) => CheckConclusion::Success,
        (true, false) => CheckConclusion::Neutral,
    }
}

fn title(found: &PolicyExamination) -> String {
    let warnings = figures::count(found.warnings.len(), "warning");
    match (found.mistakes.len(), found.has_policy) {
        (0, false) => "there is no policy: events start nothing".to_owned(),
        (0, true) if found.warnings.is_empty() => "ok".to_owned(),
        (0, true) => format!("ok, {warnings}"),
        (count, _) => format!("{}, {warnings}", figures::count(count, "mistake")),
    }
}

/// Returns one line for each finding, mistakes first.
fn lines(found: &PolicyExamination) -> Vec<String> {
    let hint = |mistake: &Diagnostic| mistake.hint.as_ref().map(|hint| format!("; hint: {hint}"));
    let mistakes = found
        .mistakes
        .iter()
        .map(|one| format!("error: {}{}", one.headline(), hint(one).unwrap_or_default()));
    let warnings =
        found.warnings.iter().map(|one| format!("warning: {}: {}", one.rule.place(), one.message));
    mistakes.chain(warnings).collect()
}

fn summary(found: &PolicyExamination, title: &str) -> String {
    let lines = lines(found);
    let mut text = format!("{}: {}.\n", code("locum policy check"), inline(title));
    for line in lines.iter().take(LISTED_LIMIT) {
        text.push_str(&format!("\n- {}", inline(line)));
    }
    if let Some(more) = lines.len().checked_sub(LISTED_LIMIT).filter(|more| *more > 0) {
        text.push_str(&format!("\n- {more} more are not listed"));
    }
    text.push_str(
        "\n\nWhat judges this pull request is the policy of its base. The one it brings counts \
         once it is merged.",
    );
    text
}

fn annotations(found: &PolicyExamination) -> Vec<CheckAnnotation> {
    let annotation = |(path, line): (&str, u32), level, message: String| {
        let path = RepoPath::parse(path).ok()?.to_string();
        let line = line.max(1);
        let (title, message) = (Some(NAME.to_owned()), Some(message));
        Some(CheckAnnotation { path, first: line, last: line, level, title, message })
    };
    let mistakes = found.mistakes.iter().filter_map(|one| {
        let hint = one.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        let message = format!("{}{hint}", one.message);
        annotation((&one.origin, one.place.line), CheckLevel::Failure, message)
    });
    let warnings = found.warnings.iter().filter_map(|one| {
        annotation(
            (&one.rule.origin, one.rule.line_number()),
            CheckLevel::Warning,
            one.message.clone(),
        )
    });
    mistakes.chain(warnings).collect()
}
