//! What a sub-task with a worktree of its own finds of the folders that git ignores where its
//! parent works: its commands and its tools find the same.

use crate::session::fixture::{Fixture, POLICY, Ran};
use pretty_assertions::assert_eq;

fn policy() -> String {
    let parallel = "delegation: { from: [orchestrator], depth: 2, tasks: 20, parallel: 4 },";
    POLICY.replace("modes: {", &format!("modes: {{ {parallel}"))
}

/// Runs two parallel sub-tasks in a checkout with a folder that git ignores, `src/gen`. One of them
/// does these calls, one a turn.
fn play(calls: &[&str], policy: &str) -> (Fixture, Ran) {
    let part = |name: &str| {
        format!("          - {{ tool: new_task, args: {{ mode: code, message: Part {name}. }} }}\n")
    };
    let end = "      - calls: [{ tool: attempt_completion, args: { result: r } }]\n";
    let calls: String = calls.iter().map(|call| format!("      - calls: [{call}]\n")).collect();
    let children = format!(
        "  - mode: code\n    contains: Part one.\n    turns:\n{calls}{end}  - mode: code\n    \
         contains: Part two.\n    turns:\n{end}"
    );
    let parts = part("one") + &part("two");
    let script =
        format!("  - mode: orchestrator\n    turns:\n      - calls:\n{parts}{end}{children}");
    let fixture = Fixture::with_policy(&script, policy).in_mode("orchestrator");
    std::fs::write(fixture.root.join(".gitignore"), "src/gen/\n").unwrap();
    locum_testing::repository::commit_all(&git2::Repository::open(&fixture.root).unwrap(), "more");
    std::fs::create_dir_all(fixture.root.join("src/gen/lib")).unwrap();
    std::fs::write(fixture.root.join("src/gen/old"), "dependency\n").unwrap();
    std::fs::write(fixture.root.join("src/gen/lib/inner"), "deep\n").unwrap();
    std::os::unix::fs::symlink("lib", fixture.root.join("src/gen/link")).unwrap();
    let ran = fixture.run();
    (fixture, ran)
}

#[test]
fn commands_that_only_look_find_a_worktree_where_all_others_do() {
    let by_words =
        policy().replace("command(false)", "command(false)\", \"command(cat:*)\", \"command(pwd)");
    let calls = [
        "{ tool: execute_command, args: { command: cat src/gen/old } }",
        "{ tool: execute_command, args: { command: pwd } }",
        "{ tool: execute_command, args: { command: cat inner, cwd: src/gen/lib } }",
        "{ tool: execute_command, args: { command: cat src/secret } }",
    ];
    let (fixture, ran) = play(&calls, &by_words);
    let answers = ran.answers("execute_command");
    assert_eq!(answers.len(), 4, "{answers:?}");
    let root = fixture.root.display().to_string();
    for (answer, expected) in answers.iter().zip(["dependency", &root, "deep", "No such file"]) {
        let output = answer.split_once("\nOutput:\n").map_or("", |(_, output)| output);
        assert!(output.contains(expected), "{expected}: {answer}");
    }
}

#[test]
fn tools_and_commands_read_the_same_and_a_new_file_is_merged() {
    let calls = [
        "{ tool: write_to_file, args: { path: src/gen/config.json, content: \"{}\\n\" } }",
        "{ tool: execute_command, args: { command: \"for f in config.json old; do cat \
         src/gen/$f; done; echo built > src/gen/out\" } }",
        "{ tool: read_file, args: { path: src/gen/config.json } }",
        "{ tool: read_file, args: { path: src/gen/out } }",
        "{ tool: read_file, args: { path: src/gen/old } }",
        "{ tool: read_file, args: { path: src/gen/link/inner } }",
        "{ tool: list_files, args: { path: src/gen } }",
        "{ tool: search_files, args: { path: src/gen, regex: deep } }",
    ];
    let contained = format!("{}commands: {{ contained: allow }}\n", policy());
    let (fixture, ran) = play(&calls, &contained);
    let command = &ran.answers("execute_command")[0];
    assert!(command.contains("{}\ndependency"), "{command}");
    let read = ran.answers("read_file");
    assert_eq!(read.len(), 4, "{read:?}");
    for (answer, expected) in read.iter().zip(["{}", "built", "dependency", "deep"]) {
        assert!(answer.contains(&format!("1 | {expected}")), "{answer}");
    }
    let names = ["config.json", "lib/", "link", "old", "out"];
    let listed = names.map(|name| format!("src/gen/{name}")).join("\n");
    assert_eq!(ran.answers("list_files"), [listed]);
    let searched = &ran.answers("search_files")[0];
    assert!(searched.contains("# src/gen/lib/inner"), "{searched}");
    assert_eq!(fixture.file("src/gen/config.json").as_deref(), Some("{}\n"), "{}", ran.reason());
    assert_eq!(fixture.file("src/gen/out"), None);
}

#[test]
fn an_edit_that_commands_would_not_see_is_refused_and_the_rest_is_merged() {
    let calls = [
        "{ tool: execute_command, args: { command: \"for f in $(echo out); do echo built > \
         src/gen/$f; done\" } }",
        "{ tool: write_to_file, args: { path: src/gen/old, content: new } }, { tool: \
         delete_file, args: { path: src/gen/old } }, { tool: write_to_file, args: { path: \
         src/gen/out, content: new } }",
        "{ tool: write_to_file, args: { path: src/b.txt, content: \"b\\n\" } }",
    ];
    let contained = format!("{}commands: {{ contained: allow }}\n", policy());
    let (fixture, ran) = play(&calls, &contained);
    let answers = [ran.answers("write_to_file"), ran.answers("delete_file")].concat();
    let refused = answers.iter().filter(|answer| answer.contains("git ignores its folder"));
    assert_eq!(refused.count(), 3, "{answers:?}");
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    assert_eq!(fixture.file("src/gen/old").as_deref(), Some("dependency\n"));
}
