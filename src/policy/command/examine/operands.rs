//! Words of a command that are not options: paths, revisions, names of tests, text.
//!
//! In: the words, and what the table says they are. Out: paths that are read or written, and
//! findings.

use crate::command::examine::examiner::{CommandOperands, Examiner, leaves};
use crate::command::examine::yq::IN_PLACE;
use crate::command::examine::{PathUse, path_use};
use crate::command::tables::index::IndexedTable;
use crate::command::tables::{OperandKind, ProgramEffect, compilers, git, tasks};
use crate::words;
use locum_base::path::RepoPath;

/// Programs that read more of their words from a file named after `@`, wherever it stands, besides
/// compilers.
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
    "javac",
    "javap",
    "rustc",
    "cargo clippy",
    "google-java-format",
    "objdump",
    "readelf",
    "size",
    "c++filt",
    "clang-format",
    "clang-tidy",
    "nm",
];

/// Programs that run code of the repository and take a word with `@` before it for a name.
const NAMES_WITH_AT: &str = "\
    pnpm-ls pnpm-list pnpm-why pnpm-root pnpm-outdated yarn-list yarn-why yarn-info cargo-test \
    cargo-t cargo-nextest cargo-bench cargo-run";

/// Options of scripts of a package that name what they write.
const WRITING_OPTIONS: &str = "\
    --coverage.reportsDirectory --coverageDirectory --out-dir --outDir --outfile --output-file \
    --outputFile";

impl Examiner<'_> {
    pub(super) fn operands(&mut self, known: &IndexedTable, name: &str, given: CommandOperands) {
        let table = known.table;
        let CommandOperands { mut operands, plain_from } = given;
        self.argument_file(known, name, &operands);
        if let Some(from) = plain_from.filter(|_| name == "clang-tidy") {
            let flags = operands.split_off(from.min(operands.len()));
            self.flags(name, &flags);
        }
        if is_script_of_a_package(name) {
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
            OperandKind::Words | OperandKind::Text => {}
            OperandKind::Plain => self.plain(name, operands),
            OperandKind::HarmlessKeys => self.harmless_keys(name, operands),
            OperandKind::Tasks => self.tasks(name, operands),
            OperandKind::Edited => self.edits(texts(operands)),
            OperandKind::ChangeThenEdited => self.edits(texts(operands).skip(1)),
            OperandKind::EditedWith(options) => self.edited_where(self.has_any(options), operands),
            OperandKind::EditedWithout(options) => {
                self.edited_where(!self.has_any(options), operands);
            }
            OperandKind::Program(endings) => self.program_of(name, endings, operands),
            OperandKind::OnlyWith(options) => {
                self.refuse(operands.first(), |word| format!("`{name}` with `{word}` does more"));
                self.changes_without(name, options);
            }
            OperandKind::PathsUnder(options) => {
                self.reads(texts(operands));
                self.changes_without(name, options);
            }
            OperandKind::RevisionThenEdited => {
                self.revision_then_edited(name, operands, plain_from);
            }
            OperandKind::Format => {
                let refused = operands.iter().find(|(_, word)| !word.starts_with('+'));
                self.refuse(refused, |word| format!("`{name}` with `{word}` does more than show"));
            }
            OperandKind::Copied => {
                let count = operands.len().saturating_sub(1);
                self.reads(texts(operands).take(count));
                self.edits(texts(operands).skip(count));
            }
            OperandKind::PatternsUnder(options)
                if plain_from.is_none() && self.has_any(options) => {}
            OperandKind::None | OperandKind::PatternsUnder(_) => {
                let refused = operands.first();
                self.refuse(refused, |word| format!("`{name}` with `{word}` does more than show"));
            }
            OperandKind::Only(listed) => self.only(name, listed, operands, plain_from),
            OperandKind::Paths if name == "rustc" => self.sources_of_rustc(operands),
            OperandKind::Paths if name == "diff" => self.compared(operands),
            OperandKind::PathsOrHere if operands.is_empty() => self.reads(["."].into_iter()),
            OperandKind::Paths | OperandKind::PathsOrHere => self.reads(texts(operands)),
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
                self.refuse(operands.get(2), |word| {
                    format!("`{name} --no-index` compares two files; `{word}` is one more")
                });
            }
            OperandKind::Revisions => self.revisions(name, operands, plain_from),
            OperandKind::Targets => self.targets(name, operands),
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
            tasks::may_be_secret(word) && !(name == "git config --get" && shown(word))
        });
        self.refuse(refused, |word| format!("`{word}` may hold credentials"));
        if operands.is_empty() {
            self.finding(self.words.len(), format!("`{name}` alone shows all there is"));
        }
    }

    fn tasks(&mut self, name: &str, operands: &[(usize, String)]) {
        let harmless: fn(&str) -> bool = match name {
            "mvn" | "./mvnw" | "mvnw" | "mvnd" => tasks::is_harmless_goal,
            "gradle" | "./gradlew" | "gradlew" => tasks::is_harmless_task,
            _ => tasks::is_harmless,
        };
        let tested = |word| tasks::tested_file(word).filter(|_| name == "rake");
        self.reads(texts(operands).filter_map(tested));
        let refused =
            operands.iter().find(|(_, word)| !harmless(word) && tested(word.as_str()).is_none());
        self.refuse(refused, |word| {
            format!("`{word}` of `{name}` is no task that only builds, tests or shows")
        });
    }

    /// Files that are read, and changed where the options say so.
    fn edited_where(&mut self, edited: bool, operands: &[(usize, String)]) {
        self.reads(texts(operands));
        if edited {
            self.found.only_reads = false;
            self.edits(texts(operands));
        }
    }

    /// A program of the repository, which some other one starts, and its words.
    fn program_of(&mut self, name: &str, endings: &[&str], operands: &[(usize, String)]) {
        let inside = |word: &str| {
            word == "."
                || word.starts_with("./")
                || endings.iter().any(|ending| word.ends_with(ending))
        };
        let program = operands.first();
        self.refuse(program.filter(|(_, word)| !inside(word)), |word| {
            format!("`{word}`, which `{name}` starts, does not lie in the repository")
        });
        self.reads(texts(operands).take(1));
        for (index, word) in operands {
            if tasks::reaches_out(word) {
                self.finding(*index, format!("`{word}` says that it reaches out"));
            } else if leaves(word, self.folder) {
                self.unfamiliar(*index, format!("`{word}` may be a path outside"));
            }
        }
    }

    fn changes_without(&mut self, name: &str, options: &[&str]) {
        if !self.has_any(options) {
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

    fn only(
        &mut self,
        name: &str,
        listed: &[&str],
        operands: &[(usize, String)],
        plain_from: Option<usize>,
    ) {
        // What follows `--` is for the tests that `tox` starts.
        let own = plain_from.filter(|_| name == "tox").unwrap_or(usize::MAX);
        self.reads(texts(operands).skip(own));
        let behind = operands.iter().skip(own).find(|(_, word)| word.starts_with('-'));
        let unlisted = operands.iter().take(own).find(|(_, word)| !listed.contains(&word.as_str()));
        for refused in [behind, unlisted] {
            self.refuse(refused, |word| format!("`{name}` with `{word}` does more than is known"));
        }
    }

    fn sources_of_rustc(&mut self, operands: &[(usize, String)]) {
        self.reads(texts(operands));
        let refused = operands.iter().find(|(_, word)| !word.ends_with(".rs"));
        self.refuse(refused, |word| format!("`rustc` with `{word}` compiles other code"));
        if !operands.is_empty() && self.found.edits.is_empty() {
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
    }

    fn targets(&mut self, name: &str, operands: &[(usize, String)]) {
        for (index, word) in operands {
            if word.contains('=') && name == "make" {
                self.finding(
                    *index,
                    "a variable given to `make` can change what it runs".to_owned(),
                );
            }
            if matches!(name, "make" | "ninja") && tasks::reaches_out(word) {
                self.finding(*index, format!("`{word}` says that it reaches out"));
            }
            let path = word.split("::").next().unwrap_or_default().trim_end_matches("...");
            if !path.is_empty() {
                self.perhaps(path);
            }
        }
    }

    /// Refuses a word that stands for all those that a file holds.
    fn argument_file(&mut self, known: &IndexedTable, name: &str, operands: &[(usize, String)]) {
        let is_file = |word: &str| word.len() > 1 && word.starts_with('@');
        let of_code = known.table.effect == ProgramEffect::RunsCode
            && !is_script_of_a_package(name)
            && !words::holds(NAMES_WITH_AT, &name.replace(' ', "-"));
        let anywhere = ARGUMENT_FILES.contains(&name) || words::holds(compilers::NAMES, name);
        let found = if anywhere {
            let start = known.words.len();
            self.words.iter().enumerate().skip(start).find(|(_, word)| is_file(word))
        } else {
            let found = operands.iter().find(|(_, word)| of_code && is_file(word));
            found.map(|(index, word)| (*index, word))
        };
        if let Some((index, word)) = found {
            let reason = format!(
                "`{name}` takes more words, options among them, from the file that `{word}` names"
            );
            self.finding(index, reason);
        }
    }

    /// Looks at what a script of a package is given: no code and no settings from elsewhere.
    fn words_of_a_script(&mut self, operands: &[(usize, String)]) {
        let mut before = "";
        for (index, word) in operands {
            let previous = std::mem::replace(&mut before, word);
            let (option, value) = word.split_once('=').unwrap_or((previous, word));
            let written = words::holds(WRITING_OPTIONS, option).then_some(value);
            if let Some(path) = written {
                self.edits([path].into_iter());
            } else if leaves(word, self.folder) {
                let reason = format!("`{word}` may be a path outside the repository");
                self.finding(*index, reason);
            }
        }
    }

    /// Notes what a rule has to spell out about an operand, where there is such an operand.
    fn refuse(&mut self, operand: Option<&(usize, String)>, why: impl FnOnce(&str) -> String) {
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

/// Returns the words of operands.
fn texts(operands: &[(usize, String)]) -> impl Iterator<Item = &str> + Clone {
    operands.iter().map(|(_, word)| word.as_str())
}

/// Returns true for scripts that `package.json` names: what they start is not known.
fn is_script_of_a_package(name: &str) -> bool {
    let (manager, verb) = name.split_once(' ').unwrap_or((name, ""));
    matches!(manager, "npm" | "yarn" | "pnpm")
        && words::holds("test t run run-script build lint", verb)
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
