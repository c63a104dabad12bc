//! One run of the `git` binary: neutralised configuration, a token in memory, time and output
//! bounded.
#![expect(clippy::disallowed_types, reason = "one of the two owners of child processes")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::git_binary::settings_file::SettingsFile;
use crate::remote::Remote;
use crate::repo::RepoError;
use locum_base::secret::{Redactor, Secret};
use locum_sandbox::ProcessTree;
use locum_sandbox::env::holds_a_secret;
use locum_sandbox::exec::output::BoundedOutput;

/// Wall time of what stays on this machine.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Wall time of a fetch or push.
const NETWORK_TIMEOUT: Duration = Duration::from_secs(600);

/// Bytes of an answer that are taken; a longer one is an error.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// Bytes of messages that are kept.
const MESSAGES_LIMIT_BYTES: usize = 8 * 1024;

/// Variables of the caller that `git` needs to be found and to reach a remote.
const PASSED_ON: [&str; 11] = [
    "PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "HTTPS_PROXY",
    "https_proxy",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// Settings that take away from a repository's configuration whatever starts programs or writes on
/// its own.
const NEUTRAL: [(&str, &str); 11] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.pager", "cat"),
    ("core.attributesFile", "/dev/null"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("http.followRedirects", "false"),
];

/// What git gets of the environment of this program.
#[derive(Clone, Debug)]
pub(super) struct CallerEnv {
    env: BTreeMap<String, String>,
    /// Values that are taken out of what git says.
    secrets: Vec<Secret>,
}

/// One run of the binary.
pub(super) struct GitInvocation<'a> {
    /// What it does, for messages.
    name: &'a str,
    arguments: Vec<OsString>,
    folder: &'a Path,
    remote: Option<&'a Remote>,
    /// A variable besides those of the caller.
    env: Option<(&'a str, String)>,
    timeout: Duration,
}

/// What a run of the binary ended with.
pub(super) struct GitOutput {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// The end of its error stream, redacted; empty after a success.
    pub(super) messages: String,
}

impl CallerEnv {
    /// Takes `PATH` and how to reach the network from the whole environment.
    pub(super) fn of(env: &BTreeMap<String, String>) -> Self {
        let passed = PASSED_ON.iter().filter_map(|name| env.get_key_value(*name));
        let secrets = env.iter().filter(|(name, _)| holds_a_secret(name));
        Self {
            env: passed.map(|(name, value)| (name.clone(), value.clone())).collect(),
            secrets: secrets.map(|(_, value)| Secret::new(value.clone())).collect(),
        }
    }
}

impl<'a> GitInvocation<'a> {
    /// Returns one that talks to a remote.
    pub(super) fn with_remote(
        name: &'a str,
        remote: &'a Remote,
        arguments: Vec<OsString>,
        folder: &'a Path,
    ) -> Self {
        Self { name, arguments, folder, remote: Some(remote), env: None, timeout: NETWORK_TIMEOUT }
    }

    /// Returns one that stays on this machine.
    pub(super) fn local(name: &'a str, arguments: Vec<OsString>, folder: &'a Path) -> Self {
        Self { name, arguments, folder, remote: None, env: None, timeout: LOCAL_TIMEOUT }
    }

    /// Sets one more variable.
    pub(super) fn env(self, name: &'a str, value: String) -> Self {
        Self { env: Some((name, value)), ..self }
    }

    /// Runs it to a successful end.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub(super) async fn succeed(&self, caller: &CallerEnv) -> Result<GitOutput, RepoError> {
        let output = self.run(caller).await?;
        if output.status.success() { Ok(output) } else { Err(failed(self.name, output.message())) }
    }

    /// Runs it to its end, whatever its status.
    ///
    /// # Errors
    /// [`RepoError::Binary`] when it does not start, takes too long or says too much.
    pub(super) async fn run(&self, caller: &CallerEnv) -> Result<GitOutput, RepoError> {
        let failed = |message: String| failed(self.name, message);
        let token = self
            .remote
            .and_then(Remote::authorization)
            .map(|settings| SettingsFile::of(&settings))
            .transpose();
        let token = token
            .map_err(|error| failed(format!("cannot create a file for the token: {error}")))?;
        let mut command = Command::new("git");
        command
            .args(&self.arguments)
            .current_dir(self.folder)
            .env_clear()
            .envs(&caller.env)
            .envs(self.env.as_ref().map(|(name, value)| (name, value)))
            .envs(self.neutral(token.as_ref()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child =
            command.spawn().map_err(|error| failed(format!("cannot start `git`: {error}")))?;
        let token = token.and_then(SettingsFile::started);
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        let mut tree = ProcessTree::of_group(leader);
        let (output, messages) = (child.stdout.take(), child.stderr.take());
        let talk = async { tokio::join!(read_whole(output), read_ends(messages), child.wait()) };
        let ended = tokio::time::timeout(self.timeout, talk).await;
        tree.kill();
        drop(token);
        let (output, messages, status) =
            ended.map_err(|_| failed(format!("no end after {} s", self.timeout.as_secs())))?;
        let output = output
            .ok_or_else(|| failed(format!("more than {ANSWER_LIMIT_BYTES} bytes of output")))?;
        let status = status.map_err(|error| failed(error.to_string()))?;
        // Messages of a success are not needed.
        let messages =
            if status.success() { String::new() } else { self.redacted(&messages, caller) };
        Ok(GitOutput { status, output, messages })
    }

    /// Takes out of what git said whatever a remote, a proxy or a hook may have made it repeat.
    pub(super) fn redacted(&self, messages: &str, caller: &CallerEnv) -> String {
        let token = self.remote.map(Remote::secrets).unwrap_or_default();
        Redactor::new(caller.secrets.iter().cloned().chain(token)).redact(messages)
    }

    /// The part of the environment that makes git neutral, and lets it reach the one remote.
    fn neutral(&self, token: Option<&SettingsFile>) -> BTreeMap<String, String> {
        let own = [("safe.directory".to_owned(), self.folder.display().to_string())];
        let neutral = NEUTRAL.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let token = token.map(|file| ("include.path".to_owned(), file.path()));
        let settings: Vec<(String, String)> = neutral.chain(own).chain(token).collect();
        let protocol = self.remote.map_or("none", Remote::protocol);
        let plain = [
            ("GIT_ALLOW_PROTOCOL", protocol),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("LC_ALL", "C"),
        ];
        let mut env: BTreeMap<String, String> =
            plain.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        env.insert("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
        for (number, (key, value)) in settings.into_iter().enumerate() {
            env.insert(format!("GIT_CONFIG_KEY_{number}"), key);
            env.insert(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        env
    }
}

impl GitOutput {
    /// Returns what it said when it failed.
    pub(super) fn message(&self) -> String {
        let said = self.messages.trim();
        if said.is_empty() { self.status.to_string() } else { said.to_owned() }
    }
}

/// Returns the error of a command that failed.
pub(super) fn failed(command: &str, message: String) -> RepoError {
    RepoError::Binary { command: command.to_owned(), message }
}

/// Reads everything; `None` when it is more than is taken.
async fn read_whole(pipe: Option<impl AsyncRead + Unpin>) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let limit = u64::try_from(ANSWER_LIMIT_BYTES).unwrap_or(u64::MAX);
    // A broken pipe is an end like any other; the status says the rest.
    let _ = pipe?.take(limit.saturating_add(1)).read_to_end(&mut output).await;
    (output.len() <= ANSWER_LIMIT_BYTES).then_some(output)
}

/// Reads everything and keeps both ends of it.
async fn read_ends(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let mut ends = BoundedOutput::new(MESSAGES_LIMIT_BYTES);
    let mut chunk = vec![0; MESSAGES_LIMIT_BYTES];
    if let Some(mut pipe) = pipe {
        while let Some(bytes) = pipe
            .read(&mut chunk)
            .await
            .ok()
            .filter(|count| *count > 0)
            .and_then(|count| chunk.get(..count))
        {
            ends.push(bytes);
        }
    }
    ends.finish().text
}
