//! What stands behind the words of a command: another command that it would start, or a script
//! that a shell is given.
//!
//! In: the words of a command, and how many may still be copied. Out: every command and script that
//! may be meant, as far as that number goes. Only rules that refuse look here, so what is found
//! wrongly allows nothing, and what is hidden well is for the sandbox to hold.

mod printed;
pub(crate) mod search;
mod words;

use std::collections::BTreeSet;

use crate::command::behind::words::{Behind, WordsBehind, words_in};
use crate::command::refused_words;
use crate::command::tables::launched::{self, KnownLauncher, LaunchedPlaces, script_values};
use crate::command::tables::launcher::{FirstWord, InnerForm};
use crate::command::tables::{tasks, verbs};

/// Programs that take the text of a script behind `-c`.
const SHELLS: &[&str] = &[
    "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu", "oksh", "osh",
    "posh", "rbash", "sh", "tcsh", "xonsh", "yash", "zsh",
];

/// Names of what a shell reads from its input.
const INPUTS: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Words of the grammar of a shell behind which a command begins.
const KEYWORDS: &str = "! { do elif else if then time until while";

/// Returns what the words of a command may start, and takes what it copies from the words that are
/// left; at none there may be more.
pub(crate) fn behind(words: &[String], words_left: &mut usize) -> Vec<Behind> {
    let mut found = WordsBehind::new(words_left);
    let set = words.iter().take_while(|word| is_assignment(word)).count();
    let (Some(words), Some(program)) = (words.get(set..), words.get(set)) else {
        return Vec::new();
    };
    if found.is_cut() {
        return Vec::new();
    }
    let rest = words.get(1..).unwrap_or_default();
    if set > 0 {
        found.command(words);
    }
    if let Some(plain) = plain_name(program) {
        found.with_program(&plain, rest);
    }
    if let Some(verb) = program.strip_prefix("git-").filter(|_| found.count_words(rest)) {
        found.with_program("git", &[&[verb.to_owned()], rest].concat());
    }
    if crate::words::holds(KEYWORDS, program) {
        found.command(rest);
    }
    if !(program == "command" && only_names(rest)) {
        launched::of(program).iter().for_each(|known| started(known, words, &mut found));
    }
    tasks_among(program, rest).iter().for_each(|task| found.command(task));
    match program.as_str() {
        "parallel" | "sem" => run_by_parallel(words, &mut found),
        "alias" => {
            let texts = rest.iter().filter_map(|word| word.split_once('='));
            texts.for_each(|(_, text)| found.script(text));
        }
        "find" => run_by_find(rest, &mut found),
        "fd" | "fdfind" => run_by_fd(rest, &mut found),
        "git" => run_by_git(rest, &mut found),
        "pnpm" | "yarn" => run_by_manager(words, &mut found),
        "docker" | "podman" if rest.iter().any(|word| word == "--push") => {
            found.with_program(program, &["push".to_owned()]);
        }
        shell if SHELLS.contains(&shell) => given_to_shell(rest, &mut found),
        _ => {}
    }
    found.into_found()
}

/// Returns true for a command that runs what it is given as its input, or what others print in its
/// words. What starts it is looked behind.
pub(crate) fn runs_printed(words: &[String]) -> bool {
    let set = words.iter().take_while(|word| is_assignment(word)).count();
    let words = words.get(set..).unwrap_or_default();
    let Some((program, rest)) = words.split_first() else { return false };
    match program.as_str() {
        "source" | "." => rest.first().is_some_and(|file| is_input(file)),
        "at" | "batch" | "su" | "runuser" => true,
        "parallel" | "sem" => rest.iter().all(|word| word.starts_with('-')),
        shell if SHELLS.contains(&shell) => shell_reads(rest),
        worked_out => {
            let is_path = worked_out.contains('/') && !worked_out.starts_with("$(");
            worked_out.starts_with('`') || (worked_out.starts_with('$') && !is_path)
        }
    }
}

/// Whether the file of a script is what a shell reads from others.
fn is_input(file: &str) -> bool {
    INPUTS.contains(&file) || file.starts_with('<')
}

/// Whether a shell with these words reads a script from its input.
fn shell_reads(rest: &[String]) -> bool {
    let is_option = |word: &&String| word.starts_with(['-', '+']) && word.len() > 1;
    let mut at = 0;
    let mut is_asked = false;
    while let Some(word) = rest.get(at).filter(is_option) {
        let letters = if word.starts_with("--") { "" } else { word.as_str() };
        if letters.contains('c') {
            return false;
        }
        is_asked |= letters.contains('s');
        let takes_next = letters.contains(['o', 'O']) || is_file_option(word);
        at += 1 + usize::from(takes_next);
    }
    is_asked || rest.get(at).is_none_or(|file| is_input(file))
}

/// An option of a shell whose value is the next word.
fn is_file_option(word: &str) -> bool {
    matches!(word, "--rcfile" | "--init-file")
}

/// Whether a word in front of a command sets a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether `command` is only asked what a name stands for.
fn only_names(rest: &[String]) -> bool {
    let mut options = rest.iter().take_while(|word| word.starts_with('-') && *word != "--");
    options.any(|word| word.contains(['v', 'V']))
}

/// Returns a command for each task among the words of a program that runs several, wherever it
/// stands: `mvn deploy` for `mvn -B clean deploy`, `gradle publish` for `gradle :core:publish`.
fn tasks_among(program: &str, rest: &[String]) -> Vec<Vec<String>> {
    let skipped = usize::from(program == "python");
    if program == "python" && rest.first().is_none_or(|script| script != "setup.py") {
        return Vec::new();
    }
    let options = tasks::options(program);
    if options.is_none() && program != "python" {
        return Vec::new();
    }
    let mut tasks = Vec::new();
    let mut at = skipped;
    while let Some(word) = rest.get(at) {
        if word.starts_with('-') {
            // The value of an option that is not known may be a task.
            let read = options.map(|options| options.read(rest, at));
            at = read.filter(|read| read.is_known).map_or(at + 1, |read| read.next);
            continue;
        }
        let task = tasks::plain_task(program, word);
        let is_known = at == skipped && task == *word;
        if !is_known && !task.starts_with('-') {
            let before = rest.iter().take(skipped).map(String::as_str);
            let runner = std::iter::once(program).chain(before).map(str::to_owned);
            tasks.push(runner.chain([task]).collect());
        }
        at += 1;
    }
    let naming = script_values(tasks::naming_options(program), rest, 0..rest.len());
    tasks.extend(naming.into_iter().map(|(task, _)| vec![program.to_owned(), task]));
    tasks
}

/// Returns the name that rules have for a program, where it is written in another way: by its path,
/// with an ending, with its version, or as the wrapper that a repository brings.
fn plain_name(program: &str) -> Option<String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let ending = name.rsplit_once('.').filter(|(_, end)| matches!(*end, "bat" | "cmd" | "exe"));
    let plain = match ending.map_or(name, |(name, _)| name) {
        "bmake" | "gmake" | "remake" => "make",
        "gradlew" => "gradle",
        "mvnw" | "mvnd" => "mvn",
        // As they are called where others have the plain name.
        "genv" => "env",
        "gfind" => "find",
        "gnice" => "nice",
        "gnohup" => "nohup",
        "gstdbuf" => "stdbuf",
        "gtimeout" => "timeout",
        "gxargs" => "xargs",
        name if name == program => {
            let version = |letter: char| letter.is_ascii_digit() || letter == '.';
            name.trim_end_matches(version).trim_end_matches('-')
        }
        name => name,
    };
    (!plain.is_empty() && plain != program).then(|| plain.to_owned())
}

/// Adds what a launcher may start.
fn started(known: &KnownLauncher, words: &[String], found: &mut WordsBehind<'_>) {
    let launcher = known.launcher;
    let Some(LaunchedPlaces { options, firsts }) = known.places(words) else { return };
    if launcher.first == FirstWord::ModuleOption {
        for (module, behind) in launched::modules(words, options.start) {
            found.with_program(module, words.get(behind..).unwrap_or_default());
        }
    }
    for (script, next) in script_values(launcher.scripts, words, options) {
        if launcher.name == "env" {
            // What stands in it are words of its own, and what follows belongs to them.
            let words = words.get(next..).unwrap_or_default();
            found.joined(&format!("env {}", script.replace("\\_", " ")), words);
        } else {
            found.script(&script);
        }
    }
    for first in firsts {
        if found.is_cut() {
            return;
        }
        let inner = words.get(first..).unwrap_or_default();
        match launcher.form {
            InnerForm::Words => inner_command(inner, found),
            InnerForm::WordsOfShell => found.with_program("sh", inner),
            InnerForm::Script => found.joined("", inner),
            InnerForm::Scripts => {
                found.joined("", inner);
                inner.iter().for_each(|script| found.script(script));
            }
        }
    }
}

/// Adds an inner command without the version of its program. One with variables in front of it is
/// found behind these too.
fn inner_command(words: &[String], found: &mut WordsBehind<'_>) {
    let Some((program, rest)) = words.split_first() else { return };
    if program.contains('=') {
        return;
    }
    // `npm@latest`, but not `@changesets/cli`.
    let name = program.split_once('@').map(|(name, _)| name).filter(|name| !name.is_empty());
    found.with_program(name.unwrap_or(program), rest);
}

/// Adds the commands that `parallel` makes of its command and of what stands behind `:::`.
fn run_by_parallel(words: &[String], found: &mut WordsBehind<'_>) {
    let is_mark = |word: &String| word.starts_with(":::");
    let Some(end) = words.iter().position(is_mark) else { return };
    let behind = words.get(end..).unwrap_or_default();
    let mut combined: Vec<Vec<&str>> = vec![Vec::new()];
    for values in behind.split(is_mark).filter(|values| !values.is_empty()) {
        let length = combined.first().map_or(0, Vec::len) + 1;
        let count = combined.len().saturating_mul(values.len()).saturating_mul(length);
        if !found.count(count) {
            return;
        }
        let pairs = combined.iter().flat_map(|so_far| values.iter().map(move |it| (so_far, it)));
        let longer = pairs.map(|(so_far, value)| {
            so_far.iter().copied().chain([value.as_str()]).collect::<Vec<&str>>()
        });
        combined = longer.collect();
    }
    let program = words.first().map(|program| launched::of(program)).unwrap_or_default();
    let starts = program.iter().filter_map(|known| known.places(words));
    for start in starts.flat_map(|places| places.firsts).filter(|start| *start <= end) {
        let command = words.get(start..end).unwrap_or_default();
        if !found.count_words(command) {
            return;
        }
        let command = command.join(" ");
        combined.iter().for_each(|values| with_values(&command, values, found));
    }
}

/// Adds a command with values in the places that stand for them, or behind it.
fn with_values(command: &str, values: &[&str], found: &mut WordsBehind<'_>) {
    let length: usize = values.iter().map(|value| value.len() + 1).sum();
    if found.is_cut() || !found.count(words_in(command.len() + length)) {
        return;
    }
    let all = values.join(" ");
    let (mut made, mut rest, mut is_placed) = (String::new(), command, false);
    while let Some((before, behind)) = rest.split_once('{') {
        made.push_str(before);
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = behind.split_at(digits);
        let value = match number.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|at| values.get(at).copied()),
            Err(_) => number.is_empty().then_some(all.as_str()),
        };
        let (Some(value), Some(after)) = (value, after.strip_prefix('}')) else {
            made.push('{');
            rest = behind;
            continue;
        };
        if !found.count(words_in(value.len())) {
            return;
        }
        made.push_str(value);
        (rest, is_placed) = (after, true);
    }
    made.push_str(rest);
    if !is_placed {
        made = if made.is_empty() { all } else { format!("{made} {all}") };
    }
    found.counted_script(made);
}

fn run_by_find(words: &[String], found: &mut WordsBehind<'_>) {
    let runs = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
    for (at, _) in words.iter().enumerate().filter(|(_, word)| runs(word)) {
        if found.is_cut() {
            return;
        }
        let behind = words.get(at + 1..).unwrap_or_default();
        let end = behind.iter().position(|word| matches!(word.as_str(), ";" | "+"));
        found.command(behind.get(..end.unwrap_or(behind.len())).unwrap_or_default());
    }
}

/// Adds what `fd` starts behind `-x` and `-X`, also as `-Hx`.
fn run_by_fd(words: &[String], found: &mut WordsBehind<'_>) {
    for (at, word) in words.iter().enumerate() {
        if let Some(program) = program_of_fd(word) {
            found.with_program(program, words.get(at + 1..).unwrap_or_default());
        }
    }
}

/// Returns the program that stands in an option of `fd` that starts one; empty where the next word
/// names it.
fn program_of_fd(word: &str) -> Option<&str> {
    if word.starts_with("--exec") {
        return Some(word.split_once('=').map_or("", |(_, program)| program));
    }
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    letters.split_once(['x', 'X']).map(|(_, program)| program)
}

/// Adds the program of a package that a package manager starts by its name, and what is to be done
/// in other packages of the repository.
fn run_by_manager(words: &[String], found: &mut WordsBehind<'_>) {
    let Some(manager) = words.first() else { return };
    for at in verbs::places(words, BTreeSet::from([1]), true) {
        match words.get(at..).unwrap_or_default() {
            [verb, _, rest @ ..] if verb == "workspace" => found.with_program(manager, rest),
            [verb, each, rest @ ..] if verb == "workspaces" && each == "foreach" => {
                found.with_program(manager, rest);
            }
            [verb, ..] if is_package_program(verb) => {
                found.command(words.get(at..).unwrap_or_default());
            }
            _ => {}
        }
    }
}

fn is_package_program(word: &str) -> bool {
    !word.starts_with('-') && !refused_words::is_verb(word)
}

/// Verbs of git with options whose value is a script.
const GIT_SCRIPTS: &[(&str, &str)] = &[
    ("rebase", "-x --exec"),
    ("difftool", "-x --extcmd"),
    (
        "filter-branch",
        "--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter \
         --commit-filter --tag-name-filter",
    ),
];

/// The last parts of git's settings that name a program, or the folder of some.
const GIT_PROGRAMS: &str = "\
    alternaterefscommand askpass clean cmd command defaultkeycommand difffilter driver editor \
    external fsmonitor helper hookspath packobjectshook pager process program smudge sshcommand textconv";

fn run_by_git(words: &[String], found: &mut WordsBehind<'_>) {
    let is_given = |verb: &str| words.iter().any(|word| word == verb);
    for (_, options) in GIT_SCRIPTS.iter().filter(|(verb, _)| is_given(verb)) {
        let values = script_values(options, words, 0..words.len());
        values.iter().for_each(|(script, _)| found.script(script));
    }
    if let Some(at) = words.iter().position(|word| word == "foreach") {
        let behind = words.get(at + 1..).unwrap_or_default();
        let options = behind.iter().take_while(|word| word.starts_with('-')).count();
        found.joined("", behind.get(options..).unwrap_or_default());
    }
    let is_set = is_given("config");
    for pair in words.windows(2) {
        let [option, value] = pair else { continue };
        let setting = value.split_once('=').filter(|_| option == "-c");
        if let Some((name, value)) = setting.filter(|(name, _)| starts_programs(name)) {
            found.command(&["git", "config", name, value].map(str::to_owned));
        }
        let setting = setting.or(is_set.then_some((option.as_str(), value.as_str())));
        if let Some(setting) = setting {
            run_by_setting(setting, words, found);
        }
    }
}

/// Whether git starts what a setting names, or what lies in the folder that it names.
fn starts_programs(name: &str) -> bool {
    let lower = name.to_lowercase();
    let last = lower.rsplit_once('.').map(|(_, last)| last);
    lower.starts_with("pager.") || last.is_some_and(|last| crate::words::holds(GIT_PROGRAMS, last))
}

/// Adds the scripts that a setting of git names, an alias with the words that follow its name.
fn run_by_setting((name, value): (&str, &str), words: &[String], found: &mut WordsBehind<'_>) {
    let lower = name.to_lowercase();
    let Some(alias) = lower.strip_prefix("alias.") else {
        if starts_programs(name) {
            found.script(value.strip_prefix('!').unwrap_or(value));
        }
        return;
    };
    // Its name may be any of them.
    if !found.count_words(words) {
        return;
    }
    let script = value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned);
    found.script(&script);
    let at = words.iter().position(|word| word.to_lowercase() == alias);
    let behind = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    if !behind.is_empty() {
        found.joined(&script, behind);
    }
}

/// Adds the script behind `-c`, also as `-lc`.
fn given_to_shell(words: &[String], found: &mut WordsBehind<'_>) {
    let is_option = |word: &String| word.starts_with(['-', '+']);
    let letters = |word: &&String| is_option(word) && !word.starts_with("--");
    let at = words.iter().position(|word| letters(&word) && word.contains('c'));
    // The name of an option may stand before the script.
    let names = words.iter().filter(letters).any(|word| word.contains(['o', 'O']));
    let texts = words.iter().skip(at.map_or(words.len(), |at| at + 1));
    let texts = texts.filter(|word| !is_option(word)).take(if names { 2 } else { 1 });
    texts.for_each(|text| found.script(text));
    let long = script_values("--command", words, 0..words.len());
    long.iter().for_each(|(script, _)| found.script(script));
}

#[cfg(test)]
mod tests;
