//! Shell words turned into what a program would receive, or refused: quotes are removed, nothing is
//! ever expanded.
//!
//! In: a raw word as the shell grammar cut it, or the text of a command pattern. Out: the literal
//! word. Every character that a shell would act on outside quotes (`$`, backtick, glob, brace list,
//! tilde) makes the word unknown, and unknown is refused.

/// Returns the literal meaning of one raw word.
///
/// # Errors
/// Names the construct that keeps the word from being known before it runs.
pub fn literal(raw: &str) -> Result<String, String> {
    read(raw, Globs::Refused)
}

/// Returns the literal meaning of the raw value of an assignment, in which no shell expands globs.
///
/// # Errors
/// As [`literal`].
pub(super) fn assigned(raw: &str) -> Result<String, String> {
    read(raw, Globs::Plain)
}

/// What unquoted wildcards are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Globs {
    Refused,
    Plain,
}

fn read(raw: &str, globs: Globs) -> Result<String, String> {
    // Alone it opens nothing: it is the program of that name.
    if raw == "[" {
        return Ok(raw.to_owned());
    }
    let mut out = String::with_capacity(raw.len());
    let mut letters = raw.chars().peekable();
    let mut bare = String::new();
    if raw.starts_with('~') {
        return Err("a tilde that the shell expands to a home directory; quote it or write a \
                    path of the repository"
            .to_owned());
    }
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                bare.push('\'');
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(inner) => out.push(inner),
                        None => return Err("an unclosed single quote".to_owned()),
                    }
                }
            }
            '"' => {
                bare.push('"');
                double_quoted(&mut letters, &mut out)?;
            }
            '\\' => match letters.next() {
                Some('\n') => {}
                Some(escaped) => {
                    bare.push('\\');
                    out.push(escaped);
                }
                None => return Err("a backslash at the end".to_owned()),
            },
            '$' if matches!(letters.peek(), Some('\'' | '"')) => {
                return Err("a `$'...'` or `$\"...\"` quote; use plain quotes".to_owned());
            }
            '$' => match letters.peek() {
                None => out.push('$'),
                Some(_) => {
                    return Err(
                        "an expansion (`$`); its value is not known before it runs".to_owned()
                    );
                }
            },
            '`' => return Err("a command substitution".to_owned()),
            '~' if bare.ends_with(['=', ':']) && bare.contains('=') => {
                return Err(
                    "a tilde after `=` or `:`, which some shells expand; quote it".to_owned()
                );
            }
            '*' | '?' | '[' if globs == Globs::Refused => {
                return Err(format!(
                    "an unquoted glob character `{letter}`, and no shell expands it here; name the \
                     files, or quote it where the program itself takes a pattern"
                ));
            }
            letter => {
                bare.push(letter);
                out.push(letter);
            }
        }
    }
    if has_brace_list(&bare) {
        return Err("a brace list that the shell expands; write the words out".to_owned());
    }
    Ok(out)
}

/// Cuts the text of a command pattern into literal words.
///
/// # Errors
/// As [`literal`]; a pattern holds plain words only.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut raw = String::new();
    let mut quote: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ' ' | '\t') => finish(&mut raw, &mut words)?,
            (None | Some('"'), '\\') => {
                raw.push('\\');
                raw.extend(letters.next());
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                raw.push(letter);
            }
            (Some(open), letter) if open == letter => {
                quote = None;
                raw.push(letter);
            }
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '\n') => {
                return Err(format!(
                    "`{text}` is more than one simple command; a pattern holds plain words"
                ));
            }
            (_, letter) => raw.push(letter),
        }
    }
    finish(&mut raw, &mut words)?;
    Ok(words)
}

fn finish(raw: &mut String, words: &mut Vec<String>) -> Result<(), String> {
    if !raw.is_empty() {
        if raw == "*" {
            words.push("*".to_owned());
        } else {
            words.push(
                literal(raw)
                    .map_err(|why| format!("`{raw}` holds {why}; a pattern holds plain words"))?,
            );
        }
        raw.clear();
    }
    Ok(())
}

fn double_quoted(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Result<(), String> {
    loop {
        match letters.next() {
            Some('"') => return Ok(()),
            Some('\\') => match letters.next() {
                Some('\n') => {}
                Some(escaped @ ('$' | '`' | '"' | '\\')) => out.push(escaped),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => return Err("an unclosed double quote".to_owned()),
            },
            Some('$') => match letters.peek() {
                Some('"' | ' ' | '|' | '.' | ',' | ')' | '/' | ';') => out.push('$'),
                Some(_) | None => {
                    return Err("an expansion (`$`) in double quotes; use single quotes for a \
                                literal `$`"
                        .to_owned());
                }
            },
            Some('`') => return Err("a command substitution in double quotes".to_owned()),
            Some(inner) => out.push(inner),
            None => return Err("an unclosed double quote".to_owned()),
        }
    }
}

/// Returns true when the unquoted letters hold `{...,...}` or `{...}` with `..`: what a shell makes
/// several words of.
fn has_brace_list(bare: &str) -> bool {
    let Some(open) = bare.find('{') else { return false };
    let rest = bare.get(open..).unwrap_or_default();
    rest.contains('}') && (rest.contains(',') || rest.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::{assigned, literal, split};
    use pretty_assertions::assert_eq;

    #[test]
    fn removes_quotes_as_a_shell_does() {
        for (raw, expected) in [
            ("plain", "plain"),
            ("'a b'", "a b"),
            ("\"a b\"", "a b"),
            ("a'b'\"c\"d", "abcd"),
            ("'a'\\''b'", "a'b"),
            ("-ex''ec", "-exec"),
            ("\\;", ";"),
            ("fi\\nd", "find"),
            ("gi\\\nt", "git"),
            ("\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d"),
            ("\"it's\"", "it's"),
            ("'$(x)'", "$(x)"),
            ("\"\\$x\"", "$x"),
            ("\"end$\"", "end$"),
            ("end$", "end$"),
            ("HEAD@{1}", "HEAD@{1}"),
            ("{}", "{}"),
            ("'{a,b}'", "{a,b}"),
            ("a~", "a~"),
            ("a:~x", "a:~x"),
            ("a=b~", "a=b~"),
            ("''", ""),
            ("ä", "ä"),
        ] {
            assert_eq!(literal(raw), Ok(expected.to_owned()), "{raw}");
        }
    }

    #[test]
    fn no_shell_expands_a_glob_in_an_assignment() {
        assert_eq!(assigned("a:*"), Ok("a:*".to_owned()));
        assert_eq!(assigned("[a]?"), Ok("[a]?".to_owned()));
        for raw in ["$(ls)*", "~", "`ls`"] {
            assert!(assigned(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn refuses_what_a_shell_would_expand() {
        for raw in [
            "$X",
            "${X}",
            "a$X",
            "\"$X\"",
            "\"${x}\"",
            "$(x)",
            "`x`",
            "\"`x`\"",
            "$'x'",
            "$\"x\"",
            "*",
            "a*",
            "a?",
            "[ab]",
            "~",
            "~root/x",
            "a=~",
            "a=b:~/x",
            "{a,b}",
            "{1..3}",
            "{a,'b'}",
            "{'a',b}",
            "\"a\"{b,c}",
            "'open",
            "\"open",
            "x\\",
            "$((1))",
            "\"$((1))\"",
            "\"$'x'\"",
        ] {
            assert!(literal(raw).is_err(), "{raw}");
        }
        for raw in ["$'x'", "$\"x\""] {
            assert!(literal(raw).unwrap_err().contains("use plain quotes"), "{raw}");
        }
    }

    #[test]
    fn cuts_patterns_into_plain_words() {
        assert_eq!(
            split("git  log --format='%h %s'"),
            Ok(["git", "log", "--format=%h %s"].map(str::to_owned).to_vec())
        );
        assert_eq!(
            split("git log 'a b' \"c d\" -e"),
            Ok(["git", "log", "a b", "c d", "-e"].map(str::to_owned).to_vec())
        );
        for text in ["a; b", "a | b", "a > b", "a $b", "a 'b", "'a' ; b", "\"a\" | b"] {
            assert!(split(text).is_err(), "{text}");
        }
    }
}
