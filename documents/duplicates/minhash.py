"""Fingerprints of a text: one for "the same words", one for "nearly the same words".

The second is MinHash over shingles of three words. A signature is cut into bands; two texts of
which at least 70 % of the shingles are the same share a band with a probability of 0.9998, so that
a look-up by equality finds them. Values are kept in the database: a change of anything here needs
`manage.py find_duplicates --again`.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..ingestion.normalise import search_form

SHINGLE_WORDS = 3
BANDS, ROWS = 32, 4
ALIKE_PERCENT = 70

_PERMUTATIONS = BANDS * ROWS
_BLOCK = 4096  # shingles hashed at once, which bounds the memory
_WORD = re.compile(r"\w+")


def _constants() -> tuple[np.ndarray, np.ndarray]:
    """The same in every process, for good: taken from a hash, not from a generator's state."""
    digest = hashlib.shake_256(b"precept minhash 1").digest(16 * _PERMUTATIONS)
    numbers = np.frombuffer(digest, dtype="<u8")
    return numbers[:_PERMUTATIONS] | np.uint64(1), numbers[_PERMUTATIONS:]


_FACTORS, _OFFSETS = _constants()


def words_of(text: str) -> list[str]:
    """What is compared: layout, case and punctuation differ between formats of the same text."""
    return _WORD.findall(search_form(text))


def digest_of(words: Sequence[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def signature_of(words: Sequence[str]) -> bytes:
    """MinHash as little-endian 32-bit numbers."""
    lowest = np.full(_PERMUTATIONS, np.iinfo(np.uint32).max, dtype=np.uint32)
    for block in _blocks(sorted(_shingles(words))):
        hashed = (block[:, None] * _FACTORS + _OFFSETS) >> np.uint64(32)
        lowest = np.minimum(lowest, hashed.min(axis=0).astype(np.uint32))
    return lowest.astype("<u4").tobytes()


def bands_of(signature: bytes) -> list[int]:
    """One signed 64-bit number for each band."""
    width = 4 * ROWS
    return [
        int.from_bytes(
            hashlib.blake2b(
                bytes([band]) + signature[band * width : (band + 1) * width], digest_size=8
            ).digest(),
            "little",
            signed=True,
        )
        for band in range(BANDS)
    ]


def percent_alike(one: bytes, other: bytes) -> int:
    """Estimated share of the shingles that two texts have in common."""
    first, second = (np.frombuffer(bytes(each), dtype="<u4") for each in (one, other))
    return round(100 * float(np.mean(first == second)))


def _shingles(words: Sequence[str]) -> set[str]:
    count = max(1, len(words) - SHINGLE_WORDS + 1)
    return {" ".join(words[start : start + SHINGLE_WORDS]) for start in range(count)}


def _blocks(shingles: Sequence[str]) -> Iterator[np.ndarray]:
    for start in range(0, len(shingles), _BLOCK):
        hashes = b"".join(
            hashlib.blake2b(shingle.encode(), digest_size=8).digest()
            for shingle in shingles[start : start + _BLOCK]
        )
        yield np.frombuffer(hashes, dtype="<u8")
