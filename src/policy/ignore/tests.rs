//! What lines of ignore files hide, and how mistakes in them are reported.

use super::{IgnoreFile, IgnoreFiles, LINES_LIMIT};
use crate::glob::{LetterCase, PathGlob};
use locum_base::path::RepoPath;
use pretty_assertions::assert_eq;

fn files(text: &str) -> IgnoreFiles {
    let mut files = IgnoreFiles::default();
    files.add(".rooignore", text).unwrap();
    files
}

#[test]
fn hides_what_git_would_ignore_and_nothing_else() {
    let hidden =
        |text: &str, path: &str| files(text).hidden(&RepoPath::parse(path).unwrap()).is_some();
    for (text, yes, no) in [
        (".env\n", ".env", ".env.local"),
        (".env\n", "app/.env", "app/env"),
        (".ENV\n", "app/.env", "app/.envrc"),
        ("secrets/\n", "secrets/a/b", "x/secretsfile"),
        ("secrets/\n", "x/secrets", "secret"),
        ("/build\n", "build/out.js", "web/build/out.js"),
        ("*.pem\n", "a/b.pem", "a.pem.txt"),
        ("logs/**/*.log\n", "logs/x.log", "x/logs/x.log"),
        ("logs/**/*.log\n", "logs/a/b/x.log", "logs/a/b/x.txt"),
        ("a/b\n", "a/b/c", "x/a/b"),
        (
            "docs/private/*\n!docs/private/public.md\n",
            "docs/private/a.md",
            "docs/private/public.md",
        ),
        ("*\n!keep.txt\n", "other.txt", "keep.txt"),
        ("*\n!*/\n!*.rs\n", "src/a.txt", "src/a.rs"),
        ("\\!important\n", "!important", "important"),
        ("\\#a\n#b\n", "#a", "b"),
        ("my file.txt  \n", "my file.txt", "my file"),
        ("[abc].txt\n", "b.txt", "d.txt"),
        ("[abc\n", "[abc", "a"),
        ("\u{feff}.env\r\nsecrets/\r\n", "secrets/a", "secret"),
        ("\u{feff}.env\r\nsecrets/\r\n", ".env", "env"),
        ("*.{pem,key}\n", "a.key", "a.txt"),
        ("a{b}\n", "a{b}", "a"),
        ("a\\{b\\}\n", "a{b}", "a\\{b\\}"),
        ("*b}\n!a\\{b\\}\n", "xb}", "a{b}"),
        ("\\*{b}\n", "*{b}", "a{b}"),
        ("{a,{b,c}}.x\n", "b.x", "d.x"),
        ("{a,b}{c,d}.x\n", "ad.x", "a.x"),
        ("{a\n", "{a", "a"),
        ("\u{c9}\n", "\u{e9}", "e"),
        ("\u{e9}/\n", "x/\u{c9}/a", "x/\u{e8}/a"),
        ("?x\n", "\u{e9}x", "\u{e9}\u{e9}x"),
        ("?x\n", "a/\u{4e2d}x/b", "a/xx\u{e9}"),
        ("[!a]x\n", "\u{e9}x", "\u{e9}"),
        ("a\\\n\u{e9}?\n", "\u{e9}\u{f1}", "a"),
        ("?x\n!\u{e9}x\n", "\u{e8}x", "\u{e9}x"),
        ("!\u{e9}x\n?x\n", "\u{e9}x", "\u{e9}"),
        ("a\\\\\n", "a\\", "a"),
        ("a\\ \n", "a ", "a"),
        ("a\\  \n", "a ", "a"),
        ("a\\ \\   \n", "a  ", "a "),
        ("a\\\\ \n", "a\\", "a\\ "),
        ("\\ a\n", " a", "a"),
        ("a\n!\n", "a", "b"),
        ("a\n! \n!\\/\n!/\n", "a", "b"),
        ("*.key\n!*.{key,txt}\n", "a.key", "a.txt"),
    ] {
        assert!(hidden(text, yes), "{text:?} hides {yes}");
        assert!(!hidden(text, no), "{text:?} does not hide {no}");
        let yes = RepoPath::parse(yes).unwrap();
        let known = files(text).globs().any(|glob| glob.matches(&yes, LetterCase::Ignored));
        assert!(known, "{text:?} hides {yes} by its patterns too");
    }
    assert!(
        hidden("private/\n!private/ok.txt\n", "private/ok.txt"),
        "nothing comes back out of a hidden folder"
    );
    assert!(!hidden("*\n", "."), "the root itself is never hidden");
    assert!(hidden("a\\\t \nb\n", "b"), "an escaped tab is a letter that no path has");
}

#[test]
fn a_letter_of_another_script_is_one_letter_and_hides_no_more_than_others() {
    let hidden =
        |text: &str, path: &str| files(text).hidden(&RepoPath::parse(path).unwrap()).is_some();
    for (text, yes, no) in [
        ("[Bb]in/\n", "Bin/\u{fc}.md", "fin/\u{fc}.md"),
        ("*.[Cc]ache\n", "x/\u{e9}.Cache", "x/\u{e9}.zache"),
        ("[\u{e0}-\u{ff}]*\n", "\u{e9}x", "\u{4e2d}"),
        ("[\u{e0}-\u{ff}]*\n", "\u{c9}", "x\u{e9}"),
        ("\u{e9}*\n!\u{e9}1/\n", "\u{e9}2/x", "\u{e9}1/x"),
        ("/[!.]*\n!/\u{fc}bersicht/\n", "\u{fc}bersichten/a.md", "\u{fc}bersicht/a.md"),
        ("[!a]x\n", "\u{e9}x", "ax/\u{e9}"),
        ("[!\u{c9}]x\n", "\u{e9}x", "\u{c9}x"),
        ("[^\u{e9}]x\n", "\u{e8}x", "\u{e9}x"),
        ("[]a]?\n", "]\u{e9}", "b\u{e9}"),
        ("[a-]?\n", "-\u{e9}", "b\u{e9}"),
        ("[a?\n", "[a\u{e9}", "a\u{e9}"),
        ("\u{e9}\\?\n", "\u{c9}?", "\u{c9}a"),
        ("{\u{e9},b{c,d}}?/\n", "bd\u{e8}/x", "bx\u{e8}/x"),
        ("a/**/?/z\n", "a/\u{e9}/z", "a/z/\u{e9}"),
        ("a/**\n", "A/b/\u{e9}", "b/a/\u{e9}"),
        ("?/\n", "\u{e9}/a", "\u{e9}b/cd"),
        ("*\u{3a3}\n", "x\u{3c2}", "x\u{3c4}"),
        ("x?\n!x\u{c9}\n", "x\u{e9}", "x\u{c9}"),
        ("secrets/\n", "\u{17f}ecrets/a", "\u{df}ecrets/a"),
    ] {
        assert!(hidden(text, yes), "{text:?} hides {yes}");
        assert!(!hidden(text, no), "{text:?} does not hide {no}");
        let yes = RepoPath::parse(yes).unwrap();
        let known = files(text).globs().any(|glob| glob.matches(&yes, LetterCase::Ignored));
        assert!(known, "{text:?} hides {yes} by its patterns too");
    }
    let line = |text: &str, path: &str| {
        let found = files(text).hidden(&RepoPath::parse(path).unwrap()).unwrap();
        (found.line_number(), found.pattern)
    };
    assert_eq!(line("a\n[x-z]?  \n?b\n", "y\u{e9}/k"), (2, "[x-z]?".to_owned()));
}

/// Names without such letters tell whether both ways to match lines agree. Sets that are negated
/// are left out, and those that are not closed: by bytes they match slashes.
#[test]
fn lines_mean_the_same_by_letters_and_by_bytes() {
    let pieces =
        ["a", "b", "*", "?", "/", "**", "[ab]", "[]b-]", "\\", "{", "}", ",", "]", "**/", "A"];
    let mut state = 1_u32;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % limit
    };
    let (mut compared, mut hiding) = (0, 0);
    for _ in 0..6_000 {
        let lines: Vec<String> = (0..=below(3))
            .map(|_| {
                let back = if below(3) == 0 { "!" } else { "" };
                let text: String = (0..=below(6)).map(|_| pieces[below(pieces.len())]).collect();
                format!("{back}{text}")
            })
            .collect();
        let text = lines.join("\n");
        if text.contains("//") || text.contains("\\/") {
            continue;
        }
        let Ok(file) = IgnoreFile::parse(".rooignore", &text) else { continue };
        let names = ["a", "b", "ab", "ba", "B", "[", "{a}", "a,b"];
        let path: Vec<&str> = (0..=below(3)).map(|_| names[below(names.len())]).collect();
        let path = path.join("/");
        let by_bytes = file.hidden(&RepoPath::parse(&path).unwrap()).is_some();
        let by_letters = file.by_letters.hiding(&path).is_some();
        // Braces may hide more.
        let more = by_letters && text.contains('{');
        assert!(by_letters == by_bytes || more, "{text:?} {path} {by_letters}");
        compared += 1;
        hiding += u32::from(by_bytes);
    }
    assert!(compared > 2_000 && hiding > 500, "{compared} {hiding}");
}

#[test]
fn long_paths_of_another_script_are_matched_at_once() {
    let text: String = (0..200).map(|at| format!("**/[xy]*b*{at}\n")).collect();
    let long = format!("{}\u{e9}", "xbbb/".repeat(500));
    let letters = files(&text).files.remove(0).by_letters;
    assert_eq!(letters.hiding(&long), None);
    assert_eq!(letters.hiding(&format!("{long}/xb7")), Some(8));
    let braces = format!("{}\u{e9}\n", "{a,b}".repeat(40)).repeat(20);
    let letters = files(&braces).files.remove(0).by_letters;
    assert!(letters.hiding(&format!("{}\u{c9}", "ab".repeat(20))).is_some());
    let few = files("x{a,b}{c,d}\u{e9}\n").files.remove(0).by_letters;
    assert_eq!((few.hiding("xbc\u{c9}"), few.hiding("xcb\u{e9}")), (Some(1), None));
    // Any folders, however often that is said.
    let line = format!("{}é\n", "**/".repeat(100_000));
    let hidden = |path: &str| files(&line).hidden(&RepoPath::parse(path).unwrap()).is_some();
    assert!(hidden("a/é") && !hidden("aé/x"));
}

#[test]
fn the_patterns_are_those_of_lines_that_hide() {
    for (text, expected) in [
        ("# a\n\nkept\n!docs\n", "**/kept/** **/kept"),
        ("*.{pem,key}\n", "**/*.pem/** **/*.pem **/*.key/** **/*.key"),
        ("/a\n", "a/** a"),
    ] {
        let files = files(text);
        let globs: Vec<String> = files.globs().map(PathGlob::text).collect();
        let mut once: Vec<&str> = globs.iter().map(String::as_str).collect();
        once.retain(|glob| !glob.contains(['{', '}']) && !glob.contains("?pem"));
        assert_eq!(once.join(" "), expected, "{text:?}");
        assert_eq!(files.texts().collect::<Vec<_>>(), [(".rooignore", text)]);
        let itself: Vec<String> = files.itself_globs().iter().map(PathGlob::text).collect();
        assert_eq!(itself, [".rooignore"]);
        assert!(!files.is_empty());
    }
    assert!(files("").is_empty() && files("").globs().next().is_none());
}

#[test]
fn names_the_last_line_that_decides() {
    let found = files("# keys\n*.pem\n\n*.{key,p12}  \n")
        .hidden(&RepoPath::parse("a/b.p12").unwrap())
        .unwrap();
    assert_eq!(
        (found.origin.as_str(), found.line_number(), found.pattern.as_str()),
        (".rooignore", 4, "*.{key,p12}")
    );
    let found = files("*.pem\n!*.pem\n*.pem\n").hidden(&RepoPath::parse("a.pem").unwrap()).unwrap();
    assert_eq!(found.line_number(), 3);
}

#[test]
fn a_file_that_says_something_hides_itself() {
    let path = RepoPath::parse(".RooIgnore").unwrap();
    for (text, expected) in
        [("# nothing yet\n", Some(".rooignore")), ("", None), ("\u{feff} \n", None)]
    {
        assert_eq!(files(text).itself(&path), expected, "{text:?}");
    }
    assert_eq!(files("a\n").itself(&RepoPath::parse("sub/.rooignore").unwrap()), None);
}

#[test]
fn a_line_that_ends_with_a_backslash_is_left_out_with_a_warning() {
    let files = files("a\\\nb\n# c\\\n");
    let warnings: Vec<String> = files
        .left_out()
        .map(|(name, it)| format!("{name}:{}: {}", it.place.line, it.message))
        .collect();
    assert_eq!(warnings, [".rooignore:1: `a\\` ends with `\\`: it hides nothing"]);
    let hidden =
        |path: &str| files.hidden(&RepoPath::parse(path).unwrap()).map(|it| it.line_number());
    assert_eq!((hidden("a"), hidden("b")), (None, Some(2)));
}

#[test]
fn every_line_that_is_no_pattern_is_told_at_once() {
    let mistakes = IgnoreFiles::default().add(".rooignore", "ok\n[z-a]\n\n!x[9-0]\n").unwrap_err();
    assert_eq!(mistakes.iter().map(|mistake| mistake.place.line).collect::<Vec<_>>(), [2, 4]);
    assert!(
        mistakes[0].message.starts_with("`[z-a]` is not a pattern: "),
        "{}",
        mistakes[0].message
    );
    assert!(IgnoreFiles::default().add(".rooignore", &"a\n".repeat(LINES_LIMIT + 1)).is_err());
    assert!(IgnoreFiles::default().add(".rooignore", &"a\n".repeat(LINES_LIMIT)).is_ok());
}
