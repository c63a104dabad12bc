//! What a request and a reply have in tokens while their provider has not counted them: by the
//! model's own tokenizer where it has one.

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use locum_agent::session::state::SessionState;
use locum_base::chat::{Message, StopReason, Usage};
use locum_base::id::TaskId;
use locum_models::accounting::estimate_message;
use locum_models::tokens::{Tokenizer, estimate_tokens};
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, POLICY, Ran};

const READS: u32 = 3;

/// Reads file after file and completes; counts the tokens of the replies that are named, and of no
/// others.
struct Reader {
    counts: &'static [(u32, Usage)],
}

impl Model for Reader {
    fn label(&self) -> &'static str {
        "reader"
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let (name, arguments) = if request.turn < READS {
            ("read_file", format!(r#"{{"path":"src/hashes-{}.txt"}}"#, request.turn))
        } else {
            ("attempt_completion", r#"{"result":"read"}"#.to_owned())
        };
        let call = Delta::Call {
            index: 0,
            id: Some(format!("call-{}", request.turn)),
            name: Some(name.to_owned()),
            arguments,
        };
        let usage = self
            .counts
            .iter()
            .find(|(turn, _)| *turn == request.turn)
            .map(|(_, usage)| Delta::Usage(*usage));
        stream::iter(
            [Some(call), usage, Some(Delta::Stop(StopReason::ToolUse))]
                .into_iter()
                .flatten()
                .map(Ok),
        )
        .boxed()
    }
}

fn fixture(tokenizer: Tokenizer) -> Fixture {
    let mut fixture = Fixture::with_policy("", POLICY);
    let hashes = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n".repeat(60);
    for number in 0..READS {
        std::fs::write(fixture.root.join(format!("src/hashes-{number}.txt")), &hashes).unwrap();
    }
    fixture.tokenizer = tokenizer;
    fixture
}

fn run(fixture: &Fixture, counts: &'static [(u32, Usage)]) -> Ran {
    fixture
        .run_with(&Reader { counts }, usize::MAX, Journal::create(&fixture.journal).unwrap(), None)
        .unwrap()
}

/// Returns what each reply was charged, and whether that is an estimate.
fn replies(ran: &Ran) -> Vec<(Usage, bool)> {
    let usage = |event: &Event| match event {
        Event::Replied { charge, .. } => Some((charge.usage, charge.estimated)),
        _other => None,
    };
    ran.lines.iter().filter_map(|line| usage(&line.event)).collect()
}

/// Returns the messages that stand between one request and the next.
fn between(ran: &Ran, requests: usize) -> Vec<Message> {
    let state = SessionState::of(&ran.lines);
    let messages = state.task(TaskId(0)).unwrap().conversation.messages.to_vec();
    messages.into_iter().skip(1 + 2 * (requests - 1)).take(2).collect()
}

#[test]
fn what_nobody_counts_is_estimated_by_the_tokenizer_of_the_model() {
    let ran = run(&fixture(Tokenizer::O200k), &[]);
    let replies = replies(&ran);
    assert_eq!(replies.len(), 4, "{}", ran.reason());
    for (at, pair) in replies.windows(2).enumerate() {
        let new: u64 = between(&ran, at + 1)
            .iter()
            .map(|message| estimate_message(Tokenizer::O200k, message))
            .sum();
        assert_eq!(pair[1].0.input - pair[0].0.input, new, "request {}", at + 2);
        assert!(new > 1000, "sixty hashes are more than a thousand tokens");
    }
    assert!(
        replies.iter().all(|(_, estimated)| *estimated) && ran.outcome.spent_is_estimate,
        "it stays an estimate"
    );
}

#[test]
fn a_model_without_a_tokenizer_is_estimated_by_bytes() {
    let ran = run(&fixture(Tokenizer::Bytes), &[]);
    for (at, pair) in replies(&ran).windows(2).enumerate() {
        let bytes: usize = between(&ran, at + 1).iter().map(Message::size_bytes).sum();
        let new = pair[1].0.input - pair[0].0.input;
        assert!(
            new.abs_diff(estimate_tokens(bytes)) <= 1,
            "request {}: {new} and {bytes} bytes",
            at + 2
        );
    }
    let (bytes, tokens) =
        (replies(&ran)[3].0.input, replies(&run(&fixture(Tokenizer::O200k), &[]))[3].0.input);
    assert!(tokens > bytes * 3 / 2, "hashes are {tokens} tokens and {bytes} by their bytes");
}

/// The second reply is counted: what comes after it is estimated on top of that count, and nothing
/// before it.
#[test]
fn what_the_provider_counted_stands_and_only_what_came_since_is_estimated() {
    const COUNTED: Usage =
        Usage { input: 5_000, output: 70, cached_read: 0, cached_write: 0, reasoning: 0 };
    for tokenizer in Tokenizer::ALL {
        let ran = run(&fixture(tokenizer), &[(1, COUNTED)]);
        let replies = replies(&ran);
        assert_eq!((replies[1], replies[2].1), ((COUNTED, false), true));
        let answer = between(&ran, 2).pop().unwrap();
        let new = match tokenizer {
            Tokenizer::Bytes => estimate_tokens(answer.size_bytes()),
            Tokenizer::O200k => estimate_message(tokenizer, &answer),
        };
        assert_eq!(replies[2].0.input, COUNTED.total() + new, "{}", tokenizer.as_str());
    }
}

#[test]
fn a_window_that_is_nearly_full_is_seen_by_the_tokenizer_where_bytes_see_none() {
    let last = |tokenizer| replies(&run(&fixture(tokenizer), &[])).last().unwrap().0.input;
    let (bytes, tokens) = (last(Tokenizer::Bytes), last(Tokenizer::O200k));
    // Three quarters of it lie between the two estimates.
    let window = u32::try_from((bytes + tokens) / 2 / 3 * 4).unwrap();
    for (tokenizer, is_shortened) in [(Tokenizer::Bytes, false), (Tokenizer::O200k, true)] {
        let mut fixture = fixture(tokenizer);
        fixture.window = Some(window);
        let ran = run(&fixture, &[]);
        let shortened = ran.lines.iter().any(|line| matches!(line.event, Event::Compacted { .. }));
        assert_eq!(
            (ran.word(), shortened),
            ("nothing-to-do", is_shortened),
            "{}: {}",
            tokenizer.as_str(),
            ran.reason()
        );
    }
}
