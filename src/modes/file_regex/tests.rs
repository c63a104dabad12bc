//! Patterns of files as the peers read them.

use super::FileRegex;
use pretty_assertions::assert_eq;

fn check(pattern: &str, matching: &[&str], others: &[&str]) {
    let regex = FileRegex::parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    for path in matching {
        assert!(regex.matches(path), "{pattern} matches {path:?}");
    }
    for path in others {
        assert!(!regex.matches(path), "{pattern} does not match {path:?}");
    }
}

#[test]
fn searches_as_javascript_does() {
    check(r"\.md$", &["a.md", "b/c.md"], &["a.md.bak", "filemd", "a.MD"]);
    check(r"^docs/", &["docs/a"], &["src/docs/a"]);
    check("", &["", "anything"], &[]);
    check(r"docs\/.*\.md$|CHANGES\.md$", &["x/docs/a.md", "CHANGES.md"], &["docs/a.txt"]);
    check(r"^(?!.*secret)docs/", &["docs/a.md"], &["docs/secret.md"]);
    check(r"docs/(?!security/).*\.(md|mdx)$", &["docs/a.md"], &["docs/security/a.md"]);
    check(r"(?<=src/)\w+\.rs$", &["src/lib.rs"], &["tests/lib.rs", "src/é.rs"]);
    check(r"(?<!test)\.rs$", &["src/lib.rs"], &["a_test.rs"]);
    check(r"(?<=^docs/.*)\.md$", &["docs/a.md", "docs/b/c.md"], &["src/a.md"]);
    check(r"(?<!^src/.*)\.rs$", &["tests/lib.rs"], &["src/lib.rs", "src/a/lib.rs"]);
    check(r"(?<part>a|b)/\k<part>$", &["a/a", "b/b"], &["a/b"]);
    check(r"^(a)\1$", &["aa"], &["a", "ab"]);
}

#[test]
fn has_javascripts_idea_of_characters() {
    check(r"^\d$", &["7"], &["٣"]);
    check(r"^\w$", &["_"], &["é"]);
    check(r"\bé", &["xé"], &["é"]);
    check(r"^\s$", &["\u{feff}", "\u{a0}"], &["\u{85}"]);
    check(r"^.$", &["é", "\u{85}", "😀"], &["\n", "\u{2028}"]);
    check(r"a$", &["a"], &["a\n"]);
    check(r"^[^]$", &["\n", "x"], &[""]);
    check(r"x[]|y", &["y"], &["x"]);
    check(r"^[\w-z.]$", &["-", "q", "."], &["+"]);
    check(r"^[a&&b]$", &["&", "a", "b"], &["c"]);
    check(r"^[[a]$", &["[", "a"], &["]"]);
    check(r"^[^\W]$", &["a"], &["-"]);
    check(r"^[\D]$", &["a"], &["1"]);
    check(r"^\u0041\x42\cJ\0$", &["AB\n\0"], &["AB"]);
    check(r"^[\b]$", &["\u{8}"], &["b"]);
}

#[test]
fn takes_the_legacy_syntax() {
    check(r"^a{,2}$", &["a{,2}"], &["aa"]);
    check(r"^a]}$", &["a]}"], &[]);
    check(r"^\-\_\u{61}$", &[], &["-_a"]);
    check(r"^\p{2}$", &["pp"], &["p{2}"]);
    check(r"^\2(a)$", &["\u{2}a"], &["a"]);
    check(r"^\1(a)$", &["a"], &["aa"]);
    check(r"^(?=a)?b$", &["b"], &["a"]);
    check(r"^a{2}b{1,}c{0,1}?$", &["aab", "aabbc"], &["ab"]);
    check(r"^\c$", &[r"\c"], &["c"]);
    check(r"^(a\1)+$", &["a", "aaaa"], &["b"]);
    check(r"^(?:x(a)?|\1)z$", &["xaz", "xz", "z"], &["az"]);
}

#[test]
fn refuses_what_javascript_refuses() {
    for pattern in [
        "[a-",
        "*.md",
        "a**",
        "a++",
        "(a",
        "a)",
        "(?<n>a)(?<n>b)",
        r"(?<n>a)\k<m>",
        "(?<1>a)",
        "(?P<n>a)",
        "(?i)a",
        "(?#c)",
        "[b-a]",
        "a{2,1}",
        r"\",
        "^*",
        r"\b+",
        "(?<=a)*",
        "{1}",
        "?",
        "(?>a)",
        r"(?<n>a)\k",
    ] {
        assert!(FileRegex::parse(pattern).is_err(), "{pattern}");
    }
}

#[test]
fn refuses_what_it_cannot_keep() {
    for pattern in [
        r"\uD800",
        r"[\uD800-\uDFFF]",
        r"(a)(?<=\1)",
        &"(".repeat(60),
        "a{99999}",
        "(?:(?:a{1000}){1000}){1000}",
    ] {
        assert!(FileRegex::parse(pattern).is_err(), "{pattern}");
    }
    assert!(FileRegex::parse(&"a".repeat(9000)).is_err());
    assert_eq!(FileRegex::parse(r"\uD83D\uDE00").map(|regex| regex.matches("😀")).ok(), Some(true));
}

#[test]
fn gives_up_on_explosions() {
    for pattern in [
        r"^(?:(a+)+)+(?!x)\1b$",
        "^(?:(?:(?=a)a{1000}){1000}){1000}$",
        "(?:(?:(?:(?=a)a?){1000}){1000}){1000}b",
    ] {
        let regex = FileRegex::parse(pattern).unwrap();
        assert!(!regex.matches(&"a".repeat(4000)), "{pattern}");
    }
}
