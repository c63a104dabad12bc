//! Images that a user gives with a task, through the binary to the model's request.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::{Ran, Stage};
use locum_testing::images::png;

const PNG: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=";

const NOTHING: &str = "version: 1\ntasks: [{ turns: [{ say: nothing }] }]\n";

const CONFIG: &str = "models: { profiles: { eye: { model: e, context_window: 200000, images: SEES \
                      } }, pointers: { main: eye } }\n";

fn stage(sees: bool) -> Stage {
    let config = CONFIG.replace("SEES", &sees.to_string());
    let stage = Stage::with(&[(".locum/config.yml", &config), ("a.txt", "a\n")]);
    stage.write("shot.png", &png(2, 3));
    stage
}

fn run(stage: &Stage, server: &ModelServer, arguments: &[&str]) -> Ran {
    let mut command = stage.locum(arguments);
    command.env("OPENAI_API_KEY", "sk-0123456789").env("OPENAI_BASE_URL", &server.base_url);
    command.output().unwrap().into()
}

#[test]
fn an_image_is_sent_with_the_task_and_again_when_the_session_resumes() {
    let stage = stage(true);
    let question = json!({ "question": "Which?", "follow_up": ["this"] });
    let mut server = ModelServer::start(vec![
        Answer::calls(&[("ask_followup_question", question)]),
        Answer::calls(&[("attempt_completion", json!({ "result": "Seen." }))]),
    ]);
    let image = stage.path("shot.png").display().to_string();
    let asked = run(&stage, &server, &["run", "Look at it.", "--image", &image]);
    assert_eq!(asked.code, Some(5), "{asked:?}");
    std::fs::remove_file(stage.path("shot.png")).unwrap();
    let session = stage.sessions()[0].clone();
    let shown = stage.run(&["session", "show", &session, "--json"]).json();
    let question = shown["outcome"]["question"]["id"].as_str().unwrap().to_owned();
    stage.run(&["session", "answer", &session, &question, "this"]);
    let ended = run(&stage, &server, &["session", "resume", &session]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sent: Vec<usize> =
        server.asked().iter().map(|asked| asked.body.matches(PNG).count()).collect();
    assert_eq!(sent, [1, 1]);
    assert!(server.asked()[0].body.contains("1. image 2x3 png, 29 bytes; given with the task as"));
}

#[test]
fn a_model_that_does_not_see_reads_that_there_was_an_image() {
    let stage = stage(false);
    let mut server = ModelServer::start(vec![Answer::calls(&[(
        "attempt_completion",
        json!({ "result": "Not seen." }),
    )])]);
    let image = stage.path("shot.png").display().to_string();
    let ran = run(&stage, &server, &["run", "Look at it.", "--image", &image]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let body = &server.asked()[0].body;
    assert!(body.contains("1 image was not shown: ") && !body.contains(PNG), "{body}");
    assert!(ran.err.contains("1 image was not shown: "), "{ran:?}");
}

#[test]
fn what_is_no_image_ends_the_run_before_it_begins() {
    let stage = stage(true);
    stage.write("notes.png", "text");
    for (file, expected) in [("notes.png", "is not a PNG"), ("missing.png", "No such file")] {
        let path = stage.path(file).display().to_string();
        let ran = stage.play(NOTHING, &["--image", &path]);
        assert!(ran.code == Some(2) && ran.err.contains(expected), "{ran:?}");
    }
    assert!(!stage.path("state/locum/sessions").exists());
}
