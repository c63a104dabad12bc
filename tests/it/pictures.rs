//! Pictures that another model draws, through the binary: who may be asked, in which protocol, what
//! is written, who pays, what is left when a run is killed.

use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::{Ran, Stage};
use locum_agent::session::event::Event;
use locum_agent::session::recorded::GeneratedImage;
use locum_agent::session::state::SessionState;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code, ask] }
rules:
  - allow: ["read(**)", "edit(art/**)", "expert(brush)"]
    modes: [code]
  - allow: "read(**)"
  - deny: "read(private/**)"
  - hold: "edit(art/held/**)"
examples:
  allow: ["expert(brush)", "edit(art/fox.png)"]
  deny: ["edit(src/fox.png)"]
"#;

const CONFIG: &str = "models: { profiles: { brush: { model: b, price: { input: 1000, output: 1000 \
                      } } }, pointers: { image: brush } }\n";

/// The beginning of a PNG of 2 by 3 pixels.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=";

const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: "image:brush"
    turns:
      - expect: { contains: ["a red fox"], not_contains: ["Do the task."], not_tools: [read_file] }
        images: ["PNG"]
        usage: { input: 700, output: 70 }
      - expect: { contains: ["a blue fox"] }
        say: "I draw no blue foxes."
  - mode: code
    turns:
      - expect: { tools: [generate_image] }
        calls:
          - { tool: generate_image, args: { prompt: a red fox, path: art/fox.png } }
          - { tool: generate_image, args: { prompt: a red fox, path: src/fox.png } }
          - { tool: generate_image, args: { prompt: a red fox, path: art/fox.gif } }
        usage: { input: 100, output: 10 }
      - expect: { contains: ["Created `art/fox.png` (image 2x3 png, 29 bytes)", "edit(src/fox.png)", "has to end in .png"] }
        calls: [{ tool: generate_image, args: { prompt: a blue fox, path: art/blue.png } }]
      - expect: { contains: ["gave no picture", "I draw no blue foxes."] }
        calls: [{ tool: attempt_completion, args: { result: "A fox." } }]
  - mode: ask
    turns:
      - expect: { not_tools: [generate_image] }
        calls: [{ tool: generate_image, args: { prompt: a red fox, path: art/fox.png } }]
      - calls: [{ tool: attempt_completion, args: { result: "None." } }]
"#;

fn script() -> String {
    SCRIPT.replace("PNG", PNG)
}

fn stage() -> Stage {
    Stage::with(&[(".locum/policy.yml", POLICY), (".locum/config.yml", CONFIG), ("a.txt", "a\n")])
}

fn painted(stage: &Stage) -> Vec<GeneratedImage> {
    let of = |event: Event| {
        if let Event::ImageGenerated { generated, .. } = event { Some(generated) } else { None }
    };
    stage.journal().into_iter().filter_map(|line| of(line.event)).collect()
}

fn drawn(stage: &Stage, path: &str) -> Vec<u8> {
    std::fs::read(stage.path(&format!("checkout/{path}"))).unwrap_or_default()
}

fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend([0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0]);
    bytes
}

#[test]
fn a_picture_is_drawn_within_the_policy_paid_for_and_told_of() {
    let stage = stage();
    let ran = stage.play(&script(), &["--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(drawn(&stage, "art/fox.png"), png());
    let paintings = painted(&stage);
    let told: Vec<(bool, &str)> = paintings
        .iter()
        .map(|generated| (generated.image.is_some(), generated.said.as_str()))
        .collect();
    assert_eq!(told, [(true, ""), (false, "I draw no blue foxes.")]);
    let spent = SessionState::of(&stage.journal()).root().unwrap().budgeting.spent;
    assert_eq!((spent.turns, spent.tool_calls), (5, 5));
    assert!(spent.usage.input >= 800 && spent.usage.output >= 80, "{spent:?}");
    let result = ran.json();
    assert_eq!(result["changes"][0]["path"], "art/fox.png", "{result}");
    assert_eq!(result["refusals"].as_array().unwrap().len(), 1, "{result}");
    let shown = stage.run(&["session", "show", &stage.sessions()[0]]);
    assert!(
        shown.out.contains("had brush draw (") && shown.out.contains("): image 2x3 png, 29 bytes"),
        "{}",
        shown.out
    );
    assert!(ran.err.contains("picture brush · image 2x3 png, 29 bytes"), "{}", ran.err);
    let kept = stage.names(&format!("state/locum/sessions/{}/blobs", stage.sessions()[0]));
    assert_eq!(kept.len(), 1, "the picture, once: {kept:?}");
}

#[test]
fn a_mode_without_the_rule_has_nothing_drawn() {
    let stage = stage();
    let ran = stage.play(&script(), &["--mode", "ask"]);
    assert_eq!((ran.code, painted(&stage)), (Some(0), vec![]), "{ran:?}");
    assert!(stage.answers()[0].1.contains("not allowed in ask mode"), "{:?}", stage.answers());
}

#[test]
fn where_nobody_may_be_asked_there_is_no_such_tool() {
    let plain = "version: 1\ntasks: [{ mode: code, turns: [{ expect: { not_tools: \
                 [generate_image] }, calls: [{ tool: generate_image, args: { prompt: a fox, path: \
                 art/fox.png } }] }, { expect: { contains: [WORDS] }, calls: [{ tool: \
                 attempt_completion, args: { result: none } }] }] }]\n";
    let denied = POLICY
        .replace(", \"expert(brush)\"]", "]")
        .replace("allow: [\"expert(brush)\", ", "allow: [");
    for (policy, config) in [(denied.as_str(), CONFIG), (POLICY, "language: English\n")] {
        let stage = Stage::with(&[(".locum/policy.yml", policy), (".locum/config.yml", config)]);
        let ran =
            stage.play(&plain.replace("WORDS", "No model that draws pictures is configured"), &[]);
        assert_eq!((ran.code, painted(&stage)), (Some(3), vec![]), "{ran:?}");
    }
}

#[test]
fn what_is_held_is_drawn_after_the_yes_of_a_person_and_never_before() {
    let stage = stage();
    let script = script()
        .replace("path: art/fox.png", "path: art/held/fox.png")
        .replace("`art/fox.png`", "`art/held/fox.png`");
    let ran = stage.play(&script, &[]);
    assert_eq!((ran.code, painted(&stage)), (Some(5), vec![]), "{ran:?}");
    let session = stage.sessions()[0].clone();
    let shown = stage.run(&["session", "show", &session]);
    let (_, told) = shown.out.split_once(&format!("locum session approve {session} ")).unwrap();
    let hold = told.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap();
    let yes = stage.run(&["session", "approve", &session, hold]);
    assert_eq!(yes.code, Some(0), "{yes:?} {}", shown.out);
    let ran = stage.run(&["session", "resume", &session]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(drawn(&stage, "art/held/fox.png"), png());
}

#[test]
fn a_picture_of_another_kind_is_kept_and_written_elsewhere_without_being_drawn_again() {
    let stage = stage();
    let script = script()
        .replace("path: art/fox.png }", "path: art/fox.jpg }")
        .replace(
            "\"Created `art/fox.png` (image 2x3 png, 29 bytes)\"",
            "\"no content for `art/fox.jpg`\"",
        )
        .replace("prompt: a blue fox, path: art/blue.png", "prompt: a red fox, path: art/fox.png")
        .replace("\"gave no picture\", \"I draw no blue foxes.\"", "\"Created `art/fox.png`\"");
    let ran = stage.play(&script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        (stage.names("checkout/art"), drawn(&stage, "art/fox.png")),
        (vec!["fox.png".to_owned()], png())
    );
    assert_eq!(
        painted(&stage).iter().map(|generated| generated.again).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(
        SessionState::of(&stage.journal()).root().unwrap().budgeting.spent.turns,
        4,
        "drawn once, paid once"
    );
}

#[test]
fn the_budget_covers_who_draws() {
    let stage = stage();
    let ran = stage.play(&script(), &["--max-turns", "1"]);
    assert_eq!((ran.code, painted(&stage)), (Some(6), vec![]), "{ran:?}");
    std::fs::remove_dir_all(stage.path("state")).unwrap();
    stage.git(&["clean", "-qfd"]);
    let script = script()
        .replace("usage: { input: 700, output: 70 }", "usage: { input: 70000, output: 70 }");
    let ran = stage.play(&script, &["--max-tokens", "50000"]);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    let spent = SessionState::of(&stage.journal()).root().unwrap().budgeting.spent;
    assert_eq!(
        (painted(&stage).len(), spent.usage.total()),
        (1, 70_180),
        "what was drawn is counted"
    );
}

#[test]
fn a_picture_that_could_not_be_written_and_is_gone_is_drawn_anew() {
    let stage = stage();
    let script = script()
        .replace("path: art/fox.png }", "path: art/fox.jpg }")
        .replace(
            "\"Created `art/fox.png` (image 2x3 png, 29 bytes)\"",
            "\"no content for `art/fox.jpg`\"",
        )
        .replace("prompt: a blue fox, path: art/blue.png", "prompt: a red fox, path: art/fox.png")
        .replace("contains: [\"a blue fox\"]", "contains: [\"a red fox\"]");
    assert_eq!(stage.play(&script, &[]).code, Some(3), "the script wants another drawing");
    let session = stage.sessions()[0].clone();
    let folder = format!("state/locum/sessions/{session}");
    let journal = stage.read(&format!("{folder}/journal.jsonl"));
    let lines: Vec<&str> = journal.lines().collect();
    let answered = lines
        .iter()
        .rposition(|line| line.contains("art/fox.gif") && line.contains("\"event\":\"answered\""))
        .unwrap();
    stage
        .write(&format!("{folder}/journal.jsonl"), &format!("{}\n", lines[..=answered].join("\n")));
    std::fs::remove_dir_all(stage.path(&format!("{folder}/blobs"))).unwrap();
    std::fs::remove_dir_all(stage.path("checkout/art")).unwrap();
    let ran = stage.run(&["session", "resume", &session]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert_eq!(
        painted(&stage).iter().map(|generated| generated.again).collect::<Vec<_>>(),
        [false, false]
    );
}

#[test]
fn a_picture_is_part_of_the_commit_that_is_published() {
    let policy = format!("{POLICY}publish: {{ allow: [commit, pull-request] }}\n");
    let stage = Stage::with(&[(".locum/policy.yml", &policy), (".locum/config.yml", CONFIG)]);
    let ran = stage.play(&script(), &["--publish", "local"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("A art/fox.png binary, 29 bytes"), "{}", ran.out);
    let branches = stage.git(&["for-each-ref", "--format=%(refname)", "refs/heads/locum"]);
    let branch = branches.lines().next().unwrap();
    assert_eq!(
        stage.git(&["ls-tree", "-l", branch, "art/fox.png"]).split_whitespace().nth(3),
        Some("29")
    );
    assert_eq!(
        stage.git(&["rev-parse", &format!("{branch}:art/fox.png")]),
        stage.git(&["hash-object", "art/fox.png"])
    );
}

#[test]
fn a_run_that_is_killed_at_any_line_draws_nothing_twice() {
    let stage = stage();
    assert_eq!(stage.play(&script(), &[]).code, Some(0));
    let session = stage.sessions()[0].clone();
    let file = format!("state/locum/sessions/{session}/journal.jsonl");
    let journal = stage.read(&file);
    let lines: Vec<&str> = journal.lines().collect();
    let first = lines.iter().position(|line| line.contains("\"event\":\"painted\"")).unwrap();
    for at in first..first + 4 {
        std::fs::write(stage.path(&file), lines[..=at].join("\n") + "\n").unwrap();
        // What a kill at this line leaves: nothing yet, half a file, the file.
        if lines[at].contains("\"event\":\"painted\"") {
            std::fs::remove_dir_all(stage.path("checkout/art")).unwrap();
        } else if lines[at].contains("\"event\":\"performing\"") {
            stage.write("checkout/art/fox.png", "half");
        }
        let ran = stage.run(&["session", "resume", &session]);
        assert_eq!(ran.code, Some(0), "{at}: {ran:?}");
        assert_eq!(
            (painted(&stage).len(), drawn(&stage, "art/fox.png")),
            (2, png()),
            "killed after line {at}: {}",
            lines[at]
        );
        assert_eq!(
            SessionState::of(&stage.journal()).root().unwrap().budgeting.spent.turns,
            5,
            "killed after line {at}"
        );
    }
}

#[test]
fn a_recorded_picture_is_written_again_without_whoever_drew_it() {
    let stage = stage();
    assert_eq!(
        stage.play(&script(), &["--record", "../run.cassette", "--publish", "none"]).code,
        Some(0)
    );
    stage.git(&["clean", "-qfd"]);
    stage.git(&["rm", "-q", ".locum/config.yml"]);
    stage.commit("no profiles");
    std::fs::remove_dir_all(stage.path("state")).unwrap();
    let played =
        stage.run(&["run", "Do the task.", "--replay", "../run.cassette", "--publish", "none"]);
    assert_eq!(played.code, Some(0), "{played:?}");
    assert_eq!((painted(&stage).len(), drawn(&stage, "art/fox.png")), (2, png()));
}

/// A way to be asked for a picture, and the reply that gives one.
struct Wire {
    provider: &'static str,
    reply: Vec<Value>,
    /// What of a request asks for a picture, by JSON pointer.
    asks: Vec<(&'static str, Value)>,
    /// Where the picture to start from stands.
    from: (&'static str, Value),
}

fn wires() -> Vec<Wire> {
    let address = format!("data:image/png;base64,{PNG}");
    let item = json!({ "type": "image_generation_call", "id": "ig_1", "status": "completed", "result": PNG });
    vec![
        Wire {
            provider: "gemini",
            reply: vec![
                json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "Here." }, { "inlineData": { "mimeType": "image/png", "data": PNG } }] }, "finishReason": "STOP" }],
                "usageMetadata": { "promptTokenCount": 7, "candidatesTokenCount": 1290 } }),
            ],
            asks: vec![
                ("/generationConfig/responseModalities", json!(["TEXT", "IMAGE"])),
                ("/contents/0/parts/0/text", json!("a red fox")),
            ],
            from: (
                "/contents/0/parts/1/inlineData",
                json!({ "mimeType": "image/png", "data": PNG }),
            ),
        },
        Wire {
            provider: "openai",
            reply: vec![
                json!({ "choices": [{ "index": 0, "delta": { "content": "Here.", "images": [{ "type": "image_url", "image_url": { "url": address } }] } }] }),
                json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": { "prompt_tokens": 7, "completion_tokens": 1290 } }),
            ],
            asks: vec![
                ("/modalities", json!(["image", "text"])),
                ("/messages/0/content", json!("a red fox")),
            ],
            from: (
                "/messages/0/content",
                json!([{ "type": "text", "text": "a red fox" }, { "type": "image_url", "image_url": { "url": address } }]),
            ),
        },
        Wire {
            provider: "openai-responses",
            reply: vec![
                json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "image_generation_call", "id": "ig_1" } }),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
                json!({ "type": "response.completed", "response": { "status": "completed", "output": [item], "usage": { "input_tokens": 7, "output_tokens": 1290 } } }),
            ],
            asks: vec![
                ("/tools", json!([{ "type": "image_generation", "output_format": "png" }])),
                ("/tool_choice", json!({ "type": "image_generation" })),
                ("/input/0/content", json!([{ "type": "input_text", "text": "a red fox" }])),
            ],
            from: (
                "/input/0/content",
                json!([{ "type": "input_text", "text": "a red fox" }, { "type": "input_image", "image_url": address }]),
            ),
        },
    ]
}

/// Runs a task whose model, at a server, asks for pictures of a model at another.
fn run_with(stage: &Stage, provider: &str, main: &ModelServer, brush: &ModelServer) -> Ran {
    let own = format!(
        "models: {{ profiles: {{ main: {{ model: m, context_window: 90000 }}, brush: {{ provider: \
         {provider}, model: b, base_url: '{}', api_key_env: BRUSH_KEY, price: {{ input: 0, \
         output: 100 }} }} }}, pointers: {{ main: main, image: brush }} }}\n",
        brush.base_url
    );
    stage.write("config/locum/config.yml", &own);
    let mut command =
        stage.locum(&["run", "Do the task.", "--publish", "none", "--output-format", "json"]);
    command
        .env("OPENAI_API_KEY", "sk-main-0123456789")
        .env("OPENAI_BASE_URL", &main.base_url)
        .env("BRUSH_KEY", "sk-brush-0123456789");
    command.output().unwrap().into()
}

#[test]
fn each_protocol_is_asked_for_pictures_in_its_own_way() {
    for wire in wires() {
        let stage =
            Stage::with(&[(".locum/policy.yml", POLICY), ("private/a.png", "x"), ("a.txt", "a\n")]);
        let draw = |more: Value| {
            let mut arguments = json!({ "prompt": "a red fox" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            ("generate_image", arguments)
        };
        let calls = [
            draw(json!({ "path": "art/fox.png" })),
            draw(json!({ "path": "art/more.png", "image": "art/fox.png" })),
            draw(json!({ "path": "art/private.png", "image": "private/a.png" })),
            draw(json!({ "path": "art/text.png", "image": "a.txt" })),
            draw(json!({ "path": "art/none.png", "image": "none.png" })),
            ("attempt_completion", json!({ "result": "done" })),
        ];
        let main = ModelServer::start(
            calls.iter().map(|call| Answer::calls(std::slice::from_ref(call))).collect(),
        );
        let reply: Vec<String> = wire.reply.iter().map(Value::to_string).collect();
        let mut brush = ModelServer::start(vec![Answer::events(
            &reply.iter().map(String::as_str).collect::<Vec<_>>(),
        )]);
        let ran = run_with(&stage, wire.provider, &main, &brush);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", wire.provider);
        assert_eq!(
            (drawn(&stage, "art/fox.png"), drawn(&stage, "art/more.png")),
            (png(), png()),
            "{}",
            wire.provider
        );
        assert_eq!(stage.names("checkout/art"), ["fox.png", "more.png"]);
        let answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
        for (answer, words) in answers[2..5].iter().zip([
            "read(private/a.png)",
            "`a.txt` is not a PNG, JPEG, GIF or WebP image",
            "`none.png` cannot be started from",
        ]) {
            assert!(answer.contains(words), "{words}: {answer}");
        }
        let asked = brush.asked();
        assert_eq!(asked.len(), 2, "{}: two pictures, two requests", wire.provider);
        let (plain, from) = (asked[0].json(), asked[1].json());
        for (place, wanted) in &wire.asks {
            assert_eq!(plain.pointer(place), Some(wanted), "{} {place}: {plain}", wire.provider);
        }
        assert_eq!(from.pointer(wire.from.0), Some(&wire.from.1), "{}: {from}", wire.provider);
        assert!(
            asked.iter().all(
                |asked| !asked.body.contains("Do the task.") && !asked.body.contains("sk-main")
            ),
            "{}",
            wire.provider
        );
        let cost = ran.json()["spent"]["cost_usd"].as_f64().unwrap_or_default();
        assert!((cost - 0.258).abs() < 1e-9, "{}: {cost} {}", wire.provider, ran.out);
    }
}

#[test]
fn a_protocol_without_pictures_is_told_of_and_does_without() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    let main = ModelServer::start(vec![Answer::calls(&[(
        "attempt_completion",
        json!({ "result": "done" }),
    )])]);
    let mut brush = ModelServer::start(vec![Answer::words("?")]);
    let ran = run_with(&stage, "anthropic", &main, &brush);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.err.contains(
            "no images are generated: model `brush`: `pointers.image` names it, and no model gives \
             pictures by `provider: anthropic`"
        ),
        "{}",
        ran.err
    );
    assert_eq!(brush.asked().len(), 0);
}

#[test]
fn a_refused_starting_picture_is_not_left_out_without_a_word() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    stage.write("checkout/art/fox.png", &png());
    stage.commit("a fox");
    let call = (
        "generate_image",
        json!({ "prompt": "a red fox", "path": "art/more.png", "image": "art/fox.png" }),
    );
    let main = ModelServer::start(vec![
        Answer::calls(&[call]),
        Answer::calls(&[("attempt_completion", json!({ "result": "done" }))]),
    ]);
    let mut brush = ModelServer::start(vec![Answer::json(
        400,
        &json!({ "error": { "message": "Invalid image." } }),
    )]);
    let ran = run_with(&stage, "openai", &main, &brush);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let asked = brush.asked();
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.body.contains(PNG)), "{asked:?}");
    assert!(
        stage.answers()[0].1.contains("gave nothing")
            && stage.answers()[0].1.contains("Invalid image."),
        "{:?}",
        stage.answers()
    );
}
