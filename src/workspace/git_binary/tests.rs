//! The `git` binary against hostile repositories and remotes.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
#![expect(clippy::disallowed_types, reason = "repositories are prepared with git")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use pretty_assertions::assert_eq;

use super::push::refusal;
use super::{FetchDepth, GitBinary};
use crate::fixture::{RepoFixture, paths};
use crate::remote::Remote;
use crate::repo::{CommitId, NewCommit, Repo, RepoError};
use locum_base::secret::Secret;
use locum_policy::intent::{Intent, PublicationKind};
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

fn bare(fixture: &RepoFixture, name: &str) -> (PathBuf, git2::Repository, Remote) {
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
    let fixture = RepoFixture::new();
    let (_, theirs, remote) = bare(&fixture, "remote.git");
    let git = GitBinary::new(&fixture.repo, &env());
    let first = commit(&fixture.repo, &fixture.base, "1");
    let second = commit(&fixture.repo, &first, "2");
    let other = commit(&fixture.repo, &fixture.base, "other");
    let tip = || theirs.refname_to_id("refs/heads/locum/x").ok().map(|id| id.to_string());
    // A commit that the remote has already is not an error.
    for moves in [(None, &first), (None, &first), (Some(&first), &second), (None, &second)] {
        git.push_permitted(&remote, "locum/x", moves).await.unwrap();
        assert_eq!(tip(), Some(moves.1.0.clone()));
    }
    let not_on_top = "the branch has commits this one does not build on";
    let was_moved = "what is there now is not what was there before";
    for (moves, why) in [
        ((Some(&second), &other), not_on_top),
        ((Some(&second), &first), not_on_top),
        ((Some(&first), &other), not_on_top),
        ((Some(&fixture.base), &other), was_moved),
        ((Some(&fixture.base), &first), was_moved),
        ((None, &other), was_moved),
        ((None, &first), was_moved),
    ] {
        let error = git.push_permitted(&remote, "locum/x", moves).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the remote refused the push: {why}"), "{moves:?}");
        assert_eq!(tip(), Some(second.0.clone()));
    }
}

#[tokio::test]
async fn a_branch_that_was_deleted_is_not_recreated() {
    let fixture = RepoFixture::new();
    let (_, theirs, remote) = bare(&fixture, "remote.git");
    let git = GitBinary::new(&fixture.repo, &env());
    let first = commit(&fixture.repo, &fixture.base, "1");
    let has_branch = || theirs.refname_to_id("refs/heads/feature").is_ok();
    let onto_it = (Some(&fixture.base), &first);
    let refused = git.push_permitted(&remote, "feature", onto_it).await.unwrap_err();
    assert!(matches!(refused, RepoError::PushRefused(_)) && !has_branch(), "{refused}");
    git.push_permitted(&remote, "feature", (None, &fixture.base)).await.unwrap();
    git.push_permitted(&remote, "feature", onto_it).await.unwrap();
    assert!(has_branch());
}

#[tokio::test]
async fn pushes_only_with_a_permit_to_publish_commits() {
    let fixture = RepoFixture::new();
    let (_, theirs, remote) = bare(&fixture, "remote.git");
    let git = GitBinary::new(&fixture.repo, &env());
    for (publication, pushed) in
        [(PublicationKind::Comment, false), (PublicationKind::Commit, true)]
    {
        let permit = permit(&[Intent::Publish(publication)]);
        let result = git.push(&permit, &remote, "x", (None, &fixture.base)).await;
        assert_eq!(
            (result.is_ok(), theirs.refname_to_id("refs/heads/x").is_ok()),
            (pushed, pushed),
            "{publication}: {result:?}"
        );
    }
}

#[tokio::test]
async fn a_sessions_ref_moves_only_from_where_it_was_looked_at() {
    let fixture = RepoFixture::new();
    let (_, theirs, remote) = bare(&fixture, "remote.git");
    let git = GitBinary::new(&fixture.repo, &env());
    let comment = permit(&[Intent::Publish(PublicationKind::Comment)]);
    let first =
        fixture.repo.carry(&[("journal.jsonl", b"1".as_slice())], &[&fixture.base], "1").unwrap();
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
    let commit = permit(&[Intent::Publish(PublicationKind::Commit)]);
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
async fn asking_whether_a_push_would_be_taken_pushes_nothing() {
    let fixture = RepoFixture::new();
    let (folder, remote_repo, remote) = bare(&fixture, "remote.git");
    script(&folder.join("hooks/pre-receive"), "exit 1");
    let git = GitBinary::new(&fixture.repo, &env());
    git.check_push(&remote, &fixture.base).await.unwrap();
    assert_eq!(remote_repo.references().unwrap().count(), 0);
    let nowhere = CommitId("x".to_owned());
    assert!(matches!(git.check_push(&remote, &nowhere).await, Err(RepoError::NoRevision(_))));
}

#[tokio::test]
async fn says_what_a_hook_of_the_remote_said() {
    let fixture = RepoFixture::new();
    let (folder, _, remote) = bare(&fixture, "remote.git");
    script(&folder.join("hooks/pre-receive"), "echo 'only on Mondays' >&2; exit 1");
    let git = GitBinary::new(&fixture.repo, &env());
    let error = git.push_permitted(&remote, "x", (None, &fixture.base)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the remote refused the push: pre-receive hook declined: only on Mondays"
    );
}

#[tokio::test]
async fn what_a_remote_makes_git_say_is_redacted() {
    let fixture = RepoFixture::new();
    let (folder, _, remote) = bare(&fixture, "remote.git");
    script(&folder.join("hooks/pre-receive"), "echo the value is unseen-secret-value >&2; exit 1");
    for (variable, redacted) in [("DEPLOY_TOKEN", true), ("DEPLOY_NAME", false)] {
        let mut env = env();
        env.insert(variable.to_owned(), "unseen-secret-value".to_owned());
        let git = GitBinary::new(&fixture.repo, &env);
        let error =
            git.push_permitted(&remote, "x", (None, &fixture.base)).await.unwrap_err().to_string();
        assert!(error.contains("the value is"), "{error}");
        assert_eq!(error.contains("unseen-secret-value"), !redacted, "{variable}: {error}");
    }
}

#[tokio::test]
async fn git_starts_no_program_a_repository_names() {
    let fixture = RepoFixture::new();
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
    let fixture = RepoFixture::new();
    let git = GitBinary::new(&fixture.repo, &env());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}/a.git", listener.local_addr().unwrap());
    drop(listener);
    for url in ["/none/there.git", closed.as_str()] {
        let remote = Remote::parse(url, None).unwrap();
        let error = git.push_permitted(&remote, "x", (None, &fixture.base)).await.unwrap_err();
        assert!(
            matches!(&error, RepoError::Binary { command, .. } if command == "push"),
            "{error}"
        );
        assert!(matches!(
            git.fetch(&remote, "main", FetchDepth::Full).await,
            Err(RepoError::Binary { .. })
        ));
    }
    let (_, _, remote) = bare(&fixture, "remote.git");
    for branch in ["", "a b", "HEAD", "-f", "a:b"] {
        let error = git.push_permitted(&remote, branch, (None, &fixture.base)).await.unwrap_err();
        assert!(matches!(error, RepoError::BadName(_)), "{branch}: {error}");
    }
    let error =
        git.push_permitted(&remote, "x", (None, &CommitId("main".into()))).await.unwrap_err();
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
    let fixture = RepoFixture::new();
    let mut config = fixture.repo.git.config().unwrap();
    config.set_str(&format!("http.{origin}.extraheader"), "Authorization: Basic theirs").unwrap();
    let remote = Remote::parse(&url, Some(Secret::new("t0ken-value"))).unwrap();
    let (bin, seen) =
        (fixture.root.parent().unwrap().join("bin"), fixture.root.parent().unwrap().join("seen"));
    script(
        &bin.join("git"),
        &format!("{{ echo \"$@\"; env; }} >> {}; exec /usr/bin/git \"$@\"", seen.display()),
    );
    let git = GitBinary::new(
        &fixture.repo,
        &BTreeMap::from([("PATH".to_owned(), format!("{}:/usr/bin:/bin", bin.display()))]),
    );
    let error = git.push_permitted(&remote, "x", (None, &fixture.base)).await.unwrap_err();
    assert!(
        error.to_string().starts_with("the remote refused the push: the token is missing, wrong"),
        "{error}"
    );
    let ours = ["Basic eC1hY2Nlc3MtdG9rZW46dDBrZW4tdmFsdWU="];
    assert_eq!(received.recv().await.unwrap(), ours);
    git.fetch(&remote, "main", FetchDepth::Full).await.unwrap_err();
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
    let fixture = RepoFixture::new();
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
    for hook in ["pre-push", "post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        script(
            &fixture.root.join(".git/hooks").join(hook),
            &format!("touch {}", planted.display()),
        );
    }
    fixture.write(".gitattributes", "* filter=x diff=x\n");
    fixture.write("src/lib.rs", "changed");
    let git = GitBinary::new(&fixture.repo, &env());
    let status = String::from_utf8(git.status().await.unwrap()).unwrap();
    assert!(status.contains("src/lib.rs\0") && status.contains("? .gitattributes\0"), "{status:?}");
    git.push_permitted(&remote, "x", (None, &fixture.base)).await.unwrap();
    assert_eq!(theirs.refname_to_id("refs/heads/x").unwrap().to_string(), fixture.base.0);
    assert!(evils.is_empty().unwrap() && evils.references().unwrap().next().is_none());
    assert!(!planted.exists());
}

#[tokio::test]
async fn no_configuration_of_the_repository_says_where_refs_are_looked_up() {
    let fixture = RepoFixture::new();
    let (_, _, remote) = bare(&fixture, "remote.git");
    let (evil, _, evils) = bare(&fixture, "evil.git");
    let git = GitBinary::new(&fixture.repo, &env());
    let second = commit(&fixture.repo, &fixture.base, "1");
    git.push_permitted(&remote, "x", (None, &fixture.base)).await.unwrap();
    for branch in ["x", "locum"] {
        git.push_permitted(&evils, branch, (None, &second)).await.unwrap();
    }
    let mut config = fixture.repo.git.config().unwrap();
    config.set_str(&format!("url.{}.insteadOf", evil.display()), remote.url()).unwrap();
    assert_eq!(git.branch_tip(&remote, "x").await.unwrap(), Some(fixture.base.clone()));
    assert_eq!(git.branch_tip(&remote, "locum").await.unwrap(), None);
    // As git is started without that, it does what the repository says.
    let mut list = std::process::Command::new("git");
    list.args(["ls-remote", remote.url(), "refs/heads/*"]).current_dir(&fixture.root);
    let listed = list.env_clear().envs(env()).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("refs/heads/locum"), "{listed}");
}

#[tokio::test]
async fn works_from_a_shallow_clone_and_a_worktree() {
    let fixture = RepoFixture::new();
    let (folder, theirs, remote) = bare(&fixture, "remote.git");
    let second = commit(&fixture.repo, &fixture.base, "1");
    GitBinary::new(&fixture.repo, &env())
        .push_permitted(&remote, "main", (None, &second))
        .await
        .unwrap();
    theirs.set_head("refs/heads/main").unwrap();
    let clone = fixture.root.parent().unwrap().join("clone");
    let cloned = std::process::Command::new("git")
        .args(["clone", "--quiet", "--depth=1", &format!("file://{}", folder.display())])
        .arg(&clone)
        .env_clear()
        .envs(env())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status();
    assert!(cloned.unwrap().success());
    let repo = Repo::open(&clone).unwrap();
    assert!(repo.git.is_shallow());
    let third = commit(&repo, &repo.commit_of("HEAD").unwrap(), "2");
    GitBinary::new(&repo, &env()).push_permitted(&remote, "shallow", (None, &third)).await.unwrap();
    assert_eq!(theirs.refname_to_id("refs/heads/shallow").unwrap().to_string(), third.0);
    let worktree = fixture.root.parent().unwrap().join("second");
    fixture.repo.git.worktree("second", &worktree, None).unwrap();
    let git = GitBinary::new(&Repo::open(&worktree).unwrap(), &env());
    git.push_permitted(&remote, "worktree", (None, &fixture.base)).await.unwrap();
    git.fetch(&remote, "+refs/heads/shallow:refs/locum/pull/1", FetchDepth::Full).await.unwrap();
    assert_eq!(fixture.repo.commit_of("refs/locum/pull/1").unwrap(), third);
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
