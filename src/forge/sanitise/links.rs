//! Where a text may lead: the hosts of its addresses, the targets of its links.

use url::Url;

/// Stands where an address stood that the text may not hold.
pub(super) const REMOVED: &str = "(link removed)";

/// An address is read up to this length.
const ADDRESS_LIMIT_BYTES: usize = 2048;

/// How deep brackets may nest in the target of a link.
const NESTING_LIMIT: usize = 3;

/// Returns the length of the address at the start of the text, or `None` when none starts here.
pub(super) fn address_length(text: &str) -> Option<usize> {
    let word = text
        .bytes()
        .take(26)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
        .count();
    let head = text.get(..word)?;
    let after = text.get(word..)?;
    let is_web = head.eq_ignore_ascii_case("http") || head.eq_ignore_ascii_case("https");
    let starts = after.starts_with("://")
        || (is_web
            && after
                .strip_prefix(':')
                .is_some_and(|rest| rest.starts_with(|letter: char| !letter.is_whitespace())))
        || head.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("www.") && word > 4);
    starts.then(|| {
        text.find(|letter: char| {
            letter.is_whitespace() || matches!(letter, '<' | '>' | '"' | '`' | ')' | ']' | '|')
        })
        .unwrap_or(text.len())
    })
}

/// Returns true when an address written out in the text may stay.
pub(super) fn address_may_stay(address: &str, hosts: &[String]) -> bool {
    if hosts.is_empty() {
        return true;
    }
    let whole =
        if address.contains(':') { address.to_owned() } else { format!("https://{address}") };
    let trimmed = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~']);
    host_may_stay(trimmed, hosts)
}

/// Returns true when the target of a link may stay: an address of a listed host, a mail address, or
/// a place in the repository.
pub(super) fn target_may_stay(target: &str, hosts: &[String]) -> bool {
    if target.len() > ADDRESS_LIMIT_BYTES
        || target.contains(['\\', '\t', '\n', '`'])
        || holds_entity(target)
    {
        return false;
    }
    if target.starts_with("//") {
        return hosts.is_empty() || host_may_stay(&format!("https:{target}"), hosts);
    }
    let scheme_end = target
        .find([':', '/', '?', '#'])
        .filter(|at| target.get(*at..).is_some_and(|rest| rest.starts_with(':')));
    match scheme_end.and_then(|end| target.get(..end)) {
        None => true,
        Some(scheme)
            if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") =>
        {
            hosts.is_empty() || host_may_stay(target, hosts)
        }
        Some(scheme) => scheme.eq_ignore_ascii_case("mailto"),
    }
}

/// Returns true when something in the text would be decoded before it is used.
fn holds_entity(text: &str) -> bool {
    text.split('&').skip(1).any(|rest| {
        let name =
            rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '#');
        name.len() < rest.len() && name.starts_with(';')
    })
}

/// Reads the host as a browser would; what can be read in two ways does not stay.
fn host_may_stay(address: &str, hosts: &[String]) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none();
    let authority = address
        .split_once("://")
        .map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let Some(authority) =
        authority.filter(|authority| plain && !authority.contains(['@', '\\', '%']))
    else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let written = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    written.eq_ignore_ascii_case(host)
        && hosts.iter().any(|known| match known.strip_prefix("*.") {
            Some(parent) => {
                host.len() > parent.len()
                    && host.ends_with(parent)
                    && host.get(..host.len() - parent.len()).is_some_and(|rest| rest.ends_with('.'))
            }
            None => known.eq_ignore_ascii_case(host),
        })
}

/// The target of an inline link: `](target "title")`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinkTarget<'a> {
    /// Target of the link, as written.
    pub(super) address: &'a str,
    /// Bytes from the opening bracket to the closing one, both included.
    pub(super) length: usize,
}

/// Reads the bracket after a link's text; `None` when it is not plainly a target on this line.
pub(super) fn target(text: &str) -> Option<LinkTarget<'_>> {
    let inner = text.strip_prefix('(')?;
    let start = inner.trim_start_matches([' ', '\t']);
    let (address, rest) = match start.strip_prefix('<') {
        Some(pointed) => {
            let end = pointed
                .bytes()
                .take(ADDRESS_LIMIT_BYTES)
                .position(|byte| matches!(byte, b'<' | b'>' | b'\n'))?;
            (pointed.get(..end)?, pointed.get(end..)?.strip_prefix('>')?)
        }
        None => {
            let end = bare_target_length(start)?;
            (start.get(..end)?, start.get(end..)?)
        }
    };
    let after_address = rest.trim_start_matches([' ', '\t']);
    let after_title =
        if after_address.len() < rest.len() { skip_title(after_address)? } else { after_address };
    let end = after_title.trim_start_matches([' ', '\t']).strip_prefix(')')?;
    Some(LinkTarget { address, length: text.len() - end.len() })
}

fn bare_target_length(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().take(ADDRESS_LIMIT_BYTES) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            b' ' | b'\t' => return (depth == 0).then_some(at),
            b'<' | b'>' | b'\\' | b'`' => return None,
            _ => {}
        }
        if depth > NESTING_LIMIT {
            return None;
        }
    }
    None
}

fn skip_title(text: &str) -> Option<&str> {
    let close = match text.bytes().next() {
        Some(b'"') => '"',
        Some(b'\'') => '\'',
        Some(b'(') => ')',
        Some(_) | None => return Some(text),
    };
    let rest = text.get(1..)?;
    let end = rest.bytes().take(ADDRESS_LIMIT_BYTES).position(|byte| byte == close as u8)?;
    rest.get(end + 1..)
}

#[cfg(test)]
mod tests {
    use super::{LinkTarget, address_length, address_may_stay, target, target_may_stay};
    use pretty_assertions::assert_eq;

    fn hosts() -> Vec<String> {
        vec!["docs.rs".to_owned(), "*.example.com".to_owned()]
    }

    #[test]
    fn finds_where_an_address_ends() {
        assert_eq!(address_length("https://docs.rs/a b"), Some(17));
        assert_eq!(address_length("www.docs.rs)"), Some(11));
        assert_eq!(address_length("ftp://x"), Some(7));
        assert_eq!(address_length("https:evil"), Some(10));
        for text in ["http: the protocol", "httpd", "www", "", "a:b"] {
            assert_eq!(address_length(text), None, "{text}");
        }
    }

    #[test]
    fn only_listed_hosts_stay() {
        for address in [
            "https://docs.rs/a",
            "http://docs.rs",
            "https://docs.rs:443/",
            "https://a.example.com",
            "https://docs.rs/a.",
        ] {
            assert!(address_may_stay(address, &hosts()), "{address}");
        }
        for address in [
            "https://evil.example/",
            "https://docs.rs.evil.example",
            "https://docs.rs@evil.example/",
            "https://evildocs.rs",
            "https:evil.example",
            "https:docs.rs",
            "https://docs.rs\\@evil.example",
            "https://doc%73.rs",
            "www.evil.example",
            "ftp://docs.rs/",
            "https://example.com",
            "https://aexample.com",
            "https://",
            "https://d\u{f6}cs.rs",
        ] {
            assert!(!address_may_stay(address, &hosts()), "{address}");
        }
        assert!(address_may_stay("https://evil.example/", &[]));
    }

    #[test]
    fn targets_lead_to_listed_hosts_or_into_the_repository() {
        for place in [
            "https://docs.rs/a",
            "#part",
            "/a/b",
            "../a.md",
            "src/lib.rs",
            "",
            "mailto:a@b.c",
            "//docs.rs/x",
        ] {
            assert!(target_may_stay(place, &hosts()), "{place}");
        }
        for place in [
            "javascript:alert(1)",
            "JAVASCRIPT:x",
            "data:text/html,x",
            "https://evil.example",
            "//evil.example/x",
            "\\\\evil.example",
            "vbscript:x",
            "java&#115;cript:x?",
            "https://docs.rs&period;evil.example",
        ] {
            assert!(!target_may_stay(place, &hosts()), "{place}");
        }
        assert!(!target_may_stay("javascript:alert(1)", &[]));
    }

    #[test]
    fn reads_plain_targets_only() {
        assert_eq!(target("(a) b"), Some(LinkTarget { address: "a", length: 3 }));
        assert_eq!(target("( <a b> \"title\" )x"), Some(LinkTarget { address: "a b", length: 17 }));
        assert_eq!(target("(a(b)c 'title')"), Some(LinkTarget { address: "a(b)c", length: 15 }));
        for text in ["(a", "(a \"b)", "(a b)", "(<a)", "(((((a)))))", "(a\\b)"] {
            assert_eq!(target(text), None, "{text}");
        }
    }
}
