//! What stands behind the words of a command: another command that it would start, or a script
//! that a shell is given.
//!
//! In: the words of a command. Out: every command and script that may be meant. Only rules that
//! refuse look here, so what is found wrongly allows nothing, and what is hidden well is for the
//! sandbox to hold.

use crate::command::UNKNOWN;

/// What a command may start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// A command.
    Words(Vec<String>),
    /// The text of a script.
    Script(String),
}

/// A program that starts the command among its words.
struct Starter {
    /// The program and, where it has one, the verb.
    words: &'static str,
    /// Options whose value is the next word.
    values: &'static str,
    /// How many words stand between the options and the command.
    skipped: usize,
}

const STARTERS: &[Starter] = &[
    starter("builtin", "", 0),
    starter("bundle exec", "", 0),
    starter("bunx", "-p --package", 0),
    starter("bun x", "-p --package", 0),
    starter("busybox", "", 0),
    starter("chronic", "", 0),
    starter("direnv exec", "", 1),
    starter("doas", "-u -C", 0),
    starter("env", "-u --unset -C --chdir", 0),
    starter("exec", "-a", 0),
    starter("flock", "-w -E --timeout --conflict-exit-code", 1),
    starter("git bisect run", "", 0),
    starter("hatch run", "", 0),
    starter("ionice", "-c -n --class --classdata", 0),
    starter("mise exec", "", 0),
    starter("nice", "-n --adjustment", 0),
    starter("nohup", "", 0),
    starter("npm exec", "-p --package -w --workspace", 0),
    starter("npm x", "-p --package -w --workspace", 0),
    starter("npx", "-p --package -w --workspace", 0),
    starter("parallel", "-j --jobs -I -a --arg-file --delay --timeout", 0),
    starter("pdm run", "-p --project", 0),
    starter("pipx run", "--spec --python --pip-args --index-url", 0),
    starter("pnpm dlx", "--package", 0),
    starter("pnpm exec", "", 0),
    starter("pnpx", "--package", 0),
    starter("poetry run", "", 0),
    starter("pyenv exec", "", 0),
    starter("rbenv exec", "", 0),
    starter("rye run", "", 0),
    starter("setsid", "", 0),
    starter("stdbuf", "-i -o -e --input --output --error", 0),
    starter("strace", "-o -e -s -E -a -b -O -S -u", 0),
    starter("sudo", "-u -g -h -p -C -D -R -T -U --user --group --host --prompt --chdir", 0),
    starter("taskset", "", 1),
    starter("time", "-f -o --format --output", 0),
    starter("timeout", "-k -s --kill-after --signal", 1),
    starter("unbuffer", "", 0),
    starter(
        "uv run",
        "-p --python --with --with-requirements --extra --group --package --env-file",
        0,
    ),
    starter("uv tool run", "-p --python --with --from --index-url", 0),
    starter("uvx", "-p --python --with --from --index-url", 0),
    starter(
        "xargs",
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs \
         --max-chars --process-slot-var",
        0,
    ),
    starter("yarn dlx", "-p --package", 0),
    starter("yarn exec", "", 0),
];

const fn starter(words: &'static str, values: &'static str, skipped: usize) -> Starter {
    Starter { words, values, skipped }
}

/// Programs that run each task among their words.
const TASK_RUNNERS: &[&str] = &["gradle", "just", "make", "mvn", "nox", "rake", "task"];

/// Programs that take the text of a script behind `-c`.
const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];

/// Returns what the words of a command may start.
pub(crate) fn behind(words: &[String]) -> Vec<Behind> {
    let set = words.iter().take_while(|word| is_assignment(word)).count();
    let (Some(words), Some(program)) = (words.get(set..), words.get(set)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if set > 0 {
        found.push(Behind::Words(words.to_vec()));
    }
    if let Some(plain) = plain_name(program) {
        found.push(with_program(plain, words));
    }
    found.extend(STARTERS.iter().filter_map(|starter| started(starter, words)).map(Behind::Words));
    let rest = words.get(1..).unwrap_or_default();
    found.extend(tasks_among(program, rest).into_iter().map(Behind::Words));
    match program.as_str() {
        "command" if !rest.iter().any(|word| matches!(word.as_str(), "-v" | "-V")) => {
            found.extend(after_options(rest, "").map(|inner| Behind::Words(inner.to_vec())));
        }
        "python" => {
            let module = rest.iter().position(|word| word == "-m");
            let inner = module.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
            found.push(Behind::Words(inner.to_vec()));
        }
        "env" => found.extend(value_of(rest, &["-S", "--split-string"]).map(Behind::Script)),
        "script" => found.extend(value_of(rest, &["-c", "--command"]).map(Behind::Script)),
        "trap" => found.extend(rest.first().cloned().map(Behind::Script)),
        "eval" | "watch" => {
            let text = after_options(rest, "-n --interval").unwrap_or_default().join(" ");
            found.push(Behind::Script(text));
        }
        "alias" => {
            let texts = rest.iter().filter_map(|word| word.split_once('='));
            found.extend(texts.map(|(_, text)| Behind::Script(text.to_owned())));
        }
        "find" => found.extend(run_by_find(rest)),
        "fd" | "fdfind" => {
            let at = rest
                .iter()
                .position(|word| matches!(word.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
            let inner = at.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
            found.push(Behind::Words(inner.to_vec()));
        }
        "git" => found.extend(run_by_git(rest)),
        "docker" | "podman" if rest.iter().any(|word| word == "--push") => {
            found.push(Behind::Words(vec![program.clone(), "push".to_owned()]));
        }
        shell if SHELLS.contains(&shell) => found.extend(given_to_shell(rest)),
        _ => {}
    }
    found.retain(|inner| match inner {
        Behind::Words(words) => words.first().is_some_and(|program| program != UNKNOWN),
        Behind::Script(text) => !text.trim().is_empty() && !text.contains(UNKNOWN),
    });
    found
}

/// Whether a command is a shell that runs what it reads.
pub(crate) fn reads_script(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    SHELLS.contains(&plain_name(program).as_deref().unwrap_or(program))
        && rest.iter().all(|word| word.starts_with('-') && word != "-c")
}

/// Whether a word in front of a command sets a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns a command for each task among the words of a program that runs several, wherever it
/// stands: `mvn deploy` for `mvn -B clean deploy`, `gradle publish` for `gradle :core:publish`.
fn tasks_among(program: &str, rest: &[String]) -> Vec<Vec<String>> {
    let skipped = match program {
        "python" if rest.first().is_some_and(|script| script == "setup.py") => 1,
        "python" => return Vec::new(),
        _ if TASK_RUNNERS.contains(&program) => 0,
        _ => return Vec::new(),
    };
    let tasks = rest.iter().enumerate().skip(skipped).filter_map(|(at, word)| {
        let task = match program {
            "gradle" => word.rsplit(':').next().unwrap_or(word),
            "mvn" => word.split('@').next().unwrap_or(word),
            _ => word,
        };
        let known = at == skipped && task == word;
        (!known && !task.starts_with('-')).then(|| {
            let runner =
                std::iter::once(program).chain(rest.iter().take(skipped).map(String::as_str));
            runner.chain([task]).map(str::to_owned).collect()
        })
    });
    tasks.collect()
}

/// Returns the name that rules have for a program, where it is written in another way: by its path,
/// with its version, or as the wrapper that a repository brings.
fn plain_name(program: &str) -> Option<String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let version = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let plain = match name.strip_prefix("python") {
        Some(rest) if version(rest) => "python",
        _ => match name {
            "gmake" => "make",
            "gradlew" => "gradle",
            "mvnw" | "mvnd" => "mvn",
            name => name,
        },
    };
    (!plain.is_empty() && plain != program).then(|| plain.to_owned())
}

fn with_program(program: String, words: &[String]) -> Behind {
    let rest = words.iter().skip(1).cloned();
    Behind::Words(std::iter::once(program).chain(rest).collect())
}

fn started(starter: &Starter, words: &[String]) -> Option<Vec<String>> {
    let mut rest = words;
    for wanted in starter.words.split(' ') {
        rest = rest.split_first().filter(|(word, _)| *word == wanted)?.1;
    }
    let rest = after_options(rest, starter.values)?.get(starter.skipped..)?;
    let set = rest.iter().take_while(|word| is_assignment(word)).count();
    let mut inner = rest.get(set..)?.to_vec();
    // `npm@latest`, but not `@changesets/cli`.
    if let Some(program) = inner.first_mut()
        && let Some((name, _)) = program.split_once('@').filter(|(name, _)| !name.is_empty())
    {
        *program = name.to_owned();
    }
    Some(inner)
}

fn after_options<'w>(words: &'w [String], values: &str) -> Option<&'w [String]> {
    let mut at = 0;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if values.split(' ').any(|known| known == option) { 2 } else { 1 };
        if option == "--" {
            break;
        }
    }
    words.get(at..)
}

fn value_of(words: &[String], names: &[&str]) -> Option<String> {
    let mut options = words.iter().enumerate();
    options.find_map(|(at, word)| {
        if names.contains(&word.as_str()) {
            return words.get(at + 1).cloned();
        }
        let (name, value) = word.split_once('=')?;
        names.contains(&name).then(|| value.to_owned())
    })
}

fn run_by_find(words: &[String]) -> Vec<Behind> {
    let runs = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
    let starts = words.iter().enumerate().filter(|(_, word)| runs(word));
    let command = |at: usize| {
        let rest = words.iter().skip(at + 1);
        rest.take_while(|word| !matches!(word.as_str(), ";" | "+")).cloned().collect()
    };
    starts.map(|(at, _)| Behind::Words(command(at))).collect()
}

fn run_by_git(words: &[String]) -> Vec<Behind> {
    let mut found: Vec<Behind> = Vec::new();
    if words.iter().any(|word| word == "rebase") {
        found.extend(value_of(words, &["-x", "--exec"]).map(Behind::Script));
    }
    if let Some(at) = words.iter().position(|word| word == "foreach") {
        let rest = words.get(at + 1..).and_then(|rest| after_options(rest, ""));
        found.push(Behind::Script(rest.unwrap_or_default().join(" ")));
    }
    found
}

/// Returns the script behind `-c`, also as `-lc`.
fn given_to_shell(words: &[String]) -> Option<Behind> {
    let is_option = |word: &str| word.starts_with('-') && !word.starts_with("--");
    let at = words.iter().position(|word| is_option(word) && word.contains('c'))?;
    let text = words.iter().skip(at + 1).find(|word| !word.starts_with('-'))?;
    Some(Behind::Script(text.clone()))
}

#[cfg(test)]
mod tests {
    use super::{Behind, behind, reads_script};
    use crate::command::word::split;
    use pretty_assertions::assert_eq;

    fn shown(text: &str) -> Vec<String> {
        let shown = |found: Behind| match found {
            Behind::Words(words) => words.join(" "),
            Behind::Script(text) => format!("script {text}"),
        };
        behind(&split(text).unwrap()).into_iter().map(shown).collect()
    }

    #[test]
    fn commands_behind_others() {
        for (text, expected) in [
            ("env -u A FOO=1 git push", "git push"),
            ("A=1 B=2 git push", "git push"),
            ("/usr/bin/git push", "git push"),
            ("timeout -k 5 60 git push", "git push"),
            ("flock -w 1 /tmp/l git push", "git push"),
            ("nice -n 5 git push", "git push"),
            ("xargs -n 1 -I{} gh pr", "gh pr"),
            ("sudo -u root -- git push", "git push"),
            ("uvx --from x twine upload", "twine upload"),
            ("npx -y npm@latest publish", "npm publish"),
            ("python -m twine upload", "twine upload"),
            ("python3.11 -m twine", "python -m twine"),
            ("find . -name x -exec git push ';'", "git push"),
            ("git rebase -x 'git push' main", "script git push"),
            ("git submodule foreach --recursive git push", "script git push"),
            ("bash -lc 'git push'", "script git push"),
            ("sh -e -c 'git push'", "script git push"),
            ("eval git push", "script git push"),
            ("trap 'git push' EXIT", "script git push"),
            ("alias p='git push'", "script git push"),
            ("env -S 'git push'", "script git push"),
            ("command git push", "git push"),
            ("mvn -B -Prelease clean deploy -DskipTests", "mvn deploy"),
            ("./mvnw -ntp deploy@central", "mvn -ntp deploy@central"),
            ("mvn deploy@central", "mvn deploy"),
            ("gradle --no-daemon clean :core:publish", "gradle publish"),
            ("./gradlew publish", "gradle publish"),
            ("make -j4 build publish", "make publish"),
            ("python setup.py sdist upload -r pypi", "python setup.py upload"),
            ("docker build . --push", "docker push"),
        ] {
            assert!(shown(text).contains(&expected.to_owned()), "{text}: {:?}", shown(text));
        }
    }

    #[test]
    fn what_only_names_a_command_starts_none() {
        for text in [
            "git log",
            "grep -rn docker",
            "command -v docker",
            "bash script.sh",
            "find . -name git",
            "python x.py",
            "env",
            "timeout 5",
            "which gh",
            "mvn deploy",
            "make -j4 -k",
            "python x.py sdist upload",
            "docker build .",
        ] {
            assert_eq!(shown(text), [""; 0], "{text}");
        }
        assert!(
            reads_script(&split("bash -s").unwrap()) && reads_script(&split("/bin/sh").unwrap())
        );
        assert!(!reads_script(&split("bash x.sh").unwrap()));
    }
}
