//! Braces that a shell makes several words of: `src/{a,b}.rs`, `{1..3}`.
//!
//! In: words as the grammar cut them. Out: the words that `bash` makes of them, where they hold
//! nothing else that a shell would act on but wildcards; all others stay as they are.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::word::{BraceExpressionMember, BraceExpressionOrText, parse_brace_expansions};
use brush_parser::{ParserOptions, ast};

/// Most words that are made of one.
const WORDS_LIMIT: usize = 64;

/// Deepest braces that are looked into: the grammar may look at each of them twice.
const OPENERS_LIMIT: usize = 4;

/// Writes out the words behind a program's name.
pub(super) fn command(found: &ast::SimpleCommand) -> ast::SimpleCommand {
    let mut found = found.clone();
    if let Some(ast::CommandSuffix(items)) = &mut found.suffix {
        let out = |item| match item {
            ast::CommandPrefixOrSuffixItem::Word(word) => {
                words(word).into_iter().map(ast::CommandPrefixOrSuffixItem::Word).collect()
            }
            other => vec![other],
        };
        *items = std::mem::take(items).into_iter().flat_map(out).collect();
    }
    found
}

/// Returns the words that a shell makes of one.
pub(super) fn words(word: ast::Word) -> Vec<ast::Word> {
    match expanded(&word.value) {
        Some(values) => {
            values.into_iter().map(|value| ast::Word { value, loc: word.loc.clone() }).collect()
        }
        None => vec![word],
    }
}

/// Returns the texts that the braces of a word stand for; `None` for a word without such braces,
/// and for one that is not that plain.
fn expanded(raw: &str) -> Option<Vec<String>> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./,*?=:@+%{}".contains(letter);
    let openers = raw.matches('{').count();
    // A number that begins with 0 gives all the same length.
    let is_padded = ["{0", "{-0", "..0", "..-0"].iter().any(|sign| {
        raw.split(sign).skip(1).any(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
    });
    if openers == 0 || openers > OPENERS_LIMIT || is_padded || !raw.chars().all(plain) {
        return None;
    }
    // A number too large for the grammar ends it.
    let parsed =
        catch_unwind(AssertUnwindSafe(|| parse_brace_expansions(raw, &ParserOptions::default())));
    let pieces = parsed.ok()?.ok()??;
    if !pieces.iter().any(|piece| matches!(piece, BraceExpressionOrText::Expr(_)))
        || !pieces.iter().all(is_sure)
    {
        return None;
    }
    // What comes out empty is no word.
    Some(joined(&pieces)?.into_iter().filter(|text| !text.is_empty()).collect())
}

/// Whether the grammar cuts a piece as `bash` does: within braces, others that are no list may end
/// them too soon.
fn is_sure(piece: &BraceExpressionOrText) -> bool {
    let without = |text: &str| !text.contains(['{', '}']);
    match piece {
        BraceExpressionOrText::Text(text) => without(&text.replace("{}", "")),
        BraceExpressionOrText::Expr(members) => members.iter().all(|member| match member {
            BraceExpressionMember::Child(pieces) => pieces.iter().all(|piece| match piece {
                BraceExpressionOrText::Text(text) => without(text),
                BraceExpressionOrText::Expr(_) => is_sure(piece),
            }),
            BraceExpressionMember::NumberSequence { .. }
            | BraceExpressionMember::CharSequence { .. } => true,
        }),
    }
}

/// Returns every way to put one text of each piece behind the others, the first piece slowest.
fn joined(pieces: &[BraceExpressionOrText]) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    for piece in pieces {
        let texts = match piece {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                let texts = members.iter().map(member).collect::<Option<Vec<_>>>()?;
                texts.into_iter().flatten().collect()
            }
        };
        if all.len() * texts.len() > WORDS_LIMIT {
            return None;
        }
        all = all
            .iter()
            .flat_map(|before| texts.iter().map(move |text| format!("{before}{text}")))
            .collect();
    }
    Some(all)
}

fn member(member: &BraceExpressionMember) -> Option<Vec<String>> {
    match member {
        BraceExpressionMember::Child(pieces) => joined(pieces),
        BraceExpressionMember::NumberSequence { start, end, increment: 1 } => {
            let (low, high) = (*start.min(end), *start.max(end));
            if high.checked_sub(low)? >= WORDS_LIMIT as i64 {
                return None;
            }
            let mut all: Vec<String> = (low..=high).map(|number| number.to_string()).collect();
            if start > end {
                all.reverse();
            }
            Some(all)
        }
        // Letters may come in any order of a language, and steps may be negative.
        BraceExpressionMember::NumberSequence { .. }
        | BraceExpressionMember::CharSequence { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::expanded;
    use pretty_assertions::assert_eq;

    /// What `bash` printed for each.
    #[test]
    fn words_are_those_of_bash() {
        for (raw, said) in [
            ("{a,b}", "a b"),
            ("docs/{usage,design}.md", "docs/usage.md docs/design.md"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("x{,.bak}", "x x.bak"),
            ("{,a}", "a"),
            ("{a,{b,c}d}e", "ae bde cde"),
            ("--include=*.{rs,toml}", "--include=*.rs --include=*.toml"),
            ("src/{a,b}/*.rs", "src/a/*.rs src/b/*.rs"),
            ("{1..3}", "1 2 3"),
            ("{2..-1}", "2 1 0 -1"),
            ("a{1..2}b", "a1b a2b"),
            ("{}{a,b}", "{}a {}b"),
            ("{a,b", ""),
            ("{a}", ""),
            ("{}", ""),
            ("HEAD@{1}", ""),
            ("a,b", ""),
            // Not written out.
            ("{a,b{c}}", ""),
            ("{a,{},b}", ""),
            ("{x,{}}", ""),
            ("{a},b}{c,d}", ""),
            ("{01..10}", ""),
            ("{a..e}", ""),
            ("{1..9..2}", ""),
            ("{1..100}", ""),
            ("{99999999999999999999..1}", ""),
            ("{a,$b}", ""),
            ("{a,'b'}", ""),
            ("{a,{b,{c,{d,{e,f}}}}}", ""),
            ("{1..9}{1..9}", ""),
        ] {
            assert_eq!(expanded(raw).unwrap_or_default().join(" "), said, "{raw}");
        }
    }
}
