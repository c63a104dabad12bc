//! What a whole new content takes over from the file before, because no model is shown it: line
//! ends of CR and LF, and a byte order mark.
//!
//! In: the file's content and the one that was sent. Out: what is written, and what it took over.
//! Where the file mixes line ends, or a CR was sent, the content is written as it was sent. Pure.

use std::borrow::Cow;

use crate::tools::files::text::lines::BYTE_ORDER_MARK;

/// What a new content took over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptEnds {
    /// Line ends of CR and LF.
    LineEnds,
    /// A byte order mark.
    Mark,
    /// Both.
    Both,
}

impl KeptEnds {
    /// Returns what was kept, to be read after a verb.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::LineEnds => "the CRLF line ends of the file before",
            Self::Mark => "the byte order mark of the file before",
            Self::Both => "the CRLF line ends and the byte order mark of the file before",
        }
    }

    /// Returns what two contents of a file have in common of it, whoever wrote them.
    pub(crate) fn shared(before: &str, after: &str) -> Option<Self> {
        let ends = has_crlf_only(before) && has_crlf_only(after);
        let mark = [before, after].iter().all(|text| text.starts_with(BYTE_ORDER_MARK));
        Self::of(ends, mark)
    }

    fn of(ends: bool, mark: bool) -> Option<Self> {
        match (ends, mark) {
            (true, true) => Some(Self::Both),
            (true, false) => Some(Self::LineEnds),
            (false, true) => Some(Self::Mark),
            (false, false) => None,
        }
    }
}

/// Returns a content with the line ends and the byte order mark of the file before.
pub(crate) fn with_kept_ends<'t>(
    before: Option<&[u8]>,
    sent: &'t str,
) -> (Cow<'t, str>, Option<KeptEnds>) {
    let Some(before) = before.and_then(|before| std::str::from_utf8(before).ok()) else {
        return (Cow::Borrowed(sent), None);
    };
    let ends = has_crlf_only(before) && sent.contains('\n') && !sent.contains('\r');
    let mark = before.starts_with(BYTE_ORDER_MARK)
        && !sent.is_empty()
        && !sent.starts_with(BYTE_ORDER_MARK);
    let Some(kept) = KeptEnds::of(ends, mark) else { return (Cow::Borrowed(sent), None) };
    let mut content = if mark { BYTE_ORDER_MARK.to_owned() } else { String::new() };
    if ends {
        content.push_str(&sent.replace('\n', "\r\n"));
    } else {
        content.push_str(sent);
    }
    (Cow::Owned(content), Some(kept))
}

/// Whether every line of a text ends with CR and LF, and there is one.
fn has_crlf_only(text: &str) -> bool {
    let mut ends = text.match_indices('\n').map(|(at, _)| text.get(..at)).peekable();
    ends.peek().is_some() && ends.all(|line| line.is_some_and(|line| line.ends_with('\r')))
}

#[cfg(test)]
mod tests {
    use super::{KeptEnds, with_kept_ends};
    use pretty_assertions::assert_eq;

    #[test]
    fn line_ends_and_a_mark_are_kept_where_nothing_else_was_sent() {
        let [ends, mark, both] = [KeptEnds::LineEnds, KeptEnds::Mark, KeptEnds::Both].map(Some);
        for (before, sent, expected, kept) in [
            ("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", ends),
            ("a\r\nb", "x\ny", "x\r\ny", ends),
            ("\u{feff}a\n", "x\n", "\u{feff}x\n", mark),
            ("\u{feff}a\r\n", "x\n", "\u{feff}x\r\n", both),
            ("\u{feff}a\r\n", "\u{feff}x\n", "\u{feff}x\r\n", ends),
            // Mixed ends, a CR that was sent, no line end at all.
            ("a\r\nb\n", "x\n", "x\n", None),
            ("a\r\n", "x\r\ny\n", "x\r\ny\n", None),
            ("a\r\n", "x", "x", None),
            ("a", "x\n", "x\n", None),
            ("", "x\n", "x\n", None),
            ("\u{feff}a\r\n", "", "", None),
            ("a\n", "x\r\n", "x\r\n", None),
        ] {
            let (content, what) = with_kept_ends(Some(before.as_bytes()), sent);
            assert_eq!((&*content, what), (expected, kept), "{before:?} {sent:?}");
        }
        for before in [None, Some(&b"\xff\r\n"[..])] {
            let (content, what) = with_kept_ends(before, "x\n");
            assert_eq!((&*content, what), ("x\n", None));
        }
    }

    #[test]
    fn what_two_contents_share_is_named() {
        for (before, after, expected) in [
            ("a\r\n", "b\r\n", Some(KeptEnds::LineEnds)),
            ("\u{feff}a\r\n", "\u{feff}b\r\n", Some(KeptEnds::Both)),
            ("a\r\n", "b\n", None),
            ("a\n", "b\n", None),
        ] {
            assert_eq!(KeptEnds::shared(before, after), expected, "{before:?} {after:?}");
        }
    }
}
