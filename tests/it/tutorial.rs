//! The tutorial of `docs/policy/first.md`, followed: its small policy is saved, checked, asked and
//! tried with its script.

use crate::docs::read;
use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

/// The first block of a page after a comment that says what it is.
fn block(page: &str, marker: &str) -> String {
    let rest = page.split(&format!("<!-- {marker} -->\n```yaml\n")).nth(1).unwrap();
    rest.split("```").next().unwrap().to_owned()
}

#[test]
fn the_small_policy_of_the_tutorial_does_what_the_page_says() {
    let page = read("docs/policy/first.md");
    let stage = Stage::with(&[(".locum/policy.yml", &block(&page, "policy"))]);
    let checked = stage.run(&["policy", "check"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(0), ".locum/policy.yml: ok\n"));
    for (question, code) in [
        ("read(Makefile)", 0),
        ("edit(src/lib.rs)", 0),
        ("edit(src/generated/api.rs)", 4),
        ("edit(docs/a.md)", 4),
        ("command(cargo test --workspace)", 0),
        ("command(cargo build)", 4),
        ("fetch(https://docs.rs/serde)", 4),
        ("publish(pull-request)", 4),
    ] {
        let ran = stage.run(&["policy", "explain", "--mode", "code", question]);
        assert_eq!(ran.code, Some(code), "{question}: {ran:?}");
    }
    let ran = stage.play(&block(&page, "script"), &["--mode", "code", "--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = ran.json();
    assert_eq!(report["refusals"][0]["call"], "write Makefile", "{report}");
    assert_eq!(report["changes"][0]["path"], "src/greeting.rs", "{report}");
}
