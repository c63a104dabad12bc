//! How a person lets a session go on that was stopped, as a command to copy.

use crate::session::id::SessionId;
use locum_policy::budget::Exhausted;

/// How each limit of the budget is raised.
const RAISES: &[(&str, &str)] = &[
    ("turns", " --max-turns +20"),
    ("tool_calls", " --max-tool-calls +100"),
    ("tokens", " --max-tokens +500000"),
    ("cost_usd", " --max-cost-usd +1"),
    ("minutes", " --timeout-minutes +10"),
    ("files", " --max-files +20"),
    ("diff_lines", " --max-diff-lines +1000"),
];

/// Returns the command that resumes a session, with the flag that raises the limit that ended it.
pub fn command(session: &SessionId, exhausted: Option<&Exhausted>) -> String {
    let flag = exhausted.and_then(|exhausted| {
        RAISES.iter().find(|(unit, _)| *unit == exhausted.unit).map(|(_, flag)| *flag)
    });
    format!("locum session resume {session}{}", flag.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::RAISES;
    use locum_policy::budget::Budget;
    use pretty_assertions::assert_eq;

    #[test]
    fn every_limit_has_a_flag_that_raises_it() {
        let limits = serde_json::to_value(Budget::default()).unwrap();
        let known: BTreeSet<&str> = RAISES.iter().map(|(unit, _)| *unit).collect();
        let keys = limits.as_object().unwrap().keys().map(String::as_str);
        assert_eq!(keys.collect::<BTreeSet<_>>(), known);
    }
}
