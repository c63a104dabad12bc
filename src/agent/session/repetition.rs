//! Notices a model that repeats itself: one call over and over, or a short cycle of calls.
//!
//! In: every answered call of a task, in order. Out: whether the next one would be one repetition
//! too many. Calls are compared by name and arguments, whatever the order of the arguments' keys,
//! and by what they were answered: a page that goes on by each click is no repetition. There is no
//! time window.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::tools::Observation;
use crate::tools::background::output::CommandOutput;
use crate::tools::dispatch;
use locum_base::chat::ToolCall;
use locum_base::tool::ToolName;

/// How often the same call (or cycle of calls) may happen in a row; the next one is refused.
pub const REPEAT_LIMIT: usize = 3;

/// Longest cycle that is noticed, in calls.
pub const CYCLE_LIMIT: usize = 4;

/// The last calls of a task.
#[derive(Clone, Debug, Default)]
pub struct RecentCalls(VecDeque<AnsweredCall>);

/// A call and its answer, by their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AnsweredCall {
    call: u64,
    answer: u64,
}

impl RecentCalls {
    /// Takes a call in with its answer; the oldest ones are forgotten.
    pub fn push(&mut self, call: &ToolCall, observation: &Observation) {
        let answered = AnsweredCall { call: signature(call), answer: answer(call, observation) };
        // What was refused as a repetition has no other result than the call that it repeats.
        let repeated = self.repeats(call).and_then(|cycle| self.0.iter().rev().nth(cycle - 1));
        let answered = repeated.copied().unwrap_or(answered);
        self.0.push_back(answered);
        if self.0.len() > REPEAT_LIMIT * CYCLE_LIMIT {
            self.0.pop_front();
        }
    }

    /// Returns the length of the cycle this call would go on with after [`REPEAT_LIMIT`] rounds of
    /// it; `None` when it is fine.
    pub fn repeats(&self, call: &ToolCall) -> Option<usize> {
        if CommandOutput::waits(call) {
            // That something is not there yet is no reason not to wait longer; time is limited.
            return None;
        }
        let next = signature(call);
        (1..=CYCLE_LIMIT).find(|cycle| self.went_round(*cycle, next))
    }

    /// Returns true when the last calls are [`REPEAT_LIMIT`] rounds of one cycle and `next` is the
    /// first call of that cycle.
    fn went_round(&self, cycle: usize, next: u64) -> bool {
        let rounds = cycle * REPEAT_LIMIT;
        let newest_first = || self.0.iter().rev().take(rounds);
        newest_first().count() == rounds
            && newest_first().zip(newest_first().skip(cycle)).all(|(newer, older)| newer == older)
            && newest_first().nth(cycle - 1).map(|first| first.call) == Some(next)
    }
}

/// Whether a number in its answer is what a call is made for.
fn numbers_count(call: &ToolCall) -> bool {
    ToolName::called(&call.name).is_none_or(|tool| dispatch::answers(tool).numbers_count)
}

fn answer(call: &ToolCall, observation: &Observation) -> u64 {
    let mut hasher = DefaultHasher::new();
    let exact = numbers_count(call);
    let counts = |letter: &char| exact || !letter.is_ascii_digit();
    observation.text.chars().filter(counts).for_each(|letter| letter.hash(&mut hasher));
    observation.images.iter().for_each(|image| image.hash.hash(&mut hasher));
    hasher.finish()
}

fn signature(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    match serde_json::from_str::<serde_json::Value>(&call.arguments) {
        Ok(arguments) => hash_value(&arguments, &mut hasher),
        Err(_) => call.arguments.hash(&mut hasher),
    }
    hasher.finish()
}

fn hash_value(value: &serde_json::Value, hasher: &mut DefaultHasher) {
    match value {
        serde_json::Value::Object(members) => {
            let mut names: Vec<_> = members.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            names.len().hash(hasher);
            for (name, member) in names {
                name.hash(hasher);
                hash_value(member, hasher);
            }
        }
        serde_json::Value::Array(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash_value(item, hasher));
        }
        plain => plain.to_string().hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::RecentCalls;
    use crate::tools::Observation;
    use locum_base::chat::ToolCall;
    use pretty_assertions::assert_eq;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "any".into(), name: name.into(), arguments: arguments.into() }
    }

    fn check(past: &[&str], next: &str, expected: Option<usize>) {
        let mut recent = RecentCalls::default();
        for name in past {
            recent.push(&call(name, "{}"), &Observation::said("done"));
        }
        assert_eq!(recent.repeats(&call(next, "{}")), expected, "{past:?} then {next}");
    }

    #[test]
    fn notices_the_fourth_same_call_and_the_fourth_round_of_a_cycle() {
        check(&[], "a", None);
        check(&["a", "a"], "a", None);
        check(&["a", "a", "a"], "a", Some(1));
        check(&["b", "a", "a", "a"], "a", Some(1));
        check(&["a", "a", "a"], "b", None);
        check(&["a", "b", "a", "a"], "a", None);
        check(&["a", "b", "a", "b", "a", "b"], "a", Some(2));
        check(&["a", "b", "a", "b", "a", "b"], "c", None);
        check(&["a", "b", "a", "b"], "a", None);
        check(&["a", "b", "c", "d", "a", "b", "c", "d", "a", "b", "c", "d"], "a", Some(4));
        check(&["a", "b", "c", "d", "a", "b", "c", "d", "a", "b", "c", "x"], "a", None);
    }

    #[test]
    fn a_call_that_has_another_result_each_time_may_be_made_again() {
        let scroll = r#"{"action":"scroll_down"}"#;
        for (name, answers, expected) in [
            ("browser_action", ["showing 540", "showing 1080", "showing 1620"], None),
            ("browser_action", ["showing 540", "showing 1080", "showing 1080"], None),
            ("browser_action", ["showing 540", "showing 540", "showing 540"], Some(1)),
            ("mcp__browser__press", ["1", "2", "3"], None),
            ("execute_command", ["failed: a", "failed: b", "failed: c"], None),
            ("execute_command", ["ran in 1.2 s", "ran in 0.9 s", "ran in 10.0 s"], Some(1)),
        ] {
            let mut recent = RecentCalls::default();
            let call = call(name, scroll);
            answers.iter().for_each(|text| recent.push(&call, &Observation::said(*text)));
            assert_eq!(recent.repeats(&call), expected, "{name} {answers:?}");
        }
    }

    #[test]
    fn a_refused_repetition_stays_refused() {
        let mut recent = RecentCalls::default();
        let rounds = ["a", "b", "a", "b", "a", "b"];
        rounds.iter().for_each(|name| recent.push(&call(name, "{}"), &Observation::said(*name)));
        for name in rounds {
            let next = call(name, "{}");
            assert_eq!(recent.repeats(&next), Some(2), "{name}");
            recent.push(&next, &Observation::mistake("Not performed".to_owned()));
        }
    }

    #[test]
    fn a_wait_for_a_command_in_the_background_may_be_repeated() {
        for (name, arguments, expected) in [
            ("command_output", r#"{"id":1,"wait":60}"#, None),
            ("BashOutput", r#"{"bash_id":1,"until":"ready"}"#, None),
            ("TaskOutput", r#"{"task_id":"1"}"#, None),
            ("TaskOutput", r#"{"task_id":"1","block":false}"#, Some(1)),
            ("write_stdin", r#"{"session_id":1,"chars":"","yield_time_ms":5000}"#, None),
            ("command_output", r#"{"id":1}"#, Some(1)),
            ("command_output", r#"{"id":1,"wait":0,"until":""}"#, Some(1)),
            ("execute_command", r#"{"command":"x","wait":60}"#, Some(1)),
        ] {
            let mut recent = RecentCalls::default();
            (0..3).for_each(|_| recent.push(&call(name, arguments), &Observation::said("")));
            assert_eq!(recent.repeats(&call(name, arguments)), expected, "{name} {arguments}");
        }
    }

    #[test]
    fn compares_arguments_whatever_their_order() {
        let mut recent = RecentCalls::default();
        for arguments in [
            r#"{"a":1,"b":[1,{"c":2,"d":3}]}"#,
            r#"{"b":[1,{"d":3,"c":2}],"a":1}"#,
            r#"{ "b": [1, {"d":3,"c":2}], "a": 1 }"#,
        ] {
            recent.push(&call("x", arguments), &Observation::said("done"));
        }
        assert_eq!(recent.repeats(&call("x", r#"{"a":1,"b":[1,{"c":2,"d":3}]}"#)), Some(1));
        assert_eq!(recent.repeats(&call("x", r#"{"a":1,"b":[1,{"c":3,"d":2}]}"#)), None);
        assert_eq!(recent.repeats(&call("y", r#"{"a":1,"b":[1,{"c":2,"d":3}]}"#)), None);
    }
}
