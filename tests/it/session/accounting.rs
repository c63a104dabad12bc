//! Accounting: whatever happens in a run, each total is the sum of its turns, and every token that
//! the model counted is in one of them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::report::json::RunReport;
use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::{ChargedUsage, Outcome};
use locum_agent::session::state::SessionState;
use locum_base::chat::{Message, StopReason, Usage};
use locum_base::id::TaskId;
use locum_models::profile::Price;
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, POLICY, Ran};

/// A model whose replies are thrown like dice, the same ones for the same seed: it reads, asks an
/// expert, delegates, forgets to call a tool, breaks off, does not count, and completes.
struct Dice {
    seed: u64,
    /// How often each request was sent, and what was counted for each task.
    sent: Mutex<BTreeMap<(TaskId, String, u32), u32>>,
    counted: Mutex<BTreeMap<TaskId, (Usage, Everything)>>,
}

/// Whether a model counted every token of a task.
type Everything = bool;

impl Dice {
    fn new(seed: u64) -> Self {
        Self { seed, sent: Mutex::default(), counted: Mutex::default() }
    }

    fn roll(&self, what: impl Hash, sides: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.seed, what).hash(&mut hasher);
        hasher.finish() % sides
    }

    fn count(&self, task: TaskId, usage: Option<Usage>) {
        let mut counted = self.counted.lock().unwrap();
        let (sum, everything) = counted.entry(task).or_insert((Usage::default(), true));
        *everything &= usage.is_some();
        sum.add(usage.unwrap_or_default());
    }

    fn calls(&self, key: &(TaskId, String, u32)) -> Vec<(&'static str, &'static str)> {
        let (_, mode, turn) = key;
        let child = |side: u64| match side {
            0 => ("new_task", r#"{"mode":"orchestrator","message":"Part of it."}"#),
            _ => ("new_task", r#"{"mode":"code","message":"Part of it."}"#),
        };
        if u64::from(*turn) > self.roll(("turns", key.0), 8) {
            return vec![("attempt_completion", r#"{"result":"done"}"#)];
        }
        match self.roll(("what", key), 6) {
            0 => vec![],
            1 => vec![
                ("ask_expert_model", r#"{"question":"Why?","expert":"deep"}"#),
                ("read_file", r#"{"path":"src/big.txt"}"#),
            ],
            2 | 3 if mode == "orchestrator" => {
                (0..1 + self.roll(("children", key), 3)).map(child).collect()
            }
            _ => vec![
                ("read_file", r#"{"path":"src/big.txt"}"#),
                ("read_file", r#"{"path":"src/a.txt"}"#),
            ],
        }
    }
}

impl Model for Dice {
    fn label(&self) -> &'static str {
        "dice"
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let key = (request.task, request.mode.to_owned(), request.turn);
        let attempt = {
            let mut sent = self.sent.lock().unwrap();
            let sent = sent.entry(key.clone()).or_default();
            *sent += 1;
            *sent
        };
        let side = |what: &str, sides| self.roll((what, &key, attempt), sides);
        let (cached_read, cached_write) = (side("read", 500), side("write", 300));
        let size_bytes = request.messages.iter().map(Message::size_bytes).sum::<usize>() as u64;
        let (input, output) = (
            cached_read + cached_write + size_bytes / 4 + side("input", 900),
            50 + side("output", 300),
        );
        let usage =
            Usage { input, output, cached_read, cached_write, reasoning: side("reasoning", 50) };
        let usage = (side("counts", 8) > 0).then_some(usage);
        let mut deltas = vec![Ok(Delta::Text("words".to_owned()))];
        deltas.extend(usage.map(|usage| Ok(Delta::Usage(usage))));
        if attempt == 1 && side("breaks", 4) == 0 {
            self.count(request.task, usage);
            let message = "the stream broke off".to_owned();
            deltas.push(Err(ModelError::Unavailable {
                model: "dice".to_owned(),
                message,
                retry_after: None,
            }));
            return stream::iter(deltas).boxed();
        }
        if request.mode == "condense" && side("refuses", 3) == 0 {
            let message = "not today".to_owned();
            return stream::iter([Err(ModelError::Rejected {
                model: "dice".to_owned(),
                status: 400,
                message,
            })])
            .boxed();
        }
        self.count(request.task, usage);
        let calls = if request.tools.is_empty() { vec![] } else { self.calls(&key) };
        let stop = if calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
        for (index, (name, arguments)) in calls.into_iter().enumerate() {
            let id = Some(format!("call-{}-{}-{index}", request.task, request.turn));
            deltas.push(Ok(Delta::Call {
                index,
                id,
                name: Some(name.to_owned()),
                arguments: arguments.to_owned(),
            }));
        }
        deltas.push(Ok(Delta::Stop(stop)));
        stream::iter(deltas).boxed()
    }
}

fn fixture() -> Fixture {
    let delegation =
        "modes: { delegation: { from: [orchestrator], depth: 2, tasks: 6, parallel: 4 },";
    let policy = format!("{}  - allow: \"expert(deep)\"\n", POLICY.replace("modes: {", delegation));
    let mut fixture = Fixture::with_policy("", &policy).in_mode("orchestrator");
    std::fs::write(fixture.root.join("src/big.txt"), format!("{}\n", "x".repeat(99)).repeat(150))
        .unwrap();
    // Sub-tasks work beside each other in a checkout where nothing lies about.
    std::fs::write(fixture.root.join(".git/info/exclude"), "src/big.txt\n").unwrap();
    fixture.price = Some(Price {
        input: 3.0,
        output: 15.0,
        cached_read: Some(0.3),
        cached_write: Some(3.75),
        ..Price::default()
    });
    fixture.attempts = 3;
    fixture.window = Some(8_000);
    fixture
}

/// What each task used up, by every line of the journal that speaks of tokens.
fn by_lines(lines: &[JournalLine]) -> BTreeMap<TaskId, (Usage, f64)> {
    let mut sums: BTreeMap<TaskId, (Usage, f64)> = BTreeMap::new();
    for line in lines {
        let line = serde_json::to_value(line).unwrap();
        if let (Some(usage), Some(task)) = (line.get("usage"), line.get("task")) {
            let sum =
                sums.entry(TaskId(u32::try_from(task.as_u64().unwrap()).unwrap())).or_default();
            sum.0.add(serde_json::from_value(usage.clone()).unwrap());
            sum.1 += line["cost_usd"].as_f64().unwrap();
        }
    }
    sums
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

fn adds_up(outcome: &Outcome, lines: &[JournalLine]) {
    let by_lines = by_lines(lines);
    let mut run = ChargedUsage::default();
    for task in &outcome.tasks {
        let (usage, cost_usd) = by_lines.get(&task.task).copied().unwrap_or_default();
        assert_eq!(task.own.usage, usage, "task {}", task.task);
        assert!(
            same(task.own.cost_usd, cost_usd),
            "task {}: {} and {cost_usd}",
            task.task,
            task.own.cost_usd
        );
        let mut all = task.own;
        outcome
            .tasks
            .iter()
            .filter(|child| child.parent == Some(task.task))
            .for_each(|child| all.add(child.with_sub_tasks));
        let whole = task.with_sub_tasks;
        assert_eq!(
            (all.turns, all.usage, all.is_estimate),
            (whole.turns, whole.usage, whole.is_estimate),
            "task {}",
            task.task
        );
        assert!(same(all.cost_usd, whole.cost_usd), "task {}", task.task);
        run.add(task.own);
    }
    assert_eq!(
        (run.turns, run.usage, run.is_estimate),
        (outcome.spent.turns, outcome.spent.usage, outcome.spent_is_estimate)
    );
    assert!(same(run.cost_usd, outcome.spent.cost_usd));
    let known = outcome.tasks.iter().map(|task| task.task);
    assert!(
        by_lines.keys().all(|task| known.clone().any(|known| known == *task)),
        "no line is of a task that is not reported"
    );
    let state = SessionState::of(lines);
    assert_eq!(
        state.tasks.iter().map(|task| task.budgeting.own).collect::<Vec<_>>(),
        outcome.tasks.iter().map(|task| task.own).collect::<Vec<_>>()
    );
    let report = serde_json::to_value(RunReport::new(outcome, &[])).unwrap();
    for key in [
        "turns",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
    ] {
        let sum: u64 = report["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["own"][key].as_u64().unwrap())
            .sum();
        assert_eq!(Some(sum), report["spent"][key].as_u64(), "{key}");
    }
}

#[test]
fn every_total_is_the_sum_of_its_turns() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..20 {
        let (fixture, dice) = (fixture(), Dice::new(seed));
        let Ran { outcome, lines } = fixture
            .run_with(&dice, usize::MAX, Journal::create(&fixture.journal).unwrap(), None)
            .unwrap();
        adds_up(&outcome, &lines);
        for (task, (counted, everything)) in dice.counted.lock().unwrap().iter() {
            let own = outcome.tasks.iter().find(|report| report.task == *task).unwrap().own;
            if *everything {
                assert_eq!(
                    own.usage, *counted,
                    "seed {seed}, task {task}: what was counted is what is charged"
                );
            } else {
                assert!(
                    own.is_estimate
                        && own.usage.input >= counted.input
                        && own.usage.output >= counted.output,
                    "seed {seed}, task {task}"
                );
            }
        }
        for line in &lines {
            let what = match &line.event {
                Event::Consulted { .. } => "expert",
                Event::ReplyLost { .. } => "lost",
                Event::Compacted { .. } => "shortened",
                Event::ParallelStarted { .. } => "forked",
                Event::TaskStarted { .. } => "task",
                _other => continue,
            };
            *seen.entry(what).or_default() += 1;
        }
    }
    assert!(
        ["expert", "lost", "shortened", "forked", "task"]
            .iter()
            .all(|what| seen.get(what).is_some_and(|times| *times > 3)),
        "{seen:?}"
    );
}

#[test]
fn every_total_is_the_sum_of_its_turns_after_a_kill() {
    for seed in 0..6 {
        let dice = Dice::new(seed);
        let whole = fixture();
        let count = whole
            .run_with(&dice, usize::MAX, Journal::create(&whole.journal).unwrap(), None)
            .unwrap()
            .lines
            .len();
        let fixture = fixture();
        let at = 2 + usize::try_from(dice.roll("kill", 1 << 20)).unwrap() % (count - 2);
        assert!(
            fixture
                .run_with(&Dice::new(seed), at, Journal::create(&fixture.journal).unwrap(), None)
                .is_none()
        );
        let before = Journal::read(&fixture.journal).unwrap();
        let Ran { outcome, lines } = fixture
            .run_with(
                &Dice::new(seed),
                usize::MAX,
                Journal::resume(&fixture.journal).unwrap(),
                None,
            )
            .unwrap();
        assert_eq!(lines[..before.len()], before, "seed {seed}");
        adds_up(&outcome, &lines);
    }
}
