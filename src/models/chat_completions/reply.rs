//! From the bytes of an answer to deltas: streamed or not, in whatever shape compatible servers give it.
//!
//! In: body bytes in any cut, then the end of the body or the news that it broke off. Out: deltas, the last of them `Stop`, or why there
//! is no reply. A reply counts as whole when its finish reason or `[DONE]` was seen; a body that ends without either is broken.

use serde_json::Value;

use crate::base::chat::{StopReason, Usage};
use crate::base::text::head;
use crate::models::Delta;
use crate::models::chat_completions::sse::SseReader;
use crate::models::chat_completions::wire::{CallPiece, Chunk, Piece};

/// Most bytes of a whole answer, framing included.
pub(super) const BODY_LIMIT_BYTES: usize = 256 * 1024 * 1024;
/// Most bytes of an answer that is not streamed.
const PLAIN_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// How much of something odd is quoted.
const QUOTED_BYTES: usize = 200;

/// Why an answer is no reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Broken {
    /// It broke off before it was whole.
    Cut(String),
    /// It is not in the protocol.
    Garbled(String),
    /// The provider reports an error inside it.
    Reported(Value),
}

/// Reads one answer.
#[derive(Debug, Default)]
pub(super) struct AnswerReader {
    form: Form,
    deltas: Vec<Delta>,
    calls: Vec<Slot>,
    usage: Option<Usage>,
    finish: Option<StopReason>,
    done: bool,
    stopped: bool,
    received_bytes: usize,
    chunks: usize,
    /// The last part of the answer that is no piece of a reply, quoted.
    odd: String,
    /// How the answer begins.
    opening: Vec<u8>,
}

#[derive(Debug, Default)]
enum Form {
    /// Nothing but white space so far.
    #[default]
    Unknown,
    Events(SseReader),
    Plain(Vec<u8>),
}

/// A call as far as it is known.
#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    has_arguments: bool,
}

impl AnswerReader {
    /// Takes the next bytes of the body.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > BODY_LIMIT_BYTES {
            return Err(Broken::Garbled(format!("the answer is longer than {BODY_LIMIT_BYTES} bytes")));
        }
        let missing = QUOTED_BYTES.saturating_sub(self.opening.len()).min(bytes.len());
        self.opening.extend_from_slice(bytes.get(..missing).unwrap_or_default());
        if matches!(self.form, Form::Unknown) {
            let bare = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match bare.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => self.form = Form::Plain(Vec::new()),
                Some(b'<') => return Err(Broken::Garbled(format!("it is a page, not an answer: {}", quoted(bytes)))),
                Some(_) => self.form = Form::Events(SseReader::default()),
            }
        }
        let events = match &mut self.form {
            Form::Unknown => Vec::new(),
            Form::Plain(body) => {
                body.extend_from_slice(bytes);
                if body.len() > PLAIN_LIMIT_BYTES {
                    return Err(Broken::Garbled(format!("the answer is longer than {PLAIN_LIMIT_BYTES} bytes")));
                }
                Vec::new()
            }
            Form::Events(reader) => reader.feed(bytes).map_err(|_| Broken::Garbled("one event of the stream is too long".to_owned()))?,
        };
        events.iter().try_for_each(|event| self.take_event(event))
    }

    /// Takes the end of the body; `broken` says why it came early, where it did.
    pub(super) fn finish(&mut self, broken: Option<String>) -> Result<(), Broken> {
        match std::mem::take(&mut self.form) {
            Form::Unknown => {}
            Form::Events(mut reader) => {
                let last = reader.finish();
                if !reader.is_in_protocol() {
                    return Err(Broken::Garbled(format!("the answer is no reply: {}", quoted(&self.opening))));
                }
                if let Some(event) = last
                    && let Err(fault) = self.take_event(&event)
                    && !self.is_whole()
                {
                    // Half an event at the end of a broken stream says no more than that it is broken.
                    return Err(if matches!(fault, Broken::Reported(_)) { fault } else { self.cut(broken) });
                }
            }
            Form::Plain(body) => self.take_plain(&body, broken.clone())?,
        }
        if self.is_whole() {
            self.stop();
            return Ok(());
        }
        if self.chunks == 0 && broken.is_none() && !self.odd.is_empty() {
            return Err(Broken::Garbled(format!("nothing in it is a piece of a reply: {}", self.odd)));
        }
        Err(self.cut(broken))
    }

    /// Returns the deltas read since the last time.
    pub(super) fn take_deltas(&mut self) -> Vec<Delta> {
        std::mem::take(&mut self.deltas)
    }

    /// Returns true when nothing more will come that counts.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Returns true when the reply is whole; a count of tokens may still follow.
    pub(super) fn is_whole(&self) -> bool {
        self.done || self.finish.is_some()
    }

    fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.deltas.extend(self.usage.map(Delta::Usage));
            let natural = if self.calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
            self.deltas.push(Delta::Stop(self.finish.unwrap_or(natural)));
        }
    }

    fn cut(&self, broken: Option<String>) -> Broken {
        let why = broken.unwrap_or_else(|| "the stream ended without a finish reason".to_owned());
        Broken::Cut(format!("{why} after {} bytes", self.received_bytes))
    }

    fn take_event(&mut self, event: &[u8]) -> Result<(), Broken> {
        let text = event.trim_ascii();
        if text == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        if self.done || text.is_empty() {
            return Ok(());
        }
        if text.first() != Some(&b'{') {
            self.odd = quoted(text);
            return Ok(());
        }
        match Chunk::parse(text) {
            Ok(chunk) => self.take_chunk(chunk, text),
            // Some servers leave out the blank line between events.
            Err(_) if text.contains(&b'\n') => text.split(|byte| *byte == b'\n').try_for_each(|line| self.take_event(line)),
            Err(err) => Err(Broken::Garbled(format!("one event of the stream cannot be read ({err}): {}", quoted(text)))),
        }
    }

    fn take_plain(&mut self, body: &[u8], broken: Option<String>) -> Result<(), Broken> {
        let text = String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body));
        for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            let value = match value {
                Ok(value) => value,
                Err(err) if err.is_eof() || broken.is_some() => return Err(self.cut(broken)),
                Err(err) => return Err(Broken::Garbled(format!("the answer cannot be read ({err}): {}", quoted(body)))),
            };
            let items = if let Value::Array(items) = value { items } else { vec![value] };
            for item in items {
                let item = item.to_string();
                let chunk = Chunk::parse(item.as_bytes())
                    .map_err(|err| Broken::Garbled(format!("the answer is no reply ({err}): {}", quoted(item.as_bytes()))))?;
                // A whole message needs no finish reason to be whole.
                self.done |= chunk.choices.iter().flatten().any(|choice| choice.message.is_some());
                self.take_chunk(chunk, item.as_bytes())?;
            }
        }
        Ok(())
    }

    fn take_chunk(&mut self, chunk: Chunk, raw: &[u8]) -> Result<(), Broken> {
        if let Some(fault) = chunk.fault() {
            return Err(Broken::Reported(fault.clone()));
        }
        if chunk.is_fault() && chunk.choices.is_none() {
            return Err(Broken::Reported(serde_json::from_slice(raw).unwrap_or_default()));
        }
        self.usage = chunk.usage().or(self.usage);
        let Some(choices) = chunk.choices else {
            self.odd = quoted(raw);
            return Ok(());
        };
        self.chunks += 1;
        for choice in choices {
            if choice.index.as_ref().and_then(Value::as_u64).unwrap_or(0) != 0 {
                continue;
            }
            if let Some(piece) = choice.delta.or(choice.message) {
                self.take_piece(&piece);
            }
            let reason = choice.finish_reason.as_ref().and_then(Value::as_str).unwrap_or_default();
            self.finish = read_finish(reason)?.or(self.finish);
        }
        Ok(())
    }

    fn take_piece(&mut self, piece: &Piece) {
        let (words, reasoning) = piece.texts();
        if !reasoning.is_empty() {
            self.deltas.push(Delta::Reasoning(reasoning));
        }
        if !words.is_empty() {
            self.deltas.push(Delta::Text(words));
        }
        let calls = piece.calls();
        let several = calls.len() > 1;
        for (position, call) in calls.into_iter().enumerate() {
            self.take_call(call, several.then_some(position));
        }
    }

    /// `position` is the piece's place among several of one chunk.
    fn take_call(&mut self, piece: CallPiece, position: Option<usize>) {
        let found = self.find_call(&piece, position);
        let at = found.unwrap_or(self.calls.len());
        if found.is_none() {
            self.calls.push(Slot { index: piece.index, ..Slot::default() });
        }
        let Some(slot) = self.calls.get_mut(at) else { return };
        let id = piece.id.filter(|_| slot.id.is_none());
        // A name comes once, or again and again with every piece, or in parts before the arguments begin.
        let name = piece.name.filter(|name| !slot.has_arguments && *name != slot.name);
        slot.id = id.clone().or(slot.id.take());
        slot.name.push_str(name.as_deref().unwrap_or_default());
        slot.has_arguments |= !piece.arguments.is_empty();
        if id.is_some() || name.is_some() || !piece.arguments.is_empty() {
            self.deltas.push(Delta::Call { index: at, id, name, arguments: piece.arguments });
        }
    }

    /// Finds the call a piece belongs to; `None` when it begins a new one.
    fn find_call(&self, piece: &CallPiece, position: Option<usize>) -> Option<usize> {
        if let Some(id) = &piece.id {
            if let Some(at) =
                self.calls.iter().rposition(|slot| slot.id.as_ref() == Some(id) && (slot.index == piece.index || piece.index.is_none()))
            {
                return Some(at);
            }
            // A new id begins a new call, even under a number that is taken: some servers number every call 0.
            let unnamed = |slot: &&Slot| slot.id.is_none() && slot.index == piece.index && piece.index.is_some();
            return self.calls.iter().rposition(|slot| unnamed(&slot));
        }
        if let Some(index) = piece.index {
            return self.calls.iter().rposition(|slot| slot.index == Some(index));
        }
        let last = self.calls.len().checked_sub(1)?;
        match position {
            // Several pieces without number or id in one chunk: by their place, unless they name new tools.
            Some(place) if piece.name.is_none() => Some(place.min(last)),
            Some(_) => None,
            None => {
                let goes_on = piece.name.is_none()
                    || self.calls.get(last).is_some_and(|slot| Some(&slot.name) == piece.name.as_ref() && !slot.has_arguments);
                goes_on.then_some(last)
            }
        }
    }
}

fn read_finish(reason: &str) -> Result<Option<StopReason>, Broken> {
    match reason {
        "" | "null" => Ok(None),
        "length" | "max_tokens" | "model_length" | "max_output_tokens" => Ok(Some(StopReason::Length)),
        "content_filter" | "content-filter" | "safety" | "SAFETY" | "sensitive" => Ok(Some(StopReason::Filtered)),
        "tool_calls" | "function_call" | "tool_use" => Ok(Some(StopReason::ToolUse)),
        "error" | "insufficient_system_resource" | "network_error" | "abort" => {
            Err(Broken::Cut(format!("the provider stopped writing with `{reason}`")))
        }
        // `stop`, `eos`, `end_turn` and whatever else servers call it.
        _ => Ok(Some(StopReason::End)),
    }
}

fn quoted(bytes: &[u8]) -> String {
    let start = bytes.get(..QUOTED_BYTES * 4).unwrap_or(bytes);
    let text: String = String::from_utf8_lossy(start).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("`{}`", head(&text, QUOTED_BYTES))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{AnswerReader, Broken};
    use crate::base::chat::{StopReason, Usage};
    use crate::models::Delta;

    fn read(body: &[u8], cut: usize, broken: Option<&str>) -> Result<Vec<Delta>, Broken> {
        let mut reader = AnswerReader::default();
        body.chunks(cut.max(1)).try_for_each(|part| reader.feed(part))?;
        reader.finish(broken.map(str::to_owned))?;
        Ok(reader.take_deltas())
    }

    /// Words, reasoning, calls as `id name arguments`, tokens and stop reason.
    type Told = (String, String, Vec<String>, Option<Usage>, StopReason);

    /// Reads an answer, the same however its bytes are cut.
    fn told(body: &str) -> Result<Told, Broken> {
        let deltas = read(body.as_bytes(), body.len(), None)?;
        for cut in [1, 7] {
            assert_eq!(read(body.as_bytes(), cut, None).as_ref(), Ok(&deltas), "in parts of {cut}");
        }
        let (mut words, mut reasoning, mut calls, mut tokens) =
            (String::new(), String::new(), Vec::<(String, String, String)>::new(), None);
        for delta in deltas {
            match delta {
                Delta::Text(text) => words.push_str(&text),
                Delta::Reasoning(text) => reasoning.push_str(&text),
                Delta::Call { index, id, name, arguments } => {
                    calls.resize(calls.len().max(index + 1), Default::default());
                    let call = calls.get_mut(index).unwrap();
                    call.0.push_str(&id.unwrap_or_default());
                    call.1.push_str(&name.unwrap_or_default());
                    call.2.push_str(&arguments);
                }
                Delta::Usage(usage) => tokens = Some(usage),
                Delta::Stop(stop) => {
                    let calls = calls.into_iter().map(|(id, name, arguments)| format!("{id} {name} {arguments}")).collect();
                    return Ok((words, reasoning, calls, tokens, stop));
                }
                Delta::Restart => panic!("an answer does not restart"),
            }
        }
        panic!("an answer ends with a stop")
    }

    fn events(frames: &[&str]) -> String {
        frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
    }

    fn delta(piece: &str) -> String {
        format!(r#"{{"choices":[{{"index":0,"delta":{piece},"finish_reason":null}}]}}"#)
    }

    fn calls(pieces: &[&str]) -> Vec<String> {
        let mut frames: Vec<String> = pieces.iter().map(|piece| delta(&format!(r#"{{"tool_calls":{piece}}}"#))).collect();
        frames.push(END.to_owned());
        told(&events(&frames.iter().map(String::as_str).collect::<Vec<_>>())).unwrap().2
    }

    const END: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

    fn words(body: &str) -> String {
        told(body).unwrap().0
    }

    #[test]
    fn reads_the_protocol_as_it_is_written_down() {
        let body = events(&[
            r#"{"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            &delta(r#"{"content":"Hel"}"#),
            &delta(r#"{"content":"lo ü"}"#),
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":null}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#,
            "[DONE]",
        ]);
        let usage = Usage { input: 9, output: 5, cached_read: 4, reasoning: 2, ..Usage::default() };
        assert_eq!(told(&body), Ok(("Hello ü".into(), String::new(), vec![], Some(usage), StopReason::Length)));
    }

    #[test]
    fn reads_parallel_calls_however_they_are_numbered() {
        let standard = [
            r#"[{"index":0,"id":"a","type":"function","function":{"name":"read_file","arguments":""}}]"#,
            r#"[{"index":1,"id":"b","type":"function","function":{"name":"list_files","arguments":"{\"p"}}]"#,
            r#"[{"index":0,"function":{"arguments":"{\"path\""}},{"index":1,"function":{"arguments":"\":2}"}}]"#,
            r#"[{"index":0,"function":{"arguments":":1}"}}]"#,
        ];
        let both = [r#"a read_file {"path":1}"#, r#"b list_files {"p":2}"#];
        assert_eq!(calls(&standard), both);
        let by_id = [
            r#"[{"id":"a","function":{"name":"read_file","arguments":"{\"path\""}},{"id":"b","function":{"name":"list_files","arguments":""}}]"#,
            r#"[{"id":"b","function":{"arguments":"{\"p\":2}"}}]"#,
            r#"[{"id":"a","function":{"arguments":":1}"}}]"#,
        ];
        assert_eq!(calls(&by_id), both);
        let every_call_is_zero = [
            r#"[{"index":0,"id":"a","function":{"name":"read_file","arguments":"{\"path\":1}"}}]"#,
            r#"[{"index":0,"id":"b","function":{"name":"list_files","arguments":"{\"p\""}}]"#,
            r#"[{"index":0,"function":{"arguments":":2}"}}]"#,
        ];
        assert_eq!(calls(&every_call_is_zero), both);
        let by_order = [
            r#"[{"function":{"name":"read_file","arguments":"{}"}},{"function":{"name":"read_file","arguments":"{\"p\""}}]"#,
            r#"[{"function":{"arguments":":2}"}}]"#,
        ];
        assert_eq!(calls(&by_order), [" read_file {}", r#" read_file {"p":2}"#]);
        let by_place = [
            r#"[{"function":{"name":"a"}},{"function":{"name":"b"}}]"#,
            r#"[{"function":{"arguments":"1"}},{"function":{"arguments":"2"}}]"#,
        ];
        assert_eq!(calls(&by_place), [" a 1", " b 2"]);
    }

    #[test]
    fn reads_calls_however_they_are_written() {
        for (pieces, call) in [
            (&[r#"[{"index":0,"id":"a","function":{"name":"f","arguments":{"path":"x","n":1}}}]"#][..], r#"a f {"path":"x","n":1}"#),
            (&[r#"[{"index":"0","id":7,"function":{"name":"f","arguments":null}}]"#], "7 f "),
            (&[r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#], "a f {}"),
            (&[r#"[{"index":0,"id":"a","name":"f","arguments":"{}"}]"#], "a f {}"),
            (&[r#"[{"index":0,"function":{"name":"f"}}]"#, r#"[{"index":0,"id":"late","function":{"arguments":"{}"}}]"#], "late f {}"),
            (
                &[
                    r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]"#,
                    r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]"#,
                ],
                "a f {}",
            ),
            (
                &[r#"[{"index":0,"id":"a","function":{"name":"read"}}]"#, r#"[{"index":0,"function":{"name":"_file","arguments":"{}"}}]"#],
                "a read_file {}",
            ),
            (&[r#"[{"index":3,"id":"a","function":{"name":"f","arguments":"{}"}},{}]"#], "a f {}"),
        ] {
            assert_eq!(calls(pieces), [call], "{pieces:?}");
        }
        let legacy =
            events(&[&delta(r#"{"function_call":{"name":"f","arguments":"{"}}"#), &delta(r#"{"function_call":{"arguments":"}"}}"#), END]);
        assert_eq!(told(&legacy).unwrap().2, [" f {}"]);
    }

    #[test]
    fn reads_content_in_parts_and_reasoning_under_every_name() {
        for (piece, words, reasoning) in [
            (r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, "ab", ""),
            (r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"b"}]}"#, "b", "hm"),
            (r#"{"content":null,"reasoning_content":"hm"}"#, "", "hm"),
            (r#"{"content":"","reasoning":"hm"}"#, "", "hm"),
            (r#"{"reasoning_content":"hm","reasoning":"hm","content":"b"}"#, "b", "hm"),
            (r#"{"reasoning_content":"","reasoning":"hm"}"#, "", "hm"),
            (r#"{"refusal":"no"}"#, "no", ""),
        ] {
            let told = told(&events(&[&delta(piece), END])).unwrap();
            assert_eq!((told.0.as_str(), told.1.as_str()), (words, reasoning), "{piece}");
        }
    }

    #[test]
    fn finds_the_count_of_tokens_wherever_it_is() {
        let usage = |frames: &[&str]| told(&events(frames)).unwrap().3.map(|usage| (usage.input, usage.output, usage.cached_read));
        let with_finish = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
        for (frames, found) in [
            (&[END, "[DONE]"][..], None),
            (&[with_finish, "[DONE]"], Some((3, 2, 0))),
            (&[with_finish, r#"{"choices":[],"usage":null}"#], Some((3, 2, 0))),
            (&[r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#, with_finish], Some((3, 2, 0))),
            (&[END, r#"{"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":2}}}"#], Some((3, 2, 0))),
            (
                &[
                    r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3.0,"completion_tokens":2,"cached_tokens":1}}]}"#,
                ],
                Some((3, 2, 1)),
            ),
            (&[END, r#"{"choices":null,"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_cache_hit_tokens":1}}"#], Some((3, 2, 1))),
            (&[END, r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#], None),
        ] {
            assert_eq!(usage(frames), found, "{frames:?}");
        }
    }

    #[test]
    fn is_whole_with_a_finish_reason_or_done() {
        let text = delta(r#"{"content":"a"}"#);
        for (frames, stop) in [
            (vec![text.as_str(), END, "[DONE]"], StopReason::End),
            (vec![&text, END], StopReason::End),
            (vec![&text, "[DONE]"], StopReason::End),
            (vec![&text, END, "{ junk"], StopReason::End),
            (vec![&text, r#"{"choices":[{"delta":{},"finish_reason":"eos"}]}"#], StopReason::End),
            (vec![&text, r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#], StopReason::Filtered),
        ] {
            let body = events(&frames);
            let deltas = read(body.trim_end().as_bytes(), 5, None).unwrap();
            assert_eq!(deltas.last(), Some(&Delta::Stop(stop)), "{frames:?}");
        }
        let broken_after_finish = read(events(&[&text, END]).as_bytes(), 9, Some("reset")).unwrap();
        assert_eq!(broken_after_finish.last(), Some(&Delta::Stop(StopReason::End)));
    }

    #[test]
    fn is_broken_without_either() {
        let text = delta(r#"{"content":"a"}"#);
        for (body, broken) in [
            (events(&[&text]), None),
            (events(&[&text]), Some("reset")),
            (String::new(), None),
            (format!("{}data: {{\"choices\":[{{\"del", events(&[&text])), None),
            (": keep-alive\n\n".to_owned(), None),
            (r#"{"choices":[{"message":{"content":"hal"#.to_owned(), None),
            (events(&[r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#]), None),
            (events(&[r#"{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}"#]), None),
        ] {
            assert!(matches!(read(body.as_bytes(), 11, broken), Err(Broken::Cut(_))), "{body}");
        }
    }

    #[test]
    fn says_what_is_no_answer_at_all() {
        for body in [
            "<html><body>Sign in</body></html>",
            "hello there",
            "data: hello\n\n",
            r#"{"hello":"there"}"#,
            "{ not json",
            "data: {\"choices\": [oops]}\n\ndata: [DONE]\n\n",
            r#"{"choices":"none"}"#,
        ] {
            let read = read(body.as_bytes(), 1000, None);
            assert!(matches!(read, Err(Broken::Garbled(_))), "{body}: {read:?}");
        }
    }

    #[test]
    fn finds_errors_inside_an_accepted_answer() {
        let text = delta(r#"{"content":"a"}"#);
        for body in [
            events(&[&text, r#"{"error":{"message":"overloaded","code":529}}"#]),
            events(&[&text, r#"{"error":"out of memory"}"#]),
            events(&[r#"{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502}}]}"#]),
            events(&[r#"{"object":"error","message":"too long"}"#]),
            "event: error\ndata: {\"type\":\"error\",\"message\":\"x\"}\n\n".to_owned(),
            r#"{"error":{"message":"no"}}"#.to_owned(),
        ] {
            assert!(matches!(read(body.as_bytes(), 13, None), Err(Broken::Reported(_))), "{body}");
        }
        assert_eq!(words(&events(&[r#"{"choices":[{"delta":{"content":"a"}}],"error":null}"#, END])), "a");
    }

    #[test]
    fn reads_an_answer_that_is_not_streamed() {
        let body = r#" {"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[
            {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":{"p":1}}}]},
            "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
        let usage = Usage { input: 3, output: 2, ..Usage::default() };
        let calls = vec!["a f {}".to_owned(), r#"b g {"p":1}"#.to_owned()];
        assert_eq!(told(body), Ok(("hi".into(), String::new(), calls, Some(usage), StopReason::ToolUse)));
        assert_eq!(words(r#"{"choices":[{"message":{"content":"hi"}}]}"#), "hi");
        assert_eq!(words(&format!("{}\n{}\n{END}\n", delta(r#"{"content":"a"}"#), delta(r#"{"content":"b"}"#))), "ab");
        assert_eq!(words(&format!("[{},{END}]", delta(r#"{"content":"a"}"#))), "a");
    }

    #[test]
    fn reads_frames_however_odd() {
        let text = delta(r#"{"content":"a"}"#);
        for body in [
            format!("data:{text}\n\ndata:{END}\n\n"),
            format!("data: {text}\r\n\r\ndata: {END}\r\n\r\n"),
            format!(
                "\u{feff}: hi\n\n: PROCESSING\n\ndata: {text}\n\ndata: \n\ndata: ping\n\ndata: {END}\n\ndata: [DONE]\n\ndata: {{ after\n\n"
            ),
            format!("data: {text}\ndata: {END}\ndata: [DONE]\n"),
            format!("event: message\nid: 1\ndata: {text}\n\nevent: message\ndata: {END}\n\n"),
            format!("data: {text}\n\ndata: {{\"choices\":[{{\"index\":1,\"delta\":{{\"content\":\"other\"}}}}]}}\n\ndata: {END}\n\n"),
        ] {
            assert_eq!(words(&body), "a", "{body}");
        }
    }

    #[test]
    fn survives_bytes_that_are_no_text() {
        let body = [b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}\n\n".as_slice(), events(&[END]).as_bytes()].concat();
        assert_eq!(read(&body, 3, None).unwrap().first(), Some(&Delta::Text("a\u{fffd}b".into())));
    }
}
