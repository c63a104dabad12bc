//! Sub-tasks beside each other: each in a worktree of its own, merged in the order of their calls.

use std::collections::BTreeSet;

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::report::json::RunReport;
use locum_agent::report::summary::{DiffSection, terminal};
use locum_agent::session::event::Event;
use locum_agent::session::hold::{self, DecisionError};
use locum_agent::session::outcome::Outcome;
use locum_agent::session::recorded::{PersonDecision, RecordedDecision};
use locum_agent::session::state::SessionState;
use locum_base::chat::Message;
use pretty_assertions::assert_eq;
use serde_json::json;

pub(super) fn policy() -> String {
    POLICY.replace(
        "modes: {",
        "modes: { delegation: { from: [orchestrator], depth: 2, tasks: 20, parallel: 4 },",
    )
}

/// A script of an orchestrator that starts these sub-tasks in one turn, then expects `words`, and
/// of the sub-tasks.
pub(super) fn script(tasks: &[(&str, &str)], words: &str) -> String {
    let calls: String = tasks
        .iter()
        .map(|(name, _)| {
            format!(
                "          - {{ tool: new_task, args: {{ mode: code, message: \"Part {name}.\" }} \
                 }}\n"
            )
        })
        .collect();
    let children: String = tasks.iter().map(|(name, turns)| child(name, turns)).collect();
    format!(
        "  - mode: orchestrator\n    turns:\n      - calls:\n{calls}      - expect: {{ contains: \
         [{words}] }}\n        calls: [{{ tool: attempt_completion, args: {{ result: \"put \
         together\" }} }}]\n{children}"
    )
}

fn child(name: &str, turns: &str) -> String {
    let turns: String =
        turns.trim_matches('\n').lines().map(|line| format!("      {line}\n")).collect();
    format!("  - mode: code\n    contains: Part {name}.\n    turns:\n{turns}")
}

pub(super) fn end(result: &str) -> String {
    format!("- calls: [{{ tool: attempt_completion, args: {{ result: \"{result}\" }} }}]\n")
}

pub(super) fn overwrite(path: &str, content: &str) -> String {
    let read = format!("{{ tool: read_file, args: {{ path: {path} }} }}");
    write(path, content).replacen("calls: [", &format!("calls: [{read}, "), 1)
}

pub(super) fn write(path: &str, content: &str) -> String {
    format!(
        "- calls: [{{ tool: write_to_file, args: {{ path: {path}, content: \"{content}\" }} }}]\n"
    )
}

pub(super) fn fixture(tasks: &[(&str, &str)], words: &str) -> Fixture {
    Fixture::with_policy(&script(tasks, words), &policy()).in_mode("orchestrator")
}

/// Nothing of a run is left beside its journal, and git knows of no worktree.
pub(super) fn nothing_is_left(fixture: &Fixture) {
    assert!(!fixture.journal.join("trees").exists(), "no worktree stays");
    assert_eq!(git2::Repository::open(&fixture.root).unwrap().worktrees().unwrap().len(), 0);
}

/// The refs that keep what was not taken over.
pub(super) fn kept(fixture: &Fixture) -> Vec<String> {
    let repo = git2::Repository::open(&fixture.root).unwrap();
    let refs = repo.references_glob("refs/locum/trees/*").unwrap();
    refs.map(|found| found.unwrap().name().unwrap().to_owned()).collect()
}

fn essence(ran: &Ran) -> Outcome {
    let mut outcome = ran.outcome.clone();
    outcome.spent.seconds = 0;
    outcome.tasks.iter_mut().for_each(|task| task.seconds = 0);
    outcome.checkpoint = None;
    outcome.base.0.clear();
    outcome.refusals.sort_by_key(|refused| refused.task.0);
    outcome.commands.sort_by(|one, other| one.command.cmp(&other.command));
    outcome
}

const ONE: &str = "one\\ntwo\\nTHREE\\n";
const OTHER: &str = "ONE\\ntwo\\nthree\\n";

/// Three sub-tasks: two whose changes of one file fit together, and one that runs a command and
/// adds a file.
fn three() -> Fixture {
    let first = format!("{}{}", overwrite("src/a.txt", ONE), end("first is done"));
    let second = format!(
        "{}{}{}",
        overwrite("src/a.txt", OTHER),
        write("src/b.txt", "b\\n"),
        end("second is done")
    );
    let third = format!(
        "- calls: [{{ tool: execute_command, args: {{ command: \"./step.sh\" }} }}]\n{}",
        end("third is done")
    );
    let words = r#""first is done", "second is done", "third is done", "src/b.txt""#;
    fixture(&[("1", &first), ("2", &second), ("3", &third)], words)
}

#[test]
fn sub_tasks_of_one_turn_work_beside_each_other_and_their_changes_come_together() {
    let fixture = three();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.reason()), ("done", ""), "{:?}", ran.answers("new_task"));
    assert_eq!(ran.changed(), ["src/a.txt", "src/b.txt", "src/steps.txt"]);
    assert_eq!(fixture.file("src/a.txt").as_deref(), Some("ONE\ntwo\nTHREE\n"));
    assert_eq!(fixture.file("src/steps.txt").as_deref(), Some("stepped\n"));
    nothing_is_left(&fixture);
    assert_eq!(kept(&fixture), Vec::<String>::new());
    // All three run before the first of them ends.
    let place = |wanted: fn(&Event) -> bool| {
        ran.lines.iter().map(|line| wanted(&line.event)).collect::<Vec<_>>()
    };
    let last_start = place(|event| matches!(event, Event::TaskStarted { .. }))
        .iter()
        .rposition(|found| *found)
        .unwrap();
    let first_end = place(|event| matches!(event, Event::TaskEnded { .. }))
        .iter()
        .position(|found| *found)
        .unwrap();
    assert!(last_start < first_end);
    let tasks: Vec<_> =
        ran.outcome.tasks.iter().map(|task| (task.parent.map(|id| id.0), task.completed)).collect();
    assert_eq!(
        tasks,
        [(None, Some(true)), (Some(0), Some(true)), (Some(0), Some(true)), (Some(0), Some(true))]
    );
    assert_eq!(ran.outcome.spent.turns, 9);
}

#[test]
fn two_sub_tasks_that_change_one_line_are_a_conflict_with_both_sides_and_nothing_is_lost() {
    let first = format!("{}{}", overwrite("src/a.txt", "one\\nZWEI\\nthree\\n"), end("german"));
    let second = format!(
        "{}{}{}",
        overwrite("src/a.txt", "one\\nDEUX\\nthree\\n"),
        write("src/b.txt", "b\\n"),
        end("french")
    );
    let words =
        r#""conflict with the current files", "src/a.txt", "ZWEI", "DEUX", "refs/locum/trees/""#;
    let fixture = fixture(&[("1", &first), ("2", &second)], words);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.reason()), ("done", ""), "{:?}", ran.answers("new_task"));
    assert_eq!(
        fixture.file("src/a.txt").as_deref(),
        Some("one\nZWEI\nthree\n"),
        "the first one stays"
    );
    assert_eq!(fixture.file("src/b.txt"), None, "all or nothing");
    nothing_is_left(&fixture);
    let refs = kept(&fixture);
    assert_eq!(refs, ["refs/locum/trees/0123456789abcdef/2"]);
    let repo = git2::Repository::open(&fixture.root).unwrap();
    let blob = repo.revparse_single(&format!("{}:src/a.txt", refs[0])).unwrap();
    assert_eq!(blob.as_blob().unwrap().content(), b"one\nDEUX\nthree\n");
    let text = terminal(&ran.outcome, DiffSection::LeftOut);
    let command = format!("git checkout {} -- src/a.txt src/b.txt", refs[0]);
    for words in [
        "(not merged, 3 turns, ",
        ", 2 files, +2 −1",
        "Not merged, so not part of the change: code: Part 2. (2 files, +2 −1)",
        &format!("\n  {command}\n"),
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let report = serde_json::to_value(RunReport::new(&ran.outcome, &[])).unwrap();
    let task = &report["tasks"][2];
    assert_eq!((&task["kept"], &task["kept_command"]), (&json!(refs[0]), &json!(command)));
    let patch = task["changes"][0]["patch"].as_str().unwrap();
    assert!(patch.contains("+DEUX"), "{patch}");
    assert_eq!(report["tasks"][1]["changes"][0]["patch"], "", "what was merged is in `changes`");
}

#[test]
fn a_parent_reads_what_its_sub_task_changed_and_ran() {
    let part = format!(
        "{}- calls: [{{ tool: execute_command, args: {{ command: \"./step.sh\" }} }}, {{ tool: \
         execute_command, args: {{ command: \"false\" }} }}]\n{}",
        write("src/b.txt", "b\\nb\\n"),
        end("first")
    );
    let words = r#""Sub-task 1 completed in mode code, after 3 turns and ", "- `src/b.txt` (new) +2 -0", "- `src/steps.txt` (new) +1 -0", "- `./step.sh`: exit 0", "- `false`: exit 1""#;
    let other = end("second");
    for tasks in [&[("1", part.as_str())][..], &[("1", &part), ("2", &other)]] {
        let fixture = fixture(tasks, words);
        let ran = fixture.run();
        assert_eq!(ran.word(), "done", "{:?}", ran.answers("new_task"));
        let child = &ran.outcome.tasks[1];
        assert_eq!((child.changes.len(), child.commands.len()), (2, 2));
        assert!(child.seconds > 0);
        assert!(child.kept_ref.is_none() && ran.outcome.tasks[0].changes.is_empty());
    }
}

#[test]
fn the_failure_of_one_leaves_the_others_whole() {
    let crash = format!("{}- fail: {{ garbled: \"noise\" }}\n", write("src/x.txt", "half\\n"));
    let good = format!("{}{}", write("src/b.txt", "b\\n"), end("good"));
    // The share of one of three sub-tasks is a quarter of what is left.
    let endless: String = (0..40)
        .map(|number| {
            format!(
                "- calls: [{{ tool: read_file, args: {{ path: \"src/{number}.txt\" }} }}, {{ \
                 tool: list_files, args: {{ path: src }} }}]\n"
            )
        })
        .collect();
    let words = r#""Sub-task 1 did not succeed", "noise", "Sub-task 2 completed", "Sub-task 3 did not succeed", "is used up", "None of its changes were merged""#;
    let fixture = fixture(&[("1", &crash), ("2", &good), ("3", &endless)], words);
    let ran = fixture.run();
    assert_eq!(
        (ran.word(), ran.changed()),
        ("done", vec!["src/b.txt"]),
        "{:?}",
        ran.answers("new_task")
    );
    assert_eq!(
        kept(&fixture),
        ["refs/locum/trees/0123456789abcdef/1"],
        "what the crashed one had written is kept"
    );
    nothing_is_left(&fixture);
}

#[test]
fn rules_and_protection_hold_in_a_worktree_as_anywhere() {
    let first = format!(
        "- calls: [{{ tool: write_to_file, args: {{ path: src/secret.txt, content: \"x\" }} }}, \
         {{ tool: write_to_file, args: {{ path: .github/workflows/ci.yml, content: \"x\" }} \
         }}]\n- calls: [{{ tool: execute_command, args: {{ command: \"sh -c 'cp src/a.txt \
         src/secret.txt'\" }} }}]\n{}",
        end("tried")
    );
    let second = format!("{}{}", write("src/b.txt", "b\\n"), end("good"));
    let fixture = fixture(&[("1", &first), ("2", &second)], r#""tried", "good""#);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    assert_eq!(ran.outcome.refusals.len(), 3);
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
}

#[test]
fn where_somebody_has_uncommitted_work_sub_tasks_run_one_after_another_in_it() {
    let first = format!("{}{}", write("src/b.txt", "b\\n"), end("first"));
    let look = format!(
        "- calls: [{{ tool: read_file, args: {{ path: src/mine.txt }} }}]\n- expect: {{ contains: \
         [\"my own work\"] }}\n  {}",
        &end("seen")[2..]
    );
    let fixture = fixture(&[("1", &first), ("2", &look)], r#""first", "seen""#);
    std::fs::write(fixture.root.join("src/mine.txt"), "my own work\n").unwrap();
    let ran = fixture.run();
    assert_eq!(
        (ran.word(), ran.changed()),
        ("done", vec!["src/b.txt"]),
        "{:?}",
        ran.answers("new_task")
    );
    assert!(ran.lines.iter().all(|line| !matches!(line.event, Event::ParallelStarted { .. })));
    assert_eq!(fixture.file("src/mine.txt").as_deref(), Some("my own work\n"));
    let note = "Sub-tasks of task 0 run one after another, not in parallel: the checkout has changes of \
                somebody else in no commit (`src/mine.txt`).";
    assert_eq!(ran.outcome.notes, [note]);
    let state = SessionState::of(&ran.lines);
    let told = |message: &&Message| matches!(message, Message::User { text } if text == note);
    assert_eq!(state.root().unwrap().conversation.messages.iter().filter(told).count(), 1);
}

#[test]
fn where_too_little_is_left_to_be_shared_they_run_one_after_another() {
    let first = format!("{}{}", write("src/b.txt", "b\\n"), end("first"));
    let second = format!("{}{}", write("src/c.txt", "c\\n"), end("second"));
    let mut fixture = fixture(&[("1", &first), ("2", &second)], r#""first", "second""#);
    let budget = format!("{}\nbudget: {{ turns: 8 }}", policy());
    fixture.policy = locum_policy::Policy::parse(&budget, "policy.yml").unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt", "src/c.txt"]));
    let note = "Sub-tasks of task 0 run one after another, not in parallel: too few turns are left \
                to be shared among them.";
    assert_eq!(ran.outcome.notes, [note]);
}

#[test]
fn sub_tasks_that_wait_are_all_reported_and_each_is_decided_by_itself() {
    let held = format!("{}{}", write("src/held.txt", "h\\n"), end("held"));
    let asks = format!(
        "- calls: [{{ tool: ask_followup_question, args: {{ question: \"Which?\", follow_up: \
         [\"this\"] }} }}]\n- expect: {{ contains: [\"that one\"] }}\n  {}",
        &end("took that one")[2..]
    );
    let fixture = fixture(&[("1", &held), ("2", &asks)], r#""held", "took that one""#);
    let ran = fixture.run();
    let waiting: Vec<String> = ran.outcome.pending().map(|one| one.id().to_owned()).collect();
    let [hold, question] = waiting.as_slice() else { panic!("{waiting:?}") };
    let text = terminal(&ran.outcome, DiffSection::LeftOut);
    for words in [
        format!("\n  locum session approve 0123456789abcdef {hold}\n"),
        format!("\n  locum session answer 0123456789abcdef {question} TEXT\n"),
    ] {
        assert!(text.contains(&words), "{words}: {text}");
    }
    let at = ran.lines.last().unwrap().at;
    let decide = |decision| hold::decide(&fixture.journal, decision, at);
    decide(said(question, PersonDecision::Answer { text: "that one".into() })).unwrap();
    let twice = decide(said(question, PersonDecision::Answer { text: "this".into() }));
    assert!(matches!(twice, Err(DecisionError::NothingWaits(_))), "{twice:?}");
    let other = decide(said("0123456789abcdef", PersonDecision::Approve));
    assert!(
        matches!(&other, Err(DecisionError::OtherWaits { waiting, .. }) if waiting == hold),
        "{other:?}"
    );
    decide(said(hold, PersonDecision::Approve)).unwrap();
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/held.txt"]), "{}", ran.reason());
}

pub(super) fn said(id: &str, word: PersonDecision) -> RecordedDecision {
    RecordedDecision { id: id.to_owned(), by: "ann".into(), word, note: String::new() }
}

#[test]
fn of_two_that_wait_one_can_be_decided_first() {
    let held = format!("{}{}", write("src/held.txt", "h\\n"), end("held"));
    let other = format!("{}{}", write("src/held.txt", "i\\n"), end("other"));
    let fixture = fixture(&[("1", &held), ("2", &other)], r#""held", "other""#);
    let ran = fixture.run();
    let waiting: Vec<String> = ran.outcome.pending().map(|one| one.id().to_owned()).collect();
    let no = PersonDecision::Deny { reason: String::new() };
    let no = said(&waiting[1], no);
    hold::decide(&fixture.journal, no, ran.lines.last().unwrap().at).unwrap();
    let ran = fixture.resume();
    let still: Vec<String> = ran.outcome.pending().map(|one| one.id().to_owned()).collect();
    assert_eq!((ran.word(), still), ("on-hold", vec![waiting[0].clone()]));
}

#[test]
fn no_more_of_them_than_the_policy_lets_run_at_once() {
    let part = |name: &str| format!("{}{}", write(&format!("src/{name}.txt"), "x\\n"), end("done"));
    let parts: Vec<(String, String)> =
        ["1", "2", "3", "4", "5"].iter().map(|name| ((*name).to_owned(), part(name))).collect();
    let parts: Vec<(&str, &str)> =
        parts.iter().map(|(name, turns)| (name.as_str(), turns.as_str())).collect();
    let mut fixture = fixture(&parts, r#""Sub-task 5 completed""#);
    fixture.policy =
        locum_policy::Policy::parse(&policy().replace("parallel: 4", "parallel: 2"), "policy.yml")
            .unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed().len()), ("done", 5), "{:?}", ran.answers("new_task"));
    let mut running = BTreeSet::new();
    let mut most = 0;
    for line in &ran.lines {
        match &line.event {
            Event::TaskStarted { task, parent: Some(_), .. } => _ = running.insert(task.0),
            Event::TaskEnded { task, .. } => _ = running.remove(&task.0),
            _other => {}
        }
        most = most.max(running.len());
    }
    assert_eq!(most, 2);
}

#[test]
fn a_kill_at_any_line_of_sub_tasks_beside_each_other_changes_nothing() {
    let whole = three();
    let expected = whole.run();
    for lines in 1..expected.lines.len() {
        let killed = three();
        if let Some(ran) = killed.run_killed_at(lines) {
            // Commands end when they end: a run may have fewer lines in another order.
            assert_eq!(ran.word(), "done");
            continue;
        }
        let text = std::fs::read_to_string(killed.journal.join("journal.jsonl")).unwrap();
        let last = text.lines().last().unwrap().to_owned();
        let resumed = killed.resume();
        nothing_is_left(&killed);
        assert_eq!(kept(&killed), Vec::<String>::new(), "after line {lines}: {last}");
        if resumed.answers("execute_command").iter().any(|answer| answer.contains("interrupted")) {
            assert_eq!(
                (resumed.word(), resumed.reason()),
                ("done", ""),
                "after line {lines}: {last}"
            );
            assert_eq!(killed.file("src/a.txt"), whole.file("src/a.txt"));
            continue;
        }
        assert_eq!(killed.tree(), whole.tree(), "after line {lines}: {last}");
        assert_eq!(essence(&resumed), essence(&expected), "after line {lines}: {last}");
    }
}

#[test]
fn a_hold_in_one_of_them_holds_up_no_other_and_its_worktree_comes_back() {
    let held =
        format!("{}{}{}", write("src/c.txt", "c\\n"), write("src/held.txt", "h\\n"), end("held"));
    let good = format!("{}{}", write("src/b.txt", "b\\n"), end("good"));
    let fixture = fixture(&[("1", &held), ("2", &good)], r#""held", "good""#);
    let ran = fixture.run();
    assert_eq!(ran.word(), "on-hold", "{}", ran.reason());
    let completed: Vec<_> = ran.outcome.tasks.iter().map(|task| task.completed).collect();
    assert_eq!(completed, [None, None, Some(true)]);
    nothing_is_left(&fixture);
    let hold = ran.outcome.held.unwrap();
    let yes = RecordedDecision {
        id: hold.id,
        by: "ann".into(),
        word: PersonDecision::Approve,
        note: String::new(),
    };
    hold::decide(&fixture.journal, yes, ran.lines.last().unwrap().at).unwrap();
    let ran = fixture.resume();
    assert_eq!(
        (ran.word(), ran.changed()),
        ("done", vec!["src/b.txt", "src/c.txt", "src/held.txt"]),
        "{}",
        ran.reason()
    );
    nothing_is_left(&fixture);
}

/// A run that warms a build up, then starts two sub-tasks that run `command`, each of which prints
/// its answer.
fn with_dependencies(command: &str) -> Fixture {
    let child = format!(
        "- calls: [{{ tool: execute_command, args: {{ command: \"{command}\" }} }}]\n{}",
        end("r")
    );
    let script = script(&[("a", &child), ("b", &child)], "\"Sub-task 2 completed\"");
    let warm = "      - calls: [{ tool: execute_command, args: { command: \"mkdir -p target; echo \
                warm > target/w\" } }]\n";
    let script = script.replacen(
        "mode: orchestrator\n    turns:\n",
        &format!("mode: code\n    contains: Do the thing\n    turns:\n{warm}"),
        1,
    );
    let policy = policy().replace("from: [orchestrator]", "from: [code]");
    let policy = format!("{policy}commands: {{ contained: allow }}\n").replace(
        "command(false)",
        "command(git status:*)\", \"command(ls:*)\", \"command(mkdir:*)",
    );
    let fixture = Fixture::with_policy(&script, &policy);
    for (path, text) in [
        (".gitignore", "node_modules/\ntarget\n"),
        ("node_modules/x/index.js", "dependency\n"),
        ("node_modules/x/.npmrc", "token=unseen\n"),
        ("node_modules/x/__pycache__/x", "cache\n"),
    ] {
        std::fs::create_dir_all(fixture.root.join(path).parent().unwrap()).unwrap();
        std::fs::write(fixture.root.join(path), text).unwrap();
    }
    locum_testing::repository::commit_all(&git2::Repository::open(&fixture.root).unwrap(), "more");
    fixture
}

#[test]
fn sub_tasks_find_what_git_ignores_at_its_own_path_and_change_nothing_of_it() {
    let command = "git status --short; cat node_modules/x/*.js $PWD/target/w; cat \
                   node_modules/x/.npmrc; echo $PWD; test -d node_modules/x/__pycache__; echo \
                   $(git rev-parse --show-toplevel); echo y >> target/w; echo y > \
                   node_modules/x/index.js; wc -l < target/w; git log --oneline; echo x > \
                   src/p$RANDOM; git add src; echo staged $(git diff --cached --name-only | wc -l)";
    let fixture = with_dependencies(command);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed().len(), ran.outcome.refusals.len()), ("done", 2, 0));
    let root = fixture.root.display().to_string();
    let answers = ran.answers("execute_command");
    let of_children = &answers[1..];
    assert_eq!(of_children.len(), 2);
    for answer in of_children {
        let seen = format!("Output:\ndependency\nwarm\n{root}\n{root}\n2\n");
        assert!(answer.contains(&seen) && answer.contains(" more\n"), "{answers:?}");
        assert!(answer.contains("\nstaged 1"), "{answers:?}");
        assert!(!answer.contains("unseen") && !answer.contains("src/a.txt"), "{answers:?}");
    }
    assert_eq!(fixture.file("node_modules/x/index.js").as_deref(), Some("dependency\n"));
    assert_eq!(fixture.file("target/w"), None, "the run's own layer has it");
    nothing_is_left(&fixture);
}

#[test]
fn without_a_layer_sub_tasks_have_copies_of_what_git_ignores() {
    let command = "git status --short && ls && ls node_modules/x";
    let fixture = with_dependencies(command).without_layer();
    let large = fixture.root.join("target/large");
    std::fs::create_dir_all(large.parent().unwrap()).unwrap();
    std::fs::File::create(large).unwrap().set_len(1 << 30).unwrap();
    let ran = fixture.run();
    assert_eq!(ran.word(), "nothing-to-do");
    for answer in &ran.answers("execute_command")[1..] {
        assert!(answer.contains("node_modules\n") && answer.contains("index.js"), "{answer}");
        assert!(!answer.contains("target"), "{answer}");
    }
    assert_eq!(fixture.file("node_modules/x/index.js").as_deref(), Some("dependency\n"));
    let told = "Of the folders that git ignores, it has copies of `node_modules`, and lacks \
                `target`: too large to copy.";
    let messages = ran.lines.iter().filter_map(|line| match &line.event {
        Event::TaskStarted { message, parent: Some(_), .. } => Some(message),
        _ => None,
    });
    assert_eq!(messages.filter(|message| message.contains(told)).count(), 2);
    nothing_is_left(&fixture);
}

#[test]
fn a_sub_task_that_waits_for_others_begins_with_their_work_and_results() {
    let tasks = [
        ("one", write("src/one.txt", "1") + &end("Wrote ONE.")),
        ("two", write("src/two.txt", "2") + &end("Wrote TWO.")),
        (
            "three",
            "- expect: { contains: [\"Result of a sub-task before it\", \"Wrote ONE.\", \"Wrote \
                   TWO.\"] }\n  calls: [{ tool: read_file, args: { path: src/one.txt } }]\n"
                .to_owned()
                + &end("Read it."),
        ),
    ];
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|(name, turns)| (*name, &**turns)).collect();
    let waits =
        script(&tasks, "Read it.").replace("Part three.\" }", "Part three.\", after: true }");
    let fixture = Fixture::with_policy(&waits, &policy()).in_mode("orchestrator");
    let ran = fixture.run();
    assert_eq!(ran.word(), "done", "{}", ran.reason());
    assert!(ran.answers("read_file")[0].contains("1 | 1"), "{:?}", ran.answers("read_file"));
    let started = |line: &locum_agent::session::event::JournalLine| match &line.event {
        Event::TaskStarted { message, .. } => Some(message.starts_with("Part three.")),
        Event::TaskEnded { .. } => Some(false),
        _ => None,
    };
    let order: Vec<bool> = ran.lines.iter().filter_map(started).collect();
    assert_eq!(order.iter().position(|is_three| *is_three), Some(5), "after both ended: {order:?}");
    // Beside it, it would know nothing of them.
    let beside = Fixture::with_policy(&script(&tasks, "Read it."), &policy());
    assert_ne!(beside.in_mode("orchestrator").run().word(), "done");
}

#[test]
fn as_many_reads_run_side_by_side_as_the_setting_says() {
    let reads = "{ tool: read_file, args: { path: README.md } }";
    let script = format!(
        "\n- calls: [{reads}, {reads}, {reads}]\n- calls: [{{ tool: attempt_completion, args: {{ \
         result: r }} }}]\n"
    );
    for (setting, largest) in [(Some(1), 1), (Some(2), 2), (None, 3)] {
        let mut fixture = Fixture::new(&turns(&script));
        fixture.concurrent_reads = setting;
        let ran = fixture.run();
        // A group is judged as a whole before any of it is answered.
        let (mut judged, mut most) = (0, 0);
        for line in &ran.lines {
            match line.event {
                Event::Judged { .. } => judged += 1,
                Event::Answered { .. } => judged = 0,
                _ => {}
            }
            most = most.max(judged);
        }
        assert_eq!((ran.word(), most), ("nothing-to-do", largest), "{setting:?}");
        assert_eq!(ran.answers("read_file").len(), 3);
    }
}
