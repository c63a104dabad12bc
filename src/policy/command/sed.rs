//! sed scripts that only print and replace: everything that writes files, reads others or runs
//! programs is refused.
//!
//! In: one script word. Out: whether each of its commands is on the short list here.

/// Checks a script.
///
/// # Errors
/// Names the command that is not known to be harmless.
pub(super) fn check(script: &str) -> Result<(), String> {
    let letters: Vec<char> = script.chars().collect();
    let mut reading = SedReader { letters: &letters, at: 0 };
    while reading.skip(|letter| letter.is_whitespace() || matches!(letter, ';' | '}')) {
        reading.address()?;
        if reading.peek() == Some(',') {
            reading.at += 1;
            reading.skip(|letter| matches!(letter, '+' | '~' | ' '));
            reading.address()?;
        }
        reading.skip(|letter| matches!(letter, ' ' | '\t' | '!'));
        reading.command()?;
    }
    Ok(())
}

struct SedReader<'s> {
    letters: &'s [char],
    at: usize,
}

impl SedReader<'_> {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    /// Skips letters; returns whether any remain.
    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        self.at < self.letters.len()
    }

    fn address(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(letter) if letter.is_ascii_digit() => {
                self.skip(|letter| letter.is_ascii_digit() || letter == '~');
                Ok(())
            }
            Some('$') => {
                self.at += 1;
                Ok(())
            }
            Some('/') => {
                self.at += 1;
                self.until('/')?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Passes over text up to a delimiter. A delimiter inside brackets is read differently by
    /// different versions of sed, so it is refused.
    fn until(&mut self, close: char) -> Result<(), String> {
        let mut in_brackets = false;
        while let Some(letter) = self.peek() {
            self.at += 1;
            match letter {
                '\\' => self.at += 1,
                letter if letter == close && in_brackets => {
                    return Err("the sed script has its delimiter inside brackets".to_owned());
                }
                letter if letter == close => return Ok(()),
                '[' => in_brackets = true,
                ']' => in_brackets = false,
                _ => {}
            }
        }
        Err("the sed script is not complete".to_owned())
    }

    fn command(&mut self) -> Result<(), String> {
        let Some(letter) = self.peek() else {
            return Err("the sed script ends where a command should be".to_owned());
        };
        self.at += 1;
        match letter {
            'p' | 'd' | '=' | 'n' | 'N' | 'D' | 'G' | 'H' | 'g' | 'h' | 'x' | 'P' | 'l' | '{' => {}
            'q' | 'Q' => {
                self.skip(|letter| letter.is_ascii_digit() || letter == ' ');
            }
            's' | 'y' => {
                let close = self
                    .peek()
                    .filter(|close| {
                        !close.is_alphanumeric() && !matches!(close, '\\' | '\n' | ' ' | '[')
                    })
                    .ok_or("the sed script is not complete")?;
                self.at += 1;
                self.until(close)?;
                self.until(close)?;
                self.skip(|letter| {
                    matches!(letter, 'g' | 'p' | 'i' | 'I' | 'M' | 'm') || letter.is_ascii_digit()
                });
            }
            // Text up to the end of the line; a backslash could carry it further.
            'a' | 'i' | 'c' => {
                let start = self.at;
                self.skip(|letter| letter != '\n');
                let mut text = self.letters.get(start..self.at).unwrap_or_default();
                // `a\` with the text behind it or in the next line. At the end of a script it adds
                // nothing, and ends the last line where it had no end.
                if let [' ' | '\t', rest @ ..] = text {
                    text = rest;
                }
                if let ['\\', rest @ ..] = text {
                    text = rest;
                    if text.is_empty() {
                        let Some('\n') = self.peek() else { return Ok(()) };
                        self.at += 1;
                        let start = self.at;
                        self.skip(|letter| letter != '\n');
                        text = self.letters.get(start..self.at).unwrap_or_default();
                    }
                }
                if text.contains(&'\\') || text.iter().all(|letter| letter.is_whitespace()) {
                    return Err("the sed script adds text that is not plain".to_owned());
                }
                return Ok(());
            }
            other => {
                return Err(format!(
                    "the sed command `{other}` may write, read another file or run a program"
                ));
            }
        }
        if letter == '{' {
            return Ok(());
        }
        self.skip(|letter| letter == ' ');
        match self.peek() {
            None | Some(';' | '\n' | '}') => Ok(()),
            Some(other) => {
                Err(format!("the sed script has `{other}` after the command `{letter}`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn lets_printing_and_replacing_through() {
        for script in [
            "1,5p",
            "$p",
            "/fn main/p",
            "/a/,/b/p",
            "s/a/b/",
            "s/a/b/g;s|x|y|gp",
            "10q",
            "1,5{p;d}",
            "1!d",
            "/a\\/b/Ip",
            "3,+2p",
            "y/ab/cd/",
            "$=",
            "q5",
            "q 5",
            "5q 1;p",
            "s/[ab]/x/",
            "s/[ab]/x/;s/[^c]*/d/p",
            "s/\\[/x/",
            "s|[/]|x|",
            "a text",
            "2i new line; w x",
            "/x/c y\n1d",
            "$a\\",
            "$a\\\nThe end.",
            "1i\\text",
            "1i\\\ntext\n2d",
        ] {
            assert_eq!(check(script), Ok(()), "{script}");
        }
    }

    #[test]
    fn refuses_what_writes_or_runs() {
        for script in [
            "w PWNED",
            "1e touch PWNED",
            "s/a/b/w PWNED",
            "s/a/b/e",
            "s/a/b/ge",
            "r /etc/passwd",
            "1,5p;w x",
            "e",
            "s/a",
            "W x",
            "F;R x",
            "p w x",
            "a",
            "a\\\n",
            "a\\\n\nw y",
            "a\\\nx\nw y",
            "a\\\nx\\\nw y",
            "a\\x\\\nw y",
            "a\\x\nw y",
            "a\\\\\nw y",
            "a x\\\nw y",
            "1i x\nw y",
            "$!{a x\n}\nw x",
            "s/[/]/b/w x",
            "s/[/]/p",
            "s/a[/]/;p",
            "q5x",
            "qq",
            "sxaxbx",
            "s a b ",
            "s[a[b[",
            "s\\a\\b\\",
            "s\na\nb\n",
            "s1a1b1",
        ] {
            assert!(check(script).is_err(), "{script}");
        }
    }
}
