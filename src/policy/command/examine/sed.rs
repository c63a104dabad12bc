//! `sed`: its scripts, and the files it reads or changes in place.
//!
//! In: the words of a command. Out: files that are read or written, and findings.

use crate::command::examine::examiner::Examiner;
use crate::command::sed;

/// Options that take nothing and change only how lines are read and shown.
const PLAIN: &[&str] = &[
    "--null-data",
    "--posix",
    "--quiet",
    "--regexp-extended",
    "--sandbox",
    "--separate",
    "--silent",
    "--unbuffered",
];

/// The words of `sed` by what they are, with their indexes.
#[derive(Default)]
pub(crate) struct SedWords {
    /// Scripts.
    pub(crate) scripts: Vec<(usize, String)>,
    /// Files.
    pub(crate) files: Vec<(usize, String)>,
    /// Options that are not known.
    pub(crate) unlisted: Vec<(usize, String)>,
    /// Whether it changes the files, and what is put behind the names of the old ones.
    in_place: Option<String>,
}

impl SedWords {
    /// Cuts the words of `sed`.
    pub(crate) fn of(words: &[String]) -> Self {
        let mut found = Self::default();
        let mut rest = words.iter().cloned().enumerate().skip(1);
        let mut plain = false;
        while let Some((index, word)) = rest.next() {
            match word.as_str() {
                "--" if !plain => plain = true,
                "-e" | "--expression" if !plain => found.scripts.extend(rest.next()),
                option if !plain && PLAIN.contains(&option) => {}
                option if !plain && option.len() > 1 && option.starts_with('-') => {
                    match cluster(option) {
                        Some(None) => {}
                        Some(Some(suffix)) => found.in_place = Some(suffix.to_owned()),
                        None => found.unlisted.push((index, word)),
                    }
                }
                _ => found.files.push((index, word)),
            }
        }
        if found.scripts.is_empty() && !found.files.is_empty() {
            found.scripts.push(found.files.remove(0));
        }
        found
    }
}

impl Examiner<'_> {
    pub(super) fn sed(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let SedWords { scripts, files, unlisted, in_place } = SedWords::of(self.words);
        for (index, option) in unlisted {
            self.unlisted("sed", index, &option);
        }
        let last = scripts.len().saturating_sub(1);
        for (place, (index, script)) in scripts.into_iter().enumerate() {
            if let Err(why) = sed::check(&script) {
                self.finding(index, why);
            } else if place < last && script.ends_with('\\') {
                // The first line of the next script would be its text.
                self.finding(index, "the sed script goes on in the next one".to_owned());
            }
        }
        self.reads(files.iter().map(|(_, word)| word.as_str()));
        if let Some(suffix) = in_place {
            self.found.only_reads = false;
            self.edits(files.iter().map(|(_, word)| word.as_str()));
            let kept: Vec<String> = files
                .iter()
                .filter(|_| !suffix.is_empty())
                .map(|(_, word)| format!("{word}{suffix}"))
                .collect();
            self.edits(kept.iter().map(String::as_str));
        }
    }
}

/// Reads letters that take nothing, perhaps with `i` at their end and what the old file is called
/// after it; `None` for anything else.
fn cluster(option: &str) -> Option<Option<&str>> {
    if option == "--in-place" {
        return Some(Some(""));
    }
    let suffix = match option.strip_prefix("--in-place=") {
        Some(suffix) => suffix,
        None => {
            let letters = option.strip_prefix('-')?;
            let rest = letters.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z']);
            match rest.strip_prefix('i') {
                None => return rest.is_empty().then_some(None),
                Some("") => return Some(Some("")),
                Some(suffix) => suffix,
            }
        }
    };
    // `-ie` would look like two options; a `*` or a slash would name another file.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._~-".contains(letter);
    let is_suffix = suffix.starts_with(['.', '~']) && suffix.chars().all(plain);
    is_suffix.then_some(Some(suffix))
}
