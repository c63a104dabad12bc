//! Models that think until their reply is over: what is said of a summary or an answer without
//! words.

use std::sync::Mutex;

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::report::transcript::{EventSelection, transcript};
use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::journal::Journal;
use locum_agent::session::recorded::CompactionKind;
use locum_base::chat::{StopReason, Usage};
use locum_models::scripted::ScriptedModel;
use locum_models::scripted::script::ModelScript;
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, POLICY, Ran};

/// A script whose model thinks away every reply in a mode that begins like this.
struct Thinker {
    script: ScriptedModel,
    mode: &'static str,
    words: &'static str,
    limits: Mutex<Vec<Option<u32>>>,
}

impl Thinker {
    fn new(script: &str, mode: &'static str, words: &'static str) -> Self {
        let script = format!("version: 1\ntasks:\n{script}");
        let script = ScriptedModel::new(ModelScript::parse("s.yml", &script).unwrap());
        Self { script, mode, words, limits: Mutex::default() }
    }

    fn run(&self, fixture: &Fixture) -> Ran {
        let journal = Journal::create(&fixture.journal).unwrap();
        fixture.run_with(self, usize::MAX, journal, None).unwrap()
    }
}

impl Model for Thinker {
    fn label(&self) -> &str {
        self.script.label()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        if !request.mode.starts_with(self.mode) {
            return self.script.stream(request);
        }
        let limit = request.max_output_tokens;
        self.limits.lock().unwrap().push(limit);
        let output = limit.map_or(0, u64::from);
        let usage = Usage { input: 700, output, reasoning: output, ..Usage::default() };
        let deltas = [
            Delta::Reasoning("Let me think.".to_owned()),
            Delta::Text(self.words.to_owned()),
            Delta::Usage(usage),
            Delta::Stop(StopReason::Length),
        ];
        stream::iter(deltas.map(Ok)).boxed()
    }
}

const READS: &str = r#"  - mode: code
    turns:
      - calls: [{ tool: read_file, args: { path: src/1.txt } }]
      - calls: [{ tool: read_file, args: { path: src/2.txt } }]
      - calls: [{ tool: read_file, args: { path: src/3.txt } }]
      - calls: [{ tool: read_file, args: { path: src/4.txt } }]
      - calls: [{ tool: read_file, args: { path: src/5.txt } }]
      - calls: [{ tool: attempt_completion, args: { result: "read" } }]
"#;

fn of_long_files() -> Fixture {
    let mut fixture = Fixture::new("");
    for number in 1..=5 {
        let text = format!("{}\n", "x".repeat(99)).repeat(120);
        std::fs::write(fixture.root.join(format!("src/{number}.txt")), text).unwrap();
    }
    fixture.window = Some(20_000);
    fixture
}

#[test]
fn a_summary_that_is_all_thought_is_noted_and_paid() {
    let model = Thinker::new(READS, "condense", "");
    let ran = model.run(&of_long_files());
    assert_eq!(ran.word(), "nothing-to-do", "{}", ran.reason());
    let shortened = ran.lines.iter().find_map(|line: &JournalLine| match &line.event {
        Event::Compacted { how, charge, .. } => Some((*how, charge.usage.input)),
        _other => None,
    });
    assert_eq!(shortened, Some((CompactionKind::Truncated, 700)), "what it thought is paid");
    let note = ran.outcome.notes.first().unwrap();
    for words in ["without a summary", "until the limit of 4096 tokens"] {
        assert!(note.contains(words), "{note}");
    }
    let part = Thinker::new(READS, "condense", "SUMMARY: x.");
    let ran = part.run(&of_long_files());
    assert_eq!(ran.outcome.notes, Vec::<String>::new(), "words are a summary");
}

const QUESTION: &str = r#"  - mode: code
    turns:
      - calls: [{ tool: ask_expert_model, args: { question: "Why?", expert: deep } }]
      - calls: [{ tool: attempt_completion, args: { result: "asked" } }]
"#;

fn with_expert() -> Fixture {
    Fixture::with_policy("", &format!("{POLICY}  - allow: \"expert(deep)\"\n"))
}

#[test]
fn an_expert_that_says_nothing_gave_no_answer_and_is_paid() {
    let model = Thinker::new(QUESTION, "expert:", "");
    let ran = model.run(&with_expert());
    assert_eq!(*model.limits.lock().unwrap(), [Some(8192)]);
    let answer = ran.answers("ask_expert_model").remove(0);
    let said = "The expert `deep` gave no answer: it reached its limit of 8192 tokens before it";
    assert!(answer.starts_with(said), "{answer}");
    let is_error = |line: &JournalLine| {
        matches!(&line.event, Event::Answered { tool, observation, .. }
            if tool == "ask_expert_model" && observation.is_error)
    };
    assert!(ran.lines.iter().any(is_error), "it is an error of the call");
    assert!(ran.outcome.spent.usage.output >= 8192);
    let shown = transcript(&ran.lines, &EventSelection::default());
    assert!(shown.contains("asked the expert deep, which gave no answer ("), "{shown}");
    let part = Thinker::new(QUESTION, "expert:", "Because of");
    let answer = part.run(&with_expert()).answers("ask_expert_model").remove(0);
    assert!(answer.contains("Because of"), "{answer}");
    assert!(
        answer.ends_with("The answer was cut: it reached its limit of 8192 tokens."),
        "{answer}"
    );
}
