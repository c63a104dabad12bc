//! Patterns of files that a program expands itself: `prettier --write 'src/**/*.ts'`.
//!
//! In: a word. Out: globs that match each file it may stand for, and perhaps more; where they go
//! through folders, the folder in which all of them lie, as if it were named.

use crate::command::examine::PathUse;
use crate::command::examine::examiner::Examiner;
use crate::glob::PathGlob;
use locum_base::path::RepoPath;

/// Most globs that are made of one word.
const GLOBS_LIMIT: usize = 64;

impl Examiner<'_> {
    /// Files that are changed, named or matched by a pattern.
    pub(super) fn edits_matched<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for word in words {
            let leaves_out = word.starts_with('!') && !word.starts_with("!(");
            let is_pattern = word.contains(['*', '?', '[', '{', '(']);
            if !is_pattern && !leaves_out {
                self.edits([word].into_iter());
            } else if !leaves_out {
                match globs(word, self.folder) {
                    Some(globs) => globs.into_iter().for_each(|glob| self.edits_matching(glob)),
                    None => self.found.edits.push(PathUse::Outside(word.to_owned())),
                }
            }
        }
    }

    fn edits_matching(&mut self, glob: PathGlob) {
        let (_, folders) = glob.parts().split_last().unwrap_or((&String::new(), &[]));
        let is_plain = |part: &&String| !part.contains(['*', '?']);
        let fixed: Vec<&str> = folders.iter().take_while(is_plain).map(String::as_str).collect();
        let goes_through = glob.parts().last().is_some_and(|name| name == "**");
        if fixed.len() == folders.len() && !goes_through {
            self.found.edit_globs.push(glob);
            return;
        }
        let folder = RepoPath::parse(&fixed.join("/")).unwrap_or_else(|_| RepoPath::root());
        let used = if folder.is_root() {
            PathUse::Outside(".".to_owned())
        } else {
            PathUse::Inside(folder)
        };
        let pattern = RepoPath::parse(&glob.text()).ok().map(PathUse::Inside);
        self.found.edits.extend(pattern.into_iter().chain([used]));
    }
}

/// Returns globs that match what a word may stand for; `None` where that is not known, or lies
/// outside.
fn globs(word: &str, folder: &RepoPath) -> Option<Vec<PathGlob>> {
    let mut open = vec![word.to_owned()];
    let mut found = Vec::new();
    while let Some(text) = open.pop() {
        match alternatives(&text) {
            Some(texts) => open.extend(texts),
            None => {
                let path = folder.join(&widened(&text)?).ok()?;
                found.push(PathGlob::parse(path.as_str()).ok()?);
            }
        }
        if open.len() + found.len() > GLOBS_LIMIT {
            return None;
        }
    }
    Some(found)
}

/// Returns the texts that the first braces with none inside stand for.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let (before, rest) = text.split_once('}')?;
    let (before, inner) = before.rsplit_once('{')?;
    let texts = match inner.split_once(',') {
        Some(_) => inner.split(',').map(str::to_owned).collect(),
        None => vec![anything_like(inner)],
    };
    Some(texts.into_iter().map(|text: String| format!("{before}{text}{rest}")).collect())
}

/// Returns a text with wildcards for sets of letters and groups; `None` where that is not known.
fn widened(text: &str) -> Option<String> {
    if text.contains('\\') || text.contains("[:") {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '(']) {
        let (before, behind) = rest.split_at_checked(at)?;
        let is_set = behind.starts_with('[');
        // A set that is not closed, or is empty, begins with its sign.
        let skipped = if is_set { 2 } else { 1 };
        let closing = if is_set { ']' } else { ')' };
        let end = at + skipped + rest.get(at + skipped..)?.find(closing)?;
        let inner = rest.get(at + 1..end)?;
        plain.push_str(before);
        if is_set {
            plain.push('?');
        } else if inner.contains('(') {
            return None;
        } else {
            let kind = plain.len() - usize::from(plain.ends_with(['@', '+', '!', '?', '*']));
            plain.truncate(kind);
            plain.push_str(&anything_like(inner));
        }
        rest = rest.get(end + 1..)?;
    }
    plain.push_str(rest);
    Some(plain)
}

/// Returns a pattern of as many parts.
fn anything_like(text: &str) -> String {
    vec!["*"; text.split('/').count()].join("/")
}

#[cfg(test)]
mod tests {
    use super::globs;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_pattern_is_no_narrower_than_what_programs_make_of_it() {
        for (word, expected) in [
            ("docs/*.md", Some("sub/docs/*.md")),
            ("./**/*.ts", Some("sub/**/*.ts")),
            ("src/*.{ts,js}", Some("sub/src/*.js sub/src/*.ts")),
            ("{a,b/{c,d}}/*", Some("sub/b/d/* sub/a/* sub/b/c/* sub/a/*")),
            ("a{1..3}", Some("sub/a*")),
            ("[.a]github/x", Some("sub/?github/x")),
            ("@(a|.github)/x", Some("sub/*/x")),
            ("!(a)/x", Some("sub/*/x")),
            ("a/(b/c)", Some("sub/a/*/*")),
            ("../*", Some("*")),
            ("../../*", None),
            ("/tmp/*", None),
            ("a[x", None),
            ("[[:alpha:]]", None),
            ("\\*", None),
            ("a(b(c))", None),
            ("src/**.ts", None),
        ] {
            let found = globs(word, &RepoPath::parse("sub").unwrap());
            let shown = found.map(|globs| {
                globs.iter().map(crate::glob::PathGlob::text).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown.as_deref(), expected, "{word}");
        }
        let many = "{a,b}".repeat(7);
        assert!(globs(&many, &RepoPath::root()).is_none());
    }
}
