//! Images that a user gives with a task, through the binary to the model's request.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::{Ran, Stage};
use locum_agent::session::journal::Journal;
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
    let body = &server.asked()[0].body;
    assert!(body.contains("1. image 2x3 png, 29 bytes; given with the task as"), "{body}");
    assert!(!body.contains("anyone may have written"), "the user's own image: {body}");
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
fn an_image_comes_with_words_to_a_session_that_goes_on() {
    let (stage, completion) = (stage(true), json!({ "result": "Seen." }));
    let mut server = ModelServer::start(vec![
        Answer::calls(&[("attempt_completion", completion.clone())]),
        Answer::calls(&[("ask_followup_question", json!({ "question": "?", "follow_up": ["a"] }))]),
        Answer::calls(&[("attempt_completion", completion)]),
    ]);
    assert_eq!(run(&stage, &server, &["run", "Look at it."]).code, Some(0));
    let session = stage.sessions()[0].clone();
    let image = stage.path("shot.png").display().to_string();
    let resume = |arguments: &[&str]| {
        run(&stage, &server, &[&["session", "resume", &session], arguments].concat())
    };
    let alone = resume(&["--image", &image]);
    assert!(alone.code == Some(2) && alone.err.contains("an image belongs to words"), "{alone:?}");
    stage.write("notes.png", "text");
    let notes = stage.path("notes.png").display().to_string();
    let none = resume(&["As here.", "--image", &notes]);
    assert!(none.code == Some(2) && none.err.contains("is not a PNG"), "{none:?}");
    assert_eq!(resume(&["As here.", "--image", &image]).code, Some(5));
    std::fs::remove_file(stage.path("shot.png")).unwrap();
    let shown = stage.run(&["session", "show", &session, "--json"]).json();
    let question = shown["outcome"]["question"]["id"].as_str().unwrap().to_owned();
    stage.run(&["session", "answer", &session, &question, "a"]);
    assert_eq!(resume(&[]).code, Some(0));
    let asked = server.asked();
    let sent: Vec<usize> = asked.iter().map(|asked| asked.body.matches(PNG).count()).collect();
    assert_eq!(sent, [0, 1, 1]);
    assert!(asked[1].body.contains("As here.") && asked[1].body.contains("1. image 2x3 png"));
    let told = stage.run(&["session", "show", &session]).out;
    assert!(told.contains("image 2x3 png, 29 bytes"), "{told}");
}

#[test]
fn an_image_is_sent_to_a_session_at_work() {
    let (stage, completion) = (stage(true), json!({ "result": "Seen." }));
    let completes = || Answer::calls(&[("attempt_completion", completion.clone())]);
    let mut server = ModelServer::start(vec![completes(), completes()]);
    run(&stage, &server, &["run", "Look at it."]);
    let session = stage.sessions()[0].clone();
    let image = stage.path("shot.png").display().to_string();
    let send = || stage.run(&["session", "send", &session, "As here.", "--image", &image]);
    let over = send();
    assert!(over.code == Some(2) && over.err.contains("is not at work"), "{over:?}");
    // Whoever has the journal open is at work on it.
    let at_work = Journal::resume(&stage.path("state/locum/sessions").join(&session)).unwrap();
    stage.write("shot.png", "text");
    let none = send();
    assert!(none.code == Some(2) && none.err.contains("is not a PNG"), "{none:?}");
    stage.write("shot.png", &png(2, 3));
    assert_eq!(send().code, Some(0));
    drop(at_work);
    std::fs::remove_file(stage.path("shot.png")).unwrap();
    assert_eq!(run(&stage, &server, &["session", "resume", &session, "Go on."]).code, Some(0));
    let body = &server.asked()[1].body;
    assert!(body.contains("As here.") && body.matches(PNG).count() == 1, "{body}");
}

#[test]
fn a_model_that_does_not_see_reads_that_words_came_with_an_image() {
    let (stage, completion) = (stage(false), json!({ "result": "Not seen." }));
    let completes = || Answer::calls(&[("attempt_completion", completion.clone())]);
    let mut server = ModelServer::start(vec![completes(), completes()]);
    run(&stage, &server, &["run", "Look at it."]);
    let session = stage.sessions()[0].clone();
    let image = stage.path("shot.png").display().to_string();
    let ran = run(&stage, &server, &["session", "resume", &session, "Here.", "--image", &image]);
    assert!(ran.code == Some(0) && ran.err.contains("not known to read images"), "{ran:?}");
    let body = &server.asked()[1].body;
    assert!(body.contains("1 image with it cannot be shown to you") && !body.contains(PNG));
}

#[test]
fn a_plan_says_which_images_there_are() {
    let stage = stage(true);
    stage.write("run.yml", NOTHING);
    let (image, script) =
        (stage.path("shot.png").display().to_string(), stage.path("run.yml").display().to_string());
    let plan = |more: &[&str]| {
        let run = ["run", "Look.", "--image", &image, "--dry-run", "--script", &script];
        stage.run(&[&run, more].concat())
    };
    let text = plan(&[]);
    assert!(
        text.out.contains("\nshows     image 2x3 png, 29 bytes; given with the task as `"),
        "{text:?}"
    );
    let images = plan(&["--output-format", "json"]).json()["images"].clone();
    assert!(images[0].as_str().unwrap().starts_with("image 2x3 png"), "{images}");
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
