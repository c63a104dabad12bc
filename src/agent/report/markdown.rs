//! Pieces of Markdown that keep untrusted text where it was put. Nothing a model or a user wrote
//! can end a fence, open a fold, hide what follows or pass for a marker.
//!
//! In: any text. Out: GitHub Markdown. `forge::sanitise` limits what may be *said* (pings, links,
//! secrets); this file keeps the structure around it.

use std::fmt::Write;

use locum_base::secret::view::is_invisible;
use locum_base::text::single_blanks;
use locum_forge::sanitise::CodeFence;

/// Returns Markdown by a model or a user so that it ends where it should: fences it opened are
/// closed, HTML in it is shown as text. Code spans and fences keep their `<`.
///
/// The reading is stricter than Markdown's own: whatever could be read in two ways is not treated
/// as code, and escaped. Fences are read as `forge::sanitise` reads them, which writes them again
/// so that no other reading is left.
pub(crate) fn contained(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 16);
    let mut fence: Option<CodeFence> = None;
    let mut is_bare = false;
    let mut paragraph_is_plain = true;
    for line in visible(text).lines() {
        let opened = fence.is_none().then(|| CodeFence::opened_by(line)).flatten();
        if let Some(code) = fence.or(opened) {
            if opened.is_some() {
                is_bare = line.trim_start_matches(' ').starts_with(['`', '~']);
            }
            if code.is_outermost() || (is_bare && code.holds(line)) {
                result.push_str(line);
            } else {
                escape_tags(line, &[], &mut result);
            }
            let closed = opened.is_none() && code.is_closed_by(line);
            fence = (!closed).then_some(code);
            paragraph_is_plain = true;
        } else {
            if line.trim().is_empty() {
                paragraph_is_plain = true;
            }
            let spans = if paragraph_is_plain { code_spans(line) } else { None };
            paragraph_is_plain = spans.is_some();
            escape_tags(line, &spans.unwrap_or_default(), &mut result);
        }
        result.push('\n');
    }
    if let Some(open) = fence {
        result.push_str(&open.closing());
        result.push('\n');
    }
    result.truncate(result.trim_end().len());
    result
}

/// Returns foreign text for use inside one line: no line breaks, no HTML, no list or heading of its
/// own.
pub fn inline(text: &str) -> String {
    let line = single_blanks(&visible(text));
    let mut result = String::with_capacity(line.len());
    escape_tags(&line, &code_spans(&line).unwrap_or_default(), &mut result);
    result
}

/// Returns foreign text as a code span on one line.
pub fn code(text: &str) -> String {
    let line = single_blanks(&visible(text));
    let ticks = "`".repeat(longest_run(&line, '`') + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    if line.is_empty() { String::new() } else { format!("{ticks}{pad}{line}{pad}{ticks}") }
}

/// Returns foreign text as a fenced block, its fence longer than any run of backticks inside.
pub fn fenced(text: &str, language: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let gap = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{gap}{fence}")
}

/// Returns a fold: one visible line, the rest on request. `body` is Markdown that is contained
/// already.
pub fn fold(title: &str, body: &str) -> String {
    format!(
        "<details><summary>{}</summary>\n\n{}\n\n</details>",
        escape_html(&visible(title).replace('\n', " ")),
        body.trim_end()
    )
}

/// Returns an address as it may stand in a Markdown link.
pub fn address(url: &str) -> String {
    url.chars()
        .filter(|letter| {
            letter.is_ascii_graphic() && !matches!(letter, '(' | ')' | '<' | '>' | '\\' | '`')
        })
        .collect()
}

/// Returns the hidden first line by which a comment is found again: `<!-- locum:v1 kind=progress
/// comment=7 -->`. Keys are ours; values keep only letters, digits and `.:/_-`, so that none can
/// end the line or add a key.
pub fn marker(kind: &str, keys: &[(&str, &str)]) -> String {
    let mut result = format!("<!-- locum:v1 kind={kind}");
    for (key, value) in keys {
        // NOTE: writing to a String cannot fail.
        let _ = write!(result, " {key}={}", marker_value(value));
    }
    result.push_str(" -->");
    result
}

/// Returns a value as it stands in a [`marker`].
pub fn marker_value(text: &str) -> String {
    let letters = text.chars().map(|letter| if is_marker_letter(letter) { letter } else { '_' });
    // `--` would end an HTML comment.
    letters.collect::<String>().replace("--", "-_")
}

/// Returns text in which nothing hides: one kind of line end, tabs kept, any other control or
/// invisible character spelled out.
pub fn visible(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                letters.next_if_eq(&'\n');
                result.push('\n');
            }
            '\n' | '\t' => result.push(letter),
            // Kept after letters and signs, where it chooses the image of an emoji; never where
            // it could split a fence.
            '\u{fe0f}' if !result.ends_with(['`', '~', '<', ' ', '\n']) => result.push(letter),
            letter if is_hidden(letter) => {
                let _ = write!(result, "(U+{:04X})", u32::from(letter));
            }
            letter => result.push(letter),
        }
    }
    result
}

/// Control characters, and the characters Unicode calls ignorable: zero-width, bidirectional,
/// variation, tags.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || is_invisible(letter)
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{fe0f}')
}

fn is_marker_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | ':' | '/' | '_' | '-')
}

/// Returns the byte ranges of a line's code spans, or `None` when there may be another reading of
/// its backticks.
fn code_spans(line: &str) -> Option<Vec<std::ops::Range<usize>>> {
    if !line.contains('`') {
        return Some(Vec::new());
    }
    if line.contains('|') || line.contains("\\`") {
        return None;
    }
    let runs = backtick_runs(line);
    let mut spans = Vec::new();
    let mut rest = runs.as_slice();
    while let Some((opener, later)) = rest.split_first() {
        let at = later.iter().position(|run| run.len() == opener.len())?;
        let (closer, after) = later.get(at..)?.split_first()?;
        spans.push(opener.start..closer.end);
        rest = after;
    }
    Some(spans)
}

fn backtick_runs(line: &str) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            Some(_) | None => runs.push(at..at + 1),
        }
    }
    runs
}

/// Spans are in order: a line may have as many of them as tags.
fn escape_tags(line: &str, spans: &[std::ops::Range<usize>], result: &mut String) {
    let mut spans = spans.iter().peekable();
    for (at, letter) in line.char_indices() {
        while spans.next_if(|span| span.end <= at).is_some() {}
        if letter == '<' && !spans.peek().is_some_and(|span| span.contains(&at)) {
            result.push_str("&lt;");
        } else {
            result.push(letter);
        }
    }
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for letter in text.chars() {
        current = if letter == wanted { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::{code, contained, fenced, fold, inline, marker, visible};
    use pretty_assertions::assert_eq;

    #[test]
    fn foreign_text_ends_where_it_should() {
        for (given, expected) in [
            ("plain\n\n- a\n- b", "plain\n\n- a\n- b"),
            ("an `Option<T>` and ``a`<b>``", "an `Option<T>` and ``a`<b>``"),
            ("```rust\nVec<u8>\n```\nafter <b>", "```rust\nVec<u8>\n```\nafter &lt;b>"),
            ("```\nnever closed", "```\nnever closed\n```"),
            ("~~~~\n~~~\nstill inside", "~~~~\n~~~\nstill inside\n~~~~"),
            ("```\n  ```  \n</details>", "```\n  ```  \n&lt;/details>"),
            ("```\n    ```\n</details>", "```\n    ```\n</details>\n```"),
            ("</details>", "&lt;/details>"),
            ("<!-- locum:v1 kind=progress -->", "&lt;!-- locum:v1 kind=progress -->"),
            ("`\n` </details> `", "`\n` &lt;/details> `"),
            ("\\` </details> `", "\\` &lt;/details> `"),
            ("| ` | </details> ` |", "| ` | &lt;/details> ` |"),
            ("- ```\n</details>", "- ```\n&lt;/details>\n  ```"),
            ("- x\n  ```\n</details>", "- x\n  ```\n&lt;/details>\n  ```"),
            (
                "- x\n\n  ```\n  cat <<E\n   <b>\n  ```\n<b>",
                "- x\n\n  ```\n  cat <<E\n   <b>\n  ```\n&lt;b>",
            ),
            ("- x\n  ```\n <b>\n  ```", "- x\n  ```\n &lt;b>\n  ```"),
            ("x\n2. ```\n   <b>", "x\n2. ```\n   &lt;b>\n   ```"),
            ("x\n    ```\n    <b>", "x\n    ```\n    &lt;b>"),
            ("- ```geojson", "- ```geojson\n  ```"),
            ("1. ```geojson", "1. ```geojson\n   ```"),
            ("- - ```geojson", "- - ```geojson\n    ```"),
            ("- ```geojson\n- ```geojson", "- ```geojson\n- ```geojson\n  ```"),
            ("- a\n- ```x\n  y\n- ```", "- a\n- ```x\n  y\n- ```\n  ```"),
            ("- `````x\n```", "- `````x\n```\n  `````"),
            ("- ```x\n  {}\n```", "- ```x\n  {}\n```"),
            ("- ```x\n~~~\n```", "- ```x\n~~~\n```"),
            ("``` a`b\n</details>", "``` a`b\n&lt;/details>"),
            ("``\u{200b}`\n</details>", "``(U+200B)`\n&lt;/details>"),
            ("a\r</details>\r\nb", "a\n&lt;/details>\nb"),
            ("", ""),
        ] {
            assert_eq!(contained(given), expected, "{given:?}");
            assert_eq!(contained(expected), expected, "a second time: {given:?}");
        }
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(inline("fix\n\n# the <b>bold\tthing `<T>`"), "fix # the &lt;b>bold thing `<T>`");
        assert_eq!(code("cargo test\n--all"), "`cargo test --all`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
        assert_eq!(code(""), "");
    }

    #[test]
    fn no_text_closes_its_fence() {
        assert_eq!(fenced("a\n```\n</details>", "diff"), "````diff\na\n```\n</details>\n````");
        assert_eq!(fenced("", ""), "```\n```");
        assert_eq!(fenced("``\u{200b}``", ""), "```\n``(U+200B)``\n```");
    }

    #[test]
    fn a_fold_shows_its_title_as_text() {
        assert_eq!(
            fold("a </summary>\nb", "body\n"),
            "<details><summary>a &lt;/summary&gt; b</summary>\n\nbody\n\n</details>"
        );
    }

    #[test]
    fn a_marker_holds_its_keys_and_nothing_else() {
        assert_eq!(
            marker("progress", &[("comment", "7"), ("job", "docs")]),
            "<!-- locum:v1 kind=progress comment=7 job=docs -->"
        );
        assert_eq!(
            marker("x", &[("job", "a --> b key=1")]),
            "<!-- locum:v1 kind=x job=a_-___b_key_1 -->"
        );
    }

    #[test]
    fn nothing_hides() {
        assert_eq!(visible("a\u{202e}b\u{0}c\td\u{e0041}"), "a(U+202E)b(U+0000)c\td(U+E0041)");
        assert_eq!(visible("ä ✔\u{fe0f} 你好"), "ä ✔\u{fe0f} 你好");
        assert_eq!(visible("``\u{fe0f}`"), "``(U+FE0F)`");
    }
}
