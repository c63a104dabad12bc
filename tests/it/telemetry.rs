//! The trace of a run as a collector gets it: its tree, its words, what it never holds, and what
//! becomes of a run whose collector is broken.

use std::collections::BTreeMap;

use crate::support::model_server::{Answer, Asked, ModelServer, Piece};
use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::Value;

const POLICY: &str = "
version: 1
modes: { default: orchestrator, allow: [orchestrator, code] }
rules:
  - allow: ['read(**)', 'delegate(code)']
  - allow: 'edit(src/**)'
  - deny: 'read(private/**)'
    reason: not for models
";

const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: orchestrator
    turns:
      - say: "thinking-words"
        calls: [{ tool: new_task, args: { mode: code, message: "sub-task-words" } }]
      - calls: [{ tool: attempt_completion, args: { result: "result-words" } }]
  - mode: code
    turns:
      - calls:
          - { tool: read_file, args: { path: src/a.txt } }
          - { tool: read_file, args: { path: private/b.txt } }
      - calls: [{ tool: write_to_file, args: { path: src/c.txt, content: "written-words\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "sub-result-words" } }]
"#;

/// Words of people, models, tools and files that a trace does not hold unless it is asked to.
const WORDS: &[&str] = &[
    "Do the task",
    "thinking-words",
    "sub-task-words",
    "result-words",
    "written-words",
    "file-words",
    "a.txt",
    "not for models",
];

fn stage() -> Stage {
    let stage = Stage::with(&[("src/a.txt", "file-words\n"), ("private/b.txt", "x\n")]);
    stage.write("policy.yml", POLICY);
    stage.write("script.yml", SCRIPT);
    stage
}

fn run(stage: &Stage, variables: &[(&str, &str)]) -> Ran {
    run_with(stage, variables, &[])
}

fn run_with(stage: &Stage, variables: &[(&str, &str)], flags: &[&str]) -> Ran {
    let (policy, script) = (stage.path("policy.yml"), stage.path("script.yml"));
    let given = [
        "--policy",
        policy.to_str().unwrap(),
        "--script",
        script.to_str().unwrap(),
        "--publish",
        "none",
    ];
    let mut command = stage.locum(&[["run", "Do the task."].as_slice(), &given, flags].concat());
    command.envs(variables.iter().copied()).output().unwrap().into()
}

/// Where a server listens, without the path of a model's API.
fn address(server: &ModelServer) -> String {
    server.base_url.trim_end_matches("/v1").to_owned()
}

fn collector() -> ModelServer {
    ModelServer::start(vec![Answer::plain(200, "application/json", "{}")])
}

/// The spans of requests, as OTLP writes them.
fn spans(asked: &[Asked]) -> Vec<Value> {
    let list = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
    let bodies = asked.iter().map(Asked::json);
    let scopes = bodies
        .flat_map(|body| list(&body, "resourceSpans"))
        .flat_map(|resource| list(&resource, "scopeSpans"));
    scopes.flat_map(|scope| list(&scope, "spans")).collect()
}

fn attribute<'s>(span: &'s Value, key: &str) -> Option<&'s str> {
    let found =
        span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key)?;
    found["value"].as_object().unwrap().values().next().unwrap().as_str()
}

/// Each span as a line, below the one it is part of, in order of their beginnings.
fn tree(spans: &[Value]) -> Vec<String> {
    fn below(parent: Option<&str>, depth: usize, spans: &[Value], lines: &mut Vec<String>) {
        let mut children: Vec<&Value> = spans
            .iter()
            .filter(|span| span.get("parentSpanId").and_then(Value::as_str) == parent)
            .collect();
        children.sort_by_key(|span| {
            span["startTimeUnixNano"].as_str().unwrap().parse::<u128>().unwrap()
        });
        for span in children {
            let error = attribute(span, "error.type")
                .map(|error| format!(" ({error})"))
                .unwrap_or_default();
            lines.push(format!("{}{}{error}", "  ".repeat(depth), span["name"].as_str().unwrap()));
            below(span["spanId"].as_str(), depth + 1, spans, lines);
        }
    }
    let mut lines = Vec::new();
    below(None, 0, spans, &mut lines);
    lines
}

/// The log's own view of the run: what a line belongs to, from the outside in.
#[test]
fn a_line_of_the_log_says_which_run_task_turn_and_call_it_belongs_to() {
    let stage = stage();
    let ran = run_with(&stage, &[("LOCUM_LOG", "locum=debug")], &["--log-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = ran.err.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let told = |line: &Value| {
        let spans = line["spans"].as_array().unwrap().iter().map(|span| {
            let id =
                ["session", "task", "turn", "call"].iter().find_map(|key| span.get(key)).unwrap();
            format!("{} {}", span["name"].as_str().unwrap(), id.to_string().trim_matches('"'))
        });
        format!("{}: {}", line["message"].as_str().unwrap(), spans.collect::<Vec<_>>().join(", "))
    };
    let belongs = lines.filter(|line| {
        matches!(line["message"].as_str(), Some("model replied" | "call performed"))
    });
    let session = &stage.sessions()[0];
    let found: Vec<String> =
        belongs.map(|line| told(&line).replace(session.as_str(), "S")).collect();
    let mut expected = vec!["model replied: run S, task 0, turn 0"];
    expected.extend([
        "model replied: run S, task 0, task 1, turn 0",
        "call performed: run S, task 0, task 1, turn 0, call call-1-1-1",
    ]);
    expected.extend([
        "model replied: run S, task 0, task 1, turn 1",
        "call performed: run S, task 0, task 1, turn 1, call call-1-2-1",
    ]);
    expected.extend([
        "model replied: run S, task 0, task 1, turn 2",
        "call performed: run S, task 0, task 1, turn 2, call call-1-3-1",
    ]);
    expected.extend([
        "model replied: run S, task 0, turn 1",
        "call performed: run S, task 0, turn 1, call call-0-2-1",
    ]);
    assert_eq!(found, expected);
}

#[test]
fn a_run_is_told_as_a_tree_without_a_word_of_what_was_said() {
    let (stage, mut collector) = (stage(), collector());
    let endpoint = address(&collector);
    let ran = run(
        &stage,
        &[
            ("LOCUM_TELEMETRY__TRACES", "true"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=one%20two"),
            ("OTEL_SERVICE_NAME", "fixes"),
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let asked = collector.asked();
    assert_eq!(
        (asked.len(), asked[0].method.as_str(), asked[0].path.as_str()),
        (1, "POST", "/v1/traces")
    );
    assert_eq!(
        (asked[0].header("x-tenant"), asked[0].header("content-type")),
        (Some("one two"), Some("application/json"))
    );
    for words in WORDS {
        assert!(!asked[0].body.contains(words), "{words}: {}", asked[0].body);
    }
    let resource = &asked[0].json()["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name"), Some("fixes"));
    let spans = spans(asked);
    let sum = |key: &str| {
        spans
            .iter()
            .filter_map(|span| attribute(span, key))
            .map(|number| number.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    for kind in ["input", "output"] {
        let [total, own] =
            ["total", "own"].map(|whose| sum(&format!("locum.{whose}.{kind}_tokens")));
        assert!(
            total > 0 && own == total && sum(&format!("gen_ai.usage.{kind}_tokens")) == total,
            "what spans took is what tasks took"
        );
    }
    let script = stage.path("script.yml");
    let chat = format!("chat {}", script.display());
    assert_eq!(
        tree(&spans),
        [
            "locum run",
            "  invoke_agent orchestrator",
            &format!("    {chat}"),
            "    execute_tool new_task",
            "      invoke_agent code",
            &format!("        {chat}"),
            "        execute_tool read_file",
            "        execute_tool read_file (refused)",
            &format!("        {chat}"),
            "        execute_tool write_to_file",
            &format!("        {chat}"),
            "        execute_tool attempt_completion",
            &format!("    {chat}"),
            "    execute_tool attempt_completion",
        ]
    );
    let session = &stage.sessions()[0];
    let ids: BTreeMap<&str, &Value> =
        spans.iter().map(|span| (span["spanId"].as_str().unwrap(), span)).collect();
    assert_eq!(
        (ids.len(), ids.keys().all(|id| id.len() == 16)),
        (spans.len(), true),
        "every span has a name of its own"
    );
    for span in &spans {
        assert_eq!(span["traceId"].as_str(), Some(session.as_str()));
        let time = |key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
        if let Some(parent) = span.get("parentSpanId").and_then(Value::as_str) {
            assert!(
                ids[parent]["startTimeUnixNano"].as_str() <= span["startTimeUnixNano"].as_str(),
                "{span}"
            );
        }
    }
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let chat = named(&chat);
    assert_eq!(
        (attribute(chat, "gen_ai.operation.name"), &chat["kind"]),
        (Some("chat"), &Value::from(3))
    );
    assert!(attribute(chat, "gen_ai.usage.input_tokens").unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(attribute(chat, "gen_ai.conversation.id"), Some(session.as_str()));
    let run = named("locum run");
    assert_eq!(
        (attribute(run, "locum.outcome"), &run["status"]),
        (Some("done"), &serde_json::json!({}))
    );
    let refused =
        spans.iter().find(|span| attribute(span, "error.type") == Some("refused")).unwrap();
    assert_eq!(
        (attribute(refused, "locum.policy.decision"), &refused["status"]["code"]),
        (Some("deny"), &Value::from(2))
    );
    assert_eq!(attribute(refused, "gen_ai.tool.call.id").map(str::is_empty), Some(false));
}

#[test]
fn words_are_told_when_asked_for_and_a_run_joins_the_trace_it_is_part_of() {
    let (stage, mut collector) = (stage(), collector());
    let endpoint = format!("{}/elsewhere", address(&collector));
    let ran = run(
        &stage,
        &[
            ("LOCUM_TELEMETRY__TRACES", "true"),
            ("LOCUM_TELEMETRY__CONTENT", "true"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &endpoint),
            ("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            ("SOME_TOKEN", "file-words"),
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let asked = collector.asked();
    assert_eq!(asked[0].path, "/elsewhere");
    for words in ["Do the task", "thinking-words", "sub-task-words", "written-words", "src/a.txt"] {
        assert!(asked[0].body.contains(words), "{words}");
    }
    assert!(!asked[0].body.contains("file-words"), "a secret is told in no case");
    let spans = spans(asked);
    assert!(spans.iter().all(|span| span["traceId"] == "0af7651916cd43dd8448eb211c80319c"));
    let run = spans.iter().find(|span| span["name"] == "locum run").unwrap();
    assert_eq!(run["parentSpanId"], "b7ad6b7169203331");
}

#[test]
fn nothing_is_sent_unless_it_is_switched_on() {
    let (stage, mut collector) = (stage(), collector());
    let endpoint = address(&collector);
    let to = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
    assert_eq!(run(&stage, &[to]).code, Some(0));
    assert_eq!(
        run(&stage, &[to, ("LOCUM_TELEMETRY__TRACES", "true"), ("OTEL_SDK_DISABLED", "true")]).code,
        Some(0)
    );
    assert_eq!(collector.asked().len(), 0);
    let refused = run(&stage, &[to, ("LOCUM_TELEMETRY__TRACES", "perhaps")]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn a_repository_cannot_have_words_told() {
    let stage = stage();
    stage.write("checkout/.locum/config.yml", "telemetry: { traces: true, content: true }\n");
    stage.commit("config");
    let ran = run(&stage, &[]);
    assert!(ran.code == Some(2) && ran.err.contains("telemetry.content"), "{ran:?}");
}

#[test]
fn a_broken_collector_costs_a_line_in_the_log_and_no_more() {
    let broken = Answer::plain(500, "text/plain", "no");
    let silent = Answer { status: 200, headers: Vec::new(), pieces: vec![Piece::Hang] };
    let gone = { std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
    let (broken, silent) = (ModelServer::start(vec![broken]), ModelServer::start(vec![silent]));
    for (address, words) in [
        (address(&broken), "the collector answered with status 500"),
        (address(&silent), ""),
        (format!("http://{gone}"), "cannot connect"),
        ("ftp://x".to_owned(), "is not an http or https address"),
    ] {
        let stage = stage();
        let on = ("LOCUM_TELEMETRY__TRACES", "true");
        let ran = run(
            &stage,
            &[
                on,
                ("OTEL_EXPORTER_OTLP_ENDPOINT", &address),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "400"),
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=let-me-in"),
            ],
        );
        assert_eq!(ran.code, Some(0), "{address}: {ran:?}");
        assert!(
            ran.err.contains(words) && !ran.err.contains("let-me-in"),
            "{address}: {}",
            ran.err
        );
        assert_eq!(stage.read("checkout/src/c.txt"), "written-words\n");
    }
}
