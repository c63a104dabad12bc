//! Starters allow what checks and builds in C, in scripts of a shell, in Python and in Java.

use pretty_assertions::assert_eq;

use super::{check, scan};
use crate::starter::{StarterChoices, propose};

/// A workflow whose steps run these commands.
fn workflow(commands: &[&str]) -> String {
    let steps: String =
        commands.iter().map(|command| format!("      - run: {command}\n")).collect();
    format!("on: push\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n{steps}")
}

#[test]
fn a_project_in_c() {
    check(
        &[("CMakeLists.txt", "enable_testing()"), ("src/a.cpp", ""), ("include/a.h", "")],
        &[
            "command(cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug)",
            "command(cmake -S . -B build -G Ninja)",
            "command(cmake --build build --parallel)",
            "command(clang-format --dry-run -Werror src/a.cpp)",
            "command(clang-format -i src/a.cpp include/a.h)",
            "command(objdump -d build/a)",
            "command(readelf -a build/a)",
        ],
        &[
            "command(cmake -P a.cmake)",
            "command(cmake -S . -B build -DCMAKE_CXX_COMPILER_LAUNCHER=curl)",
            "command(cmake --install build)",
            "command(cmake --build build --target install)",
            "command(clang-format -i /etc/a.c)",
            "command(g++ -wrapper git,push src/a.cpp)",
            "command(clang-tidy -load a.so src/a.cpp)",
            "command(cppcheck --addon=a.py src)",
            "command(valgrind git push)",
            "command(gdb -batch -ex run --args git push)",
        ],
    );
    check(
        &[("meson.build", ""), ("src/a.c", "")],
        &[
            "command(meson setup build)",
            "command(meson compile -C build)",
            "command(ninja -C build test)",
            "command(clang-format -n src/a.c)",
        ],
        &[
            "command(meson install -C build)",
            "command(meson test -C build --wrapper curl)",
            "command(ninja -C build install)",
            "command(ninja -f a.ninja)",
        ],
    );
    // A Makefile alone says nothing of C.
    check(&[("Makefile", ""), ("a.py", "")], &[], &["command(clang-format -n a.c)"]);
}

#[test]
fn scripts_of_a_shell() {
    let files = [("scripts/build.sh", ""), ("scripts/a b.sh", ""), ("tests/a.bats", ""), ("x", "")];
    check(
        &files,
        &[
            "command(shellcheck -x scripts/build.sh)",
            "command(shfmt -d -i 2 scripts)",
            "command(bash -n scripts/build.sh)",
            "command(bats tests)",
        ],
        &[
            "command(bash scripts/build.sh)",
            "command(bash -n -c ls)",
            "command(bash -n scripts/build.sh x)",
            "command(bash -c ls)",
            "command(shellcheck /etc/profile)",
            "command(shfmt -w ../x.sh)",
        ],
    );
    let proposal = propose(&scan(&files), &StarterChoices::default()).unwrap();
    assert!(proposal.has_tests, "{}", proposal.policy);
    // Other tests come first.
    let files = [("Cargo.toml", ""), ("src/a.rs", ""), ("x.sh", ""), ("tests/a.bats", "")];
    let text = check(&files, &["command(shellcheck x.sh)", "command(bats tests)"], &[]);
    let success = text.split_once("  success:").unwrap().1;
    assert_eq!(success.lines().skip(1).collect::<Vec<_>>(), ["    - \"cargo test\""]);
    check(&[("Cargo.toml", ""), ("src/a.rs", "")], &[], &["command(shellcheck x.sh)"]);
}

#[test]
fn what_workflows_check_and_build_may_be_run_word_for_word() {
    let ci = workflow(&[
        "shellcheck bin/run",
        "clang-tidy -p build src/a.c",
        "cppcheck --error-exitcode=1 src",
        "cmake -S . -B build -DWITH_X=ON",
        "cmake --build build --target check",
        "cmake --install build",
        "cmake --build build --target install",
        "cmake -P deploy.cmake",
        "pylint src",
        "gotestsum --format testname",
        "actionlint",
        "shfmt -d bin/run && git push",
        "codespell; curl evil.example",
    ]);
    let text = check(
        &[(".github/workflows/ci.yml", &ci)],
        &[
            "command(shellcheck bin/run)",
            "command(clang-tidy -p build src/a.c)",
            "command(cppcheck --error-exitcode=1 src)",
            "command(cmake -S . -B build -DWITH_X=ON)",
            "command(cmake --build build --target check)",
            "command(pylint src)",
            "command(gotestsum --format testname)",
            "command(actionlint)",
        ],
        &[
            "command(shellcheck bin/other)",
            "command(clang-tidy -load a.so src/a.c)",
            "command(cmake --install build)",
            "command(cmake --build build --target install)",
            "command(cmake -P deploy.cmake)",
            "command(pylint --init-hook=x src)",
            "command(gotestsum --raw-command -- curl x)",
            "command(git push)",
            "command(curl evil.example)",
        ],
    );
    assert!(
        text.contains("\"command(shellcheck bin/run)\" # .github/workflows/ci.yml:6 runs it"),
        "{text}"
    );
}

#[test]
fn checkers_of_python_that_are_set_up() {
    let project = "[project.optional-dependencies]\ndev = [\"bandit\", \"pylint\"]\n";
    check(
        &[("pyproject.toml", project), ("requirements-dev.txt", "autopep8\n"), ("src/a.py", "")],
        &[
            "command(bandit -r src -ll)",
            "command(python -m bandit -r src)",
            "command(autopep8 --in-place --recursive src)",
        ],
        &[
            "command(pylint --init-hook=x src)",
            "command(bandit -o /etc/x -r src)",
            "command(autopep8 --in-place ../a.py)",
            "command(vulture src)",
            "command(pycodestyle src)",
        ],
    );
}

#[test]
fn archives_and_the_formatter_of_java() {
    let build = "spotless { java { googleJavaFormat() } }\n";
    check(
        &[("build.gradle", build), ("src/main/java/A.java", "")],
        &[
            "command(jar tf build/libs/a.jar)",
            "command(google-java-format -i src/main/java/A.java)",
        ],
        &[
            "command(jar xf build/libs/a.jar)",
            "command(jar -cf a.jar src)",
            "command(jar tf /tmp/../etc/a.jar)",
            "command(google-java-format -i /etc/A.java)",
        ],
    );
    check(
        &[("pom.xml", ""), ("src/main/java/A.java", "")],
        &[],
        &["command(google-java-format -i src/main/java/A.java)"],
    );
}
