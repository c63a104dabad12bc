//! Commands that run without a sandbox: how they end, what they print, and that none is left.
#![expect(clippy::disallowed_methods, reason = "tests make and read files, and take the time")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use rustix::process::{Pid, test_kill_process};

use super::steps::{JudgedBy, ShellScript};
use super::{CommandOutput, CommandRun, ExecError, Exit, run_program};
use crate::machine::sandbox::Sandbox;
use crate::reach::CommandReach;
use locum_base::secret::Redactor;
use locum_policy::command::{Script, ScriptExecution};
use locum_policy::intent::Intent;
use locum_testing::permits::permit;

const LONG: Duration = Duration::from_secs(20);

async fn run(
    execution: ScriptExecution,
    folder: &Path,
    env: &[(&str, &str)],
    timeout: Duration,
) -> Result<CommandOutput, ExecError> {
    let script = Script::parse("");
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (sandbox, reach) = (Sandbox::around_nothing(), reach(folder));
    let command = CommandRun {
        tail: None,
        script: &script,
        folder: folder.to_owned(),
        env: &env,
        timeout,
        output_bytes: 1000,
        redactor: &Redactor::default(),
        sandbox: &sandbox,
        reach,
        proxy: None,
    };
    let script = match execution {
        ScriptExecution::Words(words) => ShellScript { words, steps: Vec::new() },
        ScriptExecution::Shell(text) => ShellScript::reporting(&text, &text, JudgedBy::Words),
    };
    run_program(script, &command, (false, None)).await.map(|(output, _)| output)
}

pub(super) fn reach(root: &Path) -> CommandReach<'_> {
    CommandReach::open(root)
}

async fn sh(text: &str, timeout: Duration) -> CommandOutput {
    let folder = tempfile::tempdir().unwrap();
    let path = [("PATH", "/usr/bin:/bin")];
    run(ScriptExecution::Shell(text.to_owned()), folder.path(), &path, timeout).await.unwrap()
}

#[tokio::test]
async fn what_is_fed_reads_its_input_once_and_its_errors_are_apart() {
    let folder = tempfile::tempdir().unwrap();
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let (redactor, sandbox) = (Redactor::default(), Sandbox::around_nothing());
    let large = "x".repeat(300_000);
    for (text, input, expected) in [
        ("cat", "a question", (Exit::Code(0), "a question", "")),
        ("cat; echo why >&2; exit 2", "q", (Exit::Code(2), "q", "why\n")),
        ("wc -c | tr -d ' '", large.as_str(), (Exit::Code(0), "300000\n", "")),
        ("echo unread", large.as_str(), (Exit::Code(0), "unread\n", "")),
        ("sleep 60", "q", (Exit::TimedOut, "", "")),
    ] {
        let permitted = Script::parse("echo a");
        let permit = permit(&[Intent::Command(permitted.clone())]);
        let command = CommandRun {
            tail: None,
            script: &permitted,
            folder: folder.path().to_owned(),
            env: &env,
            timeout: if text.starts_with("sleep") { Duration::from_millis(50) } else { LONG },
            output_bytes: 1000,
            redactor: &redactor,
            sandbox: &sandbox,
            reach: reach(folder.path()),
            proxy: None,
        };
        let script = ShellScript::without_reports(text, JudgedBy::Words);
        let fed = run_program(script, &command, (false, Some(input.as_bytes()))).await;
        let (CommandOutput { exit, output, .. }, errors) = fed.unwrap();
        assert_eq!((exit, &*output.text, &*errors.text), expected, "{text}");
        let fed = super::run_fed(&permit, command.clone(), input.as_bytes()).await.unwrap();
        assert_eq!((fed.exit, &*fed.output.text), (Exit::Code(0), "a\n"), "{text}");
        let other = Script::parse("true");
        let command = CommandRun { script: &other, ..command };
        let refused = super::run_fed(&permit, command, input.as_bytes()).await;
        assert!(matches!(refused, Err(ExecError::NotPermitted)), "{text}");
    }
}

fn words(words: &[&str]) -> ScriptExecution {
    ScriptExecution::Words(words.iter().map(|word| (*word).to_owned()).collect())
}

pub(super) fn process_in(file: &Path) -> Pid {
    Pid::from_raw(std::fs::read_to_string(file).unwrap().trim().parse().unwrap()).unwrap()
}

#[tokio::test]
async fn runs_what_the_permit_covers_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let redactor = Redactor::default();
    let permitted = Script::parse("echo a | echo b");
    let permit = permit(&[Intent::Command(permitted.clone())]);
    let sandbox = Sandbox::around_nothing();
    let command = |script| CommandRun {
        tail: None,
        script,
        folder: folder.path().to_owned(),
        env: &env,
        timeout: LONG,
        output_bytes: 100,
        redactor: &redactor,
        sandbox: &sandbox,
        reach: reach(folder.path()),
        proxy: None,
    };
    assert_eq!(super::run(&permit, command(&permitted)).await.unwrap().output.text, "b\n");
    for script in ["echo a", "echo a | echo b; true"].map(Script::parse) {
        let command = CommandRun { script: &script, ..command(&permitted) };
        assert!(
            matches!(super::run(&permit, command).await, Err(ExecError::NotPermitted)),
            "{}",
            script.text()
        );
    }
}

#[tokio::test]
async fn says_how_a_command_ended() {
    for (text, exit) in
        [("true", Exit::Code(0)), ("exit 7", Exit::Code(7)), ("kill -9 $$", Exit::Signal(9))]
    {
        assert_eq!(sh(text, LONG).await.exit, exit, "{text}");
    }
}

#[tokio::test]
async fn gives_both_streams_in_order_and_no_input() {
    assert_eq!(sh("echo a; echo b >&2; cat; echo c", LONG).await.output.text, "a\nb\nc\n");
}

#[tokio::test]
async fn runs_words_without_a_shell_in_the_folder_and_environment_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let env = [("PATH", "/usr/bin:/bin"), ("A", "1")];
    let text = |output: Result<CommandOutput, ExecError>| output.unwrap().output.text;
    assert_eq!(text(run(words(&["echo", "$A", "*", ";x"]), &path, &env, LONG).await), "$A * ;x\n");
    assert_eq!(
        text(run(words(&["env"]), &path, &env, LONG).await),
        "A=1\nNO_COLOR=1\nPATH=/usr/bin:/bin\n"
    );
    assert_eq!(
        text(run(words(&["pwd", "-P"]), &path, &env, LONG).await),
        format!("{}\n", path.display())
    );
}

#[tokio::test]
async fn says_why_a_command_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain"), "x").unwrap();
    for program in ["no-such-program", "./plain", "./none", "."] {
        let error = run(words(&[program]), folder.path(), &[], LONG).await.unwrap_err();
        assert!(
            matches!(&error, ExecError::Start { program: named, .. } if named == program),
            "{error}"
        );
    }
    let error = run(words(&["true"]), &folder.path().join("none"), &[], LONG).await.unwrap_err();
    assert!(matches!(error, ExecError::NoFolder(_)), "{error}");
    assert!(matches!(
        run(words(&[]), folder.path(), &[], LONG).await,
        Err(ExecError::NotUnderstood)
    ));
}

#[tokio::test]
async fn kills_what_takes_too_long() {
    for text in
        ["echo begun; sleep 1000", "echo begun; sleep 1000 & wait", "echo begun; exec sleep 1000"]
    {
        let output = sh(text, Duration::from_millis(200)).await;
        assert_eq!(
            (output.exit, output.output.text.as_str()),
            (Exit::TimedOut, "begun\n"),
            "{text}"
        );
        assert!(output.elapsed < Duration::from_secs(2), "{:?}", output.elapsed);
    }
}

#[tokio::test]
async fn kills_what_does_not_want_to_end() {
    let output =
        sh("trap '' TERM; echo begun; while :; do sleep 0.05; done", Duration::from_millis(200))
            .await;
    assert_eq!((output.exit, output.output.text.as_str()), (Exit::TimedOut, "begun\n"));
}

#[tokio::test]
async fn bounds_output_that_never_ends() {
    let output = sh("exec yes", Duration::from_millis(300)).await;
    assert_eq!(output.exit, Exit::TimedOut);
    assert!(
        output.output.omitted_bytes > 100_000 && output.output.text.len() < 1100,
        "{}",
        output.output.omitted_bytes
    );
    let output = sh("echo first; seq 100000; echo last", LONG).await;
    assert!(
        output.output.text.starts_with("first\n1\n")
            && output.output.text.ends_with("100000\nlast\n")
    );
}

#[tokio::test]
async fn leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = [("PATH", "/usr/bin:/bin")];
    for text in [
        "sleep 1000 & echo $! > pid",
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; \
             done",
        "(setsid env -i sh -c 'echo $$ > pid; sleep 1000; true' >/dev/null 2>&1 &) ; while ! \
             [ -s pid ]; do sleep 0.01; done",
    ] {
        let begin = Instant::now();
        let output =
            run(ScriptExecution::Shell(text.to_owned()), folder.path(), &path, LONG).await.unwrap();
        assert_eq!(output.exit, Exit::Code(0), "{text}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{text}");
        assert!(test_kill_process(process_in(&folder.path().join("pid"))).is_err(), "{text}");
        std::fs::remove_file(folder.path().join("pid")).unwrap();
    }
}

#[tokio::test]
async fn a_command_that_ends_spares_the_one_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = [("PATH", "/usr/bin:/bin")];
    let long = "(setsid sh -c 'sleep 0.3; echo done > late' &); while ! [ -s late ]; do sleep \
                    0.01; done";
    let long = run(ScriptExecution::Shell(long.to_owned()), folder.path(), &path, LONG);
    let short = async {
        for _ in 0..5 {
            run(ScriptExecution::Shell("sleep 0.01".to_owned()), folder.path(), &path, LONG)
                .await
                .unwrap();
        }
    };
    let (long, ()) = tokio::join!(long, short);
    assert_eq!(long.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn dropping_the_run_kills_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "setsid sleep 1000 & echo $! > other; echo $$ > pid; sleep 1000";
    let running = run(
        ScriptExecution::Shell(text.to_owned()),
        folder.path(),
        &[("PATH", "/usr/bin:/bin")],
        LONG,
    );
    let pid = folder.path().join("pid");
    let begun = async {
        while std::fs::read_to_string(&pid).unwrap_or_default().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = running => panic!("it sleeps"),
        () = begun => {}
    }
    assert!(test_kill_process(process_in(&folder.path().join("other"))).is_err());
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process_in(&pid).as_raw_nonzero()))
        .unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}
