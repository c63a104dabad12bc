//! Commands: what they are judged by, how they end.

use std::path::Path;
use std::time::Duration;

use super::{CommandDetails, CommandOutput, ExecuteCommand, Exit, NetworkReach};
use crate::tools::command_remarks::is_kept_from_temporary;
use crate::tools::fixture::ToolFixture;
use crate::tools::resolved_path::ResolvedPath;
use locum_base::path::RepoPath;
use locum_base::text::ClippedText;
use locum_base::tool::ToolName;
use locum_policy::command::Script;
use locum_policy::intent::{Act, Intent};
use pretty_assertions::assert_eq;

fn output(exit: Exit, text: &str) -> CommandOutput {
    CommandOutput {
        exit,
        failed_steps: Vec::new(),
        output: ClippedText { text: text.into(), omitted_bytes: 0 },
        traffic: None,
        elapsed: Duration::ZERO,
    }
}

fn command() -> ExecuteCommand {
    ExecuteCommand {
        script: Script::parse("true"),
        folder: ResolvedPath::plain(RepoPath::root()),
        timeout: Duration::from_secs(9),
        is_shortened: false,
        in_background: false,
        behind_links: Vec::new(),
    }
}

#[test]
fn what_hides_in_an_output_is_spelled_out() {
    for (text, expected) in [
        ("a\0b\u{1b}[31mc\u{202e}d\n", "\nOutput:\na(U+0000)bc(U+202E)d"),
        ("plain é\n", "\nOutput:\nplain é"),
        ("\u{1b}[0m\n", "\nOutput:\n(no output)"),
    ] {
        let none = CommandDetails::default();
        let output = output(Exit::Code(0), text);
        let shown = command().render(&output, &none, NetworkReach::Everything);
        assert!(shown.ends_with(expected), "{shown}");
    }
}

#[test]
fn says_how_a_command_ended() {
    let command = command();
    let shortened =
        ExecuteCommand { timeout: Duration::from_secs(3), is_shortened: true, ..command.clone() };
    let none = CommandDetails::default();
    let said = |command: &ExecuteCommand, exit, network| {
        let said = "npm error code EAI_AGAIN";
        command.render(&output(exit, said), &none, network)
    };
    assert!(
        said(&shortened, Exit::TimedOut, NetworkReach::Everything)
            .starts_with("Killed after 3 s, the timeout that was asked for\n")
    );
    assert!(
        said(&command, Exit::Code(137), NetworkReach::Everything)
            .contains("128 + signal 9 (SIGKILL)")
    );
    for (exit, network, expected) in [
        (Exit::Code(1), NetworkReach::Nothing, true),
        (Exit::Code(0), NetworkReach::Nothing, false),
        (Exit::Code(1), NetworkReach::Everything, false),
    ] {
        let text = said(&command, exit, network);
        assert_eq!(
            text.ends_with("Commands have no network: the policy says `network: off`."),
            expected
        );
    }
    // Some programs wait for a host and say nothing.
    for (exit, network, expected) in [
        (
            Exit::TimedOut,
            NetworkReach::Nothing,
            "\n\nIf it waited for a host: commands have no network, the policy says `network: off`.",
        ),
        (
            Exit::TimedOut,
            NetworkReach::Listed,
            "\n\nIf it waited for a host: commands reach only those that the policy allows.",
        ),
        (Exit::TimedOut, NetworkReach::Everything, "Output:\n..."),
        (Exit::Code(1), NetworkReach::Nothing, "Output:\n..."),
    ] {
        let text = command.render(&output(exit, "..."), &none, network);
        assert!(text.ends_with(expected), "{exit:?}: {text}");
    }
    for (exit, text, expected) in [
        (Exit::Code(0), "ok\n\n", "Exit code: 0\nWorking directory: .\nOutput:\nok"),
        (
            Exit::Code(2),
            "",
            "Exit code: 2 (the command was not successful; its output should say \
                 why)\nWorking directory: .\nOutput:\n(no output)",
        ),
        (Exit::Signal(9), "x", "Ended by signal 9 (SIGKILL)\nWorking directory: .\nOutput:\nx"),
        (
            Exit::TimedOut,
            "x",
            "Killed after 9 s, the longest it may run; do not run it again as it is\nWorking \
                 directory: .\nOutput:\nx",
        ),
    ] {
        assert_eq!(command.render(&output(exit, text), &none, NetworkReach::Everything), expected);
    }
}

#[test]
fn a_program_that_may_not_write_to_tmp_is_led_to_the_folder_of_its_own() {
    for (root, said, expected) in [
        ("/tmp/app", "cp: cannot create '/tmp/x': permission denied", true),
        ("/tmp/app", "cp: cannot create '/tmp/app/src/x': permission denied", false),
        ("/tmp/app", "open /tmp/x: no such file or directory", false),
        ("/home/app", "cp: cannot create '/tmp/x': permission denied", false),
    ] {
        assert_eq!(is_kept_from_temporary(said, Path::new(root)), expected, "{root}: {said}");
    }
}

#[test]
fn a_change_of_folder_at_the_front_is_where_the_command_runs() {
    let fixture = ToolFixture::new(&[("src/deep/b", "x"), ("src/a", "x"), ("a", "x")]);
    std::os::unix::fs::symlink("/etc", fixture.at("out")).unwrap();
    let parse = |command: &str, cwd: &str| {
        let arguments = serde_json::json!({ "command": command, "cwd": cwd }).to_string();
        fixture
            .parse("execute_command", &arguments, &[ToolName::ExecuteCommand])
            .map(|call| call.intents())
    };
    // Which folder was written in front of it is kept, for rules that refuse it.
    let script = |command: &str, cwd: &str| {
        let intents = parse(command, cwd).unwrap();
        let Some((Intent::Command(script), rest)) = intents.split_first() else {
            panic!("{intents:?}")
        };
        (script.text().to_owned(), script.folder().clone(), rest.to_vec())
    };
    let same = |command: &str, cwd: &str, plain: &str, folder: &str| {
        assert_eq!(script(command, cwd), script(plain, folder), "{command}");
    };
    same("cd src && cat a", ".", "cat a", "src");
    same("  cd  src/deep/ &&\n cat b | wc -l; ls", ".", "cat b | wc -l; ls", "src/deep");
    same("cd deep && cat b", "src", "cat b", "src/deep");
    same("cd src; cat a", ".", "cat a", "src");
    same("cd src\ncat a", ".", "cat a", "src");
    same("(cd src && cat a)", ".", "cat a", "src");
    same("pushd src >/dev/null && cat a && popd >/dev/null", ".", "cat a", "src");
    same("cd . && echo x > a", "src", "echo x > a", "src");
    same(&format!("cd {} && ls", fixture.at("src").display()), ".", "ls", "src");
    for refused in [
        "cd .. && cat secret",
        "cd /etc && cat passwd",
        "cd out && cat passwd",
        "cd src/a && ls",
        "cd none && ls",
        "pushd .. && cat secret && popd",
        "pushd out; cat passwd; popd",
    ] {
        assert!(parse(refused, ".").is_err(), "{refused}");
    }
    // What is not exactly that stays a change of folder, which the policy refuses.
    for kept in [
        "cd - && ls",
        "cd $X && ls",
        "cd 'src' && ls",
        "cd src || ls",
        "cd src & ls",
        "(cd src && ls) | cat",
        "cd src &&",
        "cd src && cd deep && ls",
        "cd s* && ls",
        "cd a b && ls",
    ] {
        let Ok(intents) = parse(kept, ".") else { panic!("{kept}") };
        let Some(Intent::Command(script)) = intents.first() else { panic!("{kept}") };
        assert!(script.text().contains("cd "), "{kept}: {script:?}");
    }
}

#[test]
fn what_a_command_names_is_judged_where_it_really_lies() {
    let fixture = ToolFixture::new(&[("real/a", "x"), ("sub/b", "x")]);
    for (target, link) in [("real/a", "link"), ("/etc/hosts", "out"), ("../real", "sub/up")] {
        std::os::unix::fs::symlink(target, fixture.at(link)).unwrap();
    }
    let parse = |command: &str, cwd: &str| {
        let arguments = serde_json::json!({ "command": command, "cwd": cwd }).to_string();
        fixture.parse("execute_command", &arguments, &[ToolName::ExecuteCommand])
    };
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let behind = |command: &str, cwd: &str| parse(command, cwd).unwrap().intents().split_off(2);
    assert_eq!(behind("cat real/a", "."), []);
    assert_eq!(behind("cat link", "."), [Intent::Read(path("real/a"))]);
    assert_eq!(behind("cat up/a", "sub"), [Intent::Read(path("real/a"))]);
    assert_eq!(behind("echo x > link", "."), [Intent::Edit(path("real/a"))]);
    assert!(parse("cat out", ".").unwrap_err().0.contains("leads out of the repository"));

    // Behind a second change of folder, which is judged where its words say or not at all.
    std::fs::create_dir(fixture.at("sub/deep")).unwrap();
    std::os::unix::fs::symlink("../../real/a", fixture.at("sub/deep/c")).unwrap();
    std::os::unix::fs::symlink("/etc", fixture.at("sub/etc")).unwrap();
    assert_eq!(behind("cd sub && cd deep && cat c", "."), [Intent::Read(path("real/a"))]);
    for (command, is_judged) in [
        ("cd sub && cd deep && cat c", true),
        ("cd sub && cd missing && cat c", true),
        ("cd sub && cd up && cat a", false),
        ("cd sub && cd etc && cat hosts", false),
        ("cd . && cd sub/up && cat a", false),
        ("cd sub && cd missing/../up && cat a", false),
        ("mkdir -p sub/new && cd sub/new && cat c", true),
        ("mkdir -p sub/up && cd sub/up && cat a", false),
    ] {
        let call = parse(command, ".").unwrap();
        let intents = call.intents();
        let Some(Intent::Command(script)) = intents.first() else { panic!("{command}") };
        assert_eq!(script.behind_folder().is_some(), is_judged, "{command}");
    }
}
