//! What the model says of itself, what changed and what the policy's checks said, against every
//! place where the outcome is read.

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

/// What comes of the policy's check.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Check {
    /// There is none.
    Absent,
    Passes,
    Fails,
    /// No rule allows it.
    Refused,
}

fn policy(check: Check) -> String {
    let success = match check {
        Check::Absent => "",
        Check::Passes => ", success: [\"sh check.sh good\"]",
        Check::Fails => ", success: [\"sh check.sh bad\"]",
        Check::Refused => ", success: [\"make test\"]",
    };
    format!(
        "version: 1\nmodes: {{ default: code, allow: [code] }}\nrules:\n  - allow: [\"read(**)\", \
         \"edit(src/**)\", \"command(sh check.sh good)\", \"command(sh check.sh bad)\"]\npublish: {{ as: pull-request, draft: \
         false, allow: [comment, commit, pull-request]{success} }}\n"
    )
}

/// The word and the exit code that follow.
fn expected(status: &str, changed: bool, check: Check) -> (&'static str, i32) {
    match (status, changed, check) {
        ("partial", _, _) => ("partial", 3),
        ("failed", _, _) => ("failed", 3),
        (_, false, _) => ("nothing-to-do", 0),
        (_, true, Check::Fails | Check::Refused) => ("checks-failed", 7),
        (_, true, Check::Absent | Check::Passes) => ("done", 0),
    }
}

#[test]
fn every_place_says_the_same() {
    for status in ["done", "partial", "failed"] {
        for changed in [true, false] {
            for check in [Check::Absent, Check::Passes, Check::Fails, Check::Refused] {
                holds(status, changed, check);
            }
        }
    }
}

fn holds(status: &str, changed: bool, check: Check) {
    let case = format!("{status}, changed: {changed}, check: {check:?}");
    let (word, code) = expected(status, changed, check);
    let stage = Stage::with(&[
        (".locum/policy.yml", &policy(check)),
        ("check.sh", "echo the check ran\ntest \"$1\" = good\n"),
        ("src/a.txt", "a\n"),
    ]);
    let write = "      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: b } }]\n";
    let script = format!(
        "version: 1\ntasks:\n  - turns:\n{}      - calls: [{{ tool: attempt_completion, args: {{ \
         result: r, status: {status} }} }}]\n",
        if changed { write } else { "" }
    );
    let ran = stage.play(&script, &["--publish", "local", "--output-format", "json"]);
    let report = ran.json();
    let of_report = (ran.code, report["outcome"].as_str(), report["exit_code"].as_i64());
    assert_eq!(of_report, (Some(code), Some(word), Some(code.into())), "{case}: {ran:?}");
    assert_eq!(report["tasks"][0]["status"], status, "{case}");

    let runs = changed && status != "failed" && check != Check::Absent;
    let checks = report["checks"].as_array().unwrap();
    assert_eq!(checks.len(), usize::from(runs), "{case}");
    assert_eq!(report["unchecked"], changed && !runs, "{case}");
    if runs {
        assert_eq!(checks[0]["succeeded"], check == Check::Passes, "{case}");
        assert_eq!(checks[0]["problem"].is_string(), check == Check::Refused, "{case}");
    }
    if runs && check == Check::Fails {
        assert_eq!(
            (&checks[0]["exit_code"], &checks[0]["output"]),
            (&1.into(), &"the check ran".into())
        );
    }

    let session = report["session"].as_str().unwrap();
    let shown = stage.run(&["session", "show", session]).out;
    assert!(shown.contains(&format!("\noutcome: {word}\n")), "{case}: {shown}");
    assert!(shown.contains(&format!("ended: {word}")), "{case}: {shown}");
    assert_eq!(shown.contains("the check ran"), runs && check == Check::Fails, "{case}: {shown}");
    assert_eq!(shown.contains("No check ran"), changed && !runs, "{case}: {shown}");
    let listed = stage.run(&["session", "list", "--json"]).json();
    assert_eq!(listed[0]["state"], word, "{case}");
    let checkout = stage.path("checkout").canonicalize().unwrap();
    assert_eq!(listed[0]["repository"].as_str(), checkout.to_str(), "{case}");
    let table = stage.run(&["session", "list"]).out;
    assert!(table.contains("REPOSITORY") && table.contains(" checkout "), "{table}");

    // Only what is done without a flaw is a pull request that is no draft.
    let posted = stage.names(&format!("state/locum/sessions/{session}/postings"));
    let posting = posted.iter().find(|name| name.contains("pull-request"));
    assert_eq!(posting.is_some(), changed && status != "failed", "{case}: {posted:?}");
    if let Some(posting) = posting {
        let text = stage.read(&format!("state/locum/sessions/{session}/postings/{posting}"));
        assert_eq!(text.contains("\"draft\":true"), word != "done", "{case}: {text}");
        assert_eq!(text.contains("the check ran"), check == Check::Fails, "{case}: {text}");
        assert_eq!(text.contains("in part only"), status == "partial", "{case}: {text}");
    }
}
