//! What is redacted and what is left.

use super::view::{escape_length, without_escapes};
use super::{Redactor, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pretty_assertions::assert_eq;

const VALUE: &str = "correct-horse-battery-staple-42";

fn redactor() -> Redactor {
    Redactor::new([Secret::new(VALUE)])
}

fn token(parts: &[&str]) -> String {
    parts.concat()
}

fn hides(text: &str) {
    let clean = redactor().redact(text);
    assert!(clean.contains("***"), "{text} -> {clean}");
    assert_eq!(redactor().redact(&clean), clean, "redacting twice");
    assert!(redactor().finds_secret(text));
}

fn keeps(text: &str) {
    assert_eq!(redactor().redact(text), text);
    assert!(!redactor().finds_secret(text));
}

#[test]
fn a_secret_never_prints_itself() {
    let secret = Secret::new(VALUE);
    assert_eq!(format!("{secret} {secret:?}"), "*** ***");
    let shown = format!("{:?}", redactor());
    assert!(shown.contains("forms: [***, ***"), "{shown}");
    assert!(!shown.contains("correct"), "{shown}");
}

#[test]
fn hides_a_registered_value_and_keeps_the_words_around_it() {
    assert_eq!(redactor().redact(&format!("the value is {VALUE} ok")), "the value is *** ok");
    assert_eq!(redactor().redact(&format!("{VALUE}{VALUE}")), "***");
    assert_eq!(redactor().redact(&format!("{VALUE} or {VALUE}")), "*** or ***");
    assert_eq!(redactor().plain_values().hide(&format!("<{VALUE}>")), "<***>");
}

#[test]
fn hides_a_registered_value_however_it_is_written() {
    let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let entities: String = VALUE.bytes().map(|byte| format!("&#{byte};")).collect();
    let hex_entities: String = VALUE.bytes().map(|byte| format!("&#x{byte:x};")).collect();
    let escapes: String = VALUE.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let short_escapes: String = VALUE.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    let spaced: String = VALUE.chars().flat_map(|letter| [letter, ' ']).collect();
    let lines: String = VALUE.chars().flat_map(|letter| [letter, '\n']).collect();
    let invisible: String = VALUE.chars().flat_map(|letter| [letter, '\u{200b}']).collect();
    let coloured: String =
        VALUE.chars().map(|letter| format!("\u{1b}[31m{letter}\u{1b}[0m")).collect();
    let wide: String =
        VALUE.chars().filter_map(|letter| char::from_u32(u32::from(letter) + 0xfee0)).collect();
    for text in [
        percent,
        entities,
        hex_entities,
        escapes,
        short_escapes,
        VALUE.replace('-', "&dash;"),
        VALUE.replace('-', "&hyphen;"),
        hex.to_uppercase(),
        hex,
        wide,
    ] {
        assert_eq!(redactor().redact(&format!("<{text}>")), "<***>");
        hides(&text);
    }
    for text in [spaced, lines, invisible, coloured] {
        hides(&text);
    }
    hides(&VALUE.chars().rev().collect::<String>());
    hides(&VALUE.to_uppercase());
    for shift in ["", "x", "xx", "xxx"] {
        hides(&STANDARD.encode(format!("{shift}{VALUE}")));
        hides(&URL_SAFE_NO_PAD.encode(format!("{shift}{VALUE}?>")));
    }
}

#[test]
fn hides_a_value_with_something_empty_between_its_letters() {
    for between in [
        "\u{fe0f}",
        "\u{a0}",
        "\u{2009}",
        "\u{3000}",
        "\u{2800}",
        "\u{332}",
        "\u{20dd}",
        "<b></b>",
        "</b><b>",
        "<br/>",
        "&it;",
        "&rlm;",
        "&ZeroWidthSpace;",
        "&NegativeVeryThinSpace;",
        "&hairsp;",
        "<b a=1></b>",
        "<b\n>",
        "<!---->",
        "<!-- -->",
        "<x-y></x-y>",
        "</>",
        "[](x)",
        "![](x)",
        "\u{483}",
        "\u{489}",
        "\u{5bf}",
        "\u{64b}",
        "\u{1cd0}",
        "\u{302a}",
        "\u{1}",
        "\u{7f}",
    ] {
        hides(&VALUE.chars().map(|letter| format!("{letter}{between}")).collect::<String>());
    }
    keeps("correct <b>horse</b> battery <i>staple</i> 43");
    keeps("a &notit; b <bbbbbbbbbbbbbbbb>");
    keeps("cor<b>rect</b> <i>horse battery");
}

#[test]
fn hides_a_value_that_looks_like_a_tag() {
    let redactor = Redactor::new(
        ["hunter2xyzab", "a1b2c3d4e5f6a7b8c9d0e1f2", "<b>pass</b>word<i>"].map(Secret::new),
    );
    for (text, expected) in [
        ("<HUNTER2XYZAB>", "<***>"),
        ("a <hunter2xyzab/> b", "a <***/> b"),
        ("<aHVudGVyMnh5emFi>", "<***>"),
        ("<A1B2C3D4E5F6><A7B8C9D0E1F2>", "<***><***>"),
        ("<B>PASS</B>WORD<I>", "***"),
        ("<horse>", "<horse>"),
    ] {
        assert_eq!(redactor.redact(text), expected, "{text}");
    }
}

#[test]
fn hides_a_value_without_its_first_or_last_characters_but_not_a_word_of_it() {
    hides(&VALUE[7..]);
    hides(&VALUE[..20]);
    hides(&format!("x{}y", &VALUE[5..25]));
    keeps("correct");
    keeps("a horse and a battery");
    for part in [1..16, 16..31, 0..15, 8..23, 3..19, 0..31] {
        let text = format!("<{}>", &VALUE[part]);
        assert_eq!(redactor().redact(&text), "<***>", "{text}");
    }
    for part in [5..16, 1..12, 17..31, 9..23] {
        keeps(&format!("<{}>", &VALUE[part]));
    }
}

#[test]
fn hides_a_part_in_hexadecimal_from_twelve_bytes_on() {
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(redactor().redact(&format!("<{}>", &hex[2..26])), "<***>");
    keeps(&format!("<{}>", &hex[2..24]));
}

#[test]
fn hides_a_short_value_in_base64_whatever_stands_beside_it() {
    let redactor = Redactor::new([Secret::new("hunter22")]);
    for before in ["", "x", "xx"] {
        for after in ["", "\n", " and", "\u{7f}"] {
            let text = STANDARD.encode(format!("{before}hunter22{after}"));
            assert!(redactor.redact(&text).contains("***"), "{before}{after:?}: {text}");
            let other = STANDARD.encode(format!("{before}hunter33{after}"));
            assert_eq!(redactor.redact(&other), other);
        }
    }
}

#[test]
fn an_escape_sequence_ends_where_a_terminal_ends_it() {
    for (text, length) in [
        ("\u{1b}[31mred", 5),
        ("\u{1b}[3\nred", 3),
        ("\u{1b}]0;title\u{7}rest", 10),
        ("\u{1b}]0;title\nrest", 9),
        ("\u{1b}]0;title", 2),
        ("\u{1b}]8;;http://a.b\u{1b}\\link", 17),
        ("\u{1b}]0;title\u{1b}[0m", 9),
        ("\u{1b}(B\u{1b}[m", 3),
        ("\u{1b}(s", 1),
        ("\u{1b}", 1),
        ("red", 0),
    ] {
        assert_eq!(escape_length(text), length, "{text:?}");
    }
    let coloured =
        "[\u{1b}[1;31mERROR\u{1b}[m] \u{1b}]8;;http://a.b\u{1b}\\äö\u{1b}]8;;\u{7}\u{1b}(B";
    assert_eq!(without_escapes(coloured), "[ERROR] äö");
    assert_eq!(without_escapes("[1;31m is no sequence\n"), "[1;31m is no sequence\n");
    assert_eq!(without_escapes("\u{1b}"), "");
}

#[test]
fn short_values_are_not_registered() {
    let redactor = Redactor::new([Secret::new("main"), Secret::new(" "), Secret::new("hunter22")]);
    assert_eq!(redactor.redact("main hunter22"), "main ***");
}

#[test]
fn hides_known_formats_and_keeps_what_only_resembles_them() {
    let tail = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    for prefix in ["gh\u{70}_", "gh\u{73}_", "gh\u{6f}_", "gh\u{75}_", "gh\u{72}_"] {
        hides(&token(&[prefix, tail]));
        hides(&token(&["\\n", prefix, tail]));
        keeps(&token(&["a word like ", prefix, " alone"]));
    }
    hides(&token(&[
        "github",
        "_pat_",
        "11ABCDEFG0abcdefghijkl",
        "_",
        "mnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghi",
    ]));
    hides(&token(&["sk", "-ant-", "api03-", "abcdefghijklmnopqrstuvwxyz0123456789ABCD"]));
    hides(&token(&["sk", "-proj-", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]));
    hides(&token(&["AK", "IA", "ABCDEFGHIJKLMNOP"]));
    hides(&token(&["xo", "xb-", "123456789012-", "123456789012-", "abcdefghijklmnopqrstuvwx"]));
    hides(&token(&[
        "ey",
        "JhbGciOiJIUzI1NiJ9",
        ".",
        "ey",
        "JzdWIiOiIxMjM0NTY3ODkwIn0",
        ".",
        "c2lnbmF0dXJlc2lnbmF0dXJlc2ln",
    ]));
    hides(&token(&[
        "-----BEGIN ",
        "RSA PRIVATE KEY-----\nMIIEfake\n-----END ",
        "RSA PRIVATE KEY-----",
    ]));
    hides(&token(&["-----BEGIN ", "PRIVATE KEY-----\nMIIEfakefakefake\nfakefake"]));
    hides(&token(&["np", "m_", "abcdefghijklmnopqrstuvwxyz0123456789"]));
    hides(&token(&["AI", "za", "SyA1234567890abcdefghijklmnopqrstuv"]));
    hides(&token(&["sk", "_live_", "abcdefghijklmnopqrstuvwx"]));
    hides("git clone https://x:hunter2hunter2@git.example/a");
    hides("Authorization: Bearer abcdefghijklmnop123456");
    keeps("The commit is 3fce3b5bb0236da2df6d99672afb8a719642eca7");
    keeps("-----BEGIN CERTIFICATE-----\nMIIEfakefakefake\n-----END CERTIFICATE-----");
    keeps("see https://docs.rs/regex and mail a.b@example.com");
    keeps("Authorization: Bearer $TOKEN");
    keeps("task-list-items-are-not-keys and risk-proj-x");
}

#[test]
fn hides_known_formats_taken_apart() {
    let whole = token(&["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"]);
    hides(&whole.chars().map(String::from).collect::<Vec<_>>().join(" "));
    hides(&format!("{}\n{}", &whole[..20], &whole[20..]));
    hides(&whole.chars().map(|letter| format!("&#{};", u32::from(letter))).collect::<String>());
    hides(&format!("{}\u{200b}{}", &whole[..8], &whole[8..]));
    hides(&format!("\u{1b}[31m{whole}\u{1b}[0m"));
    hides(&format!("\"{}\" + \"{}\"", &whole[..9], &whole[9..]).replace(" + ", " "));
}

#[test]
fn finds_a_secret_anywhere_in_a_long_text() {
    let line = "an ordinary line of some length, é\n";
    for before in [0, 262_130, 262_144 - 8, 300_000] {
        let head: String = line.repeat(before / line.len() + 1).chars().take(before).collect();
        let text = format!("{head}{VALUE}\n{}", line.repeat(100));
        assert_eq!(redactor().first_secret(&text), Some(head.len()), "{before}");
    }
    // A token whose head alone is longer than a kibibyte, on the edge of a window.
    let long = token(&["ey", "J", &"a".repeat(6_000), ".", "ey", "J", &"b".repeat(60)]);
    let head = "-".repeat(262_144 - 3_000);
    let text = format!("{head} {long}.{}\n{}", "c".repeat(40), line.repeat(100));
    assert_eq!(redactor().first_secret(&text), Some(head.len() + 1));
    assert_eq!(redactor().first_secret(&line.repeat(9_000)), None);
}

#[test]
fn long_texts_take_linear_time() {
    for piece in [
        "a ",
        "&#",
        "%4",
        "\\u00",
        "gh",
        "-----BEGIN ",
        "correct-horse-",
        "Y29ycmVjdC1ob3",
        "\u{1b}[",
    ] {
        let text = piece.repeat(300_000 / piece.len());
        let _ = redactor().redact(&text);
    }
}
