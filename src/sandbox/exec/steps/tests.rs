//! Scripts under real shells: their own code, and what each of their commands reports.
#![expect(clippy::disallowed_types, reason = "tests run shells")]

use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;

use super::{StepReports, failed};
use locum_base::secret::Redactor;
use locum_policy::command::steps::{ReportingScript, ScriptStep, ShellDialect};

const SHELLS: &[(&str, ShellDialect)] = &[
    ("bash", ShellDialect::Bash),
    ("bash", ShellDialect::Posix),
    ("dash", ShellDialect::Posix),
    ("sh", ShellDialect::Posix),
];

/// Runs a script; returns its code, its output and the steps that failed.
fn run(shell: &str, dialect: ShellDialect, text: &str) -> (i32, String, String) {
    let script = ReportingScript::of(text, text, dialect);
    let (steps, wrapped) =
        script.map_or_else(|| (Vec::new(), text.to_owned()), |script| (script.steps, script.text));
    let (reports, writer) = StepReports::of(steps.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stdin = if steps.is_empty() { Stdio::null() } else { Stdio::from(writer) };
    let mut command = Command::new(shell);
    command.args(["-c", &wrapped]).current_dir(folder.path()).stdin(stdin);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let failed: Vec<String> = reports
        .finish(&Redactor::default())
        .iter()
        .map(|step| {
            let stages =
                step.stages.iter().map(|stage| format!("{}: {}", stage.command, stage.code));
            stages.collect::<Vec<_>>().join(" | ")
        })
        .collect();
    let text = String::from_utf8(text).unwrap();
    (output.status.code().unwrap_or(-1), text, failed.join("; "))
}

#[track_caller]
fn check(text: &str, code: i32, said: &str, steps: &str) {
    for (shell, dialect) in SHELLS {
        let expected = (code, said.to_owned(), steps.to_owned());
        assert_eq!(run(shell, *dialect, text), expected, "{shell} {dialect:?}: {text}");
    }
}

#[test]
fn a_pipe_fails_when_a_member_does() {
    check("false | cat", 1, "", "false: 1 | cat: 0");
    check("(exit 3) | cat", 3, "", "(exit 3): 3 | cat: 0");
    check("true | cat; echo x", 0, "x\n", "");
    check(
        "true | (exit 2) | (exit 3) | cat",
        3,
        "",
        "true: 0 | (exit 2): 2 | (exit 3): 3 | cat: 0",
    );
    check("false | cat && echo next", 1, "", "false: 1 | cat: 0");
    check("false | cat; echo $?", 0, "1\n", "false: 1 | cat: 0");
    check("echo a | grep b", 1, "", "echo a: 0 | grep b: 1");
    check("{ echo a; exit 4; } | cat; echo $?", 0, "a\n4\n", "{ echo a; exit 4; }: 4 | cat: 0");
}

#[test]
fn a_member_whose_reader_is_gone_has_not_failed() {
    let steps = "yes: 141 | head -n 1: 0";
    check("yes | head -n 1 && echo next", 0, "y\nnext\n", steps);
    check("set -e; yes | head -n 1; echo next", 0, "y\nnext\n", steps);
    check(
        "while :; do echo z; done | head -n 1; echo next",
        0,
        "z\nnext\n",
        "while :; do echo z; done: 141 | head -n 1: 0",
    );
    check("true | sh -c 'kill -13 $$'; echo $?", 0, "141\n", "true: 0 | sh -c 'kill -13 $$': 141");
}

#[test]
fn what_a_script_asks_for_itself_is_no_failure() {
    for text in [
        "false | cat || true",
        "! false | cat",
        "! false",
        "if false | cat; then echo x; fi",
        "if ! test -e x; then true; fi",
        "while false; do echo x; done",
        "[ -e x ] && echo x; true",
        "false && true || true",
        "f() { false; }; if f; then echo x; fi",
        "(false || true) | cat",
        "ls nothing 2>&1 > /dev/null | grep -q x || true",
    ] {
        check(text, 0, "", "");
    }
}

#[test]
fn the_commands_of_a_list_say_how_they_ended() {
    check("false; echo x", 0, "x\n", "false: 1");
    check("false\necho x", 0, "x\n", "false: 1");
    check("true && sh -c 'exit 9' && echo x", 9, "", "sh -c 'exit 9': 9");
    check("sh -c 'exit 7'; echo $?", 0, "7\n", "sh -c 'exit 7': 7");
    check("x=$(sh -c 'exit 5'); echo $?", 0, "5\n", "x=$(sh -c 'exit 5'): 5");
    check("for c in 3 0; do sh -c \"exit $c\"; done", 0, "", "sh -c \"exit $c\": 3");
    check("if true; then sh -c 'exit 2'; fi; echo x", 0, "x\n", "sh -c 'exit 2': 2");
    check("(sh -c 'exit 2'; echo y); echo x", 0, "y\nx\n", "sh -c 'exit 2': 2");
    check("set -e; true; sh -c 'exit 6'; echo never", 6, "", "");
    check("cd / && pwd; false & wait", 0, "/\n", "");
}

#[test]
fn a_script_sees_what_it_would_see_without() {
    check("x=1; cd /; echo \"$x $PWD\"", 0, "1 /\n", "");
    check("sh -c 'exit 3'; echo $? | cat", 0, "3\n", "sh -c 'exit 3': 3");
    check("set -- a b; ls / > /dev/null; echo \"$# $1\"", 0, "2 a\n", "");
    check("cat <<E | sort\nb\na\nE\necho $?", 0, "a\nb\n0\n", "");
    check("cat <<'E' > f; cat f\n$x `y` | z\nE", 0, "$x `y` | z\n", "");
    check(
        "cat <<A - <<B | sort; ls nothing 2> /dev/null; echo x\na\nA\nb\nB",
        0,
        "b\nx\n",
        "ls nothing 2> /dev/null: 2",
    );
    check(
        "IFS=:; x=a:b; printf '%s,' $x | cat; false | cat; echo $?",
        0,
        "a,b,1\n",
        "false: 1 | cat: 0",
    );
    check("echo a # | b\necho 'c | d' | cat", 0, "a\nc | d\n", "");
    check("case x in (x|y) ls / > /dev/null; echo q;; esac; echo r", 0, "q\nr\n", "");
    check("f() { echo \"$1\" | cat; return 4; }; f z; echo $?", 0, "z\n4\n", "f z: 4");
    check(
        "exec 3>&1; echo a >&3; ls / >&3 | cat > /dev/null; echo b | cat >&3; exec 3>&-; true",
        0,
        &run("sh", ShellDialect::Posix, "echo a; ls /; echo b").1,
        "",
    );
    check("set -e; test -e nothing && echo x; ls / > /dev/null; echo y", 0, "y\n", "");
    check("set -u -e; true | false; echo survived", 1, "", "true: 0 | false: 1");
    check(
        "set -eu; yes | head -n 1; ls nothing 2> /dev/null | cat || echo z",
        0,
        "y\nz\n",
        "yes: 141 | head -n 1: 0",
    );
    check(
        "printf 'é | ü' | cat; ls nothing 2>/dev/null | cat; true",
        0,
        "é | ü",
        "ls nothing 2>/dev/null: 2 | cat: 0",
    );
}

#[test]
fn bash_keeps_what_it_knows_of_a_pipe() {
    let run = |text| run("bash", ShellDialect::Bash, text);
    assert_eq!(
        run("sh -c 'exit 3' | cat | cat; echo ${PIPESTATUS[@]}"),
        (0, "3 0 0\n".to_owned(), "sh -c 'exit 3': 3 | cat: 0 | cat: 0".to_owned())
    );
    assert_eq!(run("ls / >/dev/null; echo ${PIPESTATUS[@]}").1, "0\n");
    assert_eq!(run("[[ a =~ b|c ]]; echo $?; x=(1 2); echo ${#x[@]} | cat").1, "1\n2\n");
    assert_eq!(run("diff <(echo a) <(echo a) | cat; echo $?").1, "0\n");
    assert_eq!(run("set +o pipefail; false | cat; echo $?").1, "0\n");
    let steps = run("for ((i = 0; i < 2; i++)); do false | cat; done; echo $?");
    assert_eq!((steps.1.as_str(), steps.2.as_str()), ("1\n", "false: 1 | cat: 0"));
}

#[test]
fn what_is_written_to_the_pipe_by_others_can_only_add_a_failure() {
    let (code, _, steps) = run(
        "dash",
        ShellDialect::Posix,
        "sh -c 'echo 1 1 0 >&9; echo 9 9 9 >&9; echo x >&9; echo 1 1 4 x >&9; exit 3'; false",
    );
    assert_eq!(
        (code, steps.as_str()),
        (1, "sh -c 'echo 1 1 0 >&9; echo 9 9 9 >&9; echo x >&9; echo 1 1…: 3; false: 1")
    );
    let (code, said, _) = run(
        "bash",
        ShellDialect::Bash,
        "sh -c 'i=0; while [ $i -lt 20000 ]; do echo 1 1 5; i=$((i+1)); done >&197' 2>/dev/null; \
         false | cat; echo $?; false",
    );
    assert_eq!((code, said.as_str()), (1, "1\n"));
    let step = ScriptStep { stages: vec!["a".to_owned(), "b".to_owned()] };
    for reports in [
        "",
        "0 1 1\n",
        "1 0 1\n",
        "2 1 1\n",
        "1 3 1\n",
        "1 1 0\n",
        "1 1 999\n",
        "1 1\n",
        "-1 1 1\n",
    ] {
        assert_eq!(failed(std::slice::from_ref(&step), reports), [], "{reports}");
    }
}

/// Scripts that could not be put into other words for sure run as they are.
#[test]
fn leaves_alone_what_it_cannot_read_surely() {
    for text in [
        "ls",
        "ls -l | cat >",
        "set -x; ls | cat",
        "shopt -s lastpipe; ls | cat",
        ">f cat x | sort",
        "a; __locum_step 1",
        &"( ".repeat(20),
        &format!("echo {} | cat", "x".repeat(20_000)),
    ] {
        assert_eq!(ReportingScript::of(text, text, ShellDialect::Bash), None, "{text:.60}");
    }
}
