//! What runs may keep for later ones: how entries are named, and when a maintainer has to agree.
//!
//! In: a name, the facts of a run. Out: whether it is one, and why a write is held that the rules
//! allow. Rules about entries are judged in `judge`.

use crate::actors::Tier;
use crate::intent::{Facts, TriggerKind};

/// Most letters of an entry's name.
pub const ENTRY_NAME_LIMIT: usize = 64;

/// Returns true for a name that an entry may have: small letters, digits and `-`, which begins with
/// none.
pub fn is_entry_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=ENTRY_NAME_LIMIT).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(plain)
}

/// Returns why a maintainer has to agree to what a run keeps, whatever the rules allow: later runs
/// read it, and it may say what someone without rights suggested. `None` where nobody else had a
/// word in the run.
pub(crate) fn needs_maintainer(facts: &Facts) -> Option<&'static str> {
    // Every other way to start brings an issue, a comment, a commit or a log along.
    let is_alone =
        matches!(facts.trigger, TriggerKind::Local | TriggerKind::Dispatch | TriggerKind::Schedule);
    match facts.tier {
        Tier::Maintainer | Tier::Schedule if facts.outside_text || !is_alone => {
            Some("anyone may have written something that this run has read")
        }
        Tier::Maintainer | Tier::Schedule => None,
        Tier::Collaborator | Tier::Contributor | Tier::Stranger | Tier::Bot => {
            Some("no maintainer started this run")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_entry_name;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["build", "build-notes-2", "7", &"x".repeat(64)] {
            assert!(is_entry_name(name), "{name}");
        }
        let long = "x".repeat(65);
        for name in ["", "-x", "Build", "a b", "../x", "a/b", "a.b", "\u{e4}", "a\n", &long] {
            assert!(!is_entry_name(name), "{name}");
        }
    }
}
