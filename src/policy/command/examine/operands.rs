//! Words of a command that are not options: paths, revisions, names of tests, text.
//!
//! In: the words, and what the table says they are. Out: paths that are read or written, and
//! findings.

use crate::command::examine::examiner::{CommandOperands, Examiner};
use crate::command::examine::{PathUse, path_use};
use crate::command::tables::{CommandTable, OperandKind, git};
use locum_base::path::RepoPath;

/// Programs that read more of their words from a file named after `@`.
const ARGUMENT_FILES: &[&str] = &[
    "strings",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "mypy",
    "tsc",
    "ruff check",
    "ruff format",
    "dotnet test",
    "dotnet build",
];

impl Examiner<'_> {
    pub(super) fn operands(&mut self, table: &CommandTable, name: &str, given: CommandOperands) {
        let CommandOperands { operands, pattern_given, plain_from } = given;
        let file = operands
            .iter()
            .find(|(_, word)| ARGUMENT_FILES.contains(&name) && word.starts_with('@'));
        self.odd(file, |word| {
            format!(
                "`{name}` takes more words, options among them, from the file that `{word}` names"
            )
        });
        match table.operands {
            OperandKind::Words | OperandKind::Text => {}
            OperandKind::Edited => self.edits(operands.iter().map(|(_, word)| word.as_str())),
            OperandKind::ChangeThenEdited => {
                self.edits(operands.iter().skip(1).map(|(_, word)| word.as_str()));
            }
            OperandKind::EditedWith(options) | OperandKind::EditedWithout(options) => {
                let named = self.words.iter().any(|word| options.contains(&word.as_str()));
                let edited = named == matches!(table.operands, OperandKind::EditedWith(_));
                self.reads(operands.iter().map(|(_, word)| word.as_str()));
                if edited {
                    self.found.only_reads = false;
                    self.edits(operands.iter().map(|(_, word)| word.as_str()));
                }
            }
            OperandKind::Format => {
                let odd = operands.iter().find(|(_, word)| !word.starts_with('+'));
                self.odd(odd, |word| format!("`{name}` with `{word}` does more than show"));
            }
            OperandKind::Copied => {
                let count = operands.len().saturating_sub(1);
                self.reads(operands.iter().take(count).map(|(_, word)| word.as_str()));
                self.edits(operands.iter().skip(count).map(|(_, word)| word.as_str()));
            }
            OperandKind::PatternsUnder(options)
                if plain_from.is_none()
                    && self.words.iter().any(|word| options.contains(&word.as_str())) => {}
            OperandKind::None | OperandKind::PatternsUnder(_) => {
                let odd = operands.first();
                self.odd(odd, |word| format!("`{name}` with `{word}` does more than show"));
            }
            OperandKind::Only(known) => {
                let odd = operands.iter().find(|(_, word)| !known.contains(&word.as_str()));
                self.odd(odd, |word| format!("`{name}` with `{word}` does more than is known"));
            }
            OperandKind::PathsOrHere if operands.is_empty() => self.reads(["."].into_iter()),
            OperandKind::Paths | OperandKind::PathsOrHere => {
                self.reads(operands.iter().map(|(_, word)| word.as_str()))
            }
            OperandKind::OnePath => {
                self.reads(operands.iter().take(1).map(|(_, word)| word.as_str()));
                self.odd(operands.get(1), |_| format!("a second file of `{name}` is written"));
            }
            OperandKind::PatternThenPaths(_) => {
                let program = operands
                    .first()
                    .filter(|(_, program)| matches!(name, "jq" | "yq") && reaches_out(program));
                self.odd(program, |_| {
                    format!("this program of `{name}` reads more than its input")
                });
                let skipped = usize::from(!pattern_given);
                let paths = operands.iter().skip(skipped);
                if name == "git grep" {
                    for (position, (_, word)) in operands.iter().enumerate().skip(skipped) {
                        self.revision(word, plain_from.is_some_and(|from| position >= from));
                    }
                } else {
                    self.reads(paths.clone().map(|(_, word)| word.as_str()));
                }
                if paths.count() == 0 && matches!(name, "rg" | "git grep" | "grep") {
                    self.reads(["."].into_iter());
                }
            }
            OperandKind::Revisions => {
                let any = operands.iter().find(|(_, word)| {
                    name == "git cat-file"
                        && git::path_of_revision(word).is_none()
                        && git::may_be_any_object(word)
                });
                self.odd(any, |word| {
                    format!("`{word}` could be any file; name it as `REVISION:PATH`")
                });
                for (position, (_, word)) in operands.iter().enumerate() {
                    self.revision(word, plain_from.is_some_and(|from| position >= from));
                }
            }
            OperandKind::Targets => {
                for (index, word) in &operands {
                    if word.contains('=') && name == "make" {
                        self.finding(
                            *index,
                            "a variable given to `make` can change what it runs".to_owned(),
                        );
                    }
                    let path = word.split("::").next().unwrap_or_default().trim_end_matches("...");
                    if !path.is_empty() {
                        self.perhaps(path);
                    }
                }
            }
        }
    }

    /// Notes what a rule has to spell out about an operand, where there is such an operand.
    fn odd(&mut self, operand: Option<&(usize, String)>, why: impl FnOnce(&str) -> String) {
        if let Some((index, word)) = operand {
            self.finding(*index, why(word));
        }
    }

    pub(super) fn reads<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for word in words {
            self.found.reads.extend(path_use(word, self.folder));
        }
    }

    /// The repository's own folder holds protected files: nothing removes or replaces it.
    fn edits<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for word in words {
            self.found.edits.extend(path_use(word, self.folder).map(|used| match used {
                PathUse::Inside(path) if path.is_root() => PathUse::Outside(word.to_owned()),
                used => used,
            }));
        }
    }

    /// A revision, a revision's file, or a path; a path may say how it is meant: `:(top)x`, `:/x`,
    /// `:!x`.
    fn revision(&mut self, word: &str, is_path: bool) {
        let from_root = |path: &str| {
            RepoPath::parse(path)
                .map_or_else(|_| PathUse::Outside(path.to_owned()), PathUse::Perhaps)
        };
        if let Some((magic, path)) = word.strip_prefix(":(").and_then(|rest| rest.split_once(')')) {
            let magic: Vec<&str> = magic.split(',').collect();
            if !magic.contains(&"exclude") {
                let path = if path.is_empty() { "." } else { path };
                let used = if magic.contains(&"top") {
                    Some(from_root(path))
                } else {
                    path_use(path, self.folder)
                };
                self.found.reads.extend(used);
            }
            return;
        }
        if word.starts_with(":!") || word.starts_with(":^") {
            return;
        }
        if let Some(path) = word.strip_prefix(":/").filter(|_| is_path) {
            self.found.reads.push(from_root(if path.is_empty() { "." } else { path }));
            return;
        }
        if is_path {
            self.found.reads.extend(path_use(word, self.folder));
            return;
        }
        self.perhaps(word);
        let Some((revision, path)) = git::path_of_revision(word) else { return };
        // `:2:path` is a side of a conflict in the index.
        let path = path
            .split_once(':')
            .filter(|(side, _)| {
                revision.is_empty()
                    && side.len() == 1
                    && side.bytes().all(|byte| byte.is_ascii_digit())
            })
            .map_or(path, |(_, path)| path);
        let used = match path {
            "" => None,
            path if path.starts_with("./") || path.starts_with("../") => {
                path_use(path, self.folder)
            }
            path => Some(from_root(path)),
        };
        self.found.trees.extend(used.as_ref().and_then(PathUse::inside).cloned());
        self.found.reads.extend(used);
    }

    fn perhaps(&mut self, word: &str) {
        let as_range = word.contains("..") && !word.contains('/');
        match path_use(word, self.folder) {
            Some(PathUse::Inside(path)) => self.found.reads.push(PathUse::Perhaps(path)),
            Some(PathUse::Outside(_)) if as_range && word != ".." => {}
            Some(used) => self.found.reads.push(used),
            None => {}
        }
    }
}

/// Words of a program of jq or yq that run, read or show something other than its input.
fn reaches_out(program: &str) -> bool {
    [
        "system",
        "import",
        "include",
        "input_filename",
        "env",
        "ENV",
        "get_search_list",
        "modulemeta",
        "load",
        "eval",
    ]
    .iter()
    .any(|word| program.contains(word))
}
