//! Help, examples in it, man pages and completion.

use super::{Run, Setup};
use locum::cli::command_line::{EXAMPLES, command};
use pretty_assertions::assert_eq;

use locum_policy::command::word;
use locum_testing::repository::{commit_all, init};

#[test]
fn every_example_of_the_help_is_a_command_line_the_program_takes() {
    for (of, lines) in EXAMPLES {
        let mut found = command();
        for name in of.split(' ').skip(1) {
            found = found.find_subcommand(name).unwrap_or_else(|| panic!("no `{of}`")).clone();
        }
        let help = found.render_long_help().to_string();
        for (line, what) in *lines {
            assert!(help.contains(line) && help.contains(what), "{of}: {help}");
            let own = line.split(" | ").find(|part| part.starts_with("locum ")).unwrap();
            let own = own.split(" >").next().unwrap();
            let words = word::split(&own.replace("~/", "/home/")).unwrap();
            let wrong = command().try_get_matches_from(&words).err();
            let wrong = wrong.filter(clap::Error::use_stderr);
            assert!(wrong.is_none(), "{line}: {wrong:?}");
        }
    }
    let main = command();
    let with_some = main.get_subcommands().filter(|below| below.get_after_help().is_some());
    assert!(with_some.count() >= 10);
}

#[test]
fn help_and_version_are_commands_too() {
    let setup = Setup::new();
    let same = |words: &str, flag: &str| {
        let (run, other) = (setup.run(words), setup.run(flag));
        assert_eq!((run.code, &run.out), (Some(0), &other.out), "{words}");
    };
    same("help", "--help");
    same("help run", "run --help");
    same("help policy explain", "policy explain --help");
    same("version", "--version");
    assert_eq!(setup.run("version --json").json()["name"], "locum");
    let help = setup.run("help run").out;
    for heading in ["Examples:", "Global options:", "Limits:", "Models:", "Results:"] {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}: {help}");
    }
}

#[test]
fn man_pages_are_written_for_every_command() {
    let setup = Setup::new();
    let page = setup.run("man");
    assert!(page.code == Some(0) && page.out.contains(".TH locum 1"), "{page:?}");
    let run = setup.run("man --dir pages");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for name in ["locum.1", "locum-run.1", "locum-policy-explain.1"] {
        let text = std::fs::read_to_string(setup.0.path().join("pages").join(name)).unwrap();
        assert!(text.contains(".SH SYNOPSIS") && text.contains("Examples:"), "{name}: {text}");
        let title = text.lines().find(|line| line.starts_with(".TH")).unwrap_or_default();
        assert!(title.contains("\"locum "), "{name}: {title}");
    }
    let wrong = setup.file("taken", "").run("man --dir taken");
    assert!(wrong.code == Some(2) && wrong.err.contains("hint: name a folder"), "{wrong:?}");
}

#[test]
fn a_shell_is_answered_with_what_there_is_where_it_asks() {
    let session = "01999999999999999999999999999999";
    let setup = Setup::new()
        .file(".locum/jobs/nightly.yml", "version: 1\ndescription: Tidies\ntask: Tidy up\n")
        .file(
            ".config/locum/config.yml",
            "models: { profiles: { fast: { model: m, base_url: 'http://127.0.0.1:1/v1' } } }\n",
        );
    let folder = setup.1.path().join("locum/sessions").join(session);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("journal.jsonl"), "").unwrap();
    commit_all(&init(setup.0.path()), "start");
    let asked = |words: &[&str]| -> Run {
        let mut command = setup.command("--");
        command.arg("locum").args(words);
        let index = words.len().to_string();
        command.env("LOCUM_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index);
        command.env("_CLAP_IFS", "\n").output().unwrap().into()
    };
    for (words, expected) in [
        (&["run", "--mode", ""][..], "architect"),
        (&["modes", "show", "co"], "code"),
        (&["policy", "explain", "ed"], "edit("),
        (&["job", "run", "ni"], "nightly"),
        (&["run", "--model", ""], "fast"),
        (&["session", "show", "0"], session),
        (&["pol"], "policy"),
        (&["run", "--max-t"], "--max-turns"),
    ] {
        let run = asked(words);
        assert!(run.out.lines().any(|line| line == expected), "{words:?}: {run:?}");
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{words:?}");
    }
    let script = setup.run("completions bash");
    assert!(script.out.contains("LOCUM_COMPLETE=\"bash\""), "{script:?}");
}
