//! AWS Signature Version 4 of one request.
//!
//! In: keys, a request, the time. Out: the headers that carry its signature. Our own code, checked
//! against AWS's published test suite: the crate `aws-sigv4` brings the SDK's runtime types (a
//! dozen crates) for these eighty lines. Source: docs.aws.amazon.com/IAM/latest/UserGuide, "Create
//! a signed AWS API request".

use hmac::{Hmac, Mac as _};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use url::Url;

use locum_base::secret::Secret;

/// AWS credentials, those of a job or of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsKeys {
    /// Which key signs.
    pub access_key_id: String,
    /// The key.
    pub secret: Secret,
    /// What says that the key is a temporary one.
    pub session_token: Option<Secret>,
    /// Region of the service.
    pub region: String,
}

/// Returns the headers that sign a `POST` of `body` with this content type: the date, the session
/// token and the signature.
pub fn sign(
    keys: &AwsKeys,
    service: &str,
    post: (&Url, &str, &[u8]),
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let (url, content_type, body) = post;
    let mut headers =
        vec![("host", host(url)), ("x-amz-date", now.strftime("%Y%m%dT%H%M%SZ").to_string())];
    if !content_type.is_empty() {
        headers.push(("content-type", content_type.to_owned()));
    }
    let token = keys.session_token.as_ref().map(|token| token.expose().to_owned());
    headers.extend(token.map(|token| ("x-amz-security-token", token)));
    let authorization = authorization(keys, service, ("POST", url, body), &headers);
    headers.retain(|(name, _)| name.starts_with("x-amz-"));
    headers.push(("authorization", authorization));
    headers
}

fn authorization(
    keys: &AwsKeys,
    service: &str,
    (method, url, body): (&str, &Url, &[u8]),
    headers: &[(&'static str, String)],
) -> String {
    let mut headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.trim())).collect();
    headers.sort_unstable();
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let canonical = format!(
        "{method}\n{}\n{}\n{lines}\n{names}\n{}",
        encoded_path(url.path()),
        url.query().unwrap_or_default(),
        hex(&Sha256::digest(body))
    );
    let moment =
        headers.iter().find(|(name, _)| *name == "x-amz-date").map_or("", |(_, value)| value);
    let day = moment.split('T').next().unwrap_or_default();
    let scope = format!("{day}/{}/{service}/aws4_request", keys.region);
    let text = format!(
        "AWS4-HMAC-SHA256\n{moment}\n{scope}\n{}",
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let first = format!("AWS4{}", keys.secret.expose()).into_bytes();
    let key = [day, keys.region.as_str(), service, "aws4_request"]
        .iter()
        .fold(first, |key, part| hmac(&key, part));
    let signature = hex(&hmac(&key, &text));
    format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        keys.access_key_id
    )
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns a path as it is signed: what is encoded in the address is encoded once more.
fn encoded_path(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{AwsKeys, authorization, encoded_path};
    use locum_base::secret::Secret;

    /// AWS Signature Version 4 test suite (`aws-sig-v4-test-suite`): its keys, time and host.
    #[test]
    fn signs_as_the_published_vectors_say() {
        let keys = AwsKeys {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: None,
            region: "us-east-1".to_owned(),
        };
        let headers = [
            ("host", "example.amazonaws.com".to_owned()),
            ("x-amz-date", "20150830T123600Z".to_owned()),
        ];
        for (vector, method, signature) in [
            (
                "get-vanilla",
                "GET",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "post-vanilla",
                "POST",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
        ] {
            let url = "https://example.amazonaws.com/".parse().unwrap();
            assert_eq!(
                authorization(&keys, "service", (method, &url, b""), &headers),
                format!(
                    "AWS4-HMAC-SHA256 \
                     Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                     SignedHeaders=host;x-amz-date, Signature={signature}"
                ),
                "{vector}"
            );
        }
    }

    #[test]
    fn a_path_is_encoded_twice() {
        assert_eq!(encoded_path("/model/a%3A0/invoke"), "/model/a%253A0/invoke");
    }
}
