//! Commands that need no rule for their words, in a run.

use crate::session::fixture::{Fixture, POLICY, turns};
use git2::{ObjectType, Oid};
use locum_testing::repository::{commit_all, init};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn contained(script: &str) -> Fixture {
    let policy = format!("{POLICY}commands: {{ contained: allow }}\n");
    let policy = policy.replace("command(false)", "command(git log:*)");
    Fixture::with_policy(&turns(script), &policy)
}

#[test]
fn any_script_runs_and_each_file_it_writes_is_judged() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "for f in $(echo b c); do echo $f$(wc -l < src/a.txt) > src/$f.txt; done; echo x > notes.txt; tee src/secret.txt < README.md" } }]
- expect: { contains: ["Files changed: src/b.txt, src/c.txt", "nobody changes this one"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt", "src/c.txt"]));
    assert_eq!(fixture.file("src/c.txt").as_deref(), Some("c3\n"));
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
    assert_eq!(fixture.file("notes.txt"), None);
    assert_eq!(ran.outcome.refusals.len(), 1);
}

#[test]
fn what_is_too_large_is_kept_out_and_named_and_everything_else_arrives() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "for f in big; do truncate -s 101M src/$f; done; echo ok > src/ok.txt" } }]
- expect: { contains: ["Files changed: src/ok.txt", "src/big", "more than the 104857600"] }
  calls: [{ tool: execute_command, args: { command: "for f in $(echo two); do echo $f > src/$f.txt; done; ls src/big || echo gone" } }]
- expect: { contains: ["Files changed: src/two.txt", "gone"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/ok.txt", "src/two.txt"]));
    assert_eq!(ran.outcome.refusals.len(), 1, "{:?}", ran.outcome.refusals);
    assert!(format!("{:?}", ran.outcome.refusals).contains("more than the 104857600"));
}

#[test]
fn a_folder_that_was_emptied_is_there_for_the_next_command() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "mkdir -p src/d; echo 1 | tee src/d/a src/d/b" } }]
- calls: [{ tool: execute_command, args: { command: "rm src/d/*; for f in src/d; do ls -d $f; done" } }]
- calls: [{ tool: execute_command, args: { command: "for f in $(echo src/d/c); do echo 3 > $f; done" } }]
- expect: { contains: ["Files changed: src/d/c"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/d/c"]), "{}", ran.reason());
}

#[test]
fn where_a_folder_cannot_be_renamed_the_answer_says_what_works() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "for f in src; do git mv $f lib; done" } }]
- expect: { contains: ["cannot rename a folder of the checkout", "`mv A B`"] }
  calls: [{ tool: execute_command, args: { command: "for f in src; do git mv $f/a.txt $f/b.txt; done" } }]
- expect: { contains: ["Files changed"], not_contains: ["cannot rename"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/a.txt", "src/b.txt"]));
}

#[test]
fn what_is_allowed_in_the_place_of_something_denied_is_kept_and_not_said_to_have_arrived() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "for f in $(echo src/secret.txt); do rm $f; mkdir $f; echo x > $f/inner; done; echo b > src/b.txt" } }]
- expect: { contains: ["Files changed: src/b.txt", "in the way: `src/secret.txt/inner`"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]));
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
}

#[test]
fn what_commands_write_where_nothing_is_changed_is_thrown_away() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "for f in $(echo b c); do echo $f > src/$f.txt; done; rm src/a.txt; cat src/c.txt" } }]
- expect: { contains: ["what the command wrote (3 files) was thrown away"], not_contains: ["Files changed"] }
  calls: [{ tool: execute_command, args: { command: "ls src; echo" } }]
- expect: { contains: ["a.txt"], not_contains: ["c.txt"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let before = fixture.tree();
    let fixture = fixture.in_mode("review");
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.outcome.refusals.len()), ("done", 0));
    assert_eq!(fixture.tree(), before);
}

#[test]
fn git_s_own_files_are_written_in_the_layer_and_stay_what_they_were_in_the_checkout() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "echo more >> src/a.txt; git stash -q; tail -1 src/a.txt" } }]
- expect: { contains: ["three"], not_contains: ["more", "fatal", "error"] }
  calls: [{ tool: execute_command, args: { command: "git stash pop -q && tail -1 src/a.txt" } }]
- expect: { contains: ["more"], not_contains: ["fatal", "error"] }
  calls: [{ tool: execute_command, args: { command: "echo new > src/new.txt; git add -N src/new.txt; git diff --stat; cp src/a.txt $(echo .git)/index.lock" } }]
- expect: { contains: ["src/new.txt | 1"], not_contains: ["fatal", "error"] }
  calls: [{ tool: execute_command, args: { command: "git -c user.name=n -c user.email=e commit -qam work; git log --oneline | head -1" } }]
- expect: { contains: ["work"], not_contains: ["fatal", "error"] }
  calls: [{ tool: execute_command, args: { command: "git checkout -q HEAD~1 -- src/a.txt; tail -1 src/a.txt" } }]
- expect: { contains: ["three"], not_contains: ["fatal", "error"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let fixture = contained(script);
    let head = |name: &str| std::fs::read(fixture.root.join(".git").join(name)).ok();
    let before = ["HEAD", "index", "refs/stash", "logs/HEAD", "config"].map(head);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/new.txt"]), "{:?}", ran.outcome);
    assert_eq!(["HEAD", "index", "refs/stash", "logs/HEAD", "config"].map(head), before);
}

#[test]
fn git_shows_a_difference_beside_another_program() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "echo more >> src/a.txt; for f in src/a.txt; do git diff $f | tail -1; done" } }]
- expect: { contains: ["+more"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    assert_eq!(contained(script).run().word(), "done");
}

#[test]
fn without_a_layer_commands_are_judged_by_their_words() {
    let fixture = contained(
        r#"
- calls: [{ tool: execute_command, args: { command: "for f in b c; do touch src/$f.txt; done" } }]
- expect: { contains: ["The policy refused this call"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    )
    .without_layer();
    let ran = fixture.run();
    assert_eq!((ran.changed().len(), ran.outcome.refusals.len()), (0, 1));
}

#[test]
fn what_git_keeps_of_hidden_files_is_in_no_contained_script_s_sight() {
    let script = r#"
- calls:
    - { tool: execute_command, args: { command: "cat .git/HEAD || echo unseen" } }
    - { tool: execute_command, args: { command: "git log --oneline" } }
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    for (committed, seen) in [(false, "refs/heads"), (true, "unseen")] {
        let fixture = contained(script);
        if committed {
            std::fs::write(fixture.root.join(".env"), "KEY=x\n").unwrap();
            commit_all(&init(&fixture.root), "with a secret");
            std::fs::remove_file(fixture.root.join(".env")).unwrap();
            commit_all(&init(&fixture.root), "without it");
        }
        let ran = fixture.run();
        let answers = ran.answers("execute_command");
        assert!(answers[0].contains(seen), "{answers:?}");
        assert!(answers[1].contains("first"), "{answers:?}");
    }
}

#[test]
fn git_by_itself_shows_no_hidden_file_either_by_name_or_by_number() {
    let secret = b"KEY=hunter2\n";
    let blob = Oid::hash_object(ObjectType::Blob, secret).unwrap().to_string();
    let commands = [
        "git show HEAD:tests/.env".to_owned(),
        "git cat-file -p HEAD:tests/.env".to_owned(),
        format!("git cat-file blob {}", &blob[..8]),
        format!("git cat-file -p {blob}"),
        format!("git show {}", &blob[..8]),
        format!("git diff {blob} HEAD:src/a.txt"),
        "git cat-file --batch-all-objects --batch".to_owned(),
        "git archive HEAD".to_owned(),
        "git format-patch --stdout --root HEAD".to_owned(),
        "git stash show -p".to_owned(),
        "git grep KEY HEAD".to_owned(),
        "git fast-export HEAD".to_owned(),
        "git log -p".to_owned(),
        "git bundle create /tmp/b HEAD && cat /tmp/b | head -c 99999".to_owned(),
        "cat tests/.env".to_owned(),
        "git stash list; git show HEAD:tests/.env".to_owned(),
    ];
    let calls: Vec<Value> = commands
        .iter()
        .map(|command| json!({ "tool": "execute_command", "args": { "command": command } }))
        .collect();
    let end = json!([{ "tool": "attempt_completion", "args": { "result": "r" } }]);
    let script = json!([{ "calls": calls }, { "calls": end }]).to_string();
    let shows = ["show", "diff", "log", "grep", "cat-file", "stash", "archive", "format-patch"];
    let shows = shows.map(|verb| format!("\"command(git {verb}:*)\"")).join(", ");
    let shows = format!("{shows}, \"command(cat:*)\", \"command(head:*)\"");
    let policy = POLICY.replace("\"command(false)\"", &shows) + "commands: { contained: allow }\n";
    let fixture = Fixture::with_policy(&turns(&script), &policy);
    std::fs::create_dir_all(fixture.root.join("tests")).unwrap();
    std::fs::write(fixture.root.join("tests/.env"), secret).unwrap();
    commit_all(&init(&fixture.root), "with a secret");
    let ran = fixture.run();
    let answers = ran.answers("execute_command");
    assert_eq!(answers.len(), commands.len());
    for (answer, command) in answers.iter().zip(&commands) {
        assert!(!answer.contains("hunter2"), "{command}: {answer}");
    }
}

#[test]
fn git_beside_programs_that_read_named_files_works_and_git_s_own_files_are_none() {
    let script = r#"
- calls:
    - { tool: execute_command, args: { command: "ln -s ../.git/HEAD src/link; mkdir built; ln -s ../.git/HEAD built/link; ln -s ../.git built/dir" } }
- calls:
    - { tool: execute_command, args: { command: "head -1 src/a.txt; git log --oneline" } }
    - { tool: execute_command, args: { command: "cat .git/HEAD; git log --oneline" } }
    - { tool: execute_command, args: { command: "cd .git && cat HEAD; git log --oneline" } }
    - { tool: execute_command, args: { command: "cat src/link; git log --oneline" } }
    - { tool: execute_command, args: { command: "cat built/link; git log --oneline" } }
    - { tool: execute_command, args: { command: "cat built/dir/HEAD; git log --oneline" } }
    - { tool: execute_command, args: { command: "echo .git/HEAD | xargs cat; git log --oneline" } }
    - { tool: execute_command, args: { command: "git diff --no-index src/a.txt .git/HEAD; git log --oneline" } }
    - { tool: execute_command, args: { command: "cat < .git/HEAD; git log --oneline" } }
    - { tool: execute_command, args: { command: "cat $(echo .git/HEAD); git log --oneline" } }
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let allowed = ["git log", "git diff", "cat", "head", "echo", "xargs"];
    let allowed = allowed.map(|command| format!("\"command({command}:*)\"")).join(", ");
    let policy =
        POLICY.replace("\"command(false)\"", &allowed) + "commands: { contained: allow }\n";
    let fixture = Fixture::with_policy(&turns(script), &policy);
    std::fs::write(fixture.root.join(".env"), "KEY=x\n").unwrap();
    std::fs::write(fixture.root.join(".gitignore"), "built/\n").unwrap();
    commit_all(&init(&fixture.root), "with a secret");
    let ran = fixture.run();
    let answers = ran.answers("execute_command");
    let [_, named, others @ ..] = answers.as_slice() else { panic!("{answers:?}") };
    assert!(named.contains("one") && named.contains("with a secret"), "{named}");
    assert_eq!(others.len(), 9);
    assert!(others.iter().any(|answer| answer.contains("work alone, and beside")), "{others:?}");
    for answer in others {
        assert!(!answer.contains("refs/heads") && !answer.contains("with a secret"), "{answer}");
    }
}

#[test]
fn a_folder_that_is_moved_shows_nothing_that_was_hidden_in_it() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- calls: [{ tool: execute_command, args: { command: "cat src/moved/private/plan.txt" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let policy = POLICY.replace("\"edit(src/**)\"", "\"edit(**)\", \"command(cat:*)\"")
        + "  - deny: \"read(config/private/**)\"\n";
    for layered in [true, false] {
        let fixture = Fixture::with_policy(&turns(script), &policy);
        let fixture = if layered { fixture } else { fixture.without_layer() };
        std::fs::create_dir_all(fixture.root.join("config/private")).unwrap();
        std::fs::write(fixture.root.join("config/private/plan.txt"), "unseen\n").unwrap();
        std::fs::write(fixture.root.join("step.sh"), "#!/bin/sh\nmv config src/moved\n").unwrap();
        commit_all(&init(&fixture.root), "more");
        let ran = fixture.run();
        let answers = ran.answers("execute_command");
        assert!(answers.len() == 2 && !answers[1].contains("unseen"), "{answers:?}");
        assert_eq!(fixture.file("config/private/plan.txt").as_deref(), Some("unseen\n"));
    }
}

#[test]
fn build_output_that_the_policy_names_is_in_the_checkout_at_the_end_and_no_other() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "mkdir -p dist/deep target src/gen; echo d > dist/deep/d; echo t > target/t; for f in $(echo .env secret.txt); do echo s > dist/$f; done" } }]
- calls: [{ tool: execute_command, args: { command: "cat dist/deep/d" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let policy = format!("{POLICY}  - deny: \"edit(dist/secret.txt)\"\n");
    let policy = format!("{policy}commands: {{ contained: allow, outputs: [dist] }}\n");
    let fixture = Fixture::with_policy(&turns(script), &policy);
    std::fs::write(fixture.root.join(".gitignore"), "dist/\ntarget/\n").unwrap();
    commit_all(&init(&fixture.root), "more");
    let ran = fixture.run();
    assert!(ran.answers("execute_command")[1].contains("Output:\nd"));
    let there = ["dist/deep/d", "target/t", "dist/.env", "dist/secret.txt"];
    assert_eq!(there.map(|path| fixture.file(path).is_some()), [true, false, false, false]);
}

#[test]
fn of_very_many_files_that_stay_out_the_first_are_told_and_the_others_counted() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "mkdir deps; for i in $(seq 300); do echo $i > deps/$i; done" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let policy = POLICY.replace("\"read(**)\"", "\"read(**)\", \"command(mkdir:*)\"");
    for layered in [true, false] {
        let settings = "commands: { contained: allow, expansions: allow }";
        let policy = policy.replace(
            "command(false)",
            "command(for:*)\", \"command(seq:*)\", \"command(echo:*)\", \"edit(deps/no)",
        );
        let fixture = Fixture::with_policy(&turns(script), &format!("{policy}{settings}\n"));
        let fixture = if layered { fixture } else { fixture.without_layer() };
        let ran = fixture.run();
        let answer = &ran.answers("execute_command")[0];
        assert!(answer.len() < 4_000, "{}", answer.len());
        if layered {
            assert!(answer.contains("; and 290 more"), "{answer}");
            assert_eq!(ran.outcome.refusals[0].refusal.verdicts.len(), 100);
        }
        assert!(fixture.file("deps/7").is_none());
    }
}

/// A checkout with dependencies that git ignores, and a check that needs them as they are.
fn with_dependencies(script: &str) -> Fixture {
    let policy = format!(
        "{POLICY}commands: {{ contained: allow }}\npublish: {{ success: [\"./step.sh\"] }}\n"
    );
    let fixture = Fixture::with_policy(&turns(script), &policy);
    for (file, text) in [
        (".gitignore", "deps/\nout/\n"),
        ("step.sh", "#!/bin/sh\ngrep -q one deps/a && grep -q one deps/b\n"),
    ] {
        std::fs::write(fixture.root.join(file), text).unwrap();
    }
    std::fs::create_dir(fixture.root.join("deps")).unwrap();
    for file in ["deps/a", "deps/b"] {
        std::fs::write(fixture.root.join(file), "one\n").unwrap();
    }
    commit_all(&init(&fixture.root), "dependencies");
    fixture
}

#[test]
fn checks_that_saw_changed_dependencies_are_said_to_have() {
    let fixture = with_dependencies(
        r#"
- calls: [{ tool: execute_command, args: { command: "echo one and two > deps/b; mkdir out; echo made > out/x; echo > src/b.txt" } }]
- expect: { contains: ["it changed `deps/b`", "not published"], not_contains: ["out/x"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    let notes = ran.outcome.notes.join("\n");
    let said = "and these changes are not published: `deps/b`";
    assert!(notes.contains(said) && !notes.contains("out/x"), "{notes}");
}

#[test]
fn what_a_failed_command_removed_of_ignored_files_is_there_again() {
    let fixture = with_dependencies(
        r#"
- calls: [{ tool: execute_command, args: { command: "rm -rf deps; false" } }]
- expect: { contains: ["there again: `deps` (2 files)"] }
  calls: [{ tool: execute_command, args: { command: "cat deps/a" } }]
- expect: { contains: ["one"], not_contains: ["git ignores"] }
  calls: [{ tool: execute_command, args: { command: "rm -rf deps; mkdir deps; echo new > deps/a; ls no-such; echo" } }]
- expect: { contains: ["there again: `deps/b`", "changed `deps/a`"] }
  calls: [{ tool: execute_command, args: { command: "rm -rf deps" } }]
- expect: { contains: ["it removed `deps` (2 files). Later commands and the checks"] }
  calls: [{ tool: execute_command, args: { command: "ls deps || echo > src/b.txt" } }]
- expect: { contains: ["Files changed: src/b.txt"], not_contains: ["git ignores"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = fixture.run();
    // What a command removed that did not fail stays removed, for the check, too.
    assert_eq!((ran.word(), ran.changed()), ("checks-failed", vec!["src/b.txt"]));
}

#[test]
fn tools_and_commands_change_no_other_repository_and_both_say_so() {
    let fixture = contained(
        r#"
- calls:
    - { tool: search_and_replace, args: { path: src/inner/a, search: "before", replace: "tool" } }
    - { tool: write_to_file, args: { path: src/sub/new, content: "tool" } }
    - { tool: write_to_file, args: { path: src/innermost, content: "tool" } }
- calls: [{ tool: execute_command, args: { command: "for f in $(echo a new); do echo command > src/inner/$f; done; echo command > src/b.txt" } }]
- expect: { contains: ["Kept out of the checkout", "another repository", "src/inner", "Files changed: src/b.txt"], not_contains: ["git ignores"] }
  calls: [{ tool: execute_command, args: { command: "cat src/inner/a; for f in $(echo deep); do mkdir src/sub/$f; echo command > src/sub/$f/x; done" } }]
- expect: { contains: ["command", "`src/sub/deep/x`"], not_contains: ["src/inner"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let git = init(&fixture.root);
    let head = git.head().unwrap().peel_to_commit().unwrap();
    let link = git2::IndexEntry {
        mode: git2::FileMode::Commit.into(),
        id: head.id(),
        path: b"src/sub".to_vec(),
        ..git.index().unwrap().get(0).unwrap()
    };
    let mut index = git.index().unwrap();
    index.add(&link).unwrap();
    index.write().unwrap();
    let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
    let author = git2::Signature::now("Test", "test@example.com").unwrap();
    git.commit(Some("HEAD"), &author, &author, "submodule", &tree, &[&head]).unwrap();
    // The submodule is not checked out; the other repository is.
    for folder in ["src/sub", "src/inner/.git"] {
        std::fs::create_dir_all(fixture.root.join(folder)).unwrap();
    }
    std::fs::write(fixture.root.join("src/inner/a"), "before").unwrap();
    let ran = fixture.run();
    let answers = ran.answers("search_and_replace");
    assert!(answers[0].contains("another repository, `src/inner`"), "{answers:?}");
    let answers = ran.answers("write_to_file");
    assert!(answers[0].contains("another repository, `src/sub`"), "{answers:?}");
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt", "src/innermost"]));
    assert_eq!(fixture.file("src/inner/a").as_deref(), Some("before"));
    assert_eq!((fixture.file("src/inner/new"), fixture.file("src/sub/new")), (None, None));
    assert_eq!(ran.outcome.refusals.len(), 2, "{:?}", ran.outcome.refusals);
    let notes = ran.outcome.notes.join("\n");
    assert!(notes.contains("`src/inner` (2 files), `src/sub/deep/x`"), "{notes}");
}
