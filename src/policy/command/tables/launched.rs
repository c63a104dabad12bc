//! Where the command may begin that a launcher starts, read from its words.
//!
//! In: a program's name, or a command's words. Out: what is known of it, and every word at which
//! the inner command may begin. More are found than begin one, since only rules that refuse ask.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use crate::command::UNKNOWN;
use crate::command::tables::launcher::{FirstWord, Launcher};
use crate::command::tables::launchers::LAUNCHERS;
use crate::command::tables::options::OptionTable;
use crate::words;

/// A launcher, read.
pub(crate) struct KnownLauncher {
    pub(crate) launcher: &'static Launcher,
    /// Its name, by words.
    pub(crate) words: Vec<&'static str>,
    /// Options that a rule may allow.
    pub(crate) harmless: OptionTable,
    all: OptionTable,
}

/// What stands behind options.
struct BehindOptions {
    /// Each word that may be no option and no value of one.
    starts: BTreeSet<usize>,
    /// Whether there may be none.
    reaches_end: bool,
}

/// What the words of a launcher may mean.
pub(crate) struct LaunchedPlaces {
    /// Where its options are.
    pub(crate) options: Range<usize>,
    /// Each word at which the inner command may begin.
    pub(crate) firsts: BTreeSet<usize>,
}

static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<KnownLauncher>>> = LazyLock::new(|| {
    let mut found: HashMap<&'static str, Vec<KnownLauncher>> = HashMap::new();
    for launcher in LAUNCHERS {
        let words: Vec<&str> = launcher.name.split(' ').collect();
        let program = words.first().copied().unwrap_or_default();
        let harmless = OptionTable::new([launcher.options, ""]);
        let all = OptionTable::new([launcher.options, launcher.other]);
        let known = KnownLauncher { launcher, words, harmless, all };
        found.entry(program).or_default().push(known);
    }
    found
});

/// Returns what is known of a program and its verbs that start another command, in the order of
/// the table.
pub(crate) fn of(program: &str) -> &'static [KnownLauncher] {
    BY_PROGRAM.get(program).map(Vec::as_slice).unwrap_or_default()
}

impl KnownLauncher {
    /// Returns true for a command that begins with its name.
    pub(crate) fn is_named(&self, words: &[String]) -> bool {
        words.len() >= self.words.len()
            && self.words.iter().zip(words).all(|(wanted, word)| wanted == word)
    }

    /// Returns what a command may mean that begins with its program: options may stand before its
    /// verb too.
    pub(crate) fn places(&self, words: &[String]) -> Option<LaunchedPlaces> {
        let mut behind_name = BTreeSet::from([1]);
        for verb in self.words.iter().skip(1) {
            let found = self.behind_options(words, behind_name).starts.into_iter();
            let is_verb = |at: &usize| words.get(*at).is_some_and(|word| word == verb);
            behind_name = found.filter(is_verb).map(|at| at + 1).collect();
        }
        let from = behind_name.first().copied()?;
        let mut found = self.behind_options(words, behind_name);
        let mut end = words.len();
        match self.launcher.first {
            FirstWord::Nothing | FirstWord::Variables => {}
            FirstWord::Duration => found = self.behind_words(words, &found, 1),
            FirstWord::Words(count) => found = self.behind_words(words, &found, count),
            // A module is found by its option.
            FirstWord::ModuleOption => found.starts.clear(),
            FirstWord::Mark(marks) => {
                // Its options may come between words that are not of the inner command.
                found.reaches_end = true;
                let all = words.iter().enumerate().skip(from);
                for (at, _) in all.filter(|(_, word)| words::holds(marks, word)) {
                    end = end.min(at);
                    found.starts.insert(at + 1);
                }
            }
        }
        if let Some(last) = found.starts.last().filter(|_| !found.reaches_end) {
            end = end.min(*last);
        }
        Some(LaunchedPlaces { options: from.min(end)..end, firsts: found.starts })
    }

    /// Returns what stands behind so many words and the options that follow them.
    fn behind_words(
        &self,
        words: &[String],
        before: &BehindOptions,
        count: usize,
    ) -> BehindOptions {
        let from = before.starts.iter().map(|at| at + count).collect();
        let found = self.behind_options(words, from);
        BehindOptions { reaches_end: found.reaches_end || before.reaches_end, ..found }
    }

    /// Returns what stands behind the options that begin at any of these words. Each word is looked
    /// at once.
    fn behind_options(&self, words: &[String], from: BTreeSet<usize>) -> BehindOptions {
        let mut found = BehindOptions { starts: BTreeSet::new(), reaches_end: false };
        let mut open = from;
        while let Some(at) = open.pop_first() {
            let Some(word) = words.get(at) else {
                found.reaches_end = true;
                continue;
            };
            if word == "--" {
                found.starts.insert(at + 1);
            } else if word.starts_with('-') {
                let read = self.all.read(words, at);
                open.insert(read.next);
                if !read.is_known {
                    open.insert(at + 2);
                }
            } else {
                found.starts.insert(at);
                // It may be nothing at all, an option, or a variable for what is started.
                open.extend((word == UNKNOWN || word.contains('=')).then_some(at + 1));
            }
        }
        found
    }
}

/// Returns the values of options that are scripts, each with the index of the word behind it. A
/// letter counts wherever it stands in a word of letters, and a name by its beginning too, as
/// programs of GNU take it.
pub(crate) fn script_values(
    names: &str,
    words: &[String],
    among: Range<usize>,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for at in among {
        let Some(word) = words.get(at).filter(|word| word.starts_with('-')) else { continue };
        for name in names.split_ascii_whitespace() {
            let rest = match name.strip_prefix('-').filter(|letter| letter.len() == 1) {
                Some(_) if word.starts_with("--") => continue,
                Some(letter) => word.split_once(letter).map(|(_, rest)| rest),
                None => {
                    let (given, value) = word.split_once('=').unwrap_or((word.as_str(), ""));
                    (given.len() > 2 && name.starts_with(given)).then_some(value)
                }
            };
            let Some(rest) = rest else { continue };
            if !rest.is_empty() {
                found.push((rest.to_owned(), at + 1));
            }
            if let Some(value) = words.get(at + 1) {
                found.push((value.clone(), at + 2));
            }
        }
    }
    found
}

/// Returns each module of Python that an option `-m` may name, empty where the next word names it,
/// with the index of the word behind the option.
pub(crate) fn modules(words: &[String], from: usize) -> impl Iterator<Item = (&str, usize)> {
    words.iter().enumerate().skip(from).filter_map(|(at, word)| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let (before, module) = letters.split_once('m')?;
        let is_letters = before.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_letters.then_some((module, at + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::{modules, of, script_values};
    use crate::command::tables::launchers::LAUNCHERS;
    use crate::command::word::split;
    use pretty_assertions::assert_eq;

    /// Returns the inner commands that may be meant.
    fn inner(text: &str) -> Vec<String> {
        let words = split(text).unwrap();
        let places = of(&words[0]).iter().flat_map(|known| known.places(&words));
        let firsts = places.flat_map(|places| places.firsts);
        firsts.filter_map(|at| words.get(at..).map(|words| words.join(" "))).collect()
    }

    #[test]
    fn the_inner_command_begins_behind_options_and_their_values() {
        for (text, expected) in [
            ("sudo -nu root a b", &["a b"][..]),
            ("sudo -uroot -- a b", &["a b"]),
            ("xargs -0n 1 a", &["a"]),
            ("xargs -0n1 a", &["a"]),
            ("strace -fo /tmp/x a", &["a"]),
            ("timeout -vk 5 60 a b", &["a b"]),
            ("chrt -f 5 a", &["a"]),
            ("taskset -c 0 a", &["a"]),
            ("nsenter -t 1 -m a", &["a"]),
            ("bwrap --ro-bind / / --dev /dev a", &["a"]),
            ("perf stat -e x a", &["a"]),
            ("perf --no-pager stat a", &["a"]),
            ("npm -w x exec -y a", &["a"]),
            ("mise x node@20 -- a b", &["node@20 -- a b", "a b"]),
            ("dotenv -f x run -q always -- a b", &["run -q always -- a b", "a b"]),
            ("env - a", &["a"]),
            ("env a.b=1 a", &["a.b=1 a", "a"]),
            ("sudo a=b -u root c.d=e a", &["a=b -u root c.d=e a", "c.d=e a", "a"]),
            ("timeout 5", &[]),
            ("sudo", &[]),
            // Whether it takes a value is not known.
            ("sudo --unheard a b", &["a b", "b"]),
        ] {
            assert_eq!(inner(text), expected, "{text}");
        }
        for count in [15, 17, 100] {
            let many = format!("sudo{} c d", " --a b".repeat(count));
            assert_eq!(inner(&many).last().map(String::as_str), Some("c d"), "{count}");
        }
    }

    #[test]
    fn a_script_is_the_value_of_an_option() {
        for (text, names, expected) in [
            ("env -iS 'a b' c", "-S --split-string", &[("a b", 3)][..]),
            ("env '--split-string=a b'", "-S --split-string", &[("a b", 2)]),
            ("script -qc 'a b' x", "-c --command", &[("a b", 3)]),
            ("su --command 'a b' x", "-c --command", &[("a b", 3)]),
            ("su --login x", "-c --command", &[]),
            ("su --comm 'a b' x", "-c --command", &[("a b", 3)]),
            ("su '--comm=a b' x", "-c --command", &[("a b", 2), ("x", 3)]),
            ("su '--comma-d=a b' -- x", "-c --command", &[]),
        ] {
            let words = split(text).unwrap();
            let found = script_values(names, &words, 1..words.len());
            let found: Vec<(&str, usize)> =
                found.iter().map(|(text, next)| (text.as_str(), *next)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_module_stands_behind_its_option() {
        for (text, expected) in [
            ("python -Im a b", &["a b"][..]),
            ("python -B -ma b", &["a b"]),
            ("python -m a -m b", &["a -m b", "b"]),
            ("python a.py --m b", &[]),
        ] {
            let words = split(text).unwrap();
            let shown = |(module, behind): (&str, usize)| {
                let module = Some(module).filter(|module| !module.is_empty());
                let rest = words[behind..].iter().map(String::as_str);
                module.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(modules(&words, 1).map(shown).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn no_row_has_an_option_that_is_not_understood() {
        for launcher in LAUNCHERS {
            let program = launcher.name.split(' ').next().unwrap();
            let known = of(program).iter().filter(|known| known.launcher.name == launcher.name);
            let known: Vec<_> = known.collect();
            let entries = [launcher.options, launcher.other].map(str::split_ascii_whitespace);
            for entry in entries.into_iter().flatten() {
                let name = entry.split('=').next().unwrap();
                let is_known = known.iter().any(|known| known.all.takes(name).is_some());
                assert!(is_known, "{}: {entry}", launcher.name);
            }
        }
    }
}
