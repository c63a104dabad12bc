//! `awk`: its program, and the files it reads.
//!
//! In: the words of a command. Out: files that are read, and findings. What a program might do
//! besides printing is left to rules that spell it out.

use std::sync::LazyLock;

use crate::command::awk;
use crate::command::examine::examiner::Examiner;
use crate::command::tables::options::{GivenOption, OptionTable, OptionWord};

/// Options that all kinds of `awk` have: some pass over longer names, and take the next word for
/// the program.
static OPTIONS: LazyLock<OptionTable> = LazyLock::new(|| OptionTable::new(["-F= -v= -f=<", ""]));

/// Where the words of `awk` stand.
#[derive(Default)]
pub(crate) struct AwkWords {
    /// Its options.
    options: Vec<usize>,
    /// Its program, unless an option names the file of one.
    pub(crate) program: Option<usize>,
    /// Its first file; the number of words where there is none.
    pub(crate) files: usize,
}

impl AwkWords {
    /// Cuts the words of `awk`.
    pub(crate) fn of(words: &[String]) -> Self {
        let mut found = Self { files: 1, ..Self::default() };
        let mut in_file = false;
        while let Some(word) = words.get(found.files).filter(|word| word.len() > 1) {
            if word == "--" {
                found.files += 1;
                break;
            }
            if !word.starts_with('-') {
                break;
            }
            found.options.push(found.files);
            let OptionWord { given, next, .. } = OPTIONS.read(words, found.files);
            in_file |= given.iter().any(is_file);
            found.files = next;
        }
        if !in_file && found.files < words.len() {
            found.program = Some(found.files);
            found.files += 1;
        }
        found
    }
}

/// Returns true for an option that names the file of a program.
fn is_file(option: &GivenOption<'_>) -> bool {
    option.name == "-f"
}

impl Examiner<'_> {
    /// Looks at `awk`.
    pub(super) fn awk(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let words = self.words;
        let AwkWords { options, program, files } = AwkWords::of(words);
        for index in options {
            let read = OPTIONS.read(words, index);
            let text = words.get(index).map_or("", String::as_str);
            if !read.is_known {
                self.unfamiliar(index, format!("the option `{text}` of `awk` is not known"));
            }
            for option in read.given.iter().filter(|option| is_file(option)) {
                self.unfamiliar(index, format!("`{text}` of `awk` runs a program from a file"));
                self.reads(option.value.into_iter());
            }
        }
        if let Some(index) = program
            && let Some(Err(why)) = words.get(index).map(|text| awk::check(text))
        {
            self.unfamiliar(index, why);
        }
        self.reads(words.iter().skip(files).map(String::as_str));
    }
}
