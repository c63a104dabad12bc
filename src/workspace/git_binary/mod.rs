//! The `git` binary, for what libgit2 cannot do or does slowly: status, fetch, clone and push.
//!
//! In: where, and a remote with its token. Out: what changed in the checkout; refs fetched or
//! pushed, or why not. It always runs with neutralised configuration: no system or user settings,
//! no hook, monitor, pager, filter or credential helper of the repository starts, no prompt waits.
//! A token is handed over in memory that only git has open: it is no argument, no variable and no
//! file. What git says is redacted. Time and output are bounded.
#![expect(clippy::disallowed_types, reason = "one of the two owners of child processes")]
#![expect(
    clippy::disallowed_methods,
    reason = "the empty repository that is pushed from is made here"
)]

pub use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::carried::{SESSION_REFS, SPENT_REF};
use crate::remote::Remote;
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::secret::{Redactor, Secret};
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent, Publication};
use locum_sandbox::env::holds_a_secret;
use locum_sandbox::exec::output::BothEnds;
use locum_sandbox::exec::tree::{Mark, Tree};

/// Wall time of a look at the checkout.
const STATUS_TIMEOUT: Duration = Duration::from_secs(120);

/// Wall time of a fetch, clone or push.
const NETWORK_TIMEOUT: Duration = Duration::from_secs(600);

/// Bytes of an answer that are taken; a longer one is an error.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// Bytes of messages that are kept.
const MESSAGES_LIMIT_BYTES: usize = 8 * 1024;

/// The tree without entries, of which attributes are read: none, so that no filter of the
/// repository runs.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

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

/// The `git` binary at work in one checkout.
#[derive(Clone, Debug)]
pub struct GitBinary {
    folder: PathBuf,
    common: PathBuf,
    env: BTreeMap<String, String>,
    secrets: Vec<Secret>,
}

/// How much of a history is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All of it.
    Full,
    /// This many commits.
    Commits(u32),
}

struct Answer {
    status: ExitStatus,
    output: Vec<u8>,
    messages: String,
}

/// One use of the binary.
struct Use<'a> {
    name: &'a str,
    arguments: Vec<OsString>,
    folder: &'a Path,
    remote: Option<&'a Remote>,
    timeout: Duration,
}

impl GitBinary {
    /// Prepares the binary for a checkout; of `env`, the whole environment, it takes `PATH` and how
    /// to reach the network.
    #[must_use]
    pub fn new(repo: &Repo, env: &BTreeMap<String, String>) -> Self {
        Self {
            folder: repo.root().to_owned(),
            common: repo.git.commondir().to_owned(),
            env: passed_on(env),
            secrets: secrets_in(env),
        }
    }

    /// Clones a remote into a folder, which must be empty or missing, without submodules and
    /// templates.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn clone_remote(
        remote: &Remote,
        folder: &Path,
        depth: Depth,
        env: &BTreeMap<String, String>,
    ) -> Result<(), RepoError> {
        let mut arguments = words(&["clone", "--quiet", "--template=", "--no-recurse-submodules"]);
        arguments.extend(depth.argument());
        arguments.extend(words(&["--", remote.url()]));
        arguments.push(folder.as_os_str().to_owned());
        let above = folder.parent().unwrap_or(folder);
        let clone = Use {
            name: "clone",
            arguments,
            folder: above,
            remote: Some(remote),
            timeout: NETWORK_TIMEOUT,
        };
        clone.succeed(passed_on(env), &secrets_in(env)).await.map(drop)
    }

    /// Returns what `git status` says in its second porcelain format, entries closed by NUL: the
    /// commit, changed and untracked files one by one, ignored ones and insides of submodules not.
    /// The index is not written.
    ///
    /// # Errors
    /// When git fails, takes too long or has more to say than is taken.
    pub async fn status(&self) -> Result<Vec<u8>, RepoError> {
        let arguments = [
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--ignored=no",
            "--ignore-submodules=all",
            "--no-renames",
        ];
        let arguments = words(&arguments);
        let status = Use {
            name: "status",
            arguments,
            folder: &self.folder,
            remote: None,
            timeout: STATUS_TIMEOUT,
        };
        let env = BTreeMap::from([("GIT_ATTR_SOURCE".to_owned(), EMPTY_TREE.to_owned())]);
        status
            .succeed(self.env.clone().into_iter().chain(env).collect(), &self.secrets)
            .await
            .map(|answer| answer.output)
    }

    /// Fetches what a refspec names (`+refs/pull/7/head:refs/locum/pull/7`); tags and `FETCH_HEAD`
    /// are left alone.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn fetch(
        &self,
        remote: &Remote,
        refspec: &str,
        depth: Depth,
    ) -> Result<(), RepoError> {
        let mut arguments = words(&[
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
        ]);
        arguments.extend(depth.argument());
        arguments.extend(words(&["--", remote.url(), refspec]));
        let fetch = Use {
            name: "fetch",
            arguments,
            folder: &self.folder,
            remote: Some(remote),
            timeout: NETWORK_TIMEOUT,
        };
        fetch.succeed(self.env.clone(), &self.secrets).await.map(drop)
    }

    /// Returns the sessions that are carried at a remote, each with its commit.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn sessions(&self, remote: &Remote) -> Result<Vec<(String, CommitId)>, RepoError> {
        let listed = self.list(remote, &format!("{SESSION_REFS}*")).await?;
        Ok(listed
            .into_iter()
            .filter_map(|(name, commit)| {
                Some((name.strip_prefix(SESSION_REFS)?.to_owned(), commit))
            })
            .collect())
    }

    /// Returns the commit at a remote that keeps count of what runs spent together; `None` before
    /// the first one.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn spent(&self, remote: &Remote) -> Result<Option<CommitId>, RepoError> {
        let listed = self.list(remote, SPENT_REF).await?;
        Ok(listed.into_iter().find_map(|(name, commit)| (name == SPENT_REF).then_some(commit)))
    }

    async fn list(
        &self,
        remote: &Remote,
        pattern: &str,
    ) -> Result<Vec<(String, CommitId)>, RepoError> {
        let mut arguments = words(&["ls-remote", "--quiet", "--refs", "--", remote.url()]);
        arguments.push(pattern.into());
        let list = Use {
            name: "ls-remote",
            arguments,
            folder: &self.folder,
            remote: Some(remote),
            timeout: NETWORK_TIMEOUT,
        };
        let answer = list.succeed(self.env.clone(), &self.secrets).await?;
        let line = |line: &str| {
            let (commit, name) = line.split_once('\t')?;
            Some((name.to_owned(), CommitId(commit.to_owned())))
        };
        Ok(String::from_utf8_lossy(&answer.output).lines().filter_map(line).collect())
    }

    /// Pushes a commit to a branch of the remote. Never with force: a branch that moved meanwhile
    /// is a refusal.
    ///
    /// It is pushed from an empty repository that borrows this one's objects, so that nothing a
    /// command may have put into the repository's configuration (another address, a proxy, trust in
    /// any certificate) sees the token.
    ///
    /// # Errors
    /// [`RepoError::NotPermitted`], [`RepoError::BadName`], [`RepoError::PushRefused`] when the
    /// remote says no (the branch moved, a hook or a rule declined, the token may not),
    /// [`RepoError::Binary`] for everything else.
    pub async fn push(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        commit: &CommitId,
        branch: &str,
    ) -> Result<(), RepoError> {
        if !permit.covers(&Intent::Publish(Publication::Commit)) {
            return Err(RepoError::NotPermitted);
        }
        self.push_permitted(remote, commit, branch).await
    }

    async fn push_permitted(
        &self,
        remote: &Remote,
        commit: &CommitId,
        branch: &str,
    ) -> Result<(), RepoError> {
        if !git2::Branch::name_is_valid(branch)? || branch == "HEAD" {
            return Err(RepoError::BadName(branch.to_owned()));
        }
        if git2::Oid::from_str(&commit.0).is_err() {
            return Err(RepoError::NoRevision(commit.0.clone()));
        }
        self.push_refspec(remote, &format!("{commit}:refs/heads/{branch}"), None).await
    }

    /// Moves the ref of a carried session at the remote from one commit to another, `None` standing
    /// for no ref: at once, or not at all when it is not where it was looked at.
    ///
    /// # Errors
    /// As [`GitBinary::push`]; [`RepoError::NotPermitted`] when the permit is not for commenting,
    /// to which such a ref belongs.
    pub async fn push_session(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        session: &str,
        (from, to): (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        self.push_private(permit, remote, &format!("{SESSION_REFS}{session}"), (from, to)).await
    }

    /// Moves the ref that keeps count of what runs spent together, as [`GitBinary::push_session`]
    /// does.
    ///
    /// # Errors
    /// As there.
    pub async fn push_spent(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        (from, to): (Option<&CommitId>, &CommitId),
    ) -> Result<(), RepoError> {
        self.push_private(permit, remote, SPENT_REF, (from, Some(to))).await
    }

    async fn push_private(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        name: &str,
        (from, to): (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        if !permit.covers(&Intent::Publish(Publication::Comment)) {
            return Err(RepoError::NotPermitted);
        }
        if !git2::Reference::is_valid_name(name) {
            return Err(RepoError::BadName(name.to_owned()));
        }
        let text =
            |commit: Option<&CommitId>| commit.map_or_else(String::new, |commit| commit.0.clone());
        let lease = format!("--force-with-lease={name}:{}", text(from));
        self.push_refspec(remote, &format!("{}:{name}", text(to)), Some(&lease)).await
    }

    async fn push_refspec(
        &self,
        remote: &Remote,
        refspec: &str,
        lease: Option<&str>,
    ) -> Result<(), RepoError> {
        let flags = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--no-signed",
        ];
        let mut arguments = words(&flags);
        arguments.extend(lease.map(OsString::from));
        arguments.extend(words(&["--", remote.url(), refspec]));
        let borrowed = self
            .borrow_objects()
            .map_err(|error| failed("push", format!("no room to push from: {error}")))?;
        let mut env = self.env.clone();
        env.insert("GIT_DIR".to_owned(), borrowed.path().display().to_string());
        let push = Use {
            name: "push",
            arguments,
            folder: borrowed.path(),
            remote: Some(remote),
            timeout: NETWORK_TIMEOUT,
        };
        let answer = push.run(env, &self.secrets).await?;
        if answer.status.success() {
            return Ok(());
        }
        let said = push.redacted(&String::from_utf8_lossy(&answer.output), &self.secrets);
        match refusal(&said, &answer.messages) {
            Some(reason) => Err(RepoError::PushRefused(reason)),
            None => Err(failed("push", answer.told())),
        }
    }

    /// Makes an empty repository that reads this one's objects and knows where its history was cut.
    fn borrow_objects(&self) -> std::io::Result<TempDir> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("refs"))?;
        fs::create_dir_all(at("objects/info"))?;
        fs::write(at("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(at("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")?;
        fs::write(
            at("objects/info/alternates"),
            [self.common.join("objects").as_os_str().as_bytes(), b"\n"].concat(),
        )?;
        match fs::copy(self.common.join("shallow"), at("shallow")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(folder),
        }
    }
}

/// Returns what the binary says its version is.
///
/// # Errors
/// When there is no such program or it fails.
pub async fn version(folder: &Path, env: &BTreeMap<String, String>) -> Result<String, RepoError> {
    let ask = Use {
        name: "ask for the version",
        arguments: vec!["--version".into()],
        folder,
        remote: None,
        timeout: STATUS_TIMEOUT,
    };
    let answer = ask.succeed(passed_on(env), &[]).await?;
    Ok(String::from_utf8_lossy(&answer.output).trim().trim_start_matches("git version ").to_owned())
}

impl Use<'_> {
    async fn succeed(
        &self,
        env: BTreeMap<String, String>,
        secrets: &[Secret],
    ) -> Result<Answer, RepoError> {
        let answer = self.run(env, secrets).await?;
        if answer.status.success() { Ok(answer) } else { Err(failed(self.name, answer.told())) }
    }

    async fn run(
        &self,
        env: BTreeMap<String, String>,
        secrets: &[Secret],
    ) -> Result<Answer, RepoError> {
        let failed = |message: String| failed(self.name, message);
        let token = self
            .remote
            .and_then(Remote::authorization)
            .map(|settings| in_memory(&settings))
            .transpose();
        let token = token
            .map_err(|error| failed(format!("no memory to hand the token over in: {error}")))?;
        let mut command = Command::new("git");
        command
            .args(&self.arguments)
            .current_dir(self.folder)
            .env_clear()
            .envs(env)
            .envs(self.neutral(token.as_ref()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child =
            command.spawn().map_err(|error| failed(format!("`git` does not start: {error}")))?;
        // Nothing else is started while it is open: a child started later does not get it.
        drop(token);
        let mut tree =
            Tree::of(child.id().and_then(|id| i32::try_from(id).ok()), Mark::fresh(), None);
        let (output, messages) = (child.stdout.take(), child.stderr.take());
        let talk = async { tokio::join!(read_whole(output), read_ends(messages), child.wait()) };
        let ended = tokio::time::timeout(self.timeout, talk).await;
        tree.kill();
        let (output, messages, status) =
            ended.map_err(|_| failed(format!("no end after {} s", self.timeout.as_secs())))?;
        let output = output
            .ok_or_else(|| failed(format!("more than {ANSWER_LIMIT_BYTES} bytes of output")))?;
        let status = status.map_err(|error| failed(error.to_string()))?;
        // Messages of a success are read by nobody.
        let messages =
            if status.success() { String::new() } else { self.redacted(&messages, secrets) };
        Ok(Answer { status, output, messages })
    }

    /// Takes out of what git said whatever a remote, a proxy or a hook may have made it repeat.
    fn redacted(&self, messages: &str, secrets: &[Secret]) -> String {
        let token = self.remote.map(Remote::secrets).unwrap_or_default();
        Redactor::new(secrets.iter().cloned().chain(token)).redact(messages)
    }

    /// The part of the environment that makes git neutral, and lets it reach the one remote.
    fn neutral(&self, token: Option<&fs::File>) -> BTreeMap<String, String> {
        let own = [("safe.directory".to_owned(), self.folder.display().to_string())];
        let neutral = NEUTRAL.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let token = token
            .map(|file| ("include.path".to_owned(), format!("/proc/self/fd/{}", file.as_raw_fd())));
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

impl Answer {
    /// Returns what it said when it failed.
    fn told(&self) -> String {
        let said = self.messages.trim();
        if said.is_empty() { self.status.to_string() } else { said.to_owned() }
    }
}

impl Depth {
    fn argument(self) -> Option<OsString> {
        match self {
            Self::Full => None,
            Self::Commits(count) => Some(format!("--depth={count}").into()),
        }
    }
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn passed_on(env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let passed = PASSED_ON.iter().filter_map(|name| env.get_key_value(*name));
    passed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Puts a text into memory that children started while it is open can read as a file.
fn in_memory(text: &str) -> std::io::Result<fs::File> {
    let mut file =
        fs::File::from(rustix::fs::memfd_create(c"settings", rustix::fs::MemfdFlags::empty())?);
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn secrets_in(env: &BTreeMap<String, String>) -> Vec<Secret> {
    env.iter()
        .filter(|(name, _)| holds_a_secret(name))
        .map(|(_, value)| Secret::new(value.clone()))
        .collect()
}

fn failed(command: &str, message: String) -> RepoError {
    RepoError::Binary { command: command.to_owned(), message }
}

/// Returns why the remote said no, from the porcelain lines of a push and what was said beside
/// them; `None` when it never came to an answer.
fn refusal(porcelain: &str, messages: &str) -> Option<String> {
    let said: Vec<&str> =
        messages.lines().filter_map(|line| line.strip_prefix("remote: ")).map(str::trim).collect();
    let said = said.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let rejected = porcelain.lines().find_map(|line| line.strip_prefix("!\t"));
    if let Some(rejected) = rejected {
        let reason = rejected.rsplit('\t').next().unwrap_or(rejected);
        let reason = reason
            .rsplit_once('(')
            .and_then(|(_, reason)| reason.strip_suffix(')'))
            .unwrap_or(reason);
        let reason = match reason {
            "fetch first" | "non-fast-forward" => {
                "the branch has commits this one does not build on"
            }
            reason => reason,
        };
        return Some(if said.is_empty() { reason.to_owned() } else { format!("{reason}: {said}") });
    }
    let lower = messages.to_ascii_lowercase();
    let no_entry = [
        "authentication failed",
        "could not read username",
        "invalid credentials",
        "error: 401",
        "error: 403",
    ];
    no_entry.iter().any(|sign| lower.contains(sign)).then(|| {
        let last = messages.trim().lines().last().unwrap_or_default();
        format!("the token is missing, wrong or not allowed to write there: {last}")
    })
}

/// Reads everything; `None` when it is more than is taken.
async fn read_whole(pipe: Option<impl AsyncRead + Unpin>) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let limit = u64::try_from(ANSWER_LIMIT_BYTES).unwrap_or(u64::MAX);
    // A broken pipe is an end like any other; the status tells the rest.
    let _ = pipe?.take(limit.saturating_add(1)).read_to_end(&mut output).await;
    (output.len() <= ANSWER_LIMIT_BYTES).then_some(output)
}

/// Reads everything and keeps both ends of it.
async fn read_ends(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let mut ends = BothEnds::new(MESSAGES_LIMIT_BYTES);
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

#[cfg(test)]
mod tests;
