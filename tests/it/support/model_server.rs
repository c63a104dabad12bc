//! `ModelServer`: a Chat Completions server on 127.0.0.1 that answers as it is told, correctly or
//! not, and keeps every request.
//!
//! It runs on threads of its own, so it serves tests that drive the library as well as tests that
//! start the binary. Answers are given in order of the requests, the last one for ever; or by a
//! function of the request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};

/// A server that listens until this is dropped.
pub(crate) struct ModelServer {
    /// Where its API starts, as a profile names it.
    pub(crate) base_url: String,
    seen: Receiver<Asked>,
    asked: Vec<Asked>,
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Which connection it came on, counted from 1.
    pub(crate) connection: usize,
    /// `POST`.
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    /// Names in lower case, in order.
    pub(crate) headers: Vec<(String, String)>,
    /// The body as text.
    pub(crate) body: String,
}

/// An answer, told piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// HTTP status.
    pub(crate) status: u16,
    /// Headers besides those of the framing.
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of an answer's body.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// These bytes, as one chunk.
    Bytes(Vec<u8>),
    /// Nothing more, but the connection stays open until the client leaves.
    Hang,
    /// The connection is cut in the middle of the body.
    Cut,
}

type Exchange = (Asked, Sender<Answer>);

impl ModelServer {
    /// Gives these answers in turn, the last one for ever.
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        assert!(!answers.is_empty(), "a server needs an answer");
        let mut next = 0;
        Self::start_with(move |_| {
            let answer = answers.get(next).or(answers.last()).cloned().unwrap();
            next += 1;
            answer
        })
    }

    /// Answers each request by a function of it.
    pub(crate) fn start_with(mut answer: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (ask, exchanges) = channel::<Exchange>();
        let (tell, seen) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        thread::spawn(move || {
            let mut clients = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                if is_over.load(Ordering::Acquire) {
                    break;
                }
                clients.push(stream.try_clone().unwrap());
                let (number, ask) = (clients.len(), ask.clone());
                thread::spawn(move || serve(stream, number, &ask));
            }
            for client in clients {
                let _ = client.shutdown(Shutdown::Both);
            }
        });
        thread::spawn(move || {
            for (asked, give) in exchanges {
                let reply = answer(&asked);
                let _ = tell.send(asked);
                let _ = give.send(reply);
            }
        });
        let base_url = format!("http://{address}/v1");
        Self { base_url, seen, asked: Vec::new(), address, over }
    }

    /// Returns every request so far.
    pub(crate) fn asked(&mut self) -> &[Asked] {
        self.asked.extend(self.seen.try_iter());
        &self.asked
    }
}

/// Ends the threads of a server. Every command of a later test would take the longer to start for
/// each of them: a process is copied with the stacks of all its threads.
impl Drop for ModelServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
    }
}

impl Asked {
    /// Returns a header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Answer {
    /// An answer of one piece.
    pub(crate) fn plain(status: u16, content_type: &str, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            pieces: vec![Piece::Bytes(body.into())],
        }
    }

    /// A JSON answer.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::plain(status, "application/json", &body.to_string())
    }

    /// A stream of these events, each a chunk of its own.
    pub(crate) fn events(events: &[&str]) -> Self {
        let pieces = events
            .iter()
            .map(|event| Piece::Bytes(format!("data: {event}\n\n").into_bytes()))
            .collect();
        Self {
            status: 200,
            headers: vec![("content-type".into(), "text/event-stream".into())],
            pieces,
        }
    }

    /// A whole streamed reply of words.
    pub(crate) fn words(words: &str) -> Self {
        let piece = json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": words } }] });
        Self::finished(&[piece], "stop")
    }

    /// A whole streamed reply of tool calls, given as name and arguments.
    pub(crate) fn calls(calls: &[(&str, Value)]) -> Self {
        let pieces: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(index, (name, arguments))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": index, "id": format!("srv-{index}"), "type": "function", "function": function }] } }] })
            })
            .collect();
        Self::finished(&pieces, "tool_calls")
    }

    /// Adds a header.
    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Ends the body with this piece.
    pub(crate) fn then(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    fn finished(pieces: &[Value], reason: &str) -> Self {
        let finish = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
        let usage =
            json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
        let events: Vec<String> = pieces
            .iter()
            .chain([&finish, &usage])
            .map(Value::to_string)
            .chain(["[DONE]".to_owned()])
            .collect();
        Self::events(&events.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Serves one connection until it is left or an answer ends it.
fn serve(stream: TcpStream, connection: usize, ask: &Sender<Exchange>) {
    let _ = stream.set_nodelay(true);
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read_request(&mut reader, connection) {
        let (give, given) = channel();
        if ask.send((asked, give)).is_err() {
            break;
        }
        let Ok(answer) = given.recv() else { break };
        if write_answer(&mut writer, &mut reader, &answer).is_none() {
            break;
        }
    }
    let _ = writer.shutdown(Shutdown::Both);
}

fn read_request(reader: &mut BufReader<TcpStream>, connection: usize) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()))
            }
            None => break,
        }
    }
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { connection, method, path, headers, body: String::from_utf8(body).unwrap() })
}

/// Writes an answer; `None` when the connection is over with it.
fn write_answer(
    writer: &mut TcpStream,
    reader: &mut BufReader<TcpStream>,
    answer: &Answer,
) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Told\r\ntransfer-encoding: chunked\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    writer.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    for piece in &answer.pieces {
        match piece {
            // A chunk of nothing would end the body.
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => {
                writer.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).ok()?;
                writer.write_all(bytes).ok()?;
                writer.write_all(b"\r\n").ok()?;
            }
            Piece::Hang => {
                let _ = reader.read(&mut [0]);
                return None;
            }
            Piece::Cut => return None,
        }
    }
    writer.write_all(b"0\r\n\r\n").ok()
}
