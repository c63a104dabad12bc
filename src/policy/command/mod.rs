//! Commands as parsed trees: what a script would run, read, write; and how to run it without a second parse.
//!
//! In: a script as a model or a job wrote it, and the folder it runs in. Out: its simple commands with what their options do
//! (for the policy to judge), and an [`Execution`] made from the tree, never from the text. It decides nothing.

pub mod examine;
pub mod limits;
pub mod parse;
mod sed;
mod tables;
pub mod tree;
pub mod word;

use crate::base::path::RepoPath;
use crate::policy::command::examine::{Examination, PathUse, examine, path_use};
use crate::policy::command::tree::{List, Redirect, Simple};

/// A script as the model wrote it together with its parsed tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    text: String,
    folder: RepoPath,
    tree: Result<List, String>,
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
    /// Parses a script that runs in the repository's root. Never fails: a script that cannot be understood is one that no
    /// rule allows.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_in(text, &RepoPath::root())
    }

    /// Parses a script that runs in a folder of the repository; paths in it are relative to that folder.
    #[must_use]
    pub fn parse_in(text: &str, folder: &RepoPath) -> Self {
        Self { text: text.to_owned(), folder: folder.clone(), tree: parse::parse(text) }
    }

    /// Returns the script as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the folder it runs in.
    #[must_use]
    pub fn folder(&self) -> &RepoPath {
        &self.folder
    }

    /// Returns why it cannot be judged, or `None` when it was understood.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.tree.as_ref().err().map(String::as_str)
    }

    /// Returns its simple commands in order; none when it was not understood.
    #[must_use]
    pub fn simple_commands(&self) -> Vec<&Simple> {
        self.tree.as_ref().map(List::simple_commands).unwrap_or_default()
    }

    /// Returns its redirections in order; none when it was not understood.
    #[must_use]
    pub fn redirects(&self) -> Vec<&Redirect> {
        self.tree.as_ref().map(List::redirects).unwrap_or_default()
    }

    /// Returns how hard it is to see through, 0 to 1: pipes 0.3, redirections 0.2, control flow 0.3, more than 100 bytes 0.1.
    #[must_use]
    pub fn complexity(&self) -> f64 {
        let Ok(tree) = &self.tree else { return 1.0 };
        let parts =
            [(tree.has_pipe(), 0.3), (!tree.redirects().is_empty(), 0.2), (tree.has_control_flow(), 0.3), (self.text.len() > 100, 0.1)];
        parts.iter().filter(|(present, _)| *present).map(|(_, score)| score).sum::<f64>().min(1.0)
    }

    /// Returns how to run it; `None` when it was not understood.
    #[must_use]
    pub fn execution(&self) -> Option<Execution> {
        let tree = self.tree.as_ref().ok()?;
        Some(match tree.only_command() {
            Some(simple) => Execution::Words(neutral(simple)),
            None => Execution::Shell(tree.render(&neutral)),
        })
    }

    /// Returns what each simple command would do, in order.
    #[must_use]
    pub fn examinations(&self) -> Vec<(&Simple, Examination)> {
        self.simple_commands().into_iter().map(|simple| (simple, examine(&simple.words, &self.folder))).collect()
    }

    /// Returns the files that redirections read and those they write.
    #[must_use]
    pub fn redirected(&self) -> (Vec<PathUse>, Vec<PathUse>) {
        let (mut reads, mut edits) = (Vec::new(), Vec::new());
        for redirect in self.redirects() {
            match redirect {
                Redirect::Input { path, .. } => reads.extend(path_use(path, &self.folder)),
                Redirect::Output { path, .. } => edits.extend(path_use(path, &self.folder)),
                Redirect::Duplicate { .. } | Redirect::Text(_) => {}
            }
        }
        (reads, edits)
    }

    /// Returns every path of the repository that it names as read or written: the floor that runs it resolves their links.
    #[must_use]
    pub fn paths(&self) -> Vec<RepoPath> {
        let (mut used, edits) = self.redirected();
        used.extend(edits);
        for (_, examined) in self.examinations() {
            used.extend(examined.reads.into_iter().chain(examined.edits));
        }
        let mut paths: Vec<RepoPath> = used
            .into_iter()
            .filter_map(|used| match used {
                PathUse::Inside(path) | PathUse::Perhaps(path) => Some(path),
                PathUse::Outside(_) => None,
            })
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Returns true when every command in it is known to only read, so that the checkout need not be compared afterwards.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        let examined = self.examinations();
        let harmless = |examined: &Examination| examined.only_reads && examined.findings.is_empty() && examined.edits.is_empty();
        !examined.is_empty() && self.redirected().1.is_empty() && examined.iter().all(|(_, examined)| harmless(examined))
    }
}

/// Verbs of git that show differences, which attributes could hand to other programs.
const GIT_SHOWS: &[&str] = &["diff", "log", "show", "diff-tree"];

/// Returns the words as they are run: git gets options that keep a repository's configuration from starting programs.
fn neutral(simple: &Simple) -> Vec<String> {
    let Some((program, rest)) = simple.words.split_first().filter(|(program, _)| *program == "git") else { return simple.words.clone() };
    let quiet = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "diff.external=", "protocol.ext.allow=never"];
    let mut words = vec![program.clone(), "--no-pager".to_owned(), "--no-optional-locks".to_owned()];
    words.extend(quiet.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]));
    let verb = rest.iter().position(|word| !word.starts_with('-'));
    for (index, word) in rest.iter().enumerate() {
        words.push(word.clone());
        if Some(index) == verb && GIT_SHOWS.contains(&word.as_str()) {
            words.extend(["--no-ext-diff".to_owned(), "--no-textconv".to_owned()]);
        }
    }
    words
}

#[cfg(test)]
mod tests;
