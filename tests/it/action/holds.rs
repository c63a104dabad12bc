//! A run that stops for a person, and the comment by which it goes on: in another workflow run, on
//! another machine.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};

/// A `git` that kills the run once it has moved the ref of a session on.
const KILLS_AFTER_CLAIM: &str = "real=$(PATH=${PATH#*:} command -v git)\ncase \"$*\" in\n\
*force-with-lease=refs/locum/sessions/*) $real \"$@\"; kill -9 $PPID;;\n\
*) exec $real \"$@\";;\nesac";

/// A run held at its second edit, and then a machine that knows nothing of it.
fn held(fixture: &ActionFixture) -> String {
    let step = fixture.step(&Ask::comment("/locum code hold it"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    let hold = fixture.waiting(7);
    assert_eq!(hold.len(), 16, "{:?}", fixture.server.comments(7));
    fixture.move_on(true);
    hold
}

/// What someone says in the next comment, which starts the next workflow run.
fn says(fixture: &ActionFixture, body: &str) -> WorkflowStep {
    fixture.step(&Ask { ids: (56, 4343), ..Ask::comment(body) })
}

/// The comments that are not the run's own.
fn told(fixture: &ActionFixture) -> String {
    fixture
        .server
        .comments(7)
        .into_iter()
        .filter(|body| !body.contains("kind=progress"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_maintainer_approves_and_the_run_goes_on_elsewhere() {
    let fixture = ActionFixture::new();
    let hold = held(&fixture);
    let comment = fixture.server.comments(7)[0].clone();
    for shown in [
        "write src/held/a.txt",
        "a person looks at these",
        ".locum/policy.yml:13",
        "+held",
        &format!("/locum approve {hold}"),
    ] {
        assert!(comment.contains(shown), "{shown} in {comment}");
    }
    assert_eq!(fixture.kept_sessions().len(), 1);

    let step = says(&fixture, &format!("/locum approve {hold}"));
    assert_eq!(
        (step.code, step.output("outcome"), step.output("denied-count")),
        (Some(0), "done", "0"),
        "{step:?}"
    );
    let branch = step.output("branch-name").to_owned();
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", &branch]),
        "src/held/a.txt\nsrc/hello.txt\n"
    );
    assert_eq!((fixture.kept_sessions(), fixture.server.pulls().len()), (vec![], 1));
    let comments = fixture.server.comments(7);
    assert!(
        comments.len() == 1
            && comments[0].contains("Approved by people: 1 call")
            && comments[0].contains("`alice`"),
        "{comments:#?}"
    );
    let contents: Vec<_> = fixture
        .server
        .reactions()
        .iter()
        .map(|reaction| reaction["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        contents,
        [56, 55].map(|id| format!("/repos/acme/app/issues/comments/{id}/reactions")),
        "the eyes on both comments are gone"
    );
}

#[test]
fn always_is_a_yes_and_proposes_a_rule_for_the_next_time() {
    let fixture = ActionFixture::new();
    let hold = held(&fixture);
    let before = fixture.remote(&["show", "main:.locum/policy.yml"]);
    let step = says(&fixture, &format!("/locum approve {hold} always"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let proposed = told(&fixture);
    for shown in [
        "a run like this one no longer waits for `edit(src/held/a.txt)`",
        "```diff\ndiff --git a/.locum/policy.yml b/.locum/policy.yml",
        "+    except: \"edit(src/held/a.txt)\"",
    ] {
        assert!(proposed.contains(shown), "{shown} in {proposed}");
    }
    let branch = step.output("branch-name").to_owned();
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", &branch]),
        "src/held/a.txt\nsrc/hello.txt\n",
        "a run never changes its policy"
    );
    assert_eq!(fixture.remote(&["show", "main:.locum/policy.yml"]), before);
}

#[test]
fn what_a_command_wrote_to_a_held_file_is_brought_elsewhere_and_not_written_again() {
    let fixture = ActionFixture::publishing(
        "publish: { allow: [comment, commit, pull-request] }\ncommands: { contained: allow }",
    );
    let step = fixture.step(&Ask::comment("/locum code write by command"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    let comment = fixture.server.comments(7)[0].clone();
    for shown in ["src/held/a.txt", "a person looks at these", "+held/a"] {
        assert!(comment.contains(shown), "{shown} in {comment}");
    }
    let hold = fixture.waiting(7);
    fixture.move_on(true);
    let step = says(&fixture, &format!("/locum approve {hold}"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let branch = step.output("branch-name").to_owned();
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", &branch]),
        "src/held/a.txt\nsrc/hello.txt\n"
    );
}

#[test]
fn what_a_command_wrote_to_a_held_file_is_brought_by_a_job_that_is_started_again_too() {
    let fixture = ActionFixture::publishing(
        "publish: { allow: [comment, commit, pull-request] }\ncommands: { contained: allow }",
    );
    let step = fixture.step(&Ask::comment("/locum code write by command"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    let approve = format!("/locum approve {}", fixture.waiting(7));
    fixture.move_on(true);
    fixture.stage.program("git", KILLS_AFTER_CLAIM);
    let killed = says(&fixture, &approve);
    assert_eq!(killed.code, None, "{killed:?}");
    std::fs::remove_file(fixture.stage.path("bin/git")).unwrap();
    // The claim is one more commit above what waits, and the checkout has no history.
    fixture.move_on(true);
    let again = fixture.step(&Ask {
        ids: (56, 4343),
        inputs: &[("GITHUB_RUN_ATTEMPT", "2")],
        ..Ask::comment(&approve)
    });
    assert_eq!((again.code, again.output("outcome")), (Some(0), "done"), "{again:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", again.output("branch-name")]),
        "src/held/a.txt\nsrc/hello.txt\n"
    );
}

#[test]
fn a_no_and_an_answer_are_told_to_the_model() {
    let fixture = ActionFixture::new();
    let hold = held(&fixture);
    let step = says(&fixture, &format!("/locum deny {hold} leave that folder alone"));
    assert_eq!((step.output("outcome"), step.output("denied-count")), ("done", "1"), "{step:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]),
        "src/hello.txt\n"
    );

    let fixture = ActionFixture::new();
    assert_eq!(fixture.step(&Ask::comment("/locum code ask me")).output("outcome"), "needs-input");
    fixture.move_on(false);
    let step = says(&fixture, "/locum answer blue, like the sky");
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]),
        "src/colour.txt\n"
    );
    assert_eq!(fixture.kept_sessions(), Vec::<String>::new());
}

#[test]
fn a_reply_that_quotes_the_question_answers_it_and_talk_about_it_does_not() {
    let fixture = ActionFixture::new();
    assert_eq!(fixture.step(&Ask::comment("/locum code ask me")).output("outcome"), "needs-input");
    fixture.move_on(true);
    let comment = fixture.server.comments(7)[0].clone();
    let quoted: String = comment
        .lines()
        .filter(|line| !line.starts_with("<!--"))
        .map(|line| format!("> {line}\n"))
        .collect();
    let talk = says(&fixture, &format!("{quoted}\nblue, I think?"));
    assert_eq!(talk.output("outcome"), "skipped", "{talk:?}");
    let step = says(&fixture, &format!("{quoted}\n/locum blue"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]),
        "src/colour.txt\n"
    );
}

#[test]
fn one_hold_after_another_each_needs_its_own_yes() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask::comment("/locum code hold two"));
    let both = fixture.waiting(7);
    let (first, second) = both.split_once('.').expect("both calls of the reply wait");
    fixture.move_on(true);
    let step = says(&fixture, &format!("/locum approve {first}"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    assert_eq!(fixture.waiting(7), second);
    let reactions = fixture.server.reactions();
    let contents: Vec<_> =
        reactions.iter().filter_map(|reaction| reaction["content"].as_str()).collect();
    assert_eq!(
        contents,
        ["eyes", "+1"],
        "the run waits, the comment that decided does not: {reactions:?}"
    );
    fixture.move_on(true);
    let again =
        fixture.step(&Ask { ids: (57, 4444), ..Ask::comment(&format!("/locum approve {first}")) });
    assert_eq!(again.output("outcome"), "skipped", "{again:?}");
    let step =
        fixture.step(&Ask { ids: (58, 4545), ..Ask::comment(&format!("/locum approve {second}")) });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]),
        "src/held/a.txt\nsrc/held/b.txt\n"
    );
}

#[test]
fn one_comment_decides_on_all_calls_and_its_words_reach_the_model() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask::comment("/locum code hold two, then read"));
    fixture.move_on(true);
    let step = says(&fixture, "/locum approve all but keep them short");
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]),
        "src/held/a.txt\nsrc/held/b.txt\n"
    );
}

#[test]
fn sub_tasks_beside_each_other_are_carried_with_what_each_changed() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask::comment("/locum code split it up"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    let both = fixture.waiting(7);
    let (second, first) = both.split_once('.').expect("two wait");
    let comment = fixture.server.comments(7)[0].clone();
    for shown in [second, first, "src/held/two.txt", "src/held/three.txt"] {
        assert!(comment.contains(shown), "{shown} in {comment}");
    }
    fixture.move_on(true);
    let step = says(&fixture, &format!("/locum approve {first}"));
    assert_eq!(
        (step.code, step.output("outcome")),
        (Some(5), "on-hold"),
        "the other one waits: {step:?}"
    );
    assert_eq!(fixture.waiting(7), second);
    fixture.move_on(true);
    let step =
        fixture.step(&Ask { ids: (57, 4444), ..Ask::comment(&format!("/locum approve {second}")) });
    assert_eq!(
        (step.code, step.output("outcome"), step.output("denied-count")),
        (Some(0), "done", "0"),
        "{step:?}"
    );
    let changed = fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]);
    assert_eq!(
        changed,
        "src/held/three.txt\nsrc/held/two.txt\nsrc/one.txt\nsrc/three.txt\nsrc/two.txt\n"
    );
    assert_eq!((fixture.kept_sessions(), fixture.server.pulls().len()), (vec![], 1));
    assert_eq!(
        fixture.stage.git(&["for-each-ref", "refs/locum/trees"]),
        "",
        "nothing is kept apart any more"
    );
}

#[test]
fn nobody_else_decides_and_no_other_name_counts() {
    let fixture = ActionFixture::new();
    let hold = held(&fixture);
    let kept = fixture.kept_sessions();
    let approve = format!("/locum approve {hold}");
    fixture.server.permit("locum-bot", json!({ "permission": "write", "role_name": "write" }));
    for (login, kind) in [
        ("eve", "User"),
        ("mallory", "User"),
        ("locum-bot", "Bot"),
        ("github-actions[bot]", "Bot"),
        ("other[bot]", "Bot"),
    ] {
        let step = fixture.step(&Ask { login, kind, ids: (56, 4343), ..Ask::comment(&approve) });
        assert_eq!(step.output("outcome"), "skipped", "{login}: {step:?}");
    }
    for (body, why) in [
        ("/locum approve 0123456789abcdef", "nothing waits here under the name"),
        ("/locum approve", "needs the name of what waits"),
        (&format!("/locum answer {hold} yes"), "approved or denied, not answered"),
        ("/locum answer yes", "approved or denied, not answered"),
    ] {
        let step = says(&fixture, body);
        assert_eq!(step.output("outcome"), "skipped", "{body}: {step:?}");
        assert!(
            step.output("final-message").contains(why) && told(&fixture).contains(why),
            "{body}: {}",
            told(&fixture)
        );
    }
    assert_eq!(
        (fixture.kept_sessions(), fixture.server.pulls().len()),
        (kept, 0),
        "nothing of that changed anything"
    );
    assert_eq!(says(&fixture, &approve).output("outcome"), "done");
}

#[test]
fn a_yes_counts_once_and_a_job_started_again_is_the_same_yes() {
    let fixture = ActionFixture::new();
    let hold = held(&fixture);
    let approve = format!("/locum approve {hold}");
    // Killed after it had taken the session: the claim is there, the run is not.
    fixture.stage.program("git", KILLS_AFTER_CLAIM);
    let killed = says(&fixture, &approve);
    assert_eq!(killed.code, None, "{killed:?}");
    std::fs::remove_file(fixture.stage.path("bin/git")).unwrap();
    fixture.move_on(true);
    let other = fixture.step(&Ask { ids: (57, 4444), ..Ask::comment(&approve) });
    assert_eq!(other.output("outcome"), "skipped", "{other:?}");
    assert!(
        other.output("final-message").contains("taken by comment 56 in workflow run 4343"),
        "{other:?}"
    );
    let again = fixture.step(&Ask {
        ids: (56, 4343),
        inputs: &[("GITHUB_RUN_ATTEMPT", "2")],
        ..Ask::comment(&approve)
    });
    assert_eq!(
        (again.code, again.output("outcome"), fixture.server.pulls().len()),
        (Some(0), "done", 1),
        "{again:?}"
    );
    let late = fixture.step(&Ask { ids: (58, 4545), ..Ask::comment(&approve) });
    assert_eq!(late.output("outcome"), "skipped", "{late:?}");
    assert_eq!(fixture.server.pulls().len(), 1);
}

#[test]
fn nothing_goes_on_under_another_policy_from_another_head_or_with_another_session() {
    for change in ["policy", "ignore"] {
        let fixture = ActionFixture::new();
        let hold = held(&fixture);
        fixture.move_on(false);
        match change {
            "policy" => fixture.stage.write(
                "checkout/.locum/policy.yml",
                &format!("{}\n# another one\n", fixture.stage.read("checkout/.locum/policy.yml")),
            ),
            _ => fixture.stage.write("checkout/.locumignore", "src/secret/\n"),
        }
        fixture.stage.commit("other rules");
        fixture.stage.git(&[
            "push",
            "-q",
            fixture.stage.path("remotes/acme/app.git").to_str().unwrap(),
            "main",
        ]);
        let step = says(&fixture, &format!("/locum approve {hold}"));
        assert_eq!(step.output("outcome"), "skipped", "{change}: {step:?}");
        assert!(
            step.output("final-message")
                .contains("the policy, or an ignore file, is another one since"),
            "{step:?}"
        );
    }
    let fixture = ActionFixture::new();
    let hold = held(&fixture);
    let name = fixture.kept_sessions()[0].split(' ').next().unwrap().to_owned();
    fixture.remote(&["update-ref", &name, "refs/heads/main"]);
    let step = says(&fixture, &format!("/locum approve {hold}"));
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    assert!(
        step.output("final-message").contains("not the one that the run's comment names"),
        "{step:?}"
    );
}

#[test]
fn on_a_pull_request_the_head_has_to_be_the_same() {
    let fixture = ActionFixture::new();
    let head = fixture.pull_request(false);
    let paused = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code hold it") });
    assert_eq!(paused.output("outcome"), "on-hold", "{paused:?}");
    let approve = format!("/locum approve {}", fixture.waiting(8));
    fixture.move_on(true);
    let step = fixture.step(&Ask { number: 8, ids: (56, 4343), ..Ask::comment(&approve) });
    assert_eq!(
        (step.code, step.output("outcome"), step.output("branch-name")),
        (Some(0), "done", "feature"),
        "{step:?}"
    );
    assert_eq!(
        fixture.remote(&["diff", "--name-only", &head, "feature"]),
        "src/held/a.txt\nsrc/hello.txt\n"
    );

    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    fixture.step(&Ask { number: 8, ..Ask::comment("/locum code hold it") });
    let approve = format!("/locum approve {}", fixture.waiting(8));
    let remote = fixture.stage.path("remotes/acme/app.git");
    fixture.stage.git(&["fetch", "-q", remote.to_str().unwrap(), "feature:feature"]);
    fixture.stage.git(&["switch", "-q", "feature"]);
    fixture.stage.commit("more");
    let moved = fixture.stage.git(&["rev-parse", "HEAD"]).trim().to_owned();
    fixture.stage.git(&[
        "push",
        "-q",
        remote.to_str().unwrap(),
        "feature:feature",
        "feature:refs/pull/8/head",
    ]);
    fixture.server.change_pull(8, "/head/sha", json!(moved));
    fixture.move_on(true);
    let step = fixture.step(&Ask { number: 8, ids: (56, 4343), ..Ask::comment(&approve) });
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    assert_eq!(fixture.waiting(8), "");
    let closed = fixture.server.comments(8).join("\n");
    let why = "As things are now, no decision counts: the pull request has new commits since";
    assert!(closed.contains(why) && !closed.contains("/locum approve"), "{closed}");
    assert!(step.output("final-message").contains("new commits since"), "{step:?}");
}

#[test]
fn a_session_that_cannot_be_kept_says_so() {
    let fixture = ActionFixture::new();
    fixture.refuse_pushes();
    let step = fixture.step(&Ask::comment("/locum code hold it"));
    assert_eq!(step.output("outcome"), "not-published", "{step:?}");
    let comment = &fixture.server.comments(7)[0];
    assert!(
        comment.contains("the run cannot go on: the session cannot be kept in the repository")
            && comment.contains("write src/held/a.txt"),
        "{comment}"
    );
}

#[test]
fn a_run_that_nothing_started_on_asks_in_an_issue_of_its_own() {
    let dispatched = |fixture: &ActionFixture, run| {
        let inputs = [("INPUT_PROMPT", "hold it"), ("INPUT_MODE", "code")];
        fixture.step(&Ask {
            event: "workflow_dispatch",
            inputs: &inputs,
            ids: (0, run),
            ..Ask::comment("")
        })
    };
    let fixture =
        ActionFixture::publishing("publish: { allow: [comment, commit, pull-request, issue] }");
    let step = dispatched(&fixture, 4242);
    assert_eq!(step.output("outcome"), "on-hold", "{step:?}");
    let issue = fixture.server.issues().pop().unwrap();
    let number = issue["number"].as_u64().unwrap();
    assert!(
        issue["body"].as_str().unwrap().starts_with("<!-- locum:v1 kind=decision session="),
        "{issue:#}"
    );
    let hold = fixture.waiting(number);
    fixture.move_on(true);
    // Only there: the same words on another issue decide nothing.
    let elsewhere = says(&fixture, &format!("/locum approve {hold}"));
    assert_eq!(elsewhere.output("outcome"), "skipped", "{elsewhere:?}");
    let copied = fixture.server.comments(number)[0].clone();
    fixture.server.add_comment(7, "locum-bot", "Bot", &copied);
    let copied = says(&fixture, &format!("/locum approve {hold}"));
    assert!(copied.output("final-message").contains("waits on another issue"), "{copied:?}");
    let step = fixture.step(&Ask {
        number,
        ids: (56, 4343),
        ..Ask::comment(&format!("/locum approve {hold}"))
    });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]),
        "src/held/a.txt\nsrc/hello.txt\n"
    );
    assert!(
        fixture.server.comments(number)[0].contains("Approved by people: 1 call"),
        "{:?}",
        fixture.server.comments(number)
    );

    let fixture = ActionFixture::new();
    let before = fixture.server.issues().len();
    let step = dispatched(&fixture, 4242);
    assert_eq!(
        (step.output("outcome"), fixture.server.issues().len()),
        ("not-published", before),
        "{step:?}"
    );
    assert!(
        fixture.stage.read("summary").contains("publish(issue)"),
        "{}",
        fixture.stage.read("summary")
    );
}

#[test]
fn sessions_that_nobody_decides_on_go_after_their_time() {
    let fixture = ActionFixture::new();
    let git = git2::Repository::open_bare(fixture.stage.path("remotes/acme/app.git")).unwrap();
    let main = git.find_reference("refs/heads/main").unwrap().peel_to_commit().unwrap();
    let kept = |session: &str, days: i64| {
        let time = git2::Time::new(jiff::Timestamp::now().as_second() - days * 86_400, 0);
        let who = git2::Signature::new("locum", "locum@localhost", &time).unwrap();
        let name = format!("refs/locum/sessions/{session}");
        git.commit(Some(&name), &who, &who, "waits", &main.tree().unwrap(), &[]).unwrap();
    };
    // Old; started long ago but waiting since yesterday; of a name that tells no time.
    kept("0189aabbccdd7eeeb333444455556666", 8);
    kept("0189aabbccdd7eeeb333444455557777", 1);
    kept("somebodys-own", 300);
    assert_eq!(fixture.step(&Ask::comment("/locum code say hello")).output("outcome"), "done");
    let left: Vec<String> = fixture
        .kept_sessions()
        .iter()
        .filter_map(|line| Some(line.split(' ').next()?.rsplit('/').next()?.to_owned()))
        .collect();
    assert_eq!(left, ["0189aabbccdd7eeeb333444455557777", "somebodys-own"]);
}
