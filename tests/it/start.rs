//! The path of a stranger, as `docs/start/laptop.md` and `docs/start/actions.md` tell it: with
//! nothing but the files of a release, in an empty home. Each step's time is printed.
//!
//! The program is the one under test and knows no release, so `locum init` is given the Action.
//! `tests/release.sh` makes a whole release, and goes on to the Action in a workflow.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use pretty_assertions::assert_eq;

use crate::docs::read;
use crate::support::model_server::{Answer, ModelServer, Piece};
use crate::support::stage::{ACTION, Ran, Stage};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What `sha256sum` says of a file.
fn checksum(stage: &Stage, file: &Path) -> String {
    let output = stage.plain("sha256sum").arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// Packs the program as a release does, and fills in the install script; returns the archive.
fn release(stage: &Stage) -> (String, String) {
    let name = format!("locum-{VERSION}-{}-unknown-linux-musl", std::env::consts::ARCH);
    let folder = stage.path("files").join(&name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::hard_link(env!("CARGO_BIN_EXE_locum"), folder.join("locum"))
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_locum"), folder.join("locum")).map(drop))
        .unwrap();
    let packed = stage.path("files").join(format!("{name}.tar"));
    let mut tar = stage.plain("tar");
    tar.arg("-C").arg(stage.path("files")).arg("-cf").arg(&packed).arg(&name);
    assert!(tar.status().unwrap().success());
    let archive = format!("{name}.tar.gz");
    let file = File::create(stage.path("files").join(&archive)).unwrap();
    let mut writer = GzEncoder::new(file, Compression::none());
    std::io::copy(&mut File::open(packed).unwrap(), &mut writer).unwrap();
    writer.finish().unwrap();
    let sum = checksum(stage, &stage.path("files").join(&archive));
    let script = read("config/install.sh")
        .replacen("@REPOSITORY@", "acme/locum", 1)
        .replacen("@VERSION@", VERSION, 1)
        .replacen("@SUMS@", &format!("{sum}  {archive}"), 1);
    (archive, script)
}

/// The first command after a heading of a page.
fn command_below(page: &str, heading: &str) -> String {
    let (_, below) = page.split_once(heading).unwrap();
    let (_, block) = below.split_once("```sh\n").unwrap();
    block.lines().map(str::trim).find(|line| line.starts_with("locum ")).unwrap().to_owned()
}

#[test]
fn a_stranger_installs_and_gets_to_a_first_run() {
    let stage = Stage::with(&[
        ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", "//! Nothing.\n"),
    ]);
    let has = |program: &str| stage.plain(program).arg("--version").output().is_ok();
    if !(has("curl") || has("wget")) {
        eprintln!("skipped: neither curl nor wget is installed");
        return;
    }
    let (archive, script) = release(&stage);
    let files = stage.path("files");
    let served = format!("/v1/{archive}");
    let server = ModelServer::start_with(move |asked| {
        if asked.path != served {
            return Answer::plain(404, "text/plain", "there is no such file");
        }
        let bytes = std::fs::read(files.join(&archive)).unwrap();
        let pieces = vec![Piece::Bytes(bytes)];
        Answer { status: 200, headers: Vec::new(), pieces }
    });
    let mut times = String::new();
    let mut timed = |what: &str, command: &mut Command| -> Ran {
        let begun = Instant::now();
        let ran: Ran = command.output().unwrap().into();
        let _ = writeln!(times, "{what}: {} ms", begun.elapsed().as_millis());
        ran
    };

    stage.write("install.sh", &script);
    let mut install = stage.plain("sh");
    install.arg(stage.path("install.sh")).args(["--mirror", &server.base_url]);
    let ran = timed("install", &mut install);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("SHA-256 of the archive checked"), "{ran:?}");
    // One that was swapped is not taken.
    let sum = script.find("sums='").unwrap() + "sums='".len();
    let other = format!("{}{}{}", &script[..sum], "0".repeat(64), &script[sum + 64..]);
    stage.write("other.sh", &other);
    let mut install = stage.plain("sh");
    install.arg(stage.path("other.sh")).args(["--mirror", &server.base_url]);
    install.args(["--dir", stage.path("other").to_str().unwrap()]);
    let ran: Ran = install.output().unwrap().into();
    assert!(ran.code != Some(0) && ran.err.contains("nothing was installed"), "{ran:?}");
    assert!(!stage.path("other").exists());

    let installed = stage.path("home/.local/bin/locum");
    let locum = |line: &str| {
        let mut command = stage.plain(installed.to_str().unwrap());
        command.args(locum_policy::command::word::split(line).unwrap().split_off(1));
        command.current_dir(stage.path("checkout"));
        command
    };
    let laptop = read("docs/start/laptop.md");
    let demo = command_below(&laptop, "## 1. See a whole run");
    let ran = timed("first run", &mut locum(&demo));
    assert_eq!(ran.code, Some(0), "{demo}: {ran:?}");
    let plan = command_below(&laptop, "## 2. See the plan");
    let ran = timed("plan", &mut locum(&plan));
    assert_eq!(ran.code, Some(0), "{plan}: {ran:?}");
    assert!(ran.out.contains("built-in"), "{ran:?}");

    let actions = read("docs/start/actions.md");
    let init = command_below(&actions, "1. **Write the policy");
    let ran = timed("init", &mut locum(&format!("{init} --action {ACTION}")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for file in [".locum/policy.yml", ".github/workflows/locum.yml"] {
        let text = stage.read(&format!("checkout/{file}"));
        for placeholder in ["OWNER", "0000000", "TODO", "FIXME"] {
            assert!(!text.contains(placeholder), "{file}: {text}");
        }
    }
    stage.commit("locum");
    let check = command_below(&actions, "2. **Check them");
    let ran = timed("check", &mut locum(&check));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    eprint!("{times}");
}

/// A run in which one file is written.
const WRITES: &str = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: write_to_file, \
                      args: { path: src/b.txt, content: b } }]\n      - calls: [{ tool: \
                      attempt_completion, args: { result: r } }]\n";

#[test]
fn publishing_here_says_why_there_is_no_branch() {
    let published = |policy: &str| -> Ran {
        let own = (!policy.is_empty()).then_some((".locum/policy.yml", policy));
        let files: Vec<_> = [("src/a.txt", "a\n")].into_iter().chain(own).collect();
        let stage = Stage::with(&files);
        stage.play(WRITES, &["--mode", "code", "--publish", "local"])
    };
    let begin = "not published: no branch and no pull request: the ";
    let with = |publish: &str| {
        format!(
            "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\"]\npublish: {publish}\n"
        )
    };
    let built_in = published("");
    assert_eq!(built_in.code, Some(0), "{built_in:?}");
    let alone = "shows changes only in a comment or a review";
    let said = format!("{begin}built-in policy {alone}");
    assert!(built_in.out.contains(&said), "{built_in:?}");
    assert!(built_in.out.contains("with `locum init`, and commit it"), "{built_in:?}");
    let comments = published(&with("{ allow: [comment], as: comment }"));
    let said = format!("{begin}policy `.locum/policy.yml` {alone}");
    assert!(comments.out.contains(&said), "{comments:?}");
    // A review, too, needs a pull request; and each mode may have its own form.
    for publish in [
        "{ allow: [comment, review], as: review }",
        "{ allow: [comment], as: { modes: { code: comment } } }",
    ] {
        let shown = published(&with(publish));
        assert!(shown.out.contains(alone), "{publish}: {shown:?}");
    }
    // What else stands in the way has its own words.
    for publish in ["{ allow: [comment], as: pull-request }", "{ allow: [comment], as: commit }"] {
        let refused = published(&with(publish));
        assert!(!refused.out.contains(alone), "{publish}: {refused:?}");
        assert!(refused.out.contains("not published"), "{publish}: {refused:?}");
    }
    let opens = published(&with("{ allow: [comment, commit, pull-request], as: pull-request }"));
    assert!(!opens.out.contains(begin) && opens.out.contains("published: "), "{opens:?}");
}
