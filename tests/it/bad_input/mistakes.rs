//! Mistakes of newcomers, maintainers and authors of policies, each with words of what is said. A
//! row is a mistake that somebody made: what was written, what is wrong, and what helps.

use pretty_assertions::assert_eq;

use crate::support::stage::Stage;

/// A command line, words of what is wrong, words of what helps.
type Row = (&'static [&'static str], &'static str, &'static str);

/// A script that is right.
const SCRIPT: &str = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: attempt_completion, \
                      args: { result: done } }]\n";

/// Mistakes of a command line.
const LINES: &[Row] = &[
    (&["run"], "there is no task", "hint: `locum run \"fix the failing test\"`"),
    (&["run", ""], "there is no task", "hint: `locum run \"fix the failing test\"`"),
    (
        &["run", "fix", "the", "test"],
        "unexpected argument 'the'",
        "hint: put several words into quotes",
    ),
    (&["run", "x", "--mode", "Code"], "no mode `Code`", "did you mean `code`?"),
    (&["run", "x", "--script", "no.yml"], "`no.yml` does not exist", "hint: paths begin in `/"),
    (&["run", "x", "--policy", "no.yml"], "`no.yml` does not exist", "hint: paths begin in `/"),
    (&["run", "x", "--replay", "no.jsonl"], "`no.jsonl` does not exist", "hint: paths begin in `/"),
    (
        &["run", "x", "--replay", "s.yml"],
        "is not a cassette",
        "hint: `--record FILE` of an earlier run",
    ),
    (
        &["run", "x", "--image", "no.png", "--script", "s.yml"],
        "No such file",
        "hint: paths begin in `/",
    ),
    (&["run", "x", "--image", "s.yml", "--script", "s.yml"], "it is not a PNG, JPEG, GIF", ""),
    (
        &["run", "x", "--base", "no"],
        "revision `no` does not exist",
        "hint: name a commit, branch or tag",
    ),
    (&["run", "x", "--max-turns", "many"], "invalid value 'many'", "such as 400, 20k or 2M"),
    (&["run", "x", "--timeout-minutes", "1h"], "invalid value '1h'", "hint: write a whole number"),
    (
        &["run", "x", "--max-cost-usd", "5USD"],
        "invalid value '5USD'",
        "a number of 0 or more, as in 2.50",
    ),
    (
        &["run", "x", "--publish", "forge"],
        "invalid value 'forge'",
        "[possible values: none, local]",
    ),
    (
        &["run", "x", "--sarif", "/no/a.sarif", "--script", "s.yml"],
        "no folder `/no`",
        "hint: make it",
    ),
    (&["run", "x", "--script", "s.yml", "--model", "m"], "cannot be used with", "Usage: locum run"),
    (&["run", "x", "--replay-tolerate", "system"], "not provided", "--replay <FILE>"),
    (
        &["--repo", "/no", "run", "x"],
        "`/no` is not a folder",
        "hint: name the folder of a git checkout",
    ),
    (
        &["--color", "blue", "run", "x"],
        "invalid value 'blue'",
        "[possible values: auto, always, never]",
    ),
    (&["job", "run", "no"], "there is no job `no`", "hint: there is none in `.locum/jobs/`"),
    (&["job", "due", "--within-minutes", "0"], "0 is not in 1..=525600", ""),
    (&["session", "show", "zzz"], "there is no session `zzz`", "hint: `locum session list`"),
    (&["session", "resume", "abc"], "there is no session `abc`", "hint: `locum session list`"),
    (&["session", "list", "--limit", "all"], "invalid value 'all'", "hint: write a whole number"),
    (&["modes", "show", "no"], "there is no mode `no`", "hint: there are: architect"),
    (&["modes", "import", "no.yml"], "`no.yml` does not exist", "hint: paths begin in `/"),
    (&["modes", "validate", "no.yml"], "`no.yml` does not exist", "hint: paths begin in `/"),
    (&["modes", "delete", "code"], "mode `code` is built in", "hint: print it with"),
    (&["commands", "show", "no"], "there is no command `/no`", "hint: commands are read from"),
    (&["skills", "show", "no"], "there is no skill `no`", "hint: skills are read from"),
    (
        &["policy", "explain", "edit"],
        "is not of the form `kind(...)`",
        "hint: write kind and what it",
    ),
    (&["policy", "explain", "edti(a)"], "did you mean `edit`?", ""),
    (&["policy", "explain", "command(ls"], "has no `)` at its end", "in quotes for the shell"),
    (&["policy", "explain", "edit(../x)"], "`../x` leaves the repository", "hint: "),
    (
        &["policy", "explain", "--mode", "no", "edit(a)"],
        "there is no mode `no`",
        "hint: `locum modes list`",
    ),
    (
        &["policy", "explain", "--at", "no", "edit(a)"],
        "revision `no` does not exist",
        "such as `HEAD`",
    ),
    (&["policy", "check", "no.yml"], "there is no file `no.yml`", "hint: paths begin in `/"),
    (
        &["policy", "import", "--from", "cursor", "x"],
        "'cursor'",
        "[possible values: roo, kode, claude]",
    ),
    (
        &["trigger", "explain", "--event-name", "issues", "--event", "s.yml"],
        "not JSON",
        "hint: `--event` takes the payload that GitHub sends",
    ),
    (
        &["trigger", "explain", "--event-name", "issues", "--event", "no.json"],
        "there is no file `no.json`",
        "hint: paths begin in `/",
    ),
    (&["schema", "no"], "invalid value 'no'", "[possible values: policy, job"),
    (&["completions", "tcsh"], "invalid value 'tcsh'", "[possible values: bash"),
];

/// Mistakes of a policy file.
const POLICIES: &[(&str, &str, &str)] = &[
    ("", "the file is empty", "hint: start with `version: 1`"),
    ("rules: []\n", ":1:1: `version` is missing", "hint: begin the file with `version: 1`"),
    ("version: 2\n", ":1:10: `version` must be 1", ""),
    ("version: 1\nrulez: []\n", "unknown key `rulez`", "hint: did you mean `rules`?"),
    ("version: 1\nrules: allow\n", "`rules` must be a list, not text", ""),
    ("version: 1\nrules:\n\t- allow: edit(a)\n", "tabs disallowed", "hint: indent with spaces"),
    ("version: 1\nrules:\n  - allow: edit(**\n", "pattern `edit(**` has no `)` at its end", ""),
    (
        "version: 1\nrules:\n  - allow: edti(a)\n",
        "unknown kind of pattern `edti`",
        "did you mean `edit`?",
    ),
    (
        "version: 1\nrules:\n  - allow: edit(/etc/a)\n",
        "is absolute",
        "relative to the repository root",
    ),
    (
        "version: 1\nrules:\n  - allow: edit(a)\n    deny: edit(b)\n",
        "exactly one of `allow`, `hold`, `deny`",
        "hint: write a rule for each",
    ),
    (
        "version: 1\nrules:\n  - allow: \"command(a && b)\"\n",
        "is more than one simple command",
        "a pattern holds plain words",
    ),
    (
        "version: 1\nrules:\n  - allow: edit(a)\n    when: now\n",
        "unknown key `when`",
        "hint: known here: allow",
    ),
    (
        "version: 1\nmodes: { default: ghost, allow: [code] }\n",
        "the default mode `ghost` is not allowed",
        "hint: add it to `modes.allow`",
    ),
    ("version: 1\nbudget: { turns: -1 }\n", "`turns` must be a whole number such as `400`", ""),
    ("version: 1\nbudget: { cost_usd: five }\n", "`cost_usd` must be a number from 0 to", ""),
    (
        "version: 1\nnetwork: { hosts: [a.b] }\n",
        "unknown key `hosts`",
        "hint: known here: allow, jobs",
    ),
    (
        "version: 1\ntriggers: { comment: { prefix: '' } }\n",
        "`prefix` is one word that starts",
        "such as `/locum`",
    ),
];

#[test]
fn mistakes_of_a_command_line_are_told_with_what_helps() {
    let stage = Stage::with(&[("README.md", "# It\n"), ("s.yml", SCRIPT)]);
    for (words, wrong, help) in LINES {
        let ran = stage.run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(ran.err.contains(wrong) && ran.err.contains(help), "{words:?}: {}", ran.err);
    }
}

#[test]
fn mistakes_of_a_policy_are_told_with_place_and_what_helps() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    for (text, wrong, help) in POLICIES {
        stage.write("checkout/.locum/policy.yml", text);
        let ran = stage.run(&["policy", "check"]);
        assert_eq!(ran.code, Some(2), "{text}: {ran:?}");
        assert!(ran.err.contains(".locum/policy.yml"), "{text}: {}", ran.err);
        assert!(ran.err.contains(wrong) && ran.err.contains(help), "{text}: {}", ran.err);
    }
}
