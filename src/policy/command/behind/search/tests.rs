//! How far the search behind commands goes, and what it finds.

use super::{BehindSearch, PartBehind, words_of};
use crate::command::Script;
use pretty_assertions::assert_eq;

fn behind(text: &str) -> Vec<String> {
    let script = Script::parse(text);
    let shown = |part: PartBehind| match part {
        PartBehind::Command(words) => words.join(" "),
        PartBehind::Script(inner) => format!("script {}", inner.text()),
    };
    BehindSearch::of_script(&script).map(shown).collect()
}

#[test]
fn what_stands_behind_several_others_is_found() {
    for (text, expected) in [
        ("nice nice nice nice nice nice nice nice nice a b", "a b"),
        ("sudo -nu root sh -c 'env -i xargs -0n 1 a b'", "a b"),
        ("echo 'a b' | sudo -n sh", "script a b"),
        ("f() { sudo a b; }; f", "a b"),
        ("((x)); sh -c 'sudo a; b'", "a"),
        ("if ! a b; then ((x)); fi", "a b"),
        ("coproc a b", "a b"),
        ("bash -c \"a b $x\"", "script a b $x"),
    ] {
        assert!(behind(text).contains(&expected.to_owned()), "{text}: {:?}", behind(text));
    }
    assert_eq!(behind("ls; rg sudo src | wc -l"), [""; 0]);
}

#[test]
fn commands_behind_one_are_its_own() {
    let script = Script::parse("sudo sh -c 'a x; env b'; nice c");
    let found = script.commands_behind(script.simple_commands()[0]).unwrap();
    let mut found: Vec<String> = found.iter().map(|words| words.join(" ")).collect();
    found.sort();
    assert_eq!(found, ["a x", "b", "env b", "sh -c a x; env b"]);
}

#[test]
fn a_text_is_cut_as_a_shell_does() {
    for (text, expected) in [
        ("a 'b c' \"d e\"", &["a", "b c", "d e"][..]),
        ("a\\ b c'd'", &["a b", "cd"]),
        ("a 'b", &["a", "b"]),
        ("\"a\\b\\\"c\" \\d", &["a\\b\"c", "d"]),
        ("'a$' \"$'b'\"", &["a$", "$'b'"]),
        ("  ", &[]),
    ] {
        assert_eq!(words_of(text), expected, "{text}");
    }
}

#[test]
fn a_search_is_bounded() {
    let text = format!("sudo{}", " --a env".repeat(900));
    let script = Script::parse(&text);
    let mut search = BehindSearch::of_script(&script);
    assert!(search.by_ref().count() > 0);
    assert!(search.is_cut());
}

#[test]
fn a_search_is_cut_before_the_words_of_one_command_are_copied_very_often() {
    for (start, part, many) in [
        ("fd", " -x", 20_000),
        ("find .", " -exec a", 7_500),
        ("env", " -S a", 60_000),
        ("parallel a", " ::: a b", 7_500),
        ("git", " -c alias.a=b", 23_000),
        ("python", " -m a", 7_500),
        ("nix develop", " -c a", 7_500),
        ("sudo", " --zz a", 7_500),
        ("eval", " eval", 12_000),
        ("trap", " a=b", 3_000),
    ] {
        for (count, is_cut) in [(many, true), (3, false)] {
            let script = Script::parse(&format!("{start}{}", part.repeat(count)));
            let mut search = BehindSearch::of_script(&script);
            search.by_ref().for_each(drop);
            assert_eq!(search.is_cut(), is_cut, "{start}{part} x {count}");
        }
    }
}

#[test]
fn no_number_of_words_in_front_of_a_command_hides_it() {
    for part in [" $x", " --zz c"] {
        for count in [1, 15, 17, 40] {
            let found = behind(&format!("x=; nice{} a b", part.repeat(count)));
            assert!(found.contains(&"a b".to_owned()), "{part} x {count}: {found:?}");
            assert!(!found.contains(&"b".to_owned()), "{part} x {count}: {found:?}");
        }
    }
}

#[test]
fn quotes_with_a_dollar_are_plain_ones() {
    for (text, expected) in [
        ("$'a' b", "script 'a' b"),
        ("$\"a\" b", "script \"a\" b"),
        ("ls; nice $'a' b", "a b"),
        ("eval $'a b'", "script a b"),
        ("bash -c $'a\\x20\\'b'", "script a 'b"),
        ("a \"$'b'\" $'it\\'s'", "script a \"$'b'\" 'it'\\''s'"),
        ("a $'b", "script a 'b'"),
        ("a \\$'b' $'c'", "script a \\$'b' 'c'"),
    ] {
        assert!(behind(text).contains(&expected.to_owned()), "{text}: {:?}", behind(text));
    }
    assert_eq!(behind("ls 'a$' 'a b'"), [""; 0]);
}

#[test]
fn what_is_printed_is_found_where_a_shell_behind_others_reads_it() {
    for text in [
        "echo a b | sudo bash",
        "echo a b | env -i sh -x",
        "echo a b | busybox sh",
        "echo a b | /bin/sh",
        "nice echo a b | sh",
    ] {
        assert!(behind(text).contains(&"script a b".to_owned()), "{text}: {:?}", behind(text));
    }
    assert_eq!(behind("echo a b | wc"), [""; 0]);
}
