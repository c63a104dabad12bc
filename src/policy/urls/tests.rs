//! How addresses are read, and which rules are about them.

use core::net::{IpAddr, Ipv4Addr};

use super::host::Host;
use super::pattern::UrlPattern;
use super::{Destination, RUN_LIMIT_BYTES, URL_LIMIT_BYTES, WebUrl};
use crate::glob::LetterCase;
use pretty_assertions::assert_eq;

fn read(text: &str) -> Result<String, String> {
    let url = WebUrl::parse(text);
    url.problem().map_or_else(|| Ok(url.to_string()), |problem| Err(problem.to_owned()))
}

#[test]
fn an_address_has_one_form() {
    for (text, expected) in [
        ("https://docs.rs", "https://docs.rs/"),
        ("HTTPS://Docs.RS:443/Serde", "https://docs.rs/Serde"),
        ("https://docs.rs./x", "https://docs.rs/x"),
        ("https://docs.rs/a#frag", "https://docs.rs/a"),
        ("https://docs.rs?q=1", "https://docs.rs/?q=1"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://docs.rs/%2e%2e/x", "https://docs.rs/x"),
        ("http://93.184.216.34:8080/", "http://93.184.216.34:8080/"),
        ("https://[2606:2800:220:1::1]/", "https://[2606:2800:220:1::1]/"),
    ] {
        assert_eq!(read(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn what_has_two_readings_is_refused() {
    for (text, message) in [
        ("docs.rs/x", "in full"),
        ("//docs.rs/x", "in full"),
        ("https:docs.rs", "in full"),
        ("https:/docs.rs", "in full"),
        ("https:///docs.rs/", "names no host"),
        ("", "in full"),
        ("ftp://docs.rs/", "neither https nor http"),
        ("file:///etc/passwd", "neither https nor http"),
        ("jar:http://docs.rs!/", "neither https nor http"),
        ("https://docs.rs/ x", "blanks"),
        (" https://docs.rs/", "blanks"),
        ("https://docs.rs/\r\nHost: evil.example", "blanks"),
        ("https://docs.rs\\@evil.example/", "blanks"),
        ("https://docs.rs@evil.example/", "before `@`"),
        ("https://docs.rs:x@127.0.0.1/", "before `@`"),
        ("https://@docs.rs/", "before `@`"),
        ("https://docs.rs%40evil.example/", "`%`"),
        ("https://docs%2ers/", "`%`"),
        ("http://127.0.0.1%00.docs.rs/", "`%`"),
        ("http://[fe80::1%25eth0]/", "`%`"),
        ("http://[::1", "port"),
        ("http://::1/", "IPv6"),
        ("http://0x7f.1/", "odd spelling of 127.0.0.1"),
        ("http://0177.0.0.1/", "odd spelling"),
        ("http://2130706433/", "odd spelling"),
        ("http://127.1/", "odd spelling"),
        ("http://127.0.0.1./", "odd spelling"),
        ("http://１２７.0.0.1/", "odd spelling"),
        ("http://1.2.3.256/", "no host that could exist"),
        ("https://docs.rs\u{200b}.evil.example/", "U+200B"),
        ("https://doc\u{ad}s.rs/", "U+00AD"),
        ("https://docs。rs/", "only looks like `docs.rs`"),
        ("https://ｄｏｃｓ.rs/", "only looks like"),
        ("https://docs..rs/", "not the name"),
        ("https://docs.rs../", "not the name"),
        ("https://.docs.rs/", "not the name"),
        ("https://do$cs.rs/", "not the name"),
        ("https://docs.rs:0/", "not a port"),
        ("https://docs.rs:/", "not a port"),
        ("https://docs.rs:+443/", "not a port"),
        ("https://docs.rs:65536/", "not a port"),
    ] {
        let problem = read(text).unwrap_err();
        assert!(problem.contains(message), "{text}: {problem}");
    }
    assert!(
        read(&format!("https://docs.rs/{}", "a/".repeat(600)))
            .unwrap_err()
            .contains("longer than 1024")
    );
    assert!(
        read(&format!("https://docs.rs/?q={}", "QUJD".repeat(30)))
            .unwrap_err()
            .contains("carried away")
    );
    assert!(read(&format!("https://docs.rs/{}", "0123456789abcdef".repeat(4))).is_ok());
    let run = |length: usize| read(&format!("https://docs.rs/{}", "a".repeat(length)));
    assert!(run(RUN_LIMIT_BYTES).is_ok() && run(RUN_LIMIT_BYTES + 1).is_err());
    let long = |length: usize| read(&format!("https://a.b/{}", "/".repeat(length - 12)));
    assert!(long(URL_LIMIT_BYTES).is_ok() && long(URL_LIMIT_BYTES + 1).is_err());
}

#[test]
fn a_host_has_letters_that_are_seen_and_no_more_than_names_may_have() {
    for odd in ["do cs.rs", "docs\u{1}.rs", "docs\u{200b}.rs", "docs.rs\t", "docs.rs\u{2028}"] {
        let problem = Host::parse(odd).unwrap_err();
        assert!(problem.contains("holds the invisible character U+"), "{odd:?}: {problem}");
    }
    let label = "a".repeat(63);
    let name = |last: usize| format!("{label}.{label}.{label}.{}", "b".repeat(last));
    assert!(Host::parse(&name(61)).is_ok() && Host::parse(&name(62)).is_err());
    assert!(Host::parse(&format!("{label}.rs")).is_ok());
    assert!(Host::parse(&format!("{label}a.rs")).is_err());
}

#[test]
fn a_pattern_knows_how_wide_it_is() {
    for (text, host, has_path, any, wild) in [
        ("docs.rs", "docs.rs", false, false, false),
        ("docs.rs/a/**", "docs.rs", true, false, false),
        ("*.docs.rs", "*.docs.rs", false, false, true),
        ("*", "*", false, true, true),
        ("http://docs.rs:8080/a", "docs.rs", true, false, false),
    ] {
        let pattern = UrlPattern::parse(text).unwrap();
        let found =
            (pattern.host(), pattern.has_path(), pattern.is_any_host(), pattern.has_wildcard());
        assert_eq!(found, (host.to_owned(), has_path, any, wild), "{text}");
    }
}

#[test]
fn names_of_this_machine_and_its_network_are_never_reached() {
    for (text, refused) in [
        ("localhost", true),
        ("LOCALHOST", true),
        ("foo.localhost", true),
        ("ip6-localhost", true),
        ("metadata", true),
        ("metadata.google.internal", true),
        ("metadata.google.internal.", true),
        ("metadata.goog", true),
        ("printer.local", true),
        ("intranet", true),
        ("kubernetes.default.svc", true),
        ("svc.example.com", false),
        ("router.lan", true),
        ("1.0.0.127.in-addr.arpa", true),
        ("127.0.0.1", true),
        ("[::1]", true),
        ("[::ffff:7f00:1]", true),
        ("docs.rs", false),
        ("localhost.example", false),
        ("internal.example", false),
        ("93.184.216.34", false),
    ] {
        assert_eq!(Host::parse(text).unwrap().forbidden().is_some(), refused, "{text}");
    }
}

#[test]
fn rules_are_about_the_parts_of_an_address() {
    for (pattern, url, allows, refuses) in [
        ("docs.rs", "https://docs.rs/tokio", true, true),
        ("docs.rs", "https://DOCS.rs./tokio", true, true),
        ("docs.rs", "http://docs.rs/tokio", false, true),
        ("docs.rs", "https://docs.rs:8443/", false, true),
        ("docs.rs", "https://docs.rs.evil.example/", false, false),
        ("docs.rs", "https://evildocs.rs/", false, false),
        ("docs.rs", "https://evil.example/docs.rs", false, false),
        ("docs.rs", "https://evil.example?docs.rs", false, false),
        ("docs.rs", "https://www.docs.rs/", false, false),
        ("*.example.com", "https://a.example.com/", true, true),
        ("*.example.com", "https://a.b.example.com/", true, true),
        ("*.example.com", "https://example.com/", false, false),
        ("*.example.com", "https://badexample.com/", false, false),
        ("*.example.com", "https://example.com.evil.example/", false, false),
        ("bücher.example", "https://xn--bcher-kva.example/", true, true),
        ("*", "https://docs.rs/", true, true),
        ("*", "http://docs.rs/", false, true),
        ("http://*", "http://docs.rs/", true, true),
        ("http://docs.rs:8080", "http://docs.rs:8080/x", true, true),
        ("http://docs.rs:8080", "http://docs.rs/x", false, false),
        ("docs.rs/tokio/**", "https://docs.rs/tokio/1", true, true),
        ("docs.rs/tokio", "https://docs.rs/tokio", true, true),
        ("docs.rs/tokio", "https://docs.rs/tokio/1?q", true, true),
        ("docs.rs/tokio", "https://docs.rs/tokio-util", false, false),
        ("docs.rs/tokio/**", "https://docs.rs/other", false, false),
        ("docs.rs/tokio", "https://docs.rs/tokio/../other", false, false),
        ("docs.rs/tokio", "https://docs.rs/tokio/..%2fother", false, true),
        ("docs.rs/tokio", "https://docs.rs//tokio", false, true),
        ("docs.rs/tokio", "https://docs.rs/x/..;/tokio", false, false),
        ("docs.rs/tokio", "https://docs.rs/TO%6bio/x", false, true),
        ("93.184.216.34", "https://93.184.216.34/", true, true),
        ("[2606:2800::1]", "https://[2606:2800:0::1]/", true, true),
    ] {
        let (read, address) = (UrlPattern::parse(pattern).unwrap(), WebUrl::parse(url));
        assert_eq!(address.problem(), None, "{url}");
        assert_eq!(
            (
                read.matches(&address, LetterCase::Exact),
                read.matches(&address, LetterCase::Ignored)
            ),
            (allows, refuses),
            "{pattern} {url}"
        );
    }
}

#[test]
fn says_what_is_wrong_with_a_pattern() {
    for (text, message) in [
        ("ftp://x.example", "only https"),
        ("", "write a host"),
        ("*.", "write a host"),
        ("*.*.example", "write a host"),
        ("a.*.example", "write a host"),
        ("docs.rs:x", "not a port"),
        ("user@docs.rs", "nothing else"),
        ("docs.rs?q", "nothing else"),
        ("docs.rs/*/x", "start of one"),
        ("docs.rs/../x", "start of one"),
        ("*.127.0.0.1", "nothing below"),
        ("0x7f.1", "write a host"),
    ] {
        let error = UrlPattern::parse(text).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_wider_pattern_covers_a_narrower_one() {
    for (one, other, expected) in [
        ("*", "docs.rs", true),
        ("*", "http://docs.rs", false),
        ("*.example.com", "a.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "*.b.example.com", true),
        ("docs.rs", "docs.rs/tokio", true),
        ("docs.rs/tokio", "docs.rs", false),
        ("docs.rs", "docs.rs:8443", false),
    ] {
        assert_eq!(
            UrlPattern::parse(one).unwrap().covers(&UrlPattern::parse(other).unwrap()),
            expected,
            "{one} {other}"
        );
    }
}

#[test]
fn a_redirect_leads_where_it_says_and_is_read_as_strictly() {
    let from = WebUrl::parse("https://docs.rs/a/b?c");
    for (location, expected) in [
        ("/x", Some("https://docs.rs/x")),
        ("x", Some("https://docs.rs/a/x")),
        ("?y", Some("https://docs.rs/a/b?y")),
        ("//evil.example/x", Some("https://evil.example/x")),
        ("http://docs.rs/x", Some("http://docs.rs/x")),
        ("https://u:p@docs.rs/x", None),
        ("//u@docs.rs/x", None),
        ("https:docs.rs", None),
        ("javascript:alert(1)", None),
        ("//0x7f.1/", Some("https://127.0.0.1/")),
        ("https://0x7f.1/", None),
    ] {
        let joined = from.join(location);
        assert_eq!(
            (joined.problem().is_none()).then(|| joined.to_string()).as_deref(),
            expected,
            "{location}"
        );
    }
}

#[test]
fn destinations_are_hosts_with_ports() {
    for (text, expected) in [
        ("docs.rs", Some("docs.rs:443")),
        ("docs.rs:8443", Some("docs.rs:8443")),
        ("http://docs.rs", Some("http://docs.rs:80")),
        ("[2606:2800::1]:443", Some("[2606:2800::1]:443")),
        ("docs.rs:443:443", None),
        ("docs.rs/x", None),
        ("u@docs.rs:443", None),
        ("ftp://docs.rs", None),
    ] {
        assert_eq!(
            Destination::parse(text).ok().map(|one| one.to_string()).as_deref(),
            expected,
            "{text}"
        );
    }
}

/// A generator of numbers, the same in every run.
struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What C libraries make of a host: one to four numbers, each decimal, octal or hexadecimal, the
/// last one filling the rest.
fn inet_aton(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &str| -> Option<u64> {
        let (digits, radix) = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None if part.len() > 1 && part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        (!digits.is_empty() && !digits.starts_with('+'))
            .then(|| u64::from_str_radix(digits, radix).ok())
            .flatten()
    };
    let numbers: Vec<u64> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, heads) = numbers.split_last()?;
    let fits = heads.len() <= 3
        && heads.iter().all(|head| *head < 256)
        && *last < 1 << (8 * (4 - heads.len()));
    let address =
        heads.iter().enumerate().fold(*last, |sum, (at, head)| sum | head << (8 * (3 - at)));
    fits.then(|| u32::try_from(address).ok().map(Ipv4Addr::from)).flatten()
}

#[test]
fn no_spelling_of_a_number_is_read_in_two_ways() {
    let mut seeded = SeededNumbers(7);
    let (mut addresses, mut refused) = (0, 0);
    for _ in 0..50_000 {
        let count = 1 + seeded.below(5);
        let mut text = String::new();
        for at in 0..count {
            let value =
                if seeded.below(4) == 0 { seeded.below(1 << 32) } else { seeded.below(300) };
            let part = match seeded.below(8) {
                0 => format!("0x{value:x}"),
                1 => format!("0{value:o}"),
                2 => format!("0X{value:X}"),
                3 if at == 0 => format!("{value:03}"),
                4 if seeded.below(20) == 0 => String::new(),
                5 if seeded.below(20) == 0 => format!("{value}x"),
                _ => value.to_string(),
            };
            text.push_str(&part);
            if at + 1 < count || seeded.below(30) == 0 {
                text.push(if seeded.below(200) == 0 { '。' } else { '.' });
            }
        }
        match Host::parse(&text) {
            Ok(Host::Address(read)) => {
                addresses += 1;
                assert_eq!(read.to_string(), text, "an address has one spelling");
                assert_eq!(inet_aton(&text).map(IpAddr::V4), Some(read), "{text}");
            }
            Ok(Host::Name(name)) => {
                assert_eq!(inet_aton(&text), None, "{text} is a name and an address ({name})")
            }
            Err(_) => refused += 1,
        }
    }
    assert!(addresses > 100 && refused > 10_000, "{addresses} {refused}");
}
