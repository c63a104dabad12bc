//! Which paths a pattern matches, covers and meets.

use super::{LetterCase, PathGlob, folded_letter, name_matches};
use locum_base::path::RepoPath;
use pretty_assertions::assert_eq;

#[test]
fn matches_paths_part_by_part() {
    for (pattern, path, expected) in [
        ("**", "a/b", true),
        ("**", ".", true),
        ("src/**", "src/a/b.rs", true),
        ("src/**", "src", true),
        ("src/**", "srcs/a", false),
        ("src/", "src/a", true),
        ("*.md", "README.md", true),
        ("*.md", "docs/README.md", false),
        ("**/*.md", "README.md", true),
        ("**/*.md", "docs/a/b.md", true),
        ("docs/*/x", "docs/a/x", true),
        ("docs/*/x", "docs/a/b/x", false),
        ("a/**/z", "a/z", true),
        ("a/**/z", "a/b/c/z", true),
        ("a/**/z", "a/b/c/zz", false),
        ("**/.env", "deep/.env", true),
        ("**/.env", ".envrc", false),
        ("src/?.rs", "src/a.rs", true),
        ("src/?.rs", "src/ab.rs", false),
        ("src", "src/a", false),
        ("src/a*/**", "src/ab", true),
        ("src/a*/**", "src/b", false),
        ("a*a", "a", false),
        ("a*", "a", true),
        ("src/a*", "src/a", true),
        ("a*/b", "ax/b", true),
        ("?a/b", "xa/b", true),
        ("*/b", "a/b", true),
        ("a*/b", "ax/c", false),
        ("a/*b", "a/b", true),
        (".", ".", true),
        ("*", ".", false),
    ] {
        let glob = PathGlob::parse(pattern).unwrap();
        assert_eq!(
            glob.matches(&RepoPath::parse(path).unwrap(), LetterCase::Exact),
            expected,
            "{pattern} {path}"
        );
    }
}

#[test]
fn ignores_case_only_where_asked() {
    for (pattern, path) in [
        ("**/.env", "a/.ENV"),
        ("SRC/*.Md", "src/a.mD"),
        ("src/**", "SRC"),
        ("\u{fc}ber/x", "\u{dc}BER/X"),
        ("k/**", "\u{212a}/a"),
    ] {
        let (glob, path) = (PathGlob::parse(pattern).unwrap(), RepoPath::parse(path).unwrap());
        assert!(glob.matches(&path, LetterCase::Ignored), "{pattern}");
        assert!(!glob.matches(&path, LetterCase::Exact), "{pattern}");
    }
}

#[test]
fn letters_of_any_script_that_differ_in_case_alone_are_one() {
    for (pattern, path, beside) in [
        ("\u{391}\u{3a3}*", "\u{391}\u{3a3}\u{391}", "\u{391}"),
        ("*\u{3a3}/a", "x\u{3c2}/a", "x\u{3c4}/a"),
        ("?q", "\u{130}q", "\u{130}\u{130}q"),
        ("i?", "\u{130}q", "\u{130}"),
        ("i\u{307}?", "i\u{307}q", "i\u{307}"),
        ("secrets/**", "\u{17f}ecrets/a", "\u{df}ecrets/a"),
        ("\u{17f}ecrets/**", "SECRETS/a", "secret/a"),
        ("stra\u{df}e", "STRA\u{1e9e}E", "strase"),
        ("\u{1c5}*", "\u{1c4}a", "\u{1c8}a"),
    ] {
        let glob = PathGlob::parse(pattern).unwrap();
        let read = |path: &str| RepoPath::parse(path).unwrap();
        assert!(glob.matches(&read(path), LetterCase::Ignored), "{pattern} {path}");
        assert!(!glob.matches(&read(beside), LetterCase::Ignored), "{pattern} {beside}");
        assert!(glob.meets(&PathGlob::below(&read(path))), "{pattern} meets {path}");
    }
    for letter in (0..=0x1_ffff).filter_map(char::from_u32) {
        let lower: Vec<char> = letter.to_lowercase().collect();
        let upper: Vec<char> = letter.to_uppercase().collect();
        for other in [lower, upper] {
            if let [other] = other.as_slice() {
                assert_eq!(folded_letter(letter), folded_letter(*other), "{letter} {other}");
            }
        }
    }
}

#[test]
fn tells_whether_patterns_have_a_path_in_common() {
    for (one, two, expected) in [
        ("src/*.rs", "**/*.pem", false),
        ("src/*.rs", "**/id_rsa", false),
        ("src/*.json", "**/service-account*.json", true),
        ("src/*", "src/a", true),
        ("src/?", "src/ab", false),
        ("src/**", "**/.env", true),
        ("src/**", "docs/**", false),
        ("SRC/a*b*c", "src/*x*", true),
        ("a/b", "a/b/**", true),
        ("a/*/c", "a/**/d/c", true),
        ("a/*/c", "a/x/y/**", false),
    ] {
        let (one, two) = (PathGlob::parse(one).unwrap(), PathGlob::parse(two).unwrap());
        assert_eq!((one.meets(&two), two.meets(&one)), (expected, expected), "{one:?} {two:?}");
    }
    let sub = PathGlob::below(&RepoPath::parse("etc/ssl").unwrap());
    assert!(sub.meets(&PathGlob::parse("etc/ssl/private/**").unwrap()));
    assert!(!sub.meets(&PathGlob::parse("etc/passwd").unwrap()));
    let hostile = PathGlob::parse(&"**/*a*b*c/".repeat(100)).unwrap();
    let _ = hostile.meets(&hostile);
}

#[test]
fn takes_a_line_of_an_ignore_file_for_at_least_what_it_hides() {
    for (line, hidden, free) in [
        ("secrets", "a/secrets/key", "a/secret"),
        ("secrets/", "a/secrets/key", "a/b"),
        ("/build", "build/x", "web/build/x"),
        ("*.pe[mn]", "a/b.pen", "a/b.peman"),
        ("docs/**/x", "docs/a/b/x/y", "docs/a"),
        ("a**b", "x/aXb", "x/a/b"),
        ("\\*x", "*x", "b"),
    ] {
        let matches = |path: &str| {
            PathGlob::of_ignore_line(line)
                .iter()
                .any(|glob| glob.matches(&RepoPath::parse(path).unwrap(), LetterCase::Ignored))
        };
        assert!(matches(hidden), "{line} {hidden}");
        assert!(!matches(free), "{line} {free}");
    }
}

#[test]
fn is_quick_on_hostile_patterns() {
    let glob = PathGlob::parse(&"**/a/".repeat(200)).unwrap();
    let path = RepoPath::parse(&"a/".repeat(1500)).unwrap();
    let _ = glob.matches(&path, LetterCase::Exact);
    assert!(!name_matches(&"*a".repeat(300), &"b".repeat(3000)));
}

#[test]
fn refuses_patterns_that_mean_nothing() {
    for text in ["", "/etc/**", "~/x", "a/../b", "a**", "a\nb"] {
        assert!(PathGlob::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn names_one_path_and_knows_where_it_starts() {
    for (pattern, path, names) in [
        ("a/b", "a/b", true),
        ("a/b", "a/c", false),
        ("a/b", "a/b/c", false),
        ("a/*", "a/*", false),
        ("a/**", "a", false),
    ] {
        let glob = PathGlob::parse(pattern).unwrap();
        assert_eq!(glob.names(&RepoPath::parse(path).unwrap()), names, "{pattern} {path}");
    }
    for (pattern, start) in
        [("SRC/*", Some("src")), ("a", Some("a")), ("*/a", None), ("**", None), ("a?/b", None)]
    {
        assert_eq!(PathGlob::parse(pattern).unwrap().start(), start, "{pattern}");
    }
}

#[test]
fn knows_what_it_covers() {
    let glob = |text: &str| PathGlob::parse(text).unwrap();
    assert!(glob("src/**").covers(&glob("src/a/*.rs")));
    assert!(glob("**").covers(&glob("x")));
    assert!(!glob("src/**").covers(&glob("tests/**")));
    assert!(!glob("*/a").covers(&glob("b/a")));
}
