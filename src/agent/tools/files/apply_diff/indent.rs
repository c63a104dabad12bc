//! Puts a replacement at the depth of the text it replaces.

use crate::tools::files::apply_diff::blank::trim;

/// Returns the replacement's lines, each as deep below the matched text's first line as it was
/// below the search text's first line. Tabs and spaces are kept as written; blanks at line ends go.
pub fn reindent(replacement: &[&str], search_first: &str, matched_first: &str) -> Vec<String> {
    let base = indent_of(search_first);
    let target = indent_of(matched_first);
    replacement
        .iter()
        .map(|line| {
            let own = indent_of(line);
            let deeper = own.get(base.len()..).unwrap_or_default();
            let missing = base.len().saturating_sub(own.len());
            let kept = target.get(..target.len().saturating_sub(missing)).unwrap_or_default();
            format!("{kept}{deeper}{}", trim(line))
        })
        .collect()
}

fn indent_of(line: &str) -> &str {
    let end = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::reindent;
    use pretty_assertions::assert_eq;

    #[test]
    fn keeps_the_depth_relative_to_the_first_line() {
        for (replacement, search, matched, expected) in [
            (vec!["a", "    b"], "x", "    x", vec!["    a", "        b"]),
            (vec!["  a", ""], "        x", "        x", vec!["  a", ""]),
            (vec!["\ta  ", "\t\tb"], "\tx", "\t\tx", vec!["\t\ta", "\t\t\tb"]),
            (vec!["a"], "      x", "  x", vec!["a"]),
        ] {
            assert_eq!(reindent(&replacement, search, matched), expected, "{replacement:?}");
        }
    }
}
