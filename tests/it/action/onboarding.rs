//! `locum init --pull-request`: one pull request, with the files and what they would have done.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::ActionFixture;
use crate::action::git_data;
use crate::support::stage::{ACTION, Ran};

/// Runs `init` in the fixture's checkout, with these variables beside those of the server.
fn init(fixture: &ActionFixture, variables: &[(&str, &str)]) -> Ran {
    init_with(fixture, &["--force", "--job", "release-notes"], variables)
}

fn init_with(fixture: &ActionFixture, flags: &[&str], variables: &[(&str, &str)]) -> Ran {
    let words = ["init", "--pull-request", "--no-check", "--action", ACTION];
    let mut command = fixture.stage.locum(&[words.as_slice(), flags].concat());
    command.env("GITHUB_API_URL", &fixture.server.url).env("GITHUB_REPOSITORY", "acme/app");
    command.envs(variables.iter().copied());
    command.output().unwrap().into()
}

#[test]
fn one_pull_request_says_what_would_have_happened() {
    let fixture = ActionFixture::new();
    git_data::serve(&fixture, false);
    let head = fixture.remote(&["rev-parse", "main"]);
    let user = |login: &str| json!({ "login": login, "type": "User" });
    let issue = |number: u64| json!({ "number": number, "title": "t", "state": "open", "user": user("eve") });
    let comment = |login: &str, body: &str| {
        let created = "2026-01-01T03:00:00Z";
        let comment = json!({ "id": 5, "body": body, "created_at": created, "user": user(login) });
        json!({ "action": "created", "issue": issue(7), "comment": comment })
    };
    fixture.server.add_event(
        "IssuesEvent",
        "eve",
        json!({ "action": "opened", "issue": issue(7) }),
    );
    fixture.server.add_event("IssueCommentEvent", "eve", comment("eve", "/locum fix it"));
    fixture.server.add_event(
        "IssueCommentEvent",
        "alice",
        comment("alice", "/locum code fix | it"),
    );
    fixture.server.add_event("WatchEvent", "eve", json!({ "action": "started" }));

    let ci =
        "on: push\njobs:\n  test:\n    steps:\n      - run: make test\n      - run: git push\n";
    fixture.stage.write("checkout/.github/workflows/ci.yml", ci);
    fixture.stage.write("checkout/Makefile", "test:\n\ttrue\n");

    let opened = init(&fixture, &[("GITHUB_TOKEN", "t")]);
    assert_eq!(opened.code, Some(0), "{opened:?}");
    assert!(opened.out.starts_with("opened pull request #"), "{opened:?}");
    let pulls = fixture.server.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    let text = pulls[0]["body"].as_str().unwrap();
    for part in [
        "- `.locum/policy.yml`\n- `.github/workflows/locum.yml`\n- `.locum/jobs/release-notes.yml`\n",
        "## Jobs\n\nThese start by themselves once it is merged:\n\n- `release-notes`: for a published ",
        "| `alice` | write | 1 | yes |",
        "| `eve` | read | 2 | no: tier `collaborator` may not start runs this way",
        "## The last 3 events, replayed\n\n1 of them would have started a run, 1 would have been \
         refused, \
         the others ask nothing of Locum.",
        "| issue_comment: created | `alice` | #7 | **a run: mode `code`** |",
        "| issues: opened | `eve` | #7 | nothing |",
        "| `make test` | `.github/workflows/ci.yml:5` | allow | `command(make:*)`, line ",
        "| `git push` | `.github/workflows/ci.yml:6` | deny | `command(git push:*)`, line ",
        "a month**: 10.00 US dollars a day",
        "| `contents: write` | push branches |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let changed = fixture.remote(&["diff", "--name-only", "main", "locum/init"]);
    let job = ".locum/jobs/release-notes.yml";
    assert_eq!(changed, format!(".github/workflows/locum.yml\n{job}\n.locum/policy.yml\n"));
    assert_eq!(fixture.remote(&["rev-parse", "main"]), head, "nothing else was written");

    // Again: the same pull request, on the tip of the default branch.
    fixture.add_to_main(&[("src/new.txt", "x")]);
    let updated = init(&fixture, &[("GH_TOKEN", "t")]);
    assert!(
        updated.code == Some(0) && updated.out.starts_with("updated pull request #"),
        "{updated:?}"
    );
    assert_eq!(fixture.server.pulls().len(), 1);
    let main = fixture.remote(&["rev-parse", "main"]);
    assert_eq!(fixture.remote(&["rev-parse", "locum/init~1"]), main);
}

#[test]
fn without_a_token_or_its_rights_nothing_is_written() {
    let fixture = ActionFixture::new();
    let without = init(&fixture, &[]);
    assert!(
        without.code == Some(2)
            && without.err.contains("GITHUB_TOKEN is not set")
            && without.err.contains("gh auth token"),
        "{without:?}"
    );
    let refused = init(&fixture, &[("GITHUB_TOKEN", "t")]);
    assert!(
        refused.code == Some(2) && refused.err.contains("the scope `workflow`"),
        "the server has no git database: {refused:?}"
    );
    assert_eq!(fixture.server.pulls().len(), 0);
    assert!(!fixture.branches().contains(&"locum/init".to_owned()));
}

#[test]
fn what_was_changed_by_hand_stays_in_the_pull_request() {
    let fixture = ActionFixture::new();
    git_data::serve(&fixture, false);
    fixture.stage.run(&["init", "--no-check", "--force", "--action", ACTION]);
    fixture.stage.commit("as init writes it");
    let path = ".github/workflows/locum.yml";
    let written = fixture.stage.read(&format!("checkout/{path}"));
    let by_hand = written.replace("\njobs:", "\n# Ours.\njobs:");
    assert_ne!(written, by_hand);
    fixture.stage.write(&format!("checkout/{path}"), &by_hand);
    fixture.stage.write("checkout/lib/b.sh", "true\n");
    let opened = init_with(&fixture, &[], &[("GITHUB_TOKEN", "t")]);
    assert_eq!(opened.code, Some(0), "{opened:?}");
    let of = |path: &str| fixture.remote(&["show", &format!("locum/init:{path}")]);
    assert_eq!(of(path).trim(), by_hand.trim());
    assert!(of(".locum/policy.yml").contains("edit(lib/**)"));
}
