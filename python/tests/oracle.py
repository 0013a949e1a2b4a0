"""Oracles too simple to be wrong, and how often chance may mislead a test."""

from __future__ import annotations

import math
from collections import Counter, deque
from typing import Hashable


class LastN:
    """The last n insertions, all of them."""

    def __init__(self, n: int) -> None:
        self.insertions: deque[Hashable] = deque(maxlen=n)

    def add(self, key: Hashable) -> bool:
        new = key not in self.insertions
        self.insertions.append(key)
        return new

    def __contains__(self, key: Hashable) -> bool:
        return key in self.insertions

    def count(self, key: Hashable) -> int:
        return Counter(self.insertions)[key]


class Within:
    """When each key came last. Time does not go back."""

    def __init__(self, millis: int) -> None:
        self.span = millis
        self.latest = 0
        self.seen: dict[Hashable, int] = {}

    def add(self, key: Hashable, now: int) -> tuple[bool, int | None]:
        """Whether it is in the window, and how long ago it came, if ever."""
        self.latest = max(self.latest, now)
        before = self.seen.get(key)
        self.seen[key] = self.latest
        age = None if before is None else self.latest - before
        return age is not None and age <= self.span, age


def most(trials: int, rate: float, luck: float = 1e-9) -> int:
    """So many of `trials` are exceeded by chance less often than `luck`, if each happens at `rate`: Chernoff."""
    mean = trials * rate
    excess = 0.0
    while True:
        excess += 0.01
        if mean * ((1 + excess) * math.log(1 + excess) - excess) > -math.log(luck):
            return math.ceil(mean * (1 + excess))
