//! Splits a text into the pieces that tokens never reach across: words, numbers, runs of symbols,
//! white space.
//!
//! In: a text. Out: its pieces in order, each at least a character long, together the whole text.
//! They are what the regular expression of `o200k_base` finds
//! (<https://github.com/openai/tiktoken>, `openai_public.py`), determined by one look at each kind
//! of character instead of a backtracking engine. Linear: no character is looked at more than a few
//! times.

use crate::tokens::class::CharClass;

/// What an English word may end with after its apostrophe, whatever the case.
const ENDINGS: [&str; 7] = ["s", "t", "re", "ve", "m", "ll", "d"];

/// Returns the pieces of a text.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) =
            rest.split_at_checked(piece_end(rest)).filter(|(piece, _)| !piece.is_empty())?;
        rest = after;
        Some(piece)
    })
}

/// Returns where the first piece ends.
fn piece_end(text: &str) -> usize {
    let Some((first, second_at)) = class_at(text, 0) else { return 0 };
    match first {
        CharClass::Upper | CharClass::Lower | CharClass::Letter => {
            let end = cased_end(text, 0).or_else(|| shouted_end(text, 0)).unwrap_or(second_at);
            ending_end(text, end)
        }
        // A mark can begin a word in the place of a symbol, or belong to it.
        CharClass::Mark => {
            let end =
                cased_end(text, second_at).or_else(|| cased_end(text, 0)).unwrap_or(second_at);
            ending_end(text, end)
        }
        CharClass::Number => run_end(text, 0, 3, |class| class == CharClass::Number),
        CharClass::Other | CharClass::Space => {
            match cased_end(text, second_at).or_else(|| shouted_end(text, second_at)) {
                Some(end) => ending_end(text, end),
                None => symbols_end(text).unwrap_or_else(|| space_end(text)),
            }
        }
        CharClass::Newline => space_end(text),
    }
}

/// Returns the kind of the character at `at` and where the next one begins.
fn class_at(text: &str, at: usize) -> Option<(CharClass, usize)> {
    let character = text.get(at..)?.chars().next()?;
    Some((CharClass::of(character), at + character.len_utf8()))
}

/// Returns where a run of at most `limit` characters that fit ends; `at` where none does.
fn run_end(text: &str, at: usize, limit: usize, fits: impl Fn(CharClass) -> bool) -> usize {
    let mut end = at;
    for _ in 0..limit {
        match class_at(text, end) {
            Some((class, next)) if fits(class) => end = next,
            Some(_) | None => break,
        }
    }
    end
}

/// Returns where a word ends that has a letter which is not upper case: `word`, `Word`, `ABCword`,
/// and of `wordABC` and `字ABC` what stands before `ABC`.
fn cased_end(text: &str, at: usize) -> Option<usize> {
    let (mut end, mut uncased_end) = (at, None);
    while let Some((class, next)) = class_at(text, end) {
        match class {
            CharClass::Upper => end = next,
            CharClass::Letter | CharClass::Mark => {
                end = next;
                uncased_end = Some(next);
            }
            CharClass::Lower => {
                return Some(run_end(text, next, usize::MAX, |class| {
                    matches!(class, CharClass::Lower | CharClass::Letter | CharClass::Mark)
                }));
            }
            CharClass::Other | CharClass::Number | CharClass::Space | CharClass::Newline => break,
        }
    }
    uncased_end
}

/// Returns where a word of upper case alone ends.
fn shouted_end(text: &str, at: usize) -> Option<usize> {
    Some(run_end(text, at, usize::MAX, |class| class == CharClass::Upper)).filter(|end| *end > at)
}

/// Returns where a word ends with its `'s`, `'re` and the like; `end` when it has none.
fn ending_end(text: &str, end: usize) -> usize {
    let Some(after) = text.get(end..).and_then(|rest| rest.strip_prefix('\'')) else { return end };
    // The long s is an `s` too where case does not matter.
    if after.starts_with('ſ') {
        return end + 1 + 'ſ'.len_utf8();
    }
    let is_ending = |ending: &&&str| {
        after.get(..ending.len()).is_some_and(|start| start.eq_ignore_ascii_case(ending))
    };
    ENDINGS.iter().find(is_ending).map_or(end, |ending| end + 1 + ending.len())
}

/// Returns where symbols end that may stand after a space and before line breaks and slashes.
fn symbols_end(text: &str) -> Option<usize> {
    let start = usize::from(text.starts_with(' '));
    let end = run_end(text, start, usize::MAX, |class| {
        matches!(class, CharClass::Other | CharClass::Mark)
    });
    let tail = text.get(end..).unwrap_or_default();
    let breaks = tail.len() - tail.trim_start_matches(['\r', '\n', '/']).len();
    (end > start).then_some(end + breaks)
}

/// Returns where white space ends: after its last line break, else before the last space, which
/// belongs to what follows it.
fn space_end(text: &str) -> usize {
    let (mut end, mut last_at, mut break_end) = (0, 0, None);
    while let Some((class, next)) = class_at(text, end)
        .filter(|(class, _)| matches!(class, CharClass::Space | CharClass::Newline))
    {
        if class == CharClass::Newline {
            break_end = Some(next);
        }
        (last_at, end) = (end, next);
    }
    let is_followed = end < text.len();
    break_end.unwrap_or(if is_followed && last_at > 0 { last_at } else { end })
}
