//! The vectors of chunks as they are kept: for each file its chunks, for each chunk its vector.
//!
//! In: vectors of a model, by the hash of what they are of; or bytes. Out: the bytes, or the
//! vectors. A number is kept as one byte: enough for a direction. Bytes that are damaged, that
//! another version wrote or that are of another model are none at all.

use std::collections::{BTreeMap, HashMap};

use crate::kept::{ContentHash, content_hash};

/// What all of it begins with. The number changes with the format and with how texts are cut.
const HEAD: &[u8] = b"locum vectors 1\n";

/// Most bytes that are kept; of about 80,000 chunks with vectors of 1,536 numbers.
pub const VECTORS_LIMIT_BYTES: usize = 128 * 1024 * 1024;

/// A vector, of whose numbers only the direction counts: the largest is 127 or -127.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Direction(Vec<i8>);

impl Direction {
    /// Returns the direction of a vector; `None` where it has none.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if !largest.is_finite() || largest == 0.0 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "between -127 and 127")]
        let part = |number: &f32| (number / largest * 127.0).round() as i8;
        Some(Self(vector.iter().map(part).collect()))
    }

    /// Returns how like two directions are: the cosine of the angle between them, from -1 to 1; 0
    /// for those of unlike length.
    pub fn likeness(&self, other: &[i8]) -> f32 {
        if self.0.len() != other.len() {
            return 0.0;
        }
        let (mut dot, mut own, mut others) = (0_i64, 0_i64, 0_i64);
        // Sums of 1,024 products fit into 32 bits.
        for (left, right) in self.0.chunks(1024).zip(other.chunks(1024)) {
            let mut sums = (0_i32, 0_i32, 0_i32);
            for (left, right) in left.iter().zip(right) {
                let (left, right) = (i32::from(*left), i32::from(*right));
                sums.0 += left * right;
                sums.1 += left * left;
                sums.2 += right * right;
            }
            dot += i64::from(sums.0);
            own += i64::from(sums.1);
            others += i64::from(sums.2);
        }
        #[expect(clippy::cast_precision_loss, reason = "a likeness needs no more")]
        let cosine = dot as f64 / ((own as f64).sqrt() * (others as f64).sqrt()).max(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "a likeness needs no more")]
        let cosine = cosine as f32;
        cosine
    }

    /// Returns its numbers.
    pub fn parts(&self) -> &[i8] {
        &self.0
    }
}

/// A chunk of a file, and which text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedChunk {
    /// The first line, from 1.
    pub first_line: u32,
    /// The last line.
    pub last_line: u32,
    /// The hash of its text.
    pub hash: ContentHash,
}

/// Files with their chunks, and chunks with their vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vectors {
    /// The chunks of files, by the hash of what a file holds.
    files: BTreeMap<ContentHash, Vec<HashedChunk>>,
    /// The directions of chunks, by their hash.
    directions: HashMap<ContentHash, Direction>,
    /// How many numbers each has; 0 where there are none.
    length: usize,
}

impl Vectors {
    /// Returns the chunks of a file; `None` where it was not cut yet.
    pub fn chunks(&self, file: &ContentHash) -> Option<&[HashedChunk]> {
        self.files.get(file).map(Vec::as_slice)
    }

    /// Returns the direction of a chunk; `None` where it is not known.
    pub fn direction(&self, chunk: &ContentHash) -> Option<&Direction> {
        self.directions.get(chunk)
    }

    /// Notes the chunks of a file.
    pub fn add_file(&mut self, file: ContentHash, chunks: Vec<HashedChunk>) {
        self.files.insert(file, chunks);
    }

    /// Notes the direction of a chunk. One of another length than the others shows that the model
    /// is another: they are forgotten.
    pub fn add_direction(&mut self, chunk: ContentHash, direction: Direction) {
        if self.length != direction.0.len() {
            self.directions.clear();
            self.length = direction.0.len();
        }
        self.directions.insert(chunk, direction);
    }

    /// Writes what is known of files, those named first, as much as is kept.
    pub fn render(&self, model: &str, first: impl Fn(&ContentHash) -> bool) -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        bytes.extend(content_hash(model.as_bytes()));
        bytes.extend(u32::try_from(self.length).unwrap_or_default().to_le_bytes());
        let (mut files, mut chunks) = (Vec::new(), Vec::new());
        let mut places: HashMap<ContentHash, u32> = HashMap::new();
        let (named, others): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|(file, _)| first(file));
        let room = VECTORS_LIMIT_BYTES - bytes.len() - 8;
        for (file, of_file) in named.into_iter().chain(others) {
            let (files_before, chunks_before) = (files.len(), chunks.len());
            let mut new: Vec<ContentHash> = Vec::new();
            files.extend(file);
            files.extend(u32::try_from(of_file.len()).unwrap_or_default().to_le_bytes());
            for chunk in of_file {
                let next = u32::try_from(places.len()).unwrap_or(u32::MAX);
                let place = *places.entry(chunk.hash).or_insert(next);
                if place == next {
                    new.push(chunk.hash);
                    self.render_chunk(&chunk.hash, &mut chunks);
                }
                for number in [chunk.first_line, chunk.last_line, place] {
                    files.extend(number.to_le_bytes());
                }
            }
            if files.len() + chunks.len() > room {
                files.truncate(files_before);
                chunks.truncate(chunks_before);
                for chunk in &new {
                    places.remove(chunk);
                }
                break;
            }
        }
        bytes.extend(u32::try_from(places.len()).unwrap_or_default().to_le_bytes());
        bytes.extend(chunks);
        bytes.extend(files);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Writes a chunk: its hash, whether it has a direction, and that.
    fn render_chunk(&self, chunk: &ContentHash, bytes: &mut Vec<u8>) {
        bytes.extend(chunk);
        let direction = self.directions.get(chunk);
        bytes.push(u8::from(direction.is_some()));
        bytes.extend(direction.iter().flat_map(|known| &known.0).map(|part| part.cast_unsigned()));
    }

    /// Reads what was kept of a model; `None` where it is damaged, or of another.
    pub fn parse(bytes: &[u8], model: &str) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk()?;
        let rest = content.strip_prefix(HEAD)?;
        let (of_model, rest) = rest.split_first_chunk()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum)
            || *of_model != content_hash(model.as_bytes())
        {
            return None;
        }
        let mut vectors = Self::default();
        let (length, mut rest) = number(rest)?;
        vectors.length = usize::try_from(length).ok()?;
        let (count, mut chunks);
        (count, rest) = number(rest)?;
        chunks = Vec::new();
        for _ in 0..count {
            let (hash, behind) = rest.split_first_chunk()?;
            let (has_direction, behind) = behind.split_first()?;
            rest = behind;
            if *has_direction == 1 {
                let (parts, behind) = behind.split_at_checked(vectors.length)?;
                let parts = parts.iter().map(|byte| byte.cast_signed()).collect();
                vectors.directions.insert(*hash, Direction(parts));
                rest = behind;
            }
            chunks.push(*hash);
        }
        while !rest.is_empty() {
            let (file, behind) = rest.split_first_chunk()?;
            let (count, behind) = number(behind)?;
            let mut of_file = Vec::new();
            rest = behind;
            for _ in 0..count {
                let (first_line, behind) = number(rest)?;
                let (last_line, behind) = number(behind)?;
                let (place, behind) = number(behind)?;
                let hash = *chunks.get(usize::try_from(place).ok()?)?;
                of_file.push(HashedChunk { first_line, last_line, hash });
                rest = behind;
            }
            vectors.files.insert(*file, of_file);
        }
        Some(vectors)
    }
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::{Direction, HashedChunk, Vectors};
    use crate::kept::content_hash;
    use pretty_assertions::assert_eq;

    fn chunk(line: u32, text: &str) -> HashedChunk {
        let hash = content_hash(text.as_bytes());
        HashedChunk { first_line: line, last_line: line + 3, hash }
    }

    fn some() -> Vectors {
        let mut vectors = Vectors::default();
        vectors.add_file(content_hash(b"one"), vec![chunk(1, "a"), chunk(5, "b")]);
        vectors.add_file(content_hash(b"two"), vec![chunk(9, "a"), chunk(13, "c")]);
        vectors.add_file(content_hash(b"none"), Vec::new());
        vectors.add_direction(content_hash(b"a"), Direction::of(&[0.5, -1.0, 0.0]).unwrap());
        vectors.add_direction(content_hash(b"c"), Direction::of(&[0.0, 0.0, 2.0]).unwrap());
        vectors
    }

    #[test]
    fn directions_are_alike_as_their_vectors_are() {
        let of = |vector: &[f32]| Direction::of(vector).unwrap();
        let likeness = |left: &[f32], right: &[f32]| of(left).likeness(of(right).parts());
        assert!((likeness(&[1.0, 0.0], &[3.0, 0.0]) - 1.0).abs() < 1e-6);
        assert!((likeness(&[1.0, 0.0], &[-0.001, 0.0]) + 1.0).abs() < 1e-6);
        assert!(likeness(&[1.0, 0.0], &[0.0, 5.0]).abs() < 1e-6);
        assert!((likeness(&[1.0, 1.0], &[1.0, 0.0]) - 0.707).abs() < 0.01);
        assert_eq!(likeness(&[1.0], &[1.0, 0.0]).to_bits(), 0.0_f32.to_bits());
        assert!((likeness(&[-1.0; 8192], &[-3.0; 8192]) - 1.0).abs() < 1e-6);
        for none in [&[][..], &[0.0, 0.0], &[f32::INFINITY], &[f32::NAN]] {
            assert_eq!(Direction::of(none), None, "{none:?}");
        }
    }

    #[test]
    fn what_is_kept_reads_back_and_nothing_that_is_damaged_does() {
        let vectors = some();
        let bytes = vectors.render("model", |_| true);
        assert_eq!(Vectors::parse(&bytes, "model").unwrap(), vectors);
        assert_eq!(Vectors::parse(&bytes, "other"), None, "vectors of another model");
        assert_eq!(vectors.render("model", |_| false), bytes);
        for at in 0..bytes.len() {
            assert_eq!(Vectors::parse(&bytes[..at], "model"), None, "cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            assert_eq!(Vectors::parse(&damaged, "model"), None, "changed at {at}");
        }
        let empty = Vectors::default();
        assert_eq!(Vectors::parse(&empty.render("m", |_| true), "m").unwrap(), empty);
    }

    #[test]
    fn what_another_wrote_with_a_right_sum_is_read_within_its_bounds() {
        let whole = some().render("model", |_| true);
        for at in 32..whole.len() - 4 {
            let mut forged = whole[..whole.len() - 4].to_vec();
            forged[at] = 0xff;
            forged.extend(crc32fast::hash(&forged).to_le_bytes());
            let _read = Vectors::parse(&forged, "model");
        }
    }

    #[test]
    fn vectors_of_another_length_replace_all() {
        let mut vectors = some();
        vectors.add_direction(content_hash(b"b"), Direction::of(&[1.0]).unwrap());
        assert_eq!(vectors.direction(&content_hash(b"a")), None);
        assert_eq!(vectors.direction(&content_hash(b"b")).unwrap().parts(), [127]);
        assert_eq!(vectors.chunks(&content_hash(b"one")).unwrap().len(), 2);
    }

    #[test]
    fn of_too_much_the_files_that_are_named_are_kept() {
        let mut vectors = Vectors::default();
        let long = vec![1.0; 8192];
        let last = content_hash(b"last");
        for number in 0..20_000_u32 {
            let hash = content_hash(&number.to_le_bytes());
            vectors.add_file(hash, vec![HashedChunk { first_line: 1, last_line: 2, hash }]);
            if number < 17_000 {
                vectors.add_direction(hash, Direction::of(&long).unwrap());
            }
        }
        vectors.add_file(last, vec![chunk(1, "a")]);
        vectors.add_direction(content_hash(b"a"), Direction::of(&long).unwrap());
        let bytes = vectors.render("model", |file| *file == last);
        assert!(bytes.len() <= super::VECTORS_LIMIT_BYTES);
        let kept = Vectors::parse(&bytes, "model").unwrap();
        assert!(kept.chunks(&last).is_some() && kept.files.len() > 10_000);
        assert!(kept.direction(&content_hash(b"a")).is_some());
    }
}
