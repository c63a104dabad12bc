//! Other spellings of commands: options before a verb, a toolchain, a program by its path in the
//! repository.
//!
//! In: the words of a command. Out: the words that rules and tables have for the same command. Only
//! how it is judged follows; what runs is what was written.

use crate::command::tables::{ProgramEffect, compilers, index, verbs};
use crate::words;

/// Folders of a repository in which its own tools are, as package managers put them there.
const OWN_PROGRAMS: &[&str] =
    &[".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/", "bin/"];

/// Programs that run files of the repository.
const INTERPRETERS: &str = "python python3 node ruby";

/// Options of package managers of Node that may stand before a verb or a script.
const NODE_OPTIONS: &str = "-r --recursive -s --silent --if-present --workspaces \
                            --include-workspace-root --workspace-root --parallel --stream";
/// The same with a value, which names a package of the repository.
const NODE_FILTERS: &str = "-w --workspace -F --filter";
/// Those that mean something for a program that is started; others only choose packages.
const NODE_EXEC_OPTIONS: &str = "-r --recursive -s --silent";

/// Verbs of their own; another one is a script.
const NODE_VERBS: &str = "\
    add approve-builds audit bin bugs cache cat-file cat-index ci config create dedupe deploy dlx \
    doctor env exec explain explore fetch find-hash fund get help i import info init install \
    install-test it licenses link list ll ln login logout ls node npm open outdated owner pack \
    patch patch-commit patch-remove pkg plugin plug prefix prepare profile prune publish query \
    rb rebuild remove repo restart rm root run run-script s search self-update server set setup \
    start stop store tag team test t token un uninstall unlink unplug up update upgrade version \
    versions view why workspace workspaces whoami x";

/// Returns the usual spelling, if it is another one.
pub(crate) fn usual(words: &[String]) -> Option<Vec<String>> {
    let (program, rest) = words.split_first()?;
    let spelled = match program.as_str() {
        "cargo" if rest.first().is_some_and(|word| word.starts_with('+')) => {
            without_toolchain(rest)?
        }
        "npm" | "pnpm" | "yarn" => node(program, rest)?,
        "uv" if rest.first().is_some_and(|word| word == "run") => uv(rest)?,
        name if unversioned(name).is_some() => {
            let name = unversioned(name)?.to_owned();
            return Some(std::iter::once(name).chain(rest.iter().cloned()).collect());
        }
        path if !path.contains('/') => return verbs::moved(words),
        path => {
            // Asked for its version, the real one would run nothing.
            let asks = rest.iter().any(|word| word == "--version" || word == "--help");
            let own = own_program(path).filter(|_| !asks)?;
            return Some(std::iter::once(own.to_owned()).chain(rest.iter().cloned()).collect());
        }
    };
    let spelled: Vec<String> = std::iter::once(program.clone()).chain(spelled).collect();
    (spelled != words).then_some(spelled)
}

/// `cargo +nightly test` is `cargo test` by another toolchain of the machine.
fn without_toolchain(rest: &[String]) -> Option<Vec<String>> {
    let (toolchain, rest) = rest.split_first()?;
    let name = toolchain.strip_prefix('+')?;
    let (channel, date) = name.split_once('-').unwrap_or((name, ""));
    let of_channel = words::holds("stable beta nightly", channel)
        && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let version =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let plain = of_channel || version;
    plain.then(|| rest.to_vec())
}

/// `g++-13` is `g++`, and `clang-tidy-18` is `clang-tidy`.
fn unversioned(name: &str) -> Option<&str> {
    let (name, version) = name.rsplit_once('-')?;
    let known =
        words::holds(compilers::NAMES, name) || matches!(name, "clang-format" | "clang-tidy");
    let is_version = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (known && is_version && !version.is_empty()).then_some(name)
}

/// `uv run -m pytest` is `uv run python -m pytest`.
fn uv(rest: &[String]) -> Option<Vec<String>> {
    let [run, option, rest @ ..] = rest else { return None };
    let module = run == "run" && (option == "-m" || option == "--module");
    let started = ["run", "python", "-m"].map(str::to_owned).into_iter();
    module.then(|| started.chain(rest.iter().cloned()).collect())
}

/// Returns true for a program that runs code of the repository, whatever its words.
fn runs_code(name: &str) -> bool {
    index::of(name)
        .iter()
        .any(|known| known.words.len() == 1 && known.table.effect == ProgramEffect::RunsCode)
}

/// Returns true for a program of which at least one verb runs code of the repository.
fn has_code_to_run(name: &str) -> bool {
    index::of(name).iter().any(|known| known.table.effect == ProgramEffect::RunsCode)
}

/// Returns true for a verb that starts a script that `package.json` names: what that starts is not
/// known.
pub(crate) fn starts_a_script(name: &str) -> bool {
    let (manager, verb) = name.split_once(' ').unwrap_or((name, ""));
    words::holds("npm yarn pnpm", manager) && words::holds("test t run run-script build lint", verb)
}

/// Returns true for such a verb that gives options that it does not know to the script.
pub(crate) fn passes_options_on(name: &str) -> bool {
    starts_a_script(name) && !name.starts_with("npm ")
}

/// `pnpm -r build` is `pnpm run build -r`.
fn node(program: &str, rest: &[String]) -> Option<Vec<String>> {
    let mut moved = Vec::new();
    let mut at = options(program, rest, 0, &mut moved)?;
    let mut verb = rest.get(at)?.as_str();
    if matches!(verb, "run" | "run-script") {
        at = options(program, rest, at + 1, &mut moved)?;
        verb = rest.get(at)?.as_str();
        if !is_script(verb) {
            return None;
        }
    } else if verb == "exec" {
        return Some(exec(moved, rest.get(at + 1..)?));
    } else if words::holds(NODE_VERBS, verb) {
        let mut spelled: Vec<String> = vec![if verb == "t" { "test" } else { verb }.to_owned()];
        spelled.extend(rest.get(at + 1..)?.iter().cloned().chain(moved));
        return Some(spelled);
    } else if program == "npm" || !is_script(verb) {
        return None;
    } else if has_code_to_run(verb) {
        return Some(exec(moved, rest.get(at..)?));
    }
    let mut spelled = match verb {
        "test" => vec!["test".to_owned()],
        script => vec!["run".to_owned(), script.to_owned()],
    };
    spelled.extend(moved.into_iter().chain(rest.get(at + 1..)?.iter().cloned()));
    Some(spelled)
}

/// A program that is started in packages.
fn exec(moved: Vec<String>, program: &[String]) -> Vec<String> {
    let options = moved.into_iter().filter(|word| words::holds(NODE_EXEC_OPTIONS, word));
    std::iter::once("exec".to_owned()).chain(options).chain(program.iter().cloned()).collect()
}

/// Collects known options; returns where the first other word stands.
fn options(
    program: &str,
    rest: &[String],
    mut at: usize,
    moved: &mut Vec<String>,
) -> Option<usize> {
    while let Some(word) = rest.get(at).filter(|word| word.starts_with('-')) {
        let name = word.split('=').next().unwrap_or_default();
        if words::holds(NODE_OPTIONS, word) || (program == "pnpm" && word == "-w") {
            moved.push(word.clone());
        } else if words::holds(NODE_FILTERS, name) {
            moved.push(word.clone());
            if name == word {
                at += 1;
                moved.push(rest.get(at).filter(|value| !value.starts_with('-'))?.clone());
            }
        } else {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn is_script(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte))
}

/// A tool of the repository is what its name says, where that runs code of the repository anyway.
fn own_program(path: &str) -> Option<&str> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let name = OWN_PROGRAMS.iter().find_map(|folder| path.strip_prefix(folder))?;
    (words::holds(INTERPRETERS, name) || runs_code(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::usual;

    #[test]
    fn the_same_command_has_one_spelling() {
        for (text, expected) in [
            ("cargo +nightly test -q", Some("cargo test -q")),
            ("cargo +nightly-2026-01-02 test", Some("cargo test")),
            ("cargo +1.90.0 test", Some("cargo test")),
            ("cargo +evil test", None),
            ("cargo +/tmp/x test", None),
            ("cargo test", None),
            ("pnpm -r build", Some("pnpm run build -r")),
            ("pnpm -F core test", Some("pnpm test -F core")),
            ("pnpm -F --x test", None),
            ("pnpm --dir=/x test", None),
            ("pnpm lint --fix", Some("pnpm run lint --fix")),
            ("pnpm -w run lint", Some("pnpm run lint -w")),
            ("pnpm tsc --noEmit", Some("pnpm exec tsc --noEmit")),
            ("pnpm --filter=@acme/core exec tsc", Some("pnpm exec tsc")),
            ("pnpm -r -F core exec tsc -p a", Some("pnpm exec -r tsc -p a")),
            ("pnpm -F core tsc --noEmit", Some("pnpm exec tsc --noEmit")),
            ("npm -s exec tsc", Some("npm exec -s tsc")),
            ("yarn biome check src", Some("yarn exec biome check src")),
            ("pnpm exec tsc -r", None),
            ("uv run -m pytest -q", Some("uv run python -m pytest -q")),
            ("uv pip -m x", None),
            ("pnpm publish", None),
            ("pnpm dlx x", None),
            ("yarn t", Some("yarn test")),
            ("npm run -s test", Some("npm test -s")),
            ("npm run test -- -t x", Some("npm test -- -t x")),
            ("npm run build", None),
            ("npm frob", None),
            ("npm -w a run build", Some("npm run build -w a")),
            ("cargo --locked test", Some("cargo test --locked")),
            ("cargo --config x test", None),
            ("uv --offline run pytest", Some("uv run --offline pytest")),
            (".venv/bin/python -m pytest", Some("python -m pytest")),
            ("./node_modules/.bin/vitest run", Some("vitest run")),
            (".venv/bin/python --version", None),
            ("node_modules/.bin/cat a", None),
            ("/tmp/bin/python x", None),
            ("other/python x", None),
            ("g++-13 -c a.cc", Some("g++ -c a.cc")),
            ("clang-tidy-18 a.cc", Some("clang-tidy a.cc")),
            ("g++-evil a.cc", None),
            ("curl-8 x", None),
        ] {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            assert_eq!(usual(&words).map(|words| words.join(" ")).as_deref(), expected, "{text}");
        }
    }
}
