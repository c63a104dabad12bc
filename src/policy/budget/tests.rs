//! What a run has spent, and when a limit is reached.

use super::{Budget, EndReserve, Spent};
use locum_base::chat::Usage;
use pretty_assertions::assert_eq;

fn spent(change: impl FnOnce(&mut Spent)) -> Spent {
    let mut spent = Spent::default();
    change(&mut spent);
    spent
}

#[test]
fn stops_a_turn_at_each_limit_and_not_before() {
    let budget = Budget { turns: 2, tokens: 100, cost_usd: 1.0, minutes: 1, ..Budget::default() };
    let usage = |input| Usage { input, ..Usage::default() };
    for (spent, estimate, expected) in [
        (spent(|spent| spent.turns = 1), 10, None),
        (spent(|spent| spent.turns = 2), 10, Some("turns")),
        (spent(|spent| spent.usage = usage(90)), 10, None),
        (spent(|spent| spent.usage = usage(91)), 10, Some("tokens")),
        (spent(|spent| spent.usage = usage(100)), 0, Some("tokens")),
        (spent(|spent| spent.cost_usd = 0.99), 0, None),
        (spent(|spent| spent.cost_usd = 0.99), 2, Some("cost_usd")),
        (spent(|spent| spent.cost_usd = 1.0), 0, Some("cost_usd")),
        (spent(|spent| spent.seconds = 59), 0, None),
        (spent(|spent| spent.seconds = 60), 0, Some("minutes")),
    ] {
        let found = budget
            .ask_turn(&spent, estimate, f64::from(u32::try_from(estimate).unwrap()) / 100.0)
            .err()
            .map(|error| error.unit);
        assert_eq!(found.as_deref(), expected, "{spent:?}");
    }
}

#[test]
fn says_which_limit_is_nearly_reached() {
    let budget =
        Budget { turns: 10, tool_calls: 5, tokens: 1000, cost_usd: 1.0, ..Budget::default() };
    for (turns, calls, cost_usd, expected) in [
        (7, 5, 0.7, None),
        (8, 0, 0.9, Some("8 of 10 turns")),
        (10, 0, 0.0, None),
        (0, 4, 0.0, None),
        (0, 0, 0.8, Some("0.80 of 1.00 dollars")),
    ] {
        let spent = Spent { turns, tool_calls: calls, cost_usd, ..Spent::default() };
        assert_eq!(budget.low(&spent).as_deref(), expected, "{turns} {calls} {cost_usd}");
    }
}

#[test]
fn lets_free_models_work_without_money() {
    let budget = Budget { cost_usd: 0.0, ..Budget::default() };
    assert_eq!(budget.ask_turn(&Spent::default(), 1, 0.0), Ok(()));
    assert!(
        budget.ask_turn(&Spent::default(), 1, 0.01).is_err(),
        "the first request costs too much"
    );
    assert!(budget.ask_turn(&spent(|spent| spent.cost_usd = 0.01), 1, 0.0).is_err());
}

#[test]
fn a_limit_with_something_left_is_not_said_to_be_used_up() {
    let budget = Budget { tokens: 4000, ..Budget::default() };
    let spent = spent(|spent| spent.usage.input = 2947);
    assert_eq!(budget.ask_turn(&spent, 1000, 0.0), Ok(()));
    assert_eq!(
        budget.ask_turn(&spent, 2000, 0.0).unwrap_err().to_string(),
        "budget of 4000 tokens is nearly used up (2947 spent), and the next request does not fit"
    );
}

#[test]
fn counts_calls_and_changes() {
    let budget = Budget { tool_calls: 3, files: 2, diff_lines: 10, ..Budget::default() };
    assert_eq!(budget.ask_call(&spent(|spent| spent.tool_calls = 2)), Ok(()));
    assert_eq!(
        budget.ask_call(&spent(|spent| spent.tool_calls = 3)).unwrap_err().to_string(),
        "budget of 3 tool_calls is used up (3 spent)"
    );
    assert_eq!(
        budget.ask_changes(&spent(|spent| (spent.files, spent.diff_lines) = (2, 10))),
        Ok(())
    );
    assert_eq!(budget.ask_changes(&spent(|spent| spent.files = 3)).unwrap_err().unit, "files");
    assert_eq!(
        budget.ask_changes(&spent(|spent| spent.diff_lines = 11)).unwrap_err().unit,
        "diff_lines"
    );
}

#[test]
fn a_child_never_gets_more_than_is_left() {
    let budget =
        Budget { turns: 10, tokens: 1000, cost_usd: 2.0, minutes: 10, ..Budget::default() };
    let used = spent(|spent| {
        spent.turns = 4;
        spent.usage.input = 400;
        spent.cost_usd = 0.5;
        spent.seconds = 61;
    });
    let rest = budget.rest(&used);
    assert_eq!((rest.turns, rest.tokens, rest.minutes), (6, 600, 8));
    assert!((rest.cost_usd - 1.5).abs() < 1e-9);
}

#[test]
fn whoever_hands_work_on_keeps_two_turns_and_a_twentieth_of_each_limit() {
    let budget = Budget { turns: 20, tokens: 1000, cost_usd: 2.0, ..Budget::default() };
    let used = spent(|spent| (spent.turns, spent.tool_calls) = (1, 3));
    let child = budget.carve(&used, &EndReserve { open_calls: 1, ..EndReserve::default() });
    assert_eq!((child.turns, child.tool_calls, child.tokens), (17, 377, 950));
    assert_eq!((child.minutes, child.files, child.diff_lines), (28, 48, 2850));
    assert!((child.cost_usd - 1.9).abs() < 1e-9);
    // A conversation that is long by now takes more than a twentieth to go on with.
    let long = EndReserve { open_calls: 1, tokens: 300, cost_usd: 0.5 };
    let child = budget.carve(&used, &long);
    assert_eq!(child.tokens, 700);
    assert!((child.cost_usd - 1.5).abs() < 1e-9);
    let endless = EndReserve { tokens: 5000, cost_usd: 9.0, ..long };
    let child = budget.carve(&used, &endless);
    assert_eq!(child.tokens, 500, "half of what is left is still handed on");
    // Small limits of changes are handed on whole; of turns and calls nothing may be left.
    let small = Budget { turns: 3, tool_calls: 2, files: 1, diff_lines: 10, ..budget };
    let child = small.carve(&used, &EndReserve { open_calls: 1, ..EndReserve::default() });
    assert_eq!((child.turns, child.tool_calls, child.files, child.diff_lines), (0, 0, 1, 10));
}

#[test]
fn says_what_is_left_when_a_task_has_to_end() {
    let budget = Budget {
        turns: 60,
        tool_calls: 100,
        tokens: 1000,
        cost_usd: 1.0,
        minutes: 30,
        ..Budget::default()
    };
    let end = EndReserve { tokens: 200, cost_usd: 0.1, ..EndReserve::default() };
    let usage = |input| Usage { input, ..Usage::default() };
    for (change, expected) in [
        (Box::new(|_: &mut Spent| {}) as Box<dyn Fn(&mut Spent)>, None),
        (Box::new(|spent| spent.turns = 56), None),
        (Box::new(|spent| spent.turns = 57), Some("3 of 60 turns")),
        (Box::new(|spent| spent.tool_calls = 94), None),
        (Box::new(|spent| spent.tool_calls = 95), Some("5 of 100 tool calls")),
        (Box::new(move |spent| spent.usage = usage(799)), None),
        (Box::new(move |spent| spent.usage = usage(800)), Some("200 of 1000 tokens")),
        (Box::new(|spent| spent.cost_usd = 0.89), None),
        (Box::new(|spent| spent.cost_usd = 0.95), Some("0.05 of 1.00 dollars")),
        (Box::new(|spent| spent.seconds = 1700), None),
        (Box::new(|spent| spent.seconds = 1710), Some("90 of 1800 seconds")),
    ] {
        let spent = spent(|spent| {
            spent.turns = 1;
            change(spent);
        });
        assert_eq!(budget.ending(&spent, &end).as_deref(), expected, "{spent:?}");
    }
    let short = Budget { turns: 4, ..budget };
    assert_eq!(short.ending(&spent(|spent| spent.turns = 1), &end), None);
    let two = short.ending(&spent(|spent| spent.turns = 2), &end);
    assert_eq!(two.as_deref(), Some("2 of 4 turns"));
    let one = Budget { turns: 1, ..budget };
    assert_eq!(one.ending(&Spent::default(), &end), None, "nothing was done that could be told");
}

#[test]
fn says_which_limit_of_changes_is_full() {
    let budget = Budget { files: 1, diff_lines: 100, ..Budget::default() };
    for (files, diff_lines, expected) in [
        (0, 0, None),
        (0, 94, None),
        (1, 1, Some("1 of 1 files")),
        (0, 95, Some("95 of 100 changed lines")),
    ] {
        let spent = Spent { files, diff_lines, ..Spent::default() };
        assert_eq!(budget.changes_full(&spent).as_deref(), expected, "{files} {diff_lines}");
    }
}

#[test]
fn a_child_cannot_spend_what_its_parent_has_spent() {
    let budget = Budget { turns: 10, ..Budget::default() };
    let used = spent(|spent| spent.turns = 9);
    assert!(budget.rest(&used).turns <= 1);
}
