//! The corpus of malformed responses: good ones cut, with lines lost, doubled and out of
//! order, with values of another kind.
//! In: a recorded answer and how a protocol reads it. Nothing may panic or loop for ever, and an
//! answer that broke off is not a reply: nothing of it is ever executed.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::ModelRequest;
use crate::retry::assembly::ReplyAssembly;
use crate::transport::response::ReplyParser;
use crate::transport::response::testing::{events, read};
use locum_base::chat::Reply;

/// Reads an answer as a reply that would be acted on; what was counted does not matter.
fn reply<R: ReplyParser>(body: &[u8], cut: usize, broken: Option<&str>) -> Option<Reply> {
    let deltas = read::<R>(body, cut, broken).ok()?;
    let mut assembly = ReplyAssembly::default();
    deltas.into_iter().try_for_each(|delta| assembly.add(delta)).ok()?;
    let reply = assembly.finish(&ModelRequest::with(&[])).ok()?;
    Some(Reply { usage: None, ..reply })
}

/// Breaks a streamed answer in every way.
pub(crate) fn check_stream<R: ReplyParser>(frames: &[Value]) {
    let lines: Vec<String> = frames.iter().map(Value::to_string).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check_cuts::<R>(&events(&lines));
    check_lines::<R>(&lines);
    for at in 0..frames.len() {
        let body = |frame: &Value| {
            events(&[&lines[..at], &[frame.to_string().as_str()], &lines[at + 1..]].concat())
        };
        check_values(frames, at, |frame| drop(reply::<R>(body(frame).as_bytes(), 64, None)));
    }
}

/// Breaks an answer that is not streamed in every way.
pub(crate) fn check_plain<R: ReplyParser>(answer: &Value) {
    check_cuts::<R>(&answer.to_string());
    check_values(std::slice::from_ref(answer), 0, |answer| {
        drop(reply::<R>(answer.to_string().as_bytes(), 64, None))
    });
}

/// An answer that breaks off anywhere is the whole reply or none.
fn check_cuts<R: ReplyParser>(body: &str) {
    let whole = reply::<R>(body.as_bytes(), body.len(), None);
    assert!(whole.as_ref().is_some_and(|whole| !whole.calls.is_empty()), "{whole:?}");
    let mut replies = 0;
    for at in 0..=body.len() {
        for broken in [None, Some("cut")] {
            let found = reply::<R>(&body.as_bytes()[..at], 7, broken);
            replies += usize::from(found.is_some());
            assert!(found.is_none() || found == whole, "cut after {at} bytes: {found:?}");
        }
    }
    assert!((1..body.len()).contains(&replies), "{replies}");
}

/// A line that is lost, comes twice, or comes before the one before it: whatever comes of it, it
/// comes of it however the bytes are cut.
fn check_lines<R: ReplyParser>(lines: &[&str]) {
    let check = |lines: Vec<&str>| {
        let body = events(&lines);
        assert_eq!(
            reply::<R>(body.as_bytes(), 1, None),
            reply::<R>(body.as_bytes(), body.len(), None),
            "{body}"
        );
    };
    for at in 0..lines.len() {
        check([&lines[..at], &lines[at + 1..]].concat());
        check([&lines[..=at], &lines[at..]].concat());
        let mut swapped = lines.to_vec();
        swapped.swap(at.saturating_sub(1), at);
        check(swapped);
    }
}

/// Puts values of every kind in the place of every value of one frame.
fn check_values(frames: &[Value], at: usize, mut check: impl FnMut(&Value)) {
    let others = [
        json!(null),
        json!(true),
        json!(7),
        json!(-1),
        json!(u64::MAX),
        json!(1.0e300),
        json!(""),
        json!("x"),
        json!("error"),
        json!([]),
        json!([[{}]]),
        json!({}),
        json!({ "error": { "message": 3 } }),
    ];
    let mut places = Vec::new();
    collect_places(&frames[at], String::new(), &mut places);
    for place in places {
        for other in &others {
            let mut frame = frames[at].clone();
            *frame.pointer_mut(&place).unwrap() = other.clone();
            check(&frame);
        }
        let mut frame = frames[at].clone();
        if let Some((parent, key)) = place.rsplit_once('/')
            && let Some(parent) = frame.pointer_mut(parent).and_then(Value::as_object_mut)
        {
            parent.remove(key);
            check(&frame);
        }
    }
}

/// Finds the place of every value, as JSON pointers.
fn collect_places(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(at, inner)| collect_places(inner, format!("{place}/{at}"), places)),
        Value::Object(object) => object
            .iter()
            .for_each(|(key, inner)| collect_places(inner, format!("{place}/{key}"), places)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(place);
}
