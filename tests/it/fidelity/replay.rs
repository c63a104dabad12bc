//! One change of a file, put to each edit tool as a model would write it: as it is, and with seeded
//! noise. Compares what comes out byte for byte.

#[path = "tools.rs"]
mod tools;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use locum_agent::tools::files::apply_diff::{self, BlockError, DiffError, NearCopies, Tolerance};
use locum_agent::tools::files::apply_patch::{self, PatchError};
use locum_agent::tools::files::edit::{self, ChangeError};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines that stay, around each change.
const CONTEXT_LINES: usize = 3;

/// Lines that stay around a change that was refused because its lines stand in several places.
const MORE_CONTEXT_LINES: usize = 12;

/// Furthest that a line number is off.
const OFF_LINES: u64 = 30;

/// What stands behind the last line of a file that it does not end.
const NO_LINE_END: &str = "\\ No newline at end of file\n";

/// Numbers that look random and are the same each time.
pub(crate) struct Rolls(u64);

impl Rolls {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }
}

/// What is wrong with a change as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Noise {
    /// Nothing: the change alone with its exact line.
    Nothing,
    /// The line number is off by up to 30.
    Line,
    /// There is no line number.
    NoLine,
    /// The blanks that all lines begin with are gone, and those at the ends of lines.
    Dedented,
    /// All lines begin with more blanks.
    Shifted,
    /// There is no line number, and the blanks that all lines begin with are gone.
    NoLineDedented,
    /// There is no line number, and all lines begin with more blanks.
    NoLineShifted,
    /// No line begins with a blank.
    Flattened,
    /// One line that stays is another.
    WrongLine,
    /// A number that may be off says where, and nothing else.
    NumberAlone,
}

impl Noise {
    pub(crate) const ALL: [Self; 6] =
        [Self::Line, Self::NoLine, Self::Dedented, Self::Shifted, Self::Flattened, Self::WrongLine];

    /// The same noise where no line is given besides.
    fn without_line(self) -> Option<Self> {
        match self {
            Self::Dedented => Some(Self::NoLineDedented),
            Self::Shifted => Some(Self::NoLineShifted),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "one change, exact line",
            Self::Line => "line off by up to 30",
            Self::NoLine => "no line",
            Self::Dedented => "common blanks stripped",
            Self::Shifted => "blanks added",
            Self::NoLineDedented => "no line, common blanks stripped",
            Self::NoLineShifted => "no line, blanks added",
            Self::Flattened => "all leading blanks stripped",
            Self::WrongLine => "a wrong context line",
            Self::NumberAlone => "a wrong number alone",
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// The same text, byte for byte.
    Same,
    /// Nothing was changed, for this reason.
    Refused(&'static str),
    /// The right place, with other text.
    OtherText,
    /// The same but for line ends or a byte order mark, which neither format can express.
    LineEnds,
    /// Another place, which the noise made the one that is named: the wrong line number is exactly
    /// that of another copy, or the changed text is what stands there, blank by blank.
    OtherCopy,
    /// Another place.
    WrongPlace,
}

/// A run of lines and what it becomes.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The first line, counted from 0.
    pub(crate) start: usize,
    pub(crate) old: Vec<String>,
    pub(crate) new: Vec<String>,
    /// Which of `old` stay.
    pub(crate) stays: Vec<usize>,
}

/// Both texts of a file, and its changes.
pub(crate) struct FileChange {
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) old: Vec<String>,
    pub(crate) changes: Vec<Change>,
}

/// What a tool makes of a file, or why it makes nothing.
pub(crate) type Replay = Result<String, &'static str>;

/// Splits as the tools do: the last line end starts an empty line.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect()
}

impl FileChange {
    pub(crate) fn new(before: String, after: String) -> Self {
        let (old, new) = (lines(&before), lines(&after));
        let changes = changes(&old, &new, CONTEXT_LINES);
        Self { before, after, old, changes }
    }

    pub(crate) fn count(&self) -> usize {
        self.changes.len()
    }

    /// Returns the same changes with more lines around each.
    pub(crate) fn wider(&self) -> Vec<Change> {
        changes(&self.old, &lines(&self.after), MORE_CONTEXT_LINES)
    }

    /// Sends the whole change to `apply_diff`;
    /// once more where it is asked about, which `asked` counts.
    fn by_diff(&self, asked: &mut usize) -> Replay {
        let diff: String =
            self.changes.iter().map(|change| block(change, Some(change.start + 1))).collect();
        let applied = match apply_diff::apply(&self.before, &diff) {
            Err(DiffError::Unconfirmed(_)) => {
                *asked += 1;
                let near_copies = NearCopies::Take;
                let tolerance = Tolerance { near_copies, ..Tolerance::default() };
                apply_diff::apply_with(&self.before, &diff, tolerance)
            }
            applied => applied,
        };
        let applied = applied.map_err(|error| reason_of_diff(&error))?;
        applied.failed.first().map_or(Ok(applied.content), |error| Err(reason_of_block(error)))
    }

    /// Sends the whole change to `apply_patch`; once more where it is asked about.
    fn by_patch(&self, changes: &[Change]) -> Replay {
        let chunks: String = changes.iter().map(|change| self.chunk(change, true)).collect();
        match patched(&self.before, &chunks, NearCopies::Ask) {
            Err(ASKED) => patched(&self.before, &chunks, NearCopies::Take),
            replay => replay,
        }
    }

    /// Sends the whole change to each tool that takes whole changes; once more with more lines
    /// around it where it was refused because they stand in several places.
    pub(crate) fn replayed(&self, asked: &mut usize) -> [(&'static str, Replay); 5] {
        let text = |send: &dyn Fn(&[Change]) -> Replay| match send(&self.changes) {
            _ if self.changes.is_empty() => Ok(self.before.clone()),
            Err(SEVERAL) => send(&self.wider()),
            result => result,
        };
        let diff =
            if self.changes.is_empty() { Ok(self.before.clone()) } else { self.by_diff(asked) };
        [
            ("apply_diff", diff),
            ("apply_patch", text(&|changes| self.by_patch(changes))),
            ("multi_edit", text(&|changes| tools::by_texts(&self.before, changes))),
            ("search_and_replace", text(&|changes| tools::by_search(&self.before, changes))),
            ("search_and_replace, regex", text(&|changes| tools::by_regex(&self.before, changes))),
        ]
    }

    /// Says what came of the whole change.
    fn fate(&self, replay: &Replay) -> Fate {
        match replay {
            Ok(text) => self.compared(text),
            Err(why) => Fate::Refused(why),
        }
    }

    /// Compares what a tool made of the file with what it became.
    pub(crate) fn compared(&self, text: &str) -> Fate {
        if text == self.after {
            Fate::Same
        } else if lines(text) == lines(&self.after) {
            Fate::LineEnds
        } else if text == self.before {
            Fate::Refused("nothing changed")
        } else {
            Fate::OtherText
        }
    }

    /// Sends each change alone with noise; calls back with what came of it.
    pub(crate) fn with_noise(
        &self,
        rolls: &mut Rolls,
        mut told: impl FnMut(&'static str, Noise, Fate),
    ) {
        for change in &self.changes {
            let exact = self.noisy_diff(change, change, Some(change.start + 1));
            told("apply_diff", Noise::Nothing, exact);
            self.by_texts(change, change, Noise::NoLine, &mut told);
            self.within_lines(change, change.start + 1, Noise::Nothing, &mut told);
            self.within_lines(change, off(change.start + 1, rolls), Noise::Line, &mut told);
            for noise in Noise::ALL {
                let Some(noisy) = noisy(change, noise, rolls) else { continue };
                let line = match noise {
                    Noise::NoLine => None,
                    _ => Some(off(change.start + 1, rolls)),
                };
                told("apply_diff", noise, self.noisy_diff(change, &noisy, line));
                if let Some(without_line) = noise.without_line() {
                    told("apply_diff", without_line, self.noisy_diff(change, &noisy, None));
                }
                if !matches!(noise, Noise::Line | Noise::NoLine) {
                    told("apply_patch", noise, self.noisy_patch(change, &noisy));
                    self.by_texts(change, &noisy, noise, &mut told);
                }
            }
            told("apply_patch", Noise::NoLine, self.noisy_patch(change, change));
        }
        for insertion in self.insertions() {
            let exact = insertion.start + 1;
            let mut sent = |noisy: &Change, noise: Noise, line: usize| {
                told("insert_content", noise, self.noisy_insertion(&insertion, noisy, line));
            };
            sent(&insertion, Noise::Nothing, exact);
            for noise in Noise::ALL {
                let Some(noisy) = noisy(&insertion, noise, rolls) else { continue };
                if noise != Noise::NoLine {
                    sent(&noisy, noise, off(exact, rolls));
                }
            }
            let alone = tools::inserted(&self.before, off(exact, rolls), None, &insertion);
            let fate = match alone {
                Err(why) => Fate::Refused(why),
                Ok(text) => self.placed((&insertion, &insertion), &text, None),
            };
            told("insert_content", Noise::NumberAlone, fate);
        }
    }

    /// Sends a change as an old and a new text.
    fn by_texts(
        &self,
        change: &Change,
        noisy: &Change,
        noise: Noise,
        told: &mut impl FnMut(&'static str, Noise, Fate),
    ) {
        let noisy_alone = std::slice::from_ref(noisy);
        for (tool, replay) in [
            ("multi_edit", tools::by_texts(&self.before, noisy_alone)),
            ("search_and_replace", tools::by_search(&self.before, noisy_alone)),
            ("search_and_replace, regex", tools::by_regex(&self.before, noisy_alone)),
        ] {
            let fate = match replay {
                Err(why) => Fate::Refused(why),
                Ok(text) => self.placed((change, noisy), &text, None),
            };
            told(tool, noise, fate);
        }
    }

    /// Sends a change to `search_and_replace` with the lines to look at.
    fn within_lines(
        &self,
        change: &Change,
        first: usize,
        noise: Noise,
        told: &mut impl FnMut(&'static str, Noise, Fate),
    ) {
        let last = first + change.old.len() - usize::from(!change.old.is_empty());
        let fate = match tools::within(&self.before, change, (first, last)) {
            Err(why) => Fate::Refused(why),
            Ok(text) => self.placed((change, change), &text, Some(first)),
        };
        told("search_and_replace, lines", noise, fate);
    }

    fn noisy_insertion(&self, insertion: &Change, noisy: &Change, line: usize) -> Fate {
        match tools::inserted(&self.before, line, Some(&noisy.old), noisy) {
            Err(why) => Fate::Refused(why),
            Ok(text) => self.placed((insertion, noisy), &text, Some(line)),
        }
    }

    /// Returns the lines that are put in before others: each as a change of those, the first of
    /// which that is not blank and what is above it.
    fn insertions(&self) -> Vec<Change> {
        let new = lines(&self.after);
        let ops = capture_diff_slices(Algorithm::Myers, &self.old, &new);
        let insertion = |op: &DiffOp| {
            let DiffOp::Insert { old_index, new_index, new_len } = *op else { return None };
            let below = self.old.get(old_index..)?;
            let height = 1 + below.iter().position(|line| !line.trim().is_empty())?;
            let old = below[..height].to_vec();
            let new = [&new[new_index..new_index + new_len], &old].concat();
            Some(Change { start: old_index, old, new, stays: (0..height).collect() })
        };
        ops.iter().filter_map(insertion).collect()
    }

    fn noisy_diff(&self, change: &Change, noisy: &Change, line: Option<usize>) -> Fate {
        match apply_diff::apply(&self.before, &block(noisy, line)) {
            Err(error) => Fate::Refused(reason_of_diff(&error)),
            Ok(applied) => self.placed((change, noisy), &applied.content, line),
        }
    }

    fn noisy_patch(&self, change: &Change, noisy: &Change) -> Fate {
        match patched(&self.before, &self.chunk(noisy, false), NearCopies::Ask) {
            Err(why) => Fate::Refused(why),
            Ok(text) => self.placed((change, noisy), &text, None),
        }
    }

    /// Says where one change went.
    fn placed(&self, (change, noisy): (&Change, &Change), text: &str, line: Option<usize>) -> Fate {
        if text == self.before {
            return Fate::Refused("nothing changed");
        }
        let run = change.start..change.start + change.old.len();
        let mut expected = self.old.clone();
        expected.splice(run.clone(), change.new.iter().cloned());
        let found = lines(text);
        // A patch ends the last line of a file that it touches.
        let ended = |lines: &[String]| {
            lines
                .split_last()
                .map(|(last, rest)| if last.is_empty() { rest.to_vec() } else { lines.to_vec() })
        };
        if found == expected || ended(&found) == ended(&expected) {
            return Fate::Same;
        }
        let head = self.old.iter().zip(&found).take_while(|(old, new)| old == new).count();
        let most = self.old.len().min(found.len()) - head;
        let tail = self.old.iter().rev().zip(found.iter().rev());
        let tail = tail.take_while(|(old, new)| old == new).count().min(most);
        let touched = head..(self.old.len() - tail).max(head);
        if touched.start >= run.start && touched.end <= run.end {
            return Fate::OtherText;
        }
        let copy = |at: &usize| {
            let there = self.old.get(*at..*at + change.old.len()).unwrap_or_default();
            !there.is_empty()
                && there.iter().zip(&change.old).all(|(one, two)| one.trim() == two.trim())
        };
        let named = line.map(|line| line - 1);
        let sent = without_blank_ends(&noisy.old);
        let as_sent = noisy.old != change.old
            && around(touched.start, noisy.old.len() + noisy.new.len())
                .any(|at| self.old.get(at..at + sent.len()) == Some(sent));
        if as_sent || named.is_some_and(|at| at != change.start && copy(&at)) {
            Fate::OtherCopy
        } else {
            Fate::WrongPlace
        }
    }

    /// Writes a change as a chunk of a patch; in one of several, a file that does not end with a
    /// line end says so.
    fn chunk(&self, change: &Change, whole: bool) -> String {
        let mut text = String::from("@@\n");
        let last = self.old.len();
        let end = change.start + change.old.len();
        let (mut old, mut new) = (change.old.as_slice(), change.new.as_slice());
        let at_end = end == last;
        // The empty line behind the last line end is no line of a patch.
        let old_ended = at_end && old.last().is_some_and(String::is_empty);
        let new_ended = at_end && new.last().is_some_and(String::is_empty);
        if old_ended {
            old = &old[..old.len() - 1];
        }
        if new_ended {
            new = &new[..new.len() - 1];
        }
        let mut ops = capture_diff_slices(Algorithm::Myers, old, new);
        let unended = whole && at_end && !new_ended && !new.is_empty();
        let was_unended = whole && at_end && !old_ended && new_ended;
        let ends_new = matches!(ops.last(), Some(DiffOp::Insert { .. } | DiffOp::Replace { .. }));
        if was_unended || (unended && !ends_new) {
            // What is said of the end of a file is said of the line before it.
            let (old_len, new_len) = (old.len(), new.len());
            ops = vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }];
        }
        let marked = |mark: char, lines: &[String], text: &mut String| {
            for line in lines {
                let _ = writeln!(text, "{mark}{line}");
            }
        };
        for op in ops {
            marked(
                if matches!(op, DiffOp::Equal { .. }) { ' ' } else { '-' },
                &old[op.old_range()],
                &mut text,
            );
            if was_unended {
                text.push_str(NO_LINE_END);
            }
            if !matches!(op, DiffOp::Equal { .. }) {
                marked('+', &new[op.new_range()], &mut text);
            }
        }
        if unended {
            text.push_str(NO_LINE_END);
        }
        text
    }
}

fn changes(old: &[String], new: &[String], context: usize) -> Vec<Change> {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    if ops.iter().all(|op| matches!(op, DiffOp::Equal { .. })) {
        return Vec::new();
    }
    group_diff_ops(ops, context)
        .into_iter()
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let (old_run, new_run) = (
                first.old_range().start..last.old_range().end,
                first.new_range().start..last.new_range().end,
            );
            let stays = group
                .iter()
                .filter(|op| matches!(op, DiffOp::Equal { .. }))
                .flat_map(|op| op.old_range())
                .map(|line| line - old_run.start)
                .collect();
            let (start, old, new) = (old_run.start, old[old_run].to_vec(), new[new_run].to_vec());
            Some(Change { start, old, new, stays })
        })
        .collect()
}

/// Writes a change as a block of a diff, with what looks like a marker escaped.
fn block(change: &Change, line: Option<usize>) -> String {
    let line = line.map_or(String::new(), |line| format!(":start_line:{line}\n-------\n"));
    let escaped = |lines: &[String]| -> String {
        let one = |line: &String| {
            let text = line.trim();
            let marker = text == "======="
                || ["<<<<<<<", ">>>>>>>", "-------", ":start_line:", ":end_line:"]
                    .iter()
                    .any(|marker| text.starts_with(marker));
            format!("{}{line}\n", if marker { "\\" } else { "" })
        };
        lines.iter().map(one).collect()
    };
    format!(
        "<<<<<<< SEARCH\n{line}{}=======\n{}>>>>>>> REPLACE\n",
        escaped(&change.old),
        escaped(&change.new)
    )
}

/// Applies chunks to one file, questions asked or taken as answered.
fn patched(before: &str, chunks: &str, near_copies: NearCopies) -> Result<String, &'static str> {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{chunks}*** End Patch");
    let hunks = apply_patch::parse::parse(&patch).map_err(|_| "not a patch")?;
    let read = |_: &String| Ok(Some(before.to_owned()));
    let reason = |error: PatchError| match error {
        PatchError::Several { .. } => SEVERAL,
        PatchError::Alike { .. } => ASKED,
        PatchError::Indentation { .. } => "indentation unclear",
        PatchError::Placeholder { .. } => "placeholder",
        PatchError::OnlyAdds { .. } => "adds lines without a place",
        PatchError::NoMatch { .. } | PatchError::NoContext { .. } => "no such lines",
        PatchError::Missing { .. }
        | PatchError::Occupied { .. }
        | PatchError::AddedTwice { .. }
        | PatchError::Unreadable { .. } => "file",
    };
    let files = match near_copies {
        NearCopies::Ask => apply_patch::apply(&hunks, ToOwned::to_owned, read),
        NearCopies::Take => {
            apply_patch::apply_asking(&hunks, ToOwned::to_owned, read).map(|it| it.files)
        }
    };
    let files = files.map_err(reason)?;
    files.into_iter().next().and_then(|file| file.after).ok_or("file")
}

const SEVERAL: &str = "several places";

const TOO_LONG: &str = "too long a file, or too many places";

const ASKED: &str = "asked whether the line is right";

/// Says why the engine changed nothing.
pub(crate) fn reason_of_change(error: &ChangeError) -> &'static str {
    use edit::search::SearchError;
    use edit::texts::TextError;
    let of_text = |why: &TextError| match why {
        TextError::Several { .. } => SEVERAL,
        TextError::Places(_) => TOO_LONG,
        TextError::Block(error) => reason_of_block(error),
    };
    match error {
        error if error.is_question() => ASKED,
        ChangeError::Blocks(error) => reason_of_diff(error),
        ChangeError::Text { why, .. } => of_text(why),
        ChangeError::Insertion(edit::insertion::InsertionError::Anchor(error)) => {
            reason_of_block(error)
        }
        ChangeError::Insertion(_) => "no such line",
        ChangeError::Search(SearchError::Text(why)) => of_text(why),
        ChangeError::Search(SearchError::TooLong | SearchError::Places(_)) => TOO_LONG,
        ChangeError::Search(SearchError::Count { .. }) => SEVERAL,
        ChangeError::Search(SearchError::Nowhere { .. }) => "no such lines",
        ChangeError::Search(SearchError::Regex(_)) => "too long for a pattern",
        ChangeError::Search(_) => "no such text",
        ChangeError::Notebook(_) => "no such cell",
    }
}

fn reason_of_diff(error: &DiffError) -> &'static str {
    match error {
        DiffError::Parse(_) => "not a diff",
        DiffError::NoBlockFits(failed) => failed.first().map_or("", reason_of_block),
        DiffError::Unconfirmed(_) => ASKED,
    }
}

fn reason_of_block(error: &BlockError) -> &'static str {
    use locum_agent::tools::files::apply_diff::miss::Miss;
    match error {
        BlockError::Identical => "identical",
        BlockError::EmptySearch => "blank lines alone",
        BlockError::NoMatch(miss) => match miss.why {
            Miss::Nowhere { .. } => "no such lines",
            Miss::Several { .. } => SEVERAL,
            Miss::NearCopies { .. } | Miss::Alike { .. } => ASKED,
            Miss::Indentation { .. } => "indentation unclear",
            Miss::Placeholder { .. } => "placeholder",
        },
    }
}

/// Returns lines without the blank ones they begin and end with, which both tools may leave out.
fn without_blank_ends(mut lines: &[String]) -> &[String] {
    while let [first, rest @ ..] = lines
        && first.trim().is_empty()
    {
        lines = rest;
    }
    while let [rest @ .., last] = lines
        && last.trim().is_empty()
    {
        lines = rest;
    }
    lines
}

fn around(line: usize, reach: usize) -> Range<usize> {
    line.saturating_sub(reach)..line + reach + 1
}

fn off(line: usize, rolls: &mut Rolls) -> usize {
    let by = usize::try_from(1 + rolls.below(OFF_LINES)).unwrap_or(1);
    if rolls.below(2) == 0 { line + by } else { line.saturating_sub(by).max(1) }
}

/// Makes noise of a change; `None` where it would be none.
fn noisy(change: &Change, noise: Noise, rolls: &mut Rolls) -> Option<Change> {
    let each = |lines: &[String], make: &dyn Fn(&str) -> String| -> Vec<String> {
        lines.iter().map(|line| make(line)).collect()
    };
    let mut noisy = change.clone();
    match noise {
        Noise::Nothing | Noise::Line | Noise::NoLine | Noise::NumberAlone => return Some(noisy),
        Noise::Dedented | Noise::NoLineDedented => {
            let all = change.old.iter().chain(&change.new).filter(|line| !line.trim().is_empty());
            let common =
                all.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min()?;
            let cut =
                |line: &str| line.get(common.min(line.len())..).unwrap_or_default().to_owned();
            noisy.old = each(&change.old, &|line| cut(line).trim_end().to_owned());
            noisy.new = each(&change.new, &|line| {
                if line.trim().is_empty() { line.to_owned() } else { cut(line) }
            });
        }
        Noise::Shifted | Noise::NoLineShifted => {
            let by = match rolls.below(4) {
                0 => "\t".to_owned(),
                many => " ".repeat(usize::try_from(2 * many).unwrap_or(2)),
            };
            let shift =
                |line: &str| if line.is_empty() { String::new() } else { format!("{by}{line}") };
            noisy.old = each(&change.old, &shift);
            noisy.new = each(&change.new, &shift);
        }
        Noise::Flattened => {
            let flat = |line: &str| line.trim_start_matches([' ', '\t']).to_owned();
            noisy.old = each(&change.old, &flat);
            noisy.new = each(&change.new, &flat);
        }
        Noise::WrongLine => {
            let at =
                *change.stays.get(usize::try_from(rolls.below(change.stays.len() as u64)).ok()?)?;
            let line = noisy.old.get_mut(at)?;
            let wrong = format!("{line} changed");
            // The line stays in the new text, too.
            if let Some(same) = noisy.new.iter_mut().find(|new| *new == line) {
                same.clone_from(&wrong);
            }
            *line = wrong;
        }
    }
    (noisy.old != change.old && noisy.old != noisy.new).then_some(noisy)
}

/// How often what came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) exact: BTreeMap<&'static str, BTreeMap<Fate, usize>>,
    pub(crate) noisy: BTreeMap<(&'static str, Noise), BTreeMap<Fate, usize>>,
    /// Files whose changes `apply_diff` was sent twice, as it asked.
    pub(crate) asked: usize,
}

impl Tally {
    /// Adds what tools made of the whole change, and replays it in every other way; calls back with
    /// what came of each.
    pub(crate) fn add(
        &mut self,
        file: &FileChange,
        replays: &[(&'static str, Replay)],
        rolls: &mut Rolls,
        mut told: impl FnMut(&'static str, Option<Noise>, &Fate),
    ) {
        for (tool, replay) in replays {
            self.told_exact(tool, file.fate(replay), &mut told);
        }
        self.told_exact("notebook_edit", tools::by_notebook(file), &mut told);
        let written = tools::written(&file.after);
        self.told_exact("write_to_file", file.compared(&written), &mut told);
        file.with_noise(rolls, |tool, noise, fate| {
            told(tool, Some(noise), &fate);
            *self.noisy.entry((tool, noise)).or_default().entry(fate).or_default() += 1;
        });
    }

    fn told_exact(
        &mut self,
        tool: &'static str,
        fate: Fate,
        told: &mut impl FnMut(&'static str, Option<Noise>, &Fate),
    ) {
        told(tool, None, &fate);
        *self.exact.entry(tool).or_default().entry(fate).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.asked += other.asked;
        for (tool, fates) in other.exact {
            for (fate, count) in fates {
                *self.exact.entry(tool).or_default().entry(fate).or_default() += count;
            }
        }
        for (way, fates) in other.noisy {
            for (fate, count) in fates {
                *self.noisy.entry(way).or_default().entry(fate).or_default() += count;
            }
        }
    }

    /// Changes that came out wrong though nothing was wrong with them, or went to a wrong place.
    pub(crate) fn wrong(&self) -> usize {
        let exact = self.exact.values().map(|fates| {
            count(fates, |fate| *fate == Fate::OtherText || *fate == Fate::WrongPlace)
        });
        let noisy = self.noisy.values().map(|fates| count(fates, |fate| *fate == Fate::WrongPlace));
        exact.chain(noisy).sum()
    }

    /// Says it all, a line for each way.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "{:<44} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
            "", "same", "refused", "line ends", "other", "copy", "WRONG"
        );
        let exact = self.exact.iter().map(|(tool, fates)| (format!("{tool}, as committed"), fates));
        let noisy = self
            .noisy
            .iter()
            .map(|((tool, noise), fates)| (format!("{tool}, {}", noise.name()), fates));
        for (name, fates) in exact.chain(noisy) {
            let of = |wanted: &Fate| fates.get(wanted).copied().unwrap_or_default();
            let refused = count(fates, |fate| matches!(fate, Fate::Refused(_)));
            let _ = writeln!(
                text,
                "{name:<44} {:>9} {refused:>9} {:>9} {:>9} {:>9} {:>9}",
                of(&Fate::Same),
                of(&Fate::LineEnds),
                of(&Fate::OtherText),
                of(&Fate::OtherCopy),
                of(&Fate::WrongPlace)
            );
            for (fate, count) in fates {
                if let Fate::Refused(why) = fate {
                    let _ = writeln!(
                        text,
                        "{:<44} {:>9} {count:>9}",
                        "",
                        why.chars().take(60).collect::<String>()
                    );
                }
            }
        }
        let _ = writeln!(text, "apply_diff, as committed: {} asked about first", self.asked);
        text
    }
}

fn count(fates: &BTreeMap<Fate, usize>, is: impl Fn(&Fate) -> bool) -> usize {
    fates.iter().filter(|(fate, _)| is(fate)).map(|(_, count)| count).sum()
}
