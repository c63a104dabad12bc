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
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use axum::Router;
    use axum::http::{HeaderMap, StatusCode};
    use pretty_assertions::assert_eq;

    use super::{Depth, GitBinary, refusal};
    use crate::fixture::{Fixture, paths};
    use crate::remote::Remote;
    use crate::repo::{CommitId, NewCommit, Repo, RepoError};
    use locum_base::secret::Secret;
    use locum_policy::intent::{Intent, Publication};
    use locum_testing::permits::permit;

    fn env() -> BTreeMap<String, String> {
        BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())])
    }

    fn commit(repo: &Repo, parent: &CommitId, content: &str) -> CommitId {
        fs::write(repo.root().join("new"), content).unwrap();
        let touched = paths(&["new"]);
        repo.commit(&NewCommit {
            parent,
            touched: &touched,
            message: "new",
            author: ("a", "a@example.org"),
        })
        .unwrap()
    }

    fn bare(fixture: &Fixture, name: &str) -> (PathBuf, git2::Repository, Remote) {
        let folder = fixture.root.parent().unwrap().join(name);
        let git = git2::Repository::init_bare(&folder).unwrap();
        let remote = Remote::parse(folder.to_str().unwrap(), None).unwrap();
        (folder, git, remote)
    }

    fn script(file: &Path, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[tokio::test]
    async fn pushes_forward_and_never_over_others() {
        let fixture = Fixture::new();
        let (_, theirs, remote) = bare(&fixture, "remote.git");
        let git = GitBinary::new(&fixture.repo, &env());
        let first = commit(&fixture.repo, &fixture.base, "1");
        let second = commit(&fixture.repo, &first, "2");
        let other = commit(&fixture.repo, &fixture.base, "other");
        for commit in [&first, &first, &second] {
            git.push_permitted(&remote, commit, "locum/x").await.unwrap();
            assert_eq!(theirs.refname_to_id("refs/heads/locum/x").unwrap().to_string(), commit.0);
        }
        for commit in [&other, &first] {
            let error = git.push_permitted(&remote, commit, "locum/x").await.unwrap_err();
            let expected =
                "the remote refused the push: the branch has commits this one does not build on";
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(theirs.refname_to_id("refs/heads/locum/x").unwrap().to_string(), second.0);
    }

    #[tokio::test]
    async fn pushes_only_with_a_permit_to_publish_commits() {
        let fixture = Fixture::new();
        let (_, theirs, remote) = bare(&fixture, "remote.git");
        let git = GitBinary::new(&fixture.repo, &env());
        for (publication, pushed) in [(Publication::Comment, false), (Publication::Commit, true)] {
            let permit = permit(&[Intent::Publish(publication)]);
            let result = git.push(&permit, &remote, &fixture.base, "x").await;
            assert_eq!(
                (result.is_ok(), theirs.refname_to_id("refs/heads/x").is_ok()),
                (pushed, pushed),
                "{publication}: {result:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_sessions_ref_moves_only_from_where_it_was_looked_at() {
        let fixture = Fixture::new();
        let (_, theirs, remote) = bare(&fixture, "remote.git");
        let git = GitBinary::new(&fixture.repo, &env());
        let comment = permit(&[Intent::Publish(Publication::Comment)]);
        let first = fixture
            .repo
            .carry(&[("journal.jsonl", b"1".as_slice())], &[&fixture.base], "1")
            .unwrap();
        let second = fixture.repo.remark(&first, "2").unwrap();
        let third = fixture.repo.remark(&first, "3").unwrap();
        let tip = || theirs.refname_to_id("refs/locum/sessions/s1").ok().map(|id| id.to_string());
        for (from, to, done) in [
            (Some(&first), Some(&second), false),
            (None, Some(&first), true),
            (None, Some(&second), false),
            (Some(&first), Some(&second), true),
            (Some(&first), Some(&third), false),
            (Some(&first), None, false),
            (Some(&second), None, true),
        ] {
            let before = tip();
            let pushed = git.push_session(&comment, &remote, "s1", (from, to)).await;
            assert_eq!(pushed.is_ok(), done, "{from:?} {to:?}: {pushed:?}");
            assert_eq!(
                tip(),
                if done { to.map(|commit| commit.0.clone()) } else { before },
                "{from:?} {to:?}"
            );
        }
        let commit = permit(&[Intent::Publish(Publication::Commit)]);
        assert!(matches!(
            git.push_session(&commit, &remote, "s1", (None, Some(&first))).await,
            Err(RepoError::NotPermitted)
        ));
        assert!(matches!(
            git.push_session(&comment, &remote, "../heads/x", (None, Some(&first))).await,
            Err(RepoError::BadName(_))
        ));
    }

    #[tokio::test]
    async fn says_what_a_hook_of_the_remote_said() {
        let fixture = Fixture::new();
        let (folder, _, remote) = bare(&fixture, "remote.git");
        script(&folder.join("hooks/pre-receive"), "echo 'only on Mondays' >&2; exit 1");
        let git = GitBinary::new(&fixture.repo, &env());
        let error = git.push_permitted(&remote, &fixture.base, "x").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the remote refused the push: pre-receive hook declined: only on Mondays"
        );
    }

    #[tokio::test]
    async fn what_a_remote_makes_git_say_is_redacted() {
        let fixture = Fixture::new();
        let (folder, _, remote) = bare(&fixture, "remote.git");
        script(
            &folder.join("hooks/pre-receive"),
            "echo the value is unseen-secret-value >&2; exit 1",
        );
        for (variable, redacted) in [("DEPLOY_TOKEN", true), ("DEPLOY_NAME", false)] {
            let mut env = env();
            env.insert(variable.to_owned(), "unseen-secret-value".to_owned());
            let git = GitBinary::new(&fixture.repo, &env);
            let error =
                git.push_permitted(&remote, &fixture.base, "x").await.unwrap_err().to_string();
            assert!(error.contains("the value is"), "{error}");
            assert_eq!(error.contains("unseen-secret-value"), !redacted, "{variable}: {error}");
        }
    }

    #[tokio::test]
    async fn git_starts_no_program_a_repository_names() {
        let fixture = Fixture::new();
        let planted = fixture.root.parent().unwrap().join("PLANTED");
        let program = fixture.root.parent().unwrap().join("program");
        script(&program, &format!("touch {}; exit 1", planted.display()));
        fixture
            .repo
            .git
            .config()
            .unwrap()
            .set_str("core.fsmonitor", program.to_str().unwrap())
            .unwrap();
        GitBinary::new(&fixture.repo, &env()).status().await.unwrap();
        assert!(!planted.exists());
        // As git is started without our settings, it does what the repository says.
        let mut status = std::process::Command::new("git");
        status
            .env_clear()
            .envs(env())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        status.args(["-c", "safe.directory=*", "status"]).current_dir(&fixture.root);
        assert!(status.output().unwrap().status.success());
        assert!(planted.exists());
    }

    #[tokio::test]
    async fn says_when_there_is_no_remote_or_no_such_name() {
        let fixture = Fixture::new();
        let git = GitBinary::new(&fixture.repo, &env());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = format!("http://{}/a.git", listener.local_addr().unwrap());
        drop(listener);
        for url in ["/none/there.git", closed.as_str()] {
            let remote = Remote::parse(url, None).unwrap();
            let error = git.push_permitted(&remote, &fixture.base, "x").await.unwrap_err();
            assert!(
                matches!(&error, RepoError::Binary { command, .. } if command == "push"),
                "{error}"
            );
            assert!(matches!(
                git.fetch(&remote, "main", Depth::Full).await,
                Err(RepoError::Binary { .. })
            ));
        }
        let (_, _, remote) = bare(&fixture, "remote.git");
        for branch in ["", "a b", "HEAD", "-f", "a:b"] {
            let error = git.push_permitted(&remote, &fixture.base, branch).await.unwrap_err();
            assert!(matches!(error, RepoError::BadName(_)), "{branch}: {error}");
        }
        let error = git.push_permitted(&remote, &CommitId("main".into()), "x").await.unwrap_err();
        assert!(matches!(error, RepoError::NoRevision(_)), "{error}");
    }

    #[tokio::test]
    async fn sends_the_token_once_and_says_when_it_is_refused() {
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        let answer = move |headers: HeaderMap| {
            let given: Vec<String> = headers
                .get_all("authorization")
                .iter()
                .map(|value| value.to_str().unwrap().to_owned())
                .collect();
            sender.send(given).unwrap();
            async { (StatusCode::UNAUTHORIZED, [("www-authenticate", "Basic realm=\"x\"")], "no") }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/a.git", listener.local_addr().unwrap());
        let origin = url.trim_end_matches("a.git").to_owned();
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        let fixture = Fixture::new();
        let mut config = fixture.repo.git.config().unwrap();
        config
            .set_str(&format!("http.{origin}.extraheader"), "Authorization: Basic theirs")
            .unwrap();
        let remote = Remote::parse(&url, Some(Secret::new("t0ken-value"))).unwrap();
        let (bin, seen) = (
            fixture.root.parent().unwrap().join("bin"),
            fixture.root.parent().unwrap().join("seen"),
        );
        script(
            &bin.join("git"),
            &format!("{{ echo \"$@\"; env; }} >> {}; exec /usr/bin/git \"$@\"", seen.display()),
        );
        let git = GitBinary::new(
            &fixture.repo,
            &BTreeMap::from([("PATH".to_owned(), format!("{}:/usr/bin:/bin", bin.display()))]),
        );
        let error = git.push_permitted(&remote, &fixture.base, "x").await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the remote refused the push: the token is missing, wrong"),
            "{error}"
        );
        let ours = ["Basic eC1hY2Nlc3MtdG9rZW46dDBrZW4tdmFsdWU="];
        assert_eq!(received.recv().await.unwrap(), ours);
        git.fetch(&remote, "main", Depth::Full).await.unwrap_err();
        while let Ok(given) = received.try_recv() {
            assert_eq!(given, ours);
        }
        let seen = fs::read_to_string(seen).unwrap();
        assert!(seen.contains("push --porcelain") && seen.contains("GIT_CONFIG_COUNT"), "{seen}");
        assert!(
            !seen.contains("t0ken") && !seen.contains("eC1hY2Nlc3"),
            "neither an argument nor a variable: {seen}"
        );
    }

    #[tokio::test]
    async fn no_configuration_of_the_repository_redirects_a_push_or_starts_a_program() {
        let fixture = Fixture::new();
        let (_, theirs, remote) = bare(&fixture, "remote.git");
        let (evil, evils, _) = bare(&fixture, "evil.git");
        let planted = fixture.root.parent().unwrap().join("PLANTED");
        let program = fixture.root.parent().unwrap().join("program");
        script(&program, &format!("touch {}; cat", planted.display()));
        let program = program.to_str().unwrap();
        let mut config = fixture.repo.git.config().unwrap();
        for (key, value) in [
            ("core.fsmonitor", program),
            ("core.pager", program),
            ("core.hooksPath", ".git/hooks"),
            ("credential.helper", program),
            ("filter.x.clean", program),
            ("filter.x.process", program),
            ("diff.external", program),
            (&format!("url.{}.insteadOf", evil.display()), remote.url()),
            ("push.default", "matching"),
        ] {
            config.set_str(key, value).unwrap();
        }
        for hook in ["pre-push", "post-index-change", "reference-transaction", "fsmonitor-watchman"]
        {
            script(
                &fixture.root.join(".git/hooks").join(hook),
                &format!("touch {}", planted.display()),
            );
        }
        fixture.write(".gitattributes", "* filter=x diff=x\n");
        fixture.write("src/lib.rs", "changed");
        let git = GitBinary::new(&fixture.repo, &env());
        let status = String::from_utf8(git.status().await.unwrap()).unwrap();
        assert!(
            status.contains("src/lib.rs\0") && status.contains("? .gitattributes\0"),
            "{status:?}"
        );
        git.push_permitted(&remote, &fixture.base, "x").await.unwrap();
        assert_eq!(theirs.refname_to_id("refs/heads/x").unwrap().to_string(), fixture.base.0);
        assert!(evils.is_empty().unwrap() && evils.references().unwrap().next().is_none());
        assert!(!planted.exists());
    }

    #[tokio::test]
    async fn works_from_a_shallow_clone_and_a_worktree() {
        let fixture = Fixture::new();
        let (folder, theirs, remote) = bare(&fixture, "remote.git");
        let second = commit(&fixture.repo, &fixture.base, "1");
        GitBinary::new(&fixture.repo, &env())
            .push_permitted(&remote, &second, "main")
            .await
            .unwrap();
        theirs.set_head("refs/heads/main").unwrap();
        let clone = fixture.root.parent().unwrap().join("clone");
        let by_url = Remote::parse(&format!("file://{}", folder.display()), None).unwrap();
        GitBinary::clone_remote(&by_url, &clone, Depth::Commits(1), &env()).await.unwrap();
        let repo = Repo::open(&clone).unwrap();
        assert!(repo.git.is_shallow());
        let third = commit(&repo, &repo.commit_of("HEAD").unwrap(), "2");
        GitBinary::new(&repo, &env()).push_permitted(&remote, &third, "shallow").await.unwrap();
        assert_eq!(theirs.refname_to_id("refs/heads/shallow").unwrap().to_string(), third.0);
        let worktree = fixture.root.parent().unwrap().join("second");
        fixture.repo.git.worktree("second", &worktree, None).unwrap();
        let git = GitBinary::new(&Repo::open(&worktree).unwrap(), &env());
        git.push_permitted(&remote, &fixture.base, "worktree").await.unwrap();
        git.fetch(&remote, "+refs/heads/shallow:refs/locum/pull/1", Depth::Full).await.unwrap();
        assert_eq!(fixture.repo.commit_of("refs/locum/pull/1").unwrap(), third);
        let error =
            GitBinary::clone_remote(&remote, &clone, Depth::Full, &env()).await.unwrap_err();
        assert!(error.to_string().contains("already exists"), "{error}");
    }

    #[test]
    fn reads_why_a_push_was_refused() {
        for (porcelain, messages, expected) in [
            (
                "!\ta:refs/heads/x\t[rejected] (fetch first)",
                "",
                Some("the branch has commits this one does not build on"),
            ),
            (
                "To u\n!\ta:b\t[remote rejected] (protected branch hook declined)",
                "remote: GH006: Protected.\nremote: \n",
                Some("protected branch hook declined: GH006: Protected."),
            ),
            (
                "",
                "fatal: The requested URL returned error: 403",
                Some(
                    "the token is missing, wrong or not allowed to write there: fatal: The \
                     requested URL returned error: 403",
                ),
            ),
            ("", "fatal: could not resolve host", None),
        ] {
            assert_eq!(refusal(porcelain, messages).as_deref(), expected);
        }
    }
}
