//! Limits end every run, the end says which, and nothing is left behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::stage::{Ran, Stage};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
commands: { timeout: 2s, output: 4KiB }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(sh src/attack.sh)", "command(sleep:*)", "command(cat:*)"]
budget: { turns: 8, tool_calls: 6, minutes: 1 }
"#;

const DONE: &str = "      - calls: [{ tool: attempt_completion, args: { result: r } }]\n";

fn stage(attack: &str) -> Stage {
    Stage::with(&[(".locum/policy.yml", POLICY), ("src/attack.sh", attack), ("src/a", "one\n")])
}

fn play(stage: &Stage, turns: &str) -> (Ran, Duration) {
    let begin = Instant::now();
    let ran = stage.play(&format!("version: 1\ntasks:\n  - turns:\n{turns}"), &[]);
    (ran, begin.elapsed())
}

fn command(text: &str) -> String {
    format!("      - calls: [{{ tool: execute_command, args: {{ command: \"{text}\" }} }}]\n")
}

/// Processes whose environment names this stage: nothing else of this machine has its folder in it.
fn left_running(stage: &Stage) -> Vec<String> {
    let mine = stage.path("").display().to_string();
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| {
            std::fs::read(entry.path().join(name))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default()
        };
        if entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
            && (read("environ").contains(&mine) || read("cmdline").contains(&mine))
        {
            left.push(read("cmdline"));
        }
    }
    left
}

#[test]
fn a_command_that_never_ends_is_ended_and_the_answer_says_so() {
    for attack in [
        "sleep 1000",
        "while :; do :; done",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        "yes",
        "sleep 1000 & sleep 1000",
    ] {
        let stage = stage(attack);
        let (ran, took) = play(&stage, &format!("{}{DONE}", command("sh src/attack.sh")));
        assert_eq!(ran.code, Some(0), "{attack}: {ran:?}");
        assert!(
            stage.answers()[0].1.starts_with("Killed after 2 s"),
            "{attack}: {:?}",
            stage.answers()
        );
        assert!(stage.answers()[0].1.len() < 20_000, "{attack}");
        assert!(took < Duration::from_secs(30), "{attack}: {took:?}");
        assert_eq!(left_running(&stage), Vec::<String>::new(), "{attack}");
    }
}

#[test]
fn a_model_that_never_ends_meets_its_budget_and_the_outcome_names_it() {
    let stage = stage("true");
    let turns: String = (0..9).map(|number| command(&format!("cat src/a src/a{number}"))).collect();
    let (ran, _) = play(&stage, &turns);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    assert!(ran.out.contains("budget of 6 tool calls is used up"), "{}", ran.out);
    let silent = "      - say: hm\n".repeat(9);
    let stage = self::stage("true");
    let (ran, _) = play(&stage, &silent);
    assert!(matches!(ran.code, Some(3 | 6)), "{ran:?}");
    assert!(ran.out.contains("Why: "), "{}", ran.out);
}

#[test]
fn a_policy_that_is_a_bomb_is_refused_at_once() {
    let aliases = format!(
        "version: 1\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c \
         [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [{}]\n",
        "*c,".repeat(200)
    );
    let deep = format!("version: 1\nrules: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("version: 1\nrules:\n{}", "  - allow: \"read(a)\"\n".repeat(200_000));
    let json = format!(
        "{{\"version\": 1, \"rules\": {}1{}}}",
        "{\"a\":".repeat(50_000),
        "}".repeat(50_000)
    );
    for (name, text) in [("aliases", aliases), ("depth", deep), ("length", long), ("json", json)] {
        let stage = Stage::with(&[("src/a", "one\n")]);
        stage.write("policy.yml", &text);
        let begin = Instant::now();
        let ran = stage.run(&["policy", "check", stage.path("policy.yml").to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.err.get(..2000).unwrap_or(&ran.err));
        assert!(begin.elapsed() < Duration::from_secs(20), "{name}: {:?}", begin.elapsed());
        assert!(ran.err.len() < 100_000, "{name}");
    }
}

#[test]
fn arguments_that_are_bombs_are_answered() {
    let stage = stage("true");
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    let long = "x".repeat(300_000);
    let nested = "(".repeat(5000);
    let turns = format!(
        "      - calls: [{{ tool: read_file, raw: '{{\"path\": {deep}}}' }}, {{ tool: read_file, \
         args: {{ path: {long} }} }}, {{ tool: execute_command, args: {{ command: \"{nested}\" }} \
         }}]\n{DONE}{DONE}"
    );
    let (ran, took) = play(&stage, &turns);
    assert!(matches!(ran.code, Some(0)), "{ran:?}");
    assert_eq!(stage.answers().len(), 4, "every call is answered");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

/// Every file below a folder with its content, leaving out what the test names.
fn snapshot(folder: &Path, but: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
            if but.iter().any(|skipped| name.starts_with(skipped)) {
                continue;
            }
            match std::fs::symlink_metadata(entry.path()) {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(_) => {
                    found.insert(name, std::fs::read(entry.path()).unwrap_or_default());
                }
                Err(_) => {}
            }
        }
    }
    found
}

#[test]
fn nothing_is_left_behind() {
    let attack = "echo x > src/made; echo x > ../outside; echo x > ~/x; echo x > $TMPDIR/x; echo \
                  x >> .git/config; (setsid sleep 1000 &); (nohup sleep 1000 > /dev/null 2>&1 &)";
    for stage in Stage::in_both_worlds(|| stage(attack)) {
        nothing_is_left_of(&stage);
    }
}

fn nothing_is_left_of(stage: &Stage) {
    stage.write("checkout/dirty", "mine\n");
    // Git's objects, the run's own ref and its log and the lock of the checkout are ours to write.
    let kept = [
        "checkout/.git/locum.lock",
        "checkout/.git/objects",
        "checkout/.git/refs/locum",
        "checkout/.git/logs/refs/locum",
        "checkout/src/made",
        "state",
        "script.yml",
    ];
    stage.write("script.yml", "");
    let before = snapshot(&stage.path(""), &kept);
    let (ran, _) = play(stage, &format!("{}{DONE}", command("sh src/attack.sh")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.read("checkout/src/made"), "x\n", "the attack did run");
    let after = snapshot(&stage.path(""), &kept);
    let names = |snapshot: &BTreeMap<String, Vec<u8>>| snapshot.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&after), names(&before));
    let changed: Vec<&String> = after
        .iter()
        .filter(|(name, content)| before.get(*name) != Some(content))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, Vec::<&String>::new());
    assert_eq!(left_running(stage), Vec::<String>::new());
}
