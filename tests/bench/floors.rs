//! Benchmarks of single floors: decisions, search, commands, checkpoints, the journal, the removal
//! of secrets.
//!
//! Figures are printed, never asserted.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "benchmarks make checkouts, start ripgrep and look at the clock"
)]

mod figures;
mod repository;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use figures::{Figure, against, heading, median, plain};
use locum_agent::env::RunEnv;
use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::journal::Journal;
use locum_agent::tools::dispatch;
use locum_agent::tools::{Observation, ToolContext};
use locum_base::chat::ToolCall;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::secret::{Redactor, Secret};
use locum_base::tool::ToolName;
use locum_modes::{ModeSet, builtin};
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::intent::{Facts, Intent};
use locum_policy::schema::CommandLimits;
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;

const TARGET_DECISION: Figure = Figure::Time(Duration::from_micros(50));

fn main() {
    let parts: [(&str, fn()); 7] = [
        ("decisions", decisions),
        ("explain", explain),
        ("search", search),
        ("commands", commands),
        ("checkpoints", checkpoints),
        ("journal", journal),
        ("secrets", secrets),
    ];
    parts.iter().filter(|(name, _)| figures::wanted(name)).for_each(|(_, measure)| measure());
}

fn decisions() {
    heading("A decision of the policy: median");
    for count in [10, 1000] {
        for (spread, name) in [(true, "in folders of their own"), (false, "in one folder")] {
            let policy = policy(count, spread);
            let edit = Intent::Edit(path("src/part7/file7.rs"));
            decide(&format!("edit, {count} path rules {name}"), &policy, || edit.clone());
        }
        let policy = policy(count, true);
        decide(&format!("`cargo test --workspace`, {count} command rules"), &policy, || {
            command("cargo test --workspace")
        });
        let long = "cargo test --workspace && ".repeat(157) + "cargo test";
        decide(
            &format!("a script of 158 commands in {} bytes, {count} command rules", long.len()),
            &policy,
            || command(&long),
        );
    }
    heading("Parsing a policy: median");
    for count in [10, 1000] {
        let text = policy_text(count, true);
        plain(
            &format!("{count} rules of each kind"),
            Figure::Time(timed(20, || Policy::parse(&text, "policy.yml").unwrap())),
        );
    }
}

fn decide(what: &str, policy: &Policy, intent: impl Fn() -> Intent) {
    let facts = Facts { mode: "code".to_owned(), ..Facts::default() };
    let verdict = policy.decide(&intent(), &facts);
    assert_eq!(verdict.decision, Decision::Allow, "{what}: {}", verdict.reason());
    // Reading a command is a part of deciding on it.
    against(what, Figure::Time(timed(2000, || policy.decide(&intent(), &facts))), TARGET_DECISION);
}

/// Questions about intents and tool calls, allowed and denied, asked of the binary.
fn explain() {
    heading(
        "10,000 lines for `policy explain -`, a policy of 100 rules: median of 5, the start \
         included",
    );
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("checkout");
    repository::small(&checkout);
    std::fs::create_dir(checkout.join(".locum")).unwrap();
    std::fs::write(checkout.join(".locum/policy.yml"), policy_text(50, true)).unwrap();
    let call = |name: &str, arguments: serde_json::Value| {
        serde_json::json!({ "name": name, "arguments": arguments, "mode": "code" }).to_string()
    };
    let kinds: [(&str, &dyn Fn(usize) -> String); 6] = [
        ("intents on paths, half of them denied", &|n| {
            format!("edit(src/part{}/a/file{n}.rs)", n % 100)
        }),
        ("commands, half of them denied", &|n| {
            format!(
                "command({} test -p part{n} && cargo test)",
                if n % 2 == 0 { "cargo" } else { "make" }
            )
        }),
        ("calls that read a file", &|n| {
            call("read_file", serde_json::json!({ "path": format!("src/file{}.txt", n % 50) }))
        }),
        ("calls that write a file", &|n| {
            call(
                "write_to_file",
                serde_json::json!({ "path": format!("src/part{}/new.rs", n % 50), "content": "fn new() {}\n".repeat(20) }),
            )
        }),
        ("calls that run a command", &|n| {
            call(
                "execute_command",
                serde_json::json!({ "command": format!("cargo test -p part{n}") }),
            )
        }),
        ("calls that run a command of a folder", &|n| {
            call(
                "execute_command",
                serde_json::json!({ "command": format!("git log -{n} | head"), "cwd": "src" }),
            )
        }),
    ];
    let ask = |what: &str, lines: &dyn Fn(usize) -> String| {
        let input = folder.path().join("questions");
        std::fs::write(&input, (0..10_000).map(|number| lines(number) + "\n").collect::<String>())
            .unwrap();
        let time = timed(5, || {
            let mut asked = Command::new(env!("CARGO_BIN_EXE_locum"));
            asked
                .args(["policy", "explain", "--mode", "code", "-"])
                .current_dir(&checkout)
                .stdin(std::fs::File::open(&input).unwrap());
            let answers = asked.output().unwrap().stdout;
            assert_eq!(answers.iter().filter(|byte| **byte == b'\n').count(), 10_000, "{what}");
            assert!(!String::from_utf8_lossy(&answers).contains("\"error\""), "{what}");
        });
        against(what, Figure::Time(time), Figure::Time(Duration::from_secs(1)));
    };
    ask("all of these in turn", &|number| kinds[number % kinds.len()].1(number));
    kinds.iter().for_each(|(what, lines)| ask(what, lines));
}

fn command(text: &str) -> Intent {
    Intent::Command(Script::parse(text))
}

/// A policy of `count` path rules and as many command rules, in folders of their own or all in one.
fn policy(count: usize, spread: bool) -> Policy {
    Policy::parse(&policy_text(count, spread), "policy.yml").unwrap()
}

fn policy_text(count: usize, spread: bool) -> String {
    let mut text = "version: 1\ncommands: { sandbox: off }\nrules:\n  - allow: [\"command(cargo \
                    test:*)\"]\n"
        .to_owned();
    for number in 0..count {
        let folder = if spread { format!("src/part{number}") } else { "src/part7".to_owned() };
        let name = if spread { "**".to_owned() } else { format!("*file{number}.rs") };
        writeln!(
            text,
            "  - allow: [\"edit({folder}/{name})\"]\n  - deny: [\"command(tool{number} push:*)\"]"
        )
        .unwrap();
    }
    text
}

fn search() {
    let large = &repository::large();
    let desk = Desk::new(large, "", Sandbox::around_nothing());
    heading("Search of 60,000 files, 600 MB: median of 5");
    for (name, pattern) in [
        ("a text in three files", repository::NEEDLE),
        ("a text in no file", "there is no such text"),
    ] {
        let ours = timed(5, || {
            desk.call("search_files", &serde_json::json!({ "path": ".", "regex": pattern }))
        });
        if Command::new("rg").arg("--version").output().is_err() {
            plain(&format!("{name}: search_files (ripgrep is not installed)"), Figure::Time(ours));
            continue;
        }
        let theirs = timed(5, || {
            let mut rg = Command::new("rg");
            rg.args([
                "--no-config",
                "--hidden",
                "--glob=!.git",
                "--line-number",
                "--context=1",
                "--no-messages",
                pattern,
                ".",
            ]);
            rg.current_dir(large).output().unwrap()
        });
        against(
            &format!("{name}: search_files beside rg"),
            Figure::Time(ours),
            Figure::Time(theirs),
        );
    }
    let listed = timed(5, || {
        desk.call("list_files", &serde_json::json!({ "path": "code/part00", "recursive": true }))
    });
    plain("list_files of 2,000 files", Figure::Time(listed));
}

/// A program that does nothing: run plainly, by the tool without a sandbox, and by the tool in one.
fn commands() {
    const OVERHEAD: Duration = Duration::from_millis(5);
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("checkout");
    repository::small(&small);
    heading("The command `true`: median of 200");
    let once = timed(200, || Command::new("true").current_dir(&small).output().unwrap());
    plain("started plainly", Figure::Time(once));
    let env: BTreeMap<String, String> = std::env::vars().collect();
    for (name, root) in
        [("small repository", small.as_path()), ("60,000 files", &repository::large())]
    {
        let call = |desk: &Desk| {
            timed(200, || desk.call("execute_command", &serde_json::json!({ "command": "true" })))
        };
        let free =
            call(&Desk::new(root, "commands: { sandbox: off }\n", Sandbox::around_nothing()));
        plain(&format!("{name}: by the tool, without a sandbox"), Figure::Time(free));
        let held = Sandbox::prepare(&CommandLimits::default(), &env).unwrap();
        assert!(held.holds(), "there is no sandbox here");
        let held = call(&Desk::new(root, "commands: { sandbox: required }\n", held));
        against(
            &format!("{name}: by the tool, in the sandbox, beside plainly + 5 ms"),
            Figure::Time(held),
            Figure::Time(once + OVERHEAD),
        );
    }
}

/// Where tools are called as a session does.
struct Desk {
    workspace: Workspace,
    modes: ModeSet,
    policy: Policy,
    facts: Facts,
    sandbox: Sandbox,
    env: BTreeMap<String, String>,
    runtime: tokio::runtime::Runtime,
}

impl Desk {
    fn new(root: &Path, settings: &str, sandbox: Sandbox) -> Self {
        let rules = "version: 1\nrules:\n  - allow: [\"read(**)\", \"command(true)\"]\n";
        Self {
            workspace: Workspace {
                checkout: Checkout::open(root).unwrap(),
                repo: Repo::open(root).unwrap(),
            },
            modes: ModeSet::merge([builtin::modes()]),
            policy: Policy::parse(&format!("{rules}{settings}"), "policy.yml").unwrap(),
            facts: Facts {
                mode: "code".to_owned(),
                sandboxed: sandbox.holds(),
                ..Facts::default()
            },
            sandbox,
            env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    fn call(&self, name: &str, arguments: &serde_json::Value) -> Observation {
        let (policy, facts) = (&self.policy, &self.facts);
        let (redactor, connector) = (Redactor::default(), Connector::default());
        let run = RunEnv::bare(policy, &self.env, &self.sandbox, &redactor, &connector);
        let visible = |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), facts).decision == Decision::Allow
        };
        let mode = self.modes.find("code").unwrap();
        let context = ToolContext::bare(run, &self.workspace, mode, facts, &visible);
        let call = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.to_string() };
        let permit =
            policy.admit(dispatch::parse(&call, ToolName::ALL, context).unwrap(), facts).unwrap();
        let observation = self.runtime.block_on(dispatch::perform(permit, context));
        assert!(!observation.is_error, "{}", observation.text);
        observation
    }
}

fn checkpoints() {
    let large = &repository::large();
    heading("A checkpoint of one changed file: median of 50");
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("checkout");
    repository::small(&small);
    for (name, root) in [("small repository", small.as_path()), ("60,000 files", large)] {
        let repo = Repo::open(root).unwrap();
        let base = repo.commit_of("HEAD").unwrap();
        let touched = BTreeSet::from([path("src/file7.txt")]);
        let times: Vec<Duration> = (0..50)
            .map(|number| {
                std::fs::write(root.join("src/file7.txt"), format!("{number}\n").repeat(100))
                    .unwrap();
                let before = Instant::now();
                repo.checkpoint("bench", &base, &touched, "bench").unwrap();
                before.elapsed()
            })
            .collect();
        plain(name, Figure::Time(median(&times)));
    }
    repository::clean(large);
}

fn journal() {
    heading("A line of the journal: median of 10,000");
    for size_bytes in [200, 4000] {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(folder.path()).unwrap();
        let observation = Observation::said("word ".repeat(size_bytes / 5));
        let event = Event::Answered {
            task: TaskId::default(),
            call: "call-1".into(),
            tool: "read_file".into(),
            observation,
            refusal: None,
            mistake: false,
        };
        let line = JournalLine { at: jiff::Timestamp::UNIX_EPOCH, event };
        plain(
            &format!("an answer of {size_bytes} bytes"),
            Figure::Time(timed(10_000, || journal.append(&line).unwrap())),
        );
    }
}

fn secrets() {
    heading("Taking secrets out: median");
    let values =
        || (0..5).map(|number| Secret::new(format!("a-secret-value-of-some-length-{number}")));
    plain("making a redactor of five values", Figure::Time(timed(20, || Redactor::new(values()))));
    let redactor = Redactor::new(values());
    for size_bytes in [4000, 100_000] {
        let text =
            "fn parse(text: &str) -> Result<(), Error> { self.next(17) }\n".repeat(size_bytes / 60);
        plain(
            &format!("a text of {size_bytes} bytes"),
            Figure::Time(timed(50, || redactor.redact(&text))),
        );
    }
}

/// Returns the median time of doing something so many times, once before not counted.
fn timed<T>(times: usize, mut act: impl FnMut() -> T) -> Duration {
    black_box(act());
    let one = |_| {
        let before = Instant::now();
        black_box(act());
        before.elapsed()
    };
    median(&(0..times).map(one).collect::<Vec<_>>())
}

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}
