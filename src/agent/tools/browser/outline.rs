//! The accessibility tree of a page as text: what there is to read, and what there is to use, each
//! with a number to name it by.
//!
//! In: the trees of a page's frames, as the browser gives them. Out: an indented list, bounded. The
//! number of an element is the browser's own for it: it stays while the element is in the page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use locum_base::text::head;

/// Most bytes of it.
const OUTLINE_LIMIT_BYTES: usize = 12 * 1024;

/// Longest name or value, in bytes.
const TEXT_LIMIT_BYTES: usize = 200;

/// How deep it is indented, and how deep a tree is followed.
const INDENT_LIMIT: usize = 12;
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

/// Writes the trees of a page as text.
pub(super) fn outline(frames: &[FrameTree]) -> String {
    let trees: Vec<(Option<u64>, IndexedTree<'_>)> =
        frames.iter().map(|frame| (frame.owner, IndexedTree::of(&frame.nodes))).collect();
    let mut writer = OutlineWriter { trees: &trees, text: String::new(), written: BTreeSet::new() };
    for (_, tree) in trees.iter().filter(|(owner, _)| owner.is_none()) {
        writer.frame(tree, 0);
    }
    let cut = head(&writer.text, OUTLINE_LIMIT_BYTES);
    if cut.len() < writer.text.len() {
        let whole = cut.rsplit_once('\n').map_or(cut, |(whole, _)| whole);
        return format!("{whole}\n(the page goes on: scroll, or use a more exact page)");
    }
    if writer.text.is_empty() { "(the page is empty)".to_owned() } else { writer.text }
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

struct OutlineWriter<'t> {
    trees: &'t [(Option<u64>, IndexedTree<'t>)],
    text: String,
    /// What is written already: nothing twice, whatever the trees look like.
    written: BTreeSet<*const Value>,
}

impl<'t> OutlineWriter<'t> {
    fn frame(&mut self, tree: &IndexedTree<'t>, indent: usize) {
        if let Some(root) = tree.root
            && self.written.insert(root)
        {
            for child in tree.children(root) {
                self.node(tree, child, (indent, 0), "");
            }
        }
    }

    /// Writes a node and what is in it; `above` is the name of what it is in.
    fn node(
        &mut self,
        tree: &IndexedTree<'t>,
        node: &'t Value,
        (indent, depth): (usize, usize),
        above: &str,
    ) {
        let is_enough = depth > DEPTH_LIMIT || self.text.len() > OUTLINE_LIMIT_BYTES;
        if is_enough || !self.written.insert(node) {
            return;
        }
        let role = text_of(node, "role");
        let name = text_of(node, "name");
        let is_ignored = node.get("ignored").and_then(Value::as_bool) == Some(true);
        match role.as_str() {
            "InlineTextBox" | "LineBreak" => return,
            "StaticText" => {
                let is_said = name.is_empty() || above.contains(&name);
                if !is_ignored && !is_said {
                    self.line(indent, &format!("text {}", quoted(&name)));
                }
                return;
            }
            _ => {}
        }
        let is_passed = is_ignored || (name.is_empty() && TRANSPARENT.contains(&role.as_str()));
        let can_focus = property(node, "focusable") == Some(&Value::Bool(true));
        let number = node.get("backendDOMNodeId").and_then(Value::as_u64);
        let inner = if is_passed && (is_ignored || !can_focus) {
            (indent, depth + 1)
        } else {
            let mut line = role.clone();
            if !name.is_empty() {
                line.push_str(&format!(" {}", quoted(&name)));
            }
            if let Some(number) = number.filter(|_| can_focus || USED.contains(&role.as_str())) {
                line.push_str(&format!(" [{number}]"));
            }
            line.push_str(&states(node));
            self.line(indent, &line);
            (indent + 1, depth + 1)
        };
        let frames = self.trees;
        let inside = frames.iter().filter(|(owner, _)| number.is_some() && *owner == number);
        for (_, frame) in inside {
            self.frame(frame, inner.0);
        }
        let above = if name.is_empty() { above } else { &name };
        for child in tree.children(node) {
            self.node(tree, child, inner, above);
        }
    }

    fn line(&mut self, indent: usize, line: &str) {
        let indent = "  ".repeat(indent.min(INDENT_LIMIT));
        self.text.push_str(&format!("{indent}- {line}\n"));
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
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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

    use super::{FrameTree, OUTLINE_LIMIT_BYTES, outline};

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
            outline(&[page(nodes)]),
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
        assert_eq!(outline(&[own, frame, lost]), "- Iframe\n  - text \"in it\"\n");
    }

    #[test]
    fn what_is_hostile_ends() {
        let endless =
            page(vec![node("1", "RootWebArea", "", &["2"]), node("2", "generic", "", &["2", "2"])]);
        assert!(outline(&[endless]).len() < 100);
        let ids: Vec<String> = (2..5000).map(|id: u32| id.to_string()).collect();
        let children: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut nodes = vec![node("1", "RootWebArea", "", &children)];
        nodes.extend(ids.iter().map(|id| node(id, "button", &"x".repeat(500), &[])));
        let text = outline(&[page(nodes)]);
        assert!(text.len() < OUTLINE_LIMIT_BYTES + 100 && text.contains("(the page goes on"));
        assert_eq!(outline(&[page(Vec::new())]), "(the page is empty)");
    }
}
