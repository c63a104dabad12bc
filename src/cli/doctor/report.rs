//! What `locum doctor` found, and how it is shown.

use serde::Serialize;
use serde_json::Value;

use crate::cli::browser_row::BrowserFinding;
use crate::cli::mcp::ServerRow;
use crate::cli::models::ModelRow;
use crate::cli::models_test::ModelProbe;
use crate::cli::sandbox_rows;
use crate::run::error::RunError;
use locum_files::diagnostic::Diagnostic;
use locum_sandbox::level::SandboxLevel;

/// Result of every check.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DoctorReport {
    pub(super) version: &'static str,
    pub(super) sandbox: SandboxLevel,
    /// What the kernel does not give; empty when it gives everything.
    pub(super) sandbox_missing: String,
    /// Why commands get no namespaces of their own.
    pub(super) namespaces_refused: Option<String>,
    /// What is weaker for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) weaker: Vec<String>,
    pub(super) git: Option<String>,
    pub(super) browser: BrowserFinding,
    /// Label of the root task's model.
    pub(super) model: Option<String>,
    pub(super) model_has_key: bool,
    /// Why no model can be used.
    pub(super) model_problem: Option<String>,
    /// The models that pointers lead to, and those that stand in for them.
    pub(super) models: Vec<ModelRow>,
    /// The MCP servers of the repository and the user, and whether a run may start them.
    pub(super) servers: Vec<ServerRow>,
    /// Why it cannot be said which servers there are.
    pub(super) servers_problem: Option<String>,
    /// Every mistake of the settings; those that cannot be read count as not set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) settings_problems: Vec<String>,
    /// Where sessions are kept; `None` where no setting and no variable says it.
    pub(super) sessions: Option<String>,
    /// The policy that judges runs here, or that it has mistakes.
    pub(super) policy: String,
    /// Where the working tree differs from what a run reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uncommitted: Option<String>,
    /// What becomes of commands under it on this machine.
    pub(super) commands: String,
    /// Whether it lets commands run at all here.
    pub(super) commands_run: bool,
    /// What the model answered, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) probe: Option<ModelProbe>,
    /// Why modes cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) modes_problem: Option<String>,
    /// Programs that the policy allows and that are not installed.
    pub(super) missing_programs: Vec<String>,
    /// Programs that the policy allows and that a build or an install step makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unbuilt_programs: Vec<String>,
    /// What to look at in the repository, although runs can start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// Success commands that cannot run here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) success_problems: Vec<String>,
    /// How the success commands end here, where they were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<Value>,
    /// Why no run can start on this machine; empty when one can.
    pub(super) laptop: Vec<String>,
    /// Why the Action cannot start runs in this repository; empty when it can.
    pub(super) action: Vec<String>,
    /// Programs whose tool chain commands see in part, and what they do not see of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) half_visible: Vec<HalfVisible>,
}

/// A program on `PATH` whose tool chain commands see in part.
#[derive(Clone, Debug, Serialize)]
pub(super) struct HalfVisible {
    pub(super) program: &'static str,
    /// A file or folder of it that they do not see.
    pub(super) hidden: String,
}

/// Says that mode files have mistakes: the first, and where the others are listed.
pub(super) fn broken_modes(error: &RunError) -> String {
    let first = error.diagnostics.first().map(Diagnostic::headline).unwrap_or_default();
    format!("{first}: `locum modes validate` lists every mistake")
}

/// Returns the rows of the table.
pub(super) fn rows(findings: &DoctorReport) -> Vec<[String; 3]> {
    let row = sandbox_rows::row;
    let refused = findings.namespaces_refused.as_deref();
    let mut rows = vec![row("locum", findings.version, "")];
    rows.extend(sandbox_rows::rows(findings.sandbox, refused));
    rows.extend(findings.weaker.iter().map(|what| row("", "weaker", what)));
    rows.push(row("git", findings.git.as_deref().unwrap_or("not found"), ""));
    rows.extend(findings.settings_problems.iter().map(|what| row("settings", "mistake", what)));
    rows.push(findings.browser.row());
    rows.extend(findings.models.iter().map(|model| row("model", &model.name, &described(model))));
    rows.extend(findings.model_problem.as_ref().map(|problem| row("model", "none", problem)));
    let server = |server: &ServerRow| {
        row("MCP server", server.state, &format!("{}: {}", server.name, server.about()))
    };
    rows.extend(findings.servers.iter().map(server));
    rows.extend(
        findings.servers_problem.as_ref().map(|problem| row("MCP servers", "unknown", problem)),
    );
    rows.extend([
        row("sessions", findings.sessions.as_deref().unwrap_or("nowhere"), ""),
        row("policy", &findings.policy, findings.uncommitted.as_deref().unwrap_or_default()),
        row(
            "commands",
            if findings.commands_run { "allowed" } else { "refused" },
            &findings.commands,
        ),
    ]);
    let in_part = |found: &HalfVisible| {
        let more = format!("{}: commands do not see {}", found.program, found.hidden);
        row("tool chain", "half visible", &more)
    };
    rows.extend(findings.half_visible.iter().map(in_part));
    for (programs, state, what) in [
        (&findings.missing_programs, "missing", "the policy allows them; install what you use"),
        (&findings.unbuilt_programs, "not built", "a build or an install step makes them"),
    ] {
        if !programs.is_empty() {
            rows.push(row("programs", state, &format!("{}: {what}", programs.join(", "))));
        }
    }
    rows.extend(findings.notes.iter().map(|note| row("repository", "note", note)));
    rows.extend(findings.probe.iter().flat_map(|probe| {
        let state = if probe.answered { "answered" } else { "no answer" };
        probe.lines().into_iter().map(move |line| row("probe", state, &line))
    }));
    for (place, problems) in [("laptop", &findings.laptop), ("Action", &findings.action)] {
        let of_model = |problem: &&String| Some(*problem) == findings.model_problem.as_ref();
        let in_short = |problem| if of_model(&problem) { "no model: see above" } else { problem };
        rows.extend(problems.iter().map(|problem| row(place, "not ready", in_short(problem))));
        if problems.is_empty() {
            rows.push(row(place, "ready", ""));
        }
    }
    rows
}

/// Returns what a model is used for, what it is and whether there is a key for it; never the key.
fn described(model: &ModelRow) -> String {
    let key = match (&model.api_key_env, model.has_key) {
        (Some(variable), true) => format!("API key set ({variable})"),
        (None, true) => "API key set".to_owned(),
        (_, false) => "no API key".to_owned(),
    };
    let place = model.base_url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
    let notes: String = model.notes.iter().map(|note| format!("; {note}")).collect();
    format!(
        "{}: {}{place} ({}); {key}{notes}",
        model.used_for.join(", "),
        model.model,
        model.provider
    )
}
