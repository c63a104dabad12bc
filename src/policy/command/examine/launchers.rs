//! Programs that start another one which is not in their words as it would stand alone:
//! `coverage run`, `python -m cProfile -m`, `gotestsum` and `gdb`.
//!
//! In: the words of a command. Out: the same as for what is started, behind options that are known.

use std::sync::LazyLock;

use crate::command::examine::StartedCommand;
use crate::command::examine::examiner::Examiner;
use crate::command::tables::index;
use crate::command::tables::options::OptionTable;

static COVERAGE: LazyLock<OptionTable> = LazyLock::new(|| {
    OptionTable::new([
        "-a -p -L --append --branch --parallel-mode --pylib --timid --concurrency= --context= \
         --include= --omit= --source= --save-signal=",
        "--data-file=> --rcfile=<",
    ])
});

static GOTESTSUM: LazyLock<OptionTable> = LazyLock::new(|| {
    OptionTable::new([
        "-f= --format= --format-hide-empty-pkg --hide-summary= --no-color --no-summary= \
         --max-fails= --packages= --rerun-fails=? --rerun-fails-max-failures= \
         --rerun-fails-run-root-test --rerun-fails-abort-on-data-race --debug",
        "--junitfile=> --jsonfile=> --jsonfile-timing-events=> --rerun-fails-report=> \
         --junitfile-project-name= --junitfile-testsuite-name= --junitfile-testcase-classname= \
         --junitfile-hide-empty-pkg --junitfile-hide-skipped-tests",
    ])
});

static GDB: LazyLock<OptionTable> = LazyLock::new(|| {
    OptionTable::new([
        "-batch --batch -nx --nx -nh --nh -n -q -quiet --quiet -return-child-result \
         --return-child-result -ex=@ --ex=@",
        "",
    ])
});

impl Examiner<'_> {
    /// Looks at a program that starts another; returns whether it is one.
    pub(super) fn launches(&mut self) -> bool {
        let word = |at: usize| self.words.get(at).map_or("", String::as_str);
        match (word(0), word(1)) {
            ("coverage", "run") => self.coverage_run(),
            ("python" | "python3", "-m") if word(2) == "cProfile" => return self.profiled_module(),
            ("gotestsum", option) if option != "--version" && option != "--help" => {
                self.gotestsum();
            }
            ("gdb", option) if option != "--version" && option != "--help" => self.gdb(),
            _ => return false,
        }
        true
    }

    fn coverage_run(&mut self) {
        self.found.runs_code = true;
        self.next = 2;
        if self.known_options(&COVERAGE, "coverage run", &["-m"]) {
            self.by_python("python", "coverage run");
        }
    }

    /// A module that is profiled; returns whether it is one. A file is one by its table.
    fn profiled_module(&mut self) -> bool {
        let words = self.words;
        let python = words.first().map_or("", String::as_str);
        let name = [python, "-m", "cProfile"];
        let Some(known) = index::of(python).iter().find(|known| known.words == name) else {
            return false;
        };
        let mut at = name.len();
        while words.get(at).is_some_and(|word| word.starts_with('-') && word != "-m") {
            at = known.options.read(words, at).next;
        }
        let is_module = words.get(at).is_some_and(|word| word == "-m");
        if is_module {
            self.found.runs_code = true;
            self.next = name.len();
            let name = name.join(" ");
            if self.known_options(&known.options, &name, &["-m"]) {
                self.by_python(python, &name);
            }
        }
        is_module
    }

    /// What Python is given behind the options of another program: a module or a file.
    fn by_python(&mut self, python: &str, name: &str) {
        let is_module = self.words.get(self.next).is_some_and(|word| word == "-m");
        let named = self.next + usize::from(is_module);
        let Some(program) = self.words.get(named).filter(|word| !word.starts_with('-')) else {
            self.finding(usize::MAX, format!("what `{name}` starts here is not known"));
            return;
        };
        let reason = format!("`{name}` starts `{program}`, and no rule names that");
        self.launch(self.launched(&[python]).collect(), 1, named, reason);
    }

    /// What is behind its options is for `go test`.
    fn gotestsum(&mut self) {
        self.found.runs_code = true;
        if !self.known_options(&GOTESTSUM, "gotestsum", &["--"]) {
            return;
        }
        let separated = self.words.get(self.next).is_some_and(|word| word == "--");
        let named = self.next;
        let packages = self.packages(named);
        self.next += usize::from(separated);
        let verb = self.words.get(named).filter(|word| *word == "tool" || *word == "help");
        if let Some(verb) = verb {
            self.finding(named, format!("`gotestsum {verb}` is not known to only test"));
            return;
        }
        let words = self.launched(&["go", "test"]).chain(packages).collect();
        self.launch(words, 2, named, "`gotestsum` starts `go test`".to_owned());
    }

    /// Returns the words that `gotestsum` puts behind all others of `go test`.
    fn packages(&self, until: usize) -> Vec<String> {
        let options = self.words.get(..until).unwrap_or_default();
        let value = |(at, word): (usize, &String)| match word.as_str() {
            "--packages" => options.get(at + 1).cloned(),
            word => word.strip_prefix("--packages=").map(str::to_owned),
        };
        let values: Vec<String> = options.iter().enumerate().filter_map(value).collect();
        values.iter().flat_map(|value| value.split_whitespace()).map(str::to_owned).collect()
    }

    /// `gdb -batch -ex run -ex bt --args PROGRAM`. Without `--args` it may be given a process.
    fn gdb(&mut self) {
        self.found.runs_code = true;
        if !self.known_options(&GDB, "gdb", &["--args", "-args"]) {
            return;
        }
        let named = self.next + 1;
        let before = self.words.get(..self.next).unwrap_or_default();
        let batch = before.iter().any(|word| word == "-batch" || word == "--batch");
        let is_program = |word: &&String| !word.starts_with(['-', '/', '~']);
        let Some(program) = self.words.get(named).filter(is_program).filter(|_| batch) else {
            self.finding(
                usize::MAX,
                "`gdb` is known as `gdb -batch -ex run -ex bt --args PROGRAM`".to_owned(),
            );
            return;
        };
        let reason = format!("`gdb` starts `{program}`, and no rule names that");
        self.next = named;
        self.launch(self.launched(&[]).collect(), 0, named, reason);
    }

    /// Goes through options up to another word, or one of those that end them; returns whether all
    /// are known.
    fn known_options(&mut self, options: &OptionTable, name: &str, ends: &[&str]) -> bool {
        let is_option = |word: &&String| word.starts_with('-') && !ends.contains(&word.as_str());
        while self.words.get(self.next).is_some_and(|word| is_option(&word)) {
            if !self.option(options, name, self.next) {
                return false;
            }
        }
        true
    }

    /// Returns the words of what is started: some, then what is left of the command.
    fn launched(&self, before: &[&str]) -> impl Iterator<Item = String> {
        let rest = self.words.get(self.next..).unwrap_or_default();
        let before: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
        before.into_iter().chain(rest.to_vec())
    }

    /// Looks at what is started, before whose words from this command there are others.
    fn launch(&mut self, words: Vec<String>, before: usize, named: usize, reason: String) {
        let (effects, known) = Self::started(&words, self.folder);
        self.known = known;
        let at = self.next.saturating_sub(before);
        self.starts_instead(at, StartedCommand { words, effects });
        self.starts_program(named, reason, false);
    }
}
