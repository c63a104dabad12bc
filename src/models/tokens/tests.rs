//! Estimates of tokens against counts of the original tokenizer.

use pretty_assertions::assert_eq;

use super::{Tokenizer, split};

/// Counts of tiktoken 0.14.0 (PyPI) with `o200k_base`: the length of what its `encode_ordinary`
/// returns.
#[test]
fn counts_as_the_reference_does() {
    for (text, tokens) in [
        ("", 0),
        ("a", 1),
        ("hello world", 2),
        ("Hello, World!", 4),
        ("fn main() {\n    println!(\"hi\");\n}\n", 10),
        ("use std::collections::BTreeMap;", 9),
        ("let tokens_per_mb = 1_000_000;", 12),
        ("    deeply\n        indented\n\n\n    text   ", 10),
        ("\t\ttabs\tand  spaces ", 7),
        ("\r\n\r\n  \r\nx", 3),
        ("a  b   c    d", 7),
        ("trailing   ", 3),
        ("   ", 1),
        ("\n", 1),
        ("don't we'RE they'Ve I'LL he'D I'm ſ'ſ it'ſ", 19),
        ("camelCaseName HTTPServerError XMLHttpRequest", 8),
        ("SCREAMING_SNAKE_CASE", 7),
        ("1234567890", 4),
        ("3.14159e-10", 7),
        ("0xdeadbeef", 5),
        ("2026-11-22T05:00:00Z", 13),
        ("https://example.org/a/b?c=d&e=f#g", 12),
        ("foo/bar//baz///\n\n", 5),
        ("()[]{}<>;:,.!?", 8),
        ("((((((((", 2),
        ("-----------", 1),
        ("<|endoftext|>", 7),
        ("{\"path\":\"src/main.rs\",\"limit\":200}", 11),
        ("| a | b |\n|---|---|\n", 10),
        ("你好，世界", 3),
        ("你好世界ABC日本語Abc", 7),
        ("こんにちは世界、カタカナ", 7),
        ("안녕하세요 세계", 3),
        ("Привет, мир! ЁЛКА", 8),
        ("مرحبا بالعالم", 4),
        ("שלום עולם", 2),
        ("नमस्ते दुनिया", 5),
        ("สวัสดีชาวโลก", 7),
        ("Ångström naïve café", 6),
        ("e\u{301} \u{301}e A\u{301}B", 8),
        ("😀😃😄👩\u{200D}👩\u{200D}👧\u{200D}👦🏳\u{FE0F}\u{200D}🌈", 22),
        ("½ ² Ⅷ ٣٤٥ १२३४", 14),
        ("ǅungla ʰªº", 9),
        ("a\u{A0}b\u{2003}c\u{2028}d\u{85}e", 10),
        ("\u{0}\u{1}\u{1F}\u{7F}", 4),
        ("\u{FEFF}BOM", 3),
        ("ZmFzdCBhbmQgbGluZWFyIGNvdW50aW5nIG9mIHRva2Vucw==", 32),
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 35),
        ("#[expect(clippy::unwrap_used, reason = \"a test\")]", 14),
        ("def f(x):\n\treturn x**2  # square\n", 12),
        ("SELECT * FROM users WHERE id = 1;", 10),
        ("@@ -1,7 +1,9 @@\n-old\n+new\n", 16),
    ] {
        assert_eq!(Tokenizer::O200k.tokens(text), tokens, "{text:?}");
    }
    for (unit, tokens) in [
        ("a", 512),
        (" ", 32),
        ("=", 64),
        ("ab", 2048),
        ("\n", 256),
        ("字", 4096),
        ("0", 1366),
        ("A", 512),
    ] {
        assert_eq!(Tokenizer::O200k.tokens(&unit.repeat(4096)), tokens, "4,096 times {unit:?}");
    }
}

#[test]
fn counts_by_bytes_where_no_tokenizer_is_known() {
    for (text, tokens) in [("", 0), ("abcd", 1), ("abcde", 2), ("日本", 3), ("e3b0c44298fc1c14", 4)]
    {
        assert_eq!(Tokenizer::default().tokens(text), tokens, "{text}");
    }
}

/// Texts of characters that begin and end pieces, chosen by a fixed sequence.
#[test]
fn any_text_is_split_without_loss_and_counted() {
    let characters: Vec<char> = " \t\n\r/'sSreLVaZ09.,(<_字あǅʰé\u{301}\u{0}\u{A0}\u{2028}½🙂\
        \u{200D}\u{FEFF}\u{10FFFF}"
        .chars()
        .collect();
    let mut drawn: u64 = 1;
    for length in (0..4000).map(|turn| turn % 40) {
        let mut draw = || {
            drawn = drawn
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            characters[usize::try_from(drawn >> 33).unwrap() % characters.len()]
        };
        let text: String = (0..length).map(|_| draw()).collect();
        assert_eq!(split::pieces(&text).collect::<String>(), text);
        assert!(split::pieces(&text).all(|piece| !piece.is_empty()));
        let (tokens, bytes) = (Tokenizer::O200k.tokens(&text), u64::try_from(text.len()).unwrap());
        assert!(tokens <= bytes && (tokens > 0 || text.is_empty()), "{text:?}: {tokens}");
    }
}

#[test]
fn every_tokenizer_is_written_as_it_is_read() {
    for tokenizer in Tokenizer::ALL {
        assert_eq!(serde_json::to_value(tokenizer).unwrap(), tokenizer.as_str());
    }
}
