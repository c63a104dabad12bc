//! How far a command reaches in the checkout: no further than what is known of it asks for.
//!
//! In: a script and the checkout. Out: what the sandbox leaves open for it. What is hidden stays
//! hidden from every script, whatever it looks like. Where nothing can be masked, code of the
//! repository never gets the root itself, since `.git` lies there; programs that only handle the
//! files they name get it where they name an entry of it.

use std::path::PathBuf;

use crate::tools::ToolContext;
use locum_base::path::RepoPath;
use locum_policy::command::Script;
use locum_policy::command::examine::{CommandEffects, PathUse, path_use};
use locum_policy::command::tree::SimpleCommand;
use locum_policy::intent::{Facts, Intent};
use locum_policy::paths::protected;
use locum_policy::verdict::Decision;
use locum_sandbox::{CommandReach, WriteAccess};
use locum_workspace::checkout::Checkout;
use locum_workspace::layer::Layer;

/// Programs that do nothing but to the files they are given.
const FILE_PROGRAMS: &[&str] = &["touch", "cp", "mv", "rm", "mkdir", "rmdir", "ln"];

/// Programs that write, and read no file's content.
const PURE_WRITERS: &[&str] = &["touch", "rm", "mkdir", "rmdir", "echo", "printf", "true"];

/// Returns how far a script reaches; `git` are git's own folders.
pub(crate) fn of<'a>(
    script: &Script,
    context: ToolContext<'a>,
    git: &'a [PathBuf],
) -> CommandReach<'a> {
    let examined = script.examinations();
    // A script with expansions is judged by what could be known of it; here it counts as unknown.
    let understood = script.problem().is_none() && !examined.is_empty();
    // What a hook writes is thrown away, which takes a layer.
    let keeps = context.given.input.is_some() && context.layer.is_none();
    let writes = if script.only_reads() || keeps {
        WriteAccess::Nothing
    } else if understood && names_the_top(script, &examined, context.checkout) {
        WriteAccess::Root
    } else {
        WriteAccess::Entries
    };
    let is_git = |(simple, _): &(&SimpleCommand, CommandEffects)| program(simple) == Some("git");
    // Whatever runs code or looks through folders beside git could read git's own files.
    let judged = |part: &(&SimpleCommand, CommandEffects)| {
        let reads = &part.1.reads;
        if is_git(part) {
            return !part.1.shows_hidden
                && reads.iter().filter_map(PathUse::inside).all(is_outside_git);
        }
        opens_known(&part.1) && outside_git(reads, context)
    };
    let writes_alone = |(simple, _): &(&SimpleCommand, CommandEffects)| {
        program(simple).is_some_and(|program| PURE_WRITERS.contains(&program))
    };
    let plain_git = understood
        && examined.iter().any(is_git)
        && examined.iter().all(judged)
        && outside_git(&script.redirected().0, context)
        && is_allowed_by_words(script, context);
    CommandReach {
        root: context.checkout.root(),
        git,
        git_hidden: context.git_hidden && !plain_git,
        git_writable: true,
        writes,
        git_settings: plain_git,
        reads_files: !(understood
            && examined.iter().all(writes_alone)
            && script.redirected().0.is_empty()),
        visible: context.visible,
        policy: Some(context.run.policy),
        layer: context.layer.map(Layer::folders),
        seen_below: None,
        network: None,
        stands_for: context.layer.and_then(Layer::stands_for),
    }
}

/// Whether a command opens no file but those its words are known to name, on which the policy
/// decided.
fn opens_known(examined: &CommandEffects) -> bool {
    examined.only_reads
        && !examined.runs_code
        && !examined.descends
        && !examined.needs_sandbox
        && examined.starts.is_empty()
        && examined.perhaps.is_empty()
        && examined.trees.is_empty()
        && examined.globs.is_empty()
}

/// Whether none of these files is, or leads to, one of git's own. A link that a command left in the
/// layer may lead anywhere.
fn outside_git(reads: &[PathUse], context: ToolContext<'_>) -> bool {
    let has_no_link = |path: &RepoPath| context.layer.is_none_or(|layer| layer.has_no_link(path));
    reads.iter().all(|used| {
        let PathUse::Inside(path) = used else { return false };
        let Ok(real) = context.checkout.resolve(path) else { return false };
        is_outside_git(&real) && has_no_link(path) && has_no_link(&real)
    })
}

fn is_outside_git(path: &RepoPath) -> bool {
    !path.parts().any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Whether the rules would let a script run, or a person, where nothing contains it: then what git
/// shows was judged by the words it is given. A script that runs because it is contained was not.
fn is_allowed_by_words(script: &Script, context: ToolContext<'_>) -> bool {
    let facts = Facts { contained: false, ..context.facts.clone() };
    let verdict = context.run.policy.decide(&Intent::Command(script.clone()), &facts);
    verdict.decision != Decision::Deny
}

/// Whether everything the script writes is known, nothing of it protected, and some of it lies
/// directly in the root.
fn names_the_top(
    script: &Script,
    examined: &[(&SimpleCommand, CommandEffects)],
    checkout: &Checkout,
) -> bool {
    let mut used = script.redirected().1;
    for (simple, examined) in examined {
        if program(simple).is_some_and(|program| FILE_PROGRAMS.contains(&program)) {
            let Some(operands) = operands(simple, script.folder()) else { return false };
            used.extend(operands);
        } else if examined.runs_code || (!examined.only_reads && examined.edits.is_empty()) {
            return false;
        } else {
            used.extend(examined.edits.iter().cloned());
        }
    }
    let mut top = false;
    for used in &used {
        let (PathUse::Inside(path) | PathUse::Perhaps(path)) = used else { return false };
        let Ok(real) = checkout.resolve(path).or_else(|_| checkout.resolve_name(path)) else {
            return false;
        };
        if real == RepoPath::root() || is_protected(&real) {
            return false;
        }
        top |= real.parts().count() == 1;
    }
    top
}

fn program(simple: &SimpleCommand) -> Option<&str> {
    simple.words.first().map(String::as_str)
}

/// Returns the files a program is given; `None` when an option might name one.
fn operands(simple: &SimpleCommand, folder: &RepoPath) -> Option<Vec<PathUse>> {
    let (options, operands): (Vec<&String>, Vec<&String>) =
        simple.words.iter().skip(1).partition(|word| word.starts_with('-'));
    let plain = |option: &&String| {
        option.len() <= 4 && option.chars().all(|letter| "-rRfpavnsi".contains(letter))
    };
    options
        .iter()
        .all(plain)
        .then(|| operands.into_iter().filter_map(|word| path_use(word, folder)).collect())
}

fn is_protected(path: &RepoPath) -> bool {
    let inside = RepoPath::parse(&format!("{path}/x")).ok();
    protected(path).is_some() || inside.is_none_or(|inside| protected(&inside).is_some())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::of;
    use crate::tools::fixture::ToolFixture;
    use locum_base::path::RepoPath;
    use locum_policy::command::Script;
    use locum_sandbox::WriteAccess;

    #[test]
    fn the_root_is_open_only_for_what_is_known_to_name_it() {
        let fixture = ToolFixture::new(&[("src/a", "x"), ("top", "x")]);
        std::os::unix::fs::symlink("../.git", fixture.at("src/git")).unwrap();
        for (script, expected) in [
            ("cat top", WriteAccess::Nothing),
            ("git status", WriteAccess::Nothing),
            ("touch new", WriteAccess::Root),
            ("mv top src/top", WriteAccess::Root),
            ("rm -rf src", WriteAccess::Root),
            ("echo x > new", WriteAccess::Root),
            ("touch src/new", WriteAccess::Entries),
            ("echo x > src/new", WriteAccess::Entries),
            ("touch new .git/new", WriteAccess::Entries),
            ("cp top src/git/new", WriteAccess::Entries),
            ("rm -rf .", WriteAccess::Entries),
            ("rm -rf .github top", WriteAccess::Entries),
            ("cp -t.git top", WriteAccess::Entries),
            ("cp --target-directory=.git top", WriteAccess::Entries),
            ("cargo test", WriteAccess::Entries),
            ("cargo test > log", WriteAccess::Entries),
            ("frob top > log", WriteAccess::Entries),
            ("./run.sh top", WriteAccess::Entries),
            ("frob $X > log", WriteAccess::Entries),
            ("touch $X new", WriteAccess::Entries),
        ] {
            let found = fixture.with_context(|context| {
                of(&Script::parse_in(script, &RepoPath::root()), context, &[]).writes
            });
            assert_eq!(found, expected, "{script}");
        }
    }

    #[test]
    fn settings_of_git_are_open_to_git_and_to_what_reads_its_pipe() {
        let fixture = ToolFixture::new(&[("top", "x")]);
        for (script, expected) in [
            ("git log", true),
            ("git log | head -3 | wc -l", true),
            ("git log && git status", true),
            ("cat top | wc -l", false),
            ("git log; cat top", true),
            ("git log; cat .git/config", false),
            ("git log; cat < .git/config", false),
            ("git show HEAD:top", false),
            ("git log; diff -rN .git src", false),
            ("diff -rN .git src | tr a b", false),
            ("git log; grep -r x", false),
            ("git log; rg x", false),
            ("git log; ls", true),
            ("git log; ls .git", false),
            ("cargo test", false),
            ("git log | frob", false),
            ("git log $X; frob $Y", false),
        ] {
            let found = fixture
                .with_context(|context| of(&Script::parse(script), context, &[]).git_settings);
            assert_eq!(found, expected, "{script}");
        }
    }

    #[test]
    fn only_programs_that_cannot_read_count_as_reading_nothing() {
        let fixture = ToolFixture::new(&[("top", "x"), ("src/a", "x")]);
        for (script, expected) in [
            ("touch new", false),
            ("echo x > new && mkdir dir", false),
            ("rm -rf src", false),
            ("mv src new", true),
            ("cp -r src new", true),
            ("cat top > new", true),
            ("echo x > new; diff -rN . src", true),
            ("echo x > new < top", true),
            ("touch $X", true),
        ] {
            let found = fixture
                .with_context(|context| of(&Script::parse(script), context, &[]).reads_files);
            assert_eq!(found, expected, "{script}");
        }
    }
}
