//! Commands as parsed trees: what a script would run, read, write; and how to run it without a
//! second parse.
//!
//! In: a script as a model or a job wrote it, and the folder it runs in. Out: its simple commands
//! with what their options do, for the policy to judge. Also a [`ScriptExecution`] made from the
//! tree, never from the text.

mod activation;
mod awk;
pub(crate) mod behind;
mod built;
mod checks;
mod escapes;
pub mod examine;
mod folders;
pub(crate) mod home;
mod inert;
pub(crate) mod keywords;
pub mod left_out;
pub mod limits;
pub mod loose;
mod neutral;
pub mod parse;
pub(crate) mod refused_words;
mod sed;
pub mod steps;
pub mod tables;
pub mod tree;
mod used_paths;
mod variables;
pub mod word;

use std::sync::{Arc, OnceLock};

use crate::command::examine::{CommandEffects, fed};
use crate::command::folders::EnteredFolder;
use crate::command::loose::{LooseCommand, LooseScript, ScriptFeatures};
use crate::command::neutral::NeutralFolder;
use crate::command::tables::programs;
use crate::command::tree::{CommandList, Redirect, SimpleCommand};
use crate::glob::PathGlob;
use locum_base::path::RepoPath;

/// A script as the model wrote it together with its parsed tree.
#[derive(Clone, Debug)]
pub struct Script {
    text: String,
    folder: RepoPath,
    neutral: NeutralFolder,
    /// The change of folder that stood before it.
    entered: Option<EnteredFolder>,
    /// Whether a `cd` at its front leads elsewhere than its words say.
    is_led_elsewhere: bool,
    tree: Result<CommandList, String>,
    /// What the tree cannot hold, read when first needed: for policies that let a shell work words
    /// out.
    loose: OnceLock<Result<LooseScript, String>>,
}

/// Scripts are the same when they are written alike and run in the same place: the rest follows
/// from that.
impl PartialEq for Script {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.folder, &self.neutral, &self.entered, self.is_led_elsewhere)
            == (&other.text, &other.folder, &other.neutral, &other.entered, other.is_led_elsewhere)
    }
}

impl Eq for Script {}

/// How an allowed script is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptExecution {
    /// One simple command: these words, no shell.
    Words(Vec<String>),
    /// Pipes, lists or redirections of allowed commands: this text under `sh -c`.
    Shell(String),
}

impl Script {
    /// Parses a script that runs in the repository's root. Never fails: a script that cannot be
    /// understood is one that no rule allows.
    pub fn parse(text: &str) -> Self {
        Self::parse_in(text, &RepoPath::root())
    }

    /// Parses a script that runs in a folder of the repository; paths in it are relative to that
    /// folder.
    pub fn parse_in(text: &str, folder: &RepoPath) -> Self {
        let tree = parse::parse(text);
        Self {
            text: text.to_owned(),
            folder: folder.clone(),
            neutral: NeutralFolder::default(),
            entered: None,
            is_led_elsewhere: false,
            tree,
            loose: OnceLock::new(),
        }
    }

    /// Parses a script as a maintainer writes it in a question or an example. A change of folder at
    /// its front is where the rest runs, as it is when a model calls a command.
    pub fn asked(text: &str) -> Self {
        let inner = change_of_folder(text)
            .and_then(|(folder, rest)| Some((folder, RepoPath::parse(folder).ok()?, rest)));
        inner.map_or_else(
            || Self::parse(text),
            |(written, folder, rest)| Self::parse_in(rest, &folder).entered_by(written, text),
        )
    }

    /// Says which change of folder was taken off the front of a text, whose rest it is: a rule may
    /// refuse that.
    pub fn entered_by(mut self, folder: &str, text: &str) -> Self {
        self.entered = Some(EnteredFolder::of(folder, text));
        self
    }

    /// Says that a `cd` at its front follows a link, so that what stands behind it does not run
    /// where its words say.
    pub fn led_elsewhere(mut self) -> Self {
        self.is_led_elsewhere = true;
        self
    }

    /// Returns the folder of the change that was taken off its front, as written.
    pub(crate) fn entered(&self) -> Option<&str> {
        self.entered.as_ref().map(|entered| entered.folder.as_str())
    }

    /// Returns the commands of the change of folder that was taken off its front.
    pub(crate) fn entering(&self) -> Vec<Vec<String>> {
        self.entered.as_ref().map(EnteredFolder::commands).unwrap_or_default()
    }

    /// Says where the repository lies: a `cd` to where the script already is counts as nothing, and
    /// git looks nowhere else.
    pub fn below(mut self, root: &str) -> Self {
        root.trim_end_matches('/').clone_into(&mut self.neutral.root);
        self.loose = OnceLock::new();
        self
    }

    /// Says what may not be seen: programs that go through folders leave it out.
    pub fn leaving_out(mut self, unseen: Arc<[PathGlob]>) -> Self {
        self.neutral.unseen = unseen;
        self.loose = OnceLock::new();
        self
    }

    /// Returns another script that would run in the same place.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        let (tree, loose) = (parse::parse(text), OnceLock::new());
        let (folder, neutral) = (self.folder.clone(), self.neutral.clone());
        Self {
            text: text.to_owned(),
            folder,
            neutral,
            entered: None,
            is_led_elsewhere: self.is_led_elsewhere,
            tree,
            loose,
        }
    }

    /// Returns the script as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the script with the folder it runs in, as a maintainer would write it.
    pub fn with_folder(&self) -> String {
        let text = self.text.trim();
        if self.folder.is_root() {
            text.to_owned()
        } else {
            format!("cd {} && {text}", self.folder)
        }
    }

    /// Returns where the repository lies, without the leading `/`; `None` where that is not known.
    pub fn root(&self) -> Option<RepoPath> {
        RepoPath::parse(self.neutral.root.strip_prefix('/')?).ok()
    }

    /// Returns the folder it runs in.
    pub fn folder(&self) -> &RepoPath {
        &self.folder
    }

    /// Returns why it cannot be judged, or `None` when it was understood.
    pub fn problem(&self) -> Option<&str> {
        self.tree.as_ref().err().map(String::as_str)
    }

    /// Returns its simple commands in order; none when it was not understood.
    pub fn simple_commands(&self) -> Vec<&SimpleCommand> {
        self.tree.as_ref().map(CommandList::simple_commands).unwrap_or_default()
    }

    /// Returns its redirections in order; none when it was not understood.
    pub fn redirects(&self) -> Vec<&Redirect> {
        self.tree.as_ref().map(CommandList::redirects).unwrap_or_default()
    }

    /// Returns how hard it is to see through, 0 to 1: pipes 0.3, redirections 0.2, expansions 0.2,
    /// control flow 0.3, more than 100 bytes 0.1; 1 for what is not understood.
    pub fn complexity(&self) -> f64 {
        let shape = match (&self.tree, self.loose()) {
            (Ok(tree), _) => ScriptFeatures {
                pipes: tree.has_pipe(),
                redirects: !tree.redirects().is_empty(),
                flow: tree.has_control_flow(),
                expansions: false,
            },
            (Err(_), Ok(loose)) => loose.shape,
            (Err(_), Err(_)) => return 1.0,
        };
        let parts = [
            (shape.pipes, 0.3),
            (shape.redirects, 0.2),
            (shape.expansions, 0.2),
            (shape.flow, 0.3),
            (self.text.len() > 100, 0.1),
        ];
        parts.iter().filter(|(present, _)| *present).map(|(_, score)| score).sum::<f64>().min(1.0)
    }

    /// Returns how to run it; `None` when it was not understood.
    pub fn execution(&self) -> Option<ScriptExecution> {
        let Ok(tree) = &self.tree else {
            return self.loose().ok().map(|loose| ScriptExecution::Shell(loose.text.clone()));
        };
        Some(match tree.only_command() {
            Some(simple) if !is_built_in(simple) => {
                ScriptExecution::Words(self.neutral.words(&simple.words))
            }
            Some(_) | None => {
                let separated = self.separated(tree);
                let words = |simple: &SimpleCommand| {
                    activation::instead(tree, simple).unwrap_or_else(|| {
                        let found = separated.iter().find(|(one, _)| std::ptr::eq(*one, simple));
                        self.neutral.words(found.map_or(&simple.words, |(_, words)| words))
                    })
                };
                ScriptExecution::Shell(tree.render(&words))
            }
        })
    }

    /// Returns what a shell is given where the script is contained: it as it was written.
    pub fn contained_text(&self) -> String {
        loose::plain(&self.text)
    }

    /// Returns variables that are set while it runs: where it names git, those that keep git from
    /// starting other programs. `contained` is where what it starts could do no harm.
    pub fn environment(&self, contained: bool) -> Vec<(String, String)> {
        let strict = self.simple_commands().into_iter();
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| &command.simple);
        let unknown = self.tree.is_err()
            && self.loose().is_err()
            && neutral::names_git(std::slice::from_ref(&self.text));
        let names_git =
            unknown || strict.chain(loose).any(|simple| neutral::names_git(&simple.words));
        if names_git { self.neutral.environment(contained) } else { Vec::new() }
    }

    fn loose(&self) -> Result<&LooseScript, &str> {
        if self.tree.is_ok() {
            return Err("");
        }
        self.loose
            .get_or_init(|| LooseScript::parse(&loose::plain(&self.text), &self.neutral))
            .as_ref()
            .map_err(String::as_str)
    }

    /// Returns what each simple command would do, in order.
    pub fn examinations(&self) -> Vec<(&SimpleCommand, CommandEffects)> {
        let commands = self.simple_commands().into_iter();
        let commands = commands.filter(|simple| !self.is_without_effect(simple));
        let effects = |simple: &SimpleCommand| {
            let words = self.seen_from_folder(&simple.words);
            self.behind_a_pipe(simple, &words)
                .unwrap_or_else(|| CommandEffects::of(&words, &self.folder))
                .settled(&self.neutral.root)
        };
        let mut found: Vec<_> = commands.map(|simple| (simple, effects(simple))).collect();
        if let Ok(tree) = &self.tree {
            built::note(tree, &mut found);
        }
        found
    }

    /// Returns commands with words that differ from those written: where `xargs` changes the files
    /// whose names it is given, each name ends where no name can.
    fn separated<'t>(&self, tree: &'t CommandList) -> Vec<(&'t SimpleCommand, Vec<String>)> {
        let mut found = Vec::new();
        for simple in tree.simple_commands() {
            if simple.words.first().is_none_or(|program| program != "xargs") {
                continue;
            }
            let mut pipe = tree.before_in_pipe(simple);
            let words = self.seen_from_folder(&simple.words);
            if let Some(all) = fed::separated(&words, &pipe, &self.folder) {
                pipe.push(simple);
                found.extend(pipe.into_iter().zip(all));
            }
        }
        found
    }

    /// Returns what stands behind a change of folder at its front, as a script that runs there:
    /// where nothing of it runs if there is no such folder.
    pub fn behind_folder(&self) -> Option<Self> {
        let changed = match folders::made(&self.text) {
            Some(made) => Some((made.folder, made.rest)),
            None => folders::changed(&self.text),
        };
        let (written, rest) = changed.filter(|_| !self.is_led_elsewhere)?;
        // What stands in brackets may go on where there is no such folder.
        let is_chain = !self.text.trim_start().starts_with('(') && parse::is_chain(&self.text);
        is_chain.then_some(())?;
        let seen = self.seen_from_folder(&[written.to_owned()]);
        let folder = self.folder.join(seen.first()?).ok()?;
        let of_git = folder.parts().any(|part| part.eq_ignore_ascii_case(".git"));
        let inner = self.with_text(rest).entered_by(written, &self.text);
        (!of_git).then_some(Self { folder, ..inner })
    }

    /// Returns the command that makes the folder which the rest of the script runs in.
    pub(crate) fn folder_maker(&self) -> Option<Self> {
        folders::made(&self.text).map(|made| self.with_text(made.maker))
    }

    /// Returns true for a script that begins with `source .venv/bin/activate`, where its tools of
    /// Python run by their paths if it is judged by its words.
    pub(crate) fn enters_environment(&self) -> bool {
        self.tree.as_ref().is_ok_and(activation::is_entered)
    }

    /// Returns the simple commands that are not examined: those that change nothing.
    pub(crate) fn set_aside(&self) -> impl Iterator<Item = &SimpleCommand> {
        let loose = self.loose_commands().unwrap_or_default().iter().map(|command| &command.simple);
        let commands = self.simple_commands().into_iter().chain(loose);
        commands.filter(|simple| self.is_without_effect(simple))
    }

    /// Returns what `xargs` does with the names that it is given.
    fn behind_a_pipe(&self, simple: &SimpleCommand, words: &[String]) -> Option<CommandEffects> {
        let reads_input = simple
            .redirects
            .iter()
            .any(|redirect| matches!(redirect, Redirect::Input { .. } | Redirect::Text(_)));
        words.first().filter(|program| *program == "xargs" && !reads_input)?;
        let before = self.tree.as_ref().ok()?.before_in_pipe(simple);
        fed::xargs(words, &before, &self.folder)
    }

    /// Returns what each simple command of a script with expansions would do, at any depth.
    ///
    /// # Errors
    /// Why such a script cannot be judged even so.
    pub fn loose_examinations(&self) -> Result<Vec<(&SimpleCommand, CommandEffects)>, &str> {
        let commands = self.loose_commands()?.iter();
        let commands = commands.filter(|LooseCommand { simple, only_sets, .. }| {
            !simple.words.is_empty() && !only_sets && !self.is_without_effect(simple)
        });
        Ok(commands
            .map(|command| {
                (&command.simple, command.examine(&self.folder).settled(&self.neutral.root))
            })
            .collect())
    }

    /// Returns the simple commands of a script with expansions, at any depth.
    ///
    /// # Errors
    /// Why such a script cannot be judged even so.
    pub fn loose_commands(&self) -> Result<&[LooseCommand], &str> {
        self.loose().map(|loose| loose.commands.as_slice())
    }

    /// Returns words with absolute paths of the repository as they are from the folder.
    fn seen_from_folder(&self, words: &[String]) -> Vec<String> {
        let root = &self.neutral.root;
        let up = "../".repeat(self.folder.parts().count());
        let from_root = |word: &String| match word.strip_prefix(root.as_str()) {
            Some(_) if root.is_empty() => word.clone(),
            Some("") | Some("/") => format!("{up}."),
            Some(rest) if rest.starts_with('/') => format!("{up}{}", rest.trim_start_matches('/')),
            Some(_) | None => word.clone(),
        };
        words.iter().map(from_root).collect()
    }

    /// Returns true for a command that only stays in a folder, ends something, or changes the
    /// folder when nothing follows.
    fn is_without_effect(&self, simple: &SimpleCommand) -> bool {
        self.stays(simple)
            || only_ends(simple)
            || self.returns(simple)
            || inert::is_inert(simple, &self.neutral.root)
            || self.tree.as_ref().is_ok_and(|tree| activation::enters(tree, simple))
    }

    /// Returns true for a `cd` behind all other commands.
    fn returns(&self, simple: &SimpleCommand) -> bool {
        let Ok(tree) = &self.tree else { return false };
        simple.words.first().is_some_and(|word| word == "cd")
            && simple.redirects.iter().all(inert::is_silent)
            && simple.variables.is_empty()
            && tree.last_command().is_some_and(|last| std::ptr::eq(last, simple))
            && tree.simple_commands().len() > 1
    }

    /// Returns true for a `cd` to the folder the script runs in.
    fn stays(&self, simple: &SimpleCommand) -> bool {
        let root = &self.neutral.root;
        let here =
            if self.folder.is_root() { root.clone() } else { format!("{root}/{}", self.folder) };
        match simple.words.as_slice() {
            [cd, target] if cd == "cd" => {
                target == "." || (!root.is_empty() && target.trim_end_matches('/') == here)
            }
            _ => false,
        }
    }

    /// Returns true when every command in it is known to only read, so that the checkout need not
    /// be compared afterwards.
    pub fn only_reads(&self) -> bool {
        let examined = self.examinations();
        let harmless = |examined: &CommandEffects| {
            examined.only_reads && examined.findings.is_empty() && examined.edits.is_empty()
        };
        !examined.is_empty()
            && self.redirected().1.is_empty()
            && examined.iter().all(|(_, examined)| harmless(examined))
    }
}

/// Takes a change of folder off the front of a command, as models write it: `cd FOLDER && ...` is
/// the rest, run there, and so are `(cd FOLDER; ...)` alone and `pushd FOLDER && ... && popd`. Only
/// where the folder is one plain word; any other `cd` is for the policy to refuse.
pub fn change_of_folder(command: &str) -> Option<(&str, &str)> {
    folders::changed(command)
}

/// Returns true for a command that ends a loop or the script, and does nothing else.
fn only_ends(simple: &SimpleCommand) -> bool {
    let ends = |word: &String| matches!(word.as_str(), "break" | "continue" | "exit");
    simple.words.first().is_some_and(ends)
        && simple.words.len() <= 2
        && simple.redirects.is_empty()
        && simple.variables.is_empty()
}

/// Returns true for a command that no program file may be there for.
fn is_built_in(simple: &SimpleCommand) -> bool {
    let program = simple.words.first().map_or("", String::as_str);
    programs::is_built_in(program)
        || matches!(program, "." | "export" | "source" | "unset" | "wait")
}

#[cfg(test)]
mod tests;

/// Replaces a word that is not known; no pattern can hold it.
pub const UNKNOWN: &str = "\0";
