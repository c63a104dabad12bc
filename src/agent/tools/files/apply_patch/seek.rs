//! Where in a file a run of lines stands: first letter for letter, then leaving trailing blanks,
//! all outer blanks and typographic signs out of account. The looser ways are tried only when the
//! stricter ones find nothing in the rest of the file.

/// Returns the first line at or after `start` from which `pattern` stands; with `at_end` only the
/// file's last lines.
pub fn seek(lines: &[String], pattern: &[String], start: usize, at_end: bool) -> Option<usize> {
    if pattern.is_empty() {
        return Some(start);
    }
    let last = lines.len().checked_sub(pattern.len())?;
    let first = if at_end { start.max(last) } else { start };
    let ways: [fn(&str) -> String; 4] = [
        ToOwned::to_owned,
        |line| line.trim_end().to_owned(),
        |line| line.trim().to_owned(),
        plain,
    ];
    ways.into_iter().find_map(|way| {
        let wanted: Vec<String> = pattern.iter().map(|line| way(line)).collect();
        let head = wanted.first()?;
        let stands = |at: &usize| {
            let window = lines.get(*at..).unwrap_or_default();
            window.first().is_some_and(|line| way(line) == *head)
                && window.iter().zip(&wanted).skip(1).all(|(line, wanted)| way(line) == *wanted)
        };
        (first..=last).find(stands)
    })
}

/// Returns a line without outer blanks, with typographic dashes, quotes and blanks as those of a
/// keyboard.
fn plain(line: &str) -> String {
    let sign = |letter| match letter {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    line.trim().chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::seek;
    use pretty_assertions::assert_eq;

    #[test]
    fn finds_the_strictest_match_at_or_after_the_start() {
        let lines = |text: &str| text.split('|').map(ToOwned::to_owned).collect::<Vec<_>>();
        for (file, pattern, start, at_end, expected) in [
            ("a|b|a|b", "a|b", 0, false, Some(0)),
            ("a|b|a|b", "a|b", 1, false, Some(2)),
            ("a|b|a|b", "a|b", 0, true, Some(2)),
            ("a|b|a", "a|b", 0, true, None),
            ("  a|a", "a", 0, false, Some(1)),
            ("a  |b", "a", 0, false, Some(0)),
            ("  a|b", "a", 0, false, Some(0)),
            ("\u{201c}a\u{201d} \u{2014} b", "\"a\" - b", 0, false, Some(0)),
            ("A", "a", 0, false, None),
            ("a", "a|b", 0, false, None),
        ] {
            assert_eq!(
                seek(&lines(file), &lines(pattern), start, at_end),
                expected,
                "{file} / {pattern}"
            );
        }
    }
}
