//! What a script's text may look like before the shell grammar sees it: bounds that keep the
//! grammar quick and shallow, and characters that show something else than they are.
//!
//! In: the text. Out: nothing, or why it is refused. It is a scan in one pass. It refuses early
//! what the tree would refuse late, and decides nothing else.

use crate::paths::is_invisible;

/// Longest script, in bytes.
pub const SCRIPT_LIMIT_BYTES: usize = 64 * 1024;
/// Most brackets and keywords that open a group, outside quotes. The grammar may look at each of
/// them twice.
pub const OPENERS_LIMIT: usize = 8;
/// Most words and operators outside quotes that the grammar has to look at.
pub const WORDS_LIMIT: usize = 4_000;

/// Longest script with expansions, in bytes.
pub const LOOSE_LIMIT_BYTES: usize = 4 * 1024;
/// Most characters and keywords in a script with expansions that open a level.
const LOOSE_OPENERS_LIMIT: usize = 10;

/// Words after which the grammar goes one level deeper.
const OPENERS: &[&str] = &[
    "if", "elif", "while", "until", "for", "case", "select", "function", "time", "coproc", "!", "{",
];

/// Checks a script's text.
///
/// # Errors
/// Says what is wrong, as `parse` does.
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.len() > SCRIPT_LIMIT_BYTES {
        return Err(format!("the script is longer than {SCRIPT_LIMIT_BYTES} bytes"));
    }
    check_letters(text)?;
    ScriptScan { letters: text.chars().collect(), at: 0, openers: 0, words: 0, waiting: Vec::new() }
        .run()
}

/// Checks the text of a script with expansions.
pub(super) fn check_loose(text: &str) -> Result<(), String> {
    check_letters(text)?;
    let opens =
        |word: &&str| matches!(*word, "if" | "for" | "while" | "until" | "case" | "!" | "{");
    let openers =
        text.split_whitespace().filter(opens).count() + text.matches(['(', '`', '{']).count();
    if text.len() > LOOSE_LIMIT_BYTES || openers > LOOSE_OPENERS_LIMIT {
        return Err(
            "the script is too long or too deeply nested for a script with expansions".to_owned()
        );
    }
    Ok(())
}

/// Refuses characters that show something else than they are.
fn check_letters(text: &str) -> Result<(), String> {
    for letter in text.chars() {
        if letter.is_control() && !matches!(letter, '\n' | '\t') {
            return Err(format!(
                "the script holds the control character U+{:04X}",
                u32::from(letter)
            ));
        }
        if is_invisible(letter) || (letter.is_whitespace() && !letter.is_ascii()) {
            return Err(format!(
                "the script holds the invisible character U+{:04X}",
                u32::from(letter)
            ));
        }
    }
    Ok(())
}

fn at_most(limit: usize, count: usize, what: &str) -> Result<(), String> {
    if count > limit { Err(format!("the script has more than {limit} {what}")) } else { Ok(()) }
}

struct ScriptScan {
    letters: Vec<char>,
    at: usize,
    openers: usize,
    words: usize,
    /// Here-documents whose bodies start at the next line: delimiter, and whether tabs before it
    /// are dropped.
    waiting: Vec<(String, bool)>,
}

impl ScriptScan {
    fn run(mut self) -> Result<(), String> {
        while let Some(letter) = self.peek() {
            match letter {
                '\n' => {
                    self.at += 1;
                    self.skip_bodies();
                }
                ' ' | '\t' => self.at += 1,
                '#' => self.skip_until('\n'),
                '(' if self.starts_with("((") => {
                    return Err(
                        "the script has two brackets at once, which may be arithmetic".to_owned()
                    );
                }
                '(' | ')' => {
                    self.at += 1;
                    self.open(letter == '(')?;
                }
                '<' if self.starts_with("<<<") => {
                    self.at += 3;
                    self.count_word()?;
                }
                '<' if self.starts_with("<<") => self.here_document()?,
                ';' | '&' | '|' | '<' | '>' => {
                    self.at += 1;
                    self.count_word()?;
                }
                _ => {
                    let word = self.word()?;
                    self.count_word()?;
                    self.open(OPENERS.contains(&word.as_str()))?;
                }
            }
        }
        Ok(())
    }

    /// Passes over one word and returns it as written.
    fn word(&mut self) -> Result<String, String> {
        let start = self.at;
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                '(' => return Err("the script has a bracket inside a word".to_owned()),
                '\'' => {
                    self.at += 1;
                    self.skip_until('\'');
                    self.at += 1;
                }
                '"' => self.double_quotes()?,
                '\\' => self.at += 2,
                '`' => return Err("the script uses a command substitution".to_owned()),
                '$' => self.dollar(true)?,
                _ => self.at += 1,
            }
        }
        Ok(self
            .letters
            .get(start..self.at.min(self.letters.len()))
            .unwrap_or_default()
            .iter()
            .collect())
    }

    fn double_quotes(&mut self) -> Result<(), String> {
        self.at += 1;
        while let Some(letter) = self.peek() {
            match letter {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => self.at += 2,
                '`' => {
                    return Err(
                        "the script uses a command substitution in double quotes".to_owned()
                    );
                }
                '$' => self.dollar(false)?,
                _ => self.at += 1,
            }
        }
        Err("the script has an unclosed double quote".to_owned())
    }

    fn dollar(&mut self, bare: bool) -> Result<(), String> {
        self.at += 1;
        match self.peek() {
            Some('(' | '{' | '[') => {
                Err("the script uses an expansion (`$`); its value is not known before it runs"
                    .to_owned())
            }
            Some('\'' | '"') if bare => {
                Err("the script uses a `$'...'` or `$\"...\"` quote; use plain quotes".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn here_document(&mut self) -> Result<(), String> {
        self.at += 2;
        let drops_tabs = self.peek() == Some('-');
        self.at += usize::from(drops_tabs);
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let raw = self.word()?;
        self.count_word()?;
        self.waiting.push((
            raw.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect(),
            drops_tabs,
        ));
        at_most(OPENERS_LIMIT, self.waiting.len(), "here-documents on a line")
    }

    fn skip_bodies(&mut self) {
        for (delimiter, drops_tabs) in std::mem::take(&mut self.waiting) {
            while self.at < self.letters.len() {
                let start = self.at;
                self.skip_until('\n');
                let line: String =
                    self.letters.get(start..self.at).unwrap_or_default().iter().collect();
                self.at += 1;
                let line = if drops_tabs { line.trim_start_matches('\t') } else { line.as_str() };
                if line == delimiter {
                    break;
                }
            }
        }
    }

    fn skip_until(&mut self, wanted: char) {
        while self.peek().is_some_and(|letter| letter != wanted) {
            self.at += 1;
        }
    }

    fn open(&mut self, opens: bool) -> Result<(), String> {
        self.openers += usize::from(opens);
        at_most(OPENERS_LIMIT, self.openers, "groups and conditions")
    }

    fn count_word(&mut self) -> Result<(), String> {
        self.words += 1;
        at_most(WORDS_LIMIT, self.words, "words")
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(offset, letter)| self.letters.get(self.at + offset) == Some(&letter))
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{OPENERS_LIMIT, check};

    #[test]
    fn passes_over_what_a_shell_takes_for_itself() {
        for text in [
            "a # ` (( $( \"",
            "# `\na\n\t# `\nb",
            "a'` (( $(' b",
            "a\"(( \\` \\$( \\\"\" b",
            "\"a\" \"b\"c",
            "a\\` \\$\\(b\\)",
            "a $x $ \"$x $\" \"$'\"",
            "a '\\' b '\"'",
            "a; b & c | d < e > f",
            "( (a) )",
            "cat <<< x\nb",
            "cat <<'E'\n` (( $(\nE\nb",
            "cat <<\"E\" <<\\F\n`\nE\n`\nF\nb",
            "cat << \t E\n`\nE\nb",
            "cat <<E\n`\n\tE\nE \nE\nb",
            "cat <<-E\n`\n\tE\nb",
            "cat <<- 'E'\n\t`\n\t\tE\nb",
            "cat <<E; b\n`\nE\nc",
            "cat <<E",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn refuses_what_a_shell_would_work_out_and_says_what() {
        let (expansion, substitution) = ("an expansion", "a command substitution");
        for (text, said) in [
            ("a `b`", substitution),
            ("a\n`b`", substitution),
            ("a;`b`", substitution),
            ("(`b`)", substitution),
            ("a''`b`", substitution),
            ("a'b'`c`", substitution),
            ("a\"b\"`c`", substitution),
            ("a\\\\`b`", substitution),
            ("a $x`b`", substitution),
            ("# x\n`b`", substitution),
            ("a \"`b`\"", "substitution in double quotes"),
            ("a \"\\\\`b`\"", "substitution in double quotes"),
            ("a \"$x`b`\"", "substitution in double quotes"),
            ("a \"b", "an unclosed double quote"),
            ("a \"b\\\"", "an unclosed double quote"),
            ("a $(b)", expansion),
            ("a ${b}", expansion),
            ("a $[1]", expansion),
            ("a \"$(b)\"", expansion),
            ("a \"b${c}\"", expansion),
            ("a $'b'", "quote; use plain quotes"),
            ("a $\"b\"", "quote; use plain quotes"),
            ("((1))", "two brackets at once"),
            ("a; ((1))", "two brackets at once"),
            ("a(b", "a bracket inside a word"),
            ("cat < x\n`b`", substitution),
            ("cat <x\n`b`", substitution),
            ("cat <<< x\n`b`", substitution),
            ("cat <<< `b`", substitution),
            ("cat <<<x\n\n`b`", substitution),
            ("cat <<E\nE\n`b`", substitution),
            ("cat <<E\n\nE\n`b`", substitution),
            ("cat <<E; `b`\nE", substitution),
            ("cat <<-E\n\t\tE\n`b`", substitution),
            ("cat <<- E\n\tE\n`b`", substitution),
            ("cat <<'E'\nx\nE\n`b`", substitution),
            ("cat <<E <<F\nE\nF\n`b`", substitution),
            ("cat << `b`", substitution),
        ] {
            let refused = check(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn counts_what_opens_a_level_and_nothing_else() {
        for (text, closing) in
            [("( ", ") "), ("{ ", "} "), ("if ", "fi "), ("a <<E ", "a "), ("! ", "a! ")]
        {
            assert_eq!(check(&text.repeat(OPENERS_LIMIT)), Ok(()), "{text}");
            assert!(check(&text.repeat(OPENERS_LIMIT + 1)).is_err(), "{text}");
            assert_eq!(check(&closing.repeat(OPENERS_LIMIT + 1)), Ok(()), "{closing}");
        }
        assert!(check(&format!("{}if a", "( ".repeat(OPENERS_LIMIT))).is_err());
        let lines = "a <<E\nE\n".repeat(OPENERS_LIMIT + 1);
        assert_eq!(check(&lines), Ok(()), "the limit is one of a line");
    }
}
