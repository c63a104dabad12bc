//! Lines that stand for what was left out: `// ... existing code ...`, `# rest of the file
//! unchanged`. Written into a file they delete what they stand for.

/// What starts a comment, or a remark in brackets, in the languages and formats there are.
const OPENING: &[&str] = &[
    "<!--", "{/*", "{{!--", "{{/*", "{#", "<%#", "<#", "///", "//", "/*", "*/", "(*", "--[[", "--",
    "#", ";", "%", "*", "\"\"\"", "'''", "' ", "REM ", "rem ", "[", "(", "<", "{", "@*", "=begin",
    "!", "dnl ",
];

/// Most words of a line that is read as a remark.
const WORDS_LIMIT: usize = 14;

/// Returns the first of the new lines that stands for text left out, and is not a line of the file
/// itself. `loses` is true where the file gets shorter: a comment of nothing but dots counts, too.
pub fn first_placeholder<'a>(
    new: impl IntoIterator<Item = &'a str>,
    old: impl Fn(&str) -> bool,
    loses: bool,
) -> Option<&'a str> {
    new.into_iter().map(str::trim).find(|line| stands_for_more(line, loses) && !old(line))
}

/// Returns true for a line that stands for more.
fn stands_for_more(line: &str, loses: bool) -> bool {
    if line.len() < 3 || line.len() > 200 {
        return false;
    }
    let inner = opened(line);
    let is_remark = inner.len() < line.len();
    let lower = inner.to_lowercase().replace('\u{2026}', "...");
    let begins = lower.starts_with("...");
    let ends = lower.trim_end_matches(closing).ends_with("...");
    // Without a comment mark, dots right before a word are the language's own.
    if !is_remark && !(begins && (ends || lower.starts_with("... "))) {
        return false;
    }
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    match words.first() {
        None => loses && is_remark && begins,
        Some(_) if words.len() > WORDS_LIMIT => false,
        Some(_) => says_left_out(&words) || ((begins || ends) && names_the_rest(&words, begins)),
    }
}

/// Takes comment marks and brackets off the front.
fn opened(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some(inner) = OPENING.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = inner.trim_start();
    }
    rest
}

fn closing(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter, '*' | '/' | '-' | '>' | ')' | ']' | '}' | '#' | '%' | '"' | '\'' | ';')
}

const REST: &[&str] = &["rest", "remainder", "remaining"];
const SAME: &[&str] = &["existing", "previous", "original", "other", "unchanged", "same"];
/// Each also with an `s`.
const CODE: &[&str] = &[
    "body",
    "class",
    "classe",
    "code",
    "component",
    "config",
    "configuration",
    "content",
    "definition",
    "document",
    "entrie",
    "everything",
    "field",
    "file",
    "function",
    "implementation",
    "import",
    "item",
    "line",
    "logic",
    "method",
    "module",
    "propertie",
    "script",
    "section",
    "stuff",
    "test",
    "text",
];
const LEFT: &[&str] = &[
    "unchanged",
    "omitted",
    "same",
    "here",
    "remains",
    "remain",
    "stays",
    "stay",
    "continues",
    "untouched",
    "truncated",
    "elided",
    "snipped",
];

/// Says so in words alone: "rest of the file unchanged", "existing code here", "no changes below".
fn says_left_out(words: &[&str]) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let (first, last) =
        (words.first().copied().unwrap_or_default(), words.last().copied().unwrap_or_default());
    let start = usize::from(matches!(first, "the" | "all" | "keep" | "your"));
    let subject = words.get(start).copied().unwrap_or_default();
    let rest = REST.contains(&subject) && words.iter().any(|word| is_code(word)) && has(LEFT);
    let same = SAME.contains(&subject)
        && words.get(start + 1).is_some_and(|word| is_code(word))
        && words.len() > start + 2
        && (LEFT.contains(&last) || words.ends_with(&["as", "before"]));
    let plainly = [
        "rest of file",
        "rest of the file",
        "rest of code",
        "rest of the code",
        "existing code",
        "code unchanged",
        "file unchanged",
        "unchanged code",
        "rest unchanged",
    ]
    .iter()
    .any(|text| words.join(" ") == *text);
    rest || same || plainly
}

fn is_code(word: &str) -> bool {
    CODE.contains(&word.strip_suffix('s').unwrap_or(word)) || CODE.contains(&word)
}

/// Names what the dots beside it stand for. With dots at the end alone, the line must begin so.
fn names_the_rest(words: &[&str], begins: bool) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let first = words.iter().find(|word| !matches!(**word, "the" | "all" | "keep" | "your"));
    let told = begins || first.is_some_and(|word| REST.contains(word) || SAME.contains(word));
    let other = has(&["same", "previous", "other", "original", "more"]);
    told && words.len() <= 8
        && (has(&["unchanged", "omitted", "truncated", "snip", "elided", "existing"])
            || has(REST)
            || (other && (words.iter().any(|word| is_code(word)) || has(&["before", "above"]))))
}

#[cfg(test)]
mod tests {
    use super::first_placeholder;

    fn found(line: &str, loses: bool) -> bool {
        first_placeholder([line], |_| false, loses).is_some()
    }

    #[test]
    fn knows_what_stands_for_more_in_any_language() {
        for line in [
            "// ... existing code ...",
            "    # ... existing code ...",
            "/* ... rest of the file unchanged ... */",
            "<!-- rest of file unchanged -->",
            "-- ... remaining queries ...",
            "{/* ... other components ... */}",
            "# rest of the code remains the same",
            "// Rest of code unchanged",
            "# (rest of the file is unchanged)",
            "// ... (rest of the implementation)",
            "; … existing code …",
            "% ... rest of section ...",
            "(* ... unchanged ... *)",
            "[... rest of the file unchanged ...]",
            "... existing code ...",
            "...rest of file...",
            "# existing code here",
            "// existing methods remain unchanged",
            "// keep existing code as before",
            "\"\"\" ... rest of the class ... \"\"\"",
            "// ... same as before ...",
            "// ... other methods ...",
            "' ... existing code ...",
            "# ... (unchanged)",
            "//...",
            "# [rest of code unchanged]",
            "// The remaining functions stay the same",
            "{{!-- rest of the file unchanged --}}",
        ] {
            assert!(found(line, true), "{line}");
        }
    }

    #[test]
    fn leaves_text_alone_that_only_sounds_like_it() {
        for line in [
            "...",
            "return ...",
            "def f(self) -> None: ...",
            "print(\"... done\")",
            "const all = [...existing, item];",
            "...existing,",
            "...rest",
            "...(rest as Props),",
            "...defaults, ...remaining,",
            "# The rest of the arguments are passed to the command.",
            "// existing users keep their password",
            "# Loading...",
            "// TODO: handle the other methods",
            "assert body == \"rest of the file unchanged\"",
            "// see the other file",
            "# Remaining budget of the run",
            "* rest of world",
            "// fall through to the rest...",
            "# Same as before",
            "* existing: a list of names",
            "(rest items)",
            "echo rest of file unchanged",
        ] {
            assert!(!found(line, true), "{line}");
        }
    }

    #[test]
    fn dots_alone_count_only_where_lines_are_lost_and_lines_of_the_file_never() {
        assert!(found("  // ...", true) && !found("  // ...", false));
        let known = |line: &str| line == "# ... existing code ...";
        assert_eq!(first_placeholder(["x", " # ... existing code ..."], known, true), None);
        assert_eq!(
            first_placeholder(["x", "// rest of file"], known, true),
            Some("// rest of file")
        );
    }
}
