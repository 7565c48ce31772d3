"""Numbers drawn at random, the same everywhere: ChaCha with 8 rounds (Bernstein 2008), many blocks at a time.

A step's instances depend on the seed and the step alone, so that a run that is resumed reads what an uninterrupted one
reads. Numbers are made of the stream as Rust's `rand` makes them (0.9), which drew the data of the models that ship.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_ALL32 = 0xFFFF_FFFF
_ALL64 = 0xFFFF_FFFF_FFFF_FFFF
_CONSTANTS = (0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574)
_BLOCKS = 64


def _key(seed: int) -> list[int]:
    """Eight words of a seed, by PCG32."""
    words, state = [], seed & _ALL64
    for _ in range(8):
        state = (state * 6364136223846793005 + 11634580027462260723) & _ALL64
        mixed = (((state >> 18) ^ state) >> 27) & _ALL32
        turn = state >> 59
        words.append(((mixed >> turn) | (mixed << (32 - turn))) & _ALL32)
    return words


def _words(key: list[int], stream: int) -> Iterator[int]:
    """The words of a stream, from its beginning."""
    start = np.zeros((16, _BLOCKS), dtype=np.uint32)
    for at, word in enumerate((*_CONSTANTS, *key)):
        start[at] = word
    start[14], start[15] = stream & _ALL32, stream >> 32 & _ALL32
    first = 0
    while True:
        counter = np.arange(first, first + _BLOCKS, dtype=np.uint64)
        start[12], start[13] = counter & np.uint64(_ALL32), counter >> np.uint64(32)
        first += _BLOCKS
        # A row of four words for each of a, b, c and d: a round mixes columns, and diagonals when the rows are turned.
        a, b, c, d = (start[at : at + 4].copy() for at in (0, 4, 8, 12))
        for turned in (False, True) * 4:
            if turned:
                b, c, d = np.roll(b, -1, 0), np.roll(c, -2, 0), np.roll(d, -3, 0)
            a += b
            d = _turn(d ^ a, 16)
            c += d
            b = _turn(b ^ c, 12)
            a += b
            d = _turn(d ^ a, 8)
            c += d
            b = _turn(b ^ c, 7)
            if turned:
                b, c, d = np.roll(b, 1, 0), np.roll(c, 2, 0), np.roll(d, 3, 0)
        yield from (np.concatenate((a, b, c, d)) + start).T.ravel().tolist()


def _turn(words: np.ndarray, by: int) -> np.ndarray:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


class Stream:
    """One of the streams of a seed."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._next = _words(_key(seed), stream).__next__

    def _u64(self) -> int:
        low = self._next()
        return low | self._next() << 32

    def share(self) -> float:
        """A number from 0 to 1, 1 left out."""
        return (self._u64() >> 11) * 2.0**-53

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return probability >= 1.0 or self._u64() < int(probability * 2.0**64)

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included (Canon's method)."""
        size = high - low + 1
        product = self._next() * size
        result, rest = product >> 32, product & _ALL32
        if rest > (-size & _ALL32):
            result += rest + (self._next() * size >> 32) > _ALL32
        return low + result
