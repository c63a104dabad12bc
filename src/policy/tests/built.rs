//! Programs that a script compiles from the repository and then runs:
//! `go build -o /tmp/acme ./cmd/acme && /tmp/acme --version`.
//!
//! In: the tree of a script and what its commands do. Out: the same, with such a program as started
//! by what compiled it, so that the rule for that decides. Only where the compiler succeeded
//! directly before, reads nothing but the repository, and nothing else in the script writes there.

use crate::command::examine::{CommandEffects, PathUse, StartedCommand};
use crate::command::tables::{compilers, spelling};
use crate::command::tree::{
    CommandList, ListOperator, Pipeline, Redirect, ShellCommand, SimpleCommand,
};
use crate::words;

/// A command with what it does.
type Examined<'t> = (&'t SimpleCommand, CommandEffects);

/// Notes which programs the script itself builds.
pub(super) fn note(tree: &CommandList, found: &mut [Examined<'_>]) {
    for list in &tree.0 {
        // The commands that only run where each before them succeeded.
        let mut chain: Vec<&Pipeline> = vec![&list.first];
        for (operator, pipeline) in &list.rest {
            if *operator == ListOperator::Or {
                // Behind it, neither this one surely ran nor those before it.
                chain.clear();
                continue;
            }
            let built: Vec<_> =
                chain.iter().filter_map(|pipeline| compiled(pipeline, found)).collect();
            for (path, compiler) in &built {
                if written_once(tree, path, found) {
                    run(pipeline, path, compiler, found);
                }
            }
            chain.push(pipeline);
        }
    }
}

/// Returns what a pipeline compiles from the repository to a file for temporary use.
fn compiled(pipeline: &Pipeline, found: &[Examined<'_>]) -> Option<(String, StartedCommand)> {
    let Pipeline { negated: false, commands } = pipeline else { return None };
    let [ShellCommand::Simple(simple)] = commands.as_slice() else { return None };
    let effects = effects_of(simple, found)?;
    let from_input = simple.words.iter().any(|word| word == "-")
        || simple
            .redirects
            .iter()
            .any(|redirect| matches!(redirect, Redirect::Input { .. } | Redirect::Text(_)));
    // `go` without a name takes the folder that it runs in.
    let is_go = simple.words.first().is_some_and(|program| program == "go");
    let of_repository = effects.findings.iter().all(|finding| finding.started)
        && (is_go || !effects.reads.is_empty())
        && effects.reads.iter().all(|used| used.inside().is_some());
    if !compiles(&simple.words) || from_input || !of_repository {
        return None;
    }
    let [PathUse::Scratch(path)] = effects.edits.as_slice() else { return None };
    Some((path.clone(), StartedCommand { words: simple.words.clone(), effects: effects.clone() }))
}

/// Options of `gcc` and the like with which a program is written where it succeeds, as they begin.
const OF_C: &[&str] = &[
    "-o",
    "-std=",
    "-W",
    "-O",
    "-g",
    "-f",
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-m32",
    "-m64",
    "-march=native",
    "-pthread",
    "-pedantic",
    "-ansi",
    "-static",
    "-w",
    "-pipe",
    "-isystem",
    "-iquote",
];
/// The same of `go build`.
const OF_GO: &str =
    "-a -asan -buildvcs -cover -gcflags -ldflags -mod -msan -o -p -race -tags -trimpath -v -x";
/// The same of `rustc`.
const OF_RUST: &str = "--cap-lints --color --edition --error-format --test -A -D -O -W -g -o";

/// Returns true for a compiler that has written the one named file if it succeeds. What
/// only shows or checks something would leave another program there.
fn compiles(words: &[String]) -> bool {
    let usual = spelling::usual(words);
    let words = usual.as_deref().unwrap_or(words);
    let Some((program, rest)) = words.split_first() else { return false };
    let mut options = rest.iter().filter(|word| word.starts_with('-'));
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    match program.as_str() {
        program if words::holds(compilers::NAMES, program) => options.all(|word| {
            word != "-fsyntax-only" && OF_C.iter().any(|option| word.starts_with(option))
        }),
        "rustc" => options.all(|word| words::holds(OF_RUST, &name(word))),
        // A pattern may stand for no package at all.
        "go" => {
            rest.first().is_some_and(|verb| verb == "build")
                && options.all(|word| words::holds(OF_GO, &name(word)))
                && !rest.iter().any(|word| word.contains("..."))
        }
        _ => false,
    }
}

/// Returns true where one command of a script writes a file, its folders and what would lie in it.
fn written_once(tree: &CommandList, path: &str, found: &[Examined<'_>]) -> bool {
    let meets = |other: &str| {
        let other = other.trim_end_matches('/');
        let below = |one: &str, two: &str| {
            one.strip_prefix(two).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        below(path, other) || below(other, path)
    };
    let edits = found.iter().flat_map(|(_, effects)| &effects.edits);
    let written = edits.filter(|used| match used {
        PathUse::Scratch(other) | PathUse::Outside(other) => meets(other),
        PathUse::Inside(_) | PathUse::Perhaps(_) => false,
    });
    let redirected = tree
        .redirects()
        .into_iter()
        .any(|redirect| matches!(redirect, Redirect::Output { path: other, .. } if meets(other)));
    written.count() == 1 && !redirected
}

/// Notes that a pipeline runs what was compiled.
fn run(pipeline: &Pipeline, path: &str, compiler: &StartedCommand, found: &mut [Examined<'_>]) {
    for command in &pipeline.commands {
        let ShellCommand::Simple(simple) = command else { continue };
        if simple.words.first().is_none_or(|program| program != path) {
            continue;
        }
        let same = |(one, _): &&mut Examined<'_>| std::ptr::eq(*one, simple);
        if let Some((_, effects)) = found.iter_mut().find(same) {
            // What is left to say is about its other words.
            effects.findings.retain(|finding| finding.index != 0);
            (effects.runs_code, effects.only_reads) = (true, false);
            effects.starts = vec![compiler.clone()];
            effects.only_starts = true;
        }
    }
}

fn effects_of<'f>(simple: &SimpleCommand, found: &'f [Examined<'_>]) -> Option<&'f CommandEffects> {
    found.iter().find(|(one, _)| std::ptr::eq(*one, simple)).map(|(_, effects)| effects)
}
