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

const IGNORED: (&str, &str) = (".gitignore", "build/\n");

#[test]
fn a_project_in_c() {
    let lists = "enable_testing()\nadd_executable(acme main.c)\nadd_executable(${X} x.c)\n";
    check(
        &[
            ("CMakeLists.txt", lists),
            ("tests/CMakeLists.txt", "add_executable( parser_test\n a.c)"),
            ("src/a.cpp", ""),
            ("include/a.h", ""),
            IGNORED,
        ],
        &[
            "command(cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -GNinja)",
            "command(cmake -S . -B build -G Ninja)",
            "command(cmake --build build --parallel)",
            "command(cmake --build build --target check -j8 -- -k)",
            "command(ctest --test-dir build -R parser --output-on-failure)",
            "command(ninja -C build -v)",
            "command(./build/acme --version)",
            "command(build/tests/parser_test)",
            "command(valgrind --leak-check=full ./build/acme x)",
            "command(clang-format --dry-run -Werror src/a.cpp)",
            "command(clang-format -i src/a.cpp include/a.h)",
            "command(clang-tidy -p build src/a.cpp)",
            "command(cppcheck --enable=warning src)",
            "command(g++ -std=c++20 -Wall -Iinclude -fsyntax-only src/a.cpp)",
            "command(g++-13 -c src/a.cpp -o /tmp/a.o)",
            "command(nm -C build/acme)",
            "command(objdump -d build/a)",
            "command(readelf -a build/a)",
        ],
        &[
            "command(cmake -P a.cmake)",
            "command(cmake -E env curl x)",
            "command(cmake -S . -B .github)",
            "command(cmake .)",
            "command(cmake -S . -B build -DCMAKE_CXX_COMPILER_LAUNCHER=curl)",
            "command(cmake --install build)",
            "command(cmake --build build --target install)",
            "command(cmake --build build install)",
            "command(cmake --build build -- install)",
            "command(ctest -S a.cmake)",
            "command(ctest --build-and-test . build --test-command curl)",
            "command(ninja -C build -t msvc)",
            "command(./build/other)",
            "command(clang-format -i /etc/a.c)",
            "command(clang-format @a)",
            "command(g++ -wrapper git,push src/a.cpp)",
            "command(g++ src/a.cpp)",
            "command(g++ src/a.cpp -o .github/a)",
            "command(clang-tidy -load a.so src/a.cpp)",
            "command(clang-tidy src/a.cpp -- -fplugin=a.so)",
            "command(cppcheck --addon=a.py src)",
            "command(valgrind git push)",
            "command(valgrind --log-file=a ./build/acme)",
            "command(valgrind ./build/other)",
            "command(gdb -batch -ex run -ex bt --args ./build/acme x)",
            "command(gdb -batch -ex 'shell ls' --args ./build/acme)",
            "command(gdb ./build/acme)",
        ],
    );
    // What git does not ignore would be part of the change.
    check(&[("CMakeLists.txt", ""), ("a.c", "")], &[], &["command(cmake -S . -B build)"]);
    check(
        &[("meson.build", ""), ("src/a.c", ""), IGNORED],
        &[
            "command(meson setup build -Db_sanitize=address)",
            "command(meson compile -C build)",
            "command(meson test -C build --print-errorlogs)",
            "command(ninja -C build test)",
            "command(clang-format -n src/a.c)",
        ],
        &[
            "command(meson install -C build)",
            "command(meson setup .github)",
            "command(meson setup build --native-file a.ini)",
            "command(meson compile -C build install)",
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
            "command(bash -eux scripts/build.sh --help)",
            "command(bats tests)",
            "command(bats --filter usage tests/a.bats)",
        ],
        &[
            "command(bash -n -c ls)",
            "command(bash -n .env)",
            "command(bash -c ls)",
            "command(bash -s scripts/build.sh)",
            "command(bash /tmp/build.sh)",
            "command(bash ../build.sh)",
            "command(bash scripts/publish.sh)",
            "command(bash --rcfile a -i)",
            "command(bats --formatter /tmp/a tests)",
            "command(bats ../tests)",
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
    check(
        &[("Cargo.toml", ""), ("src/a.rs", "")],
        &[],
        &["command(shellcheck x.sh)", "command(bash x.sh)"],
    );
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
        &[(".github/workflows/ci.yml", &ci), IGNORED],
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
            "command(pylint --disable=all --enable=unused-import src)",
            "command(python -m pylint -E src/a.py)",
            "command(python -m bandit -r src)",
            "command(autopep8 --in-place --recursive src)",
        ],
        &[
            "command(pylint --init-hook=x src)",
            "command(pylint --load-plugins=x src)",
            "command(pylint --output-format=json:.github/a src)",
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
