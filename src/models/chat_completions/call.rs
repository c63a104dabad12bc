//! `CallSlot`: one tool call of a Chat Completions reply, as far as its pieces came.
//!
//! In: the pieces of a call. Out: what each of them adds, and whether a piece begins the next call.
//! Numbers, ids and names do not always say so: servers give all calls one number, or each piece an
//! id of its own, or repeat the name in each. Arguments that are whole end a call. Which slot a
//! piece belongs to is `reply`'s part.

use serde_json::Value;

use crate::chat_completions::chunk::CallPiece;

/// A call as far as it is known.
#[derive(Debug, Default)]
pub(super) struct CallSlot {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) extra_content: Option<Value>,
    name: String,
    arguments: String,
    scan: JsonScan,
    /// A piece that names the tool once more after whole arguments: the next call, if arguments
    /// follow.
    next: Option<CallPiece>,
}

impl CallSlot {
    pub(super) fn new(index: Option<u64>) -> Self {
        Self { index, ..Self::default() }
    }

    /// Returns true where the call has this name, or none yet.
    pub(super) fn may_be_called(&self, name: &str) -> bool {
        self.name.is_empty() || self.name == name
    }

    /// Returns true where a piece begins the next call, though it came under this one's number.
    pub(super) fn ends_before(&self, piece: &CallPiece) -> bool {
        let has_arguments = !is_blank(&piece.arguments);
        let is_next = match &piece.name {
            Some(name) => !self.may_be_called(name) || (has_arguments && !self.name.is_empty()),
            None => self.next.is_some() && has_arguments,
        };
        is_next && self.scan.is_whole() && !self.repeats(piece)
    }

    /// Returns the piece that begins the next call, with what came of it before.
    pub(super) fn begin_next(&mut self, piece: CallPiece) -> CallPiece {
        let same = |held: &CallPiece| piece.name.is_none() || piece.name == held.name;
        let Some(held) = self.next.take().filter(same) else { return piece };
        CallPiece {
            id: held.id.or(piece.id),
            name: held.name.or(piece.name),
            extra_content: piece.extra_content.or(held.extra_content),
            ..piece
        }
    }

    /// Takes a piece; returns what of it is new.
    pub(super) fn take(&mut self, piece: CallPiece) -> CallPiece {
        if self.repeats(&piece) {
            return CallPiece::default();
        }
        let is_named = piece.name.is_some() && !self.name.is_empty();
        if is_named && self.scan.is_whole() && is_blank(&piece.arguments) {
            self.next = Some(piece);
            return CallPiece::default();
        }
        // A name comes once, or again and again with every piece, or in parts before the arguments
        // begin.
        let name = piece.name.filter(|name| {
            self.name.is_empty() || (self.arguments.is_empty() && *name != self.name)
        });
        let id = piece.id.filter(|_| self.id.is_none());
        self.id = id.clone().or(self.id.take());
        self.name.push_str(name.as_deref().unwrap_or_default());
        self.scan.take(&piece.arguments);
        self.arguments.push_str(&piece.arguments);
        self.extra_content = piece.extra_content.or(self.extra_content.take());
        CallPiece { index: piece.index, id, name, arguments: piece.arguments, extra_content: None }
    }

    /// Returns true for a piece that says the whole call again.
    fn repeats(&self, piece: &CallPiece) -> bool {
        self.scan.is_whole()
            && piece.id.is_some()
            && piece.id == self.id
            && piece.name.as_ref().is_none_or(|name| self.may_be_called(name))
            && piece.arguments == self.arguments
    }
}

/// How far a JSON value has come, in time linear in its length.
#[derive(Debug, Default)]
struct JsonScan {
    has_begun: bool,
    depth: u64,
    in_text: bool,
    is_escaped: bool,
}

impl JsonScan {
    fn take(&mut self, more: &str) {
        for byte in more.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.in_text,
                b'"' => self.in_text = !self.in_text,
                b'{' | b'[' if !self.in_text => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
                _ => continue,
            }
            self.has_begun = true;
        }
    }

    /// Returns true where an object, a list or a text has come, and no part of it is missing.
    fn is_whole(&self) -> bool {
        self.has_begun && self.depth == 0 && !self.in_text
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::JsonScan;

    #[test]
    fn a_value_is_whole_where_nothing_of_it_is_missing() {
        for (pieces, whole) in [
            (&["{}"][..], true),
            (&["{", "}"], true),
            (&[r#"{"a":"}"#, r#""}"#], true),
            (&[r#"{"a":"\"#, r#""}"#, r#""}"#], true),
            (&[r#"{"a":[1,{"b":2}]}"#, "\n"], true),
            (&[r#""{\"a\":1}""#], true),
            (&[""], false),
            (&[" "], false),
            (&["1"], false),
            (&["{"], false),
            (&[r#"{"a":"}"#], false),
            (&[r#"{"a":"\"}"#], false),
            (&[r#"{"a":[1}"#], false),
        ] {
            let mut scan = JsonScan::default();
            pieces.iter().for_each(|piece| scan.take(piece));
            assert_eq!(scan.is_whole(), whole, "{pieces:?}");
        }
    }
}
