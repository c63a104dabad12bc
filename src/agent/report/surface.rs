//! The two surfaces a report is written for, Markdown and a terminal: the same words on both.
//!
//! In: words of ours, and foreign text. Out: text as the surface shows it. Foreign text is bounded
//! and keeps to its place: it ends no fence, opens no fold and controls no terminal.

use crate::report::figures;
use crate::report::markdown::{self, contained, fenced, inline, visible};
use locum_base::text::single_blanks;

/// Most characters of one foreign phrase in a sentence or an entry of a list.
pub(crate) const PHRASE_LIMIT_CHARS: usize = 160;

/// Where a report is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// GitHub: comments, pull requests, reviews, job summaries.
    Markdown,
    /// A terminal, without colours.
    Terminal,
}

impl Surface {
    /// Returns words of ours so that they stand out.
    pub(crate) fn strong(self, words: &str) -> String {
        match self {
            Self::Markdown => format!("**{words}**"),
            Self::Terminal => words.to_owned(),
        }
    }

    /// Returns foreign words on one line.
    pub(crate) fn words(self, text: &str) -> String {
        self.words_within(text, PHRASE_LIMIT_CHARS)
    }

    /// Returns foreign words on one line of at most `limit_chars` characters.
    pub(crate) fn words_within(self, text: &str, limit_chars: usize) -> String {
        match self {
            Self::Markdown => bounded(text, limit_chars, inline),
            Self::Terminal => bounded(text, limit_chars, one_line),
        }
    }

    /// Returns foreign code, a path or a name on one line.
    pub(crate) fn code(self, text: &str) -> String {
        match self {
            Self::Markdown => bounded(text, PHRASE_LIMIT_CHARS, markdown::code),
            Self::Terminal => bounded(text, PHRASE_LIMIT_CHARS, one_line),
        }
    }

    /// Returns a foreign Markdown text of at most `limit_chars` characters.
    pub(crate) fn said(self, text: &str, limit_chars: usize) -> String {
        match self {
            Self::Markdown => bounded(text.trim(), limit_chars, contained),
            Self::Terminal => visible(figures::clip(text.trim(), limit_chars).trim_end()),
        }
    }

    /// Returns foreign text as a block of its own.
    pub(crate) fn block(self, text: &str, language: &str, limit_chars: usize) -> String {
        match self {
            Self::Markdown => bounded(text, limit_chars, |text| fenced(text, language)),
            Self::Terminal => visible(figures::clip(text, limit_chars).trim_end()),
        }
    }

    /// Returns a command as a block of its own, whole, so that a click copies it.
    pub(crate) fn command(self, command: &str) -> String {
        match self {
            Self::Markdown => fenced(&one_line(command), ""),
            Self::Terminal => indented(&one_line(command)),
        }
    }

    /// Returns a text under a title that readers unfold; `body` is rendered already.
    pub(crate) fn fold(self, title: &str, body: &str) -> String {
        match self {
            Self::Markdown => markdown::fold(title, body),
            Self::Terminal => format!("{}\n{}", one_line(title), indented(body)),
        }
    }

    /// Returns a table; its first column holds words, the others numbers. Cells are rendered
    /// already and of one line.
    pub(crate) fn table(self, head: &[&str], rows: &[Vec<String>]) -> String {
        let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
        match self {
            Self::Markdown => {
                let row = |cells: &[String]| {
                    let cells: Vec<String> =
                        cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
                    format!("| {} |", cells.join(" | "))
                };
                let rule = format!("|---{}|", "|---:".repeat(head.len().saturating_sub(1)));
                let lines = [row(&head), rule].into_iter();
                lines.chain(rows.iter().map(|cells| row(cells))).collect::<Vec<_>>().join("\n")
            }
            Self::Terminal => {
                let all: Vec<&[String]> = std::iter::once(head.as_slice())
                    .chain(rows.iter().map(Vec::as_slice))
                    .collect();
                let width = |column: usize| {
                    let cells = all.iter().filter_map(|cells| cells.get(column));
                    cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
                };
                let widths: Vec<usize> = (0..head.len()).map(width).collect();
                let line = |cells: &&[String]| {
                    let cells = cells.iter().zip(&widths).enumerate();
                    let cells = cells.map(|(column, (cell, width))| match column {
                        0 => format!("{cell:<width$}"),
                        _ => format!("{cell:>width$}"),
                    });
                    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
                };
                all.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Returns entries as a list, one line each, of which Markdown shows `limit`.
    pub(crate) fn listed<T>(
        self,
        items: &[T],
        limit: usize,
        entry: impl Fn(&T) -> String,
    ) -> String {
        let limit = match self {
            Self::Markdown => limit,
            Self::Terminal => items.len(),
        };
        let mut lines: Vec<String> = items.iter().take(limit).map(entry).collect();
        if items.len() > limit {
            lines.push(format!("- and {} more", items.len() - limit));
        }
        lines.join("\n")
    }
}

/// Joins the paragraphs that are not empty.
pub(crate) fn join(paragraphs: &[String]) -> String {
    paragraphs
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Renders as much of a text as fits: escaping makes text longer, so what is too long is cut by its
/// share and tried again.
pub(crate) fn bounded(text: &str, limit_chars: usize, render: impl Fn(&str) -> String) -> String {
    let mut keep = limit_chars;
    loop {
        let rendered = render(&figures::clip(text, keep));
        let width = figures::width(&rendered);
        if width <= limit_chars || keep == 0 {
            return rendered;
        }
        keep = (keep.saturating_mul(limit_chars) / width).min(keep - 1);
    }
}

fn one_line(text: &str) -> String {
    single_blanks(&visible(text))
}

fn indented(text: &str) -> String {
    let line = |line: &str| format!("  {line}").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Surface, bounded};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_table_has_the_same_cells_on_both_surfaces() {
        let rows =
            vec![vec!["a | b".to_owned(), "1".to_owned()], vec!["all".to_owned(), "22".to_owned()]];
        assert_eq!(
            Surface::Markdown.table(&["task", "turns"], &rows),
            "| task | turns |\n|---|---:|\n| a \\| b | 1 |\n| all | 22 |"
        );
        assert_eq!(
            Surface::Terminal.table(&["task", "turns"], &rows),
            "task   turns\na | b      1\nall       22"
        );
    }

    #[test]
    fn what_is_too_long_is_cut_no_further_than_it_must_be() {
        let text = "<".repeat(1_000);
        let kept = bounded(&text, 400, |text| text.replace('<', "&lt;"));
        assert!((380..=400).contains(&kept.chars().count()), "{}", kept.chars().count());
        assert_eq!(bounded("short", 5, str::to_owned), "short");
    }
}
