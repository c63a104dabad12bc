//! Folders that a command removes or moves as a whole, where nothing keeps what is in them: what
//! git ignores is in no commit, so what may not be read or changed would be lost for good.
//!
//! In: a script that is about to write to the checkout itself. Out: the first folder that it may
//! not remove, as a refusal. Files that it names are judged by their names.

use crate::tools::{CallError, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::command::Script;
use locum_policy::command::examine::{PathUse, path_use};
use locum_policy::command::tree::SimpleCommand;
use locum_policy::glob::name_matches;
use locum_policy::intent::Intent;
use locum_policy::paths::Protection;
use locum_policy::verdict::Decision;
use locum_workspace::below::EntryBelow;
use locum_workspace::checkout::EntryKind;

/// Programs that remove or move whole folders.
const REMOVERS: &[&str] = &["rm", "mv", "find", "rmdir"];

/// Refuses a script that removes or moves a folder in which something is hidden, a credential or
/// protected.
///
/// # Errors
/// Says which folder, or that the script starts more commands than are looked at.
pub(crate) fn check(script: &Script, context: ToolContext<'_>) -> Result<(), CallError> {
    let loose = script.loose_examinations().unwrap_or_default();
    for (simple, examined) in script.examinations().into_iter().chain(loose) {
        let Some(removals) = Removal::all(script, simple) else {
            return Err(CallError(
                "The command was not run: it may start more commands than are looked at, so which \
                 folders it removes or moves is not known. Run it in several parts."
                    .to_owned(),
            ));
        };
        for path in removed(&removals, &examined.edits) {
            for folder in matching(&path, context) {
                if context.repo.holds_below(&folder, |entry| is_kept(entry, context)) {
                    return Err(CallError(format!(
                        "The command was not run: it removes or moves `{folder}`, and something \
                         in it may not be read or changed, or cannot be looked at. Name files or \
                         other folders instead."
                    )));
                }
            }
        }
    }
    Ok(())
}

/// A command that removes or moves what it names.
struct Removal {
    operands: Vec<PathUse>,
    /// Whether the last path is where the others go.
    last_stays: bool,
}

impl Removal {
    /// Reads a command of a script and all that it starts; `None` where that is more than is looked
    /// at.
    fn all(script: &Script, simple: &SimpleCommand) -> Option<Vec<Self>> {
        let folder = script.folder();
        let behind = script.commands_behind(simple)?;
        let started = behind.iter().filter_map(|words| Self::started(words, folder));
        Some(Self::read(&simple.words, folder).into_iter().chain(started).collect())
    }

    /// Reads a command that another one starts. What stands for names is judged where these are.
    fn started(words: &[String], folder: &RepoPath) -> Option<Self> {
        let words: Vec<String> =
            words.iter().filter(|word| !word.contains("{}")).cloned().collect();
        Self::read(&words, folder)
    }

    fn read(words: &[String], folder: &RepoPath) -> Option<Self> {
        // Git removes and moves by verbs of the same names.
        let is_git = words.first().is_some_and(|program| is_in(&["git"], program));
        let verb = words.iter().position(|word| is_git && is_in(REMOVERS, word));
        let (program, words) = words.get(verb.unwrap_or(0)..)?.split_first()?;
        let finds = program.ends_with("find");
        let removes = !finds || words.iter().any(|word| word == "-delete" || is_in(REMOVERS, word));
        if !is_in(REMOVERS, program) || !removes {
            return None;
        }
        // `find` names folders first; what follows are conditions and commands.
        let operands = words.iter().take_while(|word| !finds || !word.starts_with(['-', '(', '!']));
        let operands = operands.filter(|word| !word.starts_with('-'));
        let operands = operands.filter_map(|word| path_use(word, folder)).collect();
        let names_target =
            words.iter().any(|word| word.starts_with("-t") || word.starts_with("--t"));
        Some(Self { operands, last_stays: program.ends_with("mv") && !names_target })
    }

    /// Returns those of some paths that do not stay.
    fn moved<'u>(&self, uses: &'u [PathUse]) -> &'u [PathUse] {
        match uses.split_last() {
            Some((_, moved)) if self.last_stays => moved,
            Some(_) | None => uses,
        }
    }
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.contains(&word.rsplit('/').next().unwrap_or_default())
}

/// Returns the paths that a command may remove or move, as they are written: the operands of what
/// it starts, and what it is known to write.
fn removed(removals: &[Removal], edits: &[PathUse]) -> Vec<RepoPath> {
    let mut found: Vec<RepoPath> = Vec::new();
    for removal in removals {
        let uses = removal.moved(&removal.operands).iter().chain(removal.moved(edits));
        for path in uses.filter_map(PathUse::inside) {
            if !path.is_root() && !found.contains(path) {
                found.push(path.clone());
            }
        }
    }
    found
}

/// Returns the folders of the checkout that a shell finds by a path with wildcards. Where it may
/// find others that are not listed, the folder around them.
fn matching(path: &RepoPath, context: ToolContext<'_>) -> Vec<RepoPath> {
    let (mut found, mut unlisted) = (vec![RepoPath::root()], Vec::new());
    for part in path.parts() {
        let has_wildcard = part.contains(['*', '?', '[', '{']);
        // What a set of letters or words stands for is not looked up: it may be any name.
        let pattern = if part.contains(['[', '{']) { "*" } else { part };
        let is_named =
            |path: &RepoPath| path.name().is_some_and(|name| name_matches(pattern, name));
        let mut next = Vec::new();
        for folder in found {
            if !has_wildcard {
                next.extend(folder.child(part));
                continue;
            }
            match context.repo.folders_in(&folder) {
                Some(folders) => next.extend(folders.into_iter().filter(is_named)),
                None => unlisted.push(folder),
            }
        }
        found = next;
    }
    // Behind a link lies another folder; the link itself is removed alone.
    let is_folder = |path: &RepoPath| {
        let entry = context.checkout.entry(path).ok().flatten();
        entry.is_some_and(|entry| entry.kind == EntryKind::Folder)
    };
    found.into_iter().chain(unlisted).filter(is_folder).collect()
}

/// Whether what lies in a folder may not be removed with it: it cannot be read, or is protected and
/// no build output.
fn is_kept(entry: &EntryBelow, context: ToolContext<'_>) -> bool {
    let (path, protection) = (&entry.path, Protection::default());
    let policy = context.run.policy;
    let is_sensitive =
        protection.of_read(path).is_some() || policy.hides(path) || policy.may_deny_reading(path);
    if is_sensitive && !(context.visible)(path) {
        return true;
    }
    let inside = path.join("x").ok();
    let is_protected = protection.of_edit(path).is_some()
        || (entry.kind == EntryKind::Folder
            && inside.is_none_or(|inside| protection.of_edit(&inside).is_some()));
    let is_allowed = || {
        let verdict = policy.decide(&Intent::Edit(path.clone()), context.facts);
        verdict.decision == Decision::Allow
    };
    !entry.is_output && is_protected && !is_allowed()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Removal, removed};
    use locum_policy::command::Script;

    #[test]
    fn folders_that_a_command_may_remove_are_its_operands() {
        let found = |text: &str| {
            let script = Script::parse(text);
            let simple = script.simple_commands()[0];
            let paths = removed(&Removal::all(&script, simple)?, &[]);
            Some(paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        for (text, expected) in [
            ("rm -rf a b/c", "a b/c"),
            ("/bin/rm -r a", "a"),
            ("timeout 5 rm -r a", "a"),
            ("git rm -r a", "a"),
            ("sudo -n git mv a b", "a"),
            ("git log rm", ""),
            ("CI=1 rm -r a", "a"),
            ("xargs -0 rm -r a", "a"),
            ("busybox rm -r a", "a"),
            ("stdbuf -oL rm -rf a", "a"),
            ("ionice -c 2 setsid rm -r a", "a"),
            ("doas -u x mv a b", "a"),
            ("sh -c 'cd x; rm -rf a'", "a"),
            ("sudo -nu root find a -delete", "a"),
            ("stdbuf -oL grep -r rm a", ""),
            ("mv a b", "a"),
            ("mv -t b a", "b a"),
            ("find a b -name x -delete", "a b"),
            ("find a -exec rm {} +", "a"),
            ("find a -exec cat {} +", ""),
            ("grep -r rm a", ""),
            ("cp -r a b", ""),
            ("rm -r .", ""),
        ] {
            assert_eq!(found(text).as_deref(), Some(expected), "{text}");
        }
        // More than is looked at.
        assert_eq!(found(&format!("sudo{} rm -r a", " --a env".repeat(900))), None);
    }
}
