//! What a model reads when a call is refused, or is written as another agent has it.

use crate::session::fixture::{Fixture, POLICY, turns};
use pretty_assertions::assert_eq;

#[test]
fn a_refusal_names_the_allowed_part_and_the_tool_and_is_told_once() {
    let script = turns(
        r#"
- calls:
    - { tool: execute_command, args: { command: "touch src/x | tail -3" } }
    - { tool: execute_command, args: { command: "cat README.md" } }
    - { tool: execute_command, args: { command: "cat README.md", timeout: 5 } }
    - { tool: execute_command, args: { command: "touch notes.txt" } }
    - { tool: execute_command, args: { command: "git commit -m x" } }
    - { tool: write_to_file, args: { path: .github/workflows/ci.yml, content: x } }
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::new(&script).run();
    let answers = ran.answers("execute_command");
    let expected = [
        "no rule allows `command(tail -3)`. Allowed by itself: `touch src/x`. Long output is \
         shortened by itself: run the command without this.",
        "`false`. `read_file` shows a file, or the lines `offset` and `limit` name.",
        "for the same reason as before: no rule allows `command(cat README.md)`.",
        "May be edited here: `src/**`, `notes.md`.",
        "The run itself commits and publishes the files you changed.",
    ];
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.contains(expected), "{answer}\n  lacks {expected}");
        assert!(answer.len() < 400 && !answer.contains("..  "), "{answer}");
    }
    assert_eq!(answers.len(), expected.len());
    let protected = &ran.answers("write_to_file")[0];
    assert!(
        protected.contains("protected from edits") && !protected.contains("May be edited"),
        "{protected}"
    );
}

#[test]
fn a_tool_that_would_be_refused_too_is_not_named() {
    for (command, named) in [
        ("cat README.md", Some("read_file")),
        ("cat .env", None),
        ("cat /etc/passwd", None),
        ("grep -n x src/a.txt", Some("search_files")),
        ("grep -n x .env", None),
        ("sed -i s/one/1/ src/a.txt", Some("apply_diff")),
        ("sed -i s/one/1/ src/secret.txt", None),
        ("echo x > other.txt", None),
        ("echo x > src/b.txt", Some("write_to_file")),
    ] {
        let call = format!("{{ tool: execute_command, args: {{ command: \"{command}\" }} }}");
        let end = "{ tool: attempt_completion, args: { result: r } }";
        let script = turns(&format!("- calls: [{call}]\n- calls: [{end}]\n"));
        let ran = Fixture::with_policy(&script, POLICY).run();
        let answer = &ran.answers("execute_command")[0];
        let tools = ["read_file", "search_files", "apply_diff", "write_to_file"];
        let found = tools.into_iter().find(|tool| answer.contains(&format!("`{tool}`")));
        assert_eq!(found, named, "{command}: {answer}");
    }
}

#[test]
fn only_tools_and_modes_that_are_there_are_named() {
    let script = turns(
        r#"
- calls:
    - { tool: no_such_tool, args: {} }
    - { tool: new_task, args: { mode: code, message: m } }
    - { tool: switch_mode, args: { mode_slug: ask } }
- calls: [{ tool: execute_command, args: { command: "curl https://docs.rs" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::new(&script).run();
    let unknown = &ran.answers("no_such_tool")[0];
    assert!(unknown.contains("Available here: `read_file`"), "{unknown}");
    for absent in ["generate_image", "web_fetch", "use_mcp_tool", "skill", "ask_expert_model"] {
        assert!(!unknown.contains(absent), "{unknown}");
    }
    let delegated = &ran.answers("new_task")[0];
    assert!(delegated.contains("Modes that may: `orchestrator`;"), "{delegated}");
    let switched = &ran.answers("switch_mode")[0];
    assert!(!switched.contains("Modes that may"), "{switched}");
    let fetched = &ran.answers("execute_command")[0];
    assert!(!fetched.contains("web_fetch"), "{fetched}");
}

#[test]
fn calls_as_other_agents_have_them_are_judged_and_performed_as_what_they_mean() {
    let script = turns(
        r#"
- calls:
    - { tool: Read, args: { file_path: src/a.txt, limit: 1 } }
    - { tool: Edit, args: { file_path: src/a.txt, old_string: "two", new_string: "2" } }
    - { tool: Write, args: { file_path: src/secret.txt, content: "x\n" } }
    - { tool: write_to_file, args: { path: src/b.txt, content: "b\n", line_count: 1 } }
- calls: [{ tool: attempt_completion, args: { result: "r", command: "open x" } }]
"#,
    );
    let fixture = Fixture::with_policy(&script, POLICY);
    let ran = fixture.run();
    assert!(ran.answers("Read")[0].contains("one"), "{:?}", ran.answers("Read"));
    assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\n2\nthree\n"));
    assert!(ran.answers("Write")[0].contains("nobody changes this one"));
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
    let written = &ran.answers("write_to_file")[0];
    assert!(
        written.ends_with("(Ignored: `line_count`. `write_to_file` takes `path`, `content`.)"),
        "{written}"
    );
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/a.txt", "src/b.txt"]));
}
