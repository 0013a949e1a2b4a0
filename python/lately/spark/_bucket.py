"""The filter of one bucket, and how its changes are kept.

To write the whole filter after every micro-batch would cost as much as it is large, however little came. So what came is
kept beside the last snapshot, piece by piece in the order in which it came, and done again when the filter is needed.
When those pieces weigh a good part of the snapshot, a new snapshot takes their place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

import lately

# Pieces may weigh this part of a snapshot. Less is written if it is large, less is kept if it is small.
PIECES = 0.5
# However small the snapshot is, so many bytes of pieces are no matter.
LEAST = 1024

Numbers = Any


@dataclass(frozen=True)
class Beginning:
    """How every bucket begins: a snapshot without keys, and what a snapshot does not say."""

    # Compressed: it is mostly zeros, and Spark does not send much of a megabyte to all who need it.
    empty: bytes
    max_ahead: Any

    @classmethod
    def of(cls, empty: Any, max_ahead: Any) -> Beginning:
        """With a filter that has no keys."""
        return cls(zlib.compress(bytes(empty)), max_ahead)

    def snapshot(self) -> bytes:
        return zlib.decompress(self.empty)


@dataclass(frozen=True)
class Piece:
    """What is to be kept after what was kept before."""

    data: bytes


@dataclass(frozen=True)
class Snapshot:
    """What is to be kept in place of all that was kept before."""

    data: bytes


class Bucket:
    """A filter as it was kept, that takes the next keys."""

    def __init__(self, beginning: Beginning, snapshot: bytes | None, pieces: Iterable[bytes]) -> None:
        whole = beginning.snapshot() if snapshot is None else snapshot
        self._filter = lately.open(whole, beginning.max_ahead)
        self._snapshot_bytes = len(whole)
        self._piece_bytes = 0
        for piece in pieces:
            self._filter.add_all(*_read(piece))
            self._piece_bytes += len(piece)
        self._hashes: list[Numbers] = []
        self._moments: list[Numbers] = []

    def add(self, hashes: Numbers, moments: Numbers | None) -> Numbers:
        """What the filter answers for each: whether it is new, or how often it came."""
        answers = self._filter.add_all(hashes, moments)
        if isinstance(self._filter, lately.Ever):
            # It is as it was where a key is known.
            hashes = hashes[answers]
        self._hashes.append(hashes)
        if moments is not None:
            self._moments.append(moments)
        return answers

    def changes(self) -> Union[Piece, Snapshot, None]:
        """What is to be kept of all that was added."""
        hashes = np.concatenate(self._hashes) if self._hashes else np.empty(0, np.int64)
        if len(hashes) == 0:
            return None
        piece = _written(hashes, np.concatenate(self._moments) if self._moments else None)
        if self._piece_bytes + len(piece) <= max(LEAST, PIECES * self._snapshot_bytes):
            return Piece(piece)
        return Snapshot(self.snapshot())

    def snapshot(self) -> bytes:
        """The whole."""
        return bytes(self._filter)


def _written(hashes: Numbers, moments: Numbers | None) -> bytes:
    """A piece: how many, their hashes, and their moments as differences, which are small and alike."""
    head = len(hashes).to_bytes(8, "little") + hashes.astype("<i8").tobytes()
    if moments is None:
        return head
    differences = np.diff(moments, prepend=np.int64(0)).astype("<i8")
    return head + zlib.compress(differences.tobytes(), 1)


def _read(piece: bytes) -> tuple[Numbers, Numbers | None]:
    count = int.from_bytes(piece[:8], "little")
    hashes = np.frombuffer(piece, "<i8", count, 8)
    rest = piece[8 + 8 * count :]
    if not rest:
        return hashes, None
    return hashes, np.cumsum(np.frombuffer(zlib.decompress(rest), "<i8"))
