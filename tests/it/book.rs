//! The pages of `docs/` are a book: its table of contents names every page once, every link leads
//! somewhere, and what is drawn shows in the book as it does on GitHub.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::docs::{documents, pages_below, read, root};
use pretty_assertions::assert_eq;
use regex::Regex;

/// Documents beside `docs/` that people read.
const OTHERS: &[&str] =
    &["AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];

/// A link: its target without an anchor, and the anchor.
const LINK: &str = r"\]\(([^)#:\s]+)?(#[^)]+)?\)";

#[test]
fn the_table_of_contents_names_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let link = Regex::new(LINK).unwrap();
    let mut named: Vec<String> =
        link.captures_iter(&summary).map(|found| format!("docs/{}", &found[1])).collect();
    named.sort();
    let mut pages = pages_below("docs");
    pages.retain(|page| page != "docs/SUMMARY.md");
    assert_eq!(named, pages);
}

/// Outside of fenced blocks and of code in a line.
fn prose(text: &str) -> String {
    let code = Regex::new(r"(?ms)^ *```.*?^ *```$|``[^`]+``|`[^`\n]+`").unwrap();
    code.replace_all(text, "").into_owned()
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let link = Regex::new(LINK).unwrap();
    let picture = Regex::new(r#"<img src="([^"]+)""#).unwrap();
    let mut broken = Vec::new();
    for document in pages_below("docs").into_iter().chain(OTHERS.iter().map(|&name| name.into())) {
        let text = prose(&read(&document));
        let pictures = picture.captures_iter(&text).map(|found| found[1].to_owned());
        broken.extend(
            pictures
                .filter(|path| !root().join(Path::new(&document).with_file_name(path)).exists())
                .map(|path| format!("{document}: {path}")),
        );
        for found in link.captures_iter(&text) {
            let folder = Path::new(&document).parent().unwrap();
            let target = found.get(1).map_or_else(
                || PathBuf::from(&document),
                |path| normal(&folder.join(path.as_str())),
            );
            if document.starts_with("docs/") && !target.starts_with("docs") {
                broken.push(format!("{document}: {}: not in the book", target.display()));
                continue;
            }
            let Ok(bytes) = std::fs::read(root().join(&target)) else {
                broken.push(format!("{document}: {}", target.display()));
                continue;
            };
            let page = String::from_utf8_lossy(&bytes);
            let anchor = found.get(2).map(|anchor| anchor.as_str().trim_start_matches('#'));
            broken.extend(
                anchor
                    .filter(|anchor| !anchors(&page).contains(*anchor))
                    .map(|anchor| format!("{document}: {}#{anchor}", target.display())),
            );
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Takes `..` out of a path, as a browser does.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// The names that GitHub and mdBook give to the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let code = Regex::new(r"(?ms)^```.*?^```$").unwrap();
    let heading = |line: &str| {
        line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim().to_lowercase())
    };
    let name = |text: String| {
        let kept = text
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    };
    code.replace_all(page, "").lines().filter_map(heading).map(name).collect()
}

/// mdBook has no Mermaid: a drawing is a picture, and its source lies beside it.
#[test]
fn a_diagram_is_a_picture_with_its_source_beside_it() {
    let mut wrong: Vec<String> = documents()
        .into_iter()
        .filter(|document| read(document).contains("\n```mermaid"))
        .map(|document| format!("{document}: render it with `tests/doc_images.sh`"))
        .collect();
    for entry in std::fs::read_dir(root().join("docs/images")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "mmd")
            && !path.with_extension("svg").exists()
        {
            wrong.push(format!("{}: it has no picture", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Columns of a line of prose. Tables, code, pictures and what a link leads to do not count.
const COLUMNS: usize = 120;

fn readable() -> Vec<String> {
    let others = OTHERS.iter().map(|&name| name.to_owned());
    pages_below("docs").into_iter().filter(|page| page != "docs/SUMMARY.md").chain(others).collect()
}

#[test]
fn no_line_of_a_document_is_too_long() {
    let target = Regex::new(r"\]\([^)]*\)").unwrap();
    let mut long = Vec::new();
    for document in readable() {
        let mut is_code = false;
        for (number, line) in (1..).zip(read(&document).lines()) {
            is_code ^= line.trim_start().starts_with("```");
            let is_free =
                ["|", "```", "<", "!["].iter().any(|mark| line.trim_start().starts_with(mark));
            let columns = target.replace_all(line, "]").chars().count();
            if !is_code && !is_free && columns > COLUMNS {
                long.push(format!("{document}:{number}: {columns} columns"));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Words of our own for what the field has a word for; the words to write stand beside them. The
/// page of the command line holds every text of `--help`.
const WRONG_WORDS: &[(&str, &str)] = &[
    (r"is told|are told|told of", "is reported, reports"),
    (r"tells (the|it|them|you|a|later)\b", "reports, says"),
    ("says nothing new", "is redundant"),
    ("(is|are) there already", "already exists"),
    ("ends? with (0|[1-9]|exit code)", "exits with"),
    ("(goes|go|going) on(,|\\.|;| with| in| where| only| from)", "resumes, continues"),
    (r"\banew\b", "recreated, again"),
    (r"is no `?(agent|command|failure|file|JSON|list|mode|person|policy|rule)\b", "is not a"),
    ("worst rule", "the strictest matching rule"),
    ("beside each other", "in parallel"),
    ("person's (yes|word)|yes of a person", "approval, decision"),
    ("calls in words", "prompted tool calls"),
    (r"\bceilings?\b", "spending limits"),
    (r"\ballowances?\b", "spending limits, remaining"),
    (r"\bcrowd(ed)?\b", "context overflow, process group"),
    (r"\b(owed|barred|unreminded|unheard|spares)\b", "pending, denied, abandoned, fallbacks"),
    (r"\bwish\b", "proposal"),
    (r"\b(painter|paintings?|painted)\b", "image model, generated image"),
    (r"\b(switchboard|warden)\b", "supervisor"),
    (r"\b(mangled|halves)\b", "malformed, split code points"),
    ("same way through", "works the same"),
    (r"\bcarves\b", "excludes"),
    ("(no one|nobody) sits", "unattended"),
];

#[test]
fn documents_and_help_use_the_words_of_the_field() {
    let mut wrong = Vec::new();
    let patterns: Vec<(Regex, &str)> = WRONG_WORDS
        .iter()
        .map(|(pattern, right)| (Regex::new(&format!("(?i){pattern}")).unwrap(), *right))
        .collect();
    for document in readable().into_iter().filter(|document| document != "CHANGELOG.md") {
        let text = prose(&read(&document));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (pattern, right) in &patterns {
            wrong.extend(
                pattern
                    .find_iter(&text)
                    .map(|found| format!("{document}: `{}` instead of {right}", found.as_str())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
