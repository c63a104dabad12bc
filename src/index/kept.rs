//! The index as it is kept: for each file its path, what tells a change of it, and its words.
//!
//! In: files in the order of their paths, or bytes. Out: the bytes, or the files. Bytes that are
//! damaged, or that another version wrote, are no index at all: it is built again.

use sha2::{Digest, Sha256};

use crate::words::FileWords;

/// What every index begins with. The number changes with the format and with what a word is.
const HEAD: &[u8] = b"locum index 1\n";

/// Largest index that is read, in bytes; of about 100,000 files.
pub const INDEX_LIMIT_BYTES: usize = 128 * 1024 * 1024;

/// What tells that a file is the one that was read, without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed, in nanoseconds since 1970.
    pub modified_ns: u64,
}

/// A part of the SHA-256 of a content.
pub type ContentHash = [u8; 16];

/// Returns the hash of a content.
pub fn content_hash(content: &[u8]) -> ContentHash {
    let sum: [u8; 32] = Sha256::digest(content).into();
    let mut hash = ContentHash::default();
    hash.iter_mut().zip(sum).for_each(|(byte, of_sum)| *byte = of_sum);
    hash
}

/// A file of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedFile<'i> {
    /// Its path in the repository.
    pub path: &'i str,
    /// What tells a change of it.
    pub stamp: FileStamp,
    /// The hash of what it held.
    pub hash: ContentHash,
    /// Its words, as [`FileWords::render`] writes them.
    pub words: &'i [u8],
}

impl<'i> IndexedFile<'i> {
    /// Returns its words; none where they are damaged.
    pub fn file_words(&self) -> FileWords<'i> {
        FileWords::parse(self.words).map(|(words, _)| words).unwrap_or_default()
    }

    fn render(&self, bytes: &mut Vec<u8>) {
        let Ok(length) = u16::try_from(self.path.len()) else { return };
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.path.as_bytes());
        bytes.extend(self.stamp.size_bytes.to_le_bytes());
        bytes.extend(self.stamp.modified_ns.to_le_bytes());
        bytes.extend(self.hash);
        bytes.extend(self.words);
    }

    fn parse(bytes: &'i [u8]) -> Option<(Self, &'i [u8])> {
        let (length, bytes) = bytes.split_first_chunk()?;
        let (path, bytes) = bytes.split_at_checked(u16::from_le_bytes(*length).into())?;
        let (size, bytes) = bytes.split_first_chunk()?;
        let (modified, bytes) = bytes.split_first_chunk()?;
        let (hash, bytes) = bytes.split_first_chunk()?;
        let (_, rest) = FileWords::parse(bytes)?;
        let words = bytes.get(..bytes.len() - rest.len())?;
        let stamp = FileStamp {
            size_bytes: u64::from_le_bytes(*size),
            modified_ns: u64::from_le_bytes(*modified),
        };
        Some((Self { path: str::from_utf8(path).ok()?, stamp, hash: *hash, words }, rest))
    }
}

/// Writes an index; `None` where it is larger than is kept.
pub fn render<'f>(files: impl Iterator<Item = IndexedFile<'f>>) -> Option<Vec<u8>> {
    let mut bytes = HEAD.to_vec();
    for file in files {
        file.render(&mut bytes);
        if bytes.len() + 4 > INDEX_LIMIT_BYTES {
            return None;
        }
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    Some(bytes)
}

/// Reads an index, in the order of its files' paths; `None` where it is damaged or of another
/// version.
pub fn parse(bytes: &[u8]) -> Option<Vec<IndexedFile<'_>>> {
    let (content, sum) = bytes.split_last_chunk()?;
    let mut rest = content.strip_prefix(HEAD)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut files: Vec<IndexedFile<'_>> = Vec::new();
    while !rest.is_empty() {
        let (file, behind) = IndexedFile::parse(rest)?;
        files.push(file);
        rest = behind;
    }
    files.is_sorted_by(|left, right| left.path < right.path).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::{FileStamp, HEAD, IndexedFile, content_hash, parse, render};
    use crate::words::FileWords;
    use pretty_assertions::assert_eq;

    fn words(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        FileWords::render(text.as_bytes(), &mut bytes);
        bytes
    }

    fn file<'i>(path: &'i str, words: &'i [u8]) -> IndexedFile<'i> {
        let stamp = FileStamp { size_bytes: 3, modified_ns: 4 };
        IndexedFile { path, stamp, hash: content_hash(path.as_bytes()), words }
    }

    #[test]
    fn an_index_reads_back_and_one_that_is_damaged_anywhere_does_not() {
        let (one, two) = (words("some words"), words(""));
        let files = [file("a/b.rs", &one), file("ä.md", &two)];
        let bytes = render(files.iter().copied()).unwrap();
        assert_eq!(parse(&bytes).unwrap(), files);
        for at in 0..bytes.len() {
            assert_eq!(parse(&bytes[..at]), None, "cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            assert_eq!(parse(&damaged), None, "changed at {at}");
        }
        let empty = render(std::iter::empty()).unwrap();
        assert_eq!(parse(&empty), Some(Vec::new()));
    }

    #[test]
    fn what_another_wrote_with_a_right_sum_is_read_within_its_bounds() {
        let sealed = |rest: &[u8]| {
            let mut bytes = [HEAD, rest].concat();
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            bytes
        };
        let mut endless = b"\x01\x00a".to_vec();
        endless.extend([0; 36]);
        endless.extend([0xff; 4]);
        assert_eq!(parse(&sealed(&endless)), None, "more words than bytes");
        assert_eq!(parse(&sealed(b"\x05\x00a")), None, "a longer path than there is");
        let empty = words("");
        let twice = [file("a", &empty), file("a", &empty)];
        assert_eq!(parse(&render(twice.into_iter()).unwrap()), None, "a path twice");
    }
}
