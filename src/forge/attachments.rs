//! Images that people attach to what they write: found in Markdown as a page would show them, and
//! fetched only from the forge's own hosts for attachments.
//!
//! In: a text, or an address with the forge's server. Out: addresses in order, or from where and
//! with what right one is fetched. It fetches nothing itself.

use std::sync::LazyLock;

use comrak::nodes::NodeValue;
use comrak::{Arena, Node, Options, parse_document};
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
    let arena = Arena::new();
    let mut found: Vec<LinkedImage> = Vec::new();
    let mut add = |image: LinkedImage| {
        let is_new = found.iter().all(|other| other.address != image.address);
        if is_new && !image.address.is_empty() {
            found.push(image);
        }
    };
    for node in parse_document(&arena, markdown, &Options::default()).descendants() {
        match &node.data.borrow().value {
            NodeValue::Image(link) => {
                add(LinkedImage { alt: words_of(node), address: link.url.clone() });
            }
            NodeValue::HtmlInline(html) => tags(html).for_each(&mut add),
            NodeValue::HtmlBlock(html) => tags(&html.literal).for_each(&mut add),
            _ => {}
        }
    }
    found
}

/// Returns the plain words of a node.
fn words_of<'a>(node: Node<'a>) -> String {
    let mut words = String::new();
    for part in node.descendants() {
        match &part.data.borrow().value {
            NodeValue::Text(text) => words.push_str(text),
            NodeValue::Code(code) => words.push_str(&code.literal),
            _ => {}
        }
    }
    words.trim().to_owned()
}

/// Returns the images of a piece of HTML.
fn tags(html: &str) -> impl Iterator<Item = LinkedImage> {
    static TAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?is)<!--.*?(?:-->|\z)|<img\b([^>]{0,2000})>").ok());
    let found = TAG.iter().flat_map(move |tag| tag.captures_iter(html));
    found.filter_map(|found| {
        let tag = found.get(1)?.as_str();
        let alt = attribute(tag, "alt").unwrap_or_default().trim().to_owned();
        Some(LinkedImage { alt, address: attribute(tag, "src")? })
    })
}

/// Returns an attribute of an HTML tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?s)([^\s"'=/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#).ok()
    });
    let mut attributes = ATTRIBUTE.as_ref()?.captures_iter(tag);
    let found = attributes.find(|found| found[1].eq_ignore_ascii_case(name))?;
    let value = found.iter().skip(2).flatten().next()?.as_str();
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
![](<https://x.example/8>)

- and ![in a `c` list](rel.png)

      ![indented code](https://x.example/10)

<!-- ![open](https://x.example/9)";
        let found = images_in(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|image| (image.alt.as_str(), image.address.as_str())).collect();
        let own = "https://github.com/user-attachments/assets";
        let expected = [
            ("the page", format!("{own}/1")),
            ("b", format!("{own}/2?a=1&b=2")),
            ("", format!("{own}/3")),
            ("", "https://x.example/8".to_owned()),
            ("in a c list", "rel.png".to_owned()),
        ];
        let expected = expected.each_ref().map(|(alt, address)| (*alt, address.as_str()));
        assert_eq!(found, expected);
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
