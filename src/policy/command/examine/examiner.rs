//! `Examiner`: goes through the words of one simple command: the program, its verb, its options and
//! what is left.
//!
//! In: literal words and the folder they run in. Out: a `CommandEffects`. What single programs
//! need that no table can say is in `programs`.

use crate::command::examine::word_paths::{leaves, nameable};
use crate::command::examine::{CommandEffects, PathUse, StartedCommand, UncoveredWord};
use crate::command::tables::index::{self, IndexedTable};
use crate::command::tables::launcher::WrapperKind;
use crate::command::tables::programs::{self, ProgramRunner, WITH_VERBS};
use crate::command::tables::wrappers;
use crate::command::tables::{OperandKind, ProgramEffect, git, spelling, text, verbs};
use crate::words;
use locum_base::path::RepoPath;

impl CommandEffects {
    /// Looks at the words of one simple command.
    pub fn of(words: &[String], folder: &RepoPath) -> Self {
        Examiner::started(words, folder).0
    }
}

pub(super) struct Examiner<'w> {
    pub(super) words: &'w [String],
    pub(super) folder: &'w RepoPath,
    pub(super) found: CommandEffects,
    pub(super) next: usize,
    /// Whether a table says which words are paths.
    pub(super) known: bool,
    /// Names of the options that were met, as the table has them.
    pub(super) options: Vec<String>,
}

/// The words of a command that are not options.
#[derive(Default)]
pub(super) struct CommandOperands {
    /// The words with their indexes.
    pub(super) operands: Vec<(usize, String)>,
    /// From which operand on all words are plain, behind `--`.
    pub(super) plain_from: Option<usize>,
}

impl Examiner<'_> {
    fn program(&mut self) {
        let Some(program) = self.words.first().map(|word| word.to_lowercase()) else { return };
        let program = program.as_str();
        if let Some((usual, (mut effects, known))) = self.elsewhere().or_else(|| self.usual()) {
            if program.contains('/') {
                (effects.runs_code, effects.only_reads) = (true, false);
            }
            self.known = known;
            self.found = CommandEffects { only_starts: true, ..effects.clone() };
            for finding in &mut self.found.findings {
                finding.started = true;
            }
            self.found.starts = vec![StartedCommand { words: usual, effects }];
            return;
        }
        if self.asks_a_launcher() || self.launches() {
            return;
        }
        let known = index::of(program)
            .iter()
            .find(|known| known.words.len() > 1 && words::begin(self.words, &known.words));
        if let Some(known) = known.filter(|_| !WITH_VERBS.contains(&program)) {
            self.next = known.words.len();
            self.by_table(known);
            return;
        }
        if let Some((at, kind)) = wrappers::inner(self.words) {
            return self.behind(at, kind);
        }
        if program == "set" && self.sets_only_when_to_stop() {
            (self.known, self.found.only_reads) = (true, true);
            return;
        }
        if programs::is_shell_word(program) {
            self.found.never =
                Some(format!("`{program}` changes what the shell does with later commands"));
            return;
        }
        let alone = index::of(program).iter().find(|known| known.words.len() == 1);
        if program.contains('/') && alone.is_none() {
            self.found.runs_code = true;
            self.finding(0, format!("`{program}` is a program named by its path"));
            return;
        }
        if wrappers::is_named(self.words) {
            self.found.runs_code = true;
            let reason = format!("what `{program}` starts here is not known");
            self.finding(usize::MAX, reason);
            return;
        }
        let runner = programs::runner_of_any_version(program).filter(|_| alone.is_none());
        let is_known = alone.is_some() || runner == Some(ProgramRunner::Interpreter);
        if self.asks_for_help(alone, is_known)
            || self.script(program)
            || (program == "java" && self.java())
            || (program == "tar" && self.tar())
        {
            return;
        }
        if let Some(runner) = runner {
            self.found.runs_code = true;
            let reason = format!(
                "`{program}` can run or write anything; a rule has to spell out every word of it"
            );
            match runner {
                ProgramRunner::Wrapper => self.finding(usize::MAX, reason),
                ProgramRunner::Interpreter => self.unfamiliar(usize::MAX, reason),
            }
            return;
        }
        if let Some((index, word)) = programs::evaluated(program, self.words) {
            self.finding(
                index,
                format!("some shells evaluate what follows `{word}` of `{program}`"),
            );
        }
        match program {
            "test" | "[" => self.test(),
            "find" => self.find(),
            "sed" => self.sed(),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(),
            program if WITH_VERBS.contains(&program) => self.with_verb(program),
            _ => alone.into_iter().for_each(|known| self.by_table(known)),
        }
    }

    /// The same command in another spelling, examined.
    fn usual(&self) -> Option<(Vec<String>, (CommandEffects, bool))> {
        let usual = spelling::usual(self.words)?;
        let examined = Self::started(&usual, self.folder);
        Some((usual, examined))
    }

    /// The same command without the folder it names first, examined in that folder. Absolute paths
    /// among its words were made relative to this one, so it is examined here as well.
    fn elsewhere(&self) -> Option<(Vec<String>, (CommandEffects, bool))> {
        let (folder, words) = verbs::folder(self.words)?;
        let folder = self
            .folder
            .join(folder)
            .ok()
            .filter(|folder| !folder.parts().any(|part| part.eq_ignore_ascii_case(".git")))?;
        let (mut effects, mut known) = Self::started(&words, &folder);
        if folder != *self.folder {
            let (here, is_known) = Self::started(&words, self.folder);
            (effects, known) = (effects.and(here), known && is_known);
            effects.reads.push(PathUse::Perhaps(folder));
        }
        Some((words, (effects, known)))
    }

    /// Returns true for a program that is known and only asked for its version or its options. One
    /// that runs code of the repository may load some even so.
    fn asks_for_help(&mut self, alone: Option<&IndexedTable>, is_known: bool) -> bool {
        let program = self.words.first().map_or("", String::as_str);
        let by_words = matches!(program, "find" | "sed" | "awk" | "gawk" | "mawk" | "nawk");
        let known = is_known || by_words;
        // A single letter may be another option of a program whose options a table has.
        let short = alone.is_none() && !by_words;
        let asks = matches!(self.words, [_, option] if option == "--version" || option == "--help"
            || (short && matches!(option.as_str(), "-version" | "-V" | "-v")));
        if !known || !asks || program.contains('/') {
            return false;
        }
        self.known = true;
        self.found.runs_code =
            alone.is_some_and(|known| known.table.effect == ProgramEffect::RunsCode);
        self.found.only_reads = !self.found.runs_code;
        true
    }

    /// Returns true for a program that starts others and is only asked for its options.
    fn asks_a_launcher(&mut self) -> bool {
        let Some(kind) = wrappers::asked(self.words) else { return false };
        self.known = true;
        self.found.runs_code = kind != WrapperKind::Plain;
        self.found.only_reads = !self.found.runs_code;
        true
    }

    /// Looks at the program that another one starts.
    fn behind(&mut self, at: usize, kind: WrapperKind) {
        let inner = self.words.get(at..).unwrap_or_default();
        let (effects, known) = Self::started(inner, self.folder);
        self.known = known;
        self.starts_instead(at, StartedCommand { words: inner.to_vec(), effects });
        if kind != WrapperKind::Plain {
            (self.found.runs_code, self.found.only_reads) = (true, false);
        }
        let started = inner.first().map_or("", String::as_str);
        let program = self.words.first().map_or("", String::as_str);
        let reason = if kind == WrapperKind::Module {
            format!("no rule names the module `{started}`, which `{program} -m` runs")
        } else {
            format!("`{program}` starts `{started}`, and no rule names that")
        };
        self.starts_program(at, reason, kind == WrapperKind::Module);
    }

    /// Takes over what a command does that stands from a word on, beside what is found already.
    pub(super) fn starts_instead(&mut self, at: usize, started: StartedCommand) {
        let before = std::mem::take(&mut self.found);
        self.found = CommandEffects {
            runs_code: before.runs_code || started.effects.runs_code,
            only_reads: started.effects.only_reads && !before.runs_code,
            ..started.effects.clone()
        };
        for finding in &mut self.found.findings {
            finding.index = finding.index.saturating_add(at);
            finding.started = true;
        }
        self.found.findings.extend(before.findings);
        self.found.reads.extend(before.reads);
        self.found.edits.extend(before.edits);
        self.found.starts = vec![started];
        // A rule has to name it, unless it is only another spelling.
        self.found.only_starts = false;
    }

    /// Notes that a rule has to name what is started, or allow it by itself.
    pub(super) fn starts_program(&mut self, index: usize, reason: String, unfamiliar: bool) {
        self.found.findings.push(UncoveredWord { index, reason, unfamiliar, started: true });
    }

    /// Looks at a command inside this one; returns also whether a table says which of its words are
    /// paths.
    pub(super) fn started(words: &[String], folder: &RepoPath) -> (CommandEffects, bool) {
        let found = CommandEffects::default();
        let mut examiner =
            Examiner { words, folder, found, next: 1, known: false, options: Vec::new() };
        examiner.program();
        examiner.finish()
    }

    /// Notes what follows from how much is known.
    fn finish(mut self) -> (CommandEffects, bool) {
        if !self.known {
            let named = self.words.iter().skip(1).flat_map(|word| nameable(word, self.folder));
            self.found.perhaps = named.collect();
            self.leaving();
            self.refuse_protected_from(1);
        } else if self.words.first().is_some_and(|program| program.eq_ignore_ascii_case("type")) {
            // Where it is no word of the shell, it shows files.
            let named = self.words.iter().skip(1).flat_map(|word| nameable(word, self.folder));
            self.found.perhaps.extend(named);
        }
        self.found.is_known = self.known;
        self.found.descends |= !self.known || programs::descends(self.words);
        (self.found, self.known)
    }

    fn with_verb(&mut self, program: &str) {
        self.next += verbs::dropped(self.words);
        let Some(verb) = self.words.get(self.next).cloned() else {
            self.finding(self.next, format!("`{program}` without a verb"));
            return;
        };
        if matches!(verb.as_str(), "--version" | "--help" | "-v" | "-V" | "-vV" | "-h")
            && self.words.len() == 2
        {
            self.known = true;
            // Files of the repository may say which program these are.
            self.found.runs_code = matches!(program, "npm" | "pnpm" | "yarn" | "bundle");
            self.found.only_reads = !self.found.runs_code;
            return;
        }
        if verb.starts_with(['-', '+']) {
            self.finding(self.next, format!("the option `{verb}` before the verb of `{program}`"));
            return;
        }
        let second = self.words.get(self.next + 1).map(String::as_str);
        let found = index::of(program).iter().find(|known| match known.words.as_slice() {
            [_, one] => *one == verb,
            [_, one, two] => *one == verb && second == Some(*two),
            _ => false,
        });
        match found {
            Some(known) => {
                self.next += known.words.len() - 1;
                self.by_table(known);
            }
            None if program == "git" && !git::is_own_verb(&verb) => {
                self.found.runs_code = true;
                self.finding(
                    self.next,
                    format!(
                        "`{verb}` is not a verb of git's own: it could be an alias, which runs \
                         anything"
                    ),
                );
            }
            None if program == "git" && git::shows_everything(&verb, second) => {
                self.found.shows_hidden = true;
                // `git stash` alone shows nothing, nor does `git worktree`.
                self.finding(
                    self.next + usize::from(matches!(verb.as_str(), "stash" | "worktree")),
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
                            format!(
                                "the option `{}` of `{program} {verb}` is not known to be harmless",
                                self.words.get(index).map_or("", String::as_str)
                            ),
                        );
                    }
                }
            }
        }
    }

    fn by_table(&mut self, known: &IndexedTable) {
        let table = known.table;
        self.found.runs_code = table.effect == ProgramEffect::RunsCode;
        if known.is_partial && !self.has_only_known_options(&known.options) {
            return;
        }
        self.known = true;
        self.found.only_reads = table.effect == ProgramEffect::Reads;
        let name = known.words.join(" ");
        let passes_options_on = spelling::passes_options_on(&name);
        let mut given = CommandOperands::default();
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            // What follows a program is for that one.
            let is_behind =
                matches!(table.operands, OperandKind::Program(_)) && !given.operands.is_empty();
            let is_plain =
                is_behind || given.plain_from.is_some() || table.operands == OperandKind::Words;
            if !is_plain && name == "go test" && matches!(word.as_str(), "-args" | "--args") {
                self.words_for_tests(self.next);
                break;
            }
            if is_plain || word.len() < 2 || !word.starts_with('-') {
                given.operands.push((index, word));
            } else if word == "--" {
                given.plain_from = Some(given.operands.len());
            } else if passes_options_on && !known.options.read(self.words, index).is_known {
                given.operands.push((index, word));
            } else {
                self.option(&known.options, &name, index);
            }
        }
        if let Some(index) = git::follows_a_folder(self.words) {
            self.finding(
                index,
                "`--follow` shows everything in a folder; give it one file".to_owned(),
            );
        }
        self.operands(known, &name, given);
        let all_of_it = || {
            let mut reads = self.found.reads.iter();
            reads.all(|read| matches!(read, PathUse::Inside(path) if path.is_root()))
        };
        let follows = self.has_any(&["-R", "--dereference-recursive"]);
        let recursive = follows || self.has_any(&["-r", "--recursive"]);
        let copies = name == "cp" && (recursive || self.has_any(&["-a", "--archive"]));
        if (name == "grep" && recursive && (follows || all_of_it()))
            || copies
            // What is shown as source is named in the file that it reads.
            || matches!(name.as_str(), "go tool cover" | "go tool objdump" | "go tool pprof")
            || matches!(name.as_str(), "objdump" | "cppcheck")
            || (name == "shellcheck" && self.has_any(&["-x", "--external-sources"]))
            || (name == "rg" && self.options.iter().any(|met| text::finds_more(met)))
        {
            // What is hidden is left out by its name, and kept from being read by the sandbox.
            self.found.needs_sandbox = true;
        }
    }

    /// Words that could name something outside the repository: whatever the program does with them,
    /// no table says that it is harmless.
    fn leaving(&mut self) {
        for (index, word) in self.words.iter().enumerate().skip(1) {
            if leaves(word, self.folder) {
                self.unfamiliar(index, format!("`{word}` may be a path outside the repository"));
            }
        }
    }

    pub(super) fn unlisted(&mut self, name: &str, index: usize, word: &str) {
        self.finding(index, format!("the option `{word}` of `{name}` is not known to be harmless"));
    }

    pub(super) fn unfamiliar(&mut self, index: usize, reason: String) {
        self.found.findings.push(UncoveredWord { index, reason, unfamiliar: true, started: false });
    }

    pub(super) fn finding(&mut self, index: usize, reason: String) {
        self.found.findings.push(UncoveredWord {
            index,
            reason,
            unfamiliar: false,
            started: false,
        });
    }
}
