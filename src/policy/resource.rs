//! Addresses of resources of MCP servers, as `mcp(SERVER/resource:ADDRESS)` names them.
//!
//! In: what a server is asked for. Out: why no rule can decide on it. Servers read an address as
//! they like: one with another spelling of the same place would pass a rule that refuses it, or one
//! that allows what is below a folder only.

use crate::pattern::RESOURCE;

/// What a percent sign may not hide: what is written plainly, and what ends a part of a path.
const HIDDEN: &[u8] = b"-._~/\\%";

/// Returns why the address of a resource is not plain. `None` for a plain one, and for what is no
/// resource.
pub(crate) fn problem(tool: &str) -> Option<String> {
    let address = tool.strip_prefix(RESOURCE)?;
    let why = what_is_wrong(address)?;
    Some(format!("the address of the resource is not plain: {why}"))
}

fn what_is_wrong(address: &str) -> Option<&'static str> {
    if address.contains('\\') {
        return Some("it has a `\\`");
    }
    let hidden = address.split('%').skip(1).any(|behind| {
        let letter = behind.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        letter.is_none_or(|letter| letter.is_ascii_alphanumeric() || HIDDEN.contains(&letter))
    });
    if hidden {
        return Some("it has a `%` where a plain letter, or no letter, belongs");
    }
    let path = address.split_once("://").map_or(address, |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "." | "..")) {
        return Some("it has a `.` or `..` between slashes");
    }
    // Nothing may stand between `//` but behind the scheme of an address within the address, before
    // the first slash (`file:///x`), and at the end.
    let inner = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let is_empty =
        parts.iter().zip(inner).any(|(before, part)| part.is_empty() && !before.ends_with(':'));
    is_empty.then_some("it has a `//`")
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn an_address_that_has_another_spelling_is_not_plain() {
        for (address, is_plain) in [
            ("file:///docs/guide.md", true),
            ("file:///docs/", true),
            ("file:///docs/a%20b/%E2%82%AC", true),
            ("http://x/a?b=../c%3D", true),
            ("page://https://example.com/x", true),
            ("note:1", true),
            ("any", true),
            ("file:///docs/../etc/passwd", false),
            ("file:///docs/./x", false),
            ("file:///docs/..", false),
            ("file:///docs/%2e%2E/etc", false),
            ("file:///docs/..%2fetc", false),
            ("http://x/%73ecret/1", false),
            ("http://x/%2573ecret", false),
            ("http://x//secret", false),
            ("http://x/a//secret", false),
            ("http://x/a\\..\\secret", false),
            ("http://x/100%", false),
            ("http://x/%zz", false),
        ] {
            let found = problem(&format!("resource:{address}"));
            assert_eq!(found.is_none(), is_plain, "{address}: {found:?}");
        }
        assert_eq!(problem("delete_../x"), None, "the name of a tool");
    }
}
