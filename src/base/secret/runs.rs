//! `FragmentFinder`: finds long enough parts of registered values, in every encoding they are
//! likely to be smuggled out in.
//!
//! Each encoded form of a value is cut into blocks; any part of it that is long enough holds one
//! whole block. So one search for all blocks finds every candidate, which is then compared to both
//! sides.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::bytes::{Regex, RegexBuilder};

use crate::secret::view::NormalizedText;

/// A part of a value counts from this length on, or from half the value where that is more.
const SHORTEST_RUN_BYTES: usize = 12;

/// Parts of this length always count, however long the value.
const LONGEST_RUN_BYTES: usize = 24;

/// Finds parts of registered values.
#[derive(Clone, Debug, Default)]
pub struct FragmentFinder {
    forms: Vec<EncodedForm>,
    blocks: Vec<EncodedBlock>,
    search: Option<Regex>,
}

/// One value in one encoding, in lower case.
#[derive(Clone)]
struct EncodedForm {
    bytes: Vec<u8>,
    shortest: usize,
}

impl std::fmt::Debug for EncodedForm {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("***")
    }
}

/// A block of a form: which form, where in it, how long.
#[derive(Clone, Copy, Debug)]
struct EncodedBlock {
    form: usize,
    at: usize,
    length: usize,
}

impl FragmentFinder {
    /// Prepares the search for parts of the given values.
    pub fn new<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut forms: Vec<EncodedForm> = values.flat_map(forms_of).collect();
        forms.sort_by(|one, other| one.bytes.cmp(&other.bytes));
        forms.dedup_by(|one, other| one.bytes == other.bytes);
        let blocks: Vec<EncodedBlock> =
            forms.iter().enumerate().flat_map(|(index, form)| blocks_of(index, form)).collect();
        let search = (!blocks.is_empty()).then(|| {
            let mut texts: Vec<String> = blocks
                .iter()
                .filter_map(|block| {
                    forms.get(block.form)?.bytes.get(block.at..block.at + block.length)
                })
                .map(|bytes| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect())
                .collect();
            texts.sort();
            texts.dedup();
            compile(&texts)
        });
        Self { forms, blocks, search }
    }

    /// Returns where parts of values stand in a folded view.
    pub fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let Some(search) = &self.search else { return Vec::new() };
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = search.find_at(bytes, from) {
            let widest = self
                .blocks
                .iter()
                .filter_map(|block| self.widen(bytes, hit.start(), *block))
                .max_by_key(ExactSizeIterator::len);
            from = match widest {
                Some(range) => {
                    found.push(range.clone());
                    range.end
                }
                None => hit.start() + 1,
            };
        }
        found
    }

    /// Returns how far the text around a block matches the form the block is from, when that is far
    /// enough.
    fn widen(&self, bytes: &[u8], hit: usize, block: EncodedBlock) -> Option<Range<usize>> {
        let form = self.forms.get(block.form)?;
        let rest = bytes.get(hit..)?;
        let ahead = form
            .bytes
            .get(block.at..)?
            .iter()
            .zip(rest)
            .take_while(|(one, other)| one == other)
            .count();
        if ahead < block.length {
            return None;
        }
        let before = form.bytes.get(..block.at)?.iter().rev().zip(bytes.get(..hit)?.iter().rev());
        let behind = before.take_while(|(one, other)| one == other).count();
        (ahead + behind >= form.shortest).then(|| hit - behind..hit + ahead)
    }
}

/// Returns the encodings of a value, as they look in a folded view.
fn forms_of(value: &str) -> Vec<EncodedForm> {
    let folded = |text: &str| NormalizedText::plain(text).joined().folded().bytes().to_vec();
    let whole = value.len();
    let mut forms = Vec::new();
    if whole >= SHORTEST_RUN_BYTES {
        forms.push(EncodedForm::new(folded(value), whole));
        forms.push(EncodedForm::new(folded(&value.chars().rev().collect::<String>()), whole));
    }
    forms.push(EncodedForm::new(
        value.bytes().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes(),
        whole * 2,
    ));
    for shift in 0..3_usize {
        let shifted = [" ".repeat(shift).as_bytes(), value.as_bytes()].concat();
        // The first and last characters also hold bits of the neighbours: only those between are
        // sure.
        let skipped = [0, 2, 3].get(shift).copied().unwrap_or(0);
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            let sure =
                if shifted.len().is_multiple_of(3) { encoded.len() } else { encoded.len() - 1 };
            if let Some(core) = encoded.get(skipped..sure) {
                forms.push(EncodedForm::new(core.to_ascii_lowercase().into_bytes(), core.len()));
            }
        }
    }
    forms.retain(|form| form.bytes.len() >= 6);
    forms
}

impl EncodedForm {
    fn new(bytes: Vec<u8>, whole: usize) -> Self {
        let shortest = (whole / 2).clamp(SHORTEST_RUN_BYTES, LONGEST_RUN_BYTES).min(bytes.len());
        Self { bytes, shortest }
    }
}

/// Cuts a form into blocks of half the shortest part: any part long enough holds a whole one.
fn blocks_of(index: usize, form: &EncodedForm) -> Vec<EncodedBlock> {
    let length = form.shortest.div_ceil(2).max(1);
    let places = (0..).step_by(length).zip(form.bytes.chunks_exact(length));
    places.map(|(at, _)| EncodedBlock { form: index, at, length }).collect()
}

#[expect(
    clippy::expect_used,
    reason = "an alternation of escaped bytes under no size limit is always a pattern"
)]
fn compile(texts: &[String]) -> Regex {
    // Invariant: only `\xHH` and `|` occur, and the limit is above what any list of registered
    // values needs.
    RegexBuilder::new(&format!("(?-u){}", texts.join("|")))
        .size_limit(usize::MAX)
        .build()
        .expect("invariant: escaped bytes are a pattern")
}
