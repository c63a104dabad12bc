//! Hooks where a session, a prompt or a sub-task begins, and where a sub-task ends, through the
//! binary.

use locum_agent::session::event::Event;
use locum_agent::tools::hooks::HookEvent;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::{Ran, Stage};

const POLICY: &str = r#"
version: 1
modes:
  default: orchestrator
  allow: [orchestrator, code, ask]
  delegation: { from: [orchestrator], depth: 2 }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(sh .claude/hook.sh)", "delegate(*)"]
"#;

/// Keeps what it is asked out of the model's reach, and answers by it.
const HOOK: &str = "question=$(cat)\ncase \"$question\" in\n\
*SessionStart*startup*) echo the branch is green ;;\n\
*SessionStart*) echo welcome back ;;\n\
*Submit*password*) echo no passwords here >&2; exit 2 ;;\n\
*Submit*) echo '{ \"hookSpecificOutput\": { \"additionalContext\": \"today is Thursday\" } }' ;;\n\
*SubagentStart*task-1*code*) echo '{ \"hookSpecificOutput\": { \"additionalContext\": \"for coders\" } }' ;;\n\
*SubagentStop*'\"stop_hook_active\":true'*) exit 0 ;;\n\
*SubagentStop*) echo test it >&2; exit 2 ;;\nesac\n";

fn settings(events: &[(&str, &str)]) -> String {
    let hook = json!({ "type": "command", "command": "sh .claude/hook.sh" });
    let of = |(event, matcher): &(&str, &str)| {
        ((*event).to_owned(), json!([{ "matcher": matcher, "hooks": [hook] }]))
    };
    let hooks: serde_json::Map<String, Value> = events.iter().map(of).collect();
    json!({ "hooks": hooks }).to_string()
}

const ALL: &[(&str, &str)] = &[
    ("SessionStart", "startup|resume"),
    ("UserPromptSubmit", ""),
    ("SubagentStart", "code"),
    ("SubagentStop", "code"),
];

fn stage(policy: &str, settings: &str) -> Stage {
    Stage::with(&[
        (".locum/policy.yml", policy),
        (
            ".locum/config.yml",
            "models: { profiles: { m: { model: m, context_window: 100000 } } }\n",
        ),
        (".claude/settings.json", settings),
        (".claude/hook.sh", HOOK),
        ("src/a.txt", "a\n"),
    ])
}

fn asked(stage: &Stage) -> Vec<(HookEvent, bool)> {
    let asked = |event: Event| match event {
        Event::HooksRan { event_name, stops, .. } => Some((event_name, stops)),
        _ => None,
    };
    stage.journal().into_iter().filter_map(|line| asked(line.event)).collect()
}

/// Runs a task against a server that answers so, and returns the bodies that it got.
fn run(stage: &Stage, task: &[&str], answers: Vec<Answer>) -> (Ran, Vec<String>) {
    let mut server = ModelServer::start(answers);
    let mut command = stage.locum(&[task, &["--output-format", "json"]].concat());
    command
        .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
        .env("OPENAI_BASE_URL", &server.base_url);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ran =
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) };
    let bodies = server.asked().iter().map(|asked| asked.body.clone()).collect();
    (ran, bodies)
}

fn done() -> Answer {
    Answer::calls(&[("attempt_completion", json!({ "result": "Done." }))])
}

#[test]
fn the_model_reads_what_hooks_say_at_the_start_of_a_session_a_prompt_and_a_sub_task() {
    let stage = stage(POLICY, &settings(ALL));
    let delegates =
        Answer::calls(&[("new_task", json!({ "mode": "code", "message": "Part one." }))]);
    let (ran, bodies) =
        run(&stage, &["run", "Do it.", "--model", "m"], vec![delegates, done(), done(), done()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(bodies.len(), 4, "the sub-task completes twice: {ran:?}");
    for said in ["the branch is green", "today is Thursday"] {
        assert!(bodies[0].contains(said) && !bodies[1].contains(said), "{said}: {}", bodies[0]);
    }
    assert!(bodies[1].contains("for coders") && !bodies[0].contains("for coders"));
    assert!(bodies[2].contains("The task was not ended: the hook"), "{}", bodies[2]);
    assert_eq!(
        asked(&stage),
        [
            (HookEvent::SessionStart, false),
            (HookEvent::UserPromptSubmit, false),
            (HookEvent::SubagentStart, false),
            (HookEvent::SubagentStop, true),
            (HookEvent::SubagentStop, false),
        ]
    );
    // A session that goes on says so, and new words are a prompt.
    let session = stage.sessions()[0].clone();
    let resume = ["session", "resume", &session, "And the rest."];
    let (ran, bodies) = run(&stage, &resume, vec![done()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(bodies[0].contains("welcome back"), "{}", bodies[0]);
    let resume = ["session", "resume", &session, "The password is x."];
    let (ran, bodies) = run(&stage, &resume, vec![done()]);
    assert_eq!(bodies.len(), 0, "{ran:?}");
    assert!(ran.out.contains("no passwords here"), "{ran:?}");
}

#[test]
fn matchers_choose_and_without_hooks_nothing_is_asked() {
    let others = [("SessionStart", "resume"), ("SubagentStart", "ask"), ("SubagentStop", "ask")];
    let off = format!("{POLICY}commands: {{ hooks: off }}\n");
    for (policy, events) in [(POLICY, &others[..]), (off.as_str(), ALL)] {
        let stage = stage(policy, &settings(events));
        let delegates =
            Answer::calls(&[("new_task", json!({ "mode": "code", "message": "Part one." }))]);
        let (ran, bodies) =
            run(&stage, &["run", "Do it.", "--model", "m"], vec![delegates, done(), done()]);
        assert_eq!((ran.code, bodies.len()), (Some(0), 3), "{ran:?}");
        assert_eq!(asked(&stage), []);
    }
}

#[test]
fn a_prompt_that_a_hook_is_against_reaches_no_model() {
    let prompts = settings(&[("UserPromptSubmit", "")]);
    let without_rule = POLICY.replace("\"command(sh .claude/hook.sh)\", ", "");
    for (policy, task, said) in [
        (POLICY, "The password is x.", Some("is against it: no passwords here")),
        (POLICY, "Do it.", None),
        (without_rule.as_str(), "Do it.", Some("guards it and did not run: the policy refuses it")),
    ] {
        let stage = stage(policy, &prompts);
        let (ran, bodies) = run(&stage, &["run", task, "--model", "m"], vec![done()]);
        let Some(said) = said else {
            assert_eq!((ran.code, bodies.len()), (Some(0), 1), "{ran:?}");
            continue;
        };
        assert_eq!(bodies.len(), 0, "{ran:?}");
        let report = ran.json();
        assert_eq!(report["outcome"], "refused", "{report:#}");
        let reason = report["reason"].as_str().unwrap();
        assert!(reason.starts_with("the prompt was not given to the model: "), "{reason}");
        assert!(reason.contains(said), "{reason}");
    }
}

#[test]
fn a_prompt_hook_whose_decision_cannot_be_read_lets_no_model_read_the_prompt() {
    for (hook, reads) in [
        ("echo '{ \"continue\": false }'\necho more\n", false),
        ("echo 'today is { Thursday }'\n", true),
    ] {
        let stage = stage(POLICY, &settings(&[("UserPromptSubmit", "")]));
        stage.write("checkout/.claude/hook.sh", hook);
        stage.commit("hook");
        let (ran, bodies) = run(&stage, &["run", "Do it.", "--model", "m"], vec![done()]);
        assert_eq!(bodies.len(), usize::from(reads), "{ran:?}");
        let report = ran.json();
        assert_eq!(report["outcome"] == "refused", !reads, "{report:#}");
        let said = "guards it, and its decision cannot be read: its output begins like JSON";
        assert_eq!(report["reason"].to_string().contains(said), !reads, "{report:#}");
    }
}

#[test]
fn words_of_a_resume_are_asked_about_before_a_sub_task_at_work_reads_them() {
    let policy = POLICY.replace("rules:\n", "rules:\n  - hold: [\"edit(src/b.txt)\"]\n");
    for (words, reads) in [("The password is x.", false), ("Go on.", true)] {
        let stage = stage(&policy, &settings(&[("SessionStart", ""), ("UserPromptSubmit", "")]));
        let delegates =
            Answer::calls(&[("new_task", json!({ "mode": "code", "message": "Part one." }))]);
        let writes = ("write_to_file", json!({ "path": "src/b.txt", "content": "b\n" }));
        let first = vec![delegates, Answer::calls(&[writes])];
        let (ran, _) = run(&stage, &["run", "Do it.", "--model", "m"], first);
        assert_eq!(ran.json()["outcome"], "on-hold", "{ran:?}");
        let session = stage.sessions()[0].clone();
        stage.run(&["session", "approve", &session, "all"]);
        let resume = ["session", "resume", &session, words];
        let (ran, bodies) = run(&stage, &resume, vec![done(), done()]);
        if !reads {
            assert_eq!((bodies.len(), &ran.json()["outcome"]), (0, &json!("refused")), "{ran:?}");
            continue;
        }
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for said in ["welcome back", "today is Thursday", words] {
            assert!(bodies[0].contains(said), "{said}: {}", bodies[0]);
        }
    }
}
