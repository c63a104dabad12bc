//! `locum policy` as a person or a script meets it: questions and their answers, tests of a policy,
//! policies that are made.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::support::stage::{ACTION, Ran, Stage};
use pretty_assertions::assert_eq;

/// A checkout with a policy for questions about tool calls.
fn questioned() -> Stage {
    let policy = "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\", \"command(git \
                  status:*)\"]\n  - hold: \"edit(src/api/**)\"\n";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        (".locumignore", "hidden/\n"),
        ("src/a.rs", "x"),
        ("hidden/a", "x"),
        ("out/ci.yml", "x"),
    ]);
    std::os::unix::fs::symlink("../out", stage.path("checkout/src/link")).unwrap();
    stage
}

fn asked(
    stage: &Stage,
    arguments: &[&str],
    input: &[u8],
) -> (Option<i32>, Vec<serde_json::Value>, String) {
    let mut child = stage
        .locum(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let ended = child.wait_with_output().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    (
        ended.status.code(),
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        String::from_utf8(ended.stderr).unwrap(),
    )
}

#[test]
fn a_tool_call_is_judged_as_in_a_run_and_not_performed() {
    let stage = questioned();
    let before = stage.checkout_state();
    let write = |path: &str| {
        format!(r#"{{"name": "write_to_file", "arguments": {{"path": "{path}", "content": "y"}}}}"#)
    };
    for (mode, call, code, told) in [
        ("code", write("src/a.rs"), 0, "allow  call: write src/a.rs\n       allow  edit(src/a.rs)\n"),
        ("code", write("src/link/ci.yml"), 4, "deny   edit(out/ci.yml)"),
        ("code", write("src/api/a.rs"), 5, "hold   edit(src/api/a.rs)"),
        ("code", write("../x"), 4, "leaves the repository"),
        ("architect", write("src/a.rs"), 4, "can only edit files matching pattern"),
        ("ask", write("src/a.rs"), 4, "is not allowed in ask mode"),
        ("code", r#"{"name": "read_file", "arguments": {"path": "hidden/a"}}"#.to_owned(), 4, "is hidden by `hidden/`"),
        (
            "code",
            r#"{"type": "tool_use", "name": "execute_command", "input": {"command": "git status; ls"}}"#.to_owned(),
            4,
            "no rule allows `command(ls)`",
        ),
        ("code", r#"{"name": "no_such_tool", "arguments": {}}"#.to_owned(), 4, "Unknown tool"),
        ("cod", write("src/a.rs"), 2, "did you mean `code`?"),
        ("code", "{\"name\": 1}".to_owned(), 2, "`name` must be a text"),
    ] {
        let ran = stage.run(&["policy", "explain", "--mode", mode, &call]);
        assert!(ran.code == Some(code) && format!("{}{}", ran.out, ran.err).contains(told), "{mode} {call}: {ran:?}");
    }
    assert_eq!(stage.checkout_state(), before);
}

#[test]
fn lines_are_answered_in_order_and_one_that_cannot_be_read_stops_nothing() {
    let stage = questioned();
    let long = format!("edit({})", "x".repeat(1024 * 1024));
    let lines = [
        "\u{feff}edit(src/a.rs)\r",
        "",
        r#"{"id": "7", "intent": "edit(src/a.rs)", "mode": "code", "trigger": "comment", "tier": "bot"}"#,
        r#"{"call": {"name": "read_file", "arguments": {"path": "src/link/ci.yml"}}, "mode": "code"}"#,
        "nonsense",
        &long,
        r#"{"id": 9, "intent": "edit(a)", "moed": "code"}"#,
        "edit(src/api/x)",
    ];
    let mut input = lines.join("\n").into_bytes();
    input.extend(b"\n\xff\xfe\nread(src/a.rs)");
    for arguments in [["policy", "explain", "-"], ["policy", "explain", "--stdin"]] {
        let (code, rows, _) = asked(&stage, &arguments, &input);
        assert_eq!(code, Some(2));
        let shown: Vec<String> = rows
            .iter()
            .map(|row| {
                let what =
                    row.get("decision").or_else(|| row.get("error")).unwrap().as_str().unwrap();
                format!("{} {}", row["input_line"], what.split(':').next().unwrap())
            })
            .collect();
        let expected = [
            "1 allow",
            "3 allow",
            "4 allow",
            "5 `nonsense` is not of the form `kind(...)`, for example `edit(src/x.rs)`",
            "6 the line is longer than 1048576 bytes",
            "7 a question has no key `moed`",
            "8 hold",
            "9 the line is not UTF-8 text",
            "10 allow",
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            (rows[1]["id"].as_str(), rows[2]["intents"][0]["intent"].as_str()),
            (Some("7"), Some("read(out/ci.yml)"))
        );
        assert_eq!((&rows[5]["hint"], &rows[5]["id"]), (&"did you mean `mode`?".into(), &9.into()));
    }
    for (input, code) in [
        ("edit(src/a)\n", 0),
        ("edit(src/a)\nedit(src/api/a)\n", 5),
        ("edit(src/api/a)\nedit(a)\n", 4),
        ("\n", 2),
    ] {
        assert_eq!(
            asked(&stage, &["policy", "explain", "-"], input.as_bytes()).0,
            Some(code),
            "{input}"
        );
    }
    assert_eq!(stage.run(&["policy", "explain", "-", "edit(a)"]).code, Some(2));
}

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    let stage = questioned();
    let mut child = stage
        .locum(&["policy", "explain", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut answers) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    for question in ["edit(src/a.rs)", "edit(a)"] {
        writeln!(input, "{question}").unwrap();
        assert!(answers.next().unwrap().unwrap().contains(question));
    }
    drop(answers);
    // The reader is gone: it ends, although more could come. A program that another test starts at
    // this moment holds the reader for as long as it takes to start.
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let _ = writeln!(input, "edit(src/a.rs)");
    };
    assert!(ended.code().is_some());
}

#[test]
fn a_policys_tests_pass_or_say_what_came_out_instead() {
    let stage = questioned();
    let policy = |examples: &str| {
        format!(
            "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\"]\n    modes: \
             [code]\n{examples}"
        )
    };
    stage.write("checkout/.locum/policy.yml", &policy(""));
    let ran = stage.run(&["policy", "test"]);
    assert!(ran.code == Some(2) && ran.err.contains("nothing to test"), "{ran:?}");

    let policy_of_every_mode = |examples: &str| policy(examples).replace("\n    modes: [code]", "");
    stage.write(
        "checkout/.locum/policy.yml",
        &policy_of_every_mode(
            "examples: { allow: [\"edit(src/a)\"], deny: [\"read(../x)\", \"edit(src/b)\"] }\n",
        ),
    );
    let ran = stage.run(&["policy", "test"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            Some(3),
            "pass  .locum/policy.yml:4 allow edit(src/a) (.locum/policy.yml:3 edit(src/**))\n\
             pass  .locum/policy.yml:4 deny read(../x)\n\
             FAIL  .locum/policy.yml:4 deny edit(src/b): it is `allow`, allowed by `edit(src/**)` (.locum/policy.yml:3 edit(src/**))\n\
             .locum/policy.yml: 2 cases passed, 1 failed\n"
        )
    );

    stage.write("checkout/.locum/policy.yml", &policy(""));
    let cases = "- name: code writes\n  allow: { name: write_to_file, arguments: { path: \
                 src/a.rs, content: [1] } }\n  deny: [\"edit(src/../../x)\", \
                 \"read(hidden/a)\"]\n  mode: code\n- deny: \"edit(src/a.rs)\"\n  mode: ask\n";
    stage.write("checkout/.locum/policy-tests.yml", cases);
    let ran = stage.run(&["policy", "test"]);
    assert_eq!(
        (ran.code, ran.out.lines().count()),
        (Some(3), 5),
        "a list is no content: {}",
        ran.out
    );
    stage.write("checkout/.locum/policy-tests.yml", &cases.replace("content: [1]", "content: x"));
    let ran = stage.run(&["policy", "test", "--json"]);
    let found = ran.json();
    assert_eq!(
        (ran.code, &found["passed"], &found["cases"][0]["name"]),
        (Some(0), &4.into(), &"code writes".into())
    );
    assert_eq!(
        (&found["cases"][2]["rule_file"], &found["cases"][3]["line"]),
        (&".locumignore".into(), &5.into())
    );
}

#[test]
fn mistakes_in_tests_are_told_all_at_once_with_their_places() {
    let stage = questioned();
    stage.write(
        "checkout/cases.yml",
        "- alow: [\"edit(a)\"]\n- allow: [\"edti(a)\"]\n  teir: bot\n- deny: []\n- allow: [{ \
         name: read_file, mode: code }]\n- {}\n",
    );
    stage.write("checkout/modes.yml", "- allow: \"edit(a)\"\n  mode: cod\n");
    for (file, told) in [
        (
            "cases.yml",
            "cases.yml:1:3: unknown key `alow`;did you mean `allow`?;cases.yml:2:11: unknown kind \
             of pattern `edti`;cases.yml:3:3: unknown key `teir`;cases.yml:4:9: `deny` is \
             empty;cases.yml:5:11: circumstances stand beside the list;cases.yml:6:3: a test \
             needs at least one of `allow`, `hold`",
        ),
        ("modes.yml", "modes.yml:1:10: there is no mode `cod`; did you mean `code`?"),
        ("none.yml", "there is no file `none.yml`"),
    ] {
        let ran = stage.run(&["policy", "test", file]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        for part in told.split("; ").flat_map(|part| part.split(';')) {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
    }
}

#[test]
fn a_starter_policy_passes_its_own_check_and_overwrites_nothing() {
    let stage = Stage::with(&[
        ("Cargo.toml", "[package]\n"),
        ("src/lib.rs", ""),
        ("README.md", ""),
        ("ignored/x.py", ""),
        (".gitignore", "ignored/\n"),
    ]);
    let printed = stage.run(&["policy", "init", "--stdout"]);
    assert_eq!((printed.code, stage.names("checkout/.locum")), (Some(0), Vec::<String>::new()));
    let made = stage.run(&["policy", "init"]);
    assert_eq!((made.code, made.out.as_str()), (Some(0), "wrote .locum/policy.yml\n"), "{made:?}");
    assert_eq!(stage.read("checkout/.locum/policy.yml"), printed.out);
    assert_eq!(stage.names("checkout/.locum"), ["policy.yml"]);
    for arguments in [["policy", "check"], ["policy", "test"]] {
        let ran = stage.run(&arguments);
        assert!(ran.code == Some(0) && !ran.out.contains("warning"), "{ran:?}");
    }
    assert!(
        !printed.out.contains("Python") && printed.out.contains("edit(src/**)"),
        "{}",
        printed.out
    );

    let mine = "version: 1\ntriggers: { label: { name: robot, tiers: [maintainer] } }\n";
    stage.write("checkout/.locum/policy.yml", mine);
    let refused = stage.run(&["policy", "init"]);
    assert!(
        refused.code == Some(2) && refused.err.contains(".locum/policy.yml: already exists"),
        "{refused:?}"
    );
    // What is missing is written all the same, for the policy that is there.
    let half = stage.run(&["init", "--action", ACTION, "--provider", "anthropic", "--no-check"]);
    let wrote = half.out.starts_with("wrote .github/workflows/locum.yml\n");
    assert!(half.code == Some(0) && wrote, "{half:?}");
    let workflow = stage.read("checkout/.github/workflows/locum.yml");
    for (part, expected) in [
        ("types: [labeled]", true),
        ("== 'robot'", true),
        ("\n  schedule:", false),
        ("\n  workflow_dispatch:", false),
        ("|| 'anthropic:claude-sonnet-5-5' }}", true),
        ("api-key: ${{ secrets.ANTHROPIC_API_KEY }}", true),
        ("run: cargo fetch", true),
    ] {
        assert_eq!(workflow.contains(part), expected, "{part}: {workflow}");
    }
    assert_eq!(stage.read("checkout/.locum/policy.yml"), mine);
    let forced = stage.run(&["init", "--action", ACTION, "--force", "--no-check"]);
    assert_eq!(
        (forced.code, forced.out.as_str()),
        (Some(0), "wrote .locum/policy.yml\nwrote .github/workflows/locum.yml\n")
    );
    assert_eq!(stage.read("checkout/.locum/policy.yml"), printed.out);
    assert_eq!(
        stage.run(&["policy", "init", "--stdout"]).out,
        printed.out,
        "its own workflow changes nothing"
    );
}

#[test]
fn a_starter_policy_is_not_written_through_a_link() {
    let stage = Stage::with(&[("src/a.rs", "")]);
    std::os::unix::fs::symlink(stage.path("home"), stage.path("checkout/.locum")).unwrap();
    let ran = stage.run(&["policy", "init"]);
    assert!(ran.code == Some(2) && stage.names("home").is_empty(), "{ran:?}");
    let outside = Stage::empty();
    for words in [["policy", "init"].as_slice(), &["init", "--action", ACTION]] {
        let ran = outside.run(words);
        assert!(
            ran.code == Some(2)
                && ran.err.contains("is not in a git checkout")
                && ran.err.contains("hint: run `git init` first"),
            "{ran:?}"
        );
    }
    assert_eq!(outside.names("checkout"), Vec::<String>::new());
    let printed = outside.run(&["policy", "init", "--stdout"]);
    assert_eq!(printed.code, Some(0), "a folder without git will do to look at: {printed:?}");
}

#[test]
fn programs_of_the_tests_that_are_not_here_are_named() {
    let stage = Stage::with(&[("mix.exs", ""), ("lib/a.ex", "")]);
    let run = |path: &str| -> Ran {
        stage.locum(&["policy", "init", "--force"]).env("PATH", path).output().unwrap().into()
    };
    let note = "note: `mix` is not installed on this machine (`publish.success`)\n";
    assert!(run("/nowhere").err.contains(note));
    stage.program("mix", "exit");
    assert!(!run(stage.path("bin").to_str().unwrap()).err.contains("mix"));
}

/// A call that ends a task.
const END: &str = r#"{"name": "attempt_completion", "arguments": {"result": "x"}}"#;

#[test]
fn an_intent_is_explained_as_the_mode_lets_it() {
    let stage = Stage::with(&[("src/a.rs", "x"), ("docs/a.md", "x")]);
    for (mode, intent, code, told) in [
        ("architect", "edit(src/a.rs)", 4, "can only edit files matching pattern: \\.md$"),
        ("architect", "edit(docs/a.md)", 0, "allow"),
        ("ask", "command(ls)", 4, "mode `ask` has no tool that runs commands"),
        ("ask", "edit(docs/a.md)", 4, "mode `ask` has no tool that changes files"),
        ("ask", "read(docs/a.md)", 0, "allow"),
        ("code", "command(ls)", 0, "allow"),
        ("code", "edit(src/a.rs)", 0, "allow"),
        ("ask", END, 0, "stays within the session"),
    ] {
        let ran = stage.run(&["policy", "explain", "--policy", "built-in", "--mode", mode, intent]);
        let is_right = ran.code == Some(code) && ran.out.contains(told);
        assert!(is_right && !ran.out.contains("no rule matched"), "{mode} {intent}: {ran:?}");
    }
}

#[test]
fn an_edit_of_another_repository_is_refused_as_in_a_run() {
    let stage = Stage::with(&[("src/a.rs", "x"), ("clones/a.rs", "x")]);
    stage.git(&["init", "--quiet", "clone"]);
    let entry = format!("160000,{},module", stage.git(&["rev-parse", "HEAD"]).trim());
    stage.git(&["update-index", "--add", "--cacheinfo", &entry]);
    let of_another = |folder: &str| format!("it belongs to another repository, `{folder}`; a run");
    let write = |path: &str| {
        format!(r#"{{"name": "write_to_file", "arguments": {{"path": "{path}", "content": "y"}}}}"#)
    };
    for (asked, code, said) in [
        ("edit(clone/a.rs)".to_owned(), 4, of_another("clone")),
        ("edit(module/deep/a.rs)".to_owned(), 4, of_another("module")),
        (write("clone/a.rs"), 4, of_another("clone")),
        ("edit(clones/a.rs)".to_owned(), 0, "allow  edit(clones/a.rs)".to_owned()),
        (write("src/a.rs"), 0, "allow  edit(src/a.rs)".to_owned()),
        ("read(clone/a.rs)".to_owned(), 0, "allow  read(clone/a.rs)".to_owned()),
    ] {
        let policy = ["policy", "explain", "--policy", "built-in", "--mode", "code"];
        let ran = stage.run(&[policy.as_slice(), &[asked.as_str()]].concat());
        assert!(ran.code == Some(code) && ran.out.contains(&said), "{asked}: {ran:?}");
    }
}

#[test]
fn a_requested_mode_is_explained_as_a_run_decides_it() {
    let policy = "version: 1\nmodes:\n  default: code\n  allow: [code, ask, review, sub]\n  \
                  switching: coordinator\n  transitions: { code: [review, sub] }\nrules:\n  - \
                  allow: read(**)\n  - hold: mode(review)\n";
    let files = [
        (".locum/policy.yml", policy),
        (".locum/agents/sub.md", "---\nmode: subagent\n---\nR"),
        ("a.txt", "x"),
    ];
    let request = |slug: &str| {
        format!(
            "{{\"name\":\"request_mode_switch\",\"arguments\":{{\"mode_slug\":\"{slug}\",\"reason\":\"x\"}}}}"
        )
    };
    for (mode, slug, code, told) in [
        ("code", "architect", 4, "`architect` is not in `modes.allow`"),
        ("code", "ask", 4, "followed only by"),
        ("code", "review", 5, "hold   mode(review)"),
        ("code", "code", 4, "Already in code mode"),
        ("code", "nope", 4, "`nope` is not in `modes.allow`"),
        ("code", "sub", 4, "for sub-tasks only"),
        ("ask", "code", 0, "allow  mode(code)"),
    ] {
        let stage = Stage::with(&files);
        let ran = stage.run(&["policy", "explain", "--mode", mode, &request(slug)]);
        let is_right = ran.code == Some(code) && ran.out.contains(told);
        assert!(is_right, "{mode} {slug}: {ran:?}");
        let script = format!(
            "version: 1\ntasks:\n  - turns:\n      - calls: [{{ tool: request_mode_switch, args: {{ \
             mode_slug: {slug}, reason: x }} }}]\n      - calls: [{{ tool: attempt_completion, \
             args: {{ result: r }} }}]\n"
        );
        let played = stage.play(&script, &["--mode", mode, "--publish", "none"]);
        let answer = stage.answers().first().map(|(_, text)| text.clone()).unwrap_or_default();
        let went_on = answer.starts_with("From the next turn on in");
        assert_eq!((went_on, played.code == Some(5)), (code == 0, code == 5), "{slug}: {played:?}");
    }
}

#[test]
fn a_switch_is_explained_as_a_run_decides_it() {
    let policy = "version: 1\nmodes:\n  default: code\n  allow: [code, ask, review, coordinator]\n  \
                  switching: direct\n  transitions: { code: [review] }\nrules:\n  - allow: \
                  read(**)\n  - hold: mode(review)\n    reason: agree first\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy), ("a.txt", "x")]);
    let explain =
        |mode: &str, intent: &str| stage.run(&["policy", "explain", "--mode", mode, intent]);
    let refused = explain("code", "mode(ask)");
    assert_eq!(refused.code, Some(4), "{refused:?}");
    for words in
        ["followed only by review", "modes.transitions", "for `code` it does not list `ask`"]
    {
        assert!(refused.out.contains(words), "{words}: {}", refused.out);
    }
    assert_eq!(explain("code", "mode(review)").code, Some(5));
    assert_eq!(explain("ask", "mode(code)").code, Some(0));
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: switch_mode, args: { \
                  mode_slug: ask, reason: x } }]\n      - calls: [{ tool: attempt_completion, args: \
                  { result: r } }]\n";
    let ran = stage.play(script, &["--output-format", "json", "--publish", "none"]);
    let report = ran.json();
    assert_eq!(report["refusals"][0]["verdicts"][0]["intent"], "mode(ask)", "{report:#}");
    assert_eq!(report["refusals"].as_array().unwrap().len(), 1);
}

#[test]
fn a_line_of_an_ignore_file_that_hides_nothing_is_warned_of_and_stops_nothing() {
    let stage = questioned();
    stage.write("checkout/.locumignore", "hidden/\na\\\n");
    let checked = stage.run(&["policy", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let said = "warning: .locumignore:2: `a\\` ends with `\\`: it hides nothing";
    assert!(checked.out.contains(said), "{checked:?}");
    let explained = stage.run(&["policy", "explain", "read(hidden/a)", "read(a)"]);
    assert!(explained.out.contains("deny   read(hidden/a)"), "{explained:?}");
    assert!(explained.out.contains("allow  read(a)"), "{explained:?}");
}

#[test]
fn an_import_takes_absolute_paths_of_the_checkout_for_its_own() {
    let stage = questioned();
    let root = stage.path("checkout").canonicalize().unwrap();
    let refused = format!("Read(/{}/hidden/a)", root.display());
    let settings = serde_json::json!({ "permissions": { "deny": [refused] } });
    stage.write("checkout/claude.json", &settings.to_string());
    let imported = stage.run(&["policy", "import", "--from", "claude", "claude.json"]);
    assert!(imported.out.contains("- deny: \"read(hidden/a)\""), "{imported:?}");
    assert!(!imported.out.contains("reads:"), "{imported:?}");
}

#[test]
fn an_import_knows_the_checkout_by_the_link_that_names_it() {
    let stage = questioned();
    std::os::unix::fs::symlink(stage.path("checkout"), stage.path("link")).unwrap();
    let link = stage.path("link");
    let refused = format!("Read(/{}/hidden/a)", link.display());
    let settings = serde_json::json!({ "permissions": { "deny": [refused] } });
    stage.write("checkout/claude.json", &settings.to_string());
    let import = ["policy", "import", "--from", "claude", "claude.json"];
    let rule = "- deny: \"read(hidden/a)\"";
    let by_flag = stage.run(&[&import[..], &["--repo", link.to_str().unwrap()]].concat());
    assert!(by_flag.out.contains(rule), "{by_flag:?}");
    let by_shell = stage.locum(&import).env("PWD", &link).output().unwrap();
    assert!(String::from_utf8_lossy(&by_shell.stdout).contains(rule), "{by_shell:?}");
    let elsewhere = stage.locum(&import).env("PWD", stage.path("")).output().unwrap();
    let elsewhere = String::from_utf8_lossy(&elsewhere.stdout).into_owned();
    assert!(!elsewhere.contains(rule) && elsewhere.contains("reads:"), "{elsewhere}");
}
