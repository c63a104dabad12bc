//! Interpreters that are given a file of the repository: `python tests/x.py`.
//!
//! In: the words of a command. Out: the file as read, and that code of the repository runs. Code on
//! the command line, from the input or from a package is left to rules that spell it out.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::path_use;
use crate::command::tables::tasks;

/// An interpreter: names, options without a value, with one behind a space, attached ones, and the
/// endings of its files.
struct Interpreter {
    names: &'static [&'static str],
    plain: &'static [&'static str],
    valued: &'static [&'static str],
    attached: &'static [&'static str],
    endings: &'static [&'static str],
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "python3"],
        plain: &["-B", "-E", "-I", "-O", "-OO", "-P", "-b", "-bb", "-q", "-s", "-S", "-u", "-v"],
        valued: &["-X", "-W"],
        attached: &["-X", "-W"],
        endings: &[".py"],
    },
    Interpreter {
        names: &["ruby"],
        plain: &["-w", "-W", "-c", "-wc", "-cw", "-v", "-W0", "-W1", "-W2"],
        valued: &[],
        attached: &["-I"],
        endings: &[".rb"],
    },
    Interpreter {
        names: &["node", "tsx", "ts-node", "bun", "deno"],
        plain: &[
            "--check",
            "-c",
            "--test",
            "--enable-source-maps",
            "--trace-warnings",
            "--no-warnings",
            "--experimental-strip-types",
            "--experimental-vm-modules",
            "--esm",
        ],
        valued: &[],
        attached: &["--max-old-space-size=", "--test-reporter=", "--test-name-pattern="],
        endings: &[".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx"],
    },
];

impl Examiner<'_> {
    /// Looks at Java; returns whether it runs classes of the repository and nothing else.
    pub(super) fn java(&mut self) -> bool {
        let inside = |path: &str| {
            !path.is_empty()
                && path.split(':').all(|part| {
                    !part.starts_with(['/', '~', '-', '@']) && self.folder.join(part).is_ok()
                })
        };
        let is_class = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(&byte))
        };
        let [_, option, path, rest @ ..] = self.words else { return false };
        let runs = match option.as_str() {
            "-jar" => inside(path),
            "-cp" | "-classpath" | "--class-path" => {
                inside(path) && rest.first().is_some_and(|class| is_class(class))
            }
            _ => false,
        };
        if runs {
            self.found.runs_code = true;
            for part in path.split(':') {
                self.found.reads.extend(path_use(part, self.folder));
            }
        }
        runs
    }

    /// Looks at an interpreter; returns whether it runs a file of the repository and nothing else.
    pub(super) fn script(&mut self, program: &str) -> bool {
        let Some(interpreter) =
            INTERPRETERS.iter().find(|interpreter| interpreter.names.contains(&program))
        else {
            return false;
        };
        let mut at = 1;
        while let Some(word) = self.words.get(at).filter(|word| word.starts_with('-')) {
            let word = word.as_str();
            let attached = |option: &&&str| {
                word.strip_prefix(**option).is_some_and(|value| {
                    !value.is_empty() && !value.starts_with(['/', '~']) && !value.contains("..")
                })
            };
            if interpreter.valued.contains(&word) {
                at += 1;
            } else if !interpreter.plain.contains(&word)
                && interpreter.attached.iter().find(attached).is_none()
            {
                return false;
            }
            at += 1;
        }
        let Some(file) = self.words.get(at).cloned() else {
            // It finds the tests of the repository itself.
            self.found.runs_code =
                program == "node" && self.words.iter().any(|word| word == "--test");
            return self.found.runs_code;
        };
        if !interpreter.endings.iter().any(|ending| file.ends_with(ending)) {
            return false;
        }
        self.found.runs_code = true;
        self.found.reads.extend(path_use(&file, self.folder));
        for (index, word) in self.words.iter().enumerate().skip(at) {
            if tasks::reaches_out(word) {
                self.finding(index, format!("`{word}` says that it reaches out"));
            }
        }
        true
    }
}
