//! Whether a command that is to test ran no test at all, by what runners of tests print.
//!
//! In: everything that a command wrote. Out: true only where a runner says so and nothing else
//! shows a test. A check that exited with 0 then shows nothing; no other check becomes a better
//! one.

/// What runners say where there is no test, in lower case.
const NONE: &[&str] = &[
    // pytest, unittest, Dart
    "no tests ran",
    "collected 0 items",
    // CTest, Meson
    "no tests were found",
    "no tests defined",
    // Jest, Vitest and others of Node
    "no tests found",
    "no test files found",
    // Maven, Go, Mix
    "no tests to run",
    "[no test files]",
    // PHPUnit, RSpec, .NET
    "no tests executed",
    "no examples found",
    "no test is available in",
];

/// What runners count, behind the number or before it: `Ran 3 tests`, `# tests 3`, `Passed: 3`.
const COUNTED: &[&str] = &[
    "test",
    "tests",
    "doctest",
    "doctests",
    "property",
    "properties",
    "example",
    "examples",
    "scenario",
    "scenarios",
    "spec",
    "specs",
    "pass",
    "passed",
    "passing",
    "pending",
    "run",
    "runs",
];

/// What runners call what failed, behind a number.
const FAILED: &[&str] = &["fail", "failed", "failing", "failure", "failures", "error", "errors"];

/// Returns true for the output of a command whose tests were none.
pub fn ran_none(output: &str) -> bool {
    let lines = || output.lines().map(str::trim);
    let mut counts = lines().filter_map(tests_of).peekable();
    counts.peek().is_some()
        && counts.all(|count| count == 0)
        && !has_own_harness(lines())
        && !lines().any(broke)
}

/// Whether a line says that something failed: then it is not for want of a test.
fn broke(line: &str) -> bool {
    let lower = line.to_lowercase();
    let failed = |pair: &[CountedWord<'_>]| match pair {
        [number, noun] if FAILED.contains(&noun.word) => {
            number.count().is_some_and(|count| count > 0)
        }
        _ => false,
    };
    let starts = ["FAIL", "--- FAIL", "error:", "error["];
    starts.iter().any(|start| line.starts_with(start)) || words_of(&lower).windows(2).any(failed)
}

/// Returns how many tests a line shows at least; `None` for one that says nothing of tests.
fn tests_of(line: &str) -> Option<u64> {
    let lower = line.to_lowercase();
    if NONE.iter().any(|words| lower.contains(words)) {
        return Some(0);
    }
    listed(line).or_else(|| counted(&lower))
}

/// Reads a line about one test or package: of Go, TAP or Gradle.
fn listed(line: &str) -> Option<u64> {
    let behind =
        |start: &str| line.strip_prefix(start).filter(|rest| rest.starts_with([' ', '\t']));
    if let Some(rest) = behind("ok") {
        // Deno's summary begins so, too.
        return (!rest.trim_start().starts_with('|')).then_some(1);
    }
    if let Some(plan) = line.strip_prefix("1..") {
        return plan.split(' ').next()?.parse().ok();
    }
    let (task, state) = line.strip_prefix("> Task :")?.split_once(' ').unwrap_or((line, ""));
    let name = task.rsplit(':').next()?;
    let tests = name.ends_with("test") || name.ends_with("Test");
    tests.then_some(u64::from(!state.contains("NO-SOURCE")))
}

/// Returns the largest number of tests in a line, which is in lower case.
fn counted(line: &str) -> Option<u64> {
    let words = words_of(line);
    let count = |at: usize| {
        words.get(at).filter(|noun| COUNTED.contains(&noun.word))?;
        let before = at.checked_sub(1).and_then(|before| words.get(before)?.count());
        // `Passed: 0 warnings` counts warnings.
        let is_alone = words.get(at + 2).is_none_or(|next| !next.is_a_word())
            || words.get(at + 1).is_some_and(|number| number.ends_a_part);
        let behind = words.get(at + 1).filter(|_| is_alone).and_then(CountedWord::count);
        before.max(behind)
    };
    (0..words.len()).filter_map(count).max()
}

/// A word of a line, without the marks around it.
struct CountedWord<'l> {
    word: &'l str,
    /// Whether a comma or the like stands behind it.
    ends_a_part: bool,
}

impl CountedWord<'_> {
    fn count(&self) -> Option<u64> {
        self.word.parse().ok()
    }

    fn is_a_word(&self) -> bool {
        self.word.starts_with(char::is_alphabetic)
    }
}

fn words_of<'l>(line: &'l str) -> Vec<CountedWord<'l>> {
    let word = |written: &'l str| CountedWord {
        word: written.trim_matches(|letter: char| !letter.is_alphanumeric()),
        ends_a_part: written.ends_with([',', ';', '.', ')']),
    };
    let words = line.split_ascii_whitespace().map(word);
    words.filter(|word| !word.word.is_empty()).collect()
}

/// Whether Cargo ran a target whose own program tests: it says nothing that is known here.
fn has_own_harness<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let (mut targets, mut harnesses) = (0_usize, 0_usize);
    for line in lines {
        targets += usize::from(line.starts_with("Running ") && line.contains("/deps/"));
        harnesses += usize::from(line.starts_with("running ") && line.contains(" test"));
    }
    targets > harnesses
}

#[cfg(test)]
mod tests {
    use super::ran_none;

    #[test]
    fn a_run_without_a_test_is_known_by_what_its_runner_says() {
        for output in [
            "\n----------------------------------------------------------------------\nRan 0 tests \
             in 0.000s\n\nOK\n",
            "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n",
            "collected 0 items\n\n============ no tests ran in 0.01s ============\n",
            "# tests 0\n# suites 0\n# pass 0\n# fail 0\n",
            "ℹ tests 0\nℹ pass 0\nℹ fail 0\n",
            "No tests found, exiting with code 0\n",
            "No test files found, exiting with code 0\n",
            "\n  0 passing (1ms)\n",
            "No examples found.\n\nFinished in 0.0003 seconds\n0 examples, 0 failures\n",
            "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n",
            "No tests executed!\n",
            "1..0\n",
            "Test project /src/build\nNo tests were found!!!\n",
            "?   \tacme\t[no test files]\n?   \tacme/cmd\t[no test files]\n",
            "testing: warning: no tests to run\nPASS\nok  \tacme\t0.003s [no tests to run]\n",
            "     Running unittests src/lib.rs (target/debug/deps/a-0)\n\nrunning 0 tests\n\ntest \
             result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n   Doc-tests \
             a\n\nrunning 0 tests\n",
            "> Task :compileTestJava NO-SOURCE\n> Task :test NO-SOURCE\nBUILD SUCCESSFUL in 1s\n",
            "[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n",
            "Test Suite 'All tests' passed\n\t Executed 0 tests, with 0 failures in 0.000s\n",
            "ok | 0 passed | 0 failed (2ms)\n",
            "There are no tests to run\n",
            "No tests ran.\n",
        ] {
            assert!(ran_none(output), "{output}");
        }
    }

    #[test]
    fn one_test_or_a_word_of_none_is_enough_for_a_run_that_counts() {
        for output in [
            "",
            "checked\n",
            "Ran 1 test in 0.001s\n\nOK\n",
            "Ran 0 tests in 0.000s\nRan 3 tests in 0.002s\n",
            "3 passed in 0.10s\n",
            "collected 0 items / 1 skipped\n1 passed\n",
            "# tests 2\n# pass 2\n# fail 0\n",
            "No tests found, exiting with code 0\nTests:       3 passed, 3 total\n",
            "\n  0 passing (1ms)\n  2 pending\n",
            "4 examples, 0 failures\n",
            "2 doctests, 0 tests, 0 failures\n",
            "1..2\nok 1 a\nok 2 b\n",
            "100% tests passed, 0 tests failed out of 5\n",
            "?   \tacme/cmd\t[no test files]\nok  \tacme\t0.003s\n",
            "     Running unittests src/lib.rs (target/debug/deps/a-0)\n\nrunning 0 tests\n     \
             Running tests/b.rs (target/debug/deps/b-0)\n\nrunning 1 test\n",
            // A program of the repository tests in place of the usual one.
            "     Running unittests src/lib.rs (target/debug/deps/a-0)\n\nrunning 0 tests\n     \
             Running tests/ui.rs (target/debug/deps/ui-0)\nall good\n",
            "> Task :app:test NO-SOURCE\n> Task :core:test\n",
            "[INFO] No tests to run.\n[INFO] Tests run: 3, Failures: 0, Errors: 0\n",
            "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3\n",
            "ok | 3 passed | 0 failed (2ms)\n",
            "found 0 vulnerabilities\ntotal 0\n",
            "Passed: 0 failure(s), 0 warning(s) on 3 files.\n",
            "run 0 fixes\n",
            // Something failed before or beside it.
            "--- FAIL: TestA\nFAIL\tacme\t0.01s\n?   \tacme/cmd\t[no test files]\nFAIL\n",
            "\n  0 passing (1ms)\n  1 failing\n",
            "collected 0 items / 1 error\n",
            "running 0 tests\nerror: could not compile `a`\n",
        ] {
            assert!(!ran_none(output), "{output}");
        }
    }
}
