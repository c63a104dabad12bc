//! What is asked of GitHub, checked by the requests a server receives.

use std::sync::Arc;

use jiff::Timestamp;
use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::GitHub;
use crate::posts::{Posting, ReactionTarget};
use crate::{Forge as _, ForgeError, ForgePermission, ReadPatience, Thread};
use locum_base::clock::Clock;
use locum_base::secret::Secret;
use locum_policy::Policy;
use locum_policy::intent::{Facts, PublicationKind};

#[path = "../../../tests/it/support/github.rs"]
#[expect(
    clippy::disallowed_types,
    dead_code,
    unreachable_pub,
    reason = "a server shared by many tests, each using a part of it"
)]
pub(super) mod server;

use server::{Fault, GitHubServer};

pub(super) const MARKER: &str = "<!-- locum:v1 kind=progress run=1 -->";

pub(super) fn on_server<T>(
    prefix: &str,
    test: impl AsyncFnOnce(GitHubServer, GitHub, Arc<TestClock>) -> T,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = GitHubServer::start(prefix).await;
        let clock = Arc::new(TestClock::at("2026-01-02T03:30:00Z".parse().unwrap()));
        let github =
            GitHub::new(&server.url, "acme/app", Some(Secret::new("a-token")), clock.clone())
                .unwrap();
        test(server, github, clock).await
    })
}

pub(super) fn comment(text: &str) -> Posting {
    Posting::Comment {
        number: 7,
        marker: MARKER.to_owned(),
        body: format!("{MARKER}\n{text}"),
        replaces: None,
    }
}

#[test]
fn permission_is_the_forges_answer_and_fails_closed() {
    on_server("", async |server, github, _| {
        server.permit("alice", json!({ "permission": "write", "role_name": "maintain" }));
        server.permit("bob", json!({ "permission": "read", "role_name": "triage" }));
        server.permit("carol", json!({ "permission": "write", "role_name": "our-own-role" }));
        server.permit("dora", json!({ "permission": "superuser", "role_name": "admin" }));
        server.permit("app[bot]", json!({ "permission": "read" }));
        assert_eq!(github.permission("alice").await, Ok(ForgePermission::Maintain));
        assert_eq!(github.permission("bob").await, Ok(ForgePermission::Triage));
        assert_eq!(github.permission("carol").await, Ok(ForgePermission::Write));
        assert_eq!(github.permission("app[bot]").await, Ok(ForgePermission::Read));
        assert_eq!(github.permission("nobody").await, Ok(ForgePermission::None));
        let unsaid = github.permission("other[bot]").await;
        assert!(matches!(unsaid, Err(ForgeError::NotFound { .. })), "{unsaid:?}");
        assert!(
            github
                .permission("dora")
                .await
                .unwrap_err()
                .to_string()
                .contains("unknown permission `superuser`")
        );
        server.fail(Fault::status(
            "GET /repos/acme/app/collaborators/alice",
            403,
            "Must have push access",
        ));
        assert!(matches!(github.permission("alice").await, Err(ForgeError::Forbidden { .. })));
        let request = server.requests().remove(0);
        assert_eq!(request.header("authorization"), Some("Bearer a-token"));
        assert_eq!(
            request.headers.iter().filter(|(name, _)| name == "user-agent").count(),
            1,
            "the forge refuses requests that name no program"
        );
    });
}

#[test]
fn works_below_the_path_of_an_enterprise_server() {
    on_server("/api/v3", async |server, github, _| {
        server.permit("alice", json!({ "permission": "admin" }));
        assert_eq!(github.permission("alice").await, Ok(ForgePermission::Admin));
        assert_eq!(
            server.requests().remove(0).path,
            "/repos/acme/app/collaborators/alice/permission"
        );
    });
}

#[test]
fn a_pull_request_of_another_repository_is_a_fork_by_id() {
    on_server("", async |server, github, _| {
        let pull = |number: u64, head: serde_json::Value| {
            json!({ "number": number, "state": "open", "title": "t", "body": null,
            "head": { "ref": "topic", "sha": "aaa", "repo": head }, "base": { "ref": "main", "sha": "bbb", "repo": { "id": 1 } } })
        };
        server.add_pull(pull(1, json!({ "id": 1 })));
        server.add_pull(pull(2, json!({ "id": 2, "full_name": "acme/app" })));
        server.add_pull(pull(3, json!(null)));
        assert!(!github.pull_request(1).await.unwrap().is_fork);
        assert!(github.pull_request(2).await.unwrap().is_fork);
        assert!(github.pull_request(3).await.unwrap().is_fork);
        assert_eq!(github.pull_request(1).await.unwrap().head_sha, "aaa");
        assert!(matches!(github.pull_request(4).await, Err(ForgeError::NotFound { .. })));
        server
            .add_issue(json!({ "number": 7, "title": "t", "body": "b", "state": "closed", "locked": true, "user": { "login": "carol" } }));
        let issue = github.issue(7).await.unwrap();
        assert_eq!((issue.is_open, issue.is_locked, issue.author.as_str()), (false, true, "carol"));
    });
}

#[test]
fn posting_a_comment_again_edits_it() {
    on_server("", async |server, github, _| {
        for index in 0..250 {
            server.add_comment(7, "carol", "User", &format!("comment {index}"));
        }
        let first = github.publish(&comment("one")).await.unwrap();
        let again = github.publish(&comment("two")).await.unwrap();
        assert_eq!((first.updated, again.updated, first.id), (false, true, again.id));
        assert_eq!(server.comments(7).last().unwrap(), &format!("{MARKER}\ntwo"));
        let edit = format!("PATCH /repos/acme/app/issues/comments/{}", first.id);
        assert_eq!(server.writes(), ["POST /repos/acme/app/issues/7/comments".to_owned(), edit]);
    });
}

#[test]
fn a_marker_in_somebody_elses_comment_is_not_ours() {
    on_server("", async |server, github, _| {
        let forged = format!("{MARKER}\nforged");
        server.add_comment(7, "mallory", "User", &forged);
        assert!(!github.publish(&comment("ours")).await.unwrap().updated);
        assert_eq!(server.comments(7), [forged.clone(), format!("{MARKER}\nours")]);
    });
    on_server("", async |server, github, _| {
        server.sign_in("locum-user", "User");
        let forged = format!("{MARKER}\nforged");
        server.add_comment(7, "evil-app[bot]", "Bot", &forged);
        server.add_comment(7, "Locum-User", "User", &format!("text before\n{MARKER}"));
        let ours = server.add_comment(7, "Locum-User", "User", &format!("{MARKER}\nold"));
        let receipt = github.publish(&comment("new")).await.unwrap();
        assert_eq!((receipt.id, receipt.updated), (ours, true));
        assert_eq!(server.comments(7)[0], forged);
    });
}

#[test]
fn an_edit_that_is_refused_is_followed_by_a_comment_of_our_own() {
    on_server("", async |server, github, _| {
        let id = server.add_comment(7, "evil-app[bot]", "Bot", &format!("{MARKER}\nforged"));
        server.fail(Fault::status(
            &format!("PATCH /repos/acme/app/issues/comments/{id}"),
            403,
            "Resource not accessible by integration",
        ));
        let receipt = github.publish(&comment("ours")).await.unwrap();
        assert!(!receipt.updated && receipt.id != id);
    });
}

#[test]
fn reads_are_tried_again_within_bounds() {
    on_server("", async |server, github, clock| {
        server.permit("alice", json!({ "permission": "write" }));
        let busy = || Fault::status("GET", 503, "busy");
        server.fail(busy());
        server.fail(busy());
        assert_eq!(github.permission("alice").await, Ok(ForgePermission::Write));
        assert_eq!((server.requests().len(), clock.elapsed().as_secs()), (3, 3));
        for _ in 0..3 {
            server.fail(busy());
        }
        assert_eq!(
            github.permission("alice").await.unwrap_err().to_string(),
            "github failed at GET /repos/acme/app/collaborators/alice/permission: 503 busy"
        );
        assert_eq!(server.requests().len(), 6);
    });
}

#[test]
fn limits_are_waited_for_when_short_and_told_when_long() {
    on_server("", async |server, github, clock| {
        server.permit("alice", json!({ "permission": "write" }));
        server.fail(Fault::status("GET", 429, "slow down").with_header("retry-after", "7"));
        assert_eq!(github.permission("alice").await, Ok(ForgePermission::Write));
        assert_eq!(clock.elapsed().as_secs(), 7);
        server.fail(
            Fault::status("GET", 403, "API rate limit exceeded")
                .with_header("x-ratelimit-remaining", "0")
                .with_header("x-ratelimit-reset", "1767325800"),
        );
        let reset: Timestamp = Timestamp::from_second(1_767_325_800).unwrap();
        let wait = reset.as_second() - clock.now().as_second();
        let limited = github.permission("alice").await.unwrap_err();
        assert!(
            matches!(limited, ForgeError::RateLimited { retry_after_s: Some(seconds), .. } if i64::try_from(seconds).unwrap() == wait.max(0)),
            "{limited}"
        );
    });
}

#[test]
fn reads_wait_as_long_as_writes_where_that_is_said_and_no_longer() {
    on_server("", async |server, github, clock| {
        server.permit("alice", json!({ "permission": "write" }));
        let limited = |seconds: &str| {
            let message = "You have exceeded a secondary rate limit";
            Fault::status("GET", 403, message).with_header("retry-after", seconds)
        };
        server.fail(limited("60"));
        let refused = github.permission("alice").await;
        assert!(matches!(refused, Err(ForgeError::RateLimited { .. })), "{refused:?}");
        github.set_patience(ReadPatience::AsWrites);
        // Also where the forge does not say how long.
        for (fault, waited_s) in [
            (limited("60"), 60),
            (Fault::status("GET", 429, "slow down"), 120),
            (Fault::status("GET", 502, "Bad Gateway"), 121),
        ] {
            server.fail(fault);
            assert_eq!(github.permission("alice").await, Ok(ForgePermission::Write));
            assert_eq!(clock.elapsed().as_secs(), waited_s);
        }
        for fault in [limited("121"), Fault::status("GET", 401, "Bad credentials")] {
            server.fail(fault);
            assert!(github.permission("alice").await.is_err());
        }
        github.set_patience(ReadPatience::Short);
        server.fail(limited("60"));
        assert!(github.permission("alice").await.is_err());
        assert_eq!(clock.elapsed().as_secs(), 121);
    });
}

#[test]
fn errors_say_what_the_forge_said() {
    on_server("", async |server, github, _| {
        server.fail(Fault::status(
            "POST",
            403,
            "GitHub Actions is not permitted to create or approve pull requests.",
        ));
        let posting = Posting::PullRequest {
            head: "locum/a".to_owned(),
            base: "main".to_owned(),
            title: "t".to_owned(),
            body: "b".to_owned(),
            draft: true,
        };
        let error = github.publish(&posting).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "github refused POST /repos/acme/app/pulls: 403 GitHub Actions is not permitted to \
             create or approve pull requests."
        );
        let long = Posting::Comment {
            number: 7,
            marker: "<!-- m -->".to_owned(),
            body: "x".repeat(70_000),
            replaces: None,
        };
        assert!(
            github
                .publish(&long)
                .await
                .unwrap_err()
                .to_string()
                .contains("422 Validation Failed: body is too long")
        );
        server.fail(Fault { body: "<html>".to_owned(), ..Fault::status("GET", 200, "") });
        assert!(github.permission("alice").await.unwrap_err().to_string().contains("not JSON"));
        server.fail(Fault::status("GET", 401, "Bad credentials"));
        assert!(matches!(github.permission("alice").await, Err(ForgeError::Forbidden { .. })));
    });
}

#[test]
fn an_answer_that_is_too_long_or_not_as_documented_is_an_error_at_once() {
    on_server("", async |server, github, _| {
        let message_of = async |status: u16, body: String| {
            server.fail(Fault { body, ..Fault::status("GET", status, "") });
            github.permission("alice").await.unwrap_err().to_string()
        };
        for status in [200, 502] {
            let long = json!({ "message": "x".repeat(16 * 1024 * 1024) }).to_string();
            let message = message_of(status, long).await;
            assert!(message.ends_with(": the answer has more than 16777216 bytes"), "{message}");
        }
        let message = message_of(200, json!({ "permission": 7 }).to_string()).await;
        assert!(message.contains(": cannot read `permission` of the answer: "), "{message}");
        assert_eq!(server.requests().len(), 3);
    });
}

#[test]
fn a_pull_request_from_the_same_branch_is_changed_not_repeated() {
    on_server("", async |server, github, _| {
        let posting = |head: &str, title: &str| Posting::PullRequest {
            head: head.to_owned(),
            base: "main".to_owned(),
            title: title.to_owned(),
            body: "b".to_owned(),
            draft: true,
        };
        server.add_pull(json!({ "number": 1, "state": "open",
            "head": { "ref": "locum/a", "sha": "aaa", "repo": { "full_name": "mallory/app" } },
            "base": { "ref": "main", "sha": "bbb", "repo": { "full_name": "acme/app" } } }));
        let first = github.publish(&posting("locum/a", "one")).await.unwrap();
        let again = github.publish(&posting("locum/a", "two")).await.unwrap();
        let other = github.publish(&posting("locum/b", "three")).await.unwrap();
        assert_eq!((first.updated, again.updated, other.updated), (false, true, false));
        assert_eq!(first.id, again.id);
        assert_ne!(first.id, 1, "another repository's branch of that name is not ours");
        let pull = server.pulls().remove(1);
        assert_eq!((pull["title"].as_str(), pull["draft"].as_bool()), (Some("two"), Some(true)));
        let opened =
            server.requests().into_iter().find(|request| request.method == "POST").unwrap();
        assert_eq!(
            opened.body,
            json!({ "head": "locum/a", "base": "main", "title": "one", "body": "b", "draft": true })
        );
    });
}

#[test]
fn reactions_labels_and_replies_go_where_they_belong() {
    on_server("", async |server, github, _| {
        server.add_issue(json!({ "number": 7, "state": "open" }));
        for target in [
            ReactionTarget::IssueComment(3),
            ReactionTarget::ReviewComment(4),
            ReactionTarget::Issue(7),
        ] {
            github
                .publish(&Posting::Reaction { target, content: "eyes".to_owned() })
                .await
                .unwrap();
        }
        let reply = |text: &str| Posting::Reply {
            number: 7,
            comment: 4,
            marker: MARKER.to_owned(),
            body: format!("{MARKER}\n{text}"),
        };
        github
            .publish(&Posting::Labels { number: 7, labels: vec!["locum".to_owned()] })
            .await
            .unwrap();
        let first = github.publish(&reply("one")).await.unwrap();
        assert!(github.publish(&reply("two")).await.unwrap().updated);
        assert_eq!(
            server.writes(),
            [
                "POST /repos/acme/app/issues/comments/3/reactions".to_owned(),
                "POST /repos/acme/app/pulls/comments/4/reactions".to_owned(),
                "POST /repos/acme/app/issues/7/reactions".to_owned(),
                "POST /repos/acme/app/issues/7/labels".to_owned(),
                "POST /repos/acme/app/pulls/7/comments/4/replies".to_owned(),
                format!("PATCH /repos/acme/app/pulls/comments/{}", first.id),
            ]
        );
        assert_eq!(server.issues()[0]["labels"], json!([{ "name": "locum" }]));
    });
}

#[test]
fn our_comments_are_read_and_nobody_elses() {
    on_server("", async |server, github, _| {
        server.add_comment(
            7,
            "github-actions[bot]",
            "Bot",
            "<!-- locum:v1 kind=progress run=1 -->\nx",
        );
        server.add_comment(
            7,
            "github-actions[bot]",
            "Bot",
            "<!-- locum:v1 kind=progress run=2 -->\nx",
        );
        server.add_comment(7, "github-actions[bot]", "Bot", "<!-- other -->");
        server.add_comment(7, "mallory", "User", "<!-- locum:v1 kind=progress run=3 -->\nx");
        let thread = Thread { number: 7, is_pull_request: false, is_discussion: false };
        let bodies = async |since: Option<&str>| {
            let since = since.map(|since| since.parse().unwrap());
            let ours =
                github.own_comments(thread, "<!-- locum:v1 kind=progress", since).await.unwrap();
            ours.into_iter().map(|comment| comment.body).collect::<Vec<_>>()
        };
        let both = [
            "<!-- locum:v1 kind=progress run=1 -->\nx",
            "<!-- locum:v1 kind=progress run=2 -->\nx",
        ];
        assert_eq!(bodies(Some("2026-01-02T02:30:00Z")).await, both);
        assert_eq!(bodies(None).await, both);
        assert_eq!(bodies(Some("2026-01-02T03:30:00Z")).await, Vec::<String>::new());
    });
}

#[test]
fn what_is_posted_carries_a_permit() {
    on_server("", async |server, github, _| {
        let policy = Policy::builtin();
        let permit = policy.admit(comment("hello"), &Facts::default()).unwrap();
        assert_eq!(github.post(permit).await.unwrap().publication, PublicationKind::Comment);
        assert_eq!(server.comments(7), [format!("{MARKER}\nhello")]);
        let pull_request = Posting::PullRequest {
            head: "locum/a".to_owned(),
            base: "main".to_owned(),
            title: "t".to_owned(),
            body: "b".to_owned(),
            draft: true,
        };
        assert!(policy.admit(pull_request, &Facts::default()).is_err());
    });
}

#[test]
fn attachments_come_from_the_forge_alone_and_the_token_stays_there() {
    on_server("/api/v3", async |server, github, _| {
        let elsewhere = GitHubServer::start("").await;
        let theirs = elsewhere.attach("/user-attachments/assets/1", None, b"theirs");
        let path = "/user-attachments/assets/2";
        let image = server.attach(path, None, b"image");
        let moved = server.attach("/user-attachments/assets/3", Some(path), b"");
        let away = server.attach("/user-attachments/assets/4", Some(&theirs), b"");
        let api = server.attach("/user-attachments/assets/5", Some("/api/v3/user"), b"");
        let round = server.attach("/user-attachments/assets/6", Some("6"), b"");
        let large = server.attach("/user-attachments/assets/7", None, &vec![0; 4_000_000]);
        assert_eq!(github.attachment(&image).await, Ok(b"image".to_vec()));
        assert_eq!(github.attachment(&moved).await, Ok(b"image".to_vec()));
        for (address, expected) in [
            (theirs.as_str(), "not one of the forge's attachments"),
            (&away, "not one of the forge's attachments"),
            (&api, "not one of the forge's attachments"),
            (&round, "redirects more than 3 times"),
            (&large, "more than 3750000 bytes"),
            (&format!("{image}9"), "answers 404"),
            (&server.url, "not one of the forge's attachments"),
            ("rel.png", "relative URL"),
        ] {
            let error = github.attachment(address).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{address}: {error}");
        }
        assert!(elsewhere.requests().is_empty(), "{:?}", elsewhere.requests());
        let first = &server.requests()[0];
        assert_eq!(
            (first.path.as_str(), first.header("authorization")),
            (path, Some("Bearer a-token"))
        );
        assert!(server.requests().iter().all(|request| request.path != "/user"));
    });
}

#[test]
fn bad_names_tokens_and_addresses_are_said_before_anything_is_sent() {
    on_server("", async |server, _, clock| {
        for name in ["acme", "acme/app/x", "../app", "acme/a b", "/", "acme/.."] {
            assert!(GitHub::new(&server.url, name, None, clock.clone()).is_err(), "{name}");
        }
        let odd =
            GitHub::new(&server.url, "acme/app", Some(Secret::new("a\nb")), clock.clone()).unwrap();
        assert!(odd.permission("alice").await.unwrap_err().to_string().contains("the token"));
        let nowhere = GitHub::new("http://127.0.0.1:1", "acme/app", None, clock.clone()).unwrap();
        assert!(matches!(nowhere.permission("alice").await, Err(ForgeError::Unavailable { .. })));
        assert!(server.requests().is_empty());
    });
}

#[test]
fn a_server_that_cannot_be_reached_is_named_with_the_cause() {
    on_server("", async |_, _, clock| {
        // Nothing listens there.
        let github = GitHub::new("http://127.0.0.1:1", "acme/app", None, clock).unwrap();
        let error = github.permission("alice").await.unwrap_err().to_string();
        assert!(
            error.contains("cannot reach `http://127.0.0.1:1` (")
                && error.ends_with("check the network, the proxy and GITHUB_API_URL")
                && !error.contains("Service Error"),
            "{error}"
        );
    });
}
