"""A stream of events in files, and an oracle too simple to be wrong: what must pass, what may, what must not.

Of the keys that come again, some do so soon, some long after the window: between the two nothing comes, so that slack does
not blur what is right. Some events are a little late, as the watermark allows; some are much too late.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = "id string, at timestamp, row long"
WITHIN, DELAY = 60_000, 10_000
# What comes again comes at most so long after, or not before that: with what Spark and the filter may add.
SOON, LONG = WITHIN, 3 * (WITHIN + 2 * DELAY)
BEGIN = 1_700_000_000_000


@dataclass
class Events:
    ids: np.ndarray
    # Milliseconds since 1970.
    moments: np.ndarray
    # The file, and so the micro-batch, of each.
    files: np.ndarray

    def write(self, folder: Path) -> None:
        """One file for each micro-batch; their ages say their order."""
        import os

        folder.mkdir(parents=True)
        for file in range(self.files[-1] + 1):
            rows = np.flatnonzero(self.files == file)
            at = pa.array(self.moments[rows]).cast(pa.timestamp("ms")).cast(pa.timestamp("us", "UTC"))
            # Texts as they are met: long, and nothing in common.
            ids = pa.array([f"{int(i) * 0x9E3779B97F4A7C15 % 2**64:016x}-{i:012d}" for i in self.ids[rows]])
            name = folder / f"{file:05}.parquet"
            pq.write_table(pa.table({"id": ids, "at": at, "row": rows}), name)
            os.utime(name, (BEGIN / 1000 + file, BEGIN / 1000 + file))


def make(count: int, files: int, seed: int = 1) -> Events:
    """So many events over `files` windows' halves, 30% repeats."""
    rng = np.random.default_rng(seed)
    span = files * WITHIN // 2
    moments = BEGIN + np.arange(count) * span // count
    per_milli = count / span
    ids = np.arange(count)
    last = {}
    chance = rng.random(count)
    soon = rng.integers(1, max(2, int(per_milli * (SOON - DELAY))), count)
    far = int(per_milli * LONG * 1.5)
    for row in range(count):
        if chance[row] < 0.32 and row >= soon[row]:
            back = row - soon[row]
        elif chance[row] < 0.38 and row >= far:
            back = row - far
        else:
            continue
        # Only of what is the latest of its key, so that all that comes again does so soon or long after.
        if last.get(ids[back], back) == back:
            ids[row] = ids[back]
            last[ids[back]] = row
    late = rng.random(count)
    moments = np.where(late < 0.1, moments - rng.integers(0, DELAY // 2, count), moments)
    moments = np.where(late > 0.99, moments - 50 * LONG, moments)
    return Events(ids, moments, np.arange(count) * files // count)


def is_late(events: Events) -> np.ndarray:
    """Which events come after the watermark: the latest moment of all files before, less the delay."""
    late = np.zeros(len(events.ids), bool)
    latest = None
    for file in range(events.files[-1] + 1):
        rows = events.files == file
        if latest is not None:
            late[rows] = events.moments[rows] <= latest - DELAY
        latest = max(latest or 0, events.moments[rows].max())
    return late


def judge(events: Events, passed: np.ndarray, error: float) -> dict[str, int]:
    """Fails if a row passed that must not, or did not that must, more often than the error allows."""
    assert len(passed) == len(set(passed.tolist())), "a row passed twice"
    late = is_late(events)
    is_passed = np.zeros(len(events.ids), bool)
    is_passed[passed] = True
    assert not (is_passed & late).any(), "an event passed that was too late"
    twice = lost = expected = 0
    for rows in _crowds(events, ~late):
        passed_of_crowd = is_passed[rows]
        twice += int(np.any(np.diff(events.moments[rows[passed_of_crowd]]) <= WITHIN))
        lost += int(not passed_of_crowd.any())
        expected += 1
    assert twice == 0, f"{twice} keys passed twice within the window"
    assert lost <= most(expected, error), f"{lost} of {expected} crowds were lost"
    return {"rows": len(events.ids), "late": int(late.sum()), "crowds": expected, "passed": len(passed), "lost": lost}


def _crowds(events: Events, keep: np.ndarray) -> list[np.ndarray]:
    """Rows of one key that are so near each other that one of them must pass, by their moments."""
    order = np.lexsort((events.moments, events.ids))
    order = order[keep[order]]
    apart = (np.diff(events.ids[order]) != 0) | (np.diff(events.moments[order]) > WITHIN + 2 * DELAY)
    return np.split(order, np.flatnonzero(apart) + 1)


def most(trials: int, rate: float, luck: float = 1e-9) -> int:
    """So many of `trials` are exceeded by chance less often than `luck`, if each happens at `rate`: Chernoff."""
    mean = trials * rate
    excess = 0.0
    while mean * ((1 + excess) * math.log(1 + excess) - excess) <= -math.log(luck):
        excess += 0.01
    return math.ceil(mean * (1 + excess))


def share_of_repeats(events: Events) -> float:
    return 1 - len(Counter(events.ids.tolist())) / len(events.ids)
