//! Options that a script gives to `set`, which change how it ends and what it shows.
//!
//! In: the text of a script. Out: the letters of all of them, also of a `set` that is quoted, which
//! `eval` may run. A letter too many costs nothing but reports.

/// Where a command ends in a text.
const ENDS: [char; 10] = ['\n', ';', '&', '|', '(', ')', '{', '}', '`', '#'];
/// What an option may be whose word is not known.
const ANY: &str = "ex";

/// Returns the letters of the options that are turned on.
pub(super) fn letters(text: &str) -> String {
    let text = text.replace("\\\n", " ");
    text.split(ENDS).map(of_command).collect()
}

/// Returns the letters that the `set` of one command turns on.
fn of_command(text: &str) -> String {
    let mut words = text.split_whitespace().map(|word| word.replace(['\'', '"', '\\'], ""));
    let mut found = String::new();
    if !words.any(|word| word == "set") {
        return found;
    }
    while let Some(word) = words.next() {
        let letters = match (word.strip_prefix('-'), word.strip_prefix('+')) {
            (Some("" | "-"), _) => break,
            (Some(letters), _) => {
                found.push_str(letters);
                letters
            }
            (None, Some(letters)) => letters,
            (None, None) if word.contains('$') => {
                found.push_str(ANY);
                ""
            }
            (None, None) => break,
        };
        // The name of an option follows.
        if letters.contains('o') {
            words.next();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::letters;
    use pretty_assertions::assert_eq;

    #[test]
    fn all_options_of_set_count_and_no_other_words() {
        for (text, expected) in [
            ("set -e", "e"),
            ("set -u -e; a", "ue"),
            ("set -euo pipefail -x", "euox"),
            ("set -o pipefail -e", "oe"),
            ("set  -e\nset\t-x", "ex"),
            ("set \\\n -e", "e"),
            ("set +x -e", "e"),
            ("builtin set '-e'", "e"),
            ("eval \"set -e\"", "e"),
            ("(set -e; a)", "e"),
            ("set $options", "ex"),
            ("set -- -e -x", ""),
            ("set a -e", ""),
            ("reset -e; grep -e x", ""),
            ("ls set; a -e", ""),
            ("set; a -x", ""),
        ] {
            assert_eq!(letters(text), expected, "{text}");
        }
    }
}
