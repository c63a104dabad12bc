//! The vocabulary `o200k_base`: which bytes are a token, and which tokens are made before others.
//!
//! In: bytes. Out: their rank, by `config/tokenizers/o200k.table`, which
//! `config/tokenizers/make.py` makes and describes. The table holds 45 bits of a hash of each token
//! in place of its bytes: of other bytes, about one in a hundred million is taken for a token.

/// Bytes of the longest token.
pub(super) const TOKEN_LIMIT_BYTES: usize = 128;

/// Bits of a hash that say in which group a token lies.
const GROUP_BITS: u32 = 15;
/// Bits of a hash that distinguish the tokens of a group.
const PRINT_BITS: u32 = 30;
/// Bits of a rank.
const RANK_BITS: u32 = 18;
/// Bytes of the number that says where a group begins.
const START_BYTES: usize = 3;
/// Bytes of a token: its print above its rank.
const ENTRY_BYTES: usize = 6;

/// Starts of the groups and of their end, then the tokens by group and print.
const TABLE: &[u8] = include_bytes!("../../../config/tokenizers/o200k.table");
const STARTS_BYTES: usize = ((1 << GROUP_BITS) + 1) * START_BYTES;

/// Returns the rank of bytes that are a token: the lower, the earlier it is made.
pub(super) fn rank(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > TOKEN_LIMIT_BYTES {
        return None;
    }
    let hash = hash(bytes);
    let group = usize::try_from(hash >> (u64::BITS - GROUP_BITS)).ok()?;
    let print = (hash >> (u64::BITS - GROUP_BITS - PRINT_BITS)) % (1 << PRINT_BITS);
    let (starts, entries) = TABLE.split_at_checked(STARTS_BYTES)?;
    let (starts, _) = starts.as_chunks::<START_BYTES>();
    let (entries, _) = entries.as_chunks::<ENTRY_BYTES>();
    let start = |group: usize| {
        starts.get(group).map(|[low, middle, high]| u32::from_le_bytes([*low, *middle, *high, 0]))
    };
    let range = usize::try_from(start(group)?).ok()?..usize::try_from(start(group + 1)?).ok()?;
    let entry = entries
        .get(range)?
        .iter()
        .map(|[a, b, c, d, e, f]| u64::from_le_bytes([*a, *b, *c, *d, *e, *f, 0, 0]));
    let found = entry.into_iter().find(|entry| entry >> RANK_BITS == print)?;
    u32::try_from(found % (1 << RANK_BITS)).ok()
}

/// FNV-1a of 64 bits, its high bits mixed.
fn hash(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{ENTRY_BYTES, STARTS_BYTES, TABLE, rank};

    #[test]
    fn knows_every_byte_and_the_tokens_of_the_vocabulary() {
        assert!((0..=u8::MAX).all(|byte| rank(&[byte]).is_some_and(|rank| rank < 256)));
        for (text, expected) in
            [("!", 0), (" the", 290), ("Hello", 13_225), (" world", 2_375), ("你好", 177_519)]
        {
            assert_eq!(rank(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!((TABLE.len() - STARTS_BYTES) / ENTRY_BYTES, 199_998);
    }

    #[test]
    fn nothing_else_is_a_token() {
        for text in ["", "Helloo", "\u{10FFFF}", " worldd", &" ".repeat(129)] {
            assert_eq!(rank(text.as_bytes()), None, "{text:?}");
        }
    }
}
