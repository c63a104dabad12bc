//! Lines of ignore files by the letters of names, for paths with letters beyond ASCII: the matcher
//! for all others goes by bytes, to which such a letter is several, and knows no case of it.
//!
//! In: lines as `.gitignore` writes them, and a path. Out: the line that hides the path, where no
//! later one brings it back. What hides ignores the case of letters; what brings back does so for
//! ASCII alone.

use crate::glob::{folded_letter, wildcard};

/// Most letters and wildcards that the braces of a line are written out to.
const LINE_BRACES_LIMIT: usize = 20_000;

/// The same of a file.
const BRACES_LIMIT: usize = 500_000;

/// Every line of an ignore file that says a pattern, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct LetterLines {
    lines: Vec<LetterLine>,
    /// How much was written out of braces, in letters and wildcards.
    out_of_braces: usize,
}

#[derive(Clone, Debug)]
struct LetterLine {
    number: u32,
    effect: LineEffect,
    only_folders: bool,
    parts: Vec<LinePart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEffect {
    Hides,
    BringsBack,
}

/// What stands between two slashes.
#[derive(Clone, Debug)]
enum LinePart {
    /// `**`
    AnyFolders,
    Name(Vec<LineToken>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LineToken {
    Letter(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `[a-z]`
    Set(LetterSet),
    Slash,
    /// `{`, `,` and `}` where they are not plain letters.
    Open,
    Comma,
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LetterSet {
    negated: bool,
    ranges: Vec<(char, char)>,
}

/// A letter of a name, as it is written and in all its cases.
struct NameLetter {
    written: char,
    folded: char,
}

impl LetterLines {
    /// Takes a line in, which must not be a comment. One that can match nothing is left out.
    pub(super) fn add(&mut self, number: u32, line: &str) {
        let (effect, line) = match (line.strip_prefix('!'), line.strip_prefix('\\')) {
            (Some(rest), _) => (LineEffect::BringsBack, rest),
            (None, Some(rest)) if rest.starts_with(['!', '#']) => (LineEffect::Hides, rest),
            (None, _) => (LineEffect::Hides, line),
        };
        let (only_folders, line) = match line.strip_suffix('/') {
            // A slash that is escaped is one all the same.
            Some(folder) => (true, folder.strip_suffix('\\').unwrap_or(folder)),
            None => (false, line),
        };
        let (rooted, line) = line.strip_prefix('/').map_or((false, line), |it| (true, it));
        let anywhere = !rooted && !line.contains('/');
        let texts = tokens(line).map(|tokens| self.written_out(tokens, effect)).unwrap_or_default();
        for mut parts in texts.iter().filter_map(|tokens| parts(tokens)) {
            if anywhere {
                parts.insert(0, LinePart::AnyFolders);
            }
            // Any folders, twice in a row, are any folders.
            parts.dedup_by(|next, before| {
                matches!((next, before), (LinePart::AnyFolders, LinePart::AnyFolders))
            });
            if parts.len() > 1 && matches!(parts.last(), Some(LinePart::AnyFolders)) {
                // `a/**` is what lies in the folder, and not the folder.
                parts.push(LinePart::Name(vec![LineToken::Many]));
            }
            self.lines.push(LetterLine { number, effect, only_folders, parts });
        }
    }

    /// Writes braces out. Where they come to too much, they hide any name and all in it, and bring
    /// nothing back.
    fn written_out(&mut self, tokens: Vec<LineToken>, effect: LineEffect) -> Vec<Vec<LineToken>> {
        let head = tokens.iter().take_while(|token| **token != LineToken::Open);
        let wide: Vec<LineToken> = head.cloned().chain([LineToken::Many]).collect();
        let mut done = Vec::new();
        let before = self.out_of_braces;
        let mut waiting = vec![tokens];
        while let Some(tokens) = waiting.pop() {
            let Some(texts) = first_braces(&tokens) else {
                done.push(tokens);
                continue;
            };
            self.out_of_braces += texts.iter().map(Vec::len).sum::<usize>();
            let of_line = self.out_of_braces - before;
            let is_much = of_line > LINE_BRACES_LIMIT || self.out_of_braces > BRACES_LIMIT;
            if is_much && effect == LineEffect::BringsBack {
                return Vec::new();
            }
            if is_much {
                let below = [LineToken::Slash, LineToken::Many, LineToken::Many];
                return vec![wide.clone(), wide.into_iter().chain(below).collect()];
            }
            waiting.extend(texts);
        }
        done
    }

    /// Returns the number of the line that hides a path, or a folder that it lies in.
    pub(super) fn hiding(&self, path: &str) -> Option<u32> {
        let letter = |written| NameLetter { written, folded: folded_letter(written) };
        let names: Vec<Vec<NameLetter>> =
            path.split('/').map(|name| name.chars().map(letter).collect()).collect();
        // For each folder, the last of which is the path itself; and for the path as a file.
        let mut folders: Vec<Option<&LetterLine>> = vec![None; names.len()];
        let mut file = None;
        for line in &self.lines {
            let mut places = line.start();
            for (name, deciding) in names.iter().zip(&mut folders) {
                places = line.after(&places, name);
                if places.last() == Some(&true) {
                    *deciding = Some(line);
                }
            }
            if places.last() == Some(&true) && !line.only_folders {
                file = Some(line);
            }
        }
        let mut deciding = folders.into_iter().chain([file]).flatten();
        deciding.find(|line| line.effect == LineEffect::Hides).map(|line| line.number)
    }
}

impl LetterLine {
    /// Returns for each place in its parts whether it is reached before the first name; the last
    /// is the end.
    fn start(&self) -> Vec<bool> {
        let mut places = vec![false; self.parts.len() + 1];
        self.reach(&mut places, 0);
        places
    }

    /// Marks a place, and the one behind it where no folder is needed to get there.
    fn reach(&self, places: &mut [bool], at: usize) {
        if let Some(place) = places.get_mut(at) {
            *place = true;
            if matches!(self.parts.get(at), Some(LinePart::AnyFolders)) {
                self.reach(places, at + 1);
            }
        }
    }

    /// Returns the places that are reached behind one more name.
    fn after(&self, places: &[bool], name: &[NameLetter]) -> Vec<bool> {
        let mut next = vec![false; places.len()];
        let reached =
            self.parts.iter().zip(places).enumerate().filter(|(_, (_, reached))| **reached);
        for (at, (part, _)) in reached {
            match part {
                LinePart::AnyFolders => self.reach(&mut next, at),
                LinePart::Name(tokens) if self.names(tokens, name) => {
                    self.reach(&mut next, at + 1);
                }
                LinePart::Name(_) => {}
            }
        }
        next
    }

    fn names(&self, tokens: &[LineToken], name: &[NameLetter]) -> bool {
        let same = |token: Option<&LineToken>, letter: Option<&NameLetter>| {
            token.zip(letter).is_some_and(|(token, letter)| self.matches(token, letter))
        };
        let ends = |token: Option<&LineToken>, letter| {
            token == Some(&LineToken::Many) || same(token, letter)
        };
        ends(tokens.first(), name.first())
            && ends(tokens.last(), name.last())
            && wildcard(
                tokens.len(),
                name.len(),
                |at| tokens.get(at) == Some(&LineToken::Many),
                |at, to| same(tokens.get(at), name.get(to)),
            )
    }

    fn matches(&self, token: &LineToken, letter: &NameLetter) -> bool {
        match (token, self.effect) {
            (LineToken::One, _) => true,
            (LineToken::Letter(wanted), LineEffect::Hides) => {
                folded_letter(*wanted) == letter.folded
            }
            (LineToken::Letter(wanted), LineEffect::BringsBack) => {
                wanted.eq_ignore_ascii_case(&letter.written)
            }
            (LineToken::Set(set), effect) => set.matches(letter, effect),
            (
                LineToken::Many
                | LineToken::Slash
                | LineToken::Open
                | LineToken::Comma
                | LineToken::Close,
                _,
            ) => false,
        }
    }
}

impl LetterSet {
    fn matches(&self, letter: &NameLetter, effect: LineEffect) -> bool {
        let holds =
            |letter: char| self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
        let written = letter.written;
        let in_ascii =
            || holds(written.to_ascii_lowercase()) || holds(written.to_ascii_uppercase());
        let in_any_case = || {
            holds(written)
                || holds(letter.folded)
                || written.to_uppercase().chain(letter.folded.to_uppercase()).any(holds)
        };
        match (self.negated, effect) {
            // Of the ways to read `[!É]`, the one counts that hides `é`.
            (true, _) => !in_ascii(),
            (false, LineEffect::Hides) => in_any_case(),
            (false, LineEffect::BringsBack) => in_ascii(),
        }
    }
}

/// Reads a pattern; `None` when a set in brackets is not valid.
fn tokens(line: &str) -> Option<Vec<LineToken>> {
    let mut tokens = Vec::new();
    let mut letters = line.chars();
    let mut depth = 0_usize;
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '\\' => match letters.next()? {
                '/' => LineToken::Slash,
                letter => LineToken::Letter(letter),
            },
            '?' => LineToken::One,
            '*' => LineToken::Many,
            '/' => LineToken::Slash,
            '{' => {
                depth += 1;
                LineToken::Open
            }
            ',' if depth > 0 => LineToken::Comma,
            '}' => {
                depth = depth.checked_sub(1)?;
                LineToken::Close
            }
            '[' => match set(letters.as_str()) {
                Some((set, rest)) => {
                    letters = rest.chars();
                    LineToken::Set(set?)
                }
                // A set that is not closed is a letter of its own.
                None => LineToken::Letter('['),
            },
            letter => LineToken::Letter(letter),
        });
    }
    (depth == 0).then_some(tokens)
}

/// Reads what stands behind `[`, and returns it with what follows; `None` where it is not closed.
/// The set is `None` where a range ends before it begins.
fn set(text: &str) -> Option<(Option<LetterSet>, &str)> {
    let inner = text.strip_prefix(['!', '^']);
    let (negated, inner) = (inner.is_some(), inner.unwrap_or(text));
    let close = inner.char_indices().skip(1).find(|(_, letter)| *letter == ']')?.0;
    let (inner, rest) = (inner.get(..close)?, inner.get(close + 1..)?);
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut in_range = false;
    for letter in inner.chars() {
        match ranges.last_mut() {
            Some(last) if in_range => {
                last.1 = letter;
                in_range = false;
            }
            Some(_) if letter == '-' => in_range = true,
            Some(_) | None => ranges.push((letter, letter)),
        }
    }
    if in_range {
        ranges.push(('-', '-'));
    }
    let ordered = ranges.iter().all(|(from, to)| from <= to);
    Some((ordered.then_some(LetterSet { negated, ranges }), rest))
}

/// Returns what the first pair of braces may stand for, each with what is around it; `None` where
/// there are no braces.
fn first_braces(tokens: &[LineToken]) -> Option<Vec<Vec<LineToken>>> {
    let open = tokens.iter().position(|token| *token == LineToken::Open)?;
    let (head, inner) = (tokens.get(..open)?, tokens.get(open + 1..)?);
    let mut texts = vec![head.to_vec()];
    let mut depth = 0_usize;
    for (at, token) in inner.iter().enumerate() {
        match token {
            LineToken::Comma if depth == 0 => {
                texts.push(head.to_vec());
                continue;
            }
            LineToken::Open => depth += 1,
            LineToken::Close if depth == 0 => {
                let tail = inner.get(at + 1..)?;
                texts.iter_mut().for_each(|text| text.extend_from_slice(tail));
                return Some(texts);
            }
            LineToken::Close => depth -= 1,
            LineToken::Letter(_)
            | LineToken::One
            | LineToken::Many
            | LineToken::Set(_)
            | LineToken::Slash
            | LineToken::Comma => {}
        }
        texts.last_mut()?.push(token.clone());
    }
    None
}

/// Cuts a pattern at its slashes; `None` where nothing stands between two of them, which no path
/// matches.
fn parts(tokens: &[LineToken]) -> Option<Vec<LinePart>> {
    tokens
        .split(|token| *token == LineToken::Slash)
        .map(|part| match part {
            [] => None,
            [LineToken::Many, LineToken::Many] => Some(LinePart::AnyFolders),
            part => Some(LinePart::Name(part.to_vec())),
        })
        .collect()
}
