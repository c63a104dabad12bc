//! JSON as editors write it: with comments, commas before a closing bracket and tabs.
//!
//! In: the text of a settings file. Out: the same text with all of that blanked out, every other
//! letter in its place, so that what is found wrong later is where it was. YAML is handed back as
//! it is.

/// Blanks out what JSON does not have.
pub(super) fn plain(text: &str) -> String {
    let start = skip_comments(text);
    if !start.starts_with(['{', '[']) {
        return text.to_owned();
    }
    let mut plain: Vec<char> = Vec::with_capacity(text.len());
    // The place of a comma after which nothing has come but blanks.
    let mut comma = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('"', _) => {
                comma = None;
                plain.push(letter);
                while let Some(inside) = letters.next() {
                    plain.push(inside);
                    match inside {
                        '\\' => plain.extend(letters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                plain.push(' ');
                while letters.peek().is_some_and(|inside| *inside != '\n') {
                    plain.extend(letters.next().map(|_| ' '));
                }
            }
            ('/', Some('*')) => {
                plain.extend([' ', ' ']);
                letters.next();
                let mut before = ' ';
                for inside in letters.by_ref() {
                    plain.push(if inside == '\n' { '\n' } else { ' ' });
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
            }
            (',', _) => {
                comma = Some(plain.len());
                plain.push(letter);
            }
            ('}' | ']', _) => {
                if let Some(comma) = comma.take().and_then(|at| plain.get_mut(at)) {
                    *comma = ' ';
                }
                plain.push(letter);
            }
            ('\t', _) => plain.push(' '),
            (letter, _) => {
                if !letter.is_whitespace() {
                    comma = None;
                }
                plain.push(letter);
            }
        }
    }
    plain.into_iter().collect()
}

/// Returns the text from its first letter that belongs to no comment.
fn skip_comments(text: &str) -> &str {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let after = if let Some(line) = rest.strip_prefix("//") {
            line.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(block) = rest.strip_prefix("/*") {
            block.split_once("*/").map_or("", |(_, after)| after)
        } else {
            return rest;
        };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::plain;
    use pretty_assertions::assert_eq;

    #[test]
    fn blanks_out_what_json_has_not_and_moves_nothing() {
        let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
        for (text, expected) in [
            ("{\"a\": [1, 2,],}", "{\"a\":[1,2]}"),
            ("{\"a\": [1, 2]}", "{\"a\":[1,2]}"),
            ("{ // x, \"b\"\n\"a\": \"// no /* no */, ]\" }", "{\"a\": \"// no /* no */, ]\" }"),
            ("/* one\n two */ {\"a\\\",]\": 1 /* , */ , /* } */ }", "{\"a\\\",]\":1}"),
            ("// top\n[1]", "[1]"),
            ("{\"a\": [1, /* x */ /**/ /*/ */ 2]}", "{\"a\": [1, 2]}"),
            ("a: \"x\" # {,}\n// b", "a: \"x\" # {,}\n// b"),
            ("{\"a\": \"open", "{\"a\": \"open"),
            ("{ /* open", "{"),
            ("", ""),
        ] {
            let found = plain(text);
            assert_eq!(without_blanks(&found), without_blanks(expected), "{text}");
            let ends = |text: &str| {
                text.chars()
                    .enumerate()
                    .filter(|(_, letter)| *letter == '\n')
                    .map(|(at, _)| at)
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                (found.chars().count(), ends(&found)),
                (text.chars().count(), ends(text)),
                "{text}"
            );
        }
        assert_eq!(plain("{\t\"a\": \"\t\"}"), "{ \"a\": \"\t\"}");
    }
}
