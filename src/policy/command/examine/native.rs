//! What the words of compilers and of CMake mean that no table can say: which files they write.
//!
//! In: the words that are not options. Out: files that are read or written, and findings.

use crate::command::examine::PathUse;
use crate::command::examine::examiner::Examiner;
use crate::command::tables::tasks;
use crate::words;
use locum_base::path::RepoPath;

/// Options with which a compiler only shows something.
const SHOWING: &[&str] = &["-E", "-M", "-MM", "-fsyntax-only", "-###"];

/// Endings of headers, in lowercase. Given one, a compiler writes it compiled beside it.
const HEADERS: &str = "h hh hp hpp hxx h++ tcc";

/// Returns true for the name of a header.
fn is_header(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.rsplit_once('.').is_some_and(|(_, ending)| words::holds(HEADERS, &ending.to_lowercase()))
}

/// Returns a file of the repository with another ending.
fn with_ending(used: &PathUse, ending: &str) -> Option<PathUse> {
    let PathUse::Inside(path) = used else { return None };
    let path = path.as_str();
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    RepoPath::parse(format!("{folder}/{stem}.{ending}").trim_start_matches('/'))
        .ok()
        .map(PathUse::Inside)
}

/// Endings of sources that a C compiler gives to another one: of Fortran, Ada, D, Go, Modula-2,
/// Rust and COBOL. Some write files of modules where they run.
const OTHER_LANGUAGES: &str =
    "adb ads cbl cob cobol d dd def di f f03 f08 f90 f95 for fpp ftn go mod rs";

impl Examiner<'_> {
    /// Sources and objects. What a source includes can be any file, so the sandbox has to keep
    /// those that are hidden.
    pub(super) fn compiled(
        &mut self,
        name: &str,
        operands: &[(usize, String)],
        plain_from: Option<usize>,
    ) {
        if plain_from.is_some() {
            // Some take it for an option and go on with others behind it.
            self.finding(self.words.len(), format!("`{name}` may take what follows `--` for more"));
        }
        self.found.needs_sandbox = true;
        for (index, word) in operands {
            let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
            if words::holds(OTHER_LANGUAGES, &ending.to_ascii_lowercase()) {
                let what = "is of another language, whose compiler may write more";
                self.finding(*index, format!("`{word}` {what}"));
            }
        }
        self.reads(operands.iter().map(|(_, word)| word.as_str()));
        let named = self.has_any(&["-o"]);
        let shows = self.has_any(SHOWING) && !self.has_any(&["-fno-syntax-only"]);
        let ending = match (self.has_any(&["-c"]), self.has_any(&["-S"])) {
            (true, _) => Some("o"),
            (_, true) => Some("s"),
            _ => None,
        };
        let stem = |word: &str| {
            let file = word.rsplit('/').next().unwrap_or(word);
            file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned()
        };
        let stems: Vec<String> = operands.iter().map(|(_, word)| stem(word)).collect();
        if !named && !shows && !operands.is_empty() {
            match ending {
                Some(ending) => {
                    let written: Vec<String> =
                        stems.iter().map(|stem| format!("{stem}.{ending}")).collect();
                    self.edits(written.iter().map(String::as_str));
                }
                None => self.edits(["a.out"].into_iter()),
            }
            let headers = operands.iter().filter(|(_, word)| is_header(word));
            let compiled: Vec<String> = headers
                .flat_map(|(_, word)| [format!("{word}.gch"), format!("{word}.pch")])
                .collect();
            self.edits(compiled.iter().map(String::as_str));
        }
        let depends = self.has_any(&["-MD", "-MMD"]);
        if depends && !self.has_any(&["-MF"]) {
            // It lies beside the output, or where the compiler runs.
            let beside: Vec<PathUse> =
                self.found.edits.iter().filter_map(|used| with_ending(used, "d")).collect();
            self.found.edits.extend(beside);
            if !named && (shows || ending.is_none()) {
                let written: Vec<String> = stems
                    .iter()
                    .flat_map(|stem| [format!("{stem}.d"), format!("a-{stem}.d")])
                    .collect();
                self.edits(written.iter().map(String::as_str));
            }
        }
    }

    /// Folders of CMake; with `--build`, targets, and behind `--` options of what builds them.
    pub(super) fn configured(&mut self, operands: &[(usize, String)], plain_from: Option<usize>) {
        let from = plain_from.unwrap_or(operands.len());
        let builds = self.has_any(&["--build"]);
        for (position, (index, word)) in operands.iter().enumerate() {
            let known = if position >= from {
                builds
                    && (words::holds("-k -v -n VERBOSE=1 V=1", word)
                        || word == "-j"
                        || words::is_number(word.strip_prefix("-j").unwrap_or(word)))
            } else {
                !builds || tasks::is_harmless(word)
            };
            if !known {
                let reason = format!("`{word}` of `cmake` is not known to only build and test");
                self.finding(*index, reason);
            }
        }
        if builds {
            self.refuse_protected(operands);
            return;
        }
        self.reads(operands.iter().take(from).map(|(_, word)| word.as_str()));
        if !self.has_any(&["-B", "-N", "--preset", "--list-presets"]) {
            self.edits(["."].into_iter());
        }
    }
}
