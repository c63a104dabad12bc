//! Commands as parsed trees: what a script would run, read, write; and how to run it without a second parse.

/// A script as the model wrote it together with its parsed tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    text: String,
}

/// How an allowed script is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// One simple command: these words, no shell.
    Words(Vec<String>),
    /// Pipes, lists or redirections of allowed commands: this text under `sh -c`.
    Shell(String),
}

impl Script {
    /// Parses a script. Never fails: a script that cannot be understood is one that no rule allows.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// Returns the script as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns how to run it; `None` when it was not understood.
    #[must_use]
    pub fn execution(&self) -> Option<Execution> {
        todo!()
    }

    /// Returns true when every command in it is known to only read, so that the checkout need not be compared afterwards.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        todo!()
    }
}
