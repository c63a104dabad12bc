//! Figures and short phrases as every report writes them: money, time, counts, exits, verdicts.

use crate::session::command_report::CommandReport;
use crate::session::outcome::{ChargedUsage, CheckEnd, CheckReport, Outcome, RefusedCall};
use crate::tools::command_end;
use crate::tools::flow::complete::CompletionStatus;
use locum_base::chat::Usage;
use locum_policy::budget::{Exhausted, Spent};
use locum_policy::verdict::{Cause, Decision, RefusedBy, RuleRef, Verdict};
use locum_sandbox::exec::Exit;
use locum_workspace::diff::{ChangeKind, FileChange};
use locum_workspace::repo::CommitId;

/// Most characters of a login.
const LOGIN_LIMIT_CHARS: usize = 60;

/// Returns a number of things: `1 file`, `3 files`.
pub fn count(number: usize, thing: &str) -> String {
    match (number, thing) {
        (1, _) => format!("1 {thing}"),
        (number, "reply") => format!("{number} replies"),
        (number, _) => format!("{number} {thing}s"),
    }
}

/// Returns US dollars: `$0.31`, estimates as such; of a part of a cent only that it is one.
pub fn money(usd: f64, is_estimate: bool) -> String {
    let about = if is_estimate { "about " } else { "" };
    if usd > 0.0 && usd < 0.005 { "under $0.01".to_owned() } else { format!("{about}${usd:.2}") }
}

/// Returns tokens in two or three digits: `950`, `12.3k`, `1.20M`.
pub fn tokens(number: u64) -> String {
    match number {
        0..=999 => number.to_string(),
        1_000..=99_999 => format!("{}.{}k", number / 1000, number % 1000 / 100),
        100_000..=999_999 => format!("{}k", number / 1000),
        1_000_000.. => format!("{}.{:02}M", number / 1_000_000, number % 1_000_000 / 10_000),
    }
}

/// Returns tokens: `12.3k tokens in (8.0k cached, 1.0k written to the cache), 1.2k out (300
/// reasoning)`.
pub fn usage(usage: Usage) -> String {
    let part = |number: u64, what: &str| (number > 0).then(|| format!("{} {what}", tokens(number)));
    let of = |parts: [Option<String>; 2]| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    };
    let input =
        of([part(usage.cached_read, "cached"), part(usage.cached_write, "written to the cache")]);
    let output = of([part(usage.reasoning, "reasoning"), None]);
    format!("{} tokens in{input}, {} out{output}", tokens(usage.input), tokens(usage.output))
}

/// Returns what requests used up: `12.3k tokens in, 1.2k out · $0.31`.
pub fn charged(charged: &ChargedUsage) -> String {
    format!("{} · {}", usage(charged.usage), money(charged.cost_usd, charged.is_estimate))
}

/// Returns a wall time: `8 s`, `3 min 20 s`; whole minutes from ten on: `12 min`, `2 h 5 min`.
pub fn duration(seconds: u64) -> String {
    let minutes = seconds / 60;
    match (minutes, seconds % 60) {
        (0, rest) => format!("{rest} s"),
        (1..=9, 0) | (10..=59, _) => format!("{minutes} min"),
        (1..=9, rest) => format!("{minutes} min {rest} s"),
        (60.., _) if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
        (60.., _) => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Returns what was spent in one line.
pub fn spent(spent: &Spent, is_estimate: bool) -> String {
    format!(
        "{} · {} · {} · {} · {}",
        count(spent.turns as usize, "reply"),
        count(spent.tool_calls as usize, "tool call"),
        usage(spent.usage),
        money(spent.cost_usd, is_estimate),
        duration(spent.seconds)
    )
}

/// Returns how a command ended.
pub fn exit(exit: Exit) -> String {
    command_end::ended(exit)
}

/// Returns how a check ended.
pub fn check_end(end: &CheckEnd) -> String {
    match end {
        CheckEnd::Exited(code) => exit(*code),
        CheckEnd::NoTests => "ran no test".to_owned(),
        CheckEnd::NotStarted(why) => format!("could not run: {why}"),
        CheckEnd::Unclean(what) => what.clone(),
    }
}

/// Returns what is said where files changed and no check ran after that; empty otherwise, and where
/// the work is not over.
pub fn unchecked(outcome: &Outcome) -> &'static str {
    let ended_early = outcome.pending().next().is_some() || outcome.was_stopped();
    if outcome.unchecked && !ended_early { "No check ran after the last change." } else { "" }
}

/// Returns the mark of a command: a warning where it ended well and a part of it failed.
pub(crate) fn mark(command: &CommandReport) -> &'static str {
    match (command.succeeded(), command.details.failures().next()) {
        (true, None) => "✅",
        (true, Some(_)) => "⚠️",
        (false, _) => "❌",
    }
}

/// Returns how far a task came, for readers; `None` is a task that runs.
pub fn reached(status: Option<CompletionStatus>) -> &'static str {
    match status {
        Some(CompletionStatus::Done) => "completed",
        Some(CompletionStatus::Partial) => "partly done",
        Some(CompletionStatus::Failed) => "failed",
        None => "unfinished",
    }
}

/// Returns how far a task came that ended, for readers; the status is the one it gave itself.
pub fn task_ended(completed: bool, status: Option<CompletionStatus>) -> &'static str {
    reached(Some(match status {
        _ if completed => CompletionStatus::Done,
        Some(status) => status,
        None => CompletionStatus::Failed,
    }))
}

/// Returns why a run ended as it did, where its word and its checks do not say it.
pub fn reason(outcome: &Outcome) -> Option<String> {
    let reason = outcome.reason.as_deref()?;
    let said_by_check = outcome.failed_check().and_then(CheckReport::failure);
    if said_by_check.as_deref() == Some(reason) {
        return None;
    }
    Some(match outcome.exhausted.as_deref() {
        Some(limit) => reason.replace(&limit.to_string(), &exhausted(limit)),
        None => reason.to_owned(),
    })
}

/// Returns which limit of the budget is reached, in words.
fn exhausted(reached: &Exhausted) -> String {
    let Exhausted { unit, limit, spent } = reached;
    if unit == "cost_usd" {
        return format!("${spent} of ${limit} are spent, and the next request would take too much");
    }
    let unit = match unit.as_str() {
        "tool_calls" => "tool calls",
        "diff_lines" => "changed lines",
        other => other,
    };
    let unit = if limit == "1" { unit.trim_end_matches('s') } else { unit };
    format!("the budget of {limit} {unit} {}", reached.used())
}

/// Returns a decision as the past participle that lists show.
pub fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Hold => "held",
        Decision::Deny => "denied",
    }
}

/// Returns a verdict in one line: decision, intent, reason, and the rule with its place where one
/// of a file decided. `code` renders what is quoted, `text` what is said.
pub(crate) fn verdict(
    verdict: &Verdict,
    code: impl Fn(&str) -> String,
    text: impl Fn(&str) -> String,
) -> String {
    let rule = verdict.rule().map_or_else(String::new, |rule| {
        format!(" (rule {} at {})", code(&rule.pattern), code(&rule.place()))
    });
    let reason = match &verdict.cause {
        // The intent is said already.
        Cause::NoRule { intent } if *intent == verdict.intent => text("no rule allows it"),
        _ => text(&verdict.reason()),
    };
    format!("{} {}: {reason}{rule}", decision(verdict.decision), code(&verdict.intent))
}

/// Returns files and lines of a change: `2 files, +10 −3`.
pub fn changes(changes: &[FileChange]) -> String {
    let (added, removed) = changes.iter().fold((0_u64, 0_u64), |(added, removed), change| {
        (added + u64::from(change.added), removed + u64::from(change.removed))
    });
    format!("{}, +{added} −{removed}", count(changes.len(), "file"))
}

/// Returns how much of one file changed: `+10 −3`, or `binary, 29 bytes`.
pub fn amount(change: &FileChange) -> String {
    match change.binary_bytes {
        Some(bytes) => format!("binary, {bytes} bytes"),
        None => format!("+{} −{}", change.added, change.removed),
    }
}

/// Returns the letter git uses for a kind of change.
pub(crate) fn change_letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
    }
}

/// Returns the first 12 digits of a commit's name.
pub fn short(commit: &CommitId) -> &str {
    locum_base::text::head(&commit.0, 12)
}

/// Returns every patch of a change as one text.
pub fn diff(changes: &[FileChange]) -> String {
    let mut text = String::new();
    for change in changes {
        text.push_str(&change.patch);
        if !change.patch.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Returns refusals that are the same once, with how many there are, in the order of the first.
pub fn grouped(refusals: &[RefusedCall]) -> Vec<(&RefusedCall, usize)> {
    let mut groups: Vec<(&RefusedCall, usize)> = Vec::new();
    for call in refusals {
        let same = |(known, _): &&mut (&RefusedCall, usize)| {
            (&known.mode, &known.headline, &known.refusal)
                == (&call.mode, &call.headline, &call.refusal)
        };
        match groups.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => groups.push((call, 1)),
        }
    }
    groups
}

/// Returns how often something happened, where that is more than once: ` (×3)`.
pub fn times(count: usize) -> String {
    if count > 1 { format!(" (×{count})") } else { String::new() }
}

/// Returns who refused how many calls, and how many wait for a decision, behind the word "refused".
pub fn refusals(refusals: &[RefusedCall]) -> String {
    let by_policy = || refusals.iter().filter(|call| call.refusal.by == RefusedBy::Policy);
    let held = by_policy().filter(|call| call.refusal.decision == Decision::Hold).count();
    let denied = by_policy().count() - held;
    let mut parts: Vec<String> = [(denied, "denied"), (held, "held")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let others = stands_out(refusals);
    if others.is_empty() {
        return format!(" by the policy: {}", parts.join(", "));
    }
    if !parts.is_empty() {
        parts = vec![format!("{} by the policy", parts.join(" and "))];
    }
    parts.extend(others);
    format!(": {}", parts.join(", "))
}

/// Returns what a person said to a call that they denied.
pub fn denied(call: &RefusedCall) -> Option<String> {
    let RefusedBy::Person { login, reason } = &call.refusal.by else { return None };
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Some(format!("denied by {}{reason}", clip(login, LOGIN_LIMIT_CHARS)))
}

/// Returns how a run ended, for one line: the word's heading, and whose no stands out.
pub fn headline(outcome: &Outcome) -> String {
    let heading = outcome.word.heading();
    let others = stands_out(&outcome.refusals);
    if others.is_empty() {
        heading.to_owned()
    } else {
        format!("{heading} ({})", others.join(", "))
    }
}

/// Returns what the first line of a report says of refusals: who said no to how many calls, and how
/// many were withheld for a secret. Empty where only the policy refused.
pub fn stands_out(refusals: &[RefusedCall]) -> Vec<String> {
    let mut people: Vec<(&str, usize)> = Vec::new();
    let mut secrets = 0;
    for call in refusals {
        match &call.refusal.by {
            RefusedBy::Policy => {}
            RefusedBy::Secret => secrets += 1,
            RefusedBy::Person { login, .. } => {
                match people.iter_mut().find(|(known, _)| known == login) {
                    Some((_, times)) => *times += 1,
                    None => people.push((login, 1)),
                }
            }
        }
    }
    let denied = people.into_iter().map(|(login, times)| {
        format!("{} denied by {}", count(times, "call"), clip(login, LOGIN_LIMIT_CHARS))
    });
    let withheld =
        (secrets > 0).then(|| format!("{} withheld for a secret", count(secrets, "call")));
    denied.chain(withheld).collect()
}

/// How often one rule, or one guard, refused or held something in a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RefusedRule<'a> {
    /// `hold` or `deny`.
    pub decision: Decision,
    /// The pattern; `null` when no rule spoke.
    pub rule: Option<&'a str>,
    /// The file of the rule.
    pub file: Option<&'a str>,
    /// The line of the rule.
    pub line: Option<u32>,
    /// The reason given the first time.
    pub reason: String,
    /// Number of times it happened.
    pub count: usize,
}

impl RefusedRule<'_> {
    /// Returns `file:line`; empty when no rule spoke.
    pub fn place(&self) -> String {
        match (self.file, self.line) {
            (Some(file), Some(line)) if line > 0 => format!("{file}:{line}"),
            (Some(file), _) => file.to_owned(),
            (None, _) => String::new(),
        }
    }
}

/// Counts what refused and held calls of a run, the one that waits included: by rule; where no rule
/// spoke, by reason. In order of the first time.
pub fn refused_rules(outcome: &Outcome) -> Vec<RefusedRule<'_>> {
    let refused = outcome.refusals.iter().flat_map(|call| &call.refusal.verdicts);
    let mut rows: Vec<RefusedRule<'_>> = Vec::new();
    for verdict in refused.chain(outcome.holds().flat_map(|held| &held.verdicts)) {
        let rule = verdict.rule();
        let row = RefusedRule {
            decision: verdict.decision,
            rule: rule.map(|rule| rule.pattern.as_str()),
            file: rule.map(|rule| rule.origin.as_str()),
            line: rule.map(RuleRef::line_number),
            reason: verdict.reason(),
            count: 1,
        };
        let same = |known: &&mut RefusedRule<'_>| {
            let by_rule = (known.decision, known.rule, known.file, known.line)
                == (row.decision, row.rule, row.file, row.line);
            by_rule && (row.rule.is_some() || known.reason == row.reason)
        };
        match rows.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => rows.push(row),
        }
    }
    rows
}

/// Returns a text's length as the forge counts it: in UTF-16 units.
pub fn width(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns at most `limit_chars` characters, an ellipsis in place of the rest.
pub fn clip(text: &str, limit_chars: usize) -> String {
    match text.char_indices().nth(limit_chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(limit_chars.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns at most `limit_chars` characters, a third of them the first and the others the
/// last ones, an ellipsis in place of what lies between: where the end says most.
pub fn clip_middle(text: &str, limit_chars: usize) -> String {
    let total = text.chars().count();
    if total <= limit_chars {
        return text.to_owned();
    }
    let head = limit_chars.saturating_sub(1) / 3;
    let tail = limit_chars.saturating_sub(1) - head;
    let (first, last) = (text.chars().take(head), text.chars().skip(total - tail));
    first.chain(['…']).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::{clip, clip_middle, count, duration, money, tokens, usage};
    use locum_base::chat::Usage;
    use pretty_assertions::assert_eq;

    #[test]
    fn figures_are_short_and_never_wrong() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (12_345, "12.3k"),
            (99_999, "99.9k"),
            (450_000, "450k"),
            (1_234_567, "1.23M"),
        ] {
            assert_eq!(tokens(number), expected);
        }
        for (seconds, expected) in [
            (8, "8 s"),
            (92, "1 min 32 s"),
            (120, "2 min"),
            (754, "12 min"),
            (3_600, "1 h"),
            (7_500, "2 h 5 min"),
        ] {
            assert_eq!(duration(seconds), expected);
        }
        for (usd, is_estimate, expected) in [
            (0.0, false, "$0.00"),
            (0.0042, true, "under $0.01"),
            (0.0052, false, "$0.01"),
            (0.314, false, "$0.31"),
            (12.0, true, "about $12.00"),
        ] {
            assert_eq!(money(usd, is_estimate), expected);
        }
        for (input, cached_read, cached_write, reasoning, expected) in [
            (10, 0, 0, 0, "10 tokens in, 5 out"),
            (10, 4, 0, 2, "10 tokens in (4 cached), 5 out (2 reasoning)"),
            (10, 4, 3, 0, "10 tokens in (4 cached, 3 written to the cache), 5 out"),
            (10, 0, 3, 0, "10 tokens in (3 written to the cache), 5 out"),
        ] {
            assert_eq!(
                usage(Usage { input, output: 5, cached_read, cached_write, reasoning }),
                expected
            );
        }
        assert_eq!(
            (count(1, "file"), count(0, "reply")),
            ("1 file".to_owned(), "0 replies".to_owned())
        );
        assert_eq!((clip("äöü", 3), clip("äöü", 2)), ("äöü".to_owned(), "ä…".to_owned()));
        assert_eq!(
            (clip_middle("äöüß", 4), clip_middle("äöüßx", 4)),
            ("äöüß".to_owned(), "ä…ßx".to_owned())
        );
    }
}
