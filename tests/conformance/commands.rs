//! Judges one command string the way `execute_command` does: parsed, decided under the file's
//! policy, executed from the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use locum_base::path::RepoPath;
use locum_policy::Policy;
use locum_policy::command::{Script, ScriptExecution};
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::exec::{self, CommandRun};
use locum_sandbox::{CommandReach, Sandbox};
use locum_workspace::seed;
use regex::Regex;
use serde_json::json;

use crate::Judged;
use crate::field::Field;

/// A command that may run is ended after this; what never ends is cut there.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Time after which a command was not ended; far above what a loaded machine needs.
const HANG: Duration = Duration::from_secs(30);

/// Bytes of output that are kept of a command.
const OUTPUT_BYTES: usize = 1024;

/// What no command may make.
const CANARY: &str = "PWNED";

/// What is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Allow,
    Deny,
    NoCanary,
    SandboxOnly,
}

/// What else is as good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alternative {
    /// The words themselves are run, with every sign in them.
    Literal,
    /// The command is run and ended in time.
    Killed,
    /// The sandbox refuses: nothing here relies on it, so only a denial will do.
    Sandbox,
}

const EXPECTATIONS: &[(&str, Expect)] = &[
    ("allow", Expect::Allow),
    ("deny", Expect::Deny),
    ("no_canary", Expect::NoCanary),
    ("sandbox_only", Expect::SandboxOnly),
];

const ALTERNATIVES: &[(&str, Alternative)] = &[
    ("argv_exec_literal", Alternative::Literal),
    ("killed_by_limit", Alternative::Killed),
    ("sandbox_denies", Alternative::Sandbox),
];

/// What `expect: allow` cases stand for is a runner with a sandbox; `sandbox_only` cases are tried
/// without one. A command that is allowed where a denial was expected runs in a workspace that was
/// set up for it, and has to leave nothing behind.
pub(crate) fn judge(case: &Field<'_>, file: &Field<'_>) -> Result<Judged, String> {
    let policy = policy_of(file)?;
    let expect = case.at("expect").word(EXPECTATIONS)?;
    let alternative = case.at("alt").given().map(|alt| alt.word(ALTERNATIVES)).transpose()?;
    // Whether another shell was seen to make the canary: known of the case, nothing to ask of the
    // product.
    case.at("bash_effect_observed").given().map_or(Ok(false), |seen| seen.flag())?;
    let workspace = CommandWorkspace::new(&case.at("setup"))?;
    let script = Script::parse_in(case.at("command").text()?, &workspace.folder)
        .below(&workspace.root.path().to_string_lossy());
    let verdict =
        policy.decide(&Intent::Command(script.clone()), &facts(expect != Expect::SandboxOnly));
    let allowed = verdict.decision == Decision::Allow;
    let right = match expect {
        Expect::Allow => allowed,
        Expect::Deny | Expect::SandboxOnly if !allowed => true,
        Expect::Deny | Expect::SandboxOnly => match alternative {
            Some(Alternative::Literal) => {
                matches!(script.execution(), Some(ScriptExecution::Words(_)))
                    && workspace.run(&policy, &script)?.left_nothing
            }
            Some(Alternative::Killed) => workspace.run(&policy, &script)?.in_time,
            Some(Alternative::Sandbox) | None => false,
        },
        Expect::NoCanary => {
            !allowed
                || (starts_no_configured_program(&script)
                    && workspace.run(&policy, &script)?.left_nothing)
        }
    };
    if right {
        return Ok(Judged::Pass);
    }
    let (command, expected) = (case.at("command").text()?, case.at("expect").text()?);
    Ok(Judged::Fail(format!(
        "{command:?}: {expected}, got {:?}: {}",
        verdict.decision,
        verdict.reason()
    )))
}

/// The file's list of commands as a policy; what commands read is allowed as far as it is not
/// protected.
fn policy_of(file: &Field<'_>) -> Result<Policy, String> {
    file.at("shell").word(&[("bash -c", ())])?;
    let rules: Vec<String> = file
        .at("policy")
        .at("allow")
        .texts()?
        .iter()
        .map(|rule| format!("command({rule})"))
        .collect();
    let text = json!({ "version": 1, "rules": [{ "allow": "read(**)" }, { "allow": rules }], "commands": { "max_complexity": 1.0 } });
    Policy::parse(&text.to_string(), "vectors").map_err(|errors| errors.to_string())
}

fn facts(sandboxed: bool) -> Facts {
    Facts { mode: "code".to_owned(), sandboxed, ..Facts::default() }
}

/// A folder made as the steps of a case say.
struct CommandWorkspace {
    root: tempfile::TempDir,
    /// Where in it the command runs.
    folder: RepoPath,
}

/// What a command did.
struct Ran {
    /// It was over, by itself or by its limits, and what it printed was cut.
    in_time: bool,
    /// Every file is there that was there, and no other.
    left_nothing: bool,
}

impl CommandWorkspace {
    fn new(setup: &Field<'_>) -> Result<Self, String> {
        let root = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut workspace = Self { root, folder: RepoPath::root() };
        for step in setup.given().map_or(Ok(Vec::new()), |setup| setup.texts())? {
            workspace
                .step(step)
                .map_err(|error| format!("the step `{step}` cannot be expressed: {error}"))?;
        }
        Ok(workspace)
    }

    /// Does a step, which is written for people.
    fn step(&mut self, text: &str) -> Result<(), String> {
        let read = |pattern: &str| {
            let found = Regex::new(pattern).ok()?.captures(text)?;
            Some(
                found
                    .iter()
                    .skip(1)
                    .flatten()
                    .map(|part| part.as_str().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let done = if let Some([name]) = read("^mkfifo (\\S+)$").as_deref() {
            let at = self.root.path().join(name);
            rustix::fs::mkfifoat(rustix::fs::CWD, at, rustix::fs::Mode::from(0o600))
                .map_err(io::Error::from)
        } else if let Some([name]) = read("^mkdir -- '([^']+)'$").as_deref() {
            std::fs::create_dir(self.root.path().join(name))
        } else if let Some([name]) =
            read("^create file '([^']+)' in the workspace root$").as_deref()
        {
            self.write(name, "")
        } else if let Some([name]) =
            read("^create executable '([^']+)' that touches PWNED$").as_deref()
        {
            self.executable(name)
        } else if let Some([file, key]) =
            read("^PR head carries (\\.cargo/config\\.toml) with ([a-z.-]+)$").as_deref()
        {
            self.executable("x.sh")
                .and_then(|()| self.write(file, &format!("{key} = \"./x.sh\"\n")))
        } else if let Some([file, setting]) =
            read("^PR head carries (\\.npmrc) with ([a-z-]+=\\S+)$").as_deref()
        {
            self.executable("x.sh").and_then(|()| self.write(file, &format!("{setting}\n")))
        } else if let Some([name]) =
            read("^agent adds scripts\\.([a-z]+) to package\\.json$").as_deref()
        {
            self.write(
                "package.json",
                &json!({ "scripts": { name: format!("touch {CANARY}"), "test": "true" } })
                    .to_string(),
            )
        } else if let Some([lines]) = read("^append '([^']+)' to \\.git/config$").as_deref() {
            repository(self.root.path(), &lines.replace("\\n", "\n").replace("\\t", "\t"))
        } else if let Some([folder]) =
            read("^set the tool's working directory to (\\S+)/$").as_deref()
        {
            self.folder = RepoPath::parse(folder).map_err(|error| error.to_string())?;
            std::fs::create_dir_all(self.root.path().join(folder))
        } else if let Some([folder, section, key, value]) = read(
            "^(\\S+)/ is itself a git repository whose \\.git/config has ([a-z]+)\\.([a-z]+) = \
             (.+)$",
        )
        .as_deref()
        {
            repository(&self.root.path().join(folder), &format!("[{section}]\n\t{key} = {value}\n"))
        } else {
            return Err("it is not known".to_owned());
        };
        done.map_err(|error| error.to_string())
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let at = self.root.path().join(name);
        std::fs::create_dir_all(at.parent().unwrap_or(self.root.path()))?;
        std::fs::write(at, text)
    }

    fn executable(&self, name: &str) -> io::Result<()> {
        self.write(name, &format!("#!/bin/sh\ntouch {CANARY}\n"))?;
        std::fs::set_permissions(self.root.path().join(name), PermissionsExt::from_mode(0o755))
    }

    /// Runs a command that is allowed, without a sandbox around it.
    fn run(&self, policy: &Policy, script: &Script) -> Result<Ran, String> {
        let permit = policy
            .admit(OneCommand(script.clone()), &facts(true))
            .map_err(|refusal| refusal.to_string())?;
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let (sandbox, root) = (Sandbox::around_nothing(), self.root.path());
        let before = tree(root).map_err(|error| error.to_string())?;
        let run = CommandRun {
            tail: None,
            script,
            folder: root.join(self.folder.as_str()),
            env: &env,
            timeout: TIMEOUT,
            output_bytes: OUTPUT_BYTES,
            redactor: &locum_base::secret::Redactor::default(),
            sandbox: &sandbox,
            reach: CommandReach::open(root),
            proxy: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let output =
            runtime.block_on(async { tokio::time::timeout(HANG, exec::run(&permit, run)).await });
        let after = tree(root).map_err(|error| error.to_string())?;
        let in_time =
            matches!(&output, Ok(Ok(output)) if output.output.text.len() < 4 * OUTPUT_BYTES);
        // A program that is not there leaves nothing either.
        Ok(Ran { in_time, left_nothing: output.is_ok() && before == after })
    }
}

/// Makes a repository with these lines at the end of its settings.
fn repository(folder: &Path, settings: &str) -> io::Result<()> {
    seed::repository(folder, &[("a.txt", "a\n")], "first").map_err(io::Error::other)?;
    std::fs::write(folder.join("a.txt"), "b\n")?;
    let mut config = std::fs::OpenOptions::new().append(true).open(folder.join(".git/config"))?;
    io::Write::write_all(&mut config, settings.as_bytes())
}

/// Every name below a folder, but for what git keeps for itself.
fn tree(root: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.file_name() != ".git" {
                folders.push(entry.path());
            }
            found.insert(entry.path());
        }
    }
    Ok(found)
}

struct OneCommand(Script);

impl Act for OneCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

fn starts_no_configured_program(script: &Script) -> bool {
    match script.execution() {
        Some(ScriptExecution::Words(words)) => {
            ["core.fsmonitor=false", "core.pager=cat", "--no-pager"]
                .iter()
                .all(|wanted| words.iter().any(|word| word == wanted))
        }
        Some(ScriptExecution::Shell(_)) | None => false,
    }
}
