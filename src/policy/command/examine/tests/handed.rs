//! What programs are given that run code of the repository: neither what lies outside nor what is
//! protected, unless it is a file that they read, or text.

use super::examined;
use pretty_assertions::assert_eq;

fn check(cases: &[(&str, &str)]) {
    let found: Vec<_> = cases.iter().map(|(text, _)| (*text, examined(text, "."))).collect();
    let expected: Vec<_> = cases.iter().map(|(text, seen)| (*text, (*seen).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_value_names_nothing_outside_and_nothing_protected() {
    check(&[
        ("nox --force-python 3.12", "code"),
        ("nox --force-python /tmp/evil/python", "code !2"),
        ("nox --force-python=../evil", "code !1"),
        ("rspec --pattern spec/**/*_spec.rb", "code"),
        ("rspec --pattern /tmp/evil/**/*_spec.rb", "code !2"),
        ("rspec -P .github/x.rb", "code !2"),
        ("rspec -e /users", "code"),
        ("python -m unittest -p test_*.py", "code"),
        ("python -m unittest -p /tmp/*.py", "code !4"),
        ("jest --testMatch=**/a.ts", "code"),
        ("jest --testMatch=/tmp/x/**", "code !1"),
        ("jest -t /users", "code"),
        ("jest --transformIgnorePatterns /node_modules/", "code"),
        ("cmake --preset=/tmp/a", "code !1"),
        ("nox -s tests", "code"),
        ("nox -s .github/a", "code !1"),
        ("cmake --build build --target .github/a", "code !3 <build"),
        ("cmake --build build --target a .github/a", "code !5 <build"),
        ("gradle run --args=https://example.org/x", "code"),
        ("gradle run --args=/etc/passwd", "code !2"),
        ("gradle run --args=/etc/passwd,https://example.org", "code !2"),
        ("vite build --base=/app/", "code"),
    ]);
    let words = ["gradle", "run", "--args=--out AGENTS.md"].map(str::to_owned);
    let found = super::CommandEffects::of(&words, &super::RepoPath::root());
    assert_eq!(found.findings.iter().map(|finding| finding.index).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_word_names_nothing_outside_and_nothing_protected() {
    check(&[
        ("uv python find 3.12", "code"),
        ("uv python find /tmp/evil/python", "code !3"),
        ("cargo run -- a", "code"),
        ("cargo run -- /etc/passwd", "code !3"),
        ("dotnet run a", "code"),
        ("dotnet run /etc/passwd", "code !2"),
        ("make build/a", "code <?build/a"),
        ("make .github/a", "code !1 <?.github/a"),
        ("make AGENTS.md", "code !1 <?AGENTS.md"),
        ("make CARGO_TARGET_DIR=/tmp/a", "code"),
        ("ninja .github/a", "code !1 <?.github/a"),
        ("rake x[a]", "code"),
        ("rake x[.github/a]", "code !1"),
        ("jest --selectProjects a b", "code <?b"),
        ("jest --selectProjects a .github", "code !3 <?.github"),
        ("pytest /tmp/a", "code <!/tmp/a"),
        ("go list ./.github/...", "only <?.github"),
    ]);
}

#[test]
fn what_is_behind_two_hyphens_may_be_for_what_is_started() {
    check(&[
        ("dotnet test -- MSTest.Parallelize.Workers=4", "code <?MSTest.Parallelize.Workers=4"),
        (
            "dotnet test -- RunConfiguration.TestAdaptersPaths=/tmp/evil",
            "code !3 <?RunConfiguration.TestAdaptersPaths=/tmp/evil",
        ),
        (
            "dotnet test -- --results-directory .github",
            "code !3 !4 <?--results-directory <?.github",
        ),
        ("dotnet build -- -p:CscToolPath=evil", "code !3 <?-p:CscToolPath=evil"),
        ("pytest -- src", "code <?src"),
        ("pytest -- -x.py", "code !2 <?-x.py"),
        ("yarn lint -- --fix", "code <?lint <?--fix"),
    ]);
}
