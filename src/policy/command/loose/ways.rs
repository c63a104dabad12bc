//! What a command does some of whose words a shell works out: it is looked at in each way it may
//! come out.
//!
//! In: a command with what is known of its words. Out: what it does whichever way it is. A word of
//! which nothing is known counts as one that may mean harm.

use crate::command::UNKNOWN;
use crate::command::examine::{CommandEffects, PathUse, UncoveredWord, fed, given, path_use};
use crate::command::loose::{HASH, LoopValue, LooseCommand, NUMBER, UnknownWord, kept};
use crate::command::tables::index;
use crate::command::tables::programs::{self, ANY_WORD};
use crate::glob::PathGlob;
use locum_base::path::RepoPath;

/// Most ways in which a command is looked at.
const WAYS_LIMIT: usize = 64;

/// What stands for the letters that a glob matches, and what else could.
const LETTERS: [&str; 2] = ["x", "y"];

impl UnknownWord {
    /// Returns why a program may take it for something else than it looks like.
    fn danger(&self, program: &str) -> Option<String> {
        match self {
            Self::Value | Self::Names(_) | Self::Home(_) => {
                Some(format!("what a shell makes of this word may mean anything to `{program}`"))
            }
            // What matches is the same option with another value.
            Self::Files(glob) if is_text_option(program, glob) => None,
            Self::Files(glob) if glob.starts_with(['*', '?', '-']) => {
                Some(format!("a file may have the name of an option; write `./{glob}`"))
            }
            Self::Files(_) | Self::OneOf(_) | Self::Pipe => None,
        }
    }
}

/// What is changed where globs stand for files.
struct ChangedFiles {
    /// What no glob stands for.
    edits: Vec<PathUse>,
    /// All files that these match.
    globs: Vec<PathGlob>,
}

impl LooseCommand {
    /// Looks at a command some of whose words are not known before it runs: at each way it may come
    /// out, where those are known.
    pub fn examine(&self, folder: &RepoPath) -> CommandEffects {
        if let Some(refused) = &self.refused {
            let never = Some(refused.clone());
            return CommandEffects { never, ..CommandEffects::default() };
        }
        if self.unknown.iter().any(|(_, what)| matches!(what, UnknownWord::Home(_))) {
            return self.examine_at_home(folder);
        }
        let program = self.program();
        // To what only reads, a folder stands for the files below it.
        let only_reads = fed::only_reads(program);
        let checks_names = fed::checks_files(self.own_words(), UNKNOWN);
        let mut is_given_files = false;
        let mut ways = vec![self.clone()];
        for (place, (index, unknown)) in self.unknown.iter().enumerate() {
            let mut all = Vec::new();
            match unknown {
                // What it says is all the same.
                UnknownWord::OneOf(_) if prints(program) && *index > self.assignments => continue,
                UnknownWord::OneOf(values) => {
                    for value in values {
                        match value {
                            LoopValue::Below(folders) if only_reads => {
                                is_given_files = true;
                                all.extend(folders.iter().cloned().map(LoopValue::Text));
                            }
                            value => all.push(value.clone()),
                        }
                    }
                }
                UnknownWord::Names(folders) if checks_names => {
                    is_given_files = true;
                    all.extend(folders.iter().cloned().map(LoopValue::Text));
                }
                _ => continue,
            }
            // There may be no file.
            let may_be_none = matches!(unknown, UnknownWord::Names(_));
            let of_way = |way: &Self| {
                let mut given: Vec<Self> = all.iter().map(|value| way.with(place, value)).collect();
                given.extend(may_be_none.then(|| way.without(place)));
                given
            };
            ways = ways.iter().flat_map(of_way).collect();
            if ways.len() > WAYS_LIMIT {
                let never = Some("the script has too many loops in each other".to_owned());
                return CommandEffects { never, ..CommandEffects::default() };
            }
        }
        let mut effects = ways.iter().map(|way| without_empty_names(way.examine_one(folder)));
        let first = effects.next().unwrap_or_default();
        let mut found = effects.fold(first, CommandEffects::and);
        found.needs_sandbox |= is_given_files;
        self.names_a_sample(&mut found);
        found
    }

    /// Returns the words behind the assignments.
    fn own_words(&self) -> &[String] {
        self.simple.words.get(self.assignments..).unwrap_or_default()
    }

    fn program(&self) -> &str {
        self.own_words().first().map_or("", String::as_str)
    }

    /// Looks at a command that names what a tool keeps in a home. To what only reads it is known;
    /// anything else may be done with it.
    fn examine_at_home(&self, folder: &RepoPath) -> CommandEffects {
        let with = |of_home: fn(&str) -> UnknownWord| {
            let known = |(index, what): &(usize, UnknownWord)| match what {
                UnknownWord::Home(path) => (*index, of_home(path)),
                what => (*index, what.clone()),
            };
            let unknown = self.unknown.iter().map(known).collect();
            Self { unknown, ..self.clone() }.examine(folder)
        };
        let mut found = with(|path| {
            if path.contains(['*', '?']) {
                UnknownWord::Files(path.to_owned())
            } else {
                UnknownWord::OneOf(vec![LoopValue::Text(path.to_owned())])
            }
        });
        if !found.only_reads || !found.edits.is_empty() {
            return with(|_| UnknownWord::Value);
        }
        // It prints names, as `ls` does.
        if self.program() == "find" && found.starts.is_empty() {
            let at_home =
                |used: &PathUse| matches!(used, PathUse::Outside(path) if path.starts_with("~/"));
            found.reads.retain(|used| !at_home(used));
        }
        found
    }

    /// Refuses a number, a commit or a package as the name of a file: any file could be called like
    /// that.
    fn names_a_sample(&self, found: &mut CommandEffects) {
        let holds = |text: &str| [NUMBER, HASH].iter().any(|sample| text.contains(sample));
        let names = |used: &PathUse| match used {
            PathUse::Inside(path) => holds(path.as_str()),
            PathUse::Outside(path) => holds(path) && !path.starts_with("/tmp/"),
            // Only if there is no such number or commit.
            PathUse::Perhaps(_) | PathUse::Scratch(_) => false,
        };
        let mut used = found.reads.iter().chain(&found.edits);
        if used.any(names) || found.trees.iter().any(|path| holds(path.as_str())) {
            let index = self.unknown.first().map_or(usize::MAX, |(index, _)| *index);
            let reason = "a number, a commit or a package that is not known before it runs would \
                          be the name of a file"
                .to_owned();
            let finding = UncoveredWord { unfamiliar: false, started: false, index, reason };
            found.findings.push(finding);
        }
    }

    /// Returns the command with a value for one of its unknown words.
    fn with(&self, place: usize, value: &LoopValue) -> Self {
        let mut way = self.clone();
        let Some((index, unknown)) = way.unknown.get_mut(place) else { return way };
        match value {
            LoopValue::Files(glob) => *unknown = UnknownWord::Files(glob.clone()),
            LoopValue::Below(_) => *unknown = UnknownWord::Value,
            // Without quotes, nothing is no word.
            LoopValue::Text(text) | LoopValue::Like(text)
                if text.is_empty() && self.is_bare(*index) =>
            {
                return self.without(place);
            }
            LoopValue::Text(text) | LoopValue::Like(text) => {
                if let Some(word) = way.simple.words.get_mut(*index) {
                    word.clone_from(text);
                }
                // Its place is known now, and where the program stands nothing may be unknown.
                *unknown = UnknownWord::OneOf(Vec::new());
            }
        }
        way
    }

    /// Whether a word behind the program stands without quotes.
    fn is_bare(&self, index: usize) -> bool {
        let written = self.simple.written.get(index);
        index > self.assignments && written.is_some_and(|raw| !raw.contains(['"', '\'']))
    }

    /// Returns the command without one of its unknown words.
    fn without(&self, place: usize) -> Self {
        let mut way = self.clone();
        let Some(index) = way.unknown.get(place).map(|(index, _)| *index) else { return way };
        for words in [&mut way.simple.words, &mut way.simple.written] {
            if index < words.len() {
                words.remove(index);
            }
        }
        for (other, _) in way.unknown.iter_mut().filter(|(other, _)| *other > index) {
            *other -= 1;
        }
        if let Some(gone) = way.unknown.get_mut(place) {
            *gone = (usize::MAX, UnknownWord::OneOf(Vec::new()));
        }
        way
    }

    /// Returns the words with this in the place of what globs match.
    fn sampled(&self, letters: &str) -> Vec<String> {
        let mut words = self.own_words().to_vec();
        let program = self.program();
        let is_other = !is_known(program) && !is_of_shell(program);
        for (index, unknown) in &self.unknown {
            let at = index.checked_sub(self.assignments);
            let Some(word) = at.and_then(|at| words.get_mut(at)) else { continue };
            match unknown {
                UnknownWord::OneOf(values) if values.is_empty() => {}
                UnknownWord::Files(glob) => *word = sample_of(glob, letters),
                UnknownWord::Pipe => "-".clone_into(word),
                UnknownWord::Value if is_other && *index > self.assignments => {
                    *word = sample_of(&kept::plain(self.written(*index)), letters);
                }
                UnknownWord::Value
                | UnknownWord::OneOf(_)
                | UnknownWord::Names(_)
                | UnknownWord::Home(_) => "x".clone_into(word),
            }
        }
        words
    }

    /// Returns how a word is written.
    fn written(&self, index: usize) -> &str {
        self.simple.written.get(index).map_or("$", String::as_str)
    }

    /// Returns findings on words that may name what is protected, by themselves or where a loop
    /// gives them a name.
    fn protected_words(&self, folder: &RepoPath) -> Vec<UncoveredWord> {
        let mut findings = Vec::new();
        for (index, unknown) in self.unknown.iter().filter(|(index, _)| *index > self.assignments) {
            let raw = self.written(*index);
            let texts: Vec<String> = match unknown {
                UnknownWord::Files(glob) => vec![glob.clone()],
                UnknownWord::Value => {
                    let listed = self.listed.iter();
                    let of_loops =
                        listed.filter_map(|(name, value)| kept::with_value(raw, name, value));
                    let below = kept::behind_expansion(raw).map(str::to_owned);
                    std::iter::once(raw.to_owned()).chain(of_loops).chain(below).collect()
                }
                UnknownWord::OneOf(_)
                | UnknownWord::Names(_)
                | UnknownWord::Pipe
                | UnknownWord::Home(_) => continue,
            };
            let why = texts.iter().find_map(|text| {
                let plain = kept::plain(text);
                let named = kept::of_option(&plain).and_then(|value| kept::why(value, folder));
                named.or_else(|| kept::why(&plain, folder))
            });
            let index = *index;
            findings.extend(why.map(|reason| UncoveredWord {
                unfamiliar: false,
                started: false,
                index,
                reason,
            }));
        }
        findings
    }

    fn globs(&self) -> impl Iterator<Item = (usize, &str)> {
        self.unknown.iter().filter_map(|(index, unknown)| match unknown {
            UnknownWord::Files(glob) => Some((*index, glob.as_str())),
            _ => None,
        })
    }

    fn examine_one(&self, folder: &RepoPath) -> CommandEffects {
        let before = self.assignments;
        let [letters, others] = LETTERS;
        let words = self.sampled(letters);
        let program = words.first().cloned().unwrap_or_default();
        let tolerant = ANY_WORD.contains(&program.as_str());
        let known = is_known(&program);
        let finding = |index: usize, reason| UncoveredWord {
            unfamiliar: false,
            started: false,
            index,
            reason,
        };
        let mut findings = Vec::new();
        let mut never = None;
        for (index, unknown) in &self.unknown {
            let at = index.checked_sub(before).filter(|at| *at < words.len());
            match at {
                None => {}
                Some(0) => {
                    never = Some("the name of the program is not known before it runs".to_owned());
                }
                Some(_) if known && !tolerant => {
                    findings.extend(unknown.danger(&program).map(|reason| finding(*index, reason)));
                }
                Some(_) => {}
            }
        }
        for at in given::instructions(&words) {
            // To be a revision, it would need a branch with the name of its folder.
            let is_other = |glob: &str| program != "git" || !glob.contains('/');
            let here = self.globs().find(|(index, _)| *index == at + before);
            if let Some((index, glob)) = here.filter(|(_, glob)| is_other(glob)) {
                let reason = format!(
                    "`{program}` may read the name of a file that `{glob}` matches as a script, an \
                     option's value or a revision"
                );
                findings.push(finding(index, reason));
            }
        }
        let mut found =
            fed::prints(&words, folder).unwrap_or_else(|| CommandEffects::of(&words, folder));
        if let Some((index, _)) = self.globs().next() {
            // To some programs, a second name is a file to write, or nothing that is known.
            let second = self.with_second_names(&words, before);
            let second = second.map(|words| CommandEffects::of(&words, folder));
            let other = CommandEffects::of(&self.sampled(others), folder);
            let second = second.as_ref().unwrap_or(&found);
            let counts_names = found.findings.is_empty() && !second.findings.is_empty();
            let changed = self.changed_files([&found, second, &other], folder);
            match changed.filter(|_| !counts_names) {
                Some(ChangedFiles { edits, globs }) => {
                    found.edits = edits;
                    found.edit_globs.extend(globs);
                }
                None => {
                    let reason =
                        format!("which files `{program}` would change is not known before it runs");
                    findings.push(finding(index, reason));
                }
            }
        }
        if acts_freely(&words, &found) {
            findings.extend(self.protected_words(folder));
        }
        for finding in &mut found.findings {
            finding.index = finding.index.saturating_add(before);
        }
        found.findings.extend(findings);
        for (index, glob) in self.globs() {
            match PathGlob::parse(&from_root(glob, folder)) {
                Ok(found_glob) => found.globs.push((glob.starts_with('/'), found_glob)),
                Err(reason) => found.findings.push(finding(index, reason)),
            }
        }
        found.never = never.or(found.never);
        found
    }

    /// Returns what is changed, where the same is done to each file that a glob matches: with one
    /// name for it, with two, and with another; `None` where that is not known.
    fn changed_files(&self, all: [&CommandEffects; 3], folder: &RepoPath) -> Option<ChangedFiles> {
        let [found, second, other] = all;
        let [letters, others] = LETTERS;
        let named = |letters: &str| -> Vec<PathUse> {
            self.globs()
                .filter_map(|(_, glob)| path_use(&sample_of(glob, letters), folder))
                .collect()
        };
        let besides = |effects: &CommandEffects, named: &[PathUse]| -> Vec<PathUse> {
            let is_besides = |used: &&PathUse| {
                !named.contains(used)
                    && LETTERS.iter().all(|it| self.put_by_glob(used, it).is_none())
            };
            effects.edits.iter().filter(is_besides).cloned().collect()
        };
        let edits = besides(found, &named(letters));
        let is_same =
            edits == besides(second, &named(letters)) && edits == besides(other, &named(others));
        let mut globs = Vec::new();
        for (_, glob) in self.globs() {
            let used = path_use(&sample_of(glob, letters), folder)?;
            if found.edits.contains(&used) || second.edits.contains(&used) {
                used.inside()?;
                globs.push(PathGlob::parse(&from_root(glob, folder)).ok()?);
            }
        }
        let put = found.edits.iter().filter_map(|used| self.put_by_glob(used, letters));
        for glob in put {
            globs.push(PathGlob::parse(&glob).ok()?);
        }
        // What another program does is judged by the names that it is given.
        let by_another = !globs.is_empty() && !found.starts.is_empty();
        (is_same && !by_another).then_some(ChangedFiles { edits, globs })
    }

    /// Returns the pattern of what is perhaps put into a folder by a name that a glob matches.
    fn put_by_glob(&self, used: &PathUse, letters: &str) -> Option<String> {
        let PathUse::Perhaps(path) = used else { return None };
        let names = self.globs().filter_map(|(_, glob)| glob.rsplit('/').next());
        let name = path.name();
        let glob =
            names.into_iter().find(|glob| name == Some(sample_of(glob, letters).as_str()))?;
        Some(format!("{}/{glob}", path.parent()))
    }

    /// Returns the words with each glob as two names; `None` where there is no glob. What stands in
    /// quotes is the one name that a loop is at.
    fn with_second_names(&self, words: &[String], before: usize) -> Option<Vec<String>> {
        let is_quoted = |at: usize| {
            let written = self.simple.written.get(at).map_or("", String::as_str);
            written.starts_with('"') && written.ends_with('"')
        };
        let is_glob = |at: usize| {
            self.globs().any(|(index, _)| index == at + before) && !is_quoted(at + before)
        };
        let doubled = |(at, word): (usize, &String)| {
            let times = if is_glob(at) { 2 } else { 1 };
            std::iter::repeat_n(word.clone(), times)
        };
        let second: Vec<String> = words.iter().enumerate().flat_map(doubled).collect();
        (second.len() > words.len()).then_some(second)
    }
}

/// Returns true for a program that says its words and does nothing else with them.
fn prints(program: &str) -> bool {
    matches!(program, "echo" | "printf" | "true" | "false" | "basename" | "dirname")
}

/// Whether tables say what a program does, or may start.
fn is_known(program: &str) -> bool {
    !index::of(program).is_empty()
        || matches!(program, "find" | "sed" | "awk" | "gawk" | "mawk" | "nawk")
        || programs::runner(program).is_some()
}

/// Whether a word of the shell stands where a program would: what it does with names is known.
fn is_of_shell(program: &str) -> bool {
    programs::is_built_in(program)
        || ANY_WORD.contains(&program)
        || matches!(program, "case" | "export" | "for" | "until" | "unset" | "wait" | "while")
}

/// Whether no table says what a command does with its files, or one that it starts.
fn acts_freely(words: &[String], effects: &CommandEffects) -> bool {
    let program = words.first().map_or("", String::as_str);
    match effects.starts.as_slice() {
        [] => !effects.is_known && !is_known(program) && !is_of_shell(program),
        starts => starts.iter().any(|inner| acts_freely(&inner.words, &inner.effects)),
    }
}

/// Returns a name that a glob matches.
fn sample_of(glob: &str, letters: &str) -> String {
    glob.replace(['*', '?'], letters)
}

/// Returns a glob as it is seen from the root.
fn from_root(glob: &str, folder: &RepoPath) -> String {
    glob.strip_prefix('/').map_or_else(|| format!("{folder}/{glob}"), str::to_owned)
}

/// Takes away files without a name: whatever only reads finds none.
fn without_empty_names(mut found: CommandEffects) -> CommandEffects {
    if found.only_reads {
        found.reads.retain(|used| !matches!(used, PathUse::Outside(path) if path.is_empty()));
        for inner in &mut found.starts {
            inner.effects = without_empty_names(std::mem::take(&mut inner.effects));
        }
    }
    found
}

/// Returns true for a glob behind an option that takes a pattern of names.
fn is_text_option(program: &str, glob: &str) -> bool {
    let option = glob.split_once('=').map(|(option, _)| option).unwrap_or_default();
    matches!(program, "grep" | "egrep" | "fgrep")
        && matches!(option, "--include" | "--exclude" | "--exclude-dir")
}
