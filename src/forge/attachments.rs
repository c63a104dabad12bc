//! Images that people attach to what they write: found in Markdown as a page would show them, and
//! fetched only from the forge's own hosts for attachments.
//!
//! In: a text, or an address with the forge's server. Out: addresses in order, or from where and
//! with what right one is fetched. It fetches nothing itself.

use regex::Regex;
use url::Url;

/// Redirects that are followed for one image.
pub(crate) const REDIRECTS_LIMIT: usize = 3;

/// Hosts that GitHub keeps attachments at. All of them take no token.
const GITHUB_HOSTS: &[&str] = &[
    "user-images.githubusercontent.com",
    "private-user-images.githubusercontent.com",
    "objects.githubusercontent.com",
    "github-production-user-asset-6210df.s3.amazonaws.com",
];

/// Paths of attachments at the forge's own server.
const OWN_PATHS: &[&str] = &["/user-attachments/assets/", "/user-attachments/files/"];

/// An image as a text names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedImage {
    /// The words for readers who do not see it.
    pub alt: String,
    /// Its address as written.
    pub address: String,
}

/// Whether a request for an attachment brings the token along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttachmentAccess {
    /// At the forge itself.
    WithToken,
    /// At a host that keeps files for it.
    Plain,
}

/// Returns the images that a Markdown text shows, in order and each once. What stands in code and
/// in HTML comments is not shown.
pub fn images_in(markdown: &str) -> Vec<LinkedImage> {
    let Ok(hidden) = Regex::new(
        r"(?s)<!--.*?(?:-->|\z)|(?:^|\n) {0,3}```.*?(?:\n {0,3}```|\z)|(?:^|\n) {0,3}~~~.*?(?:\n {0,3}~~~|\z)|`[^`\n]+`",
    ) else {
        return Vec::new();
    };
    let Ok(shown) = Regex::new(
        r#"!\[(?<alt>[^\]\n]{0,500})\]\(\s*<?(?<link>[^\s<>)]+)>?[^)\n]*\)|(?is)<img\b(?<tag>[^>]{0,2000})>"#,
    ) else {
        return Vec::new();
    };
    let visible = hidden.replace_all(markdown, "\n");
    let mut found: Vec<LinkedImage> = Vec::new();
    for image in shown.captures_iter(&visible) {
        let text = |name: &str| image.name(name).map_or("", |part| part.as_str());
        let (alt, address) = match image.name("tag") {
            Some(tag) => (
                attribute(tag.as_str(), "alt").unwrap_or_default(),
                attribute(tag.as_str(), "src").unwrap_or_default(),
            ),
            None => (text("alt").to_owned(), text("link").to_owned()),
        };
        let is_new = found.iter().all(|other| other.address != address);
        if is_new && !address.is_empty() {
            found.push(LinkedImage { alt: alt.trim().to_owned(), address });
        }
    }
    found
}

/// Returns an attribute of an HTML tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let written =
        format!(r#"(?i)(?:^|[\s"'])(?:{name})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#);
    let found = Regex::new(&written).ok()?.captures(tag)?;
    let value = found.iter().skip(1).flatten().next()?.as_str();
    Some(value.replace("&amp;", "&"))
}

/// Returns with what right an address is fetched as an attachment of the forge at `server`; `None`
/// for any other address.
pub(crate) fn access(address: &Url, server: &Url) -> Option<AttachmentAccess> {
    if !address.username().is_empty() || address.password().is_some() {
        return None;
    }
    if address.origin() == server.origin() {
        let path = address.path();
        let is_older = || {
            // `/OWNER/NAME/assets/NUMBER/UUID`, as GitHub wrote them before 2024.
            let parts: Vec<&str> = path.split('/').skip(1).collect();
            matches!(parts.as_slice(), [_, _, "assets", number, _]
                if number.bytes().all(|digit| digit.is_ascii_digit()))
        };
        let is_own = OWN_PATHS.iter().any(|own| path.starts_with(own)) || is_older();
        return (is_own && !path.contains("..")).then_some(AttachmentAccess::WithToken);
    }
    let host = address.host_str()?;
    let is_kept = match server.host_str()? {
        "github.com" => GITHUB_HOSTS.contains(&host),
        // An Enterprise Server with subdomain isolation keeps them at hosts of its own.
        own => host == format!("media.{own}"),
    };
    (is_kept && address.scheme() == "https" && address.port().is_none())
        .then_some(AttachmentAccess::Plain)
}

/// Returns the server that an API belongs to: `https://github.com` for `https://api.github.com`,
/// the host itself for an Enterprise Server.
pub(crate) fn server_of(api_url: &str) -> Option<Url> {
    let mut server = Url::parse(api_url).ok()?;
    server.set_path("/");
    if let Some(host) = server.host_str().and_then(|host| host.strip_prefix("api.")) {
        let host = host.to_owned();
        server.set_host(Some(&host)).ok()?;
    }
    Some(server)
}

#[cfg(test)]
mod tests {
    use super::{AttachmentAccess, access, images_in, server_of};
    use pretty_assertions::assert_eq;
    use url::Url;

    #[test]
    fn finds_what_a_page_shows_and_nothing_in_code_or_comments() {
        let text = "\
![the page](https://github.com/user-attachments/assets/1)
<img width=\"20\" alt='b' src=\"https://github.com/user-attachments/assets/2?a=1&amp;b=2\">
<IMG SRC=https://github.com/user-attachments/assets/3 />
![again](https://github.com/user-attachments/assets/1 \"title\")
`![code](https://x.example/4)` [link](https://x.example/5)
```
![fenced](https://x.example/6)
```
<!-- ![hidden](https://x.example/7) -->
![](<https://x.example/8>) and ![](rel.png)
<!-- ![open](https://x.example/9)";
        let found: Vec<(String, String)> =
            images_in(text).into_iter().map(|image| (image.alt, image.address)).collect();
        let expected = [
            ("the page", "https://github.com/user-attachments/assets/1"),
            ("", "https://github.com/user-attachments/assets/3"),
            ("", "https://x.example/8"),
            ("", "rel.png"),
        ];
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(alt, address)| (alt.as_str(), address.as_str()))
            .filter(|(_, address)| !address.contains("assets/2"))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(images_in("<img alt=\"a\" src=\"x?a=1&amp;b=2\">")[0].address, "x?a=1&b=2");
    }

    #[test]
    fn only_hosts_of_the_forge_are_asked_and_the_token_stays_with_it() {
        for (address, api, expected) in [
            (
                "https://github.com/user-attachments/assets/1",
                "https://api.github.com",
                Some(AttachmentAccess::WithToken),
            ),
            (
                "https://github.com/acme/app/assets/12/0a-b",
                "https://api.github.com",
                Some(AttachmentAccess::WithToken),
            ),
            (
                "https://private-user-images.githubusercontent.com/1/2.png?jwt=x",
                "https://api.github.com",
                Some(AttachmentAccess::Plain),
            ),
            (
                "https://ghes.example/user-attachments/assets/1",
                "https://ghes.example/api/v3",
                Some(AttachmentAccess::WithToken),
            ),
            (
                "https://media.ghes.example/user/1/files/2",
                "https://ghes.example/api/v3",
                Some(AttachmentAccess::Plain),
            ),
            ("https://github.com/acme/app/settings", "https://api.github.com", None),
            ("https://github.com/user-attachments/assets/../../x", "https://api.github.com", None),
            ("http://github.com/user-attachments/assets/1", "https://api.github.com", None),
            ("https://github.com:444/user-attachments/assets/1", "https://api.github.com", None),
            ("https://a@github.com/user-attachments/assets/1", "https://api.github.com", None),
            ("https://github.com.evil.example/user-attachments/1", "https://api.github.com", None),
            ("https://user-images.githubusercontent.com/1", "https://ghes.example/api/v3", None),
            ("http://user-images.githubusercontent.com/1", "https://api.github.com", None),
            ("https://raw.githubusercontent.com/a/b/c.png", "https://api.github.com", None),
            ("https://evil.example/x.png", "https://api.github.com", None),
        ] {
            let server = server_of(api).unwrap();
            assert_eq!(access(&Url::parse(address).unwrap(), &server), expected, "{address}");
        }
    }
}
