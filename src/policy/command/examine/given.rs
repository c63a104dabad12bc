//! The words of one command, cut by the table of its program: which options it is given, and which
//! words are files.
//!
//! In: words. Out: options and operands, or nothing where an option is not in the table. What they
//! mean for the policy is found elsewhere.

use crate::command::examine::awk::AwkWords;
use crate::command::examine::sed::SedWords;
use crate::command::tables::OperandKind;
use crate::command::tables::index::{self, IndexedTable};
use crate::command::tables::options::GivenOption;
use crate::command::tables::wrappers;
use crate::words;

/// Options and operands of a command.
pub(crate) struct GivenWords<'w> {
    words: &'w [String],
    table: &'static IndexedTable,
    options: Vec<GivenOption<'w>>,
    /// The words that are neither options nor values of one, by index.
    operands: Vec<usize>,
}

impl<'w> GivenWords<'w> {
    /// Cuts the words of a program that has no verbs; `None` where it has no table, or an option is
    /// not in it.
    pub(crate) fn of(words: &'w [String]) -> Option<Self> {
        let program = words.first()?;
        let table = index::of(program).iter().find(|known| known.words.len() == 1)?;
        Self::by_table(table, words)
    }

    /// Cuts the words of a program, or of a verb of one that has a table of its own.
    fn with_verb(words: &'w [String]) -> Option<Self> {
        let is_verb = |known: &&IndexedTable| {
            known.words.len() > 1
                && words.len() >= known.words.len()
                && known.words.iter().zip(words).all(|(wanted, word)| wanted == word)
        };
        match index::of(words.first()?).iter().find(is_verb) {
            Some(table) => Self::by_table(table, words),
            None => Self::of(words),
        }
    }

    fn by_table(table: &'static IndexedTable, words: &'w [String]) -> Option<Self> {
        let mut given = Self { words, table, options: Vec::new(), operands: Vec::new() };
        let (mut at, mut plain) = (table.words.len(), false);
        while let Some(word) = words.get(at) {
            at += 1;
            if plain || word.len() < 2 || !word.starts_with('-') {
                given.operands.push(at - 1);
            } else if word == "--" {
                plain = true;
            } else {
                let read = table.options.read(words, at - 1);
                if !read.is_known || read.given.iter().any(GivenOption::lacks_value) {
                    return None;
                }
                at = read.next;
                given.options.extend(read.given);
            }
        }
        Some(given)
    }

    /// Whether one of these options is given, which stand between blanks.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.options.iter().any(|option| words::holds(wanted, option.name))
    }

    /// Whether only these options are given, which stand between blanks.
    pub(crate) fn only_has(&self, known: &str) -> bool {
        self.options.iter().all(|option| words::holds(known, option.name))
    }

    /// Returns the values of one of these options, which stand between blanks.
    pub(crate) fn values(&self, wanted: &str) -> impl Iterator<Item = &'w str> {
        let given = self.options.iter().filter(|option| words::holds(wanted, option.name));
        given.filter_map(|option| option.value)
    }

    /// Returns how many words are neither options nor values of one.
    pub(crate) fn operand_count(&self) -> usize {
        self.operands.len()
    }

    /// Returns these words.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &'w str> {
        let words = self.words;
        self.operands.iter().filter_map(move |at| words.get(*at)).map(String::as_str)
    }

    /// Returns the words that are files, by index; `None` for a program of which that is not known.
    fn files(&self) -> Option<&[usize]> {
        let skipped = match self.table.table.operands {
            OperandKind::Edited
            | OperandKind::EditedWith(_)
            | OperandKind::EditedWithout(_)
            | OperandKind::EditedHereWith(_)
            | OperandKind::EditedHereWithout(_)
            | OperandKind::Paths
            | OperandKind::PathsOrHere => 0,
            OperandKind::ChangeThenEdited => 1,
            OperandKind::PatternThenPaths(givers) => {
                let is_given = givers.iter().any(|giver| self.has(giver));
                usize::from(!is_given)
            }
            _ => return None,
        };
        Some(self.operands.get(skipped..).unwrap_or_default())
    }

    /// Returns the words that are files a program checks, formats or searches, by index; `None` for
    /// one that does something else with them.
    fn checked_files(&self) -> Option<&[usize]> {
        let name = self.table.words.last().copied().unwrap_or_default();
        let program = self.table.words.first().copied().unwrap_or_default();
        match self.table.table.operands {
            _ if program == "git" => None,
            OperandKind::Targets if words::holds(CHECKERS, name) => Some(&self.operands),
            OperandKind::Paths
            | OperandKind::PathsOrHere
            | OperandKind::EditedWith(_)
            | OperandKind::EditedWithout(_)
            | OperandKind::EditedHereWith(_)
            | OperandKind::EditedHereWithout(_)
            | OperandKind::PatternThenPaths(_) => self.files(),
            _ => None,
        }
    }
}

/// Programs that check or test the files they are given, besides those of which a table says so.
const CHECKERS: &str = "mypy pytest rspec";

/// Returns true for a program with a table, perhaps behind one that only starts it, that checks,
/// formats or searches the files where `mark` stands, however many there are. Each must be a name
/// that is no option.
pub(super) fn checks_files(words: &[String], mark: &str) -> bool {
    let is_inside = |word: &String| word != mark && word.contains(mark);
    if words.iter().any(is_inside) {
        return false;
    }
    let mut start = 0;
    loop {
        let inner = words.get(start..).unwrap_or_default();
        if let Some(given) = GivenWords::with_verb(inner) {
            let marked: Vec<usize> = (0..words.len())
                .filter(|at| words.get(*at).is_some_and(|word| word == mark))
                .collect();
            let is_file = |at: &usize| {
                let at = at.checked_sub(start);
                given.checked_files().is_some_and(|files| at.is_some_and(|at| files.contains(&at)))
            };
            return !marked.is_empty() && marked.iter().all(is_file);
        }
        let Some((further, _)) = wrappers::inner(inner) else { return false };
        start += further;
    }
}

/// Returns true where each word that is `mark` stands in a place in which the program takes a file,
/// however many there are; and where no other word holds it.
pub(super) fn stands_for_files(words: &[String], mark: &str) -> bool {
    let marked: Vec<usize> =
        (0..words.len()).filter(|at| words.get(*at).is_some_and(|word| word == mark)).collect();
    let inside = words.iter().any(|word| word != mark && word.contains(mark));
    let are_files = |files: &[usize]| marked.iter().all(|at| files.contains(at));
    let known = if words.first().is_some_and(|program| program == "sed") {
        let sed = SedWords::of(words);
        let files: Vec<usize> = sed.files.iter().map(|(at, _)| *at).collect();
        sed.unlisted.is_empty() && are_files(&files)
    } else {
        let given = GivenWords::of(words);
        given.as_ref().and_then(GivenWords::files).is_some_and(are_files)
    };
    known && !inside
}

/// Returns the words, by index, that a program takes for what it is to do and not for files: a
/// script, a program of its own, a mode, and the values of options before that. Where it is not
/// known which these are, all are.
pub(crate) fn instructions(words: &[String]) -> Vec<usize> {
    let start = wrappers::innermost(words);
    let words = words.get(start..).unwrap_or_default();
    let all = || (1..words.len()).collect();
    let found: Vec<usize> = match words.first().map_or("", String::as_str) {
        "sed" => {
            let sed = SedWords::of(words);
            let places = |(at, _): &(usize, String)| *at;
            let files: Vec<usize> = sed.files.iter().map(places).collect();
            let first = files.first().copied().unwrap_or(words.len());
            let scripts = sed.scripts.iter().map(places).filter(|at| *at >= first);
            (1..first).chain(scripts).collect()
        }
        "awk" | "gawk" | "mawk" | "nawk" => (1..AwkWords::of(words).files).collect(),
        "jq" | "yq" | "chmod" | "chown" | "chgrp" => match GivenWords::of(words) {
            Some(given) => {
                let first = given.operands.first().map_or(words.len(), |at| at + 1);
                (1..first).collect()
            }
            None => all(),
        },
        // Which of its words are revisions, a name with a colon may say.
        "git" => revisions(words),
        // The commands that these start.
        "find" => {
            let starts = ["-exec", "-execdir", "-ok", "-okdir"];
            let at = words.iter().position(|word| starts.contains(&word.as_str()));
            at.map_or(words.len()..words.len(), |at| at + 1..words.len()).collect()
        }
        "xargs" => all(),
        _ => Vec::new(),
    };
    found.into_iter().map(|at: usize| at + start).collect()
}

/// Verbs of git that take paths, and no revision among them.
const VERBS_OF_PATHS: &str =
    "add check-attr check-ignore clean hash-object ls-files mv rm stage status update-index";

/// Returns the words behind a verb of git that may be revisions.
fn revisions(words: &[String]) -> Vec<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if matches!(word.as_str(), "-C" | "-c") { 2 } else { 1 };
    }
    if words.get(at).is_none_or(|verb| words::holds(VERBS_OF_PATHS, verb)) {
        return Vec::new();
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    (at + 1..end).collect()
}

#[cfg(test)]
mod tests {
    use super::{GivenWords, checks_files, instructions, stands_for_files};
    use crate::command::word::split;

    #[test]
    fn a_letter_is_an_option_only_where_no_option_before_it_takes_it() {
        for (text, option, is_given) in [
            ("grep -hl x a", "-l", true),
            ("grep -el a", "-l", false),
            ("grep -hzel a", "-l", false),
            ("grep -e -l a", "-l", false),
            ("grep -A 3 -l x", "-l", true),
            ("grep -A3l x", "-l", false),
            ("grep x -- -l", "-l", false),
            ("grep --regexp=-l a", "-l", false),
            ("rg -g '*.l' --files-with-matches x", "--files-with-matches", true),
            ("head -5 a", "-#", true),
        ] {
            let words = split(text).unwrap();
            assert_eq!(GivenWords::of(&words).unwrap().has(option), is_given, "{text}");
        }
        for text in ["grep --unheard x", "grep -y x", "grep --count=3 x", "grep -e", "frob -l x"] {
            assert!(GivenWords::of(&split(text).unwrap()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_checker_is_given_names_where_it_takes_files() {
        for text in [
            "ruff check {}",
            "ruff check --fix {} {}",
            "uv run ruff format {}",
            "python -m py_compile {}",
            "timeout 9 python -m mypy {}",
            "bundle exec rubocop -a {}",
            "gofmt -l {}",
            "prettier --write {}",
            "javac -d /tmp/out {}",
            "pytest -q {}",
            "jq .a {}",
        ] {
            assert!(checks_files(&split(text).unwrap(), "{}"), "{text}");
        }
        for text in [
            "ruff check --select {}",
            "ruff check --unheard {}",
            "ruff check x{}",
            "ruff check src",
            "ruff {}",
            "timeout {} ruff check {}",
            "javac -d {} a",
            "jq {} a",
            "git add {}",
            "rm {}",
            "cp {} a",
            "uniq {}",
            "make {}",
            "go test {}",
            "python {}",
            "sh -c {}",
            "frob {}",
        ] {
            assert!(!checks_files(&split(text).unwrap(), "{}"), "{text}");
        }
    }

    #[test]
    fn a_program_takes_some_words_for_what_it_is_to_do() {
        for (text, expected) in [
            ("sed -n 1p a", vec![1, 2]),
            ("sed -e p -e d a", vec![1, 2, 3, 4]),
            ("timeout 5 sed p a", vec![3]),
            ("awk -F : -v a=b {print} a", vec![1, 2, 3, 4, 5]),
            ("chmod -R +x a", vec![1, 2]),
            ("jq -r .a a.json", vec![1, 2]),
            ("jq --arg a b .a a.json", vec![1, 2, 3, 4]),
            ("find a -name b -exec cat c {} +", vec![5, 6, 7, 8]),
            ("xargs -n 2 cat c", vec![1, 2, 3, 4]),
            ("git -C a show b -- c", vec![4]),
            ("git show b", vec![2]),
            ("git add b", vec![]),
            ("grep x a", vec![]),
            ("cat a", vec![]),
        ] {
            assert_eq!(instructions(&split(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn a_name_may_stand_only_where_a_program_takes_a_file() {
        for text in [
            "rm -f {}",
            "sed -i s/a/b/ {}",
            "sed -i -e s/a/b/ {} {}",
            "chmod +x {}",
            "touch -d now {}",
            "grep -l x {}",
            "grep -e x {}",
        ] {
            assert!(stands_for_files(&split(text).unwrap(), "{}"), "{text}");
        }
        for text in [
            "sed -i {}",
            "sed -ie s/a/b/ {}",
            "sed {} a",
            "sed -e {} a",
            "sed -f {} a",
            "sed -i --expression={} a",
            "sed -i s/a/{}/ a",
            "chmod {} a",
            "chmod {}",
            "chmod --reference={} a",
            "touch -d {} a",
            "touch -r {} a",
            "rm --unheard {}",
            "grep {} a",
            "cp {} a",
            "frob {}",
            "python {}",
        ] {
            assert!(!stands_for_files(&split(text).unwrap(), "{}"), "{text}");
        }
    }
}
