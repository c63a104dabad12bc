//! Compares what scripts were taken for with what real shells do.
//!
//! Strict: the words of every command are those bash makes of the text, and the text we would run
//! does the same. With expansions: no program runs and no file is written that was not judged,
//! whatever shell `sh` is.

use std::collections::BTreeSet;

use locum_policy::Policy;
use locum_policy::command::UNKNOWN;
use locum_policy::command::{Script, ScriptExecution};
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;

use super::generate::{Dice, Taste, script};
use super::shells::{Bench, Effects};

/// Scripts a shell process runs.
const BATCH: usize = 250;

const RULES: &str = "version: 1\nrules:\n- allow: ['read(**)', 'edit(**)', KIND]\ncommands: { \
                     max_complexity: 1.0, edits: checkout, expansions: WORD }\n";

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) asked: usize,
    pub(crate) allowed: usize,
    pub(crate) wrong: Vec<String>,
}

/// Asks for `count` scripts of plain words.
pub(crate) fn strict(seed: u64, count: usize) -> Found {
    let tame = Taste { expansions: 2, redirects: 12, accidents: 20, compounds: 6 };
    let wild = Taste { expansions: 25, redirects: 25, accidents: 40, compounds: 15 };
    compare(seed, count, [tame, tame, wild], &policy("command", "off"), &|bench, scripts, found| {
        let texts: Vec<&str> = scripts.iter().map(Script::text).collect();
        let rendered: Vec<String> = scripts.iter().map(text_of).collect();
        let rendered: Vec<&str> = rendered.iter().map(String::as_str).collect();
        let meant = bench.run("/bin/bash", &texts);
        let run = bench.run("/bin/sh", &rendered);
        for ((script, meant), run) in scripts.iter().zip(meant).zip(run) {
            let judged: BTreeSet<&Vec<String>> =
                script.simple_commands().into_iter().map(|simple| &simple.words).collect();
            let stranger = meant.calls.iter().find(|(words, _)| !judged.contains(words));
            let why = match stranger {
                Some((words, _)) => Some(format!("bash runs {words:?}, judged were {judged:?}")),
                None if in_any_order(script, &meant.calls) != in_any_order(script, &run.calls) => {
                    Some(format!("bash: {:?}, we: {:?}", meant.calls, run.calls))
                }
                None if !is_a_race(script)
                    && (&meant.files, &meant.output) != (&run.files, &run.output) =>
                {
                    Some(format!(
                        "bash: {:?} {:?}, we: {:?} {:?}",
                        meant.files, meant.output, run.files, run.output
                    ))
                }
                None => unjudged_file(script, &run),
            };
            found.wrong.extend(why.map(|why| format!("{:?}\n  {why}", script.text())));
        }
    })
}

/// Asks for `count` scripts in which a shell works words out.
pub(crate) fn loose(seed: u64, count: usize) -> Found {
    let tame = Taste { expansions: 12, redirects: 10, accidents: 10, compounds: 15 };
    let wild = Taste { expansions: 30, redirects: 20, accidents: 40, compounds: 25 };
    compare(
        seed,
        count,
        [tame, tame, wild],
        &policy("command-prefix", "allow"),
        &|bench, scripts, found| {
            let rendered: Vec<String> = scripts.iter().map(text_of).collect();
            let rendered: Vec<&str> = rendered.iter().map(String::as_str).collect();
            for shell in ["/bin/bash", "/bin/sh"] {
                for ((script, run), text) in
                    scripts.iter().zip(bench.run(shell, &rendered)).zip(&rendered)
                {
                    let judged = judged_words(script);
                    let stranger = run
                        .calls
                        .iter()
                        .find(|(words, _)| !judged.iter().any(|judged| fits(judged, words)));
                    let why = stranger.map(|(words, _)| {
                        format!("{shell} runs {words:?}, judged were {judged:?}")
                    });
                    let why = why.or_else(|| unjudged_file(script, &run));
                    found.wrong.extend(
                        why.map(|why| format!("{:?}\n  rendered {text:?}\n  {why}", script.text())),
                    );
                }
            }
        },
    )
}

/// Judges scripts until enough were asked about; those that are allowed are run.
fn compare(
    seed: u64,
    count: usize,
    tastes: [Taste; 3],
    policy: &Policy,
    run: &dyn Fn(&Bench, &[Script], &mut Found),
) -> Found {
    let bench = Bench::new();
    let mut dice = Dice::new(seed);
    let mut found = Found::default();
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    while found.asked < count {
        let mut allowed = Vec::new();
        for _ in 0..BATCH.min(count - found.asked) {
            let taste = tastes[dice.roll(tastes.len())];
            let script = Script::parse(&script(&mut dice, taste));
            found.asked += 1;
            if policy.decide(&Intent::Command(script.clone()), &facts).decision == Decision::Allow {
                allowed.push(script);
            }
        }
        found.allowed += allowed.len();
        run(&bench, &allowed, &mut found);
    }
    found
}

fn policy(kind: &str, expansions: &str) -> Policy {
    let programs = ["p", "q", "no", "cat", "ls", "find", "sort", "rg", "nop"];
    let keywords = ["for", "while", "until", "if", "case"];
    let mut rules: Vec<String> = programs
        .iter()
        .map(|program| {
            if kind == "command" {
                format!("'command({program}:*)'")
            } else {
                format!("'{kind}({program})'")
            }
        })
        .collect();
    rules.extend(keywords.iter().map(|keyword| format!("'command-prefix({keyword})'")));
    rules.extend(["A=b", "'A=b c'"].iter().flat_map(|words| {
        ["command", "command-prefix"].map(|kind| format!("\"{kind}({words})\""))
    }));
    let text = RULES.replace("KIND", &rules.join(", ")).replace("WORD", expansions);
    Policy::parse(&text, "fuzz").unwrap()
}

/// Returns the text that is run: words are quoted, for there is no other way to give them to a
/// shell.
fn text_of(script: &Script) -> String {
    match script.execution().unwrap() {
        ScriptExecution::Shell(text) => text,
        ScriptExecution::Words(words) => words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// What the commands of a pipe print and write comes in any order.
fn is_a_race(script: &Script) -> bool {
    script.text().contains(['|', '&'])
}

/// Returns the calls; where commands of a pipe print at the same time, whatever reads both gets
/// their lines in any order.
fn in_any_order(script: &Script, calls: &[(Vec<String>, String)]) -> Vec<(Vec<String>, String)> {
    let mut calls = calls.to_vec();
    if is_a_race(script) {
        for (_, input) in &mut calls {
            let mut lines: Vec<&str> = input.split_inclusive('\n').collect();
            lines.sort_unstable();
            *input = lines.concat();
        }
        calls.sort();
    }
    calls
}

fn unjudged_file(script: &Script, run: &Effects) -> Option<String> {
    let (_, edits) = script.redirected();
    let judged: Vec<&str> =
        edits.iter().filter_map(|used| used.inside()).map(|path| path.as_str()).collect();
    let made = run.files.iter().find(|(name, content)| match name.as_str() {
        "a.rs" => *content != "content\n" && !judged.contains(&"a.rs"),
        "-x" => !content.is_empty() && !judged.contains(&"-x"),
        name => !judged.contains(&name),
    });
    made.map(|(name, _)| format!("it wrote {name:?}, judged were {judged:?}"))
}

fn judged_words(script: &Script) -> Vec<Vec<String>> {
    match script.problem() {
        None => script.simple_commands().into_iter().map(|simple| simple.words.clone()).collect(),
        Some(_) => script
            .loose_commands()
            .unwrap()
            .iter()
            .map(|command| command.simple.words[command.assignments..].to_vec())
            .collect(),
    }
}

/// Whether words are those that were judged; an unknown one may be any number of words.
fn fits(judged: &[String], words: &[String]) -> bool {
    match judged.split_first() {
        None => words.is_empty(),
        Some((first, rest)) if first == UNKNOWN => {
            (0..=words.len()).any(|count| fits(rest, &words[count..]))
        }
        Some((first, rest)) => {
            words.split_first().is_some_and(|(word, others)| word == first && fits(rest, others))
        }
    }
}
