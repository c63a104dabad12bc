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
    let mut broken = Vec::new();
    for document in pages_below("docs").into_iter().chain(OTHERS.iter().map(|&name| name.into())) {
        for found in link.captures_iter(&prose(&read(&document))) {
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
