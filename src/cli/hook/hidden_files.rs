//! Files that another agent's call would show and the policy would not, where only what our own
//! runs do keeps them hidden: searches, and commands of which a run leaves files out.
//!
//! In: a question about a call, and the scripts that it would run. Out: why a person has to decide:
//! a file that may not be read, or something that cannot be looked at. Only names, ignore files and
//! git's trees are read.

use std::cell::Cell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use serde_json::Value;

use crate::cli::CommandContext;
use crate::cli::hook::inside;
use crate::config::environment::Environment;
use crate::run::explain::Explainer;
use locum_agent::tools::dispatch;
use locum_agent::tools::search::pattern::FilePattern;
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::command::Script;
use locum_policy::command::left_out::PassingSearch;
use locum_policy::glob::LetterCase;
use locum_policy::ignore::IGNORE_FILES;
use locum_policy::intent::Intent;
use locum_policy::query::{PolicyQuery, QueriedAct};
use locum_policy::verdict::Decision;
use locum_workspace::repo::{Repo, RepoError};

/// Most files that are looked at for one call.
const FILES_LIMIT: usize = 100_000;

/// Arguments of a search that name files by a pattern.
const PATTERNS: [&str; 4] = ["glob", "include", "include_pattern", "file_pattern"];

/// What is said of a search whose pattern cannot be read.
const UNKNOWN_PATTERN: &str = "the search names files by a pattern that is not known";

/// Returns why a person has to decide on a call that the policy allows; `None` where it shows no
/// file that may not be read.
pub(super) fn objection(
    question: &PolicyQuery,
    scripts: &[Script],
    explainer: &Explainer,
    root: &Path,
    context: &CommandContext,
) -> Option<String> {
    let (folder, environment) = (context.folder.as_path(), &context.environment);
    let files = FileWalk { root, explainer, environment, looked_at: Cell::new(0) };
    let checked = match &question.act {
        QueriedAct::Intent(_) => Ok(()),
        QueriedAct::Call(call) if dispatch::meant(call) == Some(ToolName::SearchFiles) => {
            check_search(call, folder, &files)
        }
        QueriedAct::Call(_) => scripts.iter().try_for_each(|script| check_script(script, &files)),
    };
    checked.err()
}

/// Checks that a search shows no file that may not be read. Such searches pass over what git
/// ignores, unless they name it.
///
/// # Errors
/// The first file that may not be read, or what cannot be looked at.
fn check_search(call: &ToolCall, folder: &Path, files: &FileWalk<'_>) -> Result<(), String> {
    let arguments: Value = serde_json::from_str(&call.arguments)
        .map_err(|error| format!("the search cannot be read: {error}"))?;
    let below = searched_folder(&arguments, (files.root, folder))?;
    let mut patterns: Vec<FilePattern> = Vec::new();
    for value in PATTERNS.iter().filter_map(|name| arguments.get(*name)) {
        match value {
            Value::Null => {}
            Value::String(text) => patterns.extend(file_patterns(text)?),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                return Err(UNKNOWN_PATTERN.to_owned());
            }
        }
    }
    let mut walk = WalkBuilder::new(files.root.join(below.as_str()));
    // What a pattern names is searched whatever git ignores.
    walk.standard_filters(patterns.is_empty()).hidden(false).git_global(false).follow_links(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let is_searched = |path: &RepoPath| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(path, &below))
    };
    match files.first_hidden(&walk, is_searched)? {
        Some(HiddenFile { path, why }) => {
            Err(format!("the search would show `{path}`, which may not be read: {why}"))
        }
        None => Ok(()),
    }
}

/// Returns where a search looks.
///
/// # Errors
/// When that is not known.
fn searched_folder(arguments: &Value, (root, folder): (&Path, &Path)) -> Result<RepoPath, String> {
    let unknown = || "where the search looks is not known".to_owned();
    let path = match arguments.get("path") {
        Some(Value::String(path)) if !path.is_empty() => path.clone(),
        None | Some(Value::Null | Value::String(_)) => {
            inside(".", root, folder).ok_or_else(unknown)?
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(unknown());
        }
    };
    RepoPath::parse(&path).map_err(|error| format!("{}: {error}", unknown()))
}

/// Checks that a command shows no file that a run would leave out of what it shows.
///
/// # Errors
/// The first such file, or what cannot be looked at.
fn check_script(script: &Script, files: &FileWalk<'_>) -> Result<(), String> {
    let left_out = script.left_out();
    if left_out.elsewhere {
        return Err("variables or options may lead git to another repository or to settings that \
                    nothing here overrules"
            .to_owned());
    }
    if !left_out.committed.is_empty() {
        files.check_committed(&left_out.committed)?;
    }
    if left_out.added {
        let mut walk = WalkBuilder::new(files.root);
        walk.ignore(false).hidden(false).git_global(false).follow_links(false);
        walk.filter_entry(|entry| entry.file_name() != ".git");
        files.check_walk(&walk)?;
    }
    for path in &left_out.named {
        files.check_named(path)?;
    }
    for below in &left_out.below {
        let Some(place) = files.place(below)? else { continue };
        let mut walk = WalkBuilder::new(place);
        walk.standard_filters(false).follow_links(false);
        // What goes through all of the checkout and into `.git` needs the sandbox.
        let is_root = below.is_root();
        walk.filter_entry(move |entry| !is_root || entry.file_name() != ".git");
        files.check_walk(&walk)?;
    }
    left_out.searches.iter().try_for_each(|search| files.check_passing(search))
}

fn left_in(path: &RepoPath, why: &str) -> String {
    format!(
        "a run would leave `{path}` out of what the command shows, and nothing does so here: {why}"
    )
}

/// The files of a checkout, as far as they are looked at for one call.
struct FileWalk<'w> {
    root: &'w Path,
    explainer: &'w Explainer,
    environment: &'w Environment,
    looked_at: Cell<usize>,
}

/// A file that may not be read.
struct HiddenFile {
    path: RepoPath,
    why: String,
}

impl FileWalk<'_> {
    /// Returns the first file of a walk that is shown and may not be read.
    ///
    /// # Errors
    /// What cannot be looked at: a folder that cannot be opened, a name that is not a [`RepoPath`],
    /// too many files.
    fn first_hidden(
        &self,
        walk: &WalkBuilder,
        is_shown: impl Fn(&RepoPath) -> bool,
    ) -> Result<Option<HiddenFile>, String> {
        for entry in walk.build() {
            let entry =
                entry.map_err(|error| format!("not every file can be looked at: {error}"))?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            self.looked_at.set(self.looked_at.get() + 1);
            if self.looked_at.get() > FILES_LIMIT {
                return Err(format!(
                    "it reads more than {FILES_LIMIT} files, and which of them may be read was \
                     not looked at"
                ));
            }
            let path = entry.path().strip_prefix(self.root).ok().and_then(Path::to_str);
            let Some(path) = path.and_then(|path| RepoPath::parse(path).ok()) else {
                let shown = entry.path().display();
                return Err(format!("`{shown}` has a name that the policy cannot judge"));
            };
            if !is_shown(&path) {
                continue;
            }
            if let Some(why) = self.refusal(&path) {
                return Ok(Some(HiddenFile { path, why }));
            }
        }
        Ok(None)
    }

    /// Checks that a walk meets no file that a run leaves out.
    ///
    /// # Errors
    /// The first such file, or what cannot be looked at.
    fn check_walk(&self, walk: &WalkBuilder) -> Result<(), String> {
        match self.first_hidden(walk, |path| self.is_left_out(path))? {
            Some(HiddenFile { path, why }) => Err(left_in(&path, &why)),
            None => Ok(()),
        }
    }

    /// Checks a search that passes over hidden names and over what git ignores.
    ///
    /// # Errors
    /// As [`FileWalk::check_walk`].
    fn check_passing(&self, search: &PassingSearch) -> Result<(), String> {
        let Some(place) = self.place(&search.below)? else { return Ok(()) };
        let mut walk = WalkBuilder::new(place);
        // A file of the person's may say that their searches pass over nothing.
        let is_configured = self.environment.get("RIPGREP_CONFIG_PATH").is_some();
        if is_configured {
            walk.standard_filters(false);
        } else {
            walk.hidden(!search.hidden_names).add_custom_ignore_filename(".rgignore");
        }
        walk.git_global(false).follow_links(false);
        // A pattern may name `.git`, or what has any name.
        let names_files = !search.globs.is_empty() && !is_configured;
        walk.filter_entry(move |entry| names_files || entry.file_name() != ".git");
        if names_files {
            let mut patterns = OverrideBuilder::new(self.at(search.folder.as_str()));
            for glob in &search.globs {
                patterns.add(glob).map_err(|_| UNKNOWN_PATTERN.to_owned())?;
            }
            let patterns = patterns.build().map_err(|_| UNKNOWN_PATTERN.to_owned())?;
            walk.overrides(patterns);
        }
        self.check_walk(&walk)
    }

    /// Checks a word that a program may take for the name of a file.
    ///
    /// # Errors
    /// When such a file may not be read.
    fn check_named(&self, named: &RepoPath) -> Result<(), String> {
        let path = inside(named.as_str(), self.root, self.root)
            .and_then(|real| RepoPath::parse(&real).ok())
            .ok_or_else(|| format!("where `{named}` leads is not known"))?;
        let is_hidden = self.root.join(path.as_str()).is_file() && self.is_left_out(&path);
        match self.refusal(&path).filter(|_| is_hidden) {
            Some(why) => Err(format!(
                "the command may read `{path}`, from which only a sandbox keeps it: {why}"
            )),
            None => Ok(()),
        }
    }

    /// Returns where a path of the checkout lies: the root without a dot, as patterns need it.
    fn at(&self, path: &str) -> PathBuf {
        if path == "." { self.root.to_owned() } else { self.root.join(path) }
    }

    /// Returns where a path leads; `None` where nothing is, of which nothing is shown.
    ///
    /// # Errors
    /// When that is not in the checkout.
    fn place(&self, path: &RepoPath) -> Result<Option<PathBuf>, String> {
        let real = inside(path.as_str(), self.root, self.root)
            .ok_or_else(|| format!("where `{path}` leads is not known"))?;
        let place = self.at(&real);
        let is_gone =
            place.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        Ok((!is_gone).then_some(place))
    }

    /// Returns why a file may not be read.
    fn refusal(&self, path: &RepoPath) -> Option<String> {
        let read = Intent::Read(path.clone());
        let verdict = self.explainer.policy().decide(&read, self.explainer.facts());
        (verdict.decision != Decision::Allow).then(|| verdict.reason())
    }

    /// Returns true for a file that a run leaves out of what commands show, but for those that only
    /// name hidden files: they belong into every commit.
    fn is_left_out(&self, path: &RepoPath) -> bool {
        if path.name().is_some_and(|name| IGNORE_FILES.contains(&name)) {
            return false;
        }
        let unseen = &self.explainer.policy().settings().commands.unseen;
        unseen.iter().any(|glob| glob.matches(path, LetterCase::Ignored))
    }

    /// Checks that neither git's index nor a commit holds a file that a run leaves out, and that
    /// these folders are of no other repository.
    ///
    /// # Errors
    /// The first such file, or that there may be one.
    fn check_committed(&self, folders: &[RepoPath]) -> Result<(), String> {
        for folder in folders {
            let real = inside(folder.as_str(), self.root, self.root)
                .and_then(|real| RepoPath::parse(&real).ok())
                .ok_or_else(|| format!("where `{folder}` leads is not known"))?;
            if let Some(other) = self.other_repository(real) {
                return Err(format!(
                    "git would show another repository, `{other}`, in which hidden files were not \
                     looked for"
                ));
            }
        }
        let is_hidden = |path: &RepoPath| self.is_left_out(path) && self.refusal(path).is_some();
        let unknown = |error: RepoError| format!("git's files cannot be looked at: {error}");
        let repo = Repo::open(self.root).map_err(unknown)?;
        if let Some(path) = repo.tracked(is_hidden, 1).map_err(unknown)?.first() {
            return Err(left_in(path, &self.refusal(path).unwrap_or_default()));
        }
        if repo.history_holds(is_hidden).map_err(unknown)? {
            let holds = "git's history holds, or may hold, a file that may not be read";
            return Err(format!(
                "{holds}: a run would leave it out of what the command shows, and nothing does so \
                 here"
            ));
        }
        Ok(())
    }

    /// Returns the repository that git finds from a folder, if it is not that of the checkout.
    fn other_repository(&self, mut folder: RepoPath) -> Option<RepoPath> {
        while !folder.is_root() {
            let place = self.root.join(folder.as_str());
            let has = |name: &str| place.join(name).symlink_metadata().is_ok();
            // A bare one needs no `.git`.
            if has(".git") || (has("HEAD") && has("objects")) {
                return Some(folder);
            }
            folder = folder.parent();
        }
        None
    }
}

/// Reads the patterns that a text names.
///
/// # Errors
/// When they may mean something else to the agent.
fn file_patterns(text: &str) -> Result<Vec<FilePattern>, String> {
    if text.split_whitespace().any(has_odd_braces) {
        return Err(UNKNOWN_PATTERN.to_owned());
    }
    let read = |glob: &String| FilePattern::parse(glob).map_err(|_| UNKNOWN_PATTERN.to_owned());
    patterns(text).iter().map(read).collect()
}

/// Returns true where braces are nested or have no counterpart, and where one may be a letter.
fn has_odd_braces(pattern: &str) -> bool {
    let mut is_open = false;
    for letter in pattern.chars() {
        match letter {
            '{' | '}' if is_open == (letter == '{') => return true,
            '{' | '}' => is_open = !is_open,
            _ => {}
        }
    }
    is_open || (pattern.contains('{') && pattern.contains(['\\', '[']))
}

/// Returns the patterns that a text names, cut at blanks, and each also cut at commas outside of
/// braces. `/a` is `a` from where the search begins. What is left out (`!a`) makes the search no
/// larger.
fn patterns(text: &str) -> Vec<String> {
    let parts =
        text.split_whitespace().flat_map(|part| std::iter::once(part).chain(cut_at_commas(part)));
    let plain = parts.map(|one| one.trim_start_matches('/')).filter(|one| !one.is_empty());
    let named: Vec<String> = plain.filter(|one| !one.starts_with('!')).map(str::to_owned).collect();
    // With nothing but what is left out, everything else is searched, whatever git ignores.
    if named.is_empty() && !text.trim().is_empty() { vec!["**".to_owned()] } else { named }
}

fn cut_at_commas(pattern: &str) -> Vec<&str> {
    let mut is_open = false;
    let cut = pattern.split(|letter: char| {
        match letter {
            '{' => is_open = true,
            '}' => is_open = false,
            _ => {}
        }
        letter == ',' && !is_open
    });
    cut.collect()
}
