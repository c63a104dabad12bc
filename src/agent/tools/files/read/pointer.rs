//! Git LFS pointers: small files that stand for content kept elsewhere.

/// Returns the size of the content a Git LFS pointer stands for, as it says.
pub(super) fn lfs_size(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content.get(..content.len().min(1024))?).ok()?;
    let rest = text.strip_prefix("version https://git-lfs.github.com/spec/")?;
    rest.contains("\noid sha256:").then_some(())?;
    rest.lines().find_map(|line| line.strip_prefix("size "))
}
