//! `LfsPointer`: a small file that stands for content which Git LFS keeps elsewhere.
//!
//! In: the bytes of a file. Out: what the pointer says of the content. A text that only begins like
//! one, as one about Git LFS may, is none.
//! <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>

/// Most bytes of a pointer, by the specification.
const LIMIT_BYTES: usize = 1024;

/// What a pointer says of the content it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LfsPointer<'t> {
    /// SHA-256 of the content, in hexadecimal digits.
    pub(crate) hash: &'t str,
    /// Size of the content.
    pub size_bytes: u64,
    /// Whether hash and size are of the content itself: extensions change it once more, and what
    /// later versions mean is not known.
    pub(crate) is_plain: bool,
}

impl<'t> LfsPointer<'t> {
    /// Reads a pointer; `None` for what is none throughout.
    pub fn parse(content: &'t [u8]) -> Option<Self> {
        let text = std::str::from_utf8(content).ok().filter(|it| it.len() < LIMIT_BYTES)?;
        let mut lines = text.lines();
        let version = lines.next()?.strip_prefix("version https://git-lfs.github.com/spec/")?;
        let pair = |line: &'t str| line.split_once(' ').filter(|(_, value)| !value.contains(' '));
        let pairs: Vec<(&str, &str)> = lines.map(pair).collect::<Option<_>>()?;
        let value =
            |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        Some(Self {
            hash: value("oid")?.strip_prefix("sha256:")?,
            size_bytes: value("size")?.parse().ok()?,
            is_plain: version == "v1" && !pairs.iter().any(|(key, _)| key.starts_with("ext-")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LfsPointer;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_what_is_a_pointer_throughout_is_one() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        let extended = pointer.replace("\noid", "\next-0-foo sha256:ab\noid");
        for (text, is_plain) in [
            (pointer, true),
            (&pointer.replace('\n', "\r\n"), true),
            (&extended, false),
            (&pointer.replace("v1", "v2"), false),
        ] {
            let expected = LfsPointer { hash: "4d7a", size_bytes: 12_345, is_plain };
            assert_eq!(LfsPointer::parse(text.as_bytes()), Some(expected), "{text}");
        }
        for more in ["\nis what such a file looks like.\n", "more\n", &"x 1\n".repeat(300)] {
            assert_eq!(LfsPointer::parse(format!("{pointer}{more}").as_bytes()), None, "{more}");
        }
        for (from, to) in [("12345", "many"), ("sha256:", "md5:"), ("size", "length")] {
            let other = pointer.replace(from, to);
            assert_eq!(LfsPointer::parse(other.as_bytes()), None, "{other}");
        }
    }
}
