//! Tool chains are whole: a small project's tests run for each one that this machine has, with
//! namespaces and without.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::stage::Stage;

/// Where namespaces contain scripts they need no rule; elsewhere this one names the script.
const POLICY: &str = "version: 1\ncommands: { contained: allow }\nrules:\n  - allow: [read(**), \
                      edit(src/**), edit(build/**), 'command(sh t.sh)']\n";

const PYTHON: [(&str, &str); 2] = [
    ("src/pkg/__init__.py", "def two():\n    return 2\n"),
    (
        "tests/test_two.py",
        "import ctypes, json, ssl, sysconfig, unittest\nfrom pkg import two\n\n\nclass \
         Two(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(two(), 2)\n    \
         def test_whole(self):\n        open(sysconfig.get_paths()['stdlib'] + '/os.py').close()\n",
    ),
];

/// Returns what a program says of itself, outside the sandbox; `None`, said aloud, where it is not
/// installed.
fn installed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Stage::empty().plain(program).args(arguments).output().ok();
    let output = output.filter(|output| output.status.success());
    if output.is_none() {
        eprintln!("skipped: this machine has no {program} that runs");
    }
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The folder with the programs of Python itself.
fn python() -> Option<PathBuf> {
    let prefix = installed("python3", &["-c", "import sys; print(sys.base_prefix)"])?;
    Some(Path::new(&prefix).join("bin"))
}

/// A checkout with these files, and a script that runs its tests.
fn project(files: &[(&str, &str)], script: &str) -> Stage {
    let script = format!("set -e\n{script}\n");
    let own = [("t.sh", script.as_str()), (".locum/policy.yml", POLICY), ("src/note", "")];
    let ignored = [(".gitignore", "venv/\nbuild/\ntarget/\n__pycache__/\n")];
    Stage::with(&[files, &own, &ignored].concat())
}

/// Runs the tests of a project, with these folders before the others on the path.
fn passes(stage: &Stage, folders: &[PathBuf]) {
    let call = json!({ "tool": "execute_command", "args": { "command": "sh t.sh" } });
    let end = json!({ "tool": "attempt_completion", "args": { "result": "r" } });
    let turns = json!([{ "calls": [call] }, { "calls": [end] }]);
    let script = json!({ "version": 1, "tasks": [{ "turns": turns }] });
    stage.write("script.yml", &script.to_string());
    let script = stage.path("script.yml");
    let arguments = ["run", "Test it.", "--mode", "code", "--script", script.to_str().unwrap()];
    let mut command = stage.locum(&arguments);
    let path = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap();
    let folders = folders.iter().cloned().chain(std::env::split_paths(path));
    let path = std::env::join_paths(folders).unwrap();
    let output = command.env("PATH", path).output().unwrap();
    let answers = stage.answers();
    let told = answers.iter().find(|(tool, _)| tool == "execute_command").map(|(_, text)| text);
    assert!(told.is_some_and(|told| told.contains("Exit code: 0\n")), "{told:?} {output:?}");
}

/// Runs the tests of a project in both worlds if each of these programs is installed.
fn both(needs: &[(&str, &str)], files: &[(&str, &str)], script: &str) {
    if needs.iter().all(|(program, version)| installed(program, &[version]).is_some()) {
        for stage in Stage::in_both_worlds(|| project(files, script)) {
            passes(&stage, &[]);
        }
    }
}

/// Makes an environment of Python with a module that only it has; returns its programs.
fn environment(stage: &Stage, folder: &str) -> PathBuf {
    let place = stage.path(folder);
    let made = stage.plain("python3").args(["-m", "venv", "--without-pip"]).arg(&place).output();
    assert!(made.unwrap().status.success());
    let version = stage.names(&format!("{folder}/lib")).pop().unwrap();
    stage.write(&format!("{folder}/lib/{version}/site-packages/only_here.py"), "");
    stage.write(&format!("{folder}/pip.conf"), "[global]\nindex-url = https://user:secret@x\n");
    place.join("bin")
}

#[test]
fn python_runs_tests_of_a_src_layout() {
    let Some(programs) = python() else { return };
    let script = "PYTHONPATH=src python3 -m unittest discover -s tests";
    for stage in Stage::in_both_worlds(|| project(&PYTHON, script)) {
        passes(&stage, std::slice::from_ref(&programs));
    }
}

#[test]
fn python_runs_tests_in_an_environment_inside_the_checkout() {
    let Some(programs) = python() else { return };
    let script = "PYTHONPATH=src venv/bin/python -m unittest discover -s tests\n\
                  venv/bin/python -c 'import only_here'\n! python3 -c 'import only_here'";
    for stage in Stage::in_both_worlds(|| project(&PYTHON, script)) {
        environment(&stage, "checkout/venv");
        passes(&stage, std::slice::from_ref(&programs));
    }
}

#[test]
fn python_runs_tests_in_an_environment_elsewhere_whose_settings_stay_hidden() {
    if python().is_none() {
        return;
    }
    let script = "PYTHONPATH=src python3 -m unittest discover -s tests\n\
                  python3 -c 'import only_here'\n! cat ../venv/pip.conf";
    for stage in Stage::in_both_worlds(|| project(&PYTHON, script)) {
        passes(&stage, &[environment(&stage, "venv")]);
    }
}

#[test]
fn node_runs_tests() {
    let test = "require('node:test')('two', () => require('assert').equal(require('./two'), 2));\n";
    both(
        &[("node", "--version")],
        &[("src/two.js", "module.exports = 2;\n"), ("src/two.test.js", test)],
        "node --test src/two.test.js",
    );
}

#[test]
fn cargo_runs_tests() {
    let manifest = "[package]\nname = \"two\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    both(
        &[("cargo", "--version"), ("cc", "--version")],
        &[
            ("Cargo.toml", manifest),
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"two\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "#[test]\nfn two() {\n    assert_eq!(1 + 1, 2);\n}\n"),
        ],
        "cargo test --offline --lib",
    );
}

#[test]
fn go_runs_tests() {
    let test = "package src\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif two != 2 \
                {\n\t\tt.Fatal(two)\n\t}\n}\n";
    both(
        &[("go", "version")],
        &[
            ("go.mod", "module two\n\ngo 1.20\n"),
            ("src/two.go", "package src\n\nconst two = 2\n"),
            ("src/two_test.go", test),
        ],
        "GOTOOLCHAIN=local go test ./...",
    );
}

#[test]
fn java_runs_tests() {
    let test = "class Two {\n  public static void main(String[] args) throws Exception {\n    \
                if (1 + 1 != 2) throw new AssertionError();\n    \
                javax.net.ssl.SSLContext.getDefault();\n    \
                java.util.logging.LogManager.getLogManager().readConfiguration();\n  }\n}\n";
    both(
        &[("java", "-version"), ("javac", "-version")],
        &[("src/Two.java", test)],
        "mkdir -p src/out\njavac -d src/out src/Two.java\njava -cp src/out Two\njava src/Two.java",
    );
}

#[test]
fn ruby_runs_tests() {
    both(
        &[("ruby", "--version")],
        &[
            ("src/two.rb", "TWO = 2\n"),
            ("tests/two.rb", "require 'json'\nrequire 'two'\nraise if TWO != 2\n"),
        ],
        "ruby -Isrc tests/two.rb",
    );
}

#[test]
fn php_runs_tests() {
    both(
        &[("php", "--version")],
        &[
            ("src/two.php", "<?php return 2;\n"),
            ("tests/two.php", "<?php exit((require __DIR__ . '/../src/two.php') === 2 ? 0 : 1);\n"),
        ],
        "php tests/two.php",
    );
}

const C: (&str, &str) = ("src/two.c", "#include <math.h>\nint main(void) { return 1 + 1 != 2; }\n");

#[test]
fn make_runs_tests_in_c() {
    let makefile = "test: src/two\n\tsrc/two\nsrc/two: src/two.c\n\t$(CC) -o $@ $<\n";
    both(&[("make", "--version"), ("cc", "--version")], &[C, ("Makefile", makefile)], "make test");
}

#[test]
fn cmake_runs_tests_in_c() {
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(two C)\nenable_testing()\n\
                 add_executable(two src/two.c)\nadd_test(NAME two COMMAND two)\n";
    both(
        &[("cmake", "--version"), ("cc", "--version")],
        &[C, ("CMakeLists.txt", lists)],
        "cmake -S . -B build\ncmake --build build\ncd build\nctest",
    );
}

#[test]
fn doctor_names_what_commands_see_in_part_and_nothing_else() {
    let stage = project(&[], "true");
    stage.program("php", "exit");
    let named = |stage: &Stage| {
        let report = stage.run(&["doctor", "--json"]).json();
        let found = report["half_visible"].as_array().cloned().unwrap_or_default();
        let php = found.into_iter().find(|found| found["program"] == "php");
        php.map(|php| php["hidden"].as_str().unwrap().to_owned())
    };
    assert_eq!(named(&stage), None);
    std::fs::rename(stage.path("bin"), stage.path("programs")).unwrap();
    std::fs::create_dir(stage.path("bin")).unwrap();
    std::os::unix::fs::symlink(stage.path("programs/php"), stage.path("bin/php")).unwrap();
    assert_eq!(named(&stage), Some(stage.path("programs/php").to_str().unwrap().to_owned()));
}
