//! What a command prints, or holds for others, that a shell may be given to run.
//!
//! In: the words of a command, and how many may still be copied. Out: texts that may be scripts.
//! What programs print that are not listed here is not known.

use crate::command::behind::words::{WordsBehind, words_in};
use crate::command::escapes::{EscapeReader, decoded};

/// Returns true for a command whose words hold what may be run: it prints them or keeps them.
pub(crate) fn may_be_run(words: &[String]) -> bool {
    words.first().is_some_and(|program| {
        matches!(program.as_str(), "echo" | "printf" | "for") || program.contains('=')
    })
}

/// Adds the texts that a command prints, or that variables hold which it sets.
pub(crate) fn texts(words: &[String], found: &mut WordsBehind<'_>) {
    let Some((program, rest)) = words.split_first() else { return };
    match program.as_str() {
        "echo" => echo(rest, found),
        "printf" => printf(rest, found),
        "for" => rest.iter().for_each(|value| found.script(value)),
        _ => {
            let set = words.iter().map_while(|word| word.split_once('='));
            set.for_each(|(_, value)| found.script(value));
        }
    }
}

/// Adds what `echo` prints: some shells take backslashes for escapes, and others under `-e` alone.
fn echo(words: &[String], found: &mut WordsBehind<'_>) {
    let is_option = |word: &&String| {
        word.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.bytes().all(|letter| b"neE".contains(&letter))
        })
    };
    let options = words.iter().take_while(is_option).count();
    let words = words.get(options..).unwrap_or_default();
    found.joined("", words);
    if words.iter().any(|word| word.contains('\\')) && found.count_words(words) {
        found.script(&decoded(&words.join(" "), EscapeReader::Echo));
    }
}

/// Adds what `printf` prints, or keeps by `-v`: its format as often as there are words for it.
fn printf(words: &[String], found: &mut WordsBehind<'_>) {
    let kept = if words.first().is_some_and(|word| word == "-v") { 2 } else { 0 };
    let options = kept + usize::from(words.get(kept).is_some_and(|word| word == "--"));
    let Some((format, mut values)) = words.get(options..).and_then(<[String]>::split_first) else {
        return;
    };
    let mut parts = format.split('%');
    let first = decoded(parts.next().unwrap_or_default(), EscapeReader::Format);
    let mut conversions: Vec<(char, String)> = Vec::new();
    while let Some(part) = parts.next() {
        let part = part.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || "-+ #'*.$hlLqjzt".contains(letter)
        });
        let mut letters = part.chars();
        match letters.next() {
            Some(letter) => {
                conversions.push((letter, decoded(letters.as_str(), EscapeReader::Format)));
            }
            // `%%` is a sign of its own.
            None => conversions.push((
                '%',
                parts.next().map_or_else(String::new, |part| decoded(part, EscapeReader::Format)),
            )),
        }
    }
    let mut text = String::new();
    loop {
        let left = values.len();
        if !found.count(words_in(format.len())) {
            return;
        }
        text.push_str(&first);
        for (conversion, behind) in &conversions {
            if *conversion == '%' {
                text.push('%');
            } else if let Some((value, rest)) = values.split_first() {
                values = rest;
                match conversion {
                    'b' => text.push_str(&decoded(value, EscapeReader::Echo)),
                    'c' => text.extend(value.chars().next()),
                    _ => text.push_str(value),
                }
            }
            text.push_str(behind);
        }
        if values.is_empty() || values.len() == left {
            return found.script(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::texts;
    use crate::command::behind::words::{Behind, WordsBehind};
    use crate::command::word::split;
    use pretty_assertions::assert_eq;

    fn printed(text: &str, mut words_left: usize) -> Vec<String> {
        let mut found = WordsBehind::new(&mut words_left);
        texts(&split(text).unwrap(), &mut found);
        let shown = |found| match found {
            Behind::Script(text) => text,
            Behind::Words(words) => words.join(" "),
        };
        found.into_found().into_iter().map(shown).collect()
    }

    #[test]
    fn texts_are_those_that_a_shell_may_be_given() {
        for (text, expected) in [
            ("echo -n a b", &["a b"][..]),
            ("echo -x 'a\\tb'", &["-x a\\tb", "-x a\tb"]),
            ("printf a", &["a"]),
            ("printf -- 'a\\n'", &["a\n"]),
            ("printf '%s-%s;' a b c", &["a-b;c-;"]),
            ("printf '%-5s|%%%c|%b' a bc '\\0144'", &["a|%b|d"]),
            ("printf '%s' 'a\\tb'", &["a\\tb"]),
            ("printf a b", &["a"]),
            ("printf -v x '%s' 'a b'", &["a b"]),
            ("printf -v x -- a", &["a"]),
            ("printf -v", &[]),
            ("a='b c' d=e f", &["b c", "e"]),
            ("for a 'b c'", &["a", "b c"]),
            ("cat a", &[]),
        ] {
            assert_eq!(printed(text, 1_000), expected, "{text}");
        }
    }

    #[test]
    fn a_format_is_not_repeated_beyond_the_words_that_are_left() {
        let text = format!("printf '{}%s'{}", "a".repeat(400), " b".repeat(400));
        assert_eq!(printed(&text, 10_000), [""; 0]);
        assert_eq!(printed(&text, 200_000).len(), 1);
    }
}
