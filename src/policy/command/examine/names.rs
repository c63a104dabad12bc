//! Where the names of files come from that a pipe passes on.
//!
//! In: the commands of a pipe. Out: the folders below which all files lie, and the same commands
//! with names that end where no name can, so that no name is taken for two.

use crate::command::examine::given::GivenWords;
use crate::command::examine::{CommandEffects, patterns, xargs};
use crate::command::tree::{Redirect, SimpleCommand};
use crate::words;
use locum_base::path::RepoPath;

/// Programs that pass on lines they are given.
const FILTERS: &str = "head sort tail uniq";

/// Options with which `rg` prints names of files.
const RG_LISTS: &str = "-l --files --files-with-matches --files-without-match";
/// The same of `grep`.
const GREP_LISTS: &str = "-l -L --files-with-matches --files-without-match";
/// Options with which both print something else, or names that are not as they are.
const MORE_THAN_NAMES: &str = "\
    -c --count --count-matches --json --null-data -z --stats --type-list -p --pretty --colors \
    --vimgrep --passthru";
/// Options with which `grep` prints lines of its input, whole and as they are.
const GREP_PASSES: &str = "-E -F -e -i -v -w -x -z --regexp";

/// Options of `git ls-files` that choose files and print nothing besides.
const CHOOSING: &str = "\
    -c -d -m -o -z --cached --deleted --exclude-standard --modified --others";

/// Options of `git diff --name-only` that choose files and print nothing besides.
const CHANGES: &str = "-z --cached --diff-filter --merge-base --name-only --no-renames --staged";

/// What keeps git from printing names that begin like an option or a file of arguments, or that
/// would be cut in two.
const PLAIN_PATHSPECS: &[&str] = &[":(exclude)-*", ":(exclude)@*", ":(exclude)* *"];

/// What keeps `find` from printing names that would be cut in two.
const PLAIN_TEST: &[&str] = &["!", "-path", "*[[:space:]]*"];

/// Names of files.
pub(super) struct NamedFiles {
    /// The folders below which they lie, and among these the files that may not be read and that a
    /// pattern is about.
    pub(super) folders: Vec<String>,
    /// Whether each ends where no name can.
    pub(super) null: bool,
    /// The words of the commands with which that is so; `None` where it is not known how.
    pub(super) by_null: Option<Vec<Vec<String>>>,
    /// Whether each begins with the name of a folder, so that none is taken for an option.
    pub(super) are_below: bool,
    /// Whether git prints them, which can leave some out by their names.
    pub(super) of_git: bool,
}

/// Returns what a pipe prints; `None` where it could be more than names. `folder` is where it runs,
/// if that is known.
pub(super) fn source(before: &[&SimpleCommand], folder: Option<&RepoPath>) -> Option<NamedFiles> {
    let (last, earlier) = before.split_last()?;
    let rest = last.words.get(1..).unwrap_or_default();
    let end = PipeEnd { words: &last.words, rest, earlier, folder };
    if !only_messages(last) {
        return None;
    }
    match (last.words.first()?.as_str(), rest.first().map_or("", String::as_str)) {
        (filter, _) if words::holds(FILTERS, filter) => end.filtered(filter),
        ("xargs", _) => end.searched_by_xargs(),
        ("find", _) => end.found(),
        ("git", "ls-files") => end.listed(),
        ("git", "diff") => end.changed(),
        ("rg" | "grep", _) => end.searched(),
        _ => None,
    }
}

/// The last command of a pipe.
struct PipeEnd<'c> {
    words: &'c [String],
    /// The words behind its program.
    rest: &'c [String],
    /// The commands before it.
    earlier: &'c [&'c SimpleCommand],
    folder: Option<&'c RepoPath>,
}

impl PipeEnd<'_> {
    fn has(&self, wanted: &[&str]) -> bool {
        self.rest.iter().any(|word| wanted.contains(&word.as_str()))
    }

    /// Returns the words with one more among them, or at the end.
    fn with(&self, at: usize, word: &str) -> Vec<String> {
        let mut words = self.words.to_vec();
        words.insert(at.min(words.len()), word.to_owned());
        words
    }

    /// Returns the names that it is the first to print.
    fn names(
        &self,
        folders: Vec<String>,
        null: bool,
        by_null: Option<Vec<String>>,
    ) -> Option<NamedFiles> {
        let is = |program: &str| self.words.first().is_some_and(|first| first == program);
        Some(NamedFiles {
            // `find .` puts that before each name.
            are_below: is("find") || folders.iter().all(|folder| begins_with_a_folder(folder)),
            of_git: is("git"),
            folders,
            null,
            by_null: by_null.map(|words| vec![words]),
        })
    }

    fn filtered(&self, filter: &str) -> Option<NamedFiles> {
        let passed = passes_lines(self.words)?;
        let files = source(self.earlier, self.folder)?;
        let mut words = self.with(1, "-z");
        // `-5` alone is a count only where no other option is.
        for word in words.iter_mut().filter(|_| matches!(filter, "head" | "tail")) {
            let count = word.strip_prefix('-').filter(|count| is_count(count));
            *word = count.map_or_else(|| word.clone(), |count| format!("-n{count}"));
        }
        Some(files.through(words, passed.by_null))
    }

    /// `grep -l` prints those of the names that it is given.
    fn searched_by_xargs(&self) -> Option<NamedFiles> {
        let (options, at) = xargs::options(self.words)?;
        let inner = self.words.get(at..).filter(|_| options.mark.is_none())?;
        inner.first().filter(|program| *program == "grep")?;
        let given = GivenWords::of(inner)?;
        let patterns = given.operand_count() + given.values("-e --regexp").count();
        let lists = given.has("-l") && given.only_has("-E -F -e -i -l -n -w -x --regexp");
        let files = (lists && patterns == 1).then(|| source(self.earlier, self.folder))??;
        Some(NamedFiles { null: false, by_null: None, ..files })
    }

    fn found(&self) -> Option<NamedFiles> {
        // What links lead to lies elsewhere.
        let follows = self.has(&["-L", "-H", "-follow"])
            || self.rest.windows(2).any(|pair| {
                matches!(pair, [kind, of] if matches!(kind.as_str(), "-type" | "-xtype")
                    && of.contains('l'))
            });
        if follows || self.has(&["-exec", "-printf", "-ls", "-execdir", "-ok", "-fprintf"]) {
            return None;
        }
        let starts = self.rest.iter().take_while(|word| !word.starts_with(['-', '(', '!']));
        let starts: Vec<String> = starts.cloned().collect();
        let mut folders = if starts.is_empty() { here() } else { starts };
        folders.extend(patterns::reached_by_find(&folders, self.rest));
        let by_null = match printing(self.words).as_slice() {
            _ if self.has(&["-print0"]) => None,
            // At the end it would count for what stands behind the last `-o` alone.
            [] if !is_alternative(self.rest) && !self.has(&["-delete", "-quit"]) => {
                Some(self.with(usize::MAX, "-print0"))
            }
            [at] => {
                let mut words = self.words.to_vec();
                words.get_mut(*at).into_iter().for_each(|word| "-print0".clone_into(word));
                Some(words)
            }
            _ => None,
        };
        self.names(folders, self.has(&["-print0"]), by_null)
    }

    fn listed(&self) -> Option<NamedFiles> {
        let shows_more = |word: &String| {
            let is_short = word.starts_with('-') && !word.starts_with("--");
            word.starts_with("--format") || is_short && word.contains(['s', 't', 'v', 'u', 'f'])
        };
        let more = ["--stage", "--eol", "--unmerged", "--debug", "--abbrev"];
        if self.has(&more) || self.rest.iter().any(shows_more) {
            return None;
        }
        let mut folders = listed_folders(self.rest.get(1..).unwrap_or_default())?;
        folders.extend(self.rest.iter().flat_map(|word| patterns::named_by_pathspec(word)));
        self.names(folders, self.has(&["-z"]), Some(self.with(2, "-z")))
    }

    fn changed(&self) -> Option<NamedFiles> {
        let paths = paths_of_changes(self.rest.get(1..).unwrap_or_default())?;
        // Where it runs in a folder, names are seen from the root all the same.
        let at_root = self.folder.is_some_and(RepoPath::is_root);
        let mut folders = if at_root { listed_folders(paths).unwrap_or_else(here) } else { here() };
        folders.extend(paths.iter().flat_map(|word| patterns::named_by_pathspec(word)));
        self.names(folders, self.has(&["-z"]), Some(self.with(2, "-z")))
    }

    fn searched(&self) -> Option<NamedFiles> {
        let is_rg = self.words.first().is_some_and(|program| program == "rg");
        let of_both = |rg, grep| if is_rg { rg } else { grep };
        let given = GivenWords::of(self.words)?;
        if !given.has(of_both(RG_LISTS, GREP_LISTS)) {
            let pattern = passed_pattern(self.words)?;
            let mut files = source(self.earlier, self.folder)?;
            if !given.has("-v") {
                let named = patterns::named_by_regex(pattern);
                files.folders.extend(patterns::below(&files.folders, &named));
            }
            return Some(files.through(self.with(1, "-z"), given.has("-z")));
        }
        // Counts, colours and the like, or lines of files after all.
        let colours =
            given.values("--color --colour").any(|when| !matches!(when, "auto" | "never"));
        // What links lead to lies elsewhere.
        let follows = given.has(of_both("-L --follow", "-R --dereference-recursive"));
        if colours || follows || given.has(MORE_THAN_NAMES) {
            return None;
        }
        let null = given.has(of_both("-0 --null", "-Z --null"));
        let root = RepoPath::root();
        let searched = searched_folders(self.words, self.folder.unwrap_or(&root));
        let by_null = searched.as_ref().map(|_| self.with(1, "--null"));
        let mut folders = searched.unwrap_or_else(here);
        folders.extend(patterns::below(&folders, &patterns::named_by_search(self.words)));
        self.names(folders, null, by_null)
    }
}

/// Returns where the words of `find` say that it prints.
fn printing(words: &[String]) -> Vec<usize> {
    words.iter().enumerate().filter(|(_, word)| *word == "-print").map(|(at, _)| at).collect()
}

/// Whether nothing of a command goes elsewhere but what it says on the other descriptor, which is
/// no name; what reads a file reads no names.
fn only_messages(command: &SimpleCommand) -> bool {
    command.redirects.iter().all(|redirect| matches!(redirect, Redirect::Output { fd: 2, .. }))
}

/// Returns the pattern by which `grep` passes on lines of its input, whole and as they are; `None`
/// where it does more than that.
fn passed_pattern(words: &[String]) -> Option<&str> {
    let given = GivenWords::of(words)?;
    let is_grep = words.first().is_some_and(|program| program == "grep");
    let patterns: Vec<&str> = given.values("-e --regexp").chain(given.operands()).collect();
    match patterns.as_slice() {
        [pattern] if is_grep && given.only_has(GREP_PASSES) => Some(*pattern),
        _ => None,
    }
}

/// Returns true for a program that passes on lines of its input, whole and as they are.
pub(crate) fn passes_on(words: &[String]) -> bool {
    let by_null = GivenWords::of(words).is_some_and(|given| given.has("-z"));
    !by_null && (passed_pattern(words).is_some() || passes_lines(words).is_some())
}

/// Returns true for a pipe that prints names of Go's packages.
pub(super) fn are_packages(before: &[&SimpleCommand]) -> bool {
    let Some((last, earlier)) = before.split_last() else { return false };
    only_messages(last)
        && (lists_packages(&last.words) || (passes_on(&last.words) && are_packages(earlier)))
}

/// Returns true for words that print names of Go's packages, one in a line, and nothing else.
pub(crate) fn lists_packages(words: &[String]) -> bool {
    let plain = |word: &String| {
        word.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '.')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte))
    };
    matches!(words, [go, list, patterns @ ..]
        if go == "go" && list == "list" && patterns.iter().all(plain))
}

/// Lines that `head`, `tail`, `sort` and `uniq` pass on, whole and as they are.
pub(crate) struct PassedLines {
    /// How many at most, where that is said by a plain number.
    pub(crate) count: Option<String>,
    /// Whether each ends with the byte 0.
    pub(crate) by_null: bool,
}

/// Returns which lines of its input a program prints; `None` where it does more than that.
pub(crate) fn passes_lines(words: &[String]) -> Option<PassedLines> {
    let given = GivenWords::of(words)?;
    let known = match words.first()?.as_str() {
        "head" | "tail" => "-n -z -#",
        "sort" => "-b -d -f -g -h -i -n -r -u -V -z",
        "uniq" => "-d -i -u -z",
        _ => return None,
    };
    let counts: Vec<&str> = given.values("-n -#").collect();
    let plain = given.only_has(known) && given.operand_count() == 0;
    (plain && counts.len() <= 1 && counts.iter().all(|count| is_count(count))).then(|| {
        let count = counts.first().map(|count| (*count).to_owned());
        PassedLines { count, by_null: given.has("-z") }
    })
}

fn is_count(text: &str) -> bool {
    words::is_number(text.strip_prefix('+').unwrap_or(text))
}

impl NamedFiles {
    /// Returns the same behind a program that passes lines on.
    fn through(self, by_null: Vec<String>, null: bool) -> Self {
        let by_null = self.by_null.map(|mut all| {
            all.push(by_null);
            all
        });
        Self { null: self.null && null, by_null, ..self }
    }
}

/// Returns true for words of `find` what is printed of which an action at the end would not say.
fn is_alternative(words: &[String]) -> bool {
    let mut depth = 0_usize;
    words.iter().any(|word| {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "-o" | "-or" | "," => return depth == 0,
            _ => {}
        }
        false
    })
}

/// Whether the names below a folder begin with a name that is no option. The dots before it may not
/// be printed.
fn begins_with_a_folder(folder: &str) -> bool {
    let mut parts = folder.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.next().is_some_and(|first| !first.starts_with('-') && first != "..")
        && parts.all(|part| part != "..")
}

fn here() -> Vec<String> {
    vec![".".to_owned()]
}

/// Returns the folders of the files that `git ls-files` lists; `None` for patterns that mean
/// something else than they say.
fn listed_folders(words: &[String]) -> Option<Vec<String>> {
    let (mut folders, mut plain) = (Vec::new(), false);
    for word in words {
        if !plain && word == "--" {
            plain = true;
        } else if !plain && word.starts_with('-') {
            if !words::holds(CHOOSING, word) {
                return Some(here());
            }
        } else if word.starts_with(":!") || word.starts_with(":^") {
            // It only leaves files out.
        } else if word.starts_with(':') || word.contains("..") {
            return None;
        } else {
            let pattern = word.find(['*', '?', '[', '\\']);
            let fixed = pattern.map_or(Some(word.as_str()), |at| {
                word.get(..at).and_then(|start| start.rsplit_once('/')).map(|(folder, _)| folder)
            });
            folders.push(fixed.filter(|folder| !folder.is_empty()).unwrap_or(".").to_owned());
        }
    }
    Some(if folders.is_empty() { here() } else { folders })
}

/// Returns the pathspecs of `git diff --name-only`; `None` where it may print something else.
fn paths_of_changes(words: &[String]) -> Option<&[String]> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_known = |word: &String| {
        let option = word.split('=').next().unwrap_or_default();
        !word.starts_with('-') || words::holds(CHANGES, option)
    };
    let options = words.get(..end)?;
    let known = options.iter().all(is_known) && options.iter().any(|word| word == "--name-only");
    known.then(|| words.get(end + 1..).unwrap_or_default())
}

/// Returns the words of a command that prints names of files, so that each is one word and none is
/// taken for an option or a file of arguments; `None` where it is not known how.
pub(super) fn plainly(words: &[String]) -> Option<Vec<String>> {
    let mut plain = words.to_vec();
    let added = |words: &'static [&'static str]| words.iter().map(|word| (*word).to_owned());
    match words.first()?.as_str() {
        "git" => {
            // It would complain of what is left out.
            let complains = words.iter().any(|word| word == "--error-unmatch");
            (!complains).then(|| plain.extend(added(PLAIN_PATHSPECS)))?;
        }
        "find" => {
            let rest = words.get(1..)?;
            let starts_plainly =
                rest.first().is_none_or(|word| !matches!(word.as_str(), "-H" | "-P"));
            let ends = |word: &&String| {
                matches!(word.as_str(), "-delete" | "-quit" | "-print0" | "-prune")
            };
            let printed = printing(words);
            let known = starts_plainly
                && !is_alternative(rest)
                && printed.len() <= 1
                && !rest.iter().any(|word| ends(&word));
            let at = printed.first().copied().unwrap_or(words.len());
            known.then(|| drop(plain.splice(at..at, added(PLAIN_TEST))))?;
        }
        _ => return None,
    }
    Some(plain)
}

/// Returns the folders that `rg` and `grep` search, where all of their words are known.
fn searched_folders(words: &[String], folder: &RepoPath) -> Option<Vec<String>> {
    let effects = CommandEffects::of(words, folder);
    let known = effects.findings.is_empty()
        && effects.never.is_none()
        && folder.is_root()
        && !words.iter().any(|word| word.contains("separator") || word.contains("label"));
    let folders: Vec<String> = effects
        .reads
        .iter()
        .map(|used| {
            used.inside()
                .map(|path| if path.is_root() { ".".to_owned() } else { path.as_str().to_owned() })
        })
        .collect::<Option<_>>()?;
    (known && !folders.is_empty()).then_some(folders)
}

#[cfg(test)]
mod tests {
    use super::begins_with_a_folder;

    #[test]
    fn names_begin_with_a_folder_only_where_it_is_printed() {
        for folder in ["src", "./src", "src/./a", ".//src/"] {
            assert!(begins_with_a_folder(folder), "{folder}");
        }
        for folder in [".", "./", "./.", "", "..", "src/..", "-x", "./-x"] {
            assert!(!begins_with_a_folder(folder), "{folder}");
        }
    }
}
