//! `sed`: its scripts, and the files it reads or changes in place.
//!
//! In: the words of a command. Out: files that are read or written, and findings.

use std::sync::LazyLock;

use crate::command::examine::examiner::Examiner;
use crate::command::sed;
use crate::command::tables::options::{GivenOption, OptionTable};

/// Its options: they change only how lines are read and shown, name scripts, or say that files are
/// changed in place.
static OPTIONS: LazyLock<OptionTable> = LazyLock::new(|| {
    OptionTable::new([
        "-n -E -r -s -u -z --null-data --posix --quiet --regexp-extended --sandbox --separate \
         --silent --unbuffered",
        "-e= --expression= -i=? --in-place=?",
    ])
});

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
        let (mut next, mut plain) = (1, false);
        while let Some(word) = words.get(next) {
            let index = next;
            next += 1;
            if plain || word.len() < 2 || !word.starts_with('-') {
                found.files.push((index, word.clone()));
            } else if word == "--" {
                plain = true;
            } else {
                let read = OPTIONS.read(words, index);
                next = read.next;
                let is_known = read.given.iter().all(|option| found.takes(option));
                if !is_known || !read.is_known {
                    found.unlisted.push((index, word.clone()));
                }
            }
        }
        if found.scripts.is_empty() && !found.files.is_empty() {
            found.scripts.push(found.files.remove(0));
        }
        found
    }

    /// Takes an option; returns whether its value is one that is known.
    fn takes(&mut self, option: &GivenOption<'_>) -> bool {
        let value = option.value.unwrap_or_default();
        match option.name {
            "-e" | "--expression" => self.scripts.push((option.at, value.to_owned())),
            "-i" | "--in-place" if is_suffix(value) => self.in_place = Some(value.to_owned()),
            "-i" | "--in-place" => return false,
            _ => {}
        }
        !option.after_equals && !option.lacks_value()
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

/// Returns true for what may be put behind the names of the old files: not for what looks like more
/// options (`-ie`), nor for a `*` or a slash, with which the name would be another.
fn is_suffix(suffix: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._~-".contains(letter);
    suffix.is_empty() || (suffix.starts_with(['.', '~']) && suffix.chars().all(plain))
}
