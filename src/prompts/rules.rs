//! Rules files: which ones count for a mode, and in which order.

/// A file of standing instructions, read from the trusted ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Its path, as shown to the model.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Returns true when a file of the trusted ref is a rules file for a mode (`.locum/rules/x.md`, `.roo/rules-code/y.md`, `AGENTS.md`).
#[must_use]
pub fn is_rules_file(_path: &str, _mode: &str) -> bool {
    todo!()
}

/// Brings the rules files of a mode into their order and drops those that others replace.
#[must_use]
pub fn order(_files: Vec<RuleFile>, _mode: &str) -> Vec<RuleFile> {
    todo!()
}
