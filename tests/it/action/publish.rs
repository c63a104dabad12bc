//! What a change becomes, by `publish.as`: through the binary, to what the remote and the server
//! hold afterwards.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask, payload};
use crate::action::git_data;
use crate::support::github::Fault;

const EVERYTHING: &str = "allow: [comment, review, commit, pull-request, label]";

fn with_form(form: &str) -> ActionFixture {
    let fixture = ActionFixture::publishing(&format!("publish: {{ {EVERYTHING}, as: {form} }}"));
    fixture
        .server
        .change_files(&[json!({ "filename": "src/lib.txt", "patch": "@@ -0,0 +1,1 @@\n+text" })]);
    fixture
}

#[test]
fn commit_pushes_a_branch_and_opens_nothing() {
    let fixture = with_form("commit");
    fixture.server.sign_in("our-app[bot]", "Bot");
    let issue = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!(
        (issue.output("outcome"), issue.output("branch-name")),
        ("done", "locum/issue-7-greeting-is-missing"),
        "{issue:?}"
    );
    assert_eq!((issue.output("pull-request-number"), fixture.server.pulls().len()), ("", 0));
    let author = ["log", "-1", "--format=%an <%ae>, %cn", "locum/issue-7-greeting-is-missing"];
    assert_eq!(
        fixture.remote(&author).trim(),
        "our-app[bot] <41898282+our-app[bot]@users.noreply.127.0.0.1>, our-app[bot]"
    );
    assert_eq!(
        fixture
            .remote(&["diff", "--name-only", "main", "locum/issue-7-greeting-is-missing"])
            .trim(),
        "src/hello.txt"
    );

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
    assert_eq!(
        (step.code, step.output("outcome"), step.output("branch-name")),
        (Some(0), "done", ""),
        "{step:?}"
    );
    assert_eq!(
        (
            fixture.remote(&["rev-parse", "feature"]).trim(),
            fixture.remote(&["branch", "--list", "locum/*"]).as_str()
        ),
        (head.as_str(), "")
    );
    let reviews = fixture.server.reviews();
    assert_eq!(
        (reviews.len(), reviews[0]["commit_id"].as_str()),
        (1, Some(head.as_str())),
        "{reviews:#?}"
    );
    let comments = reviews[0]["comments"].as_array().unwrap();
    assert_eq!(
        comments[0],
        json!({ "path": "src/lib.txt", "line": 1, "side": "RIGHT", "body": "```suggestion\ntext\nbetter\n```" })
    );
    let told = comments[1]["body"].as_str().unwrap();
    assert!(
        comments.len() == 2 && told.contains("could be clearer") && !told.contains("@carol"),
        "{comments:#?}"
    );
    assert!(
        fixture.server.comments(8)[0].contains("suggested there, not pushed"),
        "{:?}",
        fixture.server.comments(8)
    );

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
    let comments = reviews[0]["comments"].as_array().unwrap();
    assert_eq!(comments.len(), 1, "a nit is below the floor: {comments:?}");
    let (mark, said) = comments[0]["body"].as_str().unwrap().split_once('\n').unwrap();
    assert!(mark.starts_with("<!-- locum:v1 kind=finding words="), "{mark}");
    assert_eq!(said, "**should fix** `src/lib.txt:1` is vague");
    assert_eq!((&comments[0]["line"], &comments[0]["side"]), (&json!(1), &json!("RIGHT")));
    let body = reviews[0]["body"].as_str().unwrap();
    assert!(body.contains("1 finding: 1 should fix. Nothing was pushed."), "{body}");
    assert!(!body.contains("Needs changes"), "the result is in the comment of the run: {body}");
}

#[test]
fn what_a_review_found_is_published_though_it_could_not_look_at_all() {
    let fixture = with_form("review");
    fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at a part") });
    assert_eq!(step.output("outcome"), "partial", "{step:?}");
    assert_eq!(fixture.server.reviews().len(), 1, "{:#?}", fixture.server.reviews());
}

#[test]
fn a_command_that_is_said_to_show_a_finding_was_really_run() {
    let fixture = with_form("review");
    fixture.set_modes("[code, ask, architect, review]");
    fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum review show what is wrong") });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let reviews = fixture.server.reviews();
    let comments = reviews[0]["comments"].as_array().unwrap();
    let [shown, claimed] = comments.as_slice() else { panic!("{comments:#?}") };
    let body = shown["body"].as_str().unwrap();
    assert!(body.contains("Shown by `sleep nonsense`."), "{body}");
    assert!(body.ends_with("\n\nLocum ran it in this review: exit 1."), "{body}");
    let body = claimed["body"].as_str().unwrap();
    assert!(body.ends_with("\n\nLocum did not run this command in this review."), "{body}");
}

#[test]
fn what_a_review_said_is_not_said_again_by_the_next_one() {
    let fixture = with_form("review");
    fixture.pull_request(false);
    let review = |ids| Ask { number: 8, ids, ..Ask::comment("/locum ask look at it") };
    let first = fixture.fresh(&review((55, 4242)));
    assert_eq!((first.output("outcome"), fixture.server.reviews().len()), ("done", 1), "{first:?}");
    // The same workflow run again, and two later ones.
    for ids in [(55, 4242), (56, 4243), (57, 4244)] {
        let again = fixture.fresh(&review(ids));
        assert_eq!(again.output("outcome"), "done", "{again:?}");
        assert_eq!(fixture.server.reviews().len(), 1, "{ids:?} {:#?}", fixture.server.reviews());
    }
}

#[test]
fn one_mode_reviews_and_another_pushes_under_one_policy() {
    let fixture = ActionFixture::publishing(
        "publish: { allow: [comment, review, commit], as: { pull-requests: commit, modes: { ask: review } } }",
    );
    fixture
        .server
        .change_files(&[json!({ "filename": "src/lib.txt", "patch": "@@ -0,0 +1,1 @@\n+text" })]);
    let head = fixture.pull_request(false);
    let looked = fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at it") });
    assert_eq!(
        (looked.output("outcome"), fixture.server.reviews().len()),
        ("done", 1),
        "{looked:?}"
    );
    assert_eq!(fixture.remote(&["rev-parse", "feature"]).trim(), head);
    let pushed =
        fixture.fresh(&Ask { number: 8, ids: (56, 4243), ..Ask::comment("/locum code say hello") });
    assert_eq!(
        (pushed.output("outcome"), fixture.server.reviews().len()),
        ("done", 1),
        "{pushed:?}"
    );
    assert_ne!(fixture.remote(&["rev-parse", "feature"]).trim(), head);
}

#[test]
fn a_forks_pull_request_is_reviewed_on_its_lines_and_nothing_else_is_done() {
    let fixture = with_form("review");
    fixture.pull_request(true);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at it") });
    assert_eq!((step.output("outcome"), fixture.server.reviews().len()), ("done", 1), "{step:?}");
    let improved = Ask { number: 8, ids: (56, 4243), ..Ask::comment("/locum code improve it") };
    let step = fixture.fresh(&improved);
    assert_eq!(step.output("outcome"), "refused", "{step:?}");
    assert!(fixture.branches().is_empty());
}

#[test]
fn a_finding_is_mended_or_explained_where_it_is_answered() {
    let fixture = with_form("review");
    fixture.pull_request(false);
    fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at it") });
    let finding = fixture.server.review_comments(8)[0]["id"].as_u64().unwrap();
    for (at, (body, result)) in [
        ("/locum fix", "Mended the finding."),
        ("/locum explain", "Explained the finding."),
        ("/locum fix all", "Mended all."),
    ]
    .into_iter()
    .enumerate()
    {
        fixture.move_on(true);
        let id = 60 + u64::try_from(at).unwrap();
        let mut asked = payload(&Ask { number: 8, ids: (id, 5000 + id), ..Ask::comment(body) }).1;
        asked["pull_request"] = fixture.server.pulls()[0].clone();
        asked["comment"]["path"] = json!("src/lib.txt");
        asked["comment"]["line"] = json!(1);
        asked["comment"]["in_reply_to_id"] = json!(finding);
        let run = (5000 + id).to_string();
        let variables = [("GITHUB_RUN_ID", run.as_str())];
        let step = fixture.step_with("pull_request_review_comment", &asked.to_string(), &variables);
        assert_eq!(step.output("final-message"), result, "{body}: {step:?}");
    }
}

#[test]
fn the_thread_of_a_finding_is_resolved_once_its_file_has_changed() {
    let fixture = with_form("review");
    fixture.pull_request(false);
    fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at it") });
    let server = &fixture.server;
    let finding = server.review_comments(8)[0]["id"].as_u64().unwrap();
    server.answer_on_line(8, finding, "ann", "That is meant so.");
    server.react(&format!("pulls/comments/{finding}"), "-1");
    let named = format!("- Fixed: finding {finding}");
    let known = format!("finding {finding} (open, answered, voted down), src/lib.txt:1: ");
    let unknown = format!("finding {finding}, src/lib.txt:1: ");
    let ask = |id, known: &str| {
        fixture.move_on(true);
        fixture.answer_first("which are fixed", known, &named);
        fixture.step(&Ask {
            number: 8,
            ids: (id, 5000 + id),
            ..Ask::comment("/locum ask which are fixed")
        })
    };
    let comment = || server.comments(8).last().unwrap().clone();
    let step = ask(61, &known);
    assert_eq!((step.output("outcome"), server.resolved()), ("done", vec![]), "{step:?}");
    let open = format!(
        "Called fixed, but open because its file has not changed since: finding {finding}."
    );
    assert!(comment().contains(&open), "{}", comment());

    fixture.push_on(8, "feature", "src/lib.txt", "a clear text\n");
    server.fail(Fault::status("POST /graphql", 403, "Resource not accessible").lasting());
    ask(62, &unknown);
    assert!(
        comment().contains("What was fixed could not be resolved: github refused"),
        "{}",
        comment()
    );
    server.heal();
    let step = ask(63, &known);
    assert_eq!((step.output("outcome"), server.resolved()), ("done", vec![finding]), "{step:?}");
    let said = format!("Fixed and resolved: finding {finding}.");
    assert!(comment().contains(&said), "{}", comment());
    assert_eq!(server.reviews().len(), 1, "what is fixed is no new finding");
}

#[test]
fn a_mend_in_another_pull_request_resolves_no_thread_of_this_one() {
    for (flag, resolves) in [(" --new-pr", false), ("", true)] {
        let forms = "{ pull-requests: commit, modes: { ask: review } }";
        let fixture = with_form(forms);
        fixture.pull_request(false);
        fixture.step(&Ask { number: 8, ..Ask::comment("/locum ask look at it") });
        let finding = fixture.server.review_comments(8)[0]["id"].as_u64().unwrap();
        fixture.move_on(true);
        let file = json!({ "path": "src/lib.txt", "content": "a clear text\n" });
        let calls = [
            json!({ "tool": "read_file", "args": { "path": "src/lib.txt" } }),
            json!({ "tool": "write_to_file", "args": file }),
        ];
        let result = json!({ "result": format!("- Fixed: finding {finding}") });
        let ended = json!({ "tool": "attempt_completion", "args": result });
        let turns = [json!({ "calls": calls }), json!({ "calls": [ended] })];
        fixture.script_first("write it clearly", &turns);
        let body = format!("/locum code{flag} write it clearly");
        let step = fixture.step(&Ask { number: 8, ids: (61, 5061), ..Ask::comment(&body) });
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        assert_eq!(fixture.server.pulls().len(), if resolves { 1 } else { 2 });
        let expected: &[u64] = if resolves { &[finding] } else { &[] };
        assert_eq!(fixture.server.resolved(), expected, "{:?}", fixture.server.comments(8).last());
    }
}

#[test]
fn a_review_needs_its_own_permission_and_an_issue_has_none() {
    let fixture = ActionFixture::publishing("publish: { allow: [comment, commit], as: review }");
    fixture
        .server
        .change_files(&[json!({ "filename": "src/lib.txt", "patch": "@@ -0,0 +1,1 @@\n+text" })]);
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
    assert_eq!(
        (fixture.remote(&["rev-parse", "feature"]).trim(), fixture.server.pulls().len()),
        (head.as_str(), 1)
    );

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

#[test]
fn commits_that_the_forge_signs_keep_modes_deletions_and_bytes() {
    let fixture = ActionFixture::publishing(&format!("publish: {{ {EVERYTHING}, sign: api }}"));
    std::fs::write(fixture.stage.path("checkout/src/raw.bin"), [0, 159, 146, 150]).unwrap();
    fixture.stage.commit("raw");
    fixture.stage.git(&[
        "push",
        "-q",
        fixture.stage.path("remotes/acme/app.git").to_str().unwrap(),
        "main",
    ]);
    git_data::serve(&fixture, true);
    fixture.refuse_pushes();
    let step = fixture.step(&Ask::comment("/locum code rearrange"));
    let branch = "locum/issue-7-greeting-is-missing";
    assert_eq!((step.output("outcome"), step.output("branch-name")), ("done", branch), "{step:?}");
    let changed = fixture.remote(&["diff", "--raw", "--no-renames", "--abbrev=4", "main", branch]);
    let changed: Vec<String> = changed
        .lines()
        .map(|line| {
            format!("{} {} {}", &line[1..7], &line[8..14], line.split('\t').nth(1).unwrap())
        })
        .collect();
    let expected = [
        "000000 100644 src/copy.bin",
        "100644 000000 src/lib.txt",
        "000000 100644 src/moved.txt",
        "100644 100755 src/tool.sh",
    ];
    assert_eq!(changed, expected, "{step:?}");
    assert_eq!(
        fixture.remote(&["log", "-1", "--format=%s|%an", branch]).trim(),
        "Rearranged|locum-bot"
    );
    assert_eq!(
        fixture.remote(&["rev-parse", &format!("{branch}:src/copy.bin")]),
        fixture.remote(&["rev-parse", "main:src/raw.bin"])
    );

    // The same again finds its own commit; on a pull request its branch moves on from the head.
    let again = fixture.step(&Ask::comment("/locum code rearrange"));
    assert_eq!(
        (
            again.output("branch-name"),
            fixture.remote(&["branch", "--list", "locum/*"]).lines().count()
        ),
        (branch, 1),
        "{again:?}"
    );
}

#[test]
fn a_signed_commit_moves_a_pull_requests_branch_and_only_forward() {
    let fixture = ActionFixture::publishing(&format!("publish: {{ {EVERYTHING}, sign: api }}"));
    let head = fixture.pull_request(false);
    git_data::serve(&fixture, true);
    fixture.refuse_pushes();
    let ask = || Ask { number: 8, ..Ask::comment("/locum code say hello") };
    let step = fixture.step(&ask());
    assert_eq!(
        (step.output("outcome"), step.output("branch-name")),
        ("done", "feature"),
        "{step:?}"
    );
    assert_eq!(fixture.remote(&["rev-parse", "feature~1"]).trim(), head);
    // Somebody pushed meanwhile.
    fixture.remote(&["update-ref", "refs/heads/feature", "main"]);
    let late = fixture.step(&ask());
    assert_eq!(
        (late.output("outcome"), late.output("branch-name")),
        ("not-published", ""),
        "{late:?}"
    );
    assert!(
        fixture.server.comments(8)[0].contains("holds something else"),
        "{:?}",
        fixture.server.comments(8)
    );
}

#[test]
fn what_the_forge_does_not_sign_or_makes_otherwise_is_not_published() {
    let fixture = ActionFixture::publishing(&format!("publish: {{ {EVERYTHING}, sign: api }}"));
    git_data::serve(&fixture, false);
    let step = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!(
        (step.output("outcome"), step.output("branch-name")),
        ("not-published", ""),
        "{step:?}"
    );
    let comment = fixture.server.comments(7)[0].clone();
    assert!(
        comment.contains("signed no commit of this token (unsigned)") && comment.contains("+hello"),
        "{comment}"
    );
    assert_eq!(fixture.remote(&["branch", "--list", "locum/*"]), "");

    git_data::serve(&fixture, true);
    let other = json!({ "sha": "0".repeat(40) }).to_string();
    fixture
        .server
        .fail(Fault { body: other, ..Fault::status("POST /repos/acme/app/git/trees", 201, "") });
    let step = fixture.step(&Ask { ids: (57, 4343), ..Ask::comment("/locum code say hello") });
    assert_eq!((step.output("branch-name"), fixture.server.pulls().len()), ("", 0), "{step:?}");
    assert!(
        fixture.server.comments(7)[1].contains("not the one that was judged"),
        "{:?}",
        fixture.server.comments(7)
    );
}
