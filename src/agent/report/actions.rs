//! What GitHub Actions reads from a step: outputs, log groups, masks, annotations. Texts only; the
//! caller writes them.
//!
//! Source: "Workflow commands for GitHub Actions"
//! (<https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>).

use sha2::{Digest, Sha256};

use crate::report::figures;
use crate::session::outcome::OutcomeWord;
use crate::session::word::Severity;
use locum_forge::posts::CheckConclusion;

/// Longest message of an annotation, in characters; GitHub cuts longer ones.
const ANNOTATION_LIMIT_CHARS: usize = 4_000;

/// How loud an annotation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// `::notice`
    Notice,
    /// `::warning`
    Warning,
    /// `::error`
    Error,
}

/// A remark on a run, or on a place in a file.
#[derive(Clone, Copy, Debug)]
pub struct Annotation<'a> {
    /// How GitHub shows it.
    pub level: AnnotationLevel,
    /// Headline above the message.
    pub title: &'a str,
    /// Text below the headline.
    pub message: &'a str,
    /// File and line, where it is about one.
    pub place: Option<(&'a str, u32)>,
}

/// Returns the entry of one output for the `GITHUB_OUTPUT` file. The value may hold anything: the
/// line that ends it is computed from the value itself, so that no value can hold it.
pub fn output(name: &str, value: &str) -> String {
    let mut delimiter = digest(&[name, value]);
    while value.contains(&delimiter) {
        delimiter = digest(&[&delimiter, value]);
    }
    format!("{name}<<{delimiter}\n{value}\n{delimiter}\n")
}

/// Returns the line that opens a fold of the log; [`GROUP_END`] closes it.
pub fn group(title: &str) -> String {
    format!("::group::{}", data(title))
}

/// The line that closes a fold of the log.
pub const GROUP_END: &str = "::endgroup::";

/// Returns the lines that make the runner hide a secret, one for each line of it.
pub fn masks(secret: &str) -> Vec<String> {
    secret
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("::add-mask::{}", data(line)))
        .collect()
}

/// Returns the line of an annotation.
pub fn annotation(annotation: &Annotation<'_>) -> String {
    let level = match annotation.level {
        AnnotationLevel::Notice => "notice",
        AnnotationLevel::Warning => "warning",
        AnnotationLevel::Error => "error",
    };
    let mut properties = Vec::new();
    if let Some((file, line)) = annotation.place {
        properties.push(format!("file={},line={line}", property(file)));
    }
    properties.push(format!("title={}", property(annotation.title)));
    format!(
        "::{level} {}::{}",
        properties.join(","),
        data(&figures::clip(annotation.message, ANNOTATION_LIMIT_CHARS))
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    format!("locum_{:.32x}", hash.finalize())
}

/// Returns how loud the annotation on an outcome is; `fails` is true where it makes the step red.
pub fn level(word: OutcomeWord, fails: bool) -> AnnotationLevel {
    match (fails, word.severity()) {
        (true, _) => AnnotationLevel::Error,
        (false, Severity::Bad) => AnnotationLevel::Warning,
        (false, Severity::Good | Severity::Waits) => AnnotationLevel::Notice,
    }
}

/// Returns the output `conclusion` of an outcome, in the words of GitHub's check runs.
pub fn conclusion(word: OutcomeWord, fails: bool) -> CheckConclusion {
    match (fails, word) {
        (true, _) => CheckConclusion::Failure,
        (false, OutcomeWord::Done) => CheckConclusion::Success,
        (false, _) => CheckConclusion::Neutral,
    }
}

#[cfg(test)]
mod tests {
    use super::{Annotation, AnnotationLevel, annotation, group, masks, output};
    use pretty_assertions::assert_eq;

    /// Reads an output file as the runner does.
    fn read(text: &str) -> Vec<(String, String)> {
        let mut outputs = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let (name, delimiter) = line.split_once("<<").expect("a heredoc");
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != delimiter).collect();
            outputs.push((name.to_owned(), value.join("\n")));
        }
        outputs
    }

    #[test]
    fn every_value_comes_back_as_it_was() {
        for value in ["", "one", "two\nlines\n", "EOF\nother=forged", "x<<y\nz\ny", "ä\t%0A"] {
            let entry = output("final-message", value);
            let again = output("final-message", &entry);
            assert_eq!(read(&entry), [("final-message".to_owned(), value.to_owned())]);
            assert_eq!(
                read(&again),
                [("final-message".to_owned(), entry)],
                "a value that holds the entry of itself"
            );
        }
    }

    #[test]
    fn no_text_breaks_out_of_its_line() {
        assert_eq!(group("a\n::error::b"), "::group::a%0A::error::b");
        assert_eq!(masks("one\n\n  two%\r\n"), ["::add-mask::one", "::add-mask::two%25"]);
        let remark = Annotation {
            level: AnnotationLevel::Warning,
            title: "a,b: c",
            message: "100%\nsure",
            place: Some(("src/x,y.rs", 3)),
        };
        assert_eq!(
            annotation(&remark),
            "::warning file=src/x%2Cy.rs,line=3,title=a%2Cb%3A c::100%25%0Asure"
        );
        let plain =
            Annotation { level: AnnotationLevel::Error, title: "t", message: "m", place: None };
        assert_eq!(annotation(&plain), "::error title=t::m");
    }
}
