//! Words of commands that run code of the repository: tasks, targets, tests, and what programs and
//! scripts of it are given.
//!
//! In: the words that are not options. Out: paths that are read or written, and findings.

use crate::command::examine::PathUse;
use crate::command::examine::examiner::Examiner;
use crate::command::examine::operands::texts;
use crate::command::tables::index::IndexedTable;
use crate::command::tables::jvm::MAVEN_PROGRAMS;
use crate::command::tables::{ProgramEffect, compilers, spelling, tasks};
use crate::command::variables;
use crate::words;

/// Programs, or verbs of programs, that read more of their words from a file named after `@`,
/// wherever it stands, besides compilers. With `-` for blanks.
const ARGUMENT_FILES: &str = "\
    c++filt clang-format clang-tidy dotnet google-java-format jar javac javap mypy nm objdump \
    pytest python--m-pytest python3--m-pytest readelf ruff rustc size strings tsc vue-tsc";

/// Programs that run code of the repository and take a word with `@` before it for a name.
const NAMES_WITH_AT: &str = "\
    pnpm-ls pnpm-list pnpm-why pnpm-root pnpm-outdated yarn-list yarn-why yarn-info cargo-test \
    cargo-t cargo-nextest-run cargo-nextest-list cargo-bench cargo-run cargo-r";

/// Options of scripts of a package that name what they write.
const WRITING_OPTIONS: &str = "\
    --coverage.reportsDirectory --coverageDirectory --out-dir --outDir --outfile --output-file \
    --outputFile";

/// Verbs of Go that change files of the packages they are given, with `-` for blanks.
const CHANGING_PACKAGES: &str = "go-clean go-fix go-fmt go-generate";

/// Verbs of which only the first word has to be listed: tests or files stand behind it. With `-`
/// for blanks.
const ONE_LISTED: &str = "cargo-miri yard";

/// Packages of Go that are none of the repository.
const NOT_OWN: &str = "all cmd std tool";

impl Examiner<'_> {
    pub(super) fn tasks(&mut self, name: &str, operands: &[(usize, String)]) {
        let harmless: fn(&str) -> bool = match name {
            maven if MAVEN_PROGRAMS.contains(&maven) => tasks::is_harmless_goal,
            "gradle" | "./gradlew" | "gradlew" => tasks::is_harmless_task,
            "rake" => |word: &str| tasks::is_harmless(word) || is_setting_of_rake(word),
            _ => tasks::is_harmless,
        };
        let tested = |word| tasks::tested_file(word).filter(|_| name == "rake");
        self.reads(texts(operands).filter_map(tested));
        self.refuse_protected(operands);
        let refused =
            operands.iter().find(|(_, word)| !harmless(word) && tested(word.as_str()).is_none());
        self.refuse(refused, |word| {
            format!("`{word}` of `{name}` is no task that only builds, tests or shows")
        });
    }

    /// A program of the repository, which some other one starts, and its words.
    pub(super) fn program_of(
        &mut self,
        name: &str,
        endings: &[&str],
        operands: &[(usize, String)],
    ) {
        let inside = |word: &str| {
            word == "."
                || word.starts_with("./")
                || endings.iter().any(|ending| word.ends_with(ending))
        };
        let program = operands.first();
        self.refuse(program.filter(|(_, word)| !inside(word)), |word| {
            format!("`{word}`, which `{name}` starts, does not lie in the repository")
        });
        self.reads(texts(operands).take(1));
        for (index, word) in operands {
            if tasks::reaches_out(word) {
                self.finding(*index, format!("`{word}` says that it reaches out"));
            }
        }
        self.handed(operands.get(1..).unwrap_or_default());
    }

    /// Words for programs that a command builds, from one on.
    pub(super) fn words_for_tests(&mut self, from: usize) {
        let words = self.words;
        for (index, word) in words.iter().enumerate().skip(from) {
            self.handed_word(index, word);
        }
    }

    pub(super) fn only(&mut self, name: &str, listed: &[&str], operands: &[(usize, String)]) {
        let one = words::holds(ONE_LISTED, &name.replace(' ', "-"));
        let count = if one { 1 } else { operands.len() };
        operands.iter().skip(count).for_each(|(index, word)| self.target(*index, word));
        let is_listed =
            |word: &str| listed.contains(&word) || (name == "tox" && words::is_number(word));
        let unlisted = operands.iter().take(count).find(|(_, word)| !is_listed(word));
        self.refuse(unlisted, |word| format!("`{name}` with `{word}` does more than is known"));
    }

    /// Names of tests, packages or files. `plain_from` is the first behind `--`.
    pub(super) fn targets(
        &mut self,
        name: &str,
        operands: &[(usize, String)],
        plain_from: Option<usize>,
    ) {
        if spelling::starts_a_script(name) {
            texts(operands).for_each(|word| self.may_be_path(word));
            return;
        }
        let mut behind = operands.iter().skip(plain_from.unwrap_or(operands.len()));
        let option = behind.find(|(_, word)| word.starts_with('-') && word.len() > 1);
        self.refuse(option.filter(|_| self.found.runs_code), |word| {
            format!("what `{name}` starts may take `{word}` for an option")
        });
        let changes = words::holds(CHANGING_PACKAGES, &name.replace(' ', "-"));
        for (index, word) in operands {
            if name == "make" && word.contains('=') {
                if !is_setting_of_make(word) {
                    let reason = "a variable given to `make` can change what it runs";
                    self.finding(*index, reason.to_owned());
                }
                continue;
            }
            if matches!(name, "make" | "ninja") && tasks::reaches_out(word) {
                self.finding(*index, format!("`{word}` says that it reaches out"));
            }
            if changes && words::holds(NOT_OWN, word) {
                self.finding(*index, format!("`{word}` is more than the repository"));
            }
            self.target(*index, word);
        }
    }

    /// The name of a test or package. What leads outside is judged as a path.
    fn target(&mut self, index: usize, word: &str) {
        let before = self.found.reads.len();
        self.may_be_path(word);
        let read = self.found.reads.get(before);
        let leads_outside = matches!(read, Some(PathUse::Outside(_)));
        if !self.found.only_reads && !leads_outside {
            self.handed_word(index, word);
        }
    }

    fn may_be_path(&mut self, word: &str) {
        let path = word.split("::").next().unwrap_or_default().trim_end_matches("...");
        if !path.is_empty() {
            self.perhaps(path);
        }
    }

    /// Refuses a word that stands for all those that a file holds.
    pub(super) fn argument_file(
        &mut self,
        known: &IndexedTable,
        name: &str,
        operands: &[(usize, String)],
    ) {
        let is_file = |word: &str| word.len() > 1 && word.starts_with('@');
        let of_code = known.table.effect == ProgramEffect::RunsCode
            && !spelling::starts_a_script(name)
            && !words::holds(NAMES_WITH_AT, &name.replace(' ', "-"));
        let program = known.words.first().copied().unwrap_or_default();
        let anywhere = words::holds(ARGUMENT_FILES, program)
            || words::holds(ARGUMENT_FILES, &name.replace(' ', "-"))
            || words::holds(compilers::NAMES, name);
        let found = if anywhere {
            let start = known.words.len();
            self.words.iter().enumerate().skip(start).find(|(_, word)| is_file(word))
        } else {
            let found = operands.iter().find(|(_, word)| of_code && is_file(word));
            found.map(|(index, word)| (*index, word))
        };
        if let Some((index, word)) = found {
            let reason = format!(
                "`{name}` takes more words, options among them, from the file that `{word}` names"
            );
            self.finding(index, reason);
        }
    }

    /// Looks at what a script of a package is given: no code and no settings from elsewhere, and
    /// nothing that is protected.
    pub(super) fn words_of_a_script(&mut self, operands: &[(usize, String)]) {
        let mut before = "";
        for (index, word) in operands {
            let previous = std::mem::replace(&mut before, word);
            let (option, value) = word.split_once('=').unwrap_or((previous, word));
            let written = words::holds(WRITING_OPTIONS, option).then_some(value);
            if let Some(path) = written {
                self.edits([path].into_iter());
            } else {
                self.handed_word(*index, word);
            }
        }
    }
}

/// Returns true for a variable that rake is given and that changes only how tests are shown or
/// which of them run.
fn is_setting_of_rake(word: &str) -> bool {
    let Some((name, value)) = word.split_once('=') else { return false };
    // A shell reads them.
    let plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/.:-".contains(&byte))
    };
    let of_minitest = |option: &str| {
        let value = ["--name=", "-n=", "-n", "--seed=", "-s"]
            .iter()
            .find_map(|known| option.strip_prefix(known));
        words::holds("-v --verbose -q --quiet -p --pride", option) || value.is_some_and(plain)
    };
    (name == "TESTOPTS" && value.split_ascii_whitespace().all(of_minitest))
        || variables::check(name, value).is_ok()
}

/// Returns true for a variable that make is given and that sets flags of compilers, chooses a
/// usual one, or is harmless to every program. Make itself would expand a `$`.
fn is_setting_of_make(word: &str) -> bool {
    let Some((name, value)) = word.split_once('=').filter(|(_, value)| !value.contains('$')) else {
        return false;
    };
    match name {
        "V" => words::is_number(value),
        "CFLAGS" | "CXXFLAGS" | "CPPFLAGS" | "LDFLAGS" => compilers::are_flags(value),
        "CC" | "CXX" => words::holds(compilers::NAMES, value),
        _ => variables::check(name, value).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_setting_of_make, is_setting_of_rake};

    #[test]
    fn make_and_rake_are_given_only_variables_that_start_nothing() {
        for word in ["V=1", "CFLAGS=-O0 -g -Wall", "CC=clang", "CI=1", "VERBOSE=1"] {
            assert!(is_setting_of_make(word), "{word}");
        }
        for word in [
            "V=x",
            "CFLAGS=-fplugin=a.so",
            "CFLAGS=$(shell ls)",
            "CC=./evil",
            "CC=curl",
            "SHELL=sh",
            "MAKEFLAGS=-f",
            "PYTHONPATH=$(x)",
            "X=1",
            "test",
        ] {
            assert!(!is_setting_of_make(word), "{word}");
        }
        for word in ["TESTOPTS=-v --name=test_a", "TESTOPTS=-n/parse/", "CI=1"] {
            assert!(is_setting_of_rake(word), "{word}");
        }
        for word in [
            "TESTOPTS=-r./evil",
            "TESTOPTS=-n/a|curl/",
            "TESTOPTS=--require=a",
            "RUBYOPT=-r/tmp/x",
            "A=b",
            "a",
        ] {
            assert!(!is_setting_of_rake(word), "{word}");
        }
    }
}
