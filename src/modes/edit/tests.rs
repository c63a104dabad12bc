//! What stays and what changes when one mode of a file is edited.

use super::{EditError, ModeEdit, edit};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const FILE: &str = "# our modes
customModes:
  # the reviewer
  - slug: rev # do not rename
    name: 'Reviewer'
    # who it is
    roleDefinition: >-
      You review
      changes.

    groups:
    - read
    - - edit
      - fileRegex: \\.md$ # only text
        description: docs
    # the end of rev

  # the second
  - slug: b
    name: B
    roleDefinition: |
      R

      # not a comment
    groups: [read]
# after all
other: 1
";

fn put(mode: Value) -> ModeEdit {
    ModeEdit::Put(mode.as_object().unwrap().clone())
}

fn set(slug: &str, fields: &[(&str, Option<Value>)]) -> ModeEdit {
    ModeEdit::Set {
        slug: slug.to_owned(),
        fields: fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
    }
}

fn remove(slug: &str) -> ModeEdit {
    ModeEdit::Remove { slug: slug.to_owned() }
}

/// Expects the lines that went and came.
fn check(text: &str, change: &ModeEdit, gone: &[&str], come: &[&str]) {
    let edited = edit(text, change).unwrap_or_else(|error| panic!("{change:?}: {error}"));
    let diff = similar::TextDiff::from_lines(text, &edited);
    let of = |tag: similar::ChangeTag| -> Vec<String> {
        let changes = diff.iter_all_changes().filter(|change| change.tag() == tag);
        changes.map(|change| change.value().trim_end_matches('\n').to_owned()).collect()
    };
    assert_eq!(
        (of(similar::ChangeTag::Delete), of(similar::ChangeTag::Insert)),
        (own(gone), own(come)),
        "{edited}"
    );
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn one_key_changes_and_nothing_else() {
    check(
        FILE,
        &set("rev", &[("name", Some(json!("Judge")))]),
        &["    name: 'Reviewer'"],
        &["    name: Judge"],
    );
    check(
        FILE,
        &set("b", &[("groups", Some(json!(["read", "edit"])))]),
        &["    groups: [read]"],
        &["    groups:", "      - read", "      - edit"],
    );
    check(
        FILE,
        &set("rev", &[("groups", Some(json!([])))]),
        &[
            "    groups:",
            "    - read",
            "    - - edit",
            "      - fileRegex: \\.md$ # only text",
            "        description: docs",
        ],
        &["    groups: []"],
    );
    check(
        FILE,
        &set("rev", &[("slug", Some(json!("r2")))]),
        &["  - slug: rev # do not rename"],
        &["  - slug: r2"],
    );
    check(
        FILE,
        &set("b", &[("roleDefinition", Some(json!("one\ntwo")))]),
        &["    roleDefinition: |", "      R", "", "      # not a comment"],
        &["    roleDefinition: |-", "      one", "      two"],
    );
}

#[test]
fn keys_come_and_go() {
    check(
        FILE,
        &set("b", &[("whenToUse", Some(json!("often: yes")))]),
        &[],
        &["    whenToUse: 'often: yes'"],
    );
    check(
        FILE,
        &set("rev", &[("name", None), ("description", Some(json!("d")))]),
        &["    name: 'Reviewer'"],
        &["    description: d"],
    );
    check(FILE, &set("b", &[("nothing", None)]), &[], &[]);
    let role = "customModes:\n  - slug: a\n    name: A\n    role: R\n    groups: []\n";
    check(
        role,
        &set("a", &[("roleDefinition", Some(json!("S")))]),
        &["    role: R"],
        &["    role: S"],
    );
}

#[test]
fn modes_come_and_go() {
    let mode = json!({"slug": "c", "name": "C", "roleDefinition": "R", "groups": ["read"]});
    let lines =
        ["  - slug: c", "    name: C", "    roleDefinition: R", "    groups:", "      - read"];
    check(FILE, &put(mode.clone()), &[], &lines);
    let whole = json!({"slug": "b", "name": "B2", "roleDefinition": "R", "groups": []});
    check(
        FILE,
        &put(whole),
        &[
            "    name: B",
            "    roleDefinition: |",
            "      R",
            "",
            "      # not a comment",
            "    groups: [read]",
        ],
        &["    name: B2", "    roleDefinition: R", "    groups: []"],
    );
    check(
        FILE,
        &remove("b"),
        &[
            "  # the second",
            "  - slug: b",
            "    name: B",
            "    roleDefinition: |",
            "      R",
            "",
            "      # not a comment",
            "    groups: [read]",
        ],
        &[],
    );
    let one = edit(FILE, &remove("rev")).unwrap();
    assert!(one.contains("# our modes") && one.contains("  # the second\n  - slug: b"), "{one}");
    let none = edit(&one, &remove("b")).unwrap();
    assert_eq!(edit(&none, &put(mode.clone())).map(|text| text.contains("# after all")), Ok(true));
    for empty in ["", "customModes: []\n", "# head\ncustomModes:\n", "customModes: [] # none yet"] {
        let text =
            edit(empty, &put(mode.clone())).unwrap_or_else(|error| panic!("{empty}: {error}"));
        assert!(text.ends_with("customModes:\n  - slug: c\n    name: C\n    roleDefinition: R\n    groups:\n      - read\n"), "{text}");
    }
}

#[test]
fn json_is_written_anew() {
    let text =
        "{\n\t\"customModes\": [{\"slug\": \"a\", \"name\": \"A\", \"x\": [1]}],\n\t\"y\": 2\n}\n";
    let edited = edit(text, &set("a", &[("name", Some(json!("B")))])).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&edited).unwrap(),
        json!({"customModes": [{"slug": "a", "name": "B", "x": [1]}], "y": 2})
    );
    let list = edit("[{\"slug\": \"a\"}]", &remove("a")).unwrap();
    assert_eq!(list, "[]\n");
}

#[test]
fn a_text_that_cannot_be_changed_without_harm_is_left_alone() {
    let flow = "customModes: [{slug: a, name: A}]\n";
    let anchor = "customModes:\n  - &a\n    slug: a\n    name: A\n  - <<: *a\n    slug: b\n";
    let odd = "customModes:\n  - {slug: a, name: A}\n";
    for text in [flow, anchor, odd] {
        assert_eq!(
            edit(text, &set("a", &[("name", Some(json!("B")))])),
            Err(EditError::NotInPlace),
            "{text}"
        );
    }
    assert_eq!(edit(FILE, &remove("zzz")), Err(EditError::NoSuchMode("zzz".to_owned())));
    assert!(matches!(edit("customModes: [", &remove("a")), Err(EditError::Broken { .. })));
    assert_eq!(edit("hello\n", &remove("a")), Err(EditError::NotInPlace));
}

#[test]
fn line_ends_and_a_missing_last_one_are_kept() {
    let text = FILE.replace('\n', "\r\n");
    let edited = edit(&text, &set("b", &[("name", Some(json!("C")))])).unwrap();
    assert_eq!(edited, text.replace("name: B\r\n", "name: C\r\n"));
    let cut = "customModes:\n- slug: a\n  name: A";
    assert_eq!(
        edit(cut, &set("a", &[("x", Some(json!(1)))])).unwrap(),
        "customModes:\n- slug: a\n  name: A\n  x: 1\n"
    );
}
