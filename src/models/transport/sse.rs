//! Server-sent events, read tolerantly: bytes in any cut, the data of one event at a time out.
//!
//! In: bytes as they come from the wire. Out: the data of each event, still bytes, so that a
//! character cut in two is whole again before anyone decodes it. Comments and fields other than
//! `data` are passed over. What the data means is not its business.

/// Most bytes of one event.
pub(crate) const EVENT_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// A reader of server-sent events that keeps what is not complete yet.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
    past_first_line: bool,
    in_protocol: bool,
}

/// An event is longer than [`EVENT_LIMIT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventTooLong;

impl SseReader {
    /// Takes the next bytes and returns the data of every event they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, EventTooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
            rest = rest.get(1..).unwrap_or_default();
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, tail) = rest.split_at(at);
            self.line.extend_from_slice(head);
            events.extend(self.end_line());
            let returned = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
            match rest.first() {
                Some(b'\n') if returned => rest = rest.get(1..).unwrap_or_default(),
                None if returned => self.after_return = true,
                Some(_) | None => {}
            }
            self.check_length()?;
        }
        self.line.extend_from_slice(rest);
        self.check_length()?;
        Ok(events)
    }

    /// Returns the data of an event the stream ended in the middle of, where there is any.
    pub(crate) fn finish(&mut self) -> Option<Vec<u8>> {
        let last = self.end_line();
        last.or_else(|| self.take_data())
    }

    /// Returns true once a line was seen that belongs to the protocol.
    pub(crate) fn is_in_protocol(&self) -> bool {
        self.in_protocol
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.past_first_line, true) && line.starts_with(b"\xef\xbb\xbf")
        {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.take_data();
        }
        self.in_protocol |= [b":".as_slice(), b"data", b"event", b"id", b"retry"]
            .iter()
            .any(|start| line.starts_with(start));
        let value =
            line.strip_prefix(b"data:").map(|value| value.strip_prefix(b" ").unwrap_or(value));
        let value = value.or_else(|| (line == b"data").then_some(&[]));
        if let Some(value) = value {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value);
        }
        line.clear();
        self.line = line;
        None
    }

    fn take_data(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.has_data).then(|| std::mem::take(&mut self.data))
    }

    fn check_length(&self) -> Result<(), EventTooLong> {
        if self.line.len() + self.data.len() > EVENT_LIMIT_BYTES {
            Err(EventTooLong)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{EVENT_LIMIT_BYTES, EventTooLong, SseReader};

    fn read(parts: &[&[u8]]) -> Vec<String> {
        let mut reader = SseReader::default();
        let mut events: Vec<Vec<u8>> =
            parts.iter().flat_map(|part| reader.feed(part).unwrap()).collect();
        events.extend(reader.finish());
        events.into_iter().map(|event| String::from_utf8(event).unwrap()).collect()
    }

    #[test]
    fn reads_events_however_lines_end() {
        for text in [
            "data: a\n\ndata: b\n\n",
            "data: a\r\n\r\ndata: b\r\n\r\n",
            "data: a\r\rdata: b\r\r",
            "data:a\n\r\ndata:b\r\n\n",
        ] {
            assert_eq!(read(&[text.as_bytes()]), ["a", "b"], "{text:?}");
        }
    }

    #[test]
    fn reads_events_however_they_are_cut() {
        let text = "\u{feff}: hello\r\n\r\nevent: x\r\ndata: {\"ü€😀\"\r\ndata: }\r\n\r\nid: \
                    3\r\ndata: b\r\n\r\n"
            .as_bytes();
        let whole = read(&[text]);
        assert_eq!(whole, ["{\"ü€😀\"\n}", "b"]);
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(read(&[head, tail]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn passes_over_what_is_no_data() {
        assert_eq!(
            read(&[
                b": keep-alive\n\n\n\nretry: 5\n\nevent: ping\n\ndatum: x\n\ndata\n\ndata: a\n\n"
            ]),
            ["", "a"]
        );
        assert_eq!(read(&[b"data:  two blanks\n\n"]), [" two blanks"]);
        assert_eq!(read(&[b"\xef\xbb\xbfdata: a\n\n"]), ["a"]);
    }

    #[test]
    fn gives_out_what_the_end_left_open() {
        assert_eq!(read(&[b"data: a\n\ndata: b"]), ["a", "b"]);
        assert_eq!(read(&[b"data: a\n"]), ["a"]);
        assert_eq!(read(&[b""]), Vec::<String>::new());
    }

    #[test]
    fn bounds_an_event() {
        let mut reader = SseReader::default();
        let half = vec![b'x'; EVENT_LIMIT_BYTES / 2 + 1];
        assert_eq!(reader.feed(&half), Ok(vec![]));
        assert_eq!(reader.feed(&half), Err(EventTooLong));
    }
}
