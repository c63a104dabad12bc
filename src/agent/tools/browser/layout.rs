//! `PageLayout`: which elements of a page its window shows, and which of them do something when
//! they are clicked or pointed at, although they are no controls.
//!
//! In: what the browser's `DOMSnapshot.captureSnapshot` says of all frames. Out: answers by the
//! numbers of elements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Elements that are the page itself: what is heard there is heard from everywhere.
const WHOLE_PAGES: &[&str] = &["HTML", "BODY"];

/// Attributes whose code runs when a mouse comes.
const POINTED_AT: &[&str] = &["onmouseover", "onmouseenter", "onpointerover", "onpointerenter"];

/// The kind of node that an element is.
const ELEMENT: u64 = 1;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct PageLayout {
    /// Whether the window shows a node. What has no box is not among them.
    in_window: BTreeMap<u64, bool>,
    /// Elements that react to a mouse.
    reacting: BTreeSet<u64>,
}

impl PageLayout {
    /// Returns what the browser is asked.
    pub(super) fn question() -> Value {
        json!({ "computedStyles": ["cursor"] })
    }

    /// Reads the browser's answer, for a window of this size.
    pub(super) fn parse(snapshot: &Value, size: (u32, u32)) -> Self {
        let mut layout = Self::default();
        let window = (f64::from(size.0), f64::from(size.1));
        let strings = list(snapshot, "/strings");
        let documents = list(snapshot, "/documents");
        // Where the frames begin in the window.
        let mut begins: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (index, document) in documents.iter().enumerate() {
            let begin = begins.get(&index).copied().unwrap_or_default();
            let frame = FrameLayout { document, strings, begin, window };
            for (owned, at) in frame.read(&mut layout) {
                begins.insert(owned, at);
            }
        }
        layout
    }

    /// Returns whether the window shows a node; `None` where it has no box of its own.
    pub(super) fn shows(&self, number: u64) -> Option<bool> {
        self.in_window.get(&number).copied()
    }

    /// Returns whether an element reacts to a mouse.
    pub(super) fn reacts(&self, number: u64) -> bool {
        self.reacting.contains(&number)
    }
}

/// What the browser says of one frame.
struct FrameLayout<'s> {
    document: &'s Value,
    strings: &'s [Value],
    /// Its upper left corner in the window.
    begin: (f64, f64),
    window: (f64, f64),
}

impl FrameLayout<'_> {
    /// Reads it; returns the frames in it, by their places among the documents, with where they
    /// begin in the window.
    fn read(&self, layout: &mut PageLayout) -> Vec<(usize, (f64, f64))> {
        let numbers = list(self.document, "/nodes/backendNodeId");
        let number = |node: usize| numbers.get(node).and_then(Value::as_u64);
        let scrolled = |name: &str| self.document.get(name).and_then(Value::as_f64);
        let left = self.begin.0 - scrolled("scrollOffsetX").unwrap_or_default();
        let top = self.begin.1 - scrolled("scrollOffsetY").unwrap_or_default();
        let mut places = BTreeMap::new();
        let mut pointers = BTreeSet::new();
        let (bounds, styles) =
            (list(self.document, "/layout/bounds"), list(self.document, "/layout/styles"));
        for (at, node) in list(self.document, "/layout/nodeIndex").iter().enumerate() {
            let Some(node) = index(node) else { continue };
            let sides = bounds.get(at).and_then(Value::as_array).map(Vec::as_slice);
            let sides: Vec<f64> =
                sides.unwrap_or_default().iter().filter_map(Value::as_f64).collect();
            let [x, y, width, height] = sides[..] else { continue };
            if width <= 0.0 || height <= 0.0 {
                continue;
            }
            let (x, y) = (left + x, top + y);
            places.insert(node, (x, y));
            let (right, bottom) = (x + width, y + height);
            let is_seen = right > 0.0 && bottom > 0.0 && x < self.window.0 && y < self.window.1;
            if let Some(number) = number(node) {
                layout.in_window.insert(number, is_seen);
            }
            let cursor = styles.get(at).and_then(|style| style.get(0));
            if cursor.is_some_and(|cursor| self.word(cursor) == "pointer") {
                pointers.insert(node);
            }
        }
        let reacting = places.keys().filter(|node| self.reacts(**node, &pointers));
        layout.reacting.extend(reacting.filter_map(|node| number(*node)));
        self.sparse("contentDocumentIndex")
            .filter_map(|(node, owned)| Some((owned?, *places.get(&node)?)))
            .collect()
    }

    /// Returns whether a node that has a box reacts: it listens, or a pointer's shape begins at it,
    /// as pages show it where a listener further out hears for what is in it.
    fn reacts(&self, node: usize, pointers: &BTreeSet<usize>) -> bool {
        let of_node = |name: &str| list(self.document, name).get(node);
        let name = of_node("/nodes/nodeName").map(|name| self.word(name)).unwrap_or_default();
        let kind = of_node("/nodes/nodeType").and_then(Value::as_u64);
        if kind != Some(ELEMENT) || WHOLE_PAGES.contains(&name) {
            return false;
        }
        let above = of_node("/nodes/parentIndex").and_then(index);
        let is_pointer = pointers.contains(&node) && above.is_none_or(|it| !pointers.contains(&it));
        // A label passes clicks on to its field, which has a line of its own.
        let listens = name != "LABEL"
            && list(self.document, "/nodes/isClickable/index")
                .binary_search_by_key(&Some(node), index)
                .is_ok();
        let attributes = of_node("/nodes/attributes").and_then(Value::as_array);
        let mut names = attributes.into_iter().flatten().step_by(2);
        is_pointer || listens || names.any(|name| POINTED_AT.contains(&self.word(name)))
    }

    /// Returns what few nodes have: the nodes, with a number of each.
    fn sparse(&self, name: &str) -> impl Iterator<Item = (usize, Option<usize>)> {
        let nodes = list(self.document, &format!("/nodes/{name}/index"));
        let values = list(self.document, &format!("/nodes/{name}/value"));
        nodes.iter().zip(values).filter_map(|(node, value)| Some((index(node)?, index(value))))
    }

    /// Returns a text of the snapshot's table.
    fn word(&self, place: &Value) -> &str {
        let text = index(place).and_then(|place| self.strings.get(place));
        text.and_then(Value::as_str).unwrap_or_default()
    }
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|value| usize::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::PageLayout;

    /// Words of the table: tags, attributes, cursors.
    const WORDS: &[&str] =
        &["BODY", "DIV", "LABEL", "#text", "IFRAME", "onmouseover", "x", "pointer", "auto"];

    fn word(word: &str) -> usize {
        WORDS.iter().position(|known| *known == word).unwrap()
    }

    /// A node: number, tag, parent, top and cursor.
    type Node = (u64, &'static str, i64, f64, &'static str);

    /// Nodes, and those that listen.
    fn document(nodes: &[Node], listening: &[usize]) -> Value {
        let of = |take: &dyn Fn(&Node) -> Value| -> Vec<Value> { nodes.iter().map(take).collect() };
        json!({
            "nodes": {
                "backendNodeId": of(&|node| json!(node.0)),
                "nodeName": of(&|node| json!(word(node.1))),
                "nodeType": of(&|node| json!(if node.1 == "#text" { 3 } else { 1 })),
                "parentIndex": of(&|node| json!(node.2)),
                "attributes": of(&|_| json!([])),
                "isClickable": { "index": listening },
            },
            "layout": {
                "nodeIndex": (0..nodes.len()).collect::<Vec<_>>(),
                "bounds": of(&|node| json!([0.0, node.3, 50.0, 20.0])),
                "styles": of(&|node| json!([word(node.4)])),
            },
        })
    }

    #[test]
    fn what_listens_or_begins_a_pointer_reacts() {
        let mut own = document(
            &[
                (10, "BODY", -1, 0.0, "auto"),
                (11, "DIV", 0, 0.0, "auto"),
                (12, "DIV", 0, 20.0, "pointer"),
                (13, "DIV", 2, 20.0, "pointer"),
                (14, "#text", 3, 20.0, "pointer"),
                (15, "LABEL", 0, 40.0, "auto"),
                (16, "DIV", 0, 60.0, "auto"),
                (17, "DIV", 0, 80.0, "auto"),
            ],
            &[0, 1, 5],
        );
        own["nodes"]["attributes"][6] = json!([word("onmouseover"), word("x")]);
        let layout = PageLayout::parse(&json!({ "strings": WORDS, "documents": [own] }), (90, 60));
        let reacting: Vec<u64> = (10..18).filter(|number| layout.reacts(*number)).collect();
        assert_eq!(reacting, [11, 12, 16]);
    }

    #[test]
    fn a_window_shows_what_is_in_it_also_of_frames() {
        let mut own = document(
            &[
                (1, "BODY", -1, 0.0, "auto"),
                (2, "DIV", 0, 80.0, "auto"),
                (3, "DIV", 0, 81.0, "auto"),
                (4, "IFRAME", 0, 120.0, "auto"),
                (5, "DIV", 0, 200.0, "auto"),
            ],
            &[],
        );
        own["scrollOffsetY"] = json!(100.0);
        own["nodes"]["contentDocumentIndex"] = json!({ "index": [3], "value": [1] });
        let frame = document(&[(6, "DIV", -1, 0.0, "auto"), (7, "DIV", 0, 80.0, "auto")], &[]);
        let snapshot = json!({ "strings": WORDS, "documents": [own, frame] });
        let layout = PageLayout::parse(&snapshot, (90, 60));
        let shown: Vec<Option<bool>> = (1..9).map(|number| layout.shows(number)).collect();
        let [no, yes] = [Some(false), Some(true)];
        assert_eq!(shown, [no, no, yes, yes, no, yes, no, None]);
        let broken = PageLayout::parse(&json!({ "documents": [{ "layout": 3 }] }), (90, 60));
        assert_eq!((broken.shows(1), broken.reacts(1)), (None, false));
    }
}
