"""A bucket that is put away after every batch and opened again, beside a filter that never was."""

import numpy as np
import pytest

import lately
from lately._lately import part
from lately.spark._bucket import LEAST, PIECES, Beginning, Bucket, Piece, Snapshot

WISHES = [{"within": "1m"}, {"last": 5000}, {}, {"within": "1m", "counting": True}, {"counting": True}]


class Store:
    """What Spark keeps of a bucket."""

    def __init__(self, wishes, loses=()):
        self.beginning = Beginning.of(part(1, 0, **wishes), None)
        self.snapshot, self.pieces, self.written, self.kinds = None, [], [], []
        # Planted: which batch's piece is lost.
        self.loses = loses

    def add(self, hashes, moments):
        bucket = Bucket(self.beginning, self.snapshot, self.pieces)
        answers = bucket.add(hashes, moments)
        changes = bucket.changes()
        self.kinds.append(type(changes))
        self.written.append(0 if changes is None else len(changes.data))
        if isinstance(changes, Snapshot):
            self.snapshot, self.pieces = changes.data, []
        elif isinstance(changes, Piece) and len(self.written) not in self.loses:
            self.pieces.append(changes.data)
        return answers


def batches(timed, count=60, size=400):
    rng = np.random.default_rng(1)
    for batch in range(count):
        moments = np.sort(rng.integers(batch * 2000, batch * 2000 + 2000, size))
        yield rng.integers(-5000, 5000, size), moments if timed else None


def differ(wishes, loses=()):
    """Whether answers differ from those of a filter that stays in memory; and the store."""
    store, whole = Store(wishes, loses), part(1, 0, **wishes)
    timed, different = "within" in wishes, 0
    for hashes, moments in batches(timed):
        different += int((store.add(hashes, moments) != whole.add_all(hashes, moments)).sum())
    return different, store


@pytest.mark.parametrize("wishes", WISHES)
def test_it_answers_as_if_it_had_stayed(wishes):
    different, store = differ(wishes)
    assert different == 0
    assert {Piece, Snapshot} <= set(store.kinds), "both ways to keep it were met"
    assert sum(map(len, store.pieces)) <= max(LEAST, PIECES * len(store.snapshot))


@pytest.mark.parametrize("wishes", WISHES)
def test_a_lost_piece_would_be_noticed(wishes):
    _, store = differ(wishes)
    kept = [batch + 1 for batch, kind in enumerate(store.kinds) if kind is Piece]
    assert differ(wishes, loses=kept[len(kept) // 2 :][:1])[0] > 0


def test_what_little_comes_costs_little():
    store = Store({"within": "1h"})
    store.add(np.arange(100_000), np.zeros(100_000, np.int64))
    snapshot = len(store.snapshot)
    for key in range(20):
        store.add(np.array([10**6 + key]), np.array([1000 + key]))
    assert store.written[0] == snapshot and max(store.written[1:]) < 50


def test_without_end_a_repeat_costs_nothing():
    store = Store({})
    store.add(np.arange(10), None)
    store.add(np.arange(10), None)
    assert store.written[0] > 0 and store.written[1] == 0


def test_shares_of_the_parts_make_the_whole():
    assert part(4, 300_000, within="5m").plan.promise == part(1, 0, within="10m").plan.promise
    one, share = lately.Window(last=100_000), part(10, 0, last=100_000)
    assert one.nbytes / 10 < share.nbytes < one.nbytes / 5
    assert part(10, 0, last=100_000, memory="10MB").plan.bytes <= 10**6
    for wrong in ({"keyed": b"x" * 16}, {"last": 10, "within": "1h"}, {"colour": 1}):
        with pytest.raises(TypeError):
            part(2, 0, **wrong)
    with pytest.raises(ValueError, match="one bucket"):
        part(0, 0)
