//! `read`: a reply's text split into what was said, what was thought and the calls that were
//! written in it.
//!
//! In: the whole text and the tools that were offered. Out: pieces in order. Which closing tag is
//! the last one is known only at the end, so nothing is read before the reply is whole. A value
//! ends at the closing tag that is followed by another parameter or by the end of the call. Such
//! tags inside a file's content, even a whole example of the same call, end nothing. A closing tag
//! of thoughts that stands outside of values and was never opened makes thoughts of all before it.
//! Arguments are checked later.

use serde_json::{Map, Value};

use crate::xml::peer;
use crate::xml::tag::{FENCE, TagKind, XmlTag, next_angle, skip_blanks};
use crate::xml::thought::{is_quoted, is_thought, unopened_end};
use crate::xml::value::{self, FILE};
use locum_base::chat::ToolSpec;

/// How the results of calls begin that a model is shown; one that it writes itself is imagined,
/// like everything after it.
pub(super) const RESULT_TAG: &str = "tool_result";
/// Tags around all arguments of a call.
const WRAPPERS: [&str; 4] = ["args", "arguments", "parameters", "params"];
/// A reply is looked over at most so often, whatever its tags are.
const WORK_FACTOR: usize = 64;

/// Whether a reply came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyEnd {
    /// It is complete.
    Whole,
    /// It was cut off.
    Cut,
}

/// A part of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ParsedPiece {
    /// Visible text of the reply.
    Text(String),
    /// Reasoning of the reply.
    Reasoning(String),
    /// A call that was written in the text.
    Call {
        /// The tool, as it was written.
        name: String,
        /// Arguments by name, unchecked.
        arguments: Map<String, Value>,
    },
}

/// What a reply holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParsedReply {
    /// Its parts in order.
    pub(super) pieces: Vec<ParsedPiece>,
    /// `Cut` when its last call is not whole.
    pub(super) end: ReplyEnd,
}

/// Splits a reply into its pieces.
pub(super) fn read(text: &str, tools: &[ToolSpec], end: ReplyEnd) -> ParsedReply {
    let reader = ReplyReader {
        text,
        tools,
        end,
        work: text.len().saturating_mul(WORK_FACTOR),
        pieces: Vec::new(),
        thoughts_end: 0,
        fenced: false,
        has_calls: false,
    };
    reader.run()
}

struct ReplyReader<'t> {
    text: &'t str,
    tools: &'t [ToolSpec],
    end: ReplyEnd,
    /// Bytes that may still be looked at.
    work: usize,
    pieces: Vec<ParsedPiece>,
    /// Where thoughts end that the reply begins with, without a tag; 0 where it does not.
    thoughts_end: usize,
    /// True between a fence before a call and the one after it.
    fenced: bool,
    has_calls: bool,
}

/// Something that was written in tags.
enum TaggedPart {
    Thought { inner_end: usize, end: usize },
    ThoughtsEnd { end: usize },
    Calls { name: String, calls: Vec<Map<String, Value>>, end: usize, whole: bool },
    Imagined,
}

/// Where a value ends, and where the text continues.
#[derive(Clone, Copy)]
struct ValueEnd {
    inner: usize,
    next: usize,
    /// False where a closing tag is missing.
    whole: bool,
}

impl ReplyReader<'_> {
    fn run(mut self) -> ParsedReply {
        let (mut at, mut said) = (0, 0);
        while let Some(open) = next_angle(self.text, at) {
            at = open + 1;
            match self.found(open) {
                None => continue,
                Some(TaggedPart::ThoughtsEnd { end }) => {
                    said = self.begin_after_thoughts(open, end);
                    at = said;
                }
                Some(TaggedPart::Imagined) => {
                    let Some((inner, end)) = unopened_end(self.text, open, self.text.len()) else {
                        self.say(said, open, TextPosition::Tag);
                        return self.ended(ReplyEnd::Whole);
                    };
                    said = self.begin_after_thoughts(inner, end);
                    at = said;
                }
                Some(TaggedPart::Thought { inner_end, end }) => {
                    self.say(said, open, TextPosition::Tag);
                    let start = XmlTag::at(self.text, open).map_or(open, |tag| tag.end);
                    let thought = self.text.get(start..inner_end).unwrap_or_default().trim();
                    if !thought.is_empty() {
                        self.pieces.push(ParsedPiece::Reasoning(thought.to_owned()));
                    }
                    (at, said) = (end, end);
                }
                Some(TaggedPart::Calls { name, calls, end, whole }) => {
                    self.say(said, open, TextPosition::Call);
                    self.has_calls = true;
                    self.pieces.extend(
                        calls
                            .into_iter()
                            .map(|arguments| ParsedPiece::Call { name: name.clone(), arguments }),
                    );
                    if !whole {
                        return self.ended(ReplyEnd::Cut);
                    }
                    said = self.after_fence(end);
                    at = said;
                }
            }
        }
        self.say(said, self.text.len(), TextPosition::End);
        let end = self.end;
        self.ended(end)
    }

    /// Makes thoughts of everything before a place: nothing of it is said or called. Returns where
    /// the reply begins.
    fn begin_after_thoughts(&mut self, thoughts_end: usize, next: usize) -> usize {
        self.pieces.clear();
        (self.fenced, self.has_calls) = (false, false);
        self.thoughts_end = thoughts_end;
        skip_blanks(self.text, next)
    }

    fn ended(mut self, end: ReplyEnd) -> ParsedReply {
        let thoughts = self.text.get(..self.thoughts_end).unwrap_or_default().trim();
        if !thoughts.is_empty() {
            self.pieces.insert(0, ParsedPiece::Reasoning(thoughts.to_owned()));
        }
        ParsedReply { pieces: self.pieces, end }
    }

    /// Takes what was said up to a place.
    fn say(&mut self, from: usize, to: usize, before: TextPosition) {
        let mut words = self.text.get(from..to).unwrap_or_default();
        if before == TextPosition::Call
            && let Some(above) = above_fence(words)
        {
            words = above;
            self.fenced = true;
        }
        if before != TextPosition::End {
            words = words.trim_end();
        }
        if self.has_calls {
            words = words.trim_start();
        }
        if !words.is_empty() {
            self.pieces.push(ParsedPiece::Text(words.to_owned()));
        }
    }

    /// Returns the place after the fence that closes the one before a call.
    fn after_fence(&mut self, end: usize) -> usize {
        let next = skip_blanks(self.text, end);
        let closes =
            self.fenced && self.text.get(next..).is_some_and(|rest| rest.starts_with(FENCE));
        self.fenced &= !closes;
        if closes { next + FENCE.len() } else { end }
    }

    fn found(&mut self, open: usize) -> Option<TaggedPart> {
        let tag = XmlTag::at(self.text, open)?;
        let is_quoted = is_quoted(self.text, open);
        if is_thought(tag.name) && !is_quoted {
            match tag.kind {
                TagKind::Close => return Some(TaggedPart::ThoughtsEnd { end: tag.end }),
                TagKind::Open if !self.is_call(&tag) => return Some(self.thought(&tag)),
                TagKind::Open | TagKind::Alone => {}
            }
        }
        if !tag.begins() {
            return None;
        }
        if tag.name.starts_with(RESULT_TAG) && self.has_calls {
            return Some(TaggedPart::Imagined);
        }
        if is_quoted || self.work == 0 { None } else { self.calls(&tag) }
    }

    /// Whether a tag that may hold a thought is a call instead: of an offered tool of that name,
    /// with one of its parameters first.
    fn is_call(&self, tag: &XmlTag<'_>) -> bool {
        let first = XmlTag::at(self.text, skip_blanks(self.text, tag.end));
        let Some(first) = first.filter(XmlTag::begins) else { return false };
        let tool = self.tools.iter().find(|tool| tool.name == tag.name);
        let properties = tool.and_then(|tool| tool.parameters.get("properties"));
        properties.is_some_and(|properties| properties.get(first.name).is_some())
    }

    /// Finds where a thought ends: at its closing tag; where there is none, at the next call that
    /// begins a line.
    fn thought(&mut self, tag: &XmlTag<'_>) -> TaggedPart {
        let close = format!("</{}>", tag.name);
        let rest = self.text.get(tag.end..).unwrap_or_default();
        self.work = self.work.saturating_sub(rest.len());
        if let Some(found) = rest.find(&close) {
            return TaggedPart::Thought {
                inner_end: tag.end + found,
                end: tag.end + found + close.len(),
            };
        }
        let mut at = tag.end;
        while let Some(open) = next_angle(self.text, at).filter(|_| self.end == ReplyEnd::Whole) {
            at = open + 1;
            let begins_line = self
                .text
                .get(..open)
                .is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('\n'));
            let next = XmlTag::at(self.text, open).filter(|next| begins_line && next.begins());
            if next.is_some_and(|next| self.calls(&next).is_some()) {
                return TaggedPart::Thought { inner_end: open, end: open };
            }
        }
        TaggedPart::Thought { inner_end: self.text.len(), end: self.text.len() }
    }

    fn tool(&self, name: &str) -> Option<&ToolSpec> {
        let plain = locum_base::tool::resolve(name);
        self.tools
            .iter()
            .find(|tool| tool.name == name)
            .or_else(|| self.tools.iter().find(|tool| tool.name == plain))
    }

    /// Reads the calls that one tag holds; `None` where it is a word like any other.
    fn calls(&mut self, open: &XmlTag<'_>) -> Option<TaggedPart> {
        let tool = self.tool(open.name).cloned();
        if tool.is_none() && !looks_like_tool(open.name) && !peer::is_tool(open.name) {
            return None;
        }
        let properties = tool
            .as_ref()
            .and_then(|tool| tool.parameters.get("properties"))
            .and_then(Value::as_object);
        let schema = |name: &str| properties.and_then(|properties| properties.get(name));
        let mut fields: Map<String, Value> = open
            .attributes
            .iter()
            .map(|(name, text)| ((*name).to_owned(), value::read(name, text, schema(name))))
            .collect();
        let (mut files, mut at, mut last) = (Vec::new(), open.end, open.end);
        let (mut closed, mut whole) = (open.kind == TagKind::Alone, true);
        while !closed && whole {
            at = skip_blanks(self.text, at);
            let Some(tag) = XmlTag::at(self.text, at) else {
                if fields.is_empty() && files.is_empty() {
                    let (bare, end) = self.bare(open.name, at, properties, tool.as_ref())?;
                    (fields, last, closed) = (bare, end, true);
                    break;
                }
                match next_angle(self.text, at + 1) {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            if tag.closes(open.name) {
                (last, closed) = (tag.end, true);
            } else if tag.kind == TagKind::Close && is_thought(tag.name) {
                break;
            } else if tag.kind == TagKind::Close {
                at = tag.end;
            } else if schema(tag.name).is_none() && self.tool(tag.name).is_some() {
                break;
            } else if tag.kind == TagKind::Alone {
                value::add(&mut fields, tag.name, Value::from(""));
                (at, last) = (tag.end, tag.end);
            } else {
                let end = self.value_end(open.name, &tag, properties);
                let raw = self.text.get(tag.end..end.inner).unwrap_or_default();
                let is_known = schema(tag.name).is_some() || tool.is_none();
                let file = value::children(raw).filter(|_| tag.name == FILE && !is_known);
                if let Some(inner) = file {
                    files.push(value::fields_of(&inner, &schema));
                } else if WRAPPERS.contains(&tag.name) && !is_known {
                    value::unwrap(raw, &schema, &mut fields, &mut files);
                } else {
                    value::add(&mut fields, tag.name, value::read(tag.name, raw, schema(tag.name)));
                }
                whole = end.whole;
                (at, last) = (end.next, end.next);
            }
        }
        let says_something = !fields.is_empty() || !files.is_empty();
        if (!closed && !says_something) || (tool.is_none() && !(closed && says_something)) {
            return None;
        }
        if files.is_empty() {
            files.push(Map::new());
        }
        let (name, fields) = peer::unpacked(open.name, fields);
        let calls = files
            .into_iter()
            .map(|file| fields.clone().into_iter().chain(file).collect())
            .collect();
        whole &= closed || self.end == ReplyEnd::Whole;
        Some(TaggedPart::Calls { name, calls, end: last, whole })
    }

    /// Reads a call that holds no tags: all arguments as JSON, or the only one that is needed.
    fn bare(
        &mut self,
        name: &str,
        at: usize,
        properties: Option<&Map<String, Value>>,
        tool: Option<&ToolSpec>,
    ) -> Option<(Map<String, Value>, usize)> {
        let rest = self.text.get(at..)?;
        let close = format!("</{name}>");
        let length = rest.find(&close);
        self.work = self.work.saturating_sub(length.unwrap_or(rest.len()));
        let raw = rest.get(..length?)?;
        let end = at + length? + close.len();
        if raw.contains(&format!("<{name}>")) {
            // Here it is only mentioned: it is called later.
            return None;
        }
        if let Ok(Value::Object(fields)) = serde_json::from_str(raw.trim()) {
            return Some((fields, end));
        }
        let needed = tool?.parameters.get("required").and_then(Value::as_array);
        let only = match needed.map(Vec::as_slice) {
            Some([Value::String(only)]) => Some(only.as_str()),
            Some(_) | None => None,
        };
        let only = only.or_else(|| {
            properties.filter(|properties| properties.len() == 1)?.keys().next().map(String::as_str)
        });
        let schema = |name: &str| properties.and_then(|properties| properties.get(name));
        let fields = only
            .map(|only| (only.to_owned(), value::read(only, raw, schema(only))))
            .into_iter()
            .collect();
        Some((fields, end))
    }

    /// Finds where the value of a parameter ends.
    fn value_end(
        &mut self,
        tool: &str,
        open: &XmlTag<'_>,
        properties: Option<&Map<String, Value>>,
    ) -> ValueEnd {
        let text = self.text;
        if let Some((inner, next)) = value::cdata_end(text, open.end, open.name) {
            return ValueEnd { inner, next, whole: true };
        }
        let is_parameter = |tag: &XmlTag<'_>| {
            let known = properties.map_or_else(
                || self.tool(tag.name).is_none(),
                |properties| properties.contains_key(tag.name),
            );
            let is_file = open.name == FILE && tag.name == FILE;
            tag.begins() && (known || is_file || WRAPPERS.contains(&tag.name))
        };
        let is_list = open.name == FILE
            || properties.is_some_and(|properties| value::is(properties.get(open.name), "array"));
        let (mut at, mut depth) = (open.end, 0_usize);
        let (mut fitting, mut first, mut end_of_call) = (None, None, None);
        let mut settled = None;
        while let Some(angle) = next_angle(text, at) {
            at = angle + 1;
            let Some(tag) = XmlTag::at(text, angle) else { continue };
            let after = skip_blanks(text, tag.end);
            let next = XmlTag::at(text, after);
            if tag.closes(open.name) {
                let end = ValueEnd { inner: angle, next: tag.end, whole: true };
                let fits = after == text.len()
                    || next.is_some_and(|next| {
                        next.closes(tool)
                            || (next.name != open.name || is_list) && is_parameter(&next)
                    });
                if fits && depth == 0 && (after < text.len() || self.end == ReplyEnd::Whole) {
                    settled = Some(end);
                    break;
                }
                if fits {
                    fitting.get_or_insert(end);
                }
                first.get_or_insert(end);
            } else if tag.closes(tool) {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => {
                        end_of_call.get_or_insert(ValueEnd {
                            inner: angle,
                            next: angle,
                            whole: true,
                        });
                    }
                }
            } else if tag.name == tool
                && tag.begins()
                && next.is_some_and(|next| is_parameter(&next))
            {
                depth += 1;
            }
        }
        let scanned = settled.map_or(text.len(), |end| end.next) - open.end;
        self.work = self.work.saturating_sub(scanned);
        let rest = ValueEnd { inner: text.len(), next: text.len(), whole: false };
        if let Some(end) = settled {
            return end;
        }
        if self.end == ReplyEnd::Cut {
            return rest;
        }
        let before_end = |end: &ValueEnd| end_of_call.is_none_or(|call| end.inner < call.inner);
        let closed = fitting.filter(before_end).or(first.filter(before_end)).or(end_of_call);
        // A draft that was never finished ends with the thoughts it stands in.
        let limit = closed.map_or(text.len(), |end| end.inner);
        if let Some((inner, _)) = unopened_end(text, open.end, limit) {
            return ValueEnd { inner, next: inner, whole: true };
        }
        // Without any closing tag one line may be all of it; for several lines that is unknown.
        let is_line = text.get(open.end..).is_some_and(|value| !value.trim().contains('\n'));
        closed.unwrap_or(ValueEnd { whole: is_line, ..rest })
    }
}

/// What words stand before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextPosition {
    Call,
    Tag,
    End,
}

/// Returns words without the line at their end that opens a fence.
fn above_fence(words: &str) -> Option<&str> {
    let trimmed = words.trim_end();
    let start = trimmed.rfind('\n').map_or(0, |end| end + 1);
    let (above, line) = trimmed.split_at_checked(start)?;
    let info = line.trim_start().strip_prefix(FENCE)?;
    if info.contains(['`', ' ']) {
        return None;
    }
    let fences = trimmed.lines().filter(|line| line.trim_start().starts_with(FENCE)).count();
    (!info.is_empty() || fences % 2 == 1).then_some(above)
}

/// Returns true for a name that only a tool could have: words joined by `_`.
fn looks_like_tool(name: &str) -> bool {
    let words: Vec<&str> = name.split('_').collect();
    let is_word = |word: &&str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    words.len() > 1 && words.iter().all(is_word) && !name.starts_with(RESULT_TAG)
}
