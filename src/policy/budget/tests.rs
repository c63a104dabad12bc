//! What a run has spent, and when a limit is reached.

use super::{Budget, Spent};
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
    let rest = budget.carve(&used, None);
    assert_eq!((rest.turns, rest.tokens, rest.minutes), (6, 600, 8));
    let asked = Budget { turns: 100, tokens: 50, ..Budget::default() };
    let carved = budget.carve(&used, Some(asked));
    assert_eq!((carved.turns, carved.tokens, carved.minutes), (6, 50, 8));
    assert!((carved.cost_usd - 1.5).abs() < 1e-9);
}

#[test]
fn a_child_cannot_spend_what_its_parent_has_spent() {
    let budget = Budget { turns: 10, ..Budget::default() };
    let used = spent(|spent| spent.turns = 9);
    assert!(budget.carve(&used, None).turns <= 1);
}
