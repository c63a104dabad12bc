#!/usr/bin/env python3
"""Generates the two tables in this folder, which are compiled into the program (src/models/tokens/):

    pip install unicodedata2==16.0.0
    python3 config/tokenizers/make.py o200k_base.tiktoken

`o200k_base.tiktoken` is the vocabulary that OpenAI publishes for its tiktoken (MIT, see NOTICE). The crates tiktoken-rs
and bpe-openai contain it as well.

o200k.table holds every token by a hash of its bytes. It begins with 2^15 + 1 numbers of 3 bytes: the position of the
first token for each value of a hash's first 15 bits. Then come 6 bytes a token, ordered by hash. They hold the next 30
bits of the hash and the 18 bits of the rank, as one little-endian number. The table omits the bytes themselves, so a
process that counts touches only 1.3 MB. One in a hundred million other byte sequences is mistaken for a token.

classes.table lists the code points where the class of characters changes. Each entry has 4 bytes, little-endian: the
code point times 8, plus the class.
"""

import base64
import hashlib
import pathlib
import sys

import unicodedata2

VOCABULARY_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
GROUP_BITS, PRINT_BITS, RANK_BITS = 15, 30, 18
KINDS = {"Lu": 1, "Lt": 1, "Ll": 2, "Lm": 3, "Lo": 3, "Mn": 4, "Mc": 4, "Me": 4, "Nd": 5, "Nl": 5, "No": 5}
# What Unicode calls white space, without \n and \r.
SPACES = {0x09, 0x0B, 0x0C, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
HERE = pathlib.Path(__file__).parent


def hashed(token):
    """FNV-1a of 64 bits, its high bits mixed."""
    value = 0xCBF29CE484222325
    for byte in token:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    value ^= value >> 32
    return value * 0x9E3779B97F4A7C15 & (1 << 64) - 1


def ranks(vocabulary):
    entries = []
    for line in vocabulary.splitlines():
        token, rank = line.split()
        place = hashed(base64.b64decode(token)) >> 64 - GROUP_BITS - PRINT_BITS
        entries.append((place, int(rank)))
    entries.sort()
    assert len({place for place, _ in entries}) == len(entries), "two tokens have one hash"
    starts, at = bytearray(), 0
    for group in range(2**GROUP_BITS + 1):
        while at < len(entries) and entries[at][0] >> PRINT_BITS < group:
            at += 1
        starts += at.to_bytes(3, "little")
    packed = ((place % 2**PRINT_BITS) << RANK_BITS | rank for place, rank in entries)
    return bytes(starts) + b"".join(number.to_bytes(6, "little") for number in packed)


def kind(character):
    if character in (0x0A, 0x0D):
        return 7
    if character in SPACES:
        return 6
    return KINDS.get(unicodedata2.category(chr(character)), 0)


def classes():
    runs, last = bytearray(), None
    for character in range(sys.maxunicode + 1):
        if kind(character) != last:
            last = kind(character)
            runs += (character << 3 | last).to_bytes(4, "little")
    return bytes(runs)


vocabulary = pathlib.Path(sys.argv[1]).read_bytes()
assert hashlib.sha256(vocabulary).hexdigest() == VOCABULARY_SHA256, "this is another vocabulary"
assert unicodedata2.unidata_version == "16.0.0", "this is another version of Unicode"
(HERE / "o200k.table").write_bytes(ranks(vocabulary))
(HERE / "classes.table").write_bytes(classes())
