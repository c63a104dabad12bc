//! Definitions by a grammar of tree-sitter.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, TreeCursor};

use crate::outline::grammar::{Grammar, Named};
use crate::outline::{FoundPlace, OutlinedText};

/// Reports of the parser on its progress after which it is stopped. It makes one every hundred
/// operations; a text of 1 MiB takes about 20,000.
const REPORTS_LIMIT: usize = 200_000;

/// Adds what a text defines; `None` where it takes too long to parse.
pub(super) fn outline(grammar: &Grammar, outline: &mut OutlinedText<'_>) -> Option<()> {
    let mut parser = Parser::new();
    parser.set_language(&grammar.parser.into()).ok()?;
    let mut reports = 0;
    let mut progress = |_: &_| {
        reports += 1;
        if reports < REPORTS_LIMIT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let bytes = outline.text.as_bytes();
    let tree = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    )?;
    let mut finder = DefinitionFinder { grammar, outline, open: Vec::new() };
    finder.walk(&mut tree.walk());
    Some(())
}

struct DefinitionFinder<'o, 't> {
    grammar: &'o Grammar,
    outline: &'o mut OutlinedText<'t>,
    /// How deep in the tree the definitions are that the place is in.
    open: Vec<usize>,
}

impl DefinitionFinder<'_, '_> {
    /// Goes through the tree without recursion: its depth is the text's.
    fn walk(&mut self, cursor: &mut TreeCursor<'_>) {
        let mut level = 0;
        while !self.outline.is_full() {
            let enters = self.visit(cursor.node(), level);
            if enters && cursor.goto_first_child() {
                level += 1;
                continue;
            }
            loop {
                self.open.pop_if(|open| *open == level);
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
                level -= 1;
            }
        }
    }

    /// Takes a definition in; returns whether what it holds is looked at.
    fn visit(&mut self, node: Node<'_>, level: usize) -> bool {
        let Some(rule) = self.grammar.rule(node) else { return true };
        let Some(name) = name(node, rule.named) else { return true };
        let place =
            FoundPlace { start: node.start_byte(), name: name.start_byte(), end: node.end_byte() };
        self.outline.add(place, self.open.len());
        if rule.holds_others {
            self.open.push(level);
        }
        rule.holds_others
    }
}

/// Returns where the name of a node stands; `None` where it is no definition.
fn name(node: Node<'_>, named: Named) -> Option<Node<'_>> {
    match named {
        Named::Field(field) => node.child_by_field_name(field),
        Named::Child(kind) => {
            let mut children = node.walk();
            node.named_children(&mut children).find(|child| child.kind() == kind)
        }
        Named::Start => Some(node),
        Named::Declarator => declared(node),
        Named::Value(kinds) => {
            let field = |names: [&str; 2]| names.iter().find_map(|it| node.child_by_field_name(it));
            let value = field(["value", "right"])?;
            kinds.contains(&value.kind()).then(|| field(["name", "left"])).flatten()
        }
    }
}

/// Returns the name inside the declarators of C: `f` of `int *f(void)`.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    let mut is_function = node.kind() == "type_definition";
    while let Some(inner) = at.child_by_field_name("declarator").or_else(|| {
        let holds = at.kind() == "parenthesized_declarator";
        holds.then(|| at.named_child(0)).flatten()
    }) {
        is_function |= at.kind() == "function_declarator";
        at = inner;
    }
    is_function.then_some(at)
}
