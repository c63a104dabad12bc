//! What a change becomes, by `publish.as`: through the binary, to what the remote and the server hold afterwards.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Ask, Fixture};

const EVERYTHING: &str = "allow: [comment, review, commit, pull-request, label]";

fn with_form(form: &str) -> Fixture {
    let fixture = Fixture::publishing(&format!("publish: {{ {EVERYTHING}, as: {form} }}"));
    fixture.server.change_files(&[json!({ "filename": "src/lib.txt", "patch": "@@ -0,0 +1,1 @@\n+text" })]);
    fixture
}

#[test]
fn commit_pushes_a_branch_and_opens_nothing() {
    let fixture = with_form("commit");
    let issue = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!((issue.output("outcome"), issue.output("branch-name")), ("done", "locum/issue-7-greeting-is-missing"), "{issue:?}");
    assert_eq!((issue.output("pull-request-number"), fixture.server.pulls().len()), ("", 0));
    assert_eq!(fixture.remote(&["diff", "--name-only", "main", "locum/issue-7-greeting-is-missing"]).trim(), "src/hello.txt");

    let head = fixture.pull_request(false);
    let pull_request = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(pull_request.output("branch-name"), "feature", "{pull_request:?}");
    assert_eq!(fixture.remote(&["rev-parse", "feature~1"]).trim(), head);
}

#[test]
fn review_suggests_on_lines_and_pushes_nothing() {
    let fixture = with_form("review");
    let head = fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code improve it") });
    assert_eq!((step.code, step.output("outcome"), step.output("branch-name")), (Some(0), "done", ""), "{step:?}");
    assert_eq!(
        (fixture.remote(&["rev-parse", "feature"]).trim(), fixture.remote(&["branch", "--list", "locum/*"]).as_str()),
        (head.as_str(), "")
    );
    let reviews = fixture.server.reviews();
    assert_eq!((reviews.len(), reviews[0]["commit_id"].as_str()), (1, Some(head.as_str())), "{reviews:#?}");
    let comments = reviews[0]["comments"].as_array().unwrap();
    assert_eq!(comments[0], json!({ "path": "src/lib.txt", "line": 1, "side": "RIGHT", "body": "```suggestion\ntext\nbetter\n```" }));
    let told = comments[1]["body"].as_str().unwrap();
    assert!(comments.len() == 2 && told.contains("could be clearer") && !told.contains("@carol"), "{comments:#?}");
    assert!(fixture.server.comments(8)[0].contains("suggested there, not pushed"), "{:?}", fixture.server.comments(8));

    // The same again changes the review that is there.
    let again = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code improve it") });
    assert_eq!((again.output("outcome"), fixture.server.reviews().len()), ("done", 1), "{again:?}");
}

#[test]
fn what_cannot_be_suggested_stands_in_the_review_as_a_diff() {
    let fixture = with_form("review");
    fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let reviews = fixture.server.reviews();
    assert_eq!(reviews[0]["comments"], json!([]));
    assert!(reviews[0]["body"].as_str().unwrap().contains("+hello"), "{reviews:#?}");
}

#[test]
fn a_run_that_only_looks_reviews_what_it_found() {
    let fixture = with_form("review");
    fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at it") });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let reviews = fixture.server.reviews();
    assert_eq!(
        reviews[0]["comments"],
        json!([{ "path": "src/lib.txt", "line": 1, "side": "RIGHT", "body": "**nit** `src/lib.txt:1` is vague" }])
    );
}

#[test]
fn a_review_needs_its_own_permission_and_an_issue_has_none() {
    let fixture = Fixture::publishing("publish: { allow: [comment, commit], as: review }");
    fixture.server.change_files(&[json!({ "filename": "src/lib.txt", "patch": "@@ -0,0 +1,1 @@\n+text" })]);
    let head = fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code improve it") });
    assert_eq!((step.output("outcome"), fixture.server.reviews().len()), ("done", 0), "{step:?}");
    assert_eq!(fixture.remote(&["rev-parse", "feature"]).trim(), head);
    let comment = fixture.server.comments(8)[0].clone();
    assert!(comment.contains("publish(review)") && comment.contains("+better"), "{comment}");
    let issue = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!((issue.output("branch-name"), fixture.server.reviews().len()), ("", 0), "{issue:?}");
    assert!(fixture.server.comments(7)[0].contains("+hello"));
}

#[test]
fn comment_shows_the_diff_and_each_place_has_a_form_of_its_own() {
    let fixture = with_form("comment");
    let head = fixture.pull_request(false);
    for number in [7, 8] {
        let step = fixture.step(&Ask { number, ..Ask::comment("/locum code say hello") });
        assert_eq!((step.output("outcome"), step.output("branch-name")), ("done", ""), "{step:?}");
        assert!(fixture.server.comments(number)[0].contains("+hello"));
    }
    assert_eq!((fixture.remote(&["rev-parse", "feature"]).trim(), fixture.server.pulls().len()), (head.as_str(), 1));

    let fixture = with_form("{ issues: comment, pull-requests: pull-request }");
    let head = fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(fixture.remote(&["rev-parse", "feature"]).trim(), head);
    let number: u64 = step.output("pull-request-number").parse().unwrap();
    let opened = fixture.server.pulls().into_iter().find(|pull| pull["number"] == number).unwrap();
    assert_eq!(
        (opened["base"]["ref"].as_str(), opened["head"]["ref"].as_str()),
        (Some("feature"), Some("locum/pr-8-a-feature")),
        "{step:?}"
    );
    assert_eq!(fixture.step(&Ask::comment("/locum code say hello")).output("branch-name"), "");
}
