//! Tags around what a model thinks.
//!
//! In: a text and places in it. Out: whether a tag is one of them, and where thoughts end whose
//! opening tag is missing: it may stand in the model's prompt, and only the closing one comes.

use crate::xml::tag::{FENCE, TagKind, XmlTag, next_angle};

/// Returns true for the name of a tag around thoughts.
pub(super) fn is_thought(name: &str) -> bool {
    matches!(name, "think" | "thinking")
}

/// Returns true for a place in `backticks`: what is written there is only mentioned.
pub(super) fn is_quoted(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with('`') && !before.ends_with(FENCE))
}

/// Finds the first closing tag between two places that has no opening tag there; returns where it
/// begins and ends.
pub(super) fn unopened_end(text: &str, from: usize, to: usize) -> Option<(usize, usize)> {
    if !text.get(from..to)?.contains("</think") {
        return None;
    }
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(open) = next_angle(text, at).filter(|open| *open < to) {
        at = open + 1;
        let tag = XmlTag::at(text, open).filter(|tag| is_thought(tag.name));
        match tag.filter(|_| !is_quoted(text, open)) {
            Some(XmlTag { kind: TagKind::Open, .. }) => depth += 1,
            Some(XmlTag { kind: TagKind::Close, end, .. }) => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some((open, end)),
            },
            Some(XmlTag { kind: TagKind::Alone, .. }) | None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unopened_end;

    #[test]
    fn thoughts_end_at_a_closing_tag_that_nothing_opened() {
        for (text, end) in [
            ("hm</think>so", Some((2, 10))),
            ("hm</thinking>so", Some((2, 13))),
            ("<think>a</think>b</think>", Some((17, 25))),
            ("`</think>` is a tag</think>", Some((19, 27))),
            ("<think>a</think>b", None),
            ("`</think>` is a tag", None),
            ("</thinker>", None),
            ("hm", None),
        ] {
            assert_eq!(unopened_end(text, 0, text.len()), end, "{text}");
        }
        assert_eq!(unopened_end("hm</think>", 0, 2), None, "it comes later");
    }
}
