//! Git LFS pointers: small files that stand for content kept elsewhere.

/// Most bytes of a pointer, by the specification of Git LFS.
const POINTER_LIMIT_BYTES: usize = 1024;

/// Returns the size of the content a Git LFS pointer stands for, as it says. A text that only
/// begins like one, as one about Git LFS may, is none.
pub(super) fn lfs_size(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content).ok().filter(|it| it.len() < POINTER_LIMIT_BYTES)?;
    let rest = text.strip_prefix("version https://git-lfs.github.com/spec/")?;
    rest.contains("\noid sha256:").then_some(())?;
    let is_pair = |line: &str| matches!(line.split(' ').collect::<Vec<_>>()[..], [_, _]);
    rest.lines().skip(1).all(is_pair).then_some(())?;
    rest.lines().find_map(|line| line.strip_prefix("size "))
}

#[cfg(test)]
mod tests {
    use super::lfs_size;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_what_is_a_pointer_throughout_is_one() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        let extended = pointer.replace("\noid", "\next-0-foo sha256:ab\noid");
        for text in [pointer, &pointer.replace('\n', "\r\n"), &extended] {
            assert_eq!(lfs_size(text.as_bytes()).map(str::trim), Some("12345"), "{text}");
        }
        for more in ["\nis what such a file looks like.\n", "more\n", &"x 1\n".repeat(300)] {
            assert_eq!(lfs_size(format!("{pointer}{more}").as_bytes()), None, "{more}");
        }
    }
}
