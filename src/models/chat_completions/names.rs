//! Names of tools and ids of calls as servers take them back.
//!
//! In: what a model invented, or another server made up. Out: what is legal: always the same for
//! one id, so that a call and its result still belong together, and another for another id.

use std::borrow::Cow;

/// Most letters of a tool's name. OpenAI API: `^[a-zA-Z0-9_-]{1,64}$`.
const NAME_LIMIT: usize = 64;

/// Returns the name of a tool that was called, in letters that it may have.
pub(crate) fn legal_name(name: &str) -> Cow<'_, str> {
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    match legal_letters(name) {
        Cow::Borrowed(legal) => Cow::Borrowed(legal.get(..NAME_LIMIT).unwrap_or(legal)),
        Cow::Owned(mut legal) => {
            legal.truncate(NAME_LIMIT);
            Cow::Owned(legal)
        }
    }
}

/// Returns a name or an id with `_` for each letter that neither may have.
pub(crate) fn legal_letters(name: &str) -> Cow<'_, str> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.chars().all(fits) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.replace(|letter| !fits(letter), "_"))
    }
}

/// Returns the id of a call: as it is where it has at most `limit_bytes`, else a short one.
pub(crate) fn legal_id(id: &str, limit_bytes: usize) -> Cow<'_, str> {
    if id.len() <= limit_bytes {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(format!("call_{:016x}", fingerprint(id)))
    }
}

/// Returns the id of a call for a host that takes nine letters or digits and nothing else.
pub(super) fn strict_id(id: &str) -> Cow<'_, str> {
    const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Cow::Borrowed(id);
    }
    let mut hash = fingerprint(id);
    let mut letters = String::with_capacity(9);
    for _ in 0..9 {
        let at = usize::try_from(hash % 36).unwrap_or_default();
        letters.extend(LETTERS.get(at).map(|byte| char::from(*byte)));
        hash /= 36;
    }
    Cow::Owned(letters)
}

/// FNV-1a: short, and the same on every machine.
fn fingerprint(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{legal_id, legal_name};

    #[test]
    fn names_that_are_legal_stay_and_others_become_so() {
        let (longest, longer) = ("a".repeat(64), "a".repeat(65));
        for (name, sent) in [
            ("read_file", "read_file"),
            ("mcp--time--now", "mcp--time--now"),
            (longest.as_str(), longest.as_str()),
            (longer.as_str(), longest.as_str()),
            ("multi_tool_use.parallel", "multi_tool_use_parallel"),
            ("read_file<|channel|>json", "read_file__channel__json"),
            ("lies_größe", "lies_gr__e"),
            ("", "unnamed"),
        ] {
            assert_eq!(legal_name(name), sent, "{name}");
        }
    }

    #[test]
    fn ids_that_fit_stay_and_longer_ones_stay_different() {
        let (fits, longer) = ("a".repeat(40), "a".repeat(41));
        assert_eq!(legal_id(&fits, 40), fits.as_str());
        assert_eq!(legal_id(&longer, 64), longer.as_str());
        let (one, other) = (legal_id(&longer, 40), format!("{fits}b"));
        assert!(one.len() <= 40 && one.starts_with("call_"), "{one}");
        assert_eq!(one, legal_id(&longer, 40), "a call and its result");
        assert_ne!(one, legal_id(&other, 40), "ids that begin alike");
    }
}
