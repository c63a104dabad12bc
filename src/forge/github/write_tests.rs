//! Writes on a bad night: what is sent again, after which wait, and what is looked for before.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::github::tests::server::Fault;
use crate::github::tests::{MARKER, comment, on_server};
use crate::posts::{LineComment, OwnReaction, Posting, ReactionTarget};
use crate::threads::ReviewThread;
use crate::{Forge as _, ForgeError, Thread};
use locum_base::clock::Clock as _;

fn pull_request() -> Posting {
    Posting::PullRequest {
        head: "locum/a".to_owned(),
        base: "main".to_owned(),
        title: "t".to_owned(),
        body: "b".to_owned(),
        draft: false,
    }
}

fn issue() -> Posting {
    let marker = "<!-- locum:v1 kind=decision job=a -->".to_owned();
    Posting::Issue { number: None, body: format!("{marker}\ntext"), marker, title: "t".to_owned() }
}

fn review() -> Posting {
    Posting::Review {
        number: 7,
        commit: "c0ffee".to_owned(),
        marker: MARKER.to_owned(),
        body: format!("{MARKER}\ntext"),
        comments: Vec::new(),
    }
}

#[test]
fn an_edit_is_repeated_until_it_arrives() {
    on_server("", async |server, github, clock| {
        let first = github.publish(&comment("one")).await.unwrap();
        let edit = format!("PATCH /repos/acme/app/issues/comments/{}", first.id);
        server.fail(Fault::status(&edit, 502, "Bad Gateway"));
        server.fail(Fault::status(&edit, 503, "busy").performed());
        server.fail(Fault::status(&edit, 429, "slow down").with_header("retry-after", "7"));
        let receipt = github.publish(&comment("two")).await.unwrap();
        assert_eq!((receipt.id, receipt.updated), (first.id, true));
        assert_eq!(server.comments(7), [format!("{MARKER}\ntwo")]);
        assert_eq!((server.writes().len(), clock.elapsed().as_secs()), (5, 1 + 2 + 7));
    });
}

#[test]
fn what_a_limit_refused_was_not_done_and_is_sent_again() {
    for (posting, write) in [
        (comment("one"), "POST /repos/acme/app/issues/7/comments"),
        (pull_request(), "POST /repos/acme/app/pulls"),
        (issue(), "POST /repos/acme/app/issues"),
        (review(), "POST /repos/acme/app/pulls/7/reviews"),
    ] {
        on_server("", async |server, github, clock| {
            let limit = "You have exceeded a secondary rate limit";
            server.fail(Fault::status("POST", 403, limit).with_header("retry-after", "5"));
            server.fail(Fault::status("POST", 429, "slow down").with_header("retry-after", "2"));
            // A limit that names no time is waited for a minute, whenever the other one resets.
            server.fail(
                Fault::status("POST", 403, limit)
                    .with_header("x-ratelimit-remaining", "4000")
                    .with_header("x-ratelimit-reset", "1767329999"),
            );
            server.fail(
                Fault::status("POST", 403, "API rate limit exceeded")
                    .with_header("x-ratelimit-remaining", "0")
                    .with_header("x-ratelimit-reset", "1767324677"),
            );
            let receipt = github.publish(&posting).await.unwrap();
            assert!(!receipt.updated);
            assert_eq!(server.writes(), [write; 5]);
            assert_eq!(clock.elapsed().as_secs(), 5 + 2 + 60 + 10);
        });
    }
}

#[test]
fn what_may_have_been_created_is_looked_for_before_it_is_sent_again() {
    for performed in [true, false] {
        for posting in [comment("one"), pull_request(), issue(), review()] {
            on_server("", async |server, github, _| {
                let lost = Fault::status("POST", 502, "Bad Gateway");
                server.fail(if performed { lost.performed() } else { lost });
                let receipt = github.publish(&posting).await.unwrap();
                assert!(receipt.id > 0 && !receipt.updated, "{posting:?}");
                let there = server.comments(7).len()
                    + server.pulls().len()
                    + server.issues().len()
                    + server.reviews().len();
                assert_eq!(there, 1, "{posting:?}");
                assert_eq!(server.writes().len(), if performed { 1 } else { 2 }, "{posting:?}");
            });
        }
    }
}

#[test]
fn reactions_and_labels_come_to_the_same_when_they_are_sent_twice() {
    on_server("", async |server, github, _| {
        server.add_issue(json!({ "number": 7, "state": "open" }));
        let target = ReactionTarget::IssueComment(3);
        server.fail(Fault::status("POST", 502, "Bad Gateway").performed());
        let eyes = Posting::Reaction { target, content: "eyes".to_owned() };
        let receipt = github.publish(&eyes).await.unwrap();
        assert_eq!(server.reactions().len(), 1);
        server.fail(Fault::status("DELETE", 502, "Bad Gateway"));
        let taken_back = Posting::Withdrawal(OwnReaction { target, id: receipt.id });
        github.publish(&taken_back).await.unwrap();
        assert_eq!(server.reactions().len(), 0);
        server.fail(Fault::status("POST", 504, "Gateway Timeout"));
        github.publish(&Posting::Labels { number: 7, labels: vec!["x".to_owned()] }).await.unwrap();
        assert_eq!(server.issues()[0]["labels"], json!([{ "name": "x" }]));
    });
}

#[test]
fn a_write_is_given_up_when_waiting_takes_too_long() {
    on_server("", async |server, github, clock| {
        server.fail(Fault::status("POST", 503, "down").lasting());
        let error = github.publish(&comment("one")).await.unwrap_err();
        assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
        assert_eq!((server.writes().len(), clock.elapsed().as_secs()), (6, 31));
        let error = github.publish(&pull_request()).await.unwrap_err();
        assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    });
    on_server("", async |server, github, clock| {
        let hour = Fault::status("POST", 429, "slow down").with_header("retry-after", "3600");
        server.fail(hour);
        let error = github.publish(&comment("one")).await.unwrap_err();
        assert!(
            matches!(error, ForgeError::RateLimited { retry_after_s: Some(3600), .. }),
            "{error}"
        );
        assert_eq!((server.writes().len(), clock.elapsed().as_secs()), (1, 0));
        server.fail(Fault::status("POST", 422, "Validation Failed"));
        let error = github.publish(&comment("one")).await.unwrap_err();
        assert!(matches!(error, ForgeError::Failed { .. }), "{error}");
        assert_eq!(server.writes().len(), 2, "what is wrong is not sent again");
    });
}

#[test]
fn who_cannot_be_given_a_pull_request_is_named() {
    on_server("", async |server, github, _clock| {
        let number = github.publish(&pull_request()).await.unwrap().id;
        server.permit("bob", json!({ "permission": "write" }));
        server.add_milestone(4, "2.0");
        let ask = |reviewer: &str| Posting::ReviewRequest { number, reviewer: reviewer.to_owned() };
        let assign = |logins: &[&str]| Posting::Assignees {
            number,
            logins: logins.iter().map(ToString::to_string).collect(),
        };
        let milestone = |title: &str| Posting::Milestone { number, title: title.to_owned() };
        for good in [ask("bob"), ask("Acme/security"), assign(&["bob"]), milestone("2.0")] {
            github.publish(&good).await.unwrap();
        }
        for (bad, said) in [
            (ask("mallory"), "collaborators"),
            (ask("acme/nobody"), "collaborators"),
            (ask("evil/security"), "no team of `acme`"),
            (assign(&["bob", "mallory"]), "`mallory` cannot be assigned"),
            (milestone("1.0"), "no open milestone"),
        ] {
            let error = github.publish(&bad).await.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let pull = server.pulls()[0].clone();
        assert_eq!((&pull["asked"], &pull["milestone"]), (&json!(["bob", "security"]), &json!(4)));
    });
}

#[test]
fn threads_are_read_page_by_page_and_resolved() {
    for prefix in ["", "/api/v3"] {
        on_server(prefix, async |server, github, _| {
            let lines: String = (1..=60).map(|line| format!("\n+line {line}")).collect();
            let patch = format!("@@ -0,0 +1,60 @@{lines}");
            server.change_files(&[json!({ "filename": "a.py", "patch": patch })]);
            let on_line = |line: u32| LineComment {
                path: "a.py".to_owned(),
                first: line,
                last: line,
                body: format!("finding {line}"),
            };
            let review = Posting::Review {
                number: 7,
                commit: "c0ffee".to_owned(),
                marker: MARKER.to_owned(),
                body: MARKER.to_owned(),
                comments: (1..=60).map(on_line).collect(),
            };
            github.publish(&review).await.unwrap();
            let first = server.review_comments(7)[0]["id"].as_u64().unwrap();
            server.answer_on_line(7, first, "ann", "no, that is meant so");
            server.react(&format!("pulls/comments/{first}"), "-1");
            let threads = github.review_threads(7).await.unwrap();
            assert_eq!(threads.len(), 60);
            let expected = ReviewThread {
                id: format!("T_{first}"),
                first,
                is_own: true,
                is_resolved: false,
                down_votes: 1,
                answers: 1,
            };
            assert_eq!(threads[0], expected);
            assert_eq!((threads[1].down_votes, threads[1].answers), (0, 0));
            let resolve =
                |thread: &str| Posting::Resolution { number: 7, thread: thread.to_owned() };
            github.publish(&resolve(&expected.id)).await.unwrap();
            assert!(github.review_threads(7).await.unwrap()[0].is_resolved);
            assert_eq!(server.resolved(), [first]);
            let unknown = github.publish(&resolve("T_1")).await.unwrap_err();
            assert!(matches!(unknown, ForgeError::NotFound { .. }), "{unknown}");
            let refusal = json!({ "data": null, "errors": [{
                "type": "FORBIDDEN", "message": "Resource not accessible by integration" }] });
            server.fail(Fault {
                body: refusal.to_string(),
                ..Fault::status("POST /graphql", 200, "")
            });
            let refused = github.publish(&resolve("T_1")).await.unwrap_err();
            assert_eq!(
                refused.to_string(),
                "github refused POST /graphql: Resource not accessible by integration"
            );
        });
    }
}

#[test]
fn an_answer_in_a_discussion_is_written_once_and_then_edited() {
    on_server("", async |server, github, _| {
        server.sign_in("locum-bot", "Bot");
        let first = server.discuss(4, None, "bob", "What is it?");
        let asks = server.discuss(4, Some(first), "ann", "/locum ask");
        let copied = server.discuss(4, Some(first), "eve", MARKER);
        let answer = |text: &str| Posting::DiscussionReply {
            number: 4,
            comment: asks,
            marker: MARKER.to_owned(),
            body: format!("{MARKER}\n{text}"),
        };
        // The second answer is lost: that of the mutation, which took effect.
        server.lose_every(2);
        let written = github.publish(&answer("one")).await.unwrap();
        assert_eq!((written.updated, server.discussed(4).len()), (false, 4));
        server.lose_every(1_000);
        let edited = github.publish(&answer("two")).await.unwrap();
        assert_eq!((edited.updated, edited.id), (true, written.id));
        let said = server.discussed(4);
        assert_eq!((said[3].0, said[3].1.as_str()), (Some(first), &*format!("{MARKER}\ntwo")));
        assert_eq!(said[2].1, MARKER, "what {copied} copied stays");

        let thread = Thread { number: 4, is_pull_request: false, is_discussion: true };
        let own = github.own_comments(thread, "<!-- locum:v1 ", None).await.unwrap();
        assert_eq!(own.len(), 1, "{own:?}");
        let read = github.thread_comments(thread, None).await.unwrap();
        let authors: Vec<&str> = read.iter().map(|one| one.author.as_str()).collect();
        assert_eq!(authors, ["bob", "ann", "eve", "locum-bot"]);

        let target = ReactionTarget::DiscussionComment { discussion: 4, comment: asks };
        let eyes = Posting::Reaction { target, content: "eyes".to_owned() };
        let receipt = github.publish(&eyes).await.unwrap();
        let ours = github.own_reactions(target).await.unwrap();
        let expected = OwnReaction { target, id: receipt.id };
        assert_eq!(ours, [(expected, "eyes".to_owned())]);
        github.publish(&Posting::Withdrawal(expected)).await.unwrap();
        assert_eq!(github.own_reactions(target).await.unwrap(), []);
        let thread = Thread { number: 5, ..thread };
        let unknown = github.thread_comments(thread, None).await.unwrap_err();
        assert_eq!(unknown.to_string(), "github does not know discussion #5");
    });
}
