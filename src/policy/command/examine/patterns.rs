//! Patterns by which a search chooses files: `find -name`, `grep --include`, `rg -g`, pathspecs of
//! git, and filters of names.
//!
//! In: the words of a command. Out: files that may not be read and that a pattern is about, as if a
//! word named them. What a pattern merely matches besides others is left to the sandbox.

use crate::command::examine::given::GivenWords;
use crate::glob::name_matches;
use crate::paths::{Protection, plain_spelling};
use locum_base::path::RepoPath;

/// Most texts that are made of the braces of one pattern.
const TEXTS_LIMIT: usize = 64;

/// How a pattern is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternKind {
    /// With `*`, `?`, sets of letters and perhaps braces.
    Glob,
    /// As a regular expression.
    Regex,
}

/// Tests of `find` that compare names.
fn kind_of_test(word: &str) -> Option<PatternKind> {
    match word {
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" => {
            Some(PatternKind::Glob)
        }
        "-regex" | "-iregex" => Some(PatternKind::Regex),
        _ => None,
    }
}

/// Returns how many words a harmless predicate of `find` takes.
pub(super) fn find_arguments(word: &str) -> Option<usize> {
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

/// Files that one group of an expression of `find` is about.
#[derive(Default)]
struct NamedByGroup {
    /// Whether the group stands behind `!`.
    is_negated: bool,
    /// Those for which it may be true.
    chosen: Vec<String>,
    /// Those for which it may be false.
    avoided: Vec<String>,
    /// How many of both were there before the alternative that is read.
    before: (usize, usize),
}

impl NamedByGroup {
    /// Begins another alternative. What the one before it avoids comes to this one.
    fn next_alternative(&mut self, is_left_out: bool) {
        if is_left_out {
            self.chosen.truncate(self.before.0);
        }
        let avoided = self.avoided.get(self.before.1..).unwrap_or_default().to_vec();
        self.chosen.extend(avoided);
        self.before = (self.chosen.len(), self.avoided.len());
    }
}

/// Returns the files that may not be read and that an expression of `find` chooses, seen from where
/// it starts.
fn named_by_find(words: &[String]) -> Vec<String> {
    let acts = words.iter().any(|word| {
        matches!(word.as_str(), "-exec" | "-print" | "-print0" | "-delete" | "-ls" | "-printf")
    });
    let mut groups = vec![NamedByGroup::default()];
    let (mut is_negated, mut at) = (false, 0);
    // Where the alternative begins that is read.
    let is_test = |word: &String| word.starts_with(['-', '(', '!']);
    let mut start = words.iter().position(is_test).unwrap_or(words.len());
    while let Some(word) = words.get(at) {
        let is_outer = groups.len() == 1;
        let Some(group) = groups.last_mut() else { break };
        at += 1;
        match word.as_str() {
            "!" | "-not" => {
                is_negated = !is_negated;
                continue;
            }
            "(" => groups.push(NamedByGroup { is_negated, ..NamedByGroup::default() }),
            ")" if !is_outer => {
                let (chosen, avoided) =
                    (std::mem::take(&mut group.chosen), std::mem::take(&mut group.avoided));
                let (chosen, avoided) =
                    if group.is_negated { (avoided, chosen) } else { (chosen, avoided) };
                groups.pop();
                if let Some(outer) = groups.last_mut() {
                    outer.chosen.extend(chosen);
                    outer.avoided.extend(avoided);
                }
            }
            "-o" | "-or" | "," => {
                let alternative = words.get(start..at - 1).unwrap_or_default();
                group.next_alternative(acts && is_outer && word != "," && is_pruned(alternative));
                start = if is_outer { at } else { start };
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = words.get(at..).unwrap_or_default();
                let end = rest.iter().position(|word| word == ";" || word == "+");
                at += end.map_or(rest.len(), |end| end + 1);
            }
            test => {
                let pattern = words.get(at).map_or("", String::as_str);
                if let Some(kind) = kind_of_test(test) {
                    let named = secrets(pattern, kind);
                    let list = if is_negated { &mut group.avoided } else { &mut group.chosen };
                    list.extend(named);
                }
                at += if test.starts_with('-') { find_arguments(test).unwrap_or(0) } else { 0 };
            }
        }
        is_negated = false;
    }
    groups.into_iter().flat_map(|group| group.chosen).collect()
}

/// Returns true for names that are passed over and nothing else: `-name .env -prune`.
fn is_pruned(alternative: &[String]) -> bool {
    let is_test =
        |words: &[String]| matches!(words, [test, _pattern] if kind_of_test(test).is_some());
    match alternative {
        [test, _, prune] if prune == "-prune" => kind_of_test(test).is_some(),
        [open, tests @ .., close, prune] if open == "(" && close == ")" && prune == "-prune" => {
            tests.split(|word| word == "-o" || word == "-or").all(is_test)
        }
        _ => false,
    }
}

/// Returns the files that may not be read and that the patterns of `rg` or `grep` choose.
pub(super) fn named_by_search(words: &[String]) -> Vec<String> {
    let Some(given) = GivenWords::of(words) else { return Vec::new() };
    let of_grep = given.values("--include").flat_map(|pattern| secrets(pattern, PatternKind::Glob));
    let of_rg = given
        .values("-g --glob --iglob")
        .filter(|pattern| !pattern.starts_with('!'))
        .flat_map(|pattern| secrets(pattern, PatternKind::Glob));
    of_grep.chain(of_rg).collect()
}

/// Returns the files that may not be read and that a pathspec of git chooses.
pub(super) fn named_by_pathspec(word: &str) -> Vec<String> {
    let leaves_out = [":!", ":^"].iter().any(|sign| word.starts_with(sign))
        || word
            .strip_prefix(":(")
            .and_then(|rest| rest.split_once(')'))
            .is_some_and(|(magic, _)| magic.split(',').any(|kind| kind == "exclude"));
    if leaves_out {
        return Vec::new();
    }
    let pattern = word.strip_prefix(":(").and_then(|rest| rest.split_once(')'));
    let pattern = pattern.map_or(word.trim_start_matches([':', '/']), |(_, pattern)| pattern);
    secrets(pattern, PatternKind::Glob)
}

/// Returns the files that may not be read and whose names a regular expression lets through.
pub(super) fn named_by_regex(pattern: &str) -> Vec<String> {
    secrets(pattern, PatternKind::Regex)
}

/// Returns files below each of some folders.
pub(super) fn below<S: AsRef<str>>(folders: &[S], files: &[String]) -> Vec<String> {
    let of_folder = |folder: &S| {
        let folder = folder.as_ref().trim_end_matches('/').to_owned();
        files.iter().map(move |file| format!("{folder}/{file}"))
    };
    folders.iter().flat_map(of_folder).collect()
}

/// Returns the files that may not be read and are among those that `find` names below folders: what
/// its tests choose, and the settings of git where it starts in the folder of those.
pub(super) fn reached_by_find<S: AsRef<str>>(starts: &[S], words: &[String]) -> Vec<String> {
    let stores = starts.iter().map(|start| start.as_ref().trim_end_matches('/'));
    let settings = stores.filter(|start| is_store(start)).map(|start| format!("{start}/config"));
    settings.chain(below(starts, &named_by_find(words))).collect()
}

/// Returns true for the folder in which git keeps what it knows.
pub(super) fn is_store(folder: &str) -> bool {
    let plain = RepoPath::parse(folder).ok().and_then(|path| plain_spelling(&path));
    plain.is_some_and(|path| path.name() == Some(".git"))
}

/// Returns the files that may not be read and that a pattern is about.
fn secrets(pattern: &str, kind: PatternKind) -> Vec<String> {
    let glob = if kind == PatternKind::Regex { as_glob(pattern) } else { pattern.to_owned() };
    alternatives(without_sets(&glob)).iter().filter_map(|text| secret(text)).collect()
}

/// Returns the one that a pattern without braces is about: what is left of it without wildcards, or
/// what it all but spells out.
fn secret(pattern: &str) -> Option<String> {
    let protection = Protection::default();
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let left = pattern.replace(['*', '?'], "");
    let path = RepoPath::parse(left.trim_matches('/')).ok()?;
    if protection.of_read(&path).is_some() {
        return Some(path.as_str().to_owned());
    }
    if is_store(path.as_str()) {
        let settings = if left.ends_with('/') { "/config" } else { "" };
        return Some(format!("{path}{settings}"));
    }
    let folded = pattern.to_lowercase();
    let name = folded.rsplit('/').next().unwrap_or_default();
    protection.unread().find_map(|glob| {
        let (any, rest) = glob.parts().split_first()?;
        let spelled = rest.join("/").to_lowercase();
        let is_meant = all_but_spells(&folded, &spelled) || all_but_spells(name, &spelled);
        (any == "**" && is_meant).then_some(spelled)
    })
}

/// Returns true for a pattern that has most letters of a name: `.en*` of `.env`.
fn all_but_spells(pattern: &str, name: &str) -> bool {
    let letters = pattern.chars().filter(|letter| !matches!(letter, '*' | '?')).count();
    pattern.contains(['*', '?'])
        && !pattern.starts_with('*')
        && !name.contains(['*', '?'])
        && pattern.matches('/').count() == name.matches('/').count()
        && letters >= 3
        && letters * 2 >= name.len()
        && name_matches(pattern, name)
}

/// Returns a pattern with a wildcard in the place of each set of letters, and without escapes.
fn without_sets(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {}
            '[' => {
                let rest = letters.as_str();
                let end = rest.char_indices().skip(1).find(|(_, letter)| *letter == ']');
                let Some((set, behind)) =
                    end.and_then(|(at, _)| Some((rest.get(..at)?, rest.get(at + 1..)?)))
                else {
                    out.push('[');
                    continue;
                };
                let mut of_set = set.chars();
                let only = of_set.next().filter(|_| of_set.next().is_none());
                out.push(only.unwrap_or('?'));
                letters = behind.chars();
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Returns a pattern with braces that matches what a regular expression does, or less.
fn as_glob(regex: &str) -> String {
    let mut out = "{".to_owned();
    let mut letters = regex.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' | '^' | '$' | '*' | '+' | '?' => {}
            '.' if letters.peek().is_some_and(|next| matches!(next, '*' | '+')) => {
                letters.next();
                out.push('*');
            }
            '(' => out.push('{'),
            ')' => out.push('}'),
            '|' => out.push(','),
            letter => out.push(letter),
        }
    }
    out.push('}');
    out
}

/// Returns the texts that the braces of a pattern stand for.
fn alternatives(pattern: String) -> Vec<String> {
    let mut open = vec![pattern];
    let mut found = Vec::new();
    while let Some(text) = open.pop() {
        let inner = text.find('}').and_then(|end| Some((text.get(..end)?.rfind('{')?, end)));
        let parts = inner.and_then(|(start, end)| {
            Some((text.get(..start)?, text.get(start + 1..end)?, text.get(end + 1..)?))
        });
        match parts {
            Some((before, choices, behind)) if open.len() + found.len() < TEXTS_LIMIT => {
                let choices = choices.split(',').take(TEXTS_LIMIT);
                open.extend(choices.map(|choice| format!("{before}{choice}{behind}")));
            }
            Some(_) | None => found.push(text),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{
        named_by_find, named_by_pathspec, named_by_regex, named_by_search, reached_by_find,
    };
    use crate::command::word::split;
    use pretty_assertions::assert_eq;

    fn found(named: Vec<String>) -> String {
        named.join(" ")
    }

    #[test]
    fn a_pattern_names_a_secret_by_what_is_left_of_it_and_others_do_not() {
        for (pattern, expected) in [
            (".env", ".env"),
            (".env*", ".env"),
            ("*.env", ".env"),
            (".ENV", ".ENV"),
            (".env.local", ".env.local"),
            ("*.pem", ".pem"),
            ("id_rsa*", "id_rsa"),
            (".e[n]v", ".env"),
            (".\\env", ".env"),
            (".en*", ".env"),
            (".?nv", ".env"),
            ("id_*", "id_rsa"),
            (".git", ".git"),
            ("*.md", ""),
            (".env.example", ""),
            ("*", ""),
            (".*", ""),
            ("*.json", ""),
            ("*config*", ""),
            ("config*", ""),
            (".git*", ".git"),
            ("Cargo.toml", ""),
        ] {
            let words = ["-name".to_owned(), pattern.to_owned()];
            assert_eq!(found(named_by_find(&words)), expected, "{pattern}");
        }
    }

    #[test]
    fn find_is_about_what_it_chooses_and_not_about_what_it_leaves_out() {
        for (text, expected) in [
            ("-path './.env'", ".env"),
            ("-path '*/.git/*'", ".git/config"),
            ("-path './.git/conf*'", ".git/config"),
            ("-wholename '*.git/config'", ".git/config"),
            ("-regex '.*/\\.env'", ".env"),
            ("-regex '.*\\.\\(pem\\|py\\)'", ".pem"),
            ("-type f -iname '*.KEY' -size +1k", ".KEY"),
            ("-not -name .env", ""),
            ("! -path './.git/*'", ""),
            ("! ! -name .env", ".env"),
            ("! '(' -name .env -o -name '*.key' ')'", ""),
            ("! '(' ! -name .env ')'", ".env"),
            ("-name .env -prune -o -type f -print", ""),
            ("'(' -name .env -o -name .git ')' -prune -o -exec cat {} +", ""),
            ("-path ./.git -prune -o -name '*.md' -print", ""),
            // Here it is not surely passed over.
            ("-name .env -prune", ".env"),
            ("-name .env -prune -exec cat {} +", ".env"),
            ("-name .env -prune -o -name x", ".env"),
            ("-name .env -prune , -print", ".env"),
            ("-name .env -prune -false -o -exec cat {} +", ".env"),
            ("-name .env -name x -prune -o -exec cat {} +", ".env"),
            ("'(' -name .env -prune -o -name x ')' -exec cat {} +", ".env"),
            ("! -name .env -o -exec cat {} +", ".env"),
            // A word behind a test is no operator.
            ("-newer ! -name .env", ".env"),
            ("-exec cat -name .env {} +", ""),
        ] {
            assert_eq!(found(named_by_find(&split(text).unwrap())), expected, "{text}");
        }
    }

    #[test]
    fn searches_are_about_the_files_that_their_options_name() {
        for (text, expected) in [
            ("grep -rn x . '--include=.env*'", ".env"),
            ("grep -rn x . --include '*.pem' --include '*.md'", ".pem"),
            ("grep -rn x . --exclude=.env --exclude-dir=.git", ""),
            ("grep -rn x '--include=*.rs' .", ""),
            ("grep -rn -e --include=.env .", ""),
            ("rg --hidden -g '.env*' x", ".env"),
            ("rg --glob='**/.env' x", ".env"),
            ("rg --iglob .ENV x", ".ENV"),
            ("rg -g '*.{ts,key}' x", ".key"),
            ("rg -g '.git/**' x", ".git/config"),
            ("rg -g .git x", ".git"),
            ("rg -g '!.env' -g '!.git' x", ""),
            ("rg -g '*.{ts,tsx}' x", ""),
        ] {
            assert_eq!(found(named_by_search(&split(text).unwrap())), expected, "{text}");
        }
        for (word, expected) in [
            ("*.env", ".env"),
            (":(top)**/.env*", ".env"),
            (":/*.pem", ".pem"),
            (":!*.env", ""),
            (":(exclude,icase)*.env", ""),
            (".env", ".env"),
            ("*.rs", ""),
        ] {
            assert_eq!(found(named_by_pathspec(word)), expected, "{word}");
        }
        for (pattern, expected) in [
            ("\\.env$", ".env"),
            ("(^|/)\\.env", ".env .env"),
            ("\\.(rs|pem)$", ".pem"),
            ("\\.rs$", ""),
            ("env", ""),
        ] {
            assert_eq!(found(named_by_regex(pattern)), expected, "{pattern}");
        }
    }

    #[test]
    fn what_find_reaches_lies_below_each_start() {
        let words = split("-name .env").unwrap();
        assert_eq!(reached_by_find(&["src", "./"], &words), ["src/.env", "./.env"]);
        assert_eq!(reached_by_find(&[".git/", "a/.GIT"], &[]), [".git/config", "a/.GIT/config"]);
        assert_eq!(reached_by_find(&[".", ".github"], &[]), [""; 0]);
    }
}
