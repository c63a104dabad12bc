//! Words of a command that are not options: paths, revisions, names of tests, text.
//!
//! In: the words, and what the table says they are. Out: paths that are read or written, and
//! findings.

use crate::command::examine::examiner::{CommandOperands, Examiner};
use crate::command::examine::yq::IN_PLACE;
use crate::command::examine::{PathUse, path_use};
use crate::command::tables::index::IndexedTable;
use crate::command::tables::{OperandKind, ProgramEffect, git, spelling};
use crate::words;
use locum_base::path::RepoPath;
use locum_base::secret::name::{Sureness, sureness};

impl Examiner<'_> {
    pub(super) fn operands(&mut self, known: &IndexedTable, name: &str, given: CommandOperands) {
        let table = known.table;
        let CommandOperands { mut operands, plain_from } = given;
        self.passed_on(name, &mut operands, plain_from);
        self.argument_file(known, name, &operands);
        if spelling::starts_a_script(name) {
            self.words_of_a_script(&operands);
        }
        let pattern = operands.iter().find(|(_, word)| {
            name.starts_with("git ")
                && matches!(table.operands, OperandKind::Edited | OperandKind::RevisionThenEdited)
                && git::is_pattern_of_paths(word)
        });
        self.refuse(pattern, |word| {
            format!("`{name}` may take `{word}` for a pattern of files; name each")
        });
        let operands = operands.as_slice();
        match table.operands {
            OperandKind::Text
                if table.effect == ProgramEffect::RunsCode && !spelling::starts_a_script(name) =>
            {
                self.handed(operands);
            }
            OperandKind::Words | OperandKind::Text => {}
            OperandKind::Plain => self.plain(name, operands),
            OperandKind::HarmlessKeys => self.harmless_keys(name, operands),
            OperandKind::Tasks => self.tasks(name, operands),
            OperandKind::Edited => {
                self.edits(texts(operands));
                if matches!(name, "mv" | "git mv") {
                    self.put_into(operands);
                }
            }
            OperandKind::ChangeThenEdited => self.edits(texts(operands).skip(1)),
            OperandKind::EditedWith(options) => {
                self.edited_where(self.has_any(options), texts(operands));
            }
            OperandKind::EditedWithout(options) => {
                self.edited_where(!self.has_any(options), texts(operands));
            }
            OperandKind::EditedHereWith(_) | OperandKind::EditedHereWithout(_)
                if self.has_any(&["--help", "--version"]) => {}
            OperandKind::EditedHereWith(options) => {
                self.edited_where(self.has_any(options), or_here(operands));
            }
            OperandKind::EditedHereWithout(options) => {
                self.edited_where(!self.has_any(options), or_here(operands));
            }
            OperandKind::Program(endings) => self.program_of(name, endings, operands),
            OperandKind::OnlyWith(options) => {
                self.refuse(operands.first(), |word| format!("`{name}` with `{word}` does more"));
                self.changes_without(name, options);
            }
            OperandKind::PathsUnder(options) => {
                self.reads(texts(operands));
                operands.iter().for_each(|(index, word)| self.address(name, *index, word));
                self.changes_without(name, options);
            }
            OperandKind::RevisionThenEdited => {
                self.revision_then_edited(name, operands, plain_from);
            }
            OperandKind::Format => {
                let refused = operands.iter().find(|(_, word)| !word.starts_with('+'));
                self.refuse(refused, |word| format!("`{name}` with `{word}` does more than show"));
            }
            OperandKind::Copied => self.copied(name, operands),
            OperandKind::PatternsUnder(options)
                if plain_from.is_none() && self.has_any(options) => {}
            OperandKind::None | OperandKind::PatternsUnder(_) => {
                let refused = operands.first();
                self.refuse(refused, |word| format!("`{name}` with `{word}` does more than show"));
            }
            OperandKind::Only(listed) => self.only(name, listed, operands),
            OperandKind::Paths if name == "rustc" => self.sources_of_rustc(operands),
            OperandKind::Paths if name == "diff" => self.compared(operands),
            OperandKind::PathsOrHere => self.reads(or_here(operands)),
            OperandKind::Paths => self.reads(texts(operands)),
            OperandKind::Compiled => self.compiled(name, operands, plain_from),
            OperandKind::Configured => self.configured(operands, plain_from),
            OperandKind::OnePath => {
                self.reads(texts(operands).take(1));
                self.refuse(operands.get(1), |_| format!("a second file of `{name}` is written"));
            }
            OperandKind::PatternThenPaths(givers) => {
                self.pattern_then_paths(name, givers, operands, plain_from);
            }
            OperandKind::Revisions if name == "git diff" && self.has_any(&["--no-index"]) => {
                // It knows no pattern of what to leave out.
                self.found.needs_sandbox = true;
                self.reads(texts(operands));
                self.goes_through_store();
                self.refuse(operands.get(2), |word| {
                    format!("`{name} --no-index` compares two files; `{word}` is one more")
                });
            }
            OperandKind::Revisions => self.revisions(name, operands, plain_from),
            OperandKind::Targets => self.targets(name, operands, plain_from),
        }
    }

    fn plain(&mut self, name: &str, operands: &[(usize, String)]) {
        let refused = operands.iter().find(|(_, word)| {
            !word.starts_with(|first: char| first.is_alphanumeric() || "._".contains(first))
        });
        self.refuse(refused, |word| format!("`{name}` may do more than show with `{word}`"));
        self.reads(texts(operands));
    }

    fn harmless_keys(&mut self, name: &str, operands: &[(usize, String)]) {
        // `git remote -v` shows these too.
        let shown = |word: &str| word.starts_with("remote.") && word.ends_with(".url");
        let refused = operands.iter().find(|(_, word)| {
            sureness(word) != Sureness::No && !(name == "git config --get" && shown(word))
        });
        self.refuse(refused, |word| format!("`{word}` may hold credentials"));
        if operands.is_empty() {
            self.finding(self.words.len(), format!("`{name}` alone shows all there is"));
        }
    }

    /// Files that are read, and changed where the options say so.
    fn edited_where<'a>(&mut self, edited: bool, files: impl Iterator<Item = &'a str> + Clone) {
        self.reads(files.clone());
        if edited {
            self.found.only_reads = false;
            self.edits_matched(files);
        }
    }

    fn changes_without(&mut self, name: &str, options: &[&str]) {
        if !self.has_any(options) && !self.has_any(&["--help"]) {
            self.finding(self.words.len(), format!("`{name}` changes files"));
        }
    }

    fn revision_then_edited(
        &mut self,
        name: &str,
        operands: &[(usize, String)],
        plain_from: Option<usize>,
    ) {
        // A name with an ending is a file's.
        let named = texts(operands).all(git::is_name_of_a_file);
        let here = plain_from.is_none() && named && !operands.is_empty();
        let from = plain_from.unwrap_or(if here { 0 } else { usize::MAX });
        if from > 1 || operands.len() <= from {
            self.finding(
                self.words.len(),
                format!("`{name}` may switch to another revision; name files after `--`"),
            );
        }
        self.edits(texts(operands).skip(from));
    }

    fn sources_of_rustc(&mut self, operands: &[(usize, String)]) {
        self.reads(texts(operands));
        let refused = operands.iter().find(|(_, word)| !word.ends_with(".rs"));
        self.refuse(refused, |word| format!("`rustc` with `{word}` compiles other code"));
        if !operands.is_empty() && !self.has_any(&["-o", "--out-dir"]) {
            self.finding(self.words.len(), "`rustc` without `-o` or `--out-dir`".to_owned());
        }
    }

    /// `diff` of two folders compares the files in both, of a file and a folder the file of that
    /// name in it: unless all are called like files, it may read what no word names.
    fn compared(&mut self, operands: &[(usize, String)]) {
        self.reads(texts(operands));
        let is_file =
            |word: &str| matches!(word, "-" | "/dev/null") || git::is_name_of_a_file(word);
        let goes_through_folders = self.has_any(&["-r", "--recursive", "-N", "--new-file"])
            || !texts(operands).all(is_file);
        self.found.needs_sandbox |= goes_through_folders;
        self.found.descends |= goes_through_folders;
        if goes_through_folders {
            self.goes_through_store();
        }
    }

    fn pattern_then_paths(
        &mut self,
        name: &str,
        givers: &[&str],
        operands: &[(usize, String)],
        plain_from: Option<usize>,
    ) {
        let verb =
            |(_, word): &&(usize, String)| name == "yq" && words::holds("e ea eval eval-all", word);
        let skipped = usize::from(operands.first().filter(verb).is_some());
        let operands = operands.get(skipped..).unwrap_or_default();
        let program = operands
            .first()
            .filter(|(_, program)| matches!(name, "jq" | "yq") && reaches_out(program));
        self.refuse(program, |_| format!("this program of `{name}` reads more than its input"));
        if let Some((index, word)) = operands.first().filter(|_| name == "yq") {
            self.program_of_yq(*index, word, operands.len() - 1);
        }
        let skipped = usize::from(!self.has_any(givers));
        let paths = operands.get(skipped..).unwrap_or_default();
        if name == "git grep" {
            for (position, word) in texts(operands).enumerate().skip(skipped) {
                self.revision(word, plain_from.is_some_and(|from| position >= from));
            }
            self.chosen_by_pathspecs(name, texts(operands).skip(skipped));
        } else {
            self.reads(texts(paths));
        }
        if name == "yq" && self.has_any(IN_PLACE) {
            self.found.only_reads = false;
            self.edits(texts(paths));
        }
        if paths.is_empty() && matches!(name, "rg" | "git grep" | "grep" | "fd" | "fdfind") {
            self.reads(["."].into_iter());
        }
        if matches!(name, "rg" | "grep") && !self.has_any(&["--files"]) {
            self.searched(name, texts(paths).collect());
        }
    }

    fn revisions(&mut self, name: &str, operands: &[(usize, String)], plain_from: Option<usize>) {
        let any = operands.iter().find(|(_, word)| {
            name == "git cat-file"
                && git::path_of_revision(word).is_none()
                && git::may_be_any_object(word)
        });
        self.refuse(any, |word| format!("`{word}` could be any file; name it as `REVISION:PATH`"));
        for (position, word) in texts(operands).enumerate() {
            self.revision(word, plain_from.is_some_and(|from| position >= from));
        }
        self.chosen_by_pathspecs(name, texts(operands));
    }

    /// Notes what a rule has to spell out about an operand, where there is such an operand.
    pub(super) fn refuse(
        &mut self,
        operand: Option<&(usize, String)>,
        why: impl FnOnce(&str) -> String,
    ) {
        if let Some((index, word)) = operand {
            self.finding(*index, why(word));
        }
    }

    /// Whether one of these options was met.
    pub(super) fn has_any(&self, options: &[&str]) -> bool {
        self.options.iter().any(|met| options.contains(&met.as_str()))
    }

    pub(super) fn reads<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for word in words {
            self.found.reads.extend(path_use(word, self.folder));
        }
    }

    /// The repository's own folder holds protected files: nothing removes or replaces it.
    pub(super) fn edits<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
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
            .filter(|(side, _)| revision.is_empty() && side.len() == 1 && words::is_number(side))
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

    pub(super) fn perhaps(&mut self, word: &str) {
        let as_range = word.contains("..") && !word.contains('/');
        match path_use(word, self.folder) {
            Some(PathUse::Inside(path)) => self.found.reads.push(PathUse::Perhaps(path)),
            Some(PathUse::Outside(_)) if as_range && word != ".." => {}
            Some(used) => self.found.reads.push(used),
            None => {}
        }
    }
}

/// Returns the words of operands.
pub(super) fn texts(operands: &[(usize, String)]) -> impl Iterator<Item = &str> + Clone {
    operands.iter().map(|(_, word)| word.as_str())
}

/// The same; without one, the folder the command runs in.
fn or_here(operands: &[(usize, String)]) -> impl Iterator<Item = &str> + Clone {
    texts(operands).chain(Some(".").filter(|_| operands.is_empty()))
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
