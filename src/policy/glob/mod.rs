//! Path and name patterns: `*` within a part, `**` for any number of parts, `?` for one character.
//!
//! In: a pattern as written in a policy. Out: whether a path matches. Matching takes time in
//! proportion to both lengths, whatever the pattern.

use locum_base::path::RepoPath;

/// Whether letters must be written alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// `README` is not `readme`: for what is allowed.
    Exact,
    /// `README` is `readme`: for what is refused, since some disks see no difference.
    Ignored,
}

/// A pattern over paths of the repository.
///
/// `src/**` matches everything below `src` and `src` itself; `**` everything; `*.md` only top-level
/// files; `src/` is `src/**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathGlob {
    parts: Vec<String>,
    folded: Vec<String>,
    ends: PatternEnds,
}

/// How every path begins and ends that a pattern matches, and how its name begins: most rules of a
/// large policy are done with here.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PatternEnds {
    head: String,
    name: String,
    tail: String,
}

impl PathGlob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence saying what is wrong: an empty pattern, an absolute one, one with `.` or `..`
    /// parts or control characters.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("pattern is empty; use `**` for every path".to_owned());
        }
        if text.starts_with(['/', '~']) {
            return Err(format!(
                "pattern `{text}` is absolute; paths are relative to the repository root"
            ));
        }
        if text.chars().any(char::is_control) {
            return Err(format!("pattern {text:?} holds a control character"));
        }
        let open = text.ends_with('/');
        let mut parts: Vec<String> = Vec::new();
        for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(format!("pattern `{text}` holds a `..` part"));
            }
            if part.contains("**") && part != "**" {
                return Err(format!("pattern `{text}`: `**` stands alone between slashes"));
            }
            if !(part == "**" && parts.last().is_some_and(|last| last == "**")) {
                parts.push(part.to_owned());
            }
        }
        if open && parts.last().is_none_or(|last| last != "**") {
            parts.push("**".to_owned());
        }
        Ok(Self::of(parts))
    }

    fn of(parts: Vec<String>) -> Self {
        let folded: Vec<String> = parts.iter().map(|part| folded(part)).collect();
        Self { ends: PatternEnds::of(&folded), parts, folded }
    }

    /// Returns true when the path matches.
    pub fn matches(&self, path: &RepoPath, case: LetterCase) -> bool {
        if path.as_str().is_ascii() && !self.ends.fit(path.as_str()) {
            return false;
        }
        let text = path.as_str();
        let exact = || match_parts(&self.parts, &path.parts().collect::<Vec<_>>());
        match case {
            LetterCase::Exact => exact(),
            LetterCase::Ignored => {
                let folded = folded(text);
                let parts: Vec<&str> =
                    if path.is_root() { Vec::new() } else { folded.split('/').collect() };
                match_parts(&self.folded, &parts) || (!text.is_ascii() && exact())
            }
        }
    }

    /// Returns true when some path matches both patterns; letters count without case.
    pub fn meets(&self, other: &Self) -> bool {
        let plain = self.is_ascii() && other.is_ascii();
        globs_meet(&self.folded, &other.folded) || (!plain && globs_meet(&self.parts, &other.parts))
    }

    fn is_ascii(&self) -> bool {
        self.parts.iter().all(|part| part.is_ascii())
    }

    /// Returns the pattern of a path and everything in the folder it may be.
    pub fn below(path: &RepoPath) -> Self {
        let mut parts: Vec<String> =
            path.parts().map(|part| part.replace(['*', '?'], "?")).collect();
        parts.push("**".to_owned());
        Self::of(parts)
    }

    /// Returns the pattern as it could be written.
    pub fn text(&self) -> String {
        self.parts.join("/")
    }

    /// Returns patterns that together match what a line of `.gitignore` matches, or more: a set of
    /// letters becomes any letter, and a folder matches everything in it. Empty for a line without
    /// a pattern.
    pub fn of_ignore_line(line: &str) -> Vec<Self> {
        let mut plain = String::with_capacity(line.len());
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '[' => {
                    plain.push('?');
                    // A set that is not closed is a letter of its own.
                    let rest = letters.as_str();
                    if let Some(end) = rest
                        .char_indices()
                        .skip(1)
                        .find(|(_, letter)| *letter == ']')
                        .map(|(at, _)| at)
                    {
                        letters = rest.get(end + 1..).unwrap_or_default().chars();
                    }
                }
                '\\' => plain.extend(letters.next()),
                letter => plain.push(letter),
            }
        }
        let anchored = plain.trim_end_matches('/').contains('/');
        let parts: Vec<String> = plain
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(|part| if part == "**" { part.to_owned() } else { single_stars(part) })
            .collect();
        let glob = format!("{}{}", if anchored { "" } else { "**/" }, parts.join("/"));
        let globs =
            if glob.ends_with("**") { vec![glob] } else { vec![format!("{glob}/**"), glob] };
        globs.iter().filter_map(|glob| Self::parse(glob).ok()).collect()
    }

    /// Returns its parts, as written.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Returns the first part in lower case when it holds no wildcard: every path that matches
    /// starts with it.
    pub fn start(&self) -> Option<&str> {
        self.folded.first().map(String::as_str).filter(|part| !part.contains(['*', '?']))
    }

    /// Returns true when the pattern names one path, without wildcards, and it is this one.
    pub fn names(&self, path: &RepoPath) -> bool {
        !self.has_wildcard() && self.parts.iter().map(String::as_str).eq(path.parts())
    }

    /// Returns true when the pattern can match more than one path.
    pub fn has_wildcard(&self) -> bool {
        self.parts.iter().any(|part| part.contains(['*', '?']))
    }

    /// Returns true when every path the other pattern matches is matched by this one, as far as the
    /// patterns' text shows it.
    pub fn covers(&self, other: &Self) -> bool {
        if self.parts == other.parts {
            return true;
        }
        let Some((last, head)) = self.parts.split_last() else { return false };
        last == "**"
            && head.iter().all(|part| !part.contains(['*', '?']))
            && other.parts.get(..head.len()) == Some(head)
    }
}

impl PatternEnds {
    fn of(parts: &[String]) -> Self {
        let mut head = String::new();
        for part in parts {
            // `a/**` matches `a` as well, so the head ends before the slash.
            if part == "**" {
                break;
            }
            let plain = part.split(['*', '?']).next().unwrap_or_default();
            if !head.is_empty() {
                head.push('/');
            }
            head.push_str(plain);
            if plain.len() < part.len() {
                break;
            }
        }
        let last = parts.last();
        // A path that ends in `**` may have any name.
        let name = last.and_then(|part| part.split(['*', '?']).next()).unwrap_or_default();
        let name = name.to_owned();
        let tail =
            last.and_then(|part| part.rsplit(['*', '?']).next()).unwrap_or_default().to_owned();
        Self { head, name, tail }
    }

    /// For a path of ASCII letters, whose case does not count.
    fn fit(&self, path: &str) -> bool {
        let begins = |path: &[u8], head: &str| {
            path.get(..head.len()).is_some_and(|it| it.eq_ignore_ascii_case(head.as_bytes()))
        };
        let (path, tail) = (path.as_bytes(), self.tail.as_bytes());
        let end = path.len().checked_sub(tail.len()).and_then(|from| path.get(from..));
        let name = || path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        begins(path, &self.head)
            && end.is_some_and(|end| end.eq_ignore_ascii_case(tail))
            && (self.name.is_empty() || begins(name(), &self.name))
    }
}

/// Returns a text in which letters that differ in case alone are one letter. Each letter of a path
/// is one letter of the result, so that `?` still stands for one.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().map(folded_letter).collect()
}

/// Returns the letter that stands for a letter in all its cases: a final sigma is a sigma, and a
/// long s an s.
pub(crate) fn folded_letter(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let mut upper = letter.to_uppercase();
    let upper = upper.next().filter(|_| upper.next().is_none()).unwrap_or(letter);
    // In lower case one letter alone is several, and the first of them is the letter.
    upper.to_lowercase().next().unwrap_or(upper)
}

/// Returns true when the name matches a pattern in which `*` matches any letters and `?` exactly
/// one.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return pattern == name;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    wildcard(
        pattern.len(),
        name.len(),
        |at| pattern.get(at) == Some(&'*'),
        |at, to| {
            pattern.get(at).is_some_and(|letter| *letter == '?' || Some(letter) == name.get(to))
        },
    )
}

/// As [`name_matches`]; with `LetterCase::Ignored`, for rules that refuse, also whatever the case.
pub(crate) fn name_matches_in(case: LetterCase, pattern: &str, name: &str) -> bool {
    name_matches(pattern, name)
        || case == LetterCase::Ignored && name_matches(&folded(pattern), &folded(name))
}

fn match_parts(pattern: &[String], path: &[&str]) -> bool {
    let whole = |pattern: &[String]| {
        wildcard(
            pattern.len(),
            path.len(),
            |at| pattern.get(at).is_some_and(|part| part == "**"),
            |at, to| {
                pattern
                    .get(at)
                    .zip(path.get(to))
                    .is_some_and(|(part, name)| name_matches(part, name))
            },
        )
    };
    whole(pattern) || pattern.split_last().is_some_and(|(last, head)| last == "**" && whole(head))
}

/// Whether some path matches both patterns.
fn globs_meet(one: &[String], two: &[String]) -> bool {
    sequences_meet(
        one,
        two,
        |part| part == "**",
        |one, two| {
            let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
            sequences_meet(
                &one,
                &two,
                |letter| *letter == '*',
                |one, two| one == two || *one == '?' || *two == '?',
            )
        },
    )
}

/// `a**b` within a name is `a*b`.
pub(crate) fn single_stars(part: &str) -> String {
    let mut part = part.to_owned();
    while part.contains("**") {
        part = part.replace("**", "*");
    }
    part
}

/// Whether two patterns have a text in common, in time in proportion to the product of their
/// lengths. `row` says for every rest of the second pattern whether it meets the rest of the first
/// that was looked at last.
fn sequences_meet<T>(
    one: &[T],
    two: &[T],
    is_star: impl Fn(&T) -> bool,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    let mut row: Vec<bool> = vec![false; two.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut next = row.clone();
        for to in (0..=two.len()).rev() {
            let (first, second) = (one.get(at), two.get(to));
            let below = |row: &[bool], to: usize| row.get(to).copied().unwrap_or(false);
            let meets = match (first, second) {
                (None, None) => true,
                (Some(first), _) if is_star(first) => {
                    below(&row, to) || (second.is_some() && below(&next, to + 1))
                }
                (_, Some(second)) if is_star(second) => {
                    below(&next, to + 1) || (first.is_some() && below(&row, to))
                }
                (Some(first), Some(second)) => same(first, second) && below(&row, to + 1),
                (None, Some(_)) | (Some(_), None) => false,
            };
            if let Some(cell) = next.get_mut(to) {
                *cell = meets;
            }
        }
        row = next;
    }
    row.first().copied().unwrap_or(false)
}

/// Matches with one point of return: the last wildcard seen, which is enough for `*` and bounds the
/// work.
pub(crate) fn wildcard(
    pattern_len: usize,
    text_len: usize,
    is_star: impl Fn(usize) -> bool,
    same: impl Fn(usize, usize) -> bool,
) -> bool {
    let (mut at, mut to) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while to < text_len {
        if at < pattern_len && is_star(at) {
            back = Some((at, to));
            at += 1;
        } else if at < pattern_len && same(at, to) {
            at += 1;
            to += 1;
        } else if let Some((star, taken)) = back {
            back = Some((star, taken + 1));
            at = star + 1;
            to = taken + 1;
        } else {
            return false;
        }
    }
    while at < pattern_len && is_star(at) {
        at += 1;
    }
    at == pattern_len
}

#[cfg(test)]
mod tests;
