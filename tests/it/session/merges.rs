//! Merges of parallel sub-tasks: what stands in their way, what their parent reads of conflicts,
//! and what each of them may spend.

use crate::session::fixture::{Fixture, Ran};
use crate::session::parallel::{
    end, fixture, kept, nothing_is_left, overwrite, policy, script, write,
};
use locum_agent::session::event::Event;
use pretty_assertions::assert_eq;

/// A run of the orchestrator under a policy with this budget.
fn with_budget(tasks: &[(&str, String)], words: &str, budget: &str) -> Fixture {
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|(name, turns)| (*name, &**turns)).collect();
    let policy = format!("{}\nbudget: {{ {budget} }}\n", policy());
    Fixture::with_policy(&script(&tasks, words), &policy).in_mode("orchestrator")
}

/// A turn that writes these files, all with the same content.
fn write_all(paths: &[String], content: &str) -> String {
    let calls: Vec<String> = paths
        .iter()
        .map(|path| {
            format!("{{ tool: write_to_file, args: {{ path: {path}, content: \"{content}\" }} }}")
        })
        .collect();
    format!("- calls: [{}]\n", calls.join(", "))
}

#[test]
fn a_folder_of_somebody_else_in_the_way_leaves_the_checkout_and_the_other_sub_tasks_whole() {
    let first = format!(
        "{}{}{}",
        overwrite("src/a.txt", "one\\n2\\nthree\\n"),
        write("src/x1", "x\\n"),
        end("first")
    );
    let second = format!("{}{}", write("src/b.txt", "b\\n"), end("second"));
    let words = r#""`src/x1`: a folder stands in its place", "refs/locum/trees/", "second""#;
    let fixture = fixture(&[("1", &first), ("2", &second)], words);
    let folder = fixture.root.join("src/x1");
    let fixture = fixture.watched(move |event| {
        if matches!(event, Event::ParallelStarted { .. }) {
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("f"), "theirs\n").unwrap();
        }
    });
    let ran = fixture.run();
    assert_eq!(
        (ran.word(), ran.reason(), ran.changed()),
        ("done", "", vec!["src/b.txt"]),
        "{:?}",
        ran.answers("new_task")
    );
    assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"), "all or nothing");
    assert_eq!(fixture.file("src/x1/f").as_deref(), Some("theirs\n"));
    let refs = kept(&fixture);
    assert_eq!(refs, ["refs/locum/trees/0123456789abcdef/1"]);
    assert_eq!(ran.outcome.tasks[1].kept_ref.as_ref(), refs.first());
    assert_eq!(ran.outcome.tasks[1].changes.len(), 2);
    nothing_is_left(&fixture);
}

#[test]
fn a_parent_reads_a_bounded_part_of_many_conflicts() {
    let paths: Vec<String> = (0..60).map(|number| format!("src/many/{number}.txt")).collect();
    let part = |line: &str| format!("{}{}", write_all(&paths, &line.repeat(100)), end("wrote"));
    let tasks = [("1", part("first\\n")), ("2", part("second\\n")), ("3", part("third\\n"))];
    let words = r#""conflict with the current files", "too long to be shown here""#;
    let budget = "files: 1000, diff_lines: 100000";
    let fixture = with_budget(&tasks, words, budget);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed().len()), ("done", 60), "{}", ran.reason());
    let answers = ran.answers("new_task");
    let shown = |answer: &String| answer.matches("<<<<<<< here\n").count();
    assert_eq!(shown(&answers[0]), 0);
    assert!((1..30).contains(&shown(&answers[1])), "{}", answers[1]);
    assert!(shown(&answers[2]) <= 1, "all of a turn share the room: {}", answers[2]);
    for (number, answer) in answers.iter().enumerate().skip(1) {
        assert!(answer.len() < 40_000, "{}", answer.len());
        // Of conflicts, and of files.
        assert_eq!(answer.matches("\n- and 10 more\n").count(), 2, "{answer}");
        let rest = format!("`git diff refs/locum/trees/0123456789abcdef/{} -- PATH`", number + 1);
        assert!(answer.contains(&rest), "{answer}");
    }
}

/// How many sub-tasks each group of a run began with.
fn groups(ran: &Ran) -> Vec<usize> {
    let size = |event: &Event| match event {
        Event::ParallelStarted { calls, .. } => Some(calls.len()),
        _other => None,
    };
    ran.lines.iter().filter_map(|line| size(&line.event)).collect()
}

#[test]
fn as_many_sub_tasks_work_at_once_as_have_enough_files_to_change() {
    let part = |name: &str| {
        let paths: Vec<String> = (1..=3).map(|file| format!("src/{name}-{file}.txt")).collect();
        format!("{}{}", write_all(&paths, "x\\n"), end("wrote"))
    };
    let tasks = ["1", "2", "3", "4"].map(|name| (name, part(name)));
    let note = "Sub-tasks of task 0 run in smaller groups, not all in parallel: too few files are \
                left to be shared among them.";
    for (files, at_once, notes) in [(12, 3, &[note][..]), (15, 4, &[][..])] {
        let words = r#""Sub-task 4 completed""#;
        let fixture = with_budget(&tasks, words, &format!("files: {files}"));
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.reason()), ("done", ""), "{:?}", ran.answers("new_task"));
        assert_eq!((ran.changed().len(), groups(&ran)), (12, vec![at_once]));
        assert_eq!(ran.outcome.notes, notes);
    }
}
