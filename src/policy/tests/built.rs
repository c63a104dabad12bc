//! A program that a script compiles from the repository and then runs is what compiled it.

use crate::Policy;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::verdict::Decision;

const POLICY: &str = "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(build/**)\", \
                      \"command(g++:*)\", \"command(go build:*)\", \"command(go test:*)\", \
                      \"command(cp:*)\", \"command(cat:*)\", \"command(chmod:*)\", \
                      \"command(echo:*)\", \"command(tail:*)\"]\n  - deny: \"command(go build \
                      ./cmd/evil:*)\"\ncommands: { max_complexity: 1.0 }\n";

fn decision(text: &str, sandboxed: bool) -> (Decision, String) {
    let policy = Policy::parse(POLICY, "policy.yml").unwrap();
    let facts = Facts { mode: "code".to_owned(), sandboxed, ..Facts::default() };
    let script = Script::parse(text).below("/ws");
    let verdict = policy.decide(&Intent::Command(script), &facts);
    (verdict.decision, verdict.reason())
}

#[test]
fn what_was_compiled_from_the_repository_directly_before_runs_under_the_compilers_rule() {
    for text in [
        "go build -o /tmp/acme ./cmd/acme && /tmp/acme --version",
        "go build ./cmd/acme -o /tmp/acme && /tmp/acme",
        "go build -race -o /tmp/acme && /tmp/acme | tail -3",
        "g++ -std=c++20 -g src/a.cpp tests/a.cpp -Iinclude -o /tmp/t && echo run && /tmp/t",
        "g++-13 src/a.cpp -o /tmp/t && /tmp/t && /tmp/t x",
        "echo a || echo b && go build -o /tmp/acme ./cmd/acme && /tmp/acme",
    ] {
        let (decision, reason) = decision(text, true);
        assert_eq!(decision, Decision::Allow, "{text}: {reason}");
    }
    for text in [
        // The rule for it refuses it.
        "go build ./cmd/evil -o /tmp/acme && /tmp/acme",
        // It did not succeed, or not surely.
        "go build -o /tmp/acme ./cmd/acme; /tmp/acme",
        "go build -o /tmp/acme ./cmd/acme || /tmp/acme",
        "go build -o /tmp/acme ./cmd/acme && echo a || /tmp/acme",
        "echo a || go build -o /tmp/acme ./cmd/acme && /tmp/acme",
        "! go build -o /tmp/acme ./cmd/acme && /tmp/acme",
        "g++ src/a.cpp -o /tmp/t | tail -3 && /tmp/t",
        "/tmp/acme && go build -o /tmp/acme ./cmd/acme",
        "/tmp/acme",
        // It is another file, or something else was written there.
        "go build -o /tmp/acme ./cmd/acme && /tmp/other",
        "go build -o /tmp/acme ./cmd/acme && cp docs/x /tmp/acme && /tmp/acme",
        "go build -o /tmp/acme ./cmd/acme && echo x > /tmp/acme && /tmp/acme",
        "go build -o /tmp/a/acme ./cmd/acme && cp docs/x /tmp/a && /tmp/a/acme",
        "go build -o /tmp/acme ./cmd/acme && /tmp/acme && cp docs/x /tmp/acme",
        // Its code is not the repository's.
        "g++ /tmp/a.cpp -o /tmp/t && /tmp/t",
        "g++ src/a.cpp -I/tmp/x -o /tmp/t && /tmp/t",
        "g++ -x c++ - -o /tmp/t < docs/a && /tmp/t",
        "g++ -x c++ src/a.cpp - -o /tmp/t && /tmp/t",
        "g++ src/a.cpp -o /tmp/t <<'E' && /tmp/t\nint main() {}\nE",
        // It compiles nothing that runs, or is given more.
        "g++ -E src/a.cpp -o /tmp/t && /tmp/t",
        "g++ -fsyntax-only src/a.cpp -o /tmp/t && /tmp/t",
        "g++ -mcpu=help src/a.cpp -o /tmp/t && /tmp/t",
        "g++ --version -Iinclude -o /tmp/t && /tmp/t",
        "g++ src/a.cpp -o /tmp/t -o build/t && /tmp/t",
        "go build -n -o /tmp/acme ./cmd/acme && /tmp/acme",
        "go build -o /tmp/acme ./docs/... && /tmp/acme",
        "go test -c -o /tmp/acme ./docs && /tmp/acme",
        "cp docs/x /tmp/t && /tmp/t",
        "cat docs/x > /tmp/t && chmod +x /tmp/t && /tmp/t",
        "g++ -fplugin=a.so src/a.cpp -o /tmp/t && /tmp/t",
        "go build -o /tmp/acme ./cmd/acme && /tmp/acme /etc/passwd",
        // It lies in the repository, where its own rule counts.
        "g++ src/a.cpp -o build/t && build/t",
    ] {
        let (decision, reason) = decision(text, true);
        assert_eq!(decision, Decision::Deny, "{text}: {reason}");
    }
    // It runs code of the repository.
    let text = "g++ src/a.cpp -o /tmp/t && /tmp/t";
    assert_eq!(decision(text, false).0, Decision::Deny);
}
