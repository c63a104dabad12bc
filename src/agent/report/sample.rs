//! Outcomes for this floor's tests.

use crate::session::command_report::CommandReport;
use crate::session::id::SessionId;
use crate::session::outcome::{
    ChargedUsage, CheckEnd, CheckReport, HeldCall, Outcome, OutcomeWord, PendingDecision, Question,
    RefusedCall, TargetMode, TaskReport,
};
use crate::session::tool_counts::{ToolCount, ToolCounts};
use crate::tools::command_details::CommandDetails;
use crate::tools::{Todo, TodoState};
use locum_base::chat::Usage;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::budget::Spent;
use locum_policy::verdict::{Cause, Decision, Refusal, RefusedBy, RuleRef, Verdict};
use locum_sandbox::exec::Exit;
use locum_workspace::diff::{ChangeKind, FileChange};
use locum_workspace::repo::CommitId;

/// A run with a bit of everything.
pub(crate) fn outcome() -> Outcome {
    Outcome {
        session: SessionId::parse("0199aabb").unwrap(),
        word: OutcomeWord::Done,
        summary: "Fixed the rounding in `total<T>`.\n\n- tests pass".to_owned(),
        reason: None,
        fault: false,
        outage: false,
        exhausted: None,
        ended_as: None,
        hindrance: None,
        question: None,
        held: None,
        also_waiting: Vec::new(),
        notes: Vec::new(),
        approved: Vec::new(),
        policy_hash: "5".repeat(64),
        tasks: vec![
            TaskReport {
                own: charged(3, (2_345, 2_000), 100, 0.1),
                with_sub_tasks: charged(7, (12_345, 8_000), 2_100, 0.314),
                ..task(0, None, "orchestrator", "Fix the failing test", Some(true))
            },
            TaskReport {
                own: charged(4, (10_000, 6_000), 2_000, 0.214),
                with_sub_tasks: charged(4, (10_000, 6_000), 2_000, 0.214),
                seconds: 92,
                changes: vec![FileChange {
                    patch: String::new(),
                    ..change("src/cart.rs", "", 4, 1)
                }],
                commands: vec![CommandReport {
                    command: "cargo test".to_owned(),
                    exit: Exit::Code(0),
                    details: CommandDetails::default(),
                    background: None,
                }],
                ..task(1, Some(0), "code", "Fix rounding", Some(true))
            },
            TaskReport {
                changes: vec![change("src/tax.rs", "-let a = 1;\n+let a = 2;\n", 1, 1)],
                kept_ref: Some("refs/locum/trees/0199aabb/2".to_owned()),
                ..task(2, Some(0), "code", "Fix the tax", Some(true))
            },
        ],
        refusals: vec![
            refusal("edit .github/workflows/ci.yml", "edit(.github/workflows/ci.yml)"),
            refusal("edit .github/dependabot.yml", "edit(.github/dependabot.yml)"),
            refusal("edit .github/workflows/ci.yml", "edit(.github/workflows/ci.yml)"),
        ],
        commands: vec![
            CommandReport {
                command: "cargo test".to_owned(),
                exit: Exit::Code(101),
                details: CommandDetails::default(),
                background: None,
            },
            CommandReport {
                command: "cargo test".to_owned(),
                exit: Exit::Code(0),
                details: CommandDetails::default(),
                background: None,
            },
        ],
        tools: ToolCounts(
            [
                ("execute_command", ToolCount { calls: 2, failed: 0, refused: 0 }),
                ("write_to_file", ToolCount { calls: 7, failed: 1, refused: 3 }),
            ]
            .map(|(name, count)| (name.to_owned(), count))
            .into(),
        ),
        checks: Vec::new(),
        edit_checks: Vec::new(),
        unchecked: false,
        verdict: None,
        todos: vec![
            Todo { text: "plan".to_owned(), state: TodoState::Done },
            Todo { text: "fix".to_owned(), state: TodoState::Started },
            Todo { text: "verify".to_owned(), state: TodoState::Pending },
        ],
        spent: Spent {
            turns: 7,
            tool_calls: 9,
            usage: Usage {
                input: 12_345,
                output: 2_100,
                cached_read: 8_000,
                cached_write: 0,
                reasoning: 0,
            },
            cost_usd: 0.314,
            seconds: 92,
            files: 1,
            diff_lines: 2,
        },
        spent_is_estimate: false,
        changes: vec![change("src/total.rs", "-    a / b\n+    (a + b / 2) / b\n", 1, 1)],
        base: CommitId("0123456789abcdef0123456789abcdef01234567".to_owned()),
        needed_commits: Vec::new(),
        rewritten: Vec::new(),
        checkpoint: Some(CommitId("89abcdef0123456789abcdef0123456789abcdef".to_owned())),
    }
}

/// A run on a real repository: one task with sub-tasks, a check, refusals.
pub(crate) fn slug() -> Outcome {
    let mut outcome = outcome();
    outcome.summary = "Fixed `add_uppercase_char`: it returned after the first pair, so every other \
                       upper-case pre-translation was lost.\n\n- `slugify/special.py`: the `return` \
                       is outside the loop.\n- `test.py`: a case for each table."
        .to_owned();
    let request = "Issue #7: uppercase pre-translations are lost. Find out why only the first pair \
                   of each table is translated, repair it, and add a test for each of the tables";
    outcome.tasks = vec![
        TaskReport {
            seconds: 200,
            title: request.to_owned(),
            ..outcome.tasks.first().cloned().unwrap()
        },
        TaskReport {
            mode: "debug".to_owned(),
            title: "Find the cause".to_owned(),
            ..outcome.tasks.get(1).cloned().unwrap()
        },
    ];
    let end = CheckEnd::Exited(Exit::Code(0));
    outcome.checks = vec![CheckReport::new("python -m unittest -q test", end)];
    outcome.commands = vec![CommandReport {
        command: "python -m unittest -q test".to_owned(),
        exit: Exit::Code(0),
        details: CommandDetails::default(),
        background: None,
    }];
    outcome.refusals.truncate(1);
    outcome.spent.seconds = 200;
    outcome.changes = vec![
        change("slugify/special.py", "-        return tables\n+    return tables\n", 1, 1),
        change("test.py", "+    def test_tables(self):\n+        pass\n", 2, 0),
    ];
    outcome
}

/// The same run with a check that fails.
pub(crate) fn failing(outcome: Outcome) -> Outcome {
    let check = |command, code| CheckReport::new(command, CheckEnd::Exited(Exit::Code(code)));
    let failed = CheckReport {
        output: "FAIL: test_tables\nAssertionError: 'Oe' != 'oe'\n\nFAILED (failures=1)".to_owned(),
        ..check("python -m unittest -q test", 1)
    };
    let format = check("pycodestyle --max-line-length=120 slugify", 0);
    Outcome {
        word: OutcomeWord::ChecksFailed,
        reason: failed.failure(),
        checks: vec![format, failed],
        ..outcome
    }
}

/// The same run without sub-tasks.
pub(crate) fn alone(outcome: Outcome) -> Outcome {
    let tasks = outcome.tasks.into_iter().take(1).collect();
    Outcome { tasks, commands: Vec::new(), checks: Vec::new(), todos: Vec::new(), ..outcome }
}

/// A run that stopped with a question.
pub(crate) fn question() -> Outcome {
    let question = Question {
        id: "0123456789abcdef".to_owned(),
        text: "Which rounding?".to_owned(),
        suggestions: vec!["half up".to_owned(), "half even".to_owned()],
        ..Question::default()
    };
    Outcome {
        word: OutcomeWord::NeedsInput,
        summary: String::new(),
        reason: Some("the model asked a question and the policy lets people answer".to_owned()),
        question: Some(question),
        tasks: vec![task(0, None, "ask", "How does total round?", None)],
        refusals: Vec::new(),
        commands: Vec::new(),
        todos: Vec::new(),
        changes: Vec::new(),
        ..outcome()
    }
}

/// A run whose check failed.
pub(crate) fn checks_failed() -> Outcome {
    let check = |command: &str, code, output: &str| CheckReport {
        output: output.to_owned(),
        ..CheckReport::new(command, CheckEnd::Exited(Exit::Code(code)))
    };
    Outcome {
        word: OutcomeWord::ChecksFailed,
        reason: Some("the check `cargo test` failed".to_owned()),
        checks: vec![
            check("cargo fmt --check", 0, ""),
            check("cargo test", 101, "test total ... FAILED\n\n1 passed; 1 failed"),
        ],
        ..outcome()
    }
}

/// A run whose every text is the same filler, in lists far beyond their limits.
pub(crate) fn filled_with(filler: &str, length: usize) -> Outcome {
    let text: String = filler.chars().cycle().take(length).collect();
    let many = |number: usize| 0..number;
    Outcome {
        summary: text.clone(),
        reason: Some(text.clone()),
        question: Some(Question {
            text: text.clone(),
            suggestions: many(20).map(|_| text.clone()).collect(),
            ..Question::default()
        }),
        also_waiting: many(8)
            .map(|_| {
                PendingDecision::Question(Question { text: text.clone(), ..Question::default() })
            })
            .collect(),
        notes: many(20).map(|_| text.clone()).collect(),
        tasks: many(60)
            .map(|index| TaskReport {
                kept_ref: (index % 2 == 0).then(|| format!("refs/locum/trees/0199aabb/{index}")),
                changes: vec![change("a", &text, 1, 0)],
                ..task(index as u32, (index > 0).then_some(0), &text, &text, None)
            })
            .collect(),
        refusals: many(60).map(|_| refusal(&text, &text)).collect(),
        commands: many(60)
            .map(|_| CommandReport {
                command: text.clone(),
                exit: Exit::TimedOut,
                details: CommandDetails::default(),
                background: None,
            })
            .collect(),
        checks: many(60)
            .map(|_| CheckReport {
                output: text.clone(),
                ..CheckReport::new(&text, CheckEnd::NotStarted(text.clone()))
            })
            .collect(),
        todos: many(90).map(|_| Todo { text: text.clone(), state: TodoState::Started }).collect(),
        changes: vec![change("a", &text, 1, 0)],
        ..outcome()
    }
}

/// The same for a run that stopped at a call a maintainer has to decide on.
pub(crate) fn held_filled_with(filler: &str, length: usize) -> Outcome {
    let outcome = filled_with(filler, length);
    let held = HeldCall {
        verdicts: outcome.refusals.iter().flat_map(|call| call.refusal.verdicts.clone()).collect(),
        ..held_with(&outcome.summary)
    };
    let also_waiting = (0..8).map(|_| PendingDecision::Hold(Box::new(held.clone()))).collect();
    let held = Some(Box::new(held));
    Outcome { word: OutcomeWord::OnHold, question: None, held, also_waiting, ..outcome }
}

/// A run that stopped at a call a maintainer has to decide on.
pub(crate) fn held() -> Outcome {
    let rule = RuleRef::at("command(cargo add:*)", ".locum/policy.yml", 21);
    let verdict = Verdict {
        decision: Decision::Hold,
        intent: "command(cargo add regex)".to_owned(),
        cause: Cause::Rule { rule, said: "new dependencies need a person".to_owned() },
    };
    let held = HeldCall {
        headline: "run cargo add regex".to_owned(),
        arguments: r#"{"command":"cargo add regex"}"#.to_owned(),
        verdicts: vec![verdict],
        ..held_with("execute_command")
    };
    Outcome {
        word: OutcomeWord::OnHold,
        reason: Some("`run cargo add regex` needs a person".to_owned()),
        held: Some(Box::new(held)),
        question: None,
        ..question()
    }
}

fn held_with(text: &str) -> HeldCall {
    HeldCall {
        id: "0123456789abcdef".to_owned(),
        task: TaskId(0),
        call: "c-1".to_owned(),
        mode: "code".to_owned(),
        tool: text.to_owned(),
        headline: text.to_owned(),
        arguments: text.to_owned(),
        verdicts: Vec::new(),
        diff: Some(text.to_owned()).filter(|text| text.len() > 100),
        note: None,
        target: Some(target_with(text)).filter(|target| target.role.len() > 100),
    }
}

fn target_with(text: &str) -> TargetMode {
    TargetMode {
        slug: "code".to_owned(),
        name: text.to_owned(),
        description: Some(text.to_owned()),
        role: text.to_owned(),
        tools: vec![text.to_owned()],
        rights: text.to_owned(),
        chosen: Some(text.to_owned()),
    }
}

/// A run with a change of this many lines.
pub(crate) fn with_diff_lines(number: u32) -> Outcome {
    let patch: String = (0..number).map(|line| format!("+line {line}\n")).collect();
    Outcome { changes: vec![change("big.txt", &patch, number, 0)], ..outcome() }
}

fn task(
    id: u32,
    parent: Option<u32>,
    mode: &str,
    title: &str,
    completed: Option<bool>,
) -> TaskReport {
    TaskReport {
        task: TaskId(id),
        parent: parent.map(TaskId),
        mode: mode.to_owned(),
        title: title.to_owned(),
        completed,
        status: None,
        turns: 3,
        own: ChargedUsage::default(),
        with_sub_tasks: ChargedUsage::default(),
        seconds: 8,
        changes: Vec::new(),
        commands: Vec::new(),
        kept_ref: None,
    }
}

fn charged(
    turns: u32,
    (input, cached_read): (u64, u64),
    output: u64,
    cost_usd: f64,
) -> ChargedUsage {
    let usage = Usage { input, output, cached_read, ..Usage::default() };
    ChargedUsage { turns, usage, cost_usd, is_estimate: false }
}

fn refusal(headline: &str, intent: &str) -> RefusedCall {
    let rule = RuleRef::at("edit(.github/**)", ".locum/policy.yml", 14);
    let verdict = Verdict {
        decision: Decision::Deny,
        intent: intent.to_owned(),
        cause: Cause::Rule { rule, said: "workflows are for people".to_owned() },
    };
    let refusal = Refusal {
        decision: Decision::Deny,
        verdicts: vec![verdict],
        hint: Some("say in the result what should change there".to_owned()),
        by: RefusedBy::Policy,
    };
    let (mode, headline) = ("code".to_owned(), headline.to_owned());
    RefusedCall { task: TaskId(1), mode, headline, refusal, performed: false }
}

fn change(path: &str, lines: &str, added: u32, removed: u32) -> FileChange {
    let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n{lines}");
    FileChange {
        path: RepoPath::parse(path).unwrap(),
        kind: ChangeKind::Modified,
        added,
        removed,
        patch,
        binary_bytes: None,
        withheld: false,
    }
}
