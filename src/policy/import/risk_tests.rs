//! Rules that are a risk only together.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::import::{Peer, import};
use crate::intent::Facts;
use crate::query::parse_intent;
use crate::verdict::Decision;

#[test]
fn of_rules_that_no_policy_may_have_together_one_is_held_and_it_is_said_which() {
    let settings = r#"{"permissions": {"allow": ["WebSearch", "mcp__github__get_issue"]}}"#;
    let imported = import(Peer::Claude, settings, "s.json").unwrap();
    let policy = Policy::parse(&imported.policy, "p").unwrap();
    let facts = Facts { mode: "code".into(), sandboxed: true, ..Facts::default() };
    let decide = |intent: &str| policy.decide(&parse_intent(intent).unwrap(), &facts).decision;
    assert_eq!(decide("search(x)"), Decision::Hold, "{}", imported.policy);
    assert_eq!(decide("mcp(github/get_issue)"), Decision::Allow, "{}", imported.policy);
    let said = imported.changes.join("\n");
    assert!(said.starts_with("`search(**)` is held") && said.contains("come together"), "{said}");
    assert!(imported.policy.contains("# Changed: `search(**)` is held"));
    // One of the two alone stays allowed.
    let alone = import(Peer::Claude, r#"{"permissions": {"allow": ["WebSearch"]}}"#, "s").unwrap();
    assert_eq!((alone.policy.contains("hold"), alone.changes.is_empty()), (false, true));
}
