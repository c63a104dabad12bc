//! How scripts are wrapped; what comes of it under real shells is tested where they are run.

use super::{ReportingScript, ScriptStep, ShellDialect};
use pretty_assertions::assert_eq;

fn wrapped(text: &str, dialect: ShellDialect) -> String {
    let script = ReportingScript::of(text, text, dialect).unwrap();
    script.text.strip_prefix(&dialect.prelude()).unwrap().to_owned()
}

#[test]
fn wraps_commands_and_leaves_their_text_as_it_is() {
    for (text, bash) in [
        (
            "npm  test | tail -5",
            "{ ( npm  test ); __locum_stage 1 1; } | { ( tail -5 ); __locum_stage 1 2 .; }",
        ),
        (
            "cd x && ls >f 2>&1; echo y",
            "{ cd x; __locum_step 1 && :; } && { ls >f 2>&1; __locum_step 2 && :; }; echo y",
        ),
        ("a || b", "a || { b; __locum_step 1 && :; }"),
        ("if a; then b; fi", "if a; then { b; __locum_step 1 && :; }; fi"),
        (
            "cat <<E; b\na | b\nE\nc",
            "{ cat <<E; __locum_step 1 && :; }; { b; __locum_step 2 && :; }\na | b\nE\n\
             { c; __locum_step 3 && :; }",
        ),
        (
            "set -e; a | b",
            "set -e; { __locum_out; ( __locum_in; a ); __locum_stage 1 1; } | \
             { __locum_out; ( __locum_in; b ); __locum_stage 1 2 .; }",
        ),
    ] {
        assert_eq!(wrapped(text, ShellDialect::Bash), bash);
    }
    assert_eq!(
        wrapped("a | b 2>&1 || true", ShellDialect::Posix),
        "{ __locum_ended 2 \"$( { { ( a ) 7>&-; __locum_stage 0 1; } | \
         { ( b 2>&1 ) 7>&-; __locum_stage 0 2 .; }; } 7>&1 >&8 8>&- )\"; } 8>&1 || true"
    );
}

#[test]
fn all_options_of_set_count() {
    let piped = "{ __locum_out; ( __locum_in; a ); __locum_stage 1 1; } | \
                 { __locum_out; ( __locum_in; b ); __locum_stage 1 2 .; }";
    for set in ["set -u -e", "set -o pipefail -e", "set  -e", "set +x -eu"] {
        let text = format!("{set}; a | b");
        assert_eq!(wrapped(&text, ShellDialect::Bash), format!("{set}; {piped}"), "{set}");
    }
    for text in ["set -e -x; a | b", "set -o pipefail -x; a | b", "set  -x; a | b"] {
        assert_eq!(ReportingScript::of(text, text, ShellDialect::Bash), None, "{text}");
    }
    // Behind `--` stand words of the script's own.
    let plain = wrapped("set -- -e -x; a | b", ShellDialect::Bash);
    assert!(!plain.contains("__locum_out"), "{plain}");
}

#[test]
fn steps_are_shown_as_their_author_wrote_them() {
    let stages = |stages: &[&str]| ScriptStep {
        stages: stages.iter().map(|stage| (*stage).to_owned()).collect(),
    };
    let script = ReportingScript::of(
        "'git' '-c' 'x' 'log' | 'head'\n'a'",
        "git log|head; a",
        ShellDialect::Posix,
    );
    assert_eq!(script.unwrap().steps, [stages(&["git log", "head"]), stages(&["a"])]);
    // What is not alike is shown as it runs.
    let script = ReportingScript::of("'a' | 'b'", "a; b", ShellDialect::Posix);
    assert_eq!(script.unwrap().steps, [stages(&["'a'", "'b'"])]);
}

#[test]
fn what_is_hard_to_read_is_read_in_little_time() {
    for text in [
        "( ".repeat(4000),
        "a | ".repeat(4000),
        "{ if ( ".repeat(60),
        "$( ".repeat(500),
        "$( ".repeat(30),
        "`".repeat(500),
        format!("{}a | b{}", "if true; then ".repeat(5), "; fi".repeat(5)),
        format!("{}a | b{}", "( ".repeat(12), " )".repeat(12)),
        "for a in b; do c | d; done; ".repeat(12),
    ] {
        // It comes back: the limits hold before the grammar looks at it.
        let _ = ReportingScript::of(&text, &text, ShellDialect::Posix);
    }
}
