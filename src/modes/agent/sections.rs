//! Agents described by sections of a Markdown file: a title, and below it `Instructions`, `Tools`
//! and `Context`. In: the file's text; out: what stands in those sections, and where. Headings
//! inside code blocks are none.

use locum_files::position::Position;

/// An agent as its sections describe it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DescribedAgent<'t> {
    /// The heading above its sections; empty when there is none.
    pub(super) title: String,
    /// Where that stands.
    pub(super) place: Position,
    /// The text of `Instructions`.
    pub(super) instructions: &'t str,
    /// The words of the list in `Tools`; `None` without such a section.
    pub(super) tools: Option<Vec<(String, Position)>>,
    /// The text of `Context`.
    pub(super) context: Option<&'t str>,
}

struct MarkdownSection<'t> {
    level: usize,
    title: &'t str,
    line: u32,
    text: &'t str,
}

/// Finds every agent: a section `Instructions` with text, and the sections next to it.
pub(super) fn agents(text: &str) -> Vec<DescribedAgent<'_>> {
    let sections = sections(text);
    let mut agents = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        if !section.title.eq_ignore_ascii_case("instructions") || section.text.trim().is_empty() {
            continue;
        }
        let above = sections.iter().take(index).rposition(|other| other.level < section.level);
        let first = above.map_or(0, |above| above + 1);
        let beside: Vec<&MarkdownSection<'_>> =
            sections.iter().skip(first).take_while(|other| other.level >= section.level).collect();
        let find = |title: &str| {
            beside.iter().find(|other| {
                other.level == section.level && other.title.eq_ignore_ascii_case(title)
            })
        };
        let head = above.and_then(|above| sections.get(above));
        agents.push(DescribedAgent {
            title: head.map(|head| head.title.to_owned()).unwrap_or_default(),
            place: Position { line: head.map_or(section.line, |head| head.line), column: 1 },
            instructions: section.text.trim(),
            tools: find("tools").map(|tools| words(tools)),
            context: find("context").map(|context| context.text.trim()),
        });
    }
    agents
}

fn sections(text: &str) -> Vec<MarkdownSection<'_>> {
    let mut sections: Vec<MarkdownSection<'_>> = Vec::new();
    let mut starts: Vec<usize> = Vec::new();
    let mut is_code = false;
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let end = at + line.len();
        is_code ^= line.trim_start().starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let title = line
            .get(level..)
            .filter(|rest| !is_code && (1..=6).contains(&level) && rest.starts_with(' '));
        if let Some(title) = title {
            if let (Some(last), Some(start)) = (sections.last_mut(), starts.last()) {
                last.text = text.get(*start..at).unwrap_or_default();
            }
            sections.push(MarkdownSection {
                level,
                title: title.trim().trim_end_matches('#').trim_end(),
                line: number,
                text: "",
            });
            starts.push(end);
        }
        at = end;
    }
    if let (Some(last), Some(start)) = (sections.last_mut(), starts.last()) {
        last.text = text.get(*start..).unwrap_or_default();
    }
    sections
}

/// Returns the words of a list; what stands behind a dash or colon explains a word.
fn words(section: &MarkdownSection<'_>) -> Vec<(String, Position)> {
    let mut words = Vec::new();
    for (number, line) in (section.line + 1..).zip(section.text.lines()) {
        let Some(item) = line.trim_start().strip_prefix(['-', '*']) else { continue };
        let word = item.trim().trim_matches('`').split([' ', ':', '`']).next().unwrap_or_default();
        if !word.is_empty() {
            words.push((word.to_owned(), Position { line: number, column: 1 }));
        }
    }
    words
}
