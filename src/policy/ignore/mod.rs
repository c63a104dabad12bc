//! Ignore files: what a repository hides from the agent, in the syntax of `.gitignore`, whatever
//! the rules of the policy say.
//!
//! In: the texts of `.locumignore` and its kin, read from the trusted ref by the caller, and a
//! path. Out: the line that hides the path. A path is a name here: that may be a file or a folder,
//! so what hides either hides it. A file inside a hidden folder is hidden, and no later line brings
//! it back. Letters count without case, since what is refused must not hang on spelling.

mod letters;

use std::collections::HashMap;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::glob::PathGlob;
use crate::ignore::letters::LetterLines;
use crate::verdict::RuleRef;
use locum_base::path::RepoPath;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;

/// Names of ignore files; they count in the repository's root only.
pub const IGNORE_FILES: &[&str] = &[".locumignore", ".rooignore", ".kilocodeignore"];

/// Most lines of one ignore file.
pub const LINES_LIMIT: usize = 5_000;

/// Every ignore file of a repository.
#[derive(Clone, Debug, Default)]
pub struct IgnoreFiles {
    files: Vec<IgnoreFile>,
}

impl IgnoreFiles {
    /// Takes one more file in. An empty one hides nothing, not even itself.
    ///
    /// # Errors
    /// Every line that is not a pattern, and a file with more than [`LINES_LIMIT`] lines: what is
    /// to be hidden would be seen.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), Vec<Diagnostic>> {
        if !text.trim_start_matches('\u{feff}').trim().is_empty() {
            self.files.push(IgnoreFile::parse(name, text)?);
        }
        Ok(())
    }

    /// Returns true when nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the name and text of every file that says something.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|file| (file.name.as_str(), file.text.as_str()))
    }

    /// Returns the lines that hide nothing although they say something, by the name of their file.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.files
            .iter()
            .flat_map(|file| file.left_out.iter().map(|mistake| (file.name.as_str(), mistake)))
    }

    /// Returns the line that hides a path, or `None`.
    pub fn hidden(&self, path: &RepoPath) -> Option<RuleRef> {
        self.files.iter().find_map(|file| file.hidden(path))
    }

    /// Returns the ignore file that a path is: it hides itself, since it names what is hidden.
    pub fn itself(&self, path: &RepoPath) -> Option<&str> {
        self.files
            .iter()
            .map(|file| file.name.as_str())
            .find(|name| path.as_str().eq_ignore_ascii_case(name))
    }

    /// Returns the patterns of the files themselves.
    pub fn itself_globs(&self) -> Vec<PathGlob> {
        self.files.iter().filter_map(|file| PathGlob::parse(&file.name).ok()).collect()
    }

    /// Returns patterns that together match everything hidden, or more: no line brings anything
    /// back.
    pub fn globs(&self) -> impl Iterator<Item = &PathGlob> {
        self.files.iter().flat_map(|file| &file.globs)
    }
}

/// One ignore file.
#[derive(Clone, Debug)]
struct IgnoreFile {
    name: String,
    text: String,
    matcher: Gitignore,
    globs: Vec<PathGlob>,
    /// For paths with letters beyond ASCII: the matcher goes by bytes.
    by_letters: LetterLines,
    /// Lines that are left out, as git does.
    left_out: Vec<Diagnostic>,
    /// The last line that says a pattern.
    lines: HashMap<String, PatternLine>,
}

/// Where a pattern stands and how it is written there.
#[derive(Clone, Debug)]
struct PatternLine {
    number: u32,
    written: String,
}

impl IgnoreFile {
    fn parse(name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        // The matcher wants to know where it stands; paths are relative to the root, so it gets
        // an empty one.
        let mut builder = GitignoreBuilder::new("");
        let mut mistakes = Vec::new();
        let mut lines = HashMap::new();
        let mut globs: Vec<PathGlob> = Vec::new();
        let (mut by_letters, mut left_out) = (LetterLines::default(), Vec::new());
        // Setting this cannot fail.
        let _ = builder.case_insensitive(true);
        for (number, written) in (1u32..).zip(text.trim_start_matches('\u{feff}').lines()) {
            if number as usize > LINES_LIMIT {
                mistakes.push(mistake(number, format!("more than {LINES_LIMIT} lines")));
                break;
            }
            if written.contains('\0') {
                let message = "holds U+0000, as UTF-16 does; save it as UTF-8".to_owned();
                mistakes.push(mistake(number, message));
                break;
            }
            if ends_escaped(written) {
                left_out
                    .push(mistake(number, format!("`{written}` ends with `\\`: it hides nothing")));
                continue;
            }
            for (spelling, needed) in spellings(written) {
                if !spelling.starts_with('!') {
                    let hides = braces(&spelling).into_iter();
                    globs.extend(hides.flat_map(|line| PathGlob::of_ignore_line(&line)));
                }
                match builder.add_line(None, &spelling) {
                    Ok(_) => {
                        by_letters.add(number, &spelling);
                        let written = written.trim_end().to_owned();
                        lines.insert(spelling, PatternLine { number, written });
                    }
                    Err(error) if needed => mistakes.push(mistake(
                        number,
                        format!("`{}` is not a pattern: {error}", written.trim_end()),
                    )),
                    Err(_) => {}
                }
            }
        }
        match builder.build() {
            Ok(matcher) if mistakes.is_empty() => Ok(Self {
                name: name.to_owned(),
                text: text.to_owned(),
                matcher,
                globs,
                by_letters,
                left_out: Diagnostics(left_out).finish(text),
                lines,
            }),
            Ok(_) => Err(Diagnostics(mistakes).finish(text)),
            Err(error) => {
                Err(vec![mistake(1, format!("its patterns cannot be used together: {error}"))])
            }
        }
    }

    fn hidden(&self, path: &RepoPath) -> Option<RuleRef> {
        let text = path.as_str();
        let folders = text
            .match_indices('/')
            .filter_map(|(end, _)| text.get(..end))
            .map(|folder| (folder, true));
        let mut names = folders.chain([(text, true), (text, false)]);
        if path.is_root() {
            return None;
        }
        let Some(hiding) = names.find_map(|(name, is_folder)| self.hiding(name, is_folder)) else {
            let number = if text.is_ascii() { None } else { self.by_letters.hiding(text) };
            return number.and_then(|number| self.line(number));
        };
        let (number, written) =
            self.lines.get(hiding).map_or((0, hiding), |line| (line.number, line.written.as_str()));
        Some(RuleRef::at(written, self.name.clone(), number))
    }

    fn line(&self, number: u32) -> Option<RuleRef> {
        let written = self.text.trim_start_matches('\u{feff}').lines();
        let written = written.zip(1u32..).find(|(_, at)| *at == number)?.0.trim_end();
        Some(RuleRef::at(written, self.name.clone(), number))
    }

    fn hiding(&self, name: &str, is_folder: bool) -> Option<&str> {
        match self.matcher.matched(name, is_folder) {
            Match::Ignore(glob) => Some(glob.original()),
            Match::None | Match::Whitelist(_) => None,
        }
    }
}

/// Returns true for a line that ends with a backslash which escapes nothing.
fn ends_escaped(line: &str) -> bool {
    let slashes = line.len() - line.trim_end_matches('\\').len();
    !line.starts_with('#') && slashes % 2 == 1
}

/// Returns a line without the blanks at its end, except one that a backslash escapes.
fn without_blanks(line: &str) -> String {
    let mut end = 0;
    let mut escaped = false;
    for (at, letter) in line.char_indices() {
        if escaped || !letter.is_whitespace() {
            end = at + letter.len_utf8();
        }
        escaped = letter == '\\' && !escaped;
    }
    let kept = line.get(..end).unwrap_or(line);
    // The matcher takes away a tab even where it is escaped.
    kept.strip_suffix("\\\t").map_or_else(|| kept.to_owned(), |head| format!("{head}[\t]"))
}

/// Returns the ways a line is understood, and whether each has to be a pattern. Braces are plain
/// characters in this syntax, but many write `*.{pem,key}` and mean both: such a line hides by
/// either reading, and brings back by the plain one only.
fn spellings(line: &str) -> Vec<(String, bool)> {
    let line = &without_blanks(line);
    // The matcher takes a pattern of nothing for one of everything, and would bring that back.
    let is_nothing = |pattern: &str| matches!(pattern, "" | "/" | "\\/");
    if line.is_empty() || line.starts_with('#') || line.strip_prefix('!').is_some_and(is_nothing) {
        return Vec::new();
    }
    if !line.contains(['{', '}']) {
        return vec![(line.to_owned(), true)];
    }
    let mut plain = String::with_capacity(line.len() + 8);
    let mut escaped = false;
    for letter in line.chars() {
        if matches!(letter, '{' | '}') && !escaped {
            plain.push('\\');
        }
        escaped = letter == '\\' && !escaped;
        plain.push(letter);
    }
    let mut spellings = vec![(plain, true)];
    if !line.starts_with('!') {
        spellings.push((line.to_owned(), false));
    }
    spellings
}

/// Writes `*.{pem,key}` out, once; braces inside braces, or more of them, become any letters.
fn braces(line: &str) -> Vec<String> {
    let plain = line.replace("\\{", "?").replace("\\}", "?");
    match plain
        .split_once('{')
        .and_then(|(head, rest)| rest.split_once('}').map(|(list, tail)| (head, list, tail)))
    {
        None => vec![plain],
        Some((head, list, tail)) if !list.contains('{') && !tail.contains(['{', '}']) => {
            list.split(',').map(|one| format!("{head}{one}{tail}")).collect()
        }
        Some((head, ..)) => vec![format!("{head}*"), format!("{head}*/**")],
    }
}

fn mistake(line: u32, message: String) -> Diagnostic {
    Diagnostic::new(Position { line, column: 1 }, message)
        .hint("the syntax is that of `.gitignore`")
}

#[cfg(test)]
mod tests;
