//! The accessibility tree of a page as text: what there is to read, and what there is to use, each
//! with a number to name it by.
//!
//! In: the trees of a page's frames, as the browser gives them, and its layout. Out: lines, of
//! which an answer shows a part. The number of an element is the browser's own for it: it stays
//! while the element is in the page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::tools::browser::layout::PageLayout;
use crate::tools::browser::part::{OutlineLine, from, in_window};
use locum_base::text::{head, single_blanks};

/// Most lines of it.
const LINES_LIMIT: usize = 20_000;

/// Longest name or value, in bytes.
const TEXT_LIMIT_BYTES: usize = 200;

/// Bytes of a name in which the text below it is sought.
const NAME_SOUGHT_BYTES: usize = 4096;

/// How deep a tree is followed.
const DEPTH_LIMIT: usize = 500;

/// Roles that only hold others, where they have no name.
const TRANSPARENT: &[&str] = &[
    "none",
    "generic",
    "LabelText",
    "paragraph",
    "Section",
    "LayoutTable",
    "LayoutTableRow",
    "LayoutTableCell",
    "rowgroup",
    "strong",
    "emphasis",
    "ListMarker",
    "Legend",
    "Canvas",
    "SvgRoot",
    "DescriptionList",
    "MenuListPopup",
];

/// Roles that can be used.
const USED: &[&str] = &[
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "listbox",
    "option",
    "checkbox",
    "radio",
    "switch",
    "slider",
    "spinbutton",
    "tab",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "treeitem",
    "DisclosureTriangle",
    "DateTime",
    "Date",
    "InputTime",
    "ColorWell",
];

/// States that are shown.
const STATES: &[&str] = &[
    "level", "checked", "pressed", "selected", "expanded", "disabled", "focused", "required",
    "invalid", "readonly",
];

/// The tree of one frame.
pub(super) struct FrameTree {
    /// The element it is in; `None` for the page's own.
    pub(super) owner: Option<u64>,
    /// Its nodes, the first one its root.
    pub(super) nodes: Vec<Value>,
}

/// Writes the trees of a page as text: what its window shows, or what begins at an element; `None`
/// where that is not there.
pub(super) fn outline(
    frames: &[FrameTree],
    layout: &PageLayout,
    element: Option<u64>,
) -> Option<String> {
    let trees: Vec<(Option<u64>, IndexedTree<'_>)> =
        frames.iter().map(|frame| (frame.owner, IndexedTree::of(&frame.nodes))).collect();
    let mut writer =
        OutlineWriter { trees: &trees, layout, lines: Vec::new(), written: BTreeSet::new() };
    for (_, tree) in trees.iter().filter(|(owner, _)| owner.is_none()) {
        writer.frame(tree, NodePlace::default());
    }
    let lines = writer.lines;
    let more = lines.len() >= LINES_LIMIT;
    let text = match element {
        Some(_) => from(&lines, lines.iter().position(|line| line.number == element)?, more),
        None => in_window(&lines, more),
    };
    Some(if text.is_empty() { "(the page is empty)".to_owned() } else { text })
}

/// A tree whose nodes are found by their names.
struct IndexedTree<'t> {
    root: Option<&'t Value>,
    nodes: BTreeMap<&'t str, &'t Value>,
}

impl<'t> IndexedTree<'t> {
    fn of(nodes: &'t [Value]) -> Self {
        let name = |node: &'t Value| node.get("nodeId").and_then(Value::as_str);
        let nodes_by_name = nodes.iter().filter_map(|node| Some((name(node)?, node))).collect();
        Self { root: nodes.first(), nodes: nodes_by_name }
    }

    fn children(&self, node: &'t Value) -> Vec<&'t Value> {
        let names = node.get("childIds").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(|name| self.nodes.get(name.as_str()?).copied()).collect()
    }
}

/// Where in the trees a node is.
#[derive(Clone, Copy, Default)]
struct NodePlace {
    indent: usize,
    depth: usize,
    /// Whether the window shows what it is in.
    in_window: bool,
}

struct OutlineWriter<'t> {
    trees: &'t [(Option<u64>, IndexedTree<'t>)],
    layout: &'t PageLayout,
    lines: Vec<OutlineLine>,
    /// What is written already: nothing twice, whatever the trees look like.
    written: BTreeSet<*const Value>,
}

impl<'t> OutlineWriter<'t> {
    fn frame(&mut self, tree: &IndexedTree<'t>, place: NodePlace) {
        if let Some(root) = tree.root
            && self.written.insert(root)
        {
            for child in tree.children(root) {
                self.node(tree, child, NodePlace { depth: 0, ..place }, "");
            }
        }
    }

    /// Writes a node and what is in it; `above` is the name of what it is in.
    fn node(&mut self, tree: &IndexedTree<'t>, node: &'t Value, mut place: NodePlace, above: &str) {
        let is_enough = place.depth > DEPTH_LIMIT || self.lines.len() >= LINES_LIMIT;
        if is_enough || !self.written.insert(node) {
            return;
        }
        let role = text_of(node, "role");
        let name = text_of(node, "name");
        let number = node.get("backendDOMNodeId").and_then(Value::as_u64);
        let is_ignored = node.get("ignored").and_then(Value::as_bool) == Some(true);
        let shown = number.and_then(|number| self.layout.shows(number));
        place.in_window = shown.unwrap_or(place.in_window);
        match role.as_str() {
            "InlineTextBox" | "LineBreak" => return,
            // Numbers of a list are shown, its bullets are not.
            "ListMarker" if !name.contains(char::is_alphanumeric) => return,
            "StaticText" => {
                let is_said = name.is_empty() || above.contains(&name);
                if !is_ignored && !is_said {
                    self.line(place, number, format!("text {}", quoted(&name)));
                }
                return;
            }
            _ => {}
        }
        let is_transparent = TRANSPARENT.contains(&role.as_str());
        let is_passed = is_ignored || (name.is_empty() && is_transparent);
        let can_focus = property(node, "focusable") == Some(&Value::Bool(true));
        let reacts = number.is_some_and(|number| self.layout.reacts(number));
        if !is_passed || reacts || (can_focus && !is_ignored) {
            let is_plain = is_passed && reacts && !can_focus;
            let mut line = if is_plain { "clickable".to_owned() } else { role.clone() };
            if !name.is_empty() {
                line.push_str(&format!(" {}", quoted(&name)));
            }
            let is_used = can_focus || reacts || USED.contains(&role.as_str());
            if let Some(number) = number.filter(|_| is_used) {
                line.push_str(&format!(" [{number}]"));
            }
            line.push_str(&states(node));
            self.line(place, number, line);
            place.indent += 1;
        }
        place.depth += 1;
        let frames = self.trees;
        let inside = frames.iter().filter(|(owner, _)| number.is_some() && *owner == number);
        for (_, frame) in inside {
            self.frame(frame, place);
        }
        let above = if name.is_empty() { above } else { head(&name, NAME_SOUGHT_BYTES) };
        for child in tree.children(node) {
            self.node(tree, child, place, above);
        }
    }

    fn line(&mut self, place: NodePlace, number: Option<u64>, text: String) {
        let NodePlace { indent, in_window, .. } = place;
        self.lines.push(OutlineLine { indent, text, number, in_window });
    }
}

/// Returns what a field of a node says, on one line.
fn text_of(node: &Value, field: &str) -> String {
    let value = node.get(field).and_then(|field| field.get("value"));
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    single_blanks(&text)
}

fn property<'n>(node: &'n Value, name: &str) -> Option<&'n Value> {
    let all = node.get("properties")?.as_array()?;
    let found = all.iter().find(|one| one.get("name").and_then(Value::as_str) == Some(name));
    found?.get("value")?.get("value")
}

/// Returns value, states and address of a node.
fn states(node: &Value) -> String {
    let mut said = String::new();
    let value = text_of(node, "value");
    if !value.is_empty() {
        said.push_str(&format!(" value={}", quoted(&value)));
    }
    for state in STATES {
        match property(node, state) {
            Some(Value::Bool(true)) => said.push_str(&format!(" {state}")),
            Some(Value::Bool(false)) if *state == "expanded" => said.push_str(" collapsed"),
            Some(Value::String(text)) if text == "true" => said.push_str(&format!(" {state}")),
            Some(Value::String(text)) if !matches!(text.as_str(), "" | "false") => {
                said.push_str(&format!(" {state}={text}"));
            }
            Some(Value::Number(number)) => said.push_str(&format!(" {state}={number}")),
            _ => {}
        }
    }
    if let Some(Value::String(url)) = property(node, "url") {
        said.push_str(&format!(" -> {}", head(url, TEXT_LIMIT_BYTES)));
    }
    said
}

fn quoted(text: &str) -> String {
    let cut = head(text, TEXT_LIMIT_BYTES);
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("\"{cut}{more}\"")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{FrameTree, outline};
    use crate::tools::browser::layout::PageLayout;
    use crate::tools::browser::part::PART_LIMIT_BYTES;

    fn node(id: &str, role: &str, name: &str, children: &[&str]) -> Value {
        json!({ "nodeId": id, "role": { "value": role }, "name": { "value": name },
            "childIds": children, "backendDOMNodeId": id.parse::<u64>().unwrap() })
    }

    fn with(mut node: Value, properties: &[(&str, Value)]) -> Value {
        node["properties"] = properties
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": { "value": value } }))
            .collect();
        node
    }

    fn page(nodes: Vec<Value>) -> FrameTree {
        FrameTree { owner: None, nodes }
    }

    /// An outline without a layout.
    fn written(frames: &[FrameTree]) -> String {
        outline(frames, &PageLayout::default(), None).unwrap()
    }

    #[test]
    fn a_page_is_a_list_of_what_can_be_read_and_used() {
        let mut field = with(
            node("5", "textbox", "Your  name", &[]),
            &[("focusable", json!(true)), ("focused", json!(true)), ("required", json!(false))],
        );
        field["value"] = json!({ "value": "Ada" });
        let nodes = vec![
            node("1", "RootWebArea", "Shop", &["2", "3", "8"]),
            with(node("2", "heading", "Shop", &["20"]), &[("level", json!(1))]),
            node("20", "StaticText", "Shop", &["21"]),
            node("21", "InlineTextBox", "Shop", &[]),
            node("3", "generic", "", &["4", "5", "6", "7"]),
            node("4", "StaticText", "3 things", &[]),
            field,
            with(node("6", "checkbox", "Gift", &[]), &[("checked", json!("true"))]),
            with(
                node("7", "link", "Next", &[]),
                &[("focusable", json!(true)), ("url", json!("http://h/next"))],
            ),
            with(node("8", "generic", "", &["9"]), &[("focusable", json!(true))]),
            node("9", "StaticText", "clickable", &[]),
        ];
        assert_eq!(
            written(&[page(nodes)]),
            "- heading \"Shop\" level=1\n- text \"3 things\"\n- textbox \"Your name\" [5] \
             value=\"Ada\" focused\n- checkbox \"Gift\" [6] checked\n- link \"Next\" [7] -> \
             http://h/next\n- generic [8]\n  - text \"clickable\"\n"
        );
    }

    #[test]
    fn frames_are_written_where_they_are_and_once() {
        let own = page(vec![node("1", "RootWebArea", "", &["2"]), node("2", "Iframe", "", &[])]);
        let frame = FrameTree {
            owner: Some(2),
            nodes: vec![
                node("1", "RootWebArea", "", &["3"]),
                node("3", "StaticText", "in it", &[]),
            ],
        };
        let lost = FrameTree { owner: Some(9), nodes: vec![node("1", "RootWebArea", "", &[])] };
        assert_eq!(written(&[own, frame, lost]), "- Iframe\n  - text \"in it\"\n");
    }

    #[test]
    fn what_reacts_to_a_mouse_has_a_number_and_an_outline_begins_where_it_is_asked_to() {
        let nodes = || {
            vec![
                node("1", "RootWebArea", "", &["2", "4", "6"]),
                node("2", "generic", "", &["3"]),
                node("3", "StaticText", "Open menu", &[]),
                node("4", "listitem", "", &["5"]),
                node("5", "StaticText", "One", &[]),
                node("6", "generic", "", &["7"]),
                node("7", "StaticText", "Two", &[]),
            ]
        };
        let snapshot = json!({ "strings": ["DIV"], "documents": [{
            "nodes": { "backendNodeId": [2, 4, 6], "nodeType": [1, 1, 1], "nodeName": [0, 0, 0],
                "isClickable": { "index": [0, 1] } },
            "layout": { "nodeIndex": [0, 1, 2], "bounds": [[0, 0, 9, 9], [0, 9, 9, 9], [0, 0, 9, 9]] },
        }] });
        let layout = PageLayout::parse(&snapshot, (90, 60));
        let shown = |element| outline(&[page(nodes())], &layout, element);
        let all = "- clickable [2]\n  - text \"Open menu\"\n- listitem [4]\n  - text \"One\"\n\
                   - text \"Two\"\n";
        assert_eq!(shown(None).unwrap(), all);
        assert_eq!(shown(Some(5)).unwrap(), "(3 lines before)\n  - text \"One\"\n- text \"Two\"\n");
        assert_eq!(shown(Some(9)), None);
    }

    #[test]
    fn what_is_hostile_ends() {
        let endless =
            page(vec![node("1", "RootWebArea", "", &["2"]), node("2", "generic", "", &["2", "2"])]);
        assert!(written(&[endless]).len() < 100);
        let ids: Vec<String> = (2..5000).map(|id: u32| id.to_string()).collect();
        let children: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut nodes = vec![node("1", "RootWebArea", "", &children)];
        nodes.extend(ids.iter().map(|id| node(id, "button", &"x".repeat(500), &[])));
        let text = written(&[page(nodes)]);
        assert!(text.len() < PART_LIMIT_BYTES + 100 && text.contains("(the page goes on"));
        assert_eq!(written(&[page(Vec::new())]), "(the page is empty)");
    }
}
