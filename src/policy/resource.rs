//! Addresses of resources of MCP servers, as `mcp(SERVER/resource:ADDRESS)` names them.
//!
//! In: what a server is asked for. Out: why no rule can decide on it. Servers read an address as
//! they like: one with another spelling of the same place would pass a rule that refuses it, or one
//! that allows what is below a folder only.

use crate::glob::folded;
use crate::pattern::RESOURCE;

/// What a percent sign may not hide: what is written plainly, and what ends a part of a path.
const HIDDEN: &[u8] = b"-._~/\\%";

/// Whether a pattern matches some addresses of resources and not others, so that their spelling
/// counts.
pub(crate) fn distinguishes_addresses(pattern: &str) -> bool {
    let tool = folded(pattern.split_once('/').map_or(pattern, |(_, tool)| tool));
    let fixed = tool.split(['*', '?']).next().unwrap_or_default();
    let is_about_resources = fixed.starts_with(RESOURCE) || RESOURCE.starts_with(fixed);
    let is_about_all = tool.trim_end_matches('*') == fixed && RESOURCE.starts_with(fixed);
    is_about_resources && !is_about_all
}

/// Returns why the address of a resource is not plain. `None` for a plain one, and for what is no
/// resource.
pub(crate) fn problem(tool: &str) -> Option<String> {
    let address = tool.strip_prefix(RESOURCE)?;
    let why = what_is_wrong(address)?;
    Some(format!(
        "rules are about addresses of resources, and this one can be spelled in other ways: {why}"
    ))
}

fn what_is_wrong(address: &str) -> Option<&'static str> {
    if address.contains('\\') {
        return Some("it has a `\\`");
    }
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let hidden = path.split('%').skip(1).any(|behind| {
        let letter = behind.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        letter.is_none_or(|letter| letter.is_ascii_alphanumeric() || HIDDEN.contains(&letter))
    });
    if hidden {
        return Some(
            "a `%` in its path stands for a letter, a digit or one of `-._~/\\%`, or for nothing",
        );
    }
    let path = path.split_once("://").map_or(path, |(_, path)| path);
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
    use super::{distinguishes_addresses, problem};

    #[test]
    fn the_spelling_counts_where_a_pattern_is_about_some_addresses() {
        for (pattern, counts) in [
            ("s/resource:file:///docs/*", true),
            ("s/Resource:x", true),
            ("s/*secret*", true),
            ("s/r?source:*", true),
            ("*/resource:*x", true),
            ("s/*", false),
            ("s/**", false),
            ("s/resource:*", false),
            ("s/resource:**", false),
            ("s/res*", false),
            ("s/delete_*", false),
            ("s/now", false),
            ("s/prompt:review", false),
        ] {
            assert_eq!(distinguishes_addresses(pattern), counts, "{pattern}");
        }
    }

    #[test]
    fn an_address_that_has_another_spelling_is_not_plain() {
        for (address, is_plain) in [
            ("file:///docs/guide.md", true),
            ("file:///docs/", true),
            ("file:///docs/a%20b/%E2%82%AC", true),
            ("http://x/a?b=../c%3D%2F%25", true),
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
