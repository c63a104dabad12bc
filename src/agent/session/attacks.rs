//! Attacks on a session, each paired with the same turns without the hostile part. The model plays
//! the attack; the journal and the checkout show afterwards whether it succeeded.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;

use crate::env::RunEnv;
use crate::session::event::{Event, JOURNAL_VERSION, SessionStart};
use crate::session::id::SessionId;
use crate::session::journal::Journal;
use crate::session::messages::Inbox;
use crate::session::model::{RunModels, TaskModel};
use crate::session::parts::{CONCURRENT_READS, CheckTiming, SessionParts};
use crate::session::repetition::REPEAT_LIMIT;
use crate::session::run;
use locum_base::secret::{MASK, Redactor, Secret};
use locum_models::Model;
use locum_models::profile::{CONDENSE_PERCENT, ToolProtocol};
use locum_models::reply_bounds::ReplyBounds;
use locum_models::retry::RetryLimits;
use locum_models::scripted::ScriptedModel;
use locum_models::scripted::script::ModelScript;
use locum_models::tokens::Tokenizer;
use locum_modes::prompts::RepositoryInstructions;
use locum_modes::prompts::place::RunPlace;
use locum_modes::{ModeSet, builtin};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_sandbox::Sandbox;
use locum_testing::clock::TestClock;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;

const VALUE: &str = "unseen-secret-value";

const POLICY: &str = "version: 1
modes: { default: code, allow: [code, ask], delegation: { from: [code, ask], depth: 1, tasks: 1 } }
commands: { sandbox: off }
rules:
  - allow: [\"read(**)\", \"edit(src/**)\", \"command(cat:*)\", \"command(sh src/attack.sh)\"]
budget: { turns: 6 }
";

/// What a run of these turns left: its journal and its checkout.
struct AttackResult {
    folder: tempfile::TempDir,
    answers: Vec<(String, String)>,
    tasks: usize,
}

impl AttackResult {
    fn journal(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("session/journal.jsonl")).unwrap()
    }

    fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join("checkout").join(path)).unwrap_or_default()
    }

    fn answered(&self, text: &str) -> bool {
        self.answers.iter().any(|(_, answer)| answer.contains(text))
    }
}

fn play(mode: &str, turns: &str) -> AttackResult {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("checkout");
    let attack = "echo taken > README.md\necho done > src/done\n";
    seed::repository(
        &root,
        &[
            ("README.md", "kept\n"),
            ("src/a", &format!("plain\n{VALUE}\n{}\n", reversed())),
            ("src/attack.sh", attack),
        ],
        "first",
    )
    .unwrap();
    let workspace =
        Workspace { checkout: Checkout::open(&root).unwrap(), repo: Repo::open(&root).unwrap() };
    let policy = Policy::parse(POLICY, "policy.yml").unwrap();
    let script =
        ModelScript::parse("script.yml", &format!("version: 1\ntasks:\n  - turns:\n{turns}"))
            .unwrap();
    let model = ScriptedModel::new(script);
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let redactor = Redactor::new([Secret::new(VALUE)]);
    let journal = folder.path().join("session");
    let start = SessionStart {
        images: Vec::new(),
        earlier: None,
        version: JOURNAL_VERSION,
        id: SessionId::parse("0123456789abcdef").unwrap(),
        task: "Do it.".to_owned(),
        message: "Do it.".to_owned(),
        mode: mode.to_owned(),
        facts: Facts { mode: mode.to_owned(), ..Facts::default() },
        budget: policy.settings().budget,
        base: workspace.repo.commit_of("HEAD").unwrap(),
        policy_hash: policy.hash().to_owned(),
        models: ("script".to_owned(), "script".to_owned()),
        mode_models: Default::default(),
        fork: None,
        condense_model: None,
        place: RunPlace::default(),
        caller: serde_json::Value::Null,
    };
    let (instructions, trusted) = (RepositoryInstructions::default(), start.base.clone());
    let sandbox = Sandbox::around_nothing();
    let connector = locum_sandbox::network::Connector::default();
    let parts = SessionParts {
        memory: Default::default(),
        start,
        run: RunEnv::bare(&policy, &env, &sandbox, &redactor, &connector),
        modes: &ModeSet::merge([builtin::modes()]),
        instructions: &instructions,
        trusted: &trusted,
        review_base: None,
        concurrent_reads: CONCURRENT_READS,
        models: RunModels {
            main: alone(&model),
            task: alone(&model),
            condense: None,
            own: BTreeMap::new(),
            experts: BTreeMap::new(),
            image_model: None,
            retry: RetryLimits {
                attempts: 1,
                base: Duration::ZERO,
                longest: Duration::ZERO,
                total: Duration::from_secs(1),
            },
        },
        remaining: locum_policy::spending_limit::Remaining::default(),
        workspace: &workspace,
        stands_for: None,
        checks: CheckTiming::default(),
        hooks: &[],
        servers: &crate::tools::mcp::servers::McpServers::default(),
        inbox: &Inbox::of(&journal),
        clock: &TestClock::default().sleeping_at_most(Duration::ZERO),
        cancelled: std::future::pending().boxed(),
        watch: Box::new(|_, _| {}),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run(parts, Journal::create(&journal).unwrap()));
    let lines = Journal::read(&journal).unwrap();
    let answer = |event: &Event| match event {
        Event::Answered { tool, observation, .. } => Some((tool.clone(), observation.text.clone())),
        _ => None,
    };
    let answers = lines.iter().filter_map(|line| answer(&line.event)).collect();
    let tasks = lines.iter().filter(|line| matches!(line.event, Event::TaskStarted { .. })).count();
    AttackResult { folder, answers, tasks }
}

fn reversed() -> String {
    VALUE.chars().rev().collect()
}

/// One turn with one call, and an end.
fn call(tool: &str, arguments: &str) -> String {
    format!(
        "      - calls: [{{ tool: {tool}, args: {arguments} }}]\n      - calls: [{{ tool: \
         attempt_completion, args: {{ result: done }} }}]\n"
    )
}

#[test]
fn a_task_uses_only_tools_of_its_mode() {
    let look = call("execute_command", "{ command: \"cat README.md\" }");
    assert!(play("code", &look).answered("kept"));
    assert!(!play("ask", &look).answered("kept"));
}

#[test]
fn the_model_reads_no_secret_a_tool_found() {
    // What a command prints is redacted where it runs; what a file holds, where a tool answers.
    for read in [
        call("execute_command", "{ command: \"cat src/a\" }"),
        call("read_file", "{ path: src/a }"),
    ] {
        let left = play("code", &read);
        assert!(left.answered("plain") && left.answered(MASK), "{:?}", left.answers);
        assert!(!left.answered(VALUE) && !left.answered(&reversed()), "{:?}", left.answers);
    }
}

#[test]
fn what_the_model_says_is_written_down_without_secrets() {
    let encoded = reversed();
    let say = format!(
        "      - say: \"it is {encoded}\"\n        calls: [{{ tool: attempt_completion, args: {{ \
         result: done }} }}]\n"
    );
    let journal = play("code", &say).journal();
    assert!(journal.contains(&format!("it is {MASK}")) && !journal.contains(&encoded), "{journal}");
}

#[test]
fn a_call_with_a_secret_in_it_is_not_performed() {
    let written = |content: &str| {
        let write =
            call("write_to_file", &format!("{{ path: src/new, content: \"key {content}\" }}"));
        play("code", &write).file("src/new")
    };
    assert_eq!(written("elsewhere").trim_end(), "key elsewhere");
    assert_eq!(written(VALUE), "");
}

#[test]
fn a_call_is_not_repeated_for_ever() {
    let same = "      - calls: [{ tool: read_file, args: { path: README.md } }]\n"
        .repeat(REPEAT_LIMIT + 1);
    let ended = format!(
        "{same}      - calls: [{{ tool: attempt_completion, args: {{ result: done }} }}]\n"
    );
    let answers = play("code", &ended).answers;
    assert_eq!(answers.iter().filter(|(_, answer)| answer.contains("kept")).count(), REPEAT_LIMIT);
}

#[test]
fn what_a_command_really_changed_is_judged_again() {
    let left = play("code", &call("execute_command", "{ command: \"sh src/attack.sh\" }"));
    assert_eq!(left.file("src/done"), "done\n", "what the policy allows stays");
    assert_eq!(left.file("README.md"), "kept\n");
}

#[test]
fn sub_tasks_nest_so_deep_and_no_deeper() {
    let delegate = call("new_task", "{ mode: code, message: again }");
    assert_eq!(play("code", &delegate).tasks, 2);
}

#[test]
fn a_budget_ends_the_run() {
    let turns: String = (0..9)
        .map(|number| {
            format!(
                "      - calls: [{{ tool: list_files, args: {{ path: src, recursive: {} }} }}, {{ \
                 tool: read_file, args: {{ path: \"none-{number}\" }} }}]\n",
                number % 2 == 0
            )
        })
        .collect();
    // Two calls in each of the six turns that the policy gives.
    assert_eq!(play("code", &turns).answers.len(), 12);
}

/// A model that costs nothing, stands alone, sees images and has room for everything.
fn alone(model: &dyn Model) -> TaskModel<'_> {
    TaskModel {
        model,
        price: None,
        included_tools: &[],
        context_window: u32::MAX,
        condense_percent: CONDENSE_PERCENT,
        tool_protocol: ToolProtocol::Native,
        sees_images: true,
        tokenizer: Tokenizer::Bytes,
        reply: ReplyBounds::default(),
        fallbacks: &[],
    }
}
