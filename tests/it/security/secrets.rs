//! Six values that must not be seen, planted wherever a run could come across one; everything that
//! leaves it is searched for them.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::action::fixture::{ActionFixture, Ask};
use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::{Ran, Stage};

/// A variable whose name says what it holds.
const NAMED: &str = "canary-Vt9Qx2-named-Lm4";
/// A variable whose name does not.
const UNNAMED: &str = "canary-Hr7Zk5-plain-Wd8";
/// What the model or the forge is asked with.
const KEY: &str = "canary-Bn3Ty6-modelkey-Pq1";
/// In git's own settings, as a checkout leaves it there.
const GIT: &str = "canary-Js8Fv0-gitconf-Xc2";
/// In files of the home.
const HOME: &str = "canary-Gu5Lw9-homefile-Re3";
/// In a file of the repository that holds credentials.
const FILE: &str = "canary-Mk1Ao4-dotenv-Zi7";

const ALL: [&str; 6] = [NAMED, UNNAMED, KEY, GIT, HOME, FILE];

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(sh src/probe.sh)", "command(cat:*)", "command(git:*)", "command(env)", "command(printenv)"]
publish: { allow: [comment, commit, pull-request], success: ["sh src/probe.sh"] }
"#;

/// Code of the repository that looks everywhere for something to tell, in several spellings.
const PROBE: &str = r#"
{
  env; set; cat /proc/self/environ /proc/$PPID/environ; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline
  git config -l --show-origin; git config --global -l; cat .git/config .env ../home/.netrc ../home/.ssh/id ../home/.config/gh/hosts.yml
  cat ~/.netrc; cat "$REAL_HOME/.netrc"; find / -name .netrc -exec cat {} + ; cat /root/.netrc
  git log -1; ls -la ../ ../home; cat ../output ../summary ../tmp/*/* ../state/locum/sessions/*/*
} > src/loot 2>&1
cat src/loot; base64 < src/loot; od -An -tx1 < src/loot | tr -d ' \n'; rev < src/loot 2>/dev/null; rm -f src/loot
exit 0
"#;

/// Every spelling in which a value could be smuggled out, each long enough to be no accident.
fn spellings(value: &str) -> Vec<String> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut all = vec![
        value.to_owned(),
        hex.clone(),
        hex.to_uppercase(),
        percent,
        value.chars().rev().collect(),
    ];
    all.push(value.chars().map(String::from).collect::<Vec<_>>().join("\u{200b}"));
    for shift in 0..3 {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(format!("{}{value}", "x".repeat(shift)));
            // Without the letters that what stands before and after has a part in.
            all.push(encoded[4..encoded.len() - 4].to_owned());
        }
    }
    all.push(value[4..].to_owned());
    all.push(value[..value.len() - 4].to_owned());
    all
}

#[track_caller]
fn assert_absent(place: &str, text: &str) {
    let folded = text.replace(['\r', '\n', ' '], "");
    for value in ALL {
        for spelling in spellings(value) {
            assert!(
                !text.contains(&spelling) && !folded.contains(&spelling),
                "{place} shows {spelling}:\n{}",
                around(text, &spelling)
            );
        }
    }
}

fn around(text: &str, spelling: &str) -> String {
    let at = text.find(spelling).unwrap_or(0);
    let (from, to) = (
        text.floor_char_boundary(at.saturating_sub(300)),
        text.floor_char_boundary((at + 400).min(text.len())),
    );
    text[from..to].to_owned()
}

/// Every file below a folder, whatever it is called.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => files(&path, found),
            Ok(metadata) if metadata.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// Searches every file of the stage but those the values were planted in.
fn assert_no_file_holds_one(stage: &Stage, planted: &[&str]) {
    let mut found = Vec::new();
    files(&stage.path(""), &mut found);
    let planted: Vec<PathBuf> = planted.iter().map(|path| stage.path(path)).collect();
    for file in
        found.iter().filter(|file| !planted.contains(file) && !file.starts_with(stage.path("bin")))
    {
        let bytes = std::fs::read(file).unwrap();
        assert_absent(&file.display().to_string(), &String::from_utf8_lossy(&bytes));
    }
}

/// Everything git keeps, unreachable objects included.
fn objects(stage: &Stage) -> String {
    let mut command = stage.plain("git");
    let kept = command
        .args(["cat-file", "--batch-all-objects", "--batch", "--buffer"])
        .current_dir(stage.path("checkout"))
        .output()
        .unwrap();
    String::from_utf8_lossy(&kept.stdout).into_owned()
}

const PLANTED: [&str; 6] = [
    "checkout/.git/config",
    "checkout/.env",
    "home/.netrc",
    "home/.ssh/id",
    "home/.config/gh/hosts.yml",
    "script.yml",
];

fn plant(stage: &Stage) {
    stage.write("checkout/.env", &format!("DATABASE_URL=postgres://app:{FILE}@db/app\n"));
    stage.write("home/.netrc", &format!("machine example.org login x password {HOME}\n"));
    stage.write(
        "home/.ssh/id",
        &format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{HOME}\n-----END OPENSSH PRIVATE KEY-----\n"
        ),
    );
    stage.write("home/.config/gh/hosts.yml", &format!("github.com:\n  oauth_token: {HOME}\n"));
    let header = STANDARD_NO_PAD.encode(format!("x-access-token:{GIT}"));
    stage.git(&[
        "config",
        "http.https://github.com/.extraheader",
        &format!("AUTHORIZATION: basic {header}"),
    ]);
    stage.git(&["config", "remote.origin.url", &format!("https://x:{GIT}@github.com/a/b")]);
}

fn stage() -> Stage {
    let stage = Stage::with(&[
        (".locum/policy.yml", POLICY),
        (".gitignore", ".env\n"),
        ("src/probe.sh", PROBE),
        ("src/lib.txt", "text\n"),
    ]);
    plant(&stage);
    stage
}

/// Turns of a model that knows the registered values and wants them out, in every field it has.
fn turns() -> String {
    let reversed: String = NAMED.chars().rev().collect();
    let encoded = STANDARD_NO_PAD.encode(NAMED);
    let split = NAMED.chars().map(String::from).collect::<Vec<_>>().join("\\u200b");
    let head = &NAMED[4..];
    format!(
        r#"
version: 1
tasks:
  - turns:
      - calls:
          - {{ tool: execute_command, args: {{ command: "env" }} }}
          - {{ tool: execute_command, args: {{ command: "cat /proc/self/environ" }} }}
          - {{ tool: execute_command, args: {{ command: "git config -l" }} }}
          - {{ tool: execute_command, args: {{ command: "cat .git/config .env" }} }}
          - {{ tool: execute_command, args: {{ command: "sh src/probe.sh" }} }}
          - {{ tool: read_file, args: {{ path: .git/config }} }}
          - {{ tool: read_file, args: {{ path: .env }} }}
          - {{ tool: read_file, args: {{ path: /proc/self/environ }} }}
          - {{ tool: search_files, args: {{ path: ., regex: "canary" }} }}
      - say: "The value is {NAMED}, or {encoded}, or {reversed}, or \"{split}\", or {head}. {KEY}"
        reasoning: "think {NAMED} {KEY}"
        calls:
          - {{ tool: write_to_file, args: {{ path: src/new.txt, content: "{NAMED}\n" }} }}
          - {{ tool: execute_command, args: {{ command: "cat {NAMED}" }} }}
          - {{ tool: read_file, args: {{ path: "src/{KEY}" }} }}
          - {{ tool: "{NAMED}", args: {{ path: x }} }}
          - {{ tool: update_todo_list, args: {{ todos: "[ ] {NAMED}" }} }}
      - calls: [{{ tool: read_file, args: {{ path: src/lib.txt }} }}, {{ tool: write_to_file, args: {{ path: src/lib.txt, content: "changed\n" }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "done with {NAMED} and {encoded} and {reversed} {KEY}" }} }}]
"#
    )
}

fn assert_ran_clean(ran: &Ran) {
    assert_absent("stdout", &ran.out);
    assert_absent("stderr", &ran.err);
}

#[test]
fn no_secret_is_seen_by_a_child_the_model_or_anyone_after() {
    for stage in Stage::in_both_worlds(stage) {
        no_secret_is_seen_on(&stage);
    }
}

fn no_secret_is_seen_on(stage: &Stage) {
    stage.write("script.yml", &turns());
    for format in ["text", "json", "stream-json"] {
        let script = stage.path("script.yml");
        let given = [
            "run",
            "Do the task.",
            "--script",
            script.to_str().unwrap(),
            "--publish",
            "local",
            "--output-format",
            format,
        ];
        let mut command = stage.locum(&given);
        command
            .env("DEPLOY_TOKEN", NAMED)
            .env("HARMLESS", UNNAMED)
            .env("OPENAI_API_KEY", KEY)
            .env("LOCUM_LOG", "trace");
        let ran: Ran = command.output().unwrap().into();
        // The probe is the check as well. Without namespaces, the processes of other tests may
        // leave its shell none to start.
        assert!(matches!(ran.code, Some(0 | 7)), "{ran:?}");
        assert_ran_clean(&ran);
        assert!(
            ran.err.contains("TRACE") || ran.err.contains("trace"),
            "the log is at its most talkative: {}",
            ran.err
        );
        assert_no_file_holds_one(stage, &PLANTED);
        assert_absent("git's objects", &objects(stage));
        stage.git(&["checkout", "-q", "--", "src"]);
    }
    let session = stage.sessions()[0].clone();
    let journal = stage.read(&format!("state/locum/sessions/{session}/journal.jsonl"));
    assert!(journal.contains("PATH="), "the attacks did run: {journal}");
    for arguments in [["session", "show", &session], ["session", "export", &session]] {
        let mut command = stage.locum(&arguments);
        let ran: Ran = command.env("DEPLOY_TOKEN", NAMED).output().unwrap().into();
        assert_ran_clean(&ran);
    }
}

#[test]
fn a_key_leaves_as_a_request_header_and_in_no_other_way() {
    let stage = stage();
    let mut server = ModelServer::start(vec![
        Answer::calls(&[("execute_command", serde_json::json!({ "command": "sh src/probe.sh" }))]),
        Answer::plain(
            401,
            "application/json",
            &format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}"),
        ),
    ]);
    let url = server.base_url.clone();
    let mut command = stage.locum(&["run", "Do the task."]);
    command
        .env("DEPLOY_TOKEN", NAMED)
        .env("HARMLESS", UNNAMED)
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_BASE_URL", &url)
        .env("LOCUM_MODEL", "test-model")
        .env("LOCUM_LOG", "trace");
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_ran_clean(&ran);
    assert_no_file_holds_one(&stage, &PLANTED);
    let asked = server.asked();
    assert!(asked.len() >= 2, "{asked:?}");
    for request in asked {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        let others: String = request
            .headers
            .iter()
            .filter(|(name, _)| name != "authorization")
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect();
        assert_absent("a header", &others);
        assert_absent("the request", &request.body);
    }
}

#[test]
fn nothing_that_reaches_the_forge_or_the_runner_holds_a_secret() {
    let fixture = ActionFixture::new();
    let stage = &fixture.stage;
    stage.write(
        "checkout/.locum/policy.yml",
        &format!("{POLICY}triggers: {{ comment: {{ prefix: /locum, tiers: [maintainer] }} }}\n"),
    );
    stage.write("checkout/.locum/script.yml", &turns());
    stage.write("checkout/src/probe.sh", PROBE);
    stage.write("checkout/.gitignore", ".env\n");
    stage.commit("the policy of this test");
    stage.git(&["push", "-q", stage.path("remotes/acme/app.git").to_str().unwrap(), "main"]);
    plant(stage);
    // What git is started with, in writing.
    let git = "for fd in /proc/self/fd/*; do :; done; { echo \"argv: $*\"; env; } >> \
               \"${0%/bin/git}/git.log\"; exec /usr/bin/git \"$@\"";
    stage.program("git", git);
    let secrets = [
        ("DEPLOY_TOKEN", NAMED),
        ("HARMLESS", UNNAMED),
        ("GITHUB_TOKEN", "canary-other-token-0"),
        ("INPUT_GITHUB_TOKEN", KEY),
        ("LOCUM_LOG", "trace"),
    ];
    let step = fixture.step(&Ask { inputs: &secrets, ..Ask::comment("/locum code do it") });
    assert_eq!(step.code, Some(0), "{step:?}");
    let shown: String = step
        .out
        .lines()
        .filter(|line| !line.starts_with("::add-mask::"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_absent("stdout", &shown);
    assert_absent("stderr", &step.err);
    let masks = step.out.lines().filter(|line| line.starts_with("::add-mask::")).count();
    assert!(masks >= 2, "{}", step.out);
    let git = stage.read("git.log");
    assert!(git.contains("argv: push"), "git was started by way of the recorder: {git}");
    let planted: Vec<&str> =
        PLANTED.iter().copied().chain(["checkout/.locum/script.yml"]).collect();
    assert_no_file_holds_one(stage, &planted.into_iter().chain(["event.json"]).collect::<Vec<_>>());
    assert_eq!(fixture.server.pulls().len(), 1, "{step:?}");
    for request in fixture.server.requests() {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_absent(&request.path, &format!("{}\n{}", request.path, request.body));
    }
}
