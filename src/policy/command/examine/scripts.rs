//! Interpreters that are given a file of the repository: `python tests/x.py`.
//!
//! In: the words of a command. Out: the file as read, and that code of the repository runs. Code on
//! the command line, from the input or from a package is left to rules that spell it out.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::path_use;
use crate::command::tables::tasks;
use crate::words;

/// An interpreter: names, options without a value, with one behind a space, attached ones, those
/// with the values that are known, and the endings of its files.
struct Interpreter {
    names: &'static [&'static str],
    plain: &'static [&'static str],
    valued: &'static [&'static str],
    attached: &'static [&'static str],
    listed: &'static [(&'static str, &'static str)],
    endings: &'static [&'static str],
}

const INTERPRETERS: &[Interpreter] = &[
    // Its other options are letters, see `SHELL_LETTERS`.
    Interpreter {
        names: SHELLS,
        plain: &[],
        valued: &[],
        attached: &[],
        listed: &[
            ("-o", "pipefail"),
            ("-eo", "pipefail"),
            ("-euo", "pipefail"),
            ("-exo", "pipefail"),
            ("-euxo", "pipefail"),
        ],
        endings: &[".sh", ".bash"],
    },
    Interpreter {
        names: &["python", "python3"],
        plain: &["-B", "-E", "-I", "-O", "-OO", "-P", "-b", "-bb", "-q", "-s", "-S", "-u", "-v"],
        valued: &["-X", "-W"],
        attached: &["-X", "-W"],
        listed: &[],
        endings: &[".py"],
    },
    Interpreter {
        names: &["ruby"],
        plain: &["-w", "-W", "-c", "-wc", "-cw", "-v", "-W0", "-W1", "-W2"],
        valued: &[],
        attached: &["-I"],
        listed: &[("-r", RUBY_LIBRARIES)],
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
            "--test-only",
            "--experimental-test-coverage",
        ],
        valued: &[],
        attached: &[
            "--max-old-space-size=",
            "--test-reporter=",
            "--test-name-pattern=",
            "--test-concurrency=",
            "--test-timeout=",
        ],
        listed: &[("--import", "tsx"), ("--import=", "tsx"), ("--test-reporter", NODE_REPORTERS)],
        endings: &[".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx"],
    },
    Interpreter {
        names: &["php"],
        plain: &["-l", "-n", "-q"],
        valued: &[],
        attached: &[],
        listed: &[("-d", PHP_SETTINGS)],
        endings: &[".php"],
    },
];

const SHELLS: &[&str] = &["bash", "sh", "dash"];

/// Options of a shell that make it stop earlier or show more, and `n`, with which it runs nothing.
const SHELL_LETTERS: &str = "euvxn";

/// Libraries that come with Ruby, or run the tests that a file defines.
const RUBY_LIBRARIES: &str = "\
    bundler/setup date json minitest/autorun pp rspec/autorun set test/unit time yaml";

/// Reporters that come with Node.
const NODE_REPORTERS: &str = "dot junit lcov spec tap";

/// Settings of PHP that load, write and run nothing.
const PHP_SETTINGS: &str = "\
    assert.active= assert.exception= date.timezone= display_errors= display_startup_errors= \
    error_reporting= html_errors= log_errors= max_execution_time= memory_limit= opcache.enable= \
    opcache.enable_cli= pcov.enabled= precision= xdebug.mode= zend.assertions=";

/// Folders in which tools of the repository are that PHP runs.
const PHP_PROGRAMS: &[&str] = &["vendor/bin/", "./vendor/bin/"];

impl Interpreter {
    /// Returns how many words an option takes whose value is known.
    fn listed(&self, word: &str, next: &str) -> Option<usize> {
        let known = |list: &str, value: &str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,~^-".contains(&byte);
            match value.split_once('=') {
                None => words::holds(list, value),
                Some((name, value)) => {
                    words::holds(list, &format!("{name}=")) && value.bytes().all(is_plain)
                }
            }
        };
        self.listed.iter().find_map(|(option, list)| {
            if word == *option && !option.ends_with('=') {
                return known(list, next).then_some(2);
            }
            word.strip_prefix(option).filter(|value| known(list, value)).map(|_| 1)
        })
    }
}

/// Returns the letters of options of a shell that are known.
fn shell_letters(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| {
        !letters.is_empty() && letters.chars().all(|letter| SHELL_LETTERS.contains(letter))
    })
}

impl Examiner<'_> {
    /// Looks at files and folders of tests; returns whether there are no other words.
    fn tests(&mut self, from: usize) -> bool {
        let files = self.words.get(from..).unwrap_or_default();
        if files.iter().any(|word| word.starts_with('-')) {
            return false;
        }
        self.found.runs_code = true;
        self.reads(files.iter().map(String::as_str));
        true
    }

    /// Looks at an interpreter; returns whether it runs a file of the repository and nothing else.
    pub(super) fn script(&mut self, program: &str) -> bool {
        let Some(interpreter) =
            INTERPRETERS.iter().find(|interpreter| interpreter.names.contains(&program))
        else {
            return false;
        };
        let is_shell = SHELLS.contains(&program);
        let mut at = 1;
        let mut only_parses = false;
        while let Some(word) = self.words.get(at).filter(|word| word.starts_with('-')) {
            let word = word.as_str();
            if let Some(letters) = shell_letters(word).filter(|_| is_shell) {
                only_parses |= letters.contains('n');
                at += 1;
                continue;
            }
            only_parses |= matches!(
                (program, word),
                ("php", "-l") | ("ruby", "-c" | "-wc" | "-cw") | ("node", "--check")
            );
            let attached = |option: &&&str| {
                word.strip_prefix(**option).is_some_and(|value| {
                    !value.is_empty() && !value.starts_with(['/', '~']) && !value.contains("..")
                })
            };
            let next = self.words.get(at + 1).map_or("", String::as_str);
            if interpreter.valued.contains(&word) {
                at += 1;
            } else if let Some(count) = interpreter.listed(word, next) {
                at += count;
                continue;
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
        // It may be fetched: `https://`, `npm:`.
        if file.contains(':') {
            return false;
        }
        // A shell takes `+n` for an option, too: one that makes it run what it reads.
        if is_shell && file.starts_with('+') {
            return false;
        }
        if is_shell && only_parses {
            if self.words.len() > at + 1 {
                return false;
            }
            (self.known, self.found.only_reads) = (true, true);
            self.reads([file.as_str()].into_iter());
            return true;
        }
        if program == "node" && self.words.iter().take(at).any(|word| word == "--test") {
            return self.tests(at);
        }
        let is_tool = program == "php"
            && PHP_PROGRAMS
                .iter()
                .any(|folder| file.strip_prefix(folder).is_some_and(|name| !name.contains('/')));
        if !is_tool
            && !only_parses
            && !interpreter.endings.iter().any(|ending| file.ends_with(ending))
        {
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
