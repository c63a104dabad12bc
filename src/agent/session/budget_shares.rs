//! Shares of a budget: what each of several parallel sub-tasks may spend, and for how many of them
//! what is left is enough. Pure.
//!
//! In: what is left, and what the sub-tasks count for. Out: a budget for each of the first ones, as
//! many as can work with their shares.

use crate::session::task::budgeting::SUB_TASK_TURNS;
use crate::tools::flow::new_task::TaskPriority;
use locum_policy::budget::Budget;

/// Fewest tool calls of a share: those of a few turns.
const LEAST_CALLS: u32 = 8;

/// Fewest files that a share lets change: the code, its test and one more.
const LEAST_FILES: u32 = 3;

/// Fewest changed lines of a share.
const LEAST_DIFF_LINES: u32 = 100;

/// What a sub-task counts for where a budget is shared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedShare {
    /// Its priority among the others.
    pub(crate) priority: TaskPriority,
    /// Whether it may change files, by itself or through sub-tasks of its own.
    pub(crate) changes_files: bool,
}

/// A budget that parallel sub-tasks share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedBudget {
    /// What each of the first sub-tasks may spend, of as many as get enough of it; empty where not
    /// even two of them do.
    pub(crate) budgets: Vec<Budget>,
    /// Of what all of them together would get too few: `files`; `None` where they get enough.
    pub(crate) too_few: Option<&'static str>,
}

/// Shares what is left among sub-tasks. One share stays with their parent, which has to make
/// something of the results.
pub(crate) fn share(rest: &Budget, wanted: &[WantedShare]) -> SharedBudget {
    let of_first = |count: usize| {
        let wanted = wanted.get(..count).unwrap_or(wanted);
        let budgets = divide(rest, wanted);
        let lacks = budgets.iter().zip(wanted).find_map(|(part, wanted)| lack(part, rest, wanted));
        (budgets, lacks)
    };
    let (_, too_few) = of_first(wanted.len());
    let enough = (2..=wanted.len()).rev().map(of_first).find(|(_, lacks)| lacks.is_none());
    SharedBudget { budgets: enough.map(|(budgets, _)| budgets).unwrap_or_default(), too_few }
}

fn divide(rest: &Budget, wanted: &[WantedShare]) -> Vec<Budget> {
    let shares = || wanted.iter().map(|wanted| wanted.priority.shares());
    let all = shares().fold(TaskPriority::NORMAL_SHARES, u32::saturating_add);
    shares().map(|shares| rest.share(shares, all)).collect()
}

/// Returns of what a share has too little to work with, where alone a sub-task would have more.
fn lack(part: &Budget, rest: &Budget, wanted: &WantedShare) -> Option<&'static str> {
    let few = |unit: &'static str, (part, rest): (u32, u32), least: u32| {
        (part < least && part < rest).then_some(unit)
    };
    let work = few("turns", (part.turns, rest.turns), SUB_TASK_TURNS)
        .or_else(|| few("tool calls", (part.tool_calls, rest.tool_calls), LEAST_CALLS));
    if work.is_some() || !wanted.changes_files {
        return work;
    }
    few("files", (part.files, rest.files), LEAST_FILES)
        .or_else(|| few("changed lines", (part.diff_lines, rest.diff_lines), LEAST_DIFF_LINES))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{WantedShare, share};
    use crate::tools::flow::new_task::TaskPriority;
    use locum_policy::budget::Budget;

    fn tasks(count: usize, changes_files: bool) -> Vec<WantedShare> {
        vec![WantedShare { priority: TaskPriority::Normal, changes_files }; count]
    }

    /// How many of the first sub-tasks get enough, and of what there is too little for all.
    fn enough(rest: &Budget, wanted: &[WantedShare]) -> (usize, Option<&'static str>) {
        let shared = share(rest, wanted);
        (shared.budgets.len(), shared.too_few)
    }

    #[test]
    fn as_many_share_as_can_work_with_what_they_get() {
        let rest = Budget::default();
        assert_eq!(enough(&rest, &tasks(4, true)), (4, None));
        // 50 files and 60 turns.
        assert_eq!(enough(&rest, &tasks(15, true)), (15, None));
        assert_eq!(enough(&rest, &tasks(32, true)), (15, Some("turns")));
        let rest = Budget { turns: 600, ..rest };
        assert_eq!(enough(&rest, &tasks(32, true)), (15, Some("files")));
        assert_eq!(enough(&rest, &tasks(32, false)), (32, None));
        let rest = Budget { files: 600, diff_lines: 500, ..rest };
        assert_eq!(enough(&rest, &tasks(5, true)), (4, Some("changed lines")));
        let rest = Budget { tool_calls: 24, ..rest };
        assert_eq!(enough(&rest, &tasks(3, false)), (2, Some("tool calls")));
    }

    #[test]
    fn where_not_even_two_can_none_do() {
        let rest = Budget { files: 8, ..Budget::default() };
        assert_eq!(enough(&rest, &tasks(2, true)), (0, Some("files")));
        assert_eq!(enough(&Budget { files: 9, ..rest }, &tasks(2, true)), (2, None));
        // Alone it would have no more.
        assert_eq!(enough(&Budget { files: 0, ..rest }, &tasks(2, true)), (2, None));
        let low = WantedShare { priority: TaskPriority::Low, changes_files: true };
        let rest = Budget { files: 20, ..rest };
        assert_eq!(enough(&rest, &[low, low]), (2, None));
        assert_eq!(enough(&Budget { files: 11, ..rest }, &[low, low]), (0, Some("files")));
    }
}
