//! What changed: the files, the diff where it is shown, and what was not merged.

use crate::report::figures;
use crate::report::sections::tasks as task_section;
use crate::report::surface::{Surface, join};
use crate::session::outcome::{Outcome, TaskReport};
use locum_workspace::diff::FileChange;

/// Most files in a list.
const FILE_LIMIT: usize = 30;
/// Most characters of the diff of what was not merged.
pub(crate) const NOT_MERGED_LIMIT_CHARS: usize = 6_000;
/// Fewest characters in which it is worth being shown.
const NOT_MERGED_LEAST_CHARS: usize = 300;
/// Most characters of the command that gets it.
const COMMAND_LIMIT_CHARS: usize = 300;
/// Most sub-tasks of which something was not merged that have a paragraph of their own where a
/// report has to be short.
const KEPT_LIMIT: usize = 3;
/// Most of the others whose refs are named.
const KEPT_REFS_LIMIT: usize = 32;

/// Returns every changed file in a fold; empty where none changed.
pub(crate) fn files(changes: &[FileChange], surface: Surface) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let lines = surface.listed(changes, FILE_LIMIT, |change| {
        let (letter, path) =
            (figures::change_letter(change.kind), surface.code(change.path.as_str()));
        format!("- {letter} {path} {}", figures::amount(change))
    });
    surface.fold(&format!("Changed: {}", figures::changes(changes)), &lines)
}

/// Returns the diff in a fold of at most `room_chars` characters, cut at a line with a note that it
/// was. `None` when there is no room or no change.
pub(crate) fn diff(changes: &[FileChange], surface: Surface, room_chars: usize) -> Option<String> {
    let whole = figures::diff(changes);
    let title = format!("Diff: {}", figures::changes(changes));
    let all_lines = whole.lines().count();
    let mut shown_lines = all_lines;
    if changes.is_empty() {
        return None;
    }
    while shown_lines > 0 {
        let part: String = whole.split_inclusive('\n').take(shown_lines).collect();
        let note = if shown_lines < all_lines {
            format!("Shortened: the first {shown_lines} of {all_lines} lines.\n\n")
        } else {
            String::new()
        };
        let block = surface.block(&part, "diff", usize::MAX);
        let text = surface.fold(&title, &format!("{note}{block}"));
        let length = figures::width(&text);
        if length <= room_chars {
            return Some(text);
        }
        // Cut by the share that is too much, and always by one line at least.
        shown_lines = (shown_lines.saturating_mul(room_chars) / length).min(shown_lines - 1);
    }
    let text = format!("The diff ({}) is too long to be shown here.", figures::changes(changes));
    (figures::width(&text) <= room_chars).then_some(text)
}

/// Returns what sub-tasks changed that is not part of the result; empty when all of it is.
pub(super) fn not_merged(outcome: &Outcome, surface: Surface) -> String {
    let kept: Vec<&TaskReport> =
        outcome.tasks.iter().filter(|task| task.kept_ref.is_some()).collect();
    let limit = if surface == Surface::Terminal { kept.len() } else { KEPT_LIMIT };
    // A session that is resumed merges what its sub-tasks have.
    let state = if outcome.may_go_on() { "Not merged yet" } else { "Not merged" };
    let entries = kept.iter().take(limit).map(|task| {
        let headline = format!(
            "{}, so not part of the change: {} ({})",
            surface.strong(state),
            task_section::name(task, surface),
            figures::changes(&task.changes),
        );
        // Half a command would get half of it.
        let command = task.kept_command();
        match command.filter(|command| figures::width(command) <= COMMAND_LIMIT_CHARS) {
            Some(command) => {
                let how = "In the checkout of the run, this gets it:".to_owned();
                join(&[format!("{headline}. {how}"), surface.command(&command)])
            }
            None => {
                let kept_ref = task.kept_ref.as_deref().unwrap_or_default();
                format!("{headline}. It is kept on {}.", surface.code(kept_ref))
            }
        }
    });
    let mut entries: Vec<String> = entries.collect();
    let refs = kept.iter().skip(limit).take(KEPT_REFS_LIMIT);
    let refs = refs.filter_map(|task| task.kept_ref.as_deref()).map(|kept| surface.code(kept));
    let refs: Vec<String> = refs.collect();
    if !refs.is_empty() {
        let more = kept.len() - limit;
        let others = if more > refs.len() { " and others" } else { "" };
        entries.push(format!("and {more} more, kept on {}{others}", refs.join(", ")));
    }
    join(&entries)
}

/// Returns a fold with the diffs of changes that were not merged, in at most `room_chars`
/// characters; empty when there are no such changes, or no room.
pub(crate) fn not_merged_diff(tasks: &[TaskReport], surface: Surface, room_chars: usize) -> String {
    let changes =
        tasks.iter().filter(|task| task.kept_ref.is_some()).flat_map(|task| &task.changes);
    let changes: Vec<FileChange> =
        changes.filter(|change| !change.patch.is_empty()).cloned().collect();
    let title = "Diff of what was not merged";
    let used = surface.fold(title, "").len();
    let room_chars = room_chars.min(NOT_MERGED_LIMIT_CHARS).saturating_sub(used);
    if changes.is_empty() || room_chars < NOT_MERGED_LEAST_CHARS {
        return String::new();
    }
    surface.fold(title, &surface.block(&figures::diff(&changes), "diff", room_chars))
}

#[cfg(test)]
mod tests {
    use super::not_merged;
    use crate::report::sample;
    use crate::report::surface::Surface;
    use crate::session::outcome::{Outcome, OutcomeWord, TaskReport};

    /// A run of which so many sub-tasks were not merged.
    fn kept(count: usize) -> Outcome {
        let outcome = sample::outcome();
        let task = outcome.tasks.last().cloned().unwrap();
        let tasks = (1..=count).map(|number| TaskReport {
            kept_ref: Some(format!("refs/locum/trees/0199aabb/{number}")),
            ..task.clone()
        });
        Outcome { tasks: tasks.collect(), ..outcome }
    }

    #[test]
    fn each_sub_task_that_was_not_merged_is_named() {
        for surface in [Surface::Markdown, Surface::Terminal] {
            assert_eq!(not_merged(&kept(0), surface), "");
            let text = not_merged(&kept(9), surface);
            for number in 1..=9 {
                assert!(text.contains(&format!("/0199aabb/{number}")), "{number}: {text}");
            }
            let commands = if surface == Surface::Terminal { 9 } else { 3 };
            assert_eq!(text.matches("git checkout ").count(), commands, "{text}");
        }
        let many = not_merged(&kept(60), Surface::Markdown);
        assert!(many.contains("and 57 more, kept on ") && many.ends_with(" and others"), "{many}");
    }

    #[test]
    fn what_a_resumed_session_will_merge_is_not_merged_yet() {
        let waits = Outcome { word: OutcomeWord::OnHold, ..kept(1) };
        assert!(not_merged(&waits, Surface::Terminal).starts_with("Not merged yet, so not part"));
        let ended = Outcome { word: OutcomeWord::TimedOut, ..waits };
        assert!(not_merged(&ended, Surface::Terminal).starts_with("Not merged, so not part"));
    }
}
