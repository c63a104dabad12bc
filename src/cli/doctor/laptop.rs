//! Why no run can start on this machine.

use crate::cli::doctor::report::DoctorReport;

/// Returns why no run can start on this machine.
pub(super) fn laptop_problems(findings: &DoctorReport) -> Vec<String> {
    let git = findings.git.is_none().then(|| "git is not installed: install it".to_owned());
    // Where there is none at all, a policy can want none.
    let wants_none = findings.sandbox.is_nothing() && findings.commands_run;
    let sandbox = (!findings.sandbox.is_full() && !wants_none).then(|| {
        format!("this machine does not support the whole sandbox: {}", findings.sandbox_missing)
    });
    let commands = (!findings.commands_run && findings.sandbox.is_full())
        .then(|| format!("policy: {}", findings.commands));
    let model = findings.model_problem.clone();
    let silent = findings.probe.as_ref().and_then(|probe| probe.problem.clone());
    let modes = findings.modes_problem.clone();
    let checks = findings.success_problems.iter().cloned();
    [git, sandbox, commands, model, silent, modes].into_iter().flatten().chain(checks).collect()
}
