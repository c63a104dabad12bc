//! Limits: lists that are longer than what is read of one, and waits that both APIs share.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::commits::CommitAuthor;
use crate::github::tests::server::{Fault, GitHubServer};
use crate::github::tests::{MARKER, comment, on_server};
use crate::posts::{LineComment, Posting};
use crate::{Forge as _, ForgeError, ReadPatience};
use locum_base::clock::Clock as _;

/// A limit that ends 100 seconds after the clock of the tests starts.
const RESET: (&str, &str) = ("x-ratelimit-reset", "1767324700");

/// A review of ours with so many comments on lines.
fn review(comments: u32) -> Posting {
    let on_line = |line: u32| LineComment {
        path: "a.py".to_owned(),
        first: line,
        last: line,
        body: format!("finding {line}"),
    };
    Posting::Review {
        number: 7,
        commit: "c0ffee".to_owned(),
        marker: MARKER.to_owned(),
        body: MARKER.to_owned(),
        comments: (1..=comments).map(on_line).collect(),
    }
}

/// Says which lines can be commented on.
fn change_lines(server: &GitHubServer, lines: u32) {
    let added: String = (1..=lines).map(|line| format!("\n+line {line}")).collect();
    let patch = format!("@@ -0,0 +1,{lines} @@{added}");
    server.change_files(&[json!({ "filename": "a.py", "patch": patch })]);
}

#[test]
fn a_comment_of_ours_behind_all_that_is_read_is_not_written_again() {
    for (others, is_read) in [(2_999, true), (3_000, false)] {
        on_server("", async |server, github, _| {
            for index in 0..others {
                server.add_comment(7, "carol", "User", &format!("comment {index}"));
            }
            server.add_comment(7, "github-actions[bot]", "Bot", &format!("{MARKER}\nold"));
            let posted = github.publish(&comment("new")).await;
            let comments = server.comments(7);
            assert_eq!(comments.len(), others + 1);
            if is_read {
                assert!(posted.unwrap().updated);
                assert_eq!(comments[others], format!("{MARKER}\nnew"));
            } else {
                let path = "/repos/acme/app/issues/7/comments";
                assert_eq!(
                    posted.unwrap_err().to_string(),
                    format!("github failed at GET {path}: there are more than 3000 comments")
                );
                assert_eq!(server.writes(), Vec::<String>::new());
            }
        });
    }
}

#[test]
fn an_issue_of_ours_is_looked_for_among_those_that_changed_last() {
    on_server("", async |server, github, _| {
        for number in 1_000..4_001 {
            server.add_issue(json!({ "number": number, "state": "open", "body": "x" }));
        }
        let marker = "<!-- locum:v1 kind=decision job=a -->".to_owned();
        let (body, title) = (format!("{marker}\ntext"), "t".to_owned());
        let posting = Posting::Issue { number: None, marker, title, body };
        assert!(!github.publish(&posting).await.unwrap().updated, "a repository may have many");
        let asked = server.requests().remove(0).path;
        assert!(asked.contains("state=open&sort=updated&direction=desc"), "{asked}");
    });
}

#[test]
fn threads_are_all_read_or_none() {
    for (count, is_read) in [(500, true), (501, false)] {
        on_server("", async |server, github, _| {
            change_lines(&server, count);
            github.publish(&review(count)).await.unwrap();
            let threads = github.review_threads(7).await;
            assert_eq!(threads.is_ok(), is_read, "{count}");
            match threads {
                Ok(threads) => assert_eq!(threads.len(), 500),
                Err(error) => assert_eq!(
                    error.to_string(),
                    "github failed at read pull request #7: there are more than 500 threads on lines"
                ),
            }
        });
    }
}

#[test]
fn an_answer_in_a_discussion_is_not_written_again_where_ours_may_not_be_listed() {
    on_server("", async |server, github, _| {
        let first = server.discuss(4, None, "bob", "What is it?");
        let answer = |comment: u64, marker: &str| Posting::DiscussionReply {
            number: 4,
            comment,
            marker: marker.to_owned(),
            body: format!("{marker}\ntext"),
        };
        for _ in 0..99 {
            server.discuss(4, Some(first), "ann", "so");
        }
        github.publish(&answer(first, MARKER)).await.unwrap();
        let last = server.discuss(4, Some(first), "ann", "and so");
        // The one of ours is listed, and edited.
        assert!(github.publish(&answer(first, MARKER)).await.unwrap().updated);
        let other = "<!-- locum:v1 kind=progress run=2 -->";
        let cut = github.publish(&answer(first, other)).await.unwrap_err();
        assert_eq!(
            cut.to_string(),
            format!(
                "github failed at answer in discussion #4: there are more than 100 answers to \
                 comment {first}"
            )
        );
        // What answers an answer comes after it.
        assert!(!github.publish(&answer(last, other)).await.unwrap().updated);
    });
}

#[test]
fn a_limit_of_the_graph_is_waited_for_as_those_of_rest_and_out_of_the_same_budget() {
    on_server("", async |server, github, clock| {
        change_lines(&server, 1);
        github.publish(&review(1)).await.unwrap();
        let thread = github.review_threads(7).await.unwrap().remove(0).id;
        let resolve = || Posting::Resolution { number: 7, thread: thread.clone() };
        // It comes with a status that says that all is well.
        let limit = || {
            let error = json!({ "type": "RATE_LIMITED", "message": "API rate limit exceeded" });
            let body = json!({ "data": null, "errors": [error] }).to_string();
            Fault { body, ..Fault::status("POST /graphql", 200, "") }
        };
        let waited = || clock.elapsed();
        server.fail(limit());
        github.publish(&resolve()).await.unwrap();
        assert_eq!(waited(), Duration::from_secs(60));

        // A read is given up soon, unless it was said that reads wait as well.
        server.fail(limit());
        let read = github.review_threads(7).await;
        assert!(matches!(read, Err(ForgeError::RateLimited { .. })), "{read:?}");
        github.set_patience(ReadPatience::AsWrites);
        server.fail(limit());
        assert_eq!(github.review_threads(7).await.unwrap().len(), 1);
        assert_eq!(waited(), Duration::from_secs(120));

        // What REST has waited is gone for both.
        for _ in 0..3 {
            server.fail(Fault::status("POST /repos", 429, "slow down"));
        }
        github.publish(&comment("one")).await.unwrap_err();
        server.fail(Fault::status("POST /repos", 429, "slow down"));
        github.publish(&comment("one")).await.unwrap();
        assert_eq!(waited(), Duration::from_secs(300));
        server.fail(limit());
        let refused = github.publish(&resolve()).await;
        assert!(matches!(refused, Err(ForgeError::RateLimited { .. })), "{refused:?}");
        assert_eq!(waited(), Duration::from_secs(300));
    });
}

#[test]
fn a_limit_of_the_graph_is_known_by_kind_or_words_and_says_how_long_it_lasts() {
    for (kind, message, headers, wait_s) in [
        ("RATE_LIMIT", "API rate limit already exceeded for user ID 1.", vec![], 60),
        ("RATE_LIMITED", "no more", vec![("retry-after", "7")], 7),
        ("", "You have exceeded a secondary rate limit.", vec![("retry-after", "9")], 9),
        ("RATE_LIMIT", "no more", vec![("x-ratelimit-remaining", "0"), RESET], 100),
        // Nobody waits for an hour.
        ("RATE_LIMIT", "no more", vec![("retry-after", "3600")], 0),
        ("NOT_FOUND", "no such thing", vec![("retry-after", "9")], 0),
        ("", "something else", vec![], 0),
    ] {
        on_server("", async |server, github, clock| {
            let body = json!({ "errors": [{ "type": kind, "message": message }] }).to_string();
            let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            let headers = headers.into_iter().map(own).collect();
            server.fail(Fault { body, headers, ..Fault::status("POST /graphql", 200, "") });
            github.set_patience(ReadPatience::AsWrites);
            let read = github.review_threads(7).await;
            assert_eq!(read.is_ok(), wait_s > 0, "{kind} {message}: {read:?}");
            assert_eq!(clock.elapsed(), Duration::from_secs(wait_s), "{kind} {message}");
        });
    }
}

#[test]
fn nobody_waits_long_to_know_who_makes_the_commits() {
    on_server("", async |server, github, clock| {
        github.set_patience(ReadPatience::AsWrites);
        let error = json!({ "type": "RATE_LIMIT", "message": "no more" });
        let body = json!({ "errors": [error] }).to_string();
        server.fail(Fault { body, ..Fault::status("POST /graphql", 200, "") });
        assert_eq!(github.commit_author().await, CommitAuthor::default());
        assert_eq!(clock.elapsed(), Duration::ZERO);
    });
}
