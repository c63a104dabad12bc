//! From the bytes of an answer to deltas, streamed or not, for every protocol alike.
//!
//! In: body bytes in any cut, then the end of the body or the news that it broke off. Out: deltas,
//! the last of them `Stop`, or why there is no reply. What one event means is its [`ReplyParser`]'s
//! part; here are frames, limits, errors and the question whether a reply is whole.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Delta;
use crate::transport::error;
use crate::transport::split_chars::SplitChars;
use crate::transport::sse::SseReader;
use locum_base::chat::{OpaquePart, OpaqueState, StopReason, Usage};
use locum_base::image::Image;
use locum_base::text::{head, single_blanks};

/// Most bytes of a whole answer, framing included.
const BODY_LIMIT_BYTES: usize = 256 * 1024 * 1024;
/// Most bytes of an answer that is not streamed.
const PLAIN_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// How much of something odd is quoted.
const QUOTED_BYTES: usize = 200;

/// Why an answer is not a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResponseError {
    /// It broke off before it was whole.
    Cut(String),
    /// It is not in the protocol.
    Malformed(String),
    /// The provider reports an error inside it.
    Reported(Value),
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseForm {
    /// As events of a stream.
    Streamed,
    /// As one body of JSON.
    Plain,
}

/// What a piece of JSON was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A piece of a reply.
    Reply,
    /// Valid, but not a piece of a reply.
    Other,
}

/// What one protocol makes of the JSON of an answer.
pub(crate) trait ReplyParser: Default + Send {
    /// The JSON of one event, or of a whole body.
    type Piece: DeserializeOwned;

    /// Takes the next piece; `raw` is how it was written.
    fn take(
        &mut self,
        piece: Self::Piece,
        raw: &[u8],
        form: ResponseForm,
        out: &mut DeltaWriter,
    ) -> Result<PieceKind, ResponseError>;

    /// Returns the reply's parts for the provider that wants them back; none where nothing but
    /// words and calls came.
    fn parts(&mut self) -> Vec<OpaquePart>;
}

/// What a reply said so far.
#[derive(Debug, Default)]
pub(crate) struct DeltaWriter {
    deltas: Vec<Delta>,
    usage: Option<Usage>,
    finish: Option<StopReason>,
    done: bool,
    has_calls: bool,
}

impl DeltaWriter {
    /// Emits visible text.
    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas.push(Delta::Text(text.to_owned()));
        }
    }

    /// Emits reasoning.
    pub(crate) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas.push(Delta::Reasoning(text.to_owned()));
        }
    }

    /// A piece of a call.
    pub(crate) fn call(
        &mut self,
        index: usize,
        id: Option<String>,
        name: Option<String>,
        arguments: String,
    ) {
        self.has_calls = true;
        if id.is_some() || name.is_some() || !arguments.is_empty() {
            self.deltas.push(Delta::Call { index, id, name, arguments });
        }
    }

    /// An image, written in base64.
    pub(crate) fn image(&mut self, base64: &str) {
        match STANDARD.decode(base64).ok().and_then(|bytes| Image::measure(&bytes).ok()) {
            Some(image) => self.deltas.push(Delta::Image(image)),
            None => tracing::warn!(
                bytes = base64.len(),
                "the model returned an unreadable image; it is left out"
            ),
        }
    }

    /// A count of tokens; a later one replaces an earlier one. It is given out at once: the end of
    /// the reply may not come.
    pub(crate) fn count(&mut self, usage: Option<Usage>) {
        let counted = usage.filter(|usage| usage.total() > 0 && self.usage != Some(*usage));
        if let Some(usage) = counted {
            self.usage = Some(usage);
            self.deltas.push(Delta::Usage(usage));
        }
    }

    /// The reply is whole; a count of tokens may still follow.
    pub(crate) fn finish(&mut self, reason: Option<StopReason>) {
        self.finish = reason.or(self.finish);
    }

    /// Nothing more will come that counts.
    pub(crate) fn done(&mut self) {
        self.done = true;
    }
}

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct ResponseReader<R> {
    reading: R,
    out: DeltaWriter,
    /// The model that answers.
    by: String,
    frames: Framing,
    received_bytes: usize,
    pieces: usize,
    /// Whether deltas were taken.
    has_said: bool,
    /// The last part of the answer that is not a piece of a reply, quoted.
    odd: String,
    /// How the answer begins.
    opening: Vec<u8>,
    /// A character of which half has come.
    split: SplitChars,
}

#[derive(Debug, Default)]
enum Framing {
    /// Nothing but white space so far.
    #[default]
    Unknown,
    Events(SseReader),
    Plain(Vec<u8>),
}

impl<R: ReplyParser> ResponseReader<R> {
    /// Begins to read what the model `by` answers.
    pub(crate) fn new(by: &str) -> Self {
        Self { by: by.to_owned(), ..Self::default() }
    }

    /// Takes the next bytes of the body.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), ResponseError> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > BODY_LIMIT_BYTES {
            return Err(ResponseError::Malformed(format!(
                "the response is longer than {BODY_LIMIT_BYTES} bytes"
            )));
        }
        let missing = QUOTED_BYTES.saturating_sub(self.opening.len()).min(bytes.len());
        self.opening.extend_from_slice(bytes.get(..missing).unwrap_or_default());
        if matches!(self.frames, Framing::Unknown) {
            let bare = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match bare.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => self.frames = Framing::Plain(Vec::new()),
                Some(b'<') => {
                    return Err(ResponseError::Malformed(format!(
                        "it is a page of HTML: {}",
                        quoted(bytes)
                    )));
                }
                Some(_) => self.frames = Framing::Events(SseReader::default()),
            }
        }
        let events = match &mut self.frames {
            Framing::Unknown => Vec::new(),
            Framing::Plain(body) => {
                body.extend_from_slice(bytes);
                if body.len() > PLAIN_LIMIT_BYTES {
                    return Err(ResponseError::Malformed(format!(
                        "the response is longer than {PLAIN_LIMIT_BYTES} bytes"
                    )));
                }
                Vec::new()
            }
            Framing::Events(reader) => reader.feed(bytes).map_err(|_| {
                ResponseError::Malformed("one event of the stream is too long".to_owned())
            })?,
        };
        events.iter().try_for_each(|event| self.take_event(event))
    }

    /// Takes the end of the body; `broken` says why it came early, where it did.
    pub(crate) fn finish(&mut self, broken: Option<String>) -> Result<(), ResponseError> {
        match std::mem::take(&mut self.frames) {
            Framing::Unknown => {}
            Framing::Events(mut reader) => {
                let last = reader.finish();
                if !reader.is_in_protocol() {
                    return Err(ResponseError::Malformed(format!(
                        "the response is not a reply: {}",
                        quoted(&self.opening)
                    )));
                }
                if let Some(event) = last
                    && let Err(fault) = self.take_event(&event)
                    && !self.is_whole()
                {
                    // Half an event at the end of a broken stream says no more than that it is
                    // broken.
                    return Err(if matches!(fault, ResponseError::Reported(_)) {
                        fault
                    } else {
                        self.cut(broken)
                    });
                }
            }
            Framing::Plain(body) => self.take_plain(&body, broken.clone())?,
        }
        if self.is_whole() {
            self.stop();
            return Ok(());
        }
        if self.pieces == 0 && broken.is_none() && !self.odd.is_empty() {
            return Err(ResponseError::Malformed(format!(
                "it holds no part of a reply: {}",
                self.odd
            )));
        }
        Err(self.cut(broken))
    }

    /// Returns the deltas read since the last time.
    pub(crate) fn take_deltas(&mut self) -> Vec<Delta> {
        self.has_said |= !self.out.deltas.is_empty();
        std::mem::take(&mut self.out.deltas)
    }

    /// Returns true where an answer that broke, all of whose deltas were taken, was a refusal in
    /// place of a reply: such a request costs nothing.
    pub(crate) fn is_refusal(&self, broken: &ResponseError) -> bool {
        let at_once = self.pieces == 0;
        !self.has_said
            && match broken {
                ResponseError::Cut(_) => false,
                ResponseError::Malformed(_) => at_once,
                ResponseError::Reported(fault) => at_once || error::is_throttling(fault),
            }
    }

    /// Returns a number that grows with each part of a reply that comes, and not with what servers
    /// send to keep a connection open.
    pub(crate) fn progress(&self) -> usize {
        let body_bytes = match &self.frames {
            Framing::Plain(body) => body.len(),
            Framing::Unknown | Framing::Events(_) => 0,
        };
        self.pieces + usize::from(self.out.done) + body_bytes
    }

    /// Returns true when nothing more will come that counts.
    pub(crate) fn is_done(&self) -> bool {
        self.out.done
    }

    /// Returns true when the reply is whole; a count of tokens may still follow.
    pub(crate) fn is_whole(&self) -> bool {
        self.out.done || self.out.finish.is_some()
    }

    fn stop(&mut self) {
        let parts = self.reading.parts();
        let out = &mut self.out;
        if parts.iter().any(|part| part.size_bytes() > 0) {
            out.deltas.push(Delta::Opaque(OpaqueState { by: self.by.clone(), parts }));
        }
        let natural = if out.has_calls { StopReason::ToolUse } else { StopReason::End };
        out.deltas.push(Delta::Stop(out.finish.unwrap_or(natural)));
    }

    fn cut(&self, broken: Option<String>) -> ResponseError {
        let why = broken.unwrap_or_else(|| "the stream ended without a finish reason".to_owned());
        ResponseError::Cut(format!("{why} after {} bytes", self.received_bytes))
    }

    fn take_event(&mut self, event: &[u8]) -> Result<(), ResponseError> {
        let text = event.trim_ascii();
        if text == b"[DONE]" {
            self.out.done();
            return Ok(());
        }
        if self.out.done || text.is_empty() {
            return Ok(());
        }
        if text.first() != Some(&b'{') {
            self.odd = quoted(text);
            return Ok(());
        }
        match self.parse(text) {
            Ok(piece) => self.take_piece(piece, text, ResponseForm::Streamed),
            // Some servers leave out the blank line between events.
            Err(_) if text.contains(&b'\n') => {
                text.split(|byte| *byte == b'\n').try_for_each(|line| self.take_event(line))
            }
            Err(err) => Err(ResponseError::Malformed(format!(
                "one event of the stream cannot be parsed ({err}): {}",
                quoted(text)
            ))),
        }
    }

    /// Reads a piece, whose characters a server or its tokenizer may have cut in two.
    fn parse(&mut self, text: &[u8]) -> Result<R::Piece, serde_json::Error> {
        serde_json::from_slice(text).or_else(|_| {
            let mut split = self.split.clone();
            let piece = serde_json::from_str(&split.repaired(text))?;
            self.split = split;
            Ok(piece)
        })
    }

    fn take_plain(&mut self, body: &[u8], broken: Option<String>) -> Result<(), ResponseError> {
        let text = self.split.repaired(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body));
        for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            let value = match value {
                Ok(value) => value,
                Err(err) if err.is_eof() || broken.is_some() => return Err(self.cut(broken)),
                Err(err) => {
                    return Err(ResponseError::Malformed(format!(
                        "the response cannot be parsed ({err}): {}",
                        quoted(body)
                    )));
                }
            };
            let items = if let Value::Array(items) = value { items } else { vec![value] };
            for item in items {
                let item = item.to_string();
                let piece = serde_json::from_str(&item).map_err(|err| {
                    ResponseError::Malformed(format!(
                        "the response is not a reply ({err}): {}",
                        quoted(item.as_bytes())
                    ))
                })?;
                self.take_piece(piece, item.as_bytes(), ResponseForm::Plain)?;
            }
        }
        Ok(())
    }

    fn take_piece(
        &mut self,
        piece: R::Piece,
        raw: &[u8],
        form: ResponseForm,
    ) -> Result<(), ResponseError> {
        match self.reading.take(piece, raw, form, &mut self.out)? {
            PieceKind::Reply => self.pieces += 1,
            PieceKind::Other => self.odd = quoted(raw),
        }
        Ok(())
    }
}

fn quoted(bytes: &[u8]) -> String {
    let start = bytes.get(..QUOTED_BYTES * 4).unwrap_or(bytes);
    let text = single_blanks(&String::from_utf8_lossy(start));
    format!("`{}`", head(&text, QUOTED_BYTES))
}

#[cfg(test)]
pub(crate) mod testing {
    //! Reads answers for the tests of every protocol.

    use super::{ReplyParser, ResponseError, ResponseReader};
    use crate::Delta;
    use locum_base::chat::{OpaquePart, StopReason, Usage};

    /// Reads an answer whose bytes come in parts of `cut`.
    pub(crate) fn read<R: ReplyParser>(
        body: &[u8],
        cut: usize,
        broken: Option<&str>,
    ) -> Result<Vec<Delta>, ResponseError> {
        let mut reader = ResponseReader::<R>::new("test");
        body.chunks(cut.max(1)).try_for_each(|part| reader.feed(part))?;
        reader.finish(broken.map(str::to_owned))?;
        Ok(reader.take_deltas())
    }

    /// What an answer says.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub(crate) struct ReadReply {
        pub(crate) words: String,
        pub(crate) reasoning: String,
        /// As `id name arguments`.
        pub(crate) calls: Vec<String>,
        /// A description of each image.
        pub(crate) images: Vec<String>,
        pub(crate) usage: Option<Usage>,
        pub(crate) opaque: Vec<OpaquePart>,
        pub(crate) stop: StopReason,
    }

    /// Reads an answer, the same however its bytes are cut.
    pub(crate) fn read_reply<R: ReplyParser>(body: &str) -> Result<ReadReply, ResponseError> {
        let deltas = read::<R>(body.as_bytes(), body.len(), None)?;
        for cut in [1, 7] {
            assert_eq!(
                read::<R>(body.as_bytes(), cut, None).as_ref(),
                Ok(&deltas),
                "in parts of {cut}"
            );
        }
        let (mut reading, mut calls) =
            (ReadReply::default(), Vec::<(String, String, String)>::new());
        for delta in deltas {
            match delta {
                Delta::Text(text) => reading.words.push_str(&text),
                Delta::Reasoning(text) => reading.reasoning.push_str(&text),
                Delta::Call { index, id, name, arguments } => {
                    calls.resize(calls.len().max(index + 1), Default::default());
                    let call = calls.get_mut(index).unwrap();
                    call.0.push_str(&id.unwrap_or_default());
                    call.1.push_str(&name.unwrap_or_default());
                    call.2.push_str(&arguments);
                }
                Delta::Opaque(opaque) => reading.opaque = opaque.parts,
                Delta::Usage(usage) => reading.usage = Some(usage),
                Delta::Stop(stop) => {
                    let calls = calls
                        .into_iter()
                        .map(|(id, name, arguments)| format!("{id} {name} {arguments}"))
                        .collect();
                    return Ok(ReadReply { calls, stop, ..reading });
                }
                Delta::Image(image) => reading.images.push(image.to_string()),
                Delta::By(_) | Delta::Fixed | Delta::Accepted | Delta::Restart => {
                    panic!("an answer does not restart")
                }
            }
        }
        panic!("an answer ends with a stop")
    }

    /// Writes events as a stream.
    pub(crate) fn events(frames: &[&str]) -> String {
        frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
    }
}
