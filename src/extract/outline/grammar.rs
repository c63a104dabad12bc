//! Which nodes of each grammar are definitions, and where their names stand.

use tree_sitter::Node;
use tree_sitter_language::LanguageFn;

use crate::outline::braces::BraceDialect;
use crate::outline::language::Language;

/// Where the name of a definition stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    /// In a field.
    Field(&'static str),
    /// In a child of this kind.
    Child(&'static str),
    /// Where the definition begins.
    Start,
    /// Inside the declarators of C, where they declare a function or a type.
    Declarator,
    /// In the field `name` or `left`, where the value is a node of one of these kinds.
    Value(&'static [&'static str]),
}

/// A node that is a definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeRule {
    node: &'static str,
    pub(super) named: Named,
    /// Whether definitions in it are shown, too.
    pub(super) holds_others: bool,
    /// A field without which it is only mentioned.
    needs: Option<&'static str>,
}

/// A grammar and the nodes of it that are definitions.
pub(super) struct Grammar {
    pub(super) parser: LanguageFn,
    rules: &'static [NodeRule],
}

impl Grammar {
    /// Returns how a node is a definition.
    pub(super) fn rule(&self, node: Node<'_>) -> Option<NodeRule> {
        let kind = node.kind();
        let rule = self.rules.iter().find(|rule| rule.node == kind)?;
        let is_there = rule.needs.is_none_or(|field| node.child_by_field_name(field).is_some());
        is_there.then_some(*rule)
    }
}

const fn single(node: &'static str) -> NodeRule {
    NodeRule { node, named: Named::Field("name"), holds_others: false, needs: None }
}

const fn named(node: &'static str, named: Named) -> NodeRule {
    NodeRule { named, ..single(node) }
}

const fn holder(node: &'static str) -> NodeRule {
    NodeRule { holds_others: true, ..single(node) }
}

const fn with_body(rule: NodeRule) -> NodeRule {
    NodeRule { needs: Some("body"), ..rule }
}

const BASH: &[NodeRule] = &[single("function_definition")];

const C: &[NodeRule] = &[
    named("function_definition", Named::Declarator),
    named("declaration", Named::Declarator),
    named("type_definition", Named::Declarator),
    with_body(single("struct_specifier")),
    with_body(single("union_specifier")),
    with_body(single("enum_specifier")),
    single("preproc_function_def"),
];

/// JavaScript, TypeScript and both with JSX. The grammar with JSX reads all of it but type
/// assertions in angle brackets, after which a definition may be missing.
const ECMASCRIPT: &[NodeRule] = &[
    single("function_declaration"),
    single("generator_function_declaration"),
    single("function_signature"),
    holder("class_declaration"),
    holder("abstract_class_declaration"),
    single("method_definition"),
    single("abstract_method_signature"),
    single("interface_declaration"),
    single("type_alias_declaration"),
    single("enum_declaration"),
    with_body(holder("internal_module")),
    with_body(holder("module")),
    named("variable_declarator", FUNCTIONS),
    named("assignment_expression", FUNCTIONS),
    named("public_field_definition", FUNCTIONS),
];

/// Values that make a variable a function or a class.
const FUNCTIONS: Named =
    Named::Value(&["arrow_function", "function_expression", "generator_function", "class"]);

const GO: &[NodeRule] = &[
    single("function_declaration"),
    single("method_declaration"),
    single("type_spec"),
    single("type_alias"),
];

const HCL: &[NodeRule] = &[named("block", Named::Start)];

const JAVA: &[NodeRule] = &[
    holder("class_declaration"),
    holder("interface_declaration"),
    holder("annotation_type_declaration"),
    holder("enum_declaration"),
    holder("record_declaration"),
    single("method_declaration"),
    single("constructor_declaration"),
    single("compact_constructor_declaration"),
];

const LUA: &[NodeRule] = &[single("function_declaration")];

const PHP: &[NodeRule] = &[
    holder("namespace_definition"),
    holder("class_declaration"),
    holder("interface_declaration"),
    holder("trait_declaration"),
    holder("enum_declaration"),
    single("function_definition"),
    single("method_declaration"),
];

const PROTOBUF: &[NodeRule] = &[
    NodeRule { named: Named::Child("service_name"), ..holder("service") },
    NodeRule { named: Named::Child("message_name"), ..holder("message") },
    NodeRule { named: Named::Child("message_name"), ..holder("group") },
    named("extend", Named::Child("full_ident")),
    named("enum", Named::Child("enum_name")),
    named("rpc", Named::Child("rpc_name")),
];

const PYTHON: &[NodeRule] = &[holder("class_definition"), single("function_definition")];

const RUST: &[NodeRule] = &[
    single("function_item"),
    single("function_signature_item"),
    single("struct_item"),
    single("union_item"),
    single("enum_item"),
    holder("trait_item"),
    NodeRule { named: Named::Field("type"), ..holder("impl_item") },
    with_body(holder("mod_item")),
    single("type_item"),
    single("associated_type"),
    single("const_item"),
    single("static_item"),
    single("macro_definition"),
];

/// How the definitions of a language are found.
pub(super) enum DefinitionParser {
    /// By a grammar.
    Grammar(Grammar),
    /// By braces: the grammar would take several megabytes of the program.
    Braces(BraceDialect),
    /// By lines, as Ruby is.
    Ruby,
}

/// Returns how the definitions of a language are found.
pub(super) fn of(language: Language) -> DefinitionParser {
    let (parser, rules) = match language {
        Language::Bash => (tree_sitter_bash::LANGUAGE, BASH),
        Language::C => (tree_sitter_c::LANGUAGE, C),
        Language::Cpp => return DefinitionParser::Braces(BraceDialect::Cpp),
        Language::CSharp => return DefinitionParser::Braces(BraceDialect::CSharp),
        Language::Go => (tree_sitter_go::LANGUAGE, GO),
        Language::Hcl => (tree_sitter_hcl::LANGUAGE, HCL),
        Language::Java => (tree_sitter_java::LANGUAGE, JAVA),
        Language::JavaScript | Language::TypeScript => {
            (tree_sitter_typescript::LANGUAGE_TSX, ECMASCRIPT)
        }
        Language::Lua => (tree_sitter_lua::LANGUAGE, LUA),
        Language::Php => (tree_sitter_php::LANGUAGE_PHP, PHP),
        Language::Protobuf => (tree_sitter_proto::LANGUAGE, PROTOBUF),
        Language::Python => (tree_sitter_python::LANGUAGE, PYTHON),
        Language::Ruby => return DefinitionParser::Ruby,
        Language::Rust => (tree_sitter_rust::LANGUAGE, RUST),
    };
    DefinitionParser::Grammar(Grammar { parser, rules })
}
