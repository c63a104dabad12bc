//! What the words of one simple command would do: options looked up in the tables, operands turned
//! into paths that are read or written, and everything that a `:*` may not cover.
//!
//! In: literal words and the folder they run in. Out: an [`Examination`]. It knows no rules; the
//! policy weighs what is found.

mod operands;
mod options;

use crate::command::examine::options::short_cluster_has;
use crate::command::sed;
use crate::command::tables::index::{self, Known};
use crate::command::tables::{
    self, Effect, Operands, RUN_OTHERS, SHELL_WORDS, WITH_VERBS, WRAPPERS,
};
use crate::glob::PathGlob;
use locum_base::path::RepoPath;

/// What one simple command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// What `:*` does not cover, by the index of the word: a rule that spells that word out covers
    /// it.
    pub findings: Vec<Finding>,
    /// Files and folders it reads.
    pub reads: Vec<PathUse>,
    /// Files it writes.
    pub edits: Vec<PathUse>,
    /// Where no table says which words are paths: what any word of it, or a part of one, could
    /// name.
    pub perhaps: Vec<RepoPath>,
    /// Files that a shell finds by a pattern, and whether that is an absolute one.
    pub globs: Vec<(bool, PathGlob)>,
    /// Paths of another revision: if one is a folder, what is shown of it has no names from the
    /// root.
    pub trees: Vec<RepoPath>,
    /// Whether it also reads what lies in the folders it is given.
    pub descends: bool,
    /// Whether it runs code of the repository.
    pub runs_code: bool,
    /// Whether it is known to only read.
    pub only_reads: bool,
    /// Why no rule at all may allow it.
    pub never: Option<String>,
}

/// A word that `:*` does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which word.
    pub index: usize,
    /// Why.
    pub reason: String,
    /// Whether it only means that nothing is known of a verb or program.
    pub unfamiliar: bool,
}

/// A path a command uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathUse {
    /// In the repository.
    Inside(RepoPath),
    /// In the repository, if it is a path at all: only a refusal counts.
    Perhaps(RepoPath),
    /// Not in the repository.
    Outside(String),
}

impl PathUse {
    /// Returns the path, if it can be in the repository.
    #[must_use]
    pub fn inside(&self) -> Option<&RepoPath> {
        match self {
            Self::Inside(path) | Self::Perhaps(path) => Some(path),
            Self::Outside(_) => None,
        }
    }
}

/// Looks at the words of one simple command.
#[must_use]
pub fn examine(words: &[String], folder: &RepoPath) -> Examination {
    let mut looking =
        Looking { words, folder, found: Examination::default(), next: 1, known: false };
    looking.program();
    if !looking.known {
        looking.found.perhaps =
            words.iter().skip(1).flat_map(|word| nameable(word, folder)).collect();
        looking.leaving();
    }
    looking.found.descends = !looking.known || tables::descends(words);
    looking.found
}

/// Returns the paths that a word could name: the whole of it, and what stands around `=`, `:`, `,`
/// and `@` in it.
fn nameable<'w>(word: &'w str, folder: &'w RepoPath) -> impl Iterator<Item = RepoPath> + 'w {
    let pieces = word.split(['=', ':', ',', '@']).filter(move |piece| *piece != word);
    std::iter::once(word)
        .chain(pieces)
        .filter(|piece| !piece.is_empty())
        .filter_map(|piece| folder.join(piece).ok())
}

/// Returns true when a word, or what stands behind an option's name, `=`, `:`, `,` or `@` in it, is
/// a path that leaves the repository. Addresses of the network are no paths.
fn leaves(word: &str, folder: &RepoPath) -> bool {
    if ["https://", "http://"].iter().any(|scheme| word.contains(scheme)) {
        return false;
    }
    let attached = word
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))
        .and_then(|rest| rest.char_indices().nth(1).and_then(|(at, _)| rest.get(at..)));
    let pieces = word.split(['=', ':', ',', '@']).chain(attached).chain(std::iter::once(word));
    let outside = |piece: &str| {
        piece != "/dev/null"
            && (piece.starts_with(['/', '~'])
                || (piece.contains("..") && folder.join(piece).is_err()))
    };
    pieces.filter(|piece| !piece.is_empty()).any(outside)
}

fn starts_with(words: &[String], wanted: &[&str]) -> bool {
    words.len() >= wanted.len() && words.iter().zip(wanted).all(|(word, wanted)| word == wanted)
}

/// Returns the path a word names, seen from a folder; `None` for what is harmless anywhere (`-`,
/// `/dev/null`).
#[must_use]
pub fn path_use(word: &str, folder: &RepoPath) -> Option<PathUse> {
    if word == "-" || word == "/dev/null" {
        return None;
    }
    Some(folder.join(word).map_or_else(|_| PathUse::Outside(word.to_owned()), PathUse::Inside))
}

struct Looking<'w> {
    words: &'w [String],
    folder: &'w RepoPath,
    found: Examination,
    next: usize,
    /// Whether a table says which words are paths.
    known: bool,
}

impl Looking<'_> {
    fn program(&mut self) {
        let Some(program) = self.words.first().map(|word| word.to_lowercase()) else { return };
        let program = program.as_str();
        if SHELL_WORDS.contains(&program) {
            self.found.never =
                Some(format!("`{program}` changes what the shell does with later commands"));
            return;
        }
        if program.contains('/') {
            self.found.runs_code = true;
            self.finding(0, format!("`{program}` is a program named by its path"));
            return;
        }
        // `python -m pytest` is known although `python` is not.
        let module = index::of(program).iter().find(|known| {
            known.table.words.len() > 2 && starts_with(self.words, known.table.words)
        });
        if let Some(known) = module.filter(|_| !WITH_VERBS.contains(&program)) {
            self.next = known.table.words.len();
            self.by_table(known);
            return;
        }
        if RUN_OTHERS.contains(&program)
            || RUN_OTHERS.contains(
                &program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'),
            )
        {
            self.found.runs_code = true;
            let reason = format!(
                "`{program}` can run or write anything; a rule has to spell out every word of it"
            );
            if WRAPPERS.contains(&program) {
                self.finding(usize::MAX, reason)
            } else {
                self.unfamiliar(usize::MAX, reason)
            }
            return;
        }
        if let Some((index, word)) = tables::evaluated(program, self.words) {
            self.finding(
                index,
                format!("some shells evaluate what follows `{word}` of `{program}`"),
            );
        }
        match program {
            "test" | "[" => self.test(),
            "find" => self.find(),
            "sed" => self.sed(),
            program if WITH_VERBS.contains(&program) => self.with_verb(program),
            program => {
                if let Some(known) =
                    index::of(program).iter().find(|known| known.table.words.len() == 1)
                {
                    self.by_table(known);
                }
            }
        }
    }

    fn with_verb(&mut self, program: &str) {
        while program == "git"
            && self.words.get(self.next).is_some_and(|word| {
                matches!(word.as_str(), "--no-pager" | "-P" | "--no-optional-locks")
            })
        {
            self.next += 1;
        }
        let Some(verb) = self.words.get(self.next).cloned() else {
            self.finding(self.next, format!("`{program}` without a verb"));
            return;
        };
        if verb == "--version" && self.words.len() == 2 {
            (self.known, self.found.only_reads) = (true, true);
            return;
        }
        if verb.starts_with(['-', '+']) {
            self.finding(self.next, format!("the option `{verb}` before the verb of `{program}`"));
            return;
        }
        let second = self.words.get(self.next + 1).map(String::as_str);
        let found = index::of(program).iter().find(|known| match known.table.words {
            [_, one] => *one == verb,
            [_, one, two] => *one == verb && second == Some(two),
            _ => false,
        });
        match found {
            Some(known) => {
                self.next += known.table.words.len() - 1;
                if known.table.words.get(1) == Some(&"nextest") {
                    match second {
                        Some("run" | "list") => self.next += 1,
                        Some(other) if !other.starts_with('-') => {
                            self.finding(
                                self.next,
                                format!("`cargo nextest {other}` is not known to be harmless"),
                            );
                        }
                        Some(_) | None => {}
                    }
                }
                self.by_table(known);
            }
            None if program == "git" && !tables::is_verb_of_git(&verb) => {
                self.found.runs_code = true;
                self.finding(
                    self.next,
                    format!(
                        "`{verb}` is no verb of git's own: it could be an alias, which runs \
                         anything"
                    ),
                );
            }
            None if program == "git" && tables::git_shows_everything(&verb, second) => {
                self.finding(
                    self.next,
                    format!("`git {verb}` shows files that are hidden with all others"),
                );
            }
            None => {
                self.unfamiliar(
                    self.next,
                    format!("`{program} {verb}` is not known to be harmless"),
                );
                self.found.runs_code = program != "git";
                for index in self.next + 1..self.words.len() {
                    if self
                        .words
                        .get(index)
                        .is_some_and(|word| word.starts_with('-') && word.len() > 1)
                    {
                        self.unfamiliar(
                            index,
                            format!("no table says what this option of `{program} {verb}` does"),
                        );
                    }
                }
            }
        }
    }

    fn by_table(&mut self, known: &Known) {
        let table = known.table;
        self.known = true;
        self.found.runs_code = table.effect == Effect::RunsCode;
        self.found.only_reads = table.effect == Effect::Reads;
        let name = table.words.join(" ");
        let mut operands: Vec<(usize, String)> = Vec::new();
        let mut pattern_given = false;
        let mut recursive = false;
        let mut plain_from = None;
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            let is_option = word.len() > 1
                && word.starts_with('-')
                && plain_from.is_none()
                && table.operands != Operands::Words;
            if !is_option {
                operands.push((index, word));
            } else if word == "--" {
                plain_from = Some(operands.len());
            } else {
                let option = word.split('=').next().unwrap_or_default();
                if let Operands::PatternThenPaths(givers) = table.operands {
                    pattern_given |= givers.iter().any(|giver| {
                        *giver == option
                            || (giver.len() == 2 && short_cluster_has(known, &word, giver))
                    });
                }
                recursive |= matches!(option, "-r" | "-R" | "--recursive")
                    || (!word.starts_with("--") && word.contains(['r', 'R']));
                self.option(known, &name, index, &word);
            }
        }
        if let Some(index) = tables::follows_a_folder(self.words) {
            self.finding(
                index,
                "`--follow` shows everything in a folder; give it one file".to_owned(),
            );
        }
        self.operands(table, &name, operands, pattern_given, plain_from);
        if name == "grep"
            && recursive
            && self
                .found
                .reads
                .iter()
                .all(|read| matches!(read, PathUse::Inside(path) if path.is_root()))
        {
            self.finding(
                self.words.len(),
                "`grep -r` over the whole repository also reads hidden files and git's own; name \
                 folders, or use `rg`"
                    .to_owned(),
            );
        }
    }

    /// A test of files or texts: what follows an operator about a file is read.
    fn test(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let about_files = |word: &str| {
            matches!(word, "-nt" | "-ot" | "-ef")
                || (word.len() == 2
                    && word.starts_with('-')
                    && word.ends_with(|letter| "abcdefghkprsuwxGLNOS".contains(letter)))
        };
        for pair in self.words.windows(2) {
            if let [operator, operand] = pair
                && about_files(operator)
            {
                self.found.reads.extend(path_use(operand, self.folder));
            }
        }
    }

    fn find(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let mut starts = 0;
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            if matches!(word.as_str(), "-H" | "-P") {
                continue;
            }
            if !word.starts_with(['-', '(', ')', '!', ',']) {
                starts += 1;
                self.found.reads.extend(path_use(&word, self.folder));
                continue;
            }
            match find_arguments(&word) {
                Some(count) => {
                    if matches!(word.as_str(), "-newer" | "-anewer" | "-cnewer" | "-samefile") {
                        let file = self.words.get(self.next).cloned().unwrap_or_default();
                        self.found.reads.extend(path_use(&file, self.folder));
                    }
                    self.next += count;
                }
                None => self.finding(
                    index,
                    format!("`find {word}` may write, run programs or leave the repository"),
                ),
            }
        }
        if starts == 0 {
            self.reads(["."].into_iter());
        }
    }

    fn sed(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let mut scripts: Vec<(usize, String)> = Vec::new();
        let mut files: Vec<(usize, String)> = Vec::new();
        let mut in_place = false;
        let mut plain = false;
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            match word.as_str() {
                "--" if !plain => plain = true,
                "-i" | "--in-place" if !plain => in_place = true,
                "-e" | "--expression" if !plain => {
                    scripts.extend(self.take_next().map(|script| (index + 1, script)))
                }
                "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-nE" | "-En" | "-nr" | "--quiet"
                | "--silent" | "--regexp-extended" | "--separate" | "--posix" | "--sandbox"
                    if !plain => {}
                option if !plain && option.len() > 1 && option.starts_with('-') => {
                    self.unlisted("sed", index, option)
                }
                _ => files.push((index, word)),
            }
        }
        if scripts.is_empty() && !files.is_empty() {
            scripts.push(files.remove(0));
        }
        for (index, script) in scripts {
            if let Err(why) = sed::check(&script) {
                self.finding(index, why);
            }
        }
        let paths: Vec<PathUse> =
            files.iter().filter_map(|(_, word)| path_use(word, self.folder)).collect();
        if in_place {
            self.found.only_reads = false;
            self.found.edits.extend(paths.clone());
        }
        self.found.reads.extend(paths);
    }

    /// Words that could name something outside the repository: whatever the program does with them,
    /// nobody said that it may.
    fn leaving(&mut self) {
        for (index, word) in self.words.iter().enumerate().skip(1) {
            if leaves(word, self.folder) {
                self.unfamiliar(index, format!("`{word}` may be a path outside the repository"));
            }
        }
    }

    fn unlisted(&mut self, name: &str, index: usize, word: &str) {
        self.finding(index, format!("the option `{word}` of `{name}` is not known to be harmless"));
    }

    fn unfamiliar(&mut self, index: usize, reason: String) {
        self.found.findings.push(Finding { index, reason, unfamiliar: true });
    }

    fn finding(&mut self, index: usize, reason: String) {
        self.found.findings.push(Finding { index, reason, unfamiliar: false });
    }
}

/// Returns how many words a harmless predicate of find takes.
fn find_arguments(word: &str) -> Option<usize> {
    match word {
        "(" | ")" | "!" | "," | "-not" | "-a" | "-and" | "-o" | "-or" | "-empty" | "-true"
        | "-false" | "-readable" | "-writable" | "-executable" | "-print" | "-print0"
        | "-prune" | "-depth" | "-mount" | "-xdev" | "-ls" | "-daystart" | "-noleaf"
        | "-nouser" | "-nogroup" | "-quit" | "-warn" | "-nowarn" => Some(0),
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" | "-regex"
        | "-iregex" | "-regextype" | "-type" | "-xtype" | "-maxdepth" | "-mindepth" | "-size"
        | "-mtime" | "-mmin" | "-atime" | "-amin" | "-ctime" | "-cmin" | "-newer" | "-anewer"
        | "-cnewer" | "-perm" | "-user" | "-group" | "-uid" | "-gid" | "-links" | "-inum"
        | "-lname" | "-ilname" | "-samefile" | "-printf" | "-fstype" | "-used" => Some(1),
        _ => None,
    }
}
