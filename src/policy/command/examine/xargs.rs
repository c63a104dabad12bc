//! Options of `xargs`, and where the command begins that it starts.
//!
//! In: the words of a command. Out: what is known of how it cuts its input, or nothing where an
//! option is not known.

use crate::words;

/// Options of `xargs`.
#[derive(Default)]
pub(super) struct XargsOptions {
    /// Whether names end with the byte 0.
    pub(super) null: bool,
    /// Whether it counts lines.
    pub(super) lines: bool,
    /// Whether it counts names, other than one at a time.
    several: bool,
    /// What stands for a name.
    pub(super) mark: Option<String>,
}

/// Returns the options of `xargs`, and where the command begins that it starts.
pub(super) fn options(words: &[String]) -> Option<(XargsOptions, usize)> {
    let mut given = XargsOptions::default();
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        match word.as_str() {
            "-0" | "--null" => given.null = true,
            "-r" | "--no-run-if-empty" | "-t" | "--verbose" => {}
            "-r0" | "-0r" => given.null = true,
            "-n" | "-P" | "-L" => {
                let value = words.get(at).filter(|value| words::is_number(value))?;
                given.lines |= word == "-L";
                given.several |= word == "-n" && value != "1";
                at += 1;
            }
            "-I" => {
                given.mark = Some(words.get(at).filter(|mark| !mark.starts_with('-'))?.clone());
                at += 1;
            }
            other => {
                let mark = other.strip_prefix("-I").filter(|mark| !mark.is_empty());
                let value = ["-n", "-P", "-L", "--max-args=", "--max-procs="]
                    .iter()
                    .find_map(|option| other.strip_prefix(option));
                match mark {
                    Some(mark) => given.mark = Some(mark.to_owned()),
                    None => {
                        let value = value.filter(|value| words::is_number(value))?;
                        given.lines |= other.starts_with("-L");
                        let counts = other.starts_with("-n") || other.starts_with("--max-args=");
                        given.several |= counts && value != "1";
                    }
                }
            }
        }
    }
    // With these, `xargs` takes back what stands for a name.
    let is_taken_back = given.mark.is_some() && (given.lines || given.several);
    (!is_taken_back).then_some((given, at))
}
