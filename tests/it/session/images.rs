//! Images a model is shown: read by a tool, kept beside the journal, there again after a kill.

use std::path::Path;
use std::sync::Mutex;

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::report::transcript::{EventSelection, transcript};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use locum_agent::session::messages::{PersonMessage, send};
use locum_base::chat::Message;
use locum_base::image::Image;
use locum_models::scripted::ScriptedModel;
use locum_models::scripted::script::ModelScript;
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, Ran, turns};

/// The images of each request; none where the bytes are gone.
type Seen = Vec<Vec<Option<Vec<u8>>>>;

/// A script that notes which images each request holds.
struct Watching {
    script: ScriptedModel,
    seen: Mutex<Seen>,
}

impl Model for Watching {
    fn label(&self) -> &str {
        self.script.label()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let images = request
            .messages
            .iter()
            .flat_map(|message| match message {
                Message::Tool { results } => {
                    results.iter().flat_map(|result| &result.images).collect()
                }
                Message::Images { images } => images.iter().collect(),
                Message::User { .. } | Message::Assistant { .. } => Vec::new(),
            })
            .map(|image| image.content.bytes().map(<[u8]>::to_vec))
            .collect();
        self.seen.lock().unwrap().push(images);
        self.script.stream(request)
    }
}

fn png(width: u8) -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0"[..], &[width], b"\0\0\0\x07\x08\x02\0\0\0"].concat()
}

fn put(fixture: &Fixture, path: &str, bytes: &[u8]) {
    std::fs::write(fixture.root.join(path), bytes).unwrap();
}

fn run(fixture: &Fixture, until: usize, journal: Journal) -> (Option<Ran>, Seen) {
    let script = ScriptedModel::new(ModelScript::parse("script.yml", &fixture.script).unwrap());
    let model = Watching { script, seen: Mutex::default() };
    let ran = fixture.run_with(&model, until, journal, None);
    (ran, model.seen.into_inner().unwrap())
}

fn blobs(journal: &Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(journal.join("blobs")).into_iter().flatten();
    entries.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn an_image_of_a_person_whose_bytes_are_gone_is_said_to_be_missing() {
    let script = r#"
- expect: { contains: ["As here.", "1 image with it cannot be shown to you"] }
  calls: [{ tool: attempt_completion, args: { result: "not seen" } }]
"#;
    let fixture = Fixture::new(&turns(script));
    let journal = Journal::create(&fixture.journal).unwrap();
    let image = Image::parse(&png(9)).unwrap();
    let (id, by, text) = ("1".to_owned(), "ada".to_owned(), "As here.".to_owned());
    let file = fixture.journal.join("messages").join(&image.hash);
    send(&fixture.journal, &PersonMessage { id, by, text, images: vec![image] }).unwrap();
    std::fs::remove_file(file).unwrap();
    let (ran, seen) = run(&fixture, usize::MAX, journal);
    assert_eq!((ran.unwrap().word(), seen), ("nothing-to-do", vec![vec![]]));
}

const WRITTEN_TO: &str = r#"
- calls: [{ tool: read_file, args: { path: src/a.txt } }]
- expect: { contains: ["ada writes to you:", "As here.", "1. image 9x7 png"] }
  calls: [{ tool: read_file, args: { path: src/a.txt, limit: 1 } }]
- calls: [{ tool: attempt_completion, args: { result: "seen" } }]
"#;

#[test]
fn an_image_that_a_person_sends_is_shown_with_their_words_and_after_every_kill() {
    let write_to = |folder: &Path| {
        let message = PersonMessage {
            id: "1".to_owned(),
            by: "ada".to_owned(),
            text: "As here.".to_owned(),
            images: vec![Image::parse(&png(9)).unwrap()],
        };
        send(folder, &message).unwrap();
    };
    let sends = |fixture: Fixture| {
        let folder = fixture.journal.clone();
        fixture.watched(move |event| {
            if matches!(event, Event::Replied { .. }) {
                write_to(&folder);
            }
        })
    };
    let fixture = sends(Fixture::new(&turns(WRITTEN_TO)));
    let (ran, seen) = run(&fixture, usize::MAX, Journal::create(&fixture.journal).unwrap());
    let ran = ran.unwrap();
    let shown = vec![Some(png(9))];
    assert_eq!((ran.word(), seen), ("nothing-to-do", vec![vec![], shown.clone(), shown.clone()]));
    assert_eq!(blobs(&fixture.journal), [png(9)]);
    assert!(
        !std::fs::read_to_string(fixture.journal.join("journal.jsonl")).unwrap().contains("IHDR")
    );
    let replied = ran.lines.iter().position(|line| matches!(line.event, Event::Replied { .. }));
    for until in replied.unwrap() + 1..ran.lines.len() {
        let fixture = sends(Fixture::new(&turns(WRITTEN_TO)));
        run(&fixture, until, Journal::create(&fixture.journal).unwrap());
        // What was sent is in the journal, or still in the folder.
        write_to(&fixture.journal);
        let (ran, seen) = run(&fixture, usize::MAX, Journal::resume(&fixture.journal).unwrap());
        assert_eq!(ran.unwrap().word(), "nothing-to-do", "{until}");
        assert!(
            seen.iter().all(|images| images.is_empty() || *images == shown),
            "{until}: {seen:?}"
        );
    }
}

const TWICE: &str = r#"
- calls: [{ tool: read_file, args: { path: src/shot.png } }]
- calls: [{ tool: read_file, args: { path: src/shot.png, limit: 5 } }]
- calls: [{ tool: attempt_completion, args: { result: "seen" } }]
"#;

#[test]
fn an_image_is_shown_described_in_the_journal_and_kept_once() {
    let fixture = Fixture::new(&turns(TWICE));
    put(&fixture, "src/shot.png", &png(9));
    let (ran, seen) = run(&fixture, usize::MAX, Journal::create(&fixture.journal).unwrap());
    let shown = Some(png(9));
    assert_eq!(seen, [vec![], vec![shown.clone()], vec![shown.clone(), shown]]);
    assert_eq!(blobs(&fixture.journal), [png(9)]);
    let lines = ran.unwrap().lines;
    let images: Vec<_> = lines.iter().flat_map(|line| line.event.images()).collect();
    assert_eq!((images.len(), images[0].to_string().as_str()), (2, "image 9x7 png, 29 bytes"));
    assert!(images.iter().all(|image| image.content.bytes().is_none()), "lines hold no bytes");
    let shown = transcript(&lines, &EventSelection::default());
    assert!(shown.contains("[image 9x7 png, 29 bytes, sha256 "), "{shown}");
}

#[test]
fn an_image_is_there_again_after_a_kill_at_any_line() {
    let fixture = Fixture::new(&turns(TWICE));
    put(&fixture, "src/shot.png", &png(9));
    let whole = run(&fixture, usize::MAX, Journal::create(&fixture.journal).unwrap())
        .0
        .unwrap()
        .lines
        .len();
    for line in 1..whole {
        std::fs::remove_dir_all(&fixture.journal).unwrap();
        assert!(run(&fixture, line, Journal::create(&fixture.journal).unwrap()).0.is_none());
        let (ran, seen) = run(&fixture, usize::MAX, Journal::resume(&fixture.journal).unwrap());
        assert_eq!(ran.unwrap().outcome.summary, "seen", "killed at line {line}");
        assert!(seen.iter().flatten().all(|image| *image == Some(png(9))), "killed at line {line}");
        assert_eq!(seen.last().map_or(2, Vec::len), 2, "killed at line {line}");
    }
}

#[test]
fn an_image_whose_bytes_are_gone_or_changed_is_not_shown() {
    let fixture = Fixture::new(&turns(TWICE));
    put(&fixture, "src/shot.png", &png(9));
    let answered = |line: &locum_agent::session::event::JournalLine| {
        matches!(line.event, Event::Answered { .. })
    };
    let whole =
        run(&fixture, usize::MAX, Journal::create(&fixture.journal).unwrap()).0.unwrap().lines;
    let first = whole.iter().position(answered).unwrap() + 1;
    for other in [None, Some(png(8)), Some(b"text".to_vec())] {
        std::fs::remove_dir_all(&fixture.journal).unwrap();
        assert!(run(&fixture, first, Journal::create(&fixture.journal).unwrap()).0.is_none());
        let blob = std::fs::read_dir(fixture.journal.join("blobs"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        match other {
            None => std::fs::remove_file(blob).unwrap(),
            Some(bytes) => std::fs::write(blob, bytes).unwrap(),
        }
        let (_, seen) = run(&fixture, usize::MAX, Journal::resume(&fixture.journal).unwrap());
        assert_eq!(seen[0], [None]);
    }
}

#[test]
fn a_conversation_holds_so_many_images_and_no_more() {
    let mut reads: String = (1..=21)
        .map(|width| format!("    - {{ tool: read_file, args: {{ path: src/{width}.png }} }}\n"))
        .collect();
    reads.insert_str(0, "- calls:\n");
    let script = format!(
        "{reads}- expect: {{ contains: [\"This image 21x7 png, 29 bytes is left out\"], \
         not_contains: [\"image 20x7 png, 29 bytes is left out\"] }}\n  calls: [{{ tool: \
         attempt_completion, args: {{ result: seen }} }}]\n"
    );
    let fixture = Fixture::new(&turns(&script));
    (1..=21).for_each(|width| put(&fixture, &format!("src/{width}.png"), &png(width)));
    let (ran, seen) = run(&fixture, usize::MAX, Journal::create(&fixture.journal).unwrap());
    assert_eq!((ran.unwrap().outcome.summary.as_str(), seen[1].len()), ("seen", 20));
}

#[test]
fn an_image_that_may_not_be_read_is_not_shown() {
    let policy = crate::session::fixture::POLICY
        .replace("  - hold:", "  - deny: \"read(src/private/**)\"\n  - hold:");
    let script = turns(
        r#"
- calls:
    - { tool: read_file, args: { path: src/private/shot.png } }
    - { tool: read_file, args: { path: src/link.png } }
- calls: [{ tool: attempt_completion, args: { result: "not seen" } }]
"#,
    );
    let fixture = Fixture::with_policy(&script, &policy);
    std::fs::create_dir(fixture.root.join("src/private")).unwrap();
    put(&fixture, "src/private/shot.png", &png(9));
    std::os::unix::fs::symlink("private/shot.png", fixture.root.join("src/link.png")).unwrap();
    let (ran, seen) = run(&fixture, usize::MAX, Journal::create(&fixture.journal).unwrap());
    assert_eq!(seen[1], [], "{:?}", ran.unwrap().answers("read_file"));
    assert_eq!(blobs(&fixture.journal), Vec::<Vec<u8>>::new());
}

/// A script that gives an image with each reply.
struct Painting(ScriptedModel);

impl Model for Painting {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        stream::iter([Ok(Delta::Image(Image::measure(&png(5)).unwrap()))])
            .chain(self.0.stream(request))
            .boxed()
    }
}

#[test]
fn an_image_of_a_reply_is_kept_and_told_of_and_goes_nowhere() {
    let fixture = Fixture::new(&turns(
        r#"- calls: [{ tool: attempt_completion, args: { result: "drawn" } }]"#,
    ));
    let model =
        Painting(ScriptedModel::new(ModelScript::parse("script.yml", &fixture.script).unwrap()));
    let ran = fixture
        .run_with(&model, usize::MAX, Journal::create(&fixture.journal).unwrap(), None)
        .unwrap();
    assert_eq!(blobs(&fixture.journal), [png(5)]);
    assert!(
        transcript(&ran.lines, &EventSelection::default())
            .contains("[image 5x7 png, 29 bytes, sha256 ")
    );
    assert_eq!(ran.changed(), Vec::<&str>::new());
}
