"""A million keys, half of them repeats, by lately and its rivals: in one process, taking turns, by the time of the
thread's processor. Every rival starts empty and says of each key whether it is new.

    cargo xtask python-race            # builds a wheel as it is shipped, and runs this
"""

from __future__ import annotations

import random
import statistics
import sys
import time

import numpy as np
import polars as pl
import pyarrow as pa

import lately

KEYS = 1_000_000
ERROR = 1e-3
FEW = 20_000
SLOW = ("pybloom-live", "pyprobables")


def rivals():
    chance = random.Random(1)
    distinct = [f"user:{chance.getrandbits(60):015x}" for _ in range(KEYS // 2)]
    met_again = distinct + distinct
    chance.shuffle(met_again)
    # As events bring them: each its own text, one after the other in memory. A set has seen their hashes in the first
    # round, since texts remember them.
    keys = [key[:1] + key[1:] for key in met_again]
    arrow, polars = pa.array(keys), pl.Series(keys)
    ints = np.random.default_rng(1).integers(0, 1 << 62, KEYS // 2)
    ints = np.random.default_rng(2).permutation(np.concatenate([ints, ints]))

    def one_call(make, keys=keys):
        def run():
            add = make().add
            return [add(key) for key in keys]

        return run

    def two_calls(make, keys=keys):
        def run():
            seen, new = make(), []
            for key in keys:
                if key in seen:
                    new.append(False)
                else:
                    seen.add(key)
                    new.append(True)
            return new

        return run

    window = lambda: lately.Window(last=KEYS, error=ERROR)
    yield "lately: add", one_call(window)
    yield "lately: add, without end", one_call(lambda: lately.Ever(error=ERROR))
    yield "set: in, add", two_calls(set)
    yield "lately: add_all of a list", lambda: window().add_all(keys)
    yield "lately: add_all of pyarrow text", lambda: window().add_all(arrow)
    yield "lately: add_all of polars text", lambda: window().add_all(polars)
    yield "set comprehension of a list of text", lambda: {key for key in keys}
    yield "set comprehension of polars text", lambda: {key for key in polars}
    yield "lately: add_all of numpy integers", lambda: window().add_all(ints)
    yield "set comprehension of numpy integers", lambda: {key for key in ints}

    # The same texts met again, all over memory: what is measured is mostly waiting for it.
    yield "lately: add, texts met again", one_call(window, met_again)
    yield "set: in, add, texts met again", two_calls(set, met_again)

    import datasketches
    import probables
    import pybloom_live
    import rbloom

    yield "rbloom: in, add", two_calls(lambda: rbloom.Bloom(KEYS, ERROR))
    # Microseconds a key: a part of them tells as much.
    few = keys[:FEW]
    yield "pybloom-live: add", one_call(lambda: pybloom_live.BloomFilter(KEYS, ERROR), few)
    yield "pyprobables: in, add", two_calls(lambda: probables.BloomFilter(KEYS, ERROR), few)
    yield "lately: Counter.add", one_call(lambda: lately.Counter(error=ERROR))

    def sketch():
        # Has no filter; this counts within a thousandth of the stream, 99 times of 100.
        kind = datasketches.count_min_sketch
        counter = kind(kind.suggest_num_hashes(0.99), kind.suggest_num_buckets(1e-3))
        for key in keys:
            counter.update(key)
            counter.get_estimate(key)

    yield "datasketches: update, get_estimate", sketch


def weights():
    """What each takes for a million keys at that error; a set with its texts."""
    import probables
    import pybloom_live
    import rbloom

    yield "lately: the last million", lately.Window(last=KEYS, error=ERROR).nbytes
    everything = lately.Ever(error=ERROR)
    everything.add_all(np.arange(KEYS))
    yield "lately: without end", everything.nbytes
    yield "rbloom", rbloom.Bloom(KEYS, ERROR).size_in_bits / 8
    yield "pybloom-live", pybloom_live.BloomFilter(KEYS, ERROR).num_bits / 8
    yield "pyprobables", probables.BloomFilter(KEYS, ERROR).number_bits / 8
    exact = {f"user:{number:015x}" for number in range(KEYS)}
    yield "set", sys.getsizeof(exact) + sum(map(sys.getsizeof, exact))


def measure(name: str, run) -> float:
    count = FEW if name.startswith(SLOW) else KEYS
    start = time.thread_time()
    run()
    return (time.thread_time() - start) * 1e9 / count


def main(rounds: int) -> None:
    racers = list(rivals())
    times: dict[str, list[float]] = {name: [] for name, _ in racers}
    for _ in range(rounds):
        for name, run in racers:
            times[name].append(measure(name, run))
    for name, taken in times.items():
        print(f"{name:40} {statistics.median(taken):8.1f} ns a key")
    print()

    for name, size in weights():
        print(f"{name:40} {size / 1e6:8.2f} MB for a million keys")
    print()

    def ratio(one: str, other: str, goal: str) -> None:
        # Round by round: what slows the machine slows both.
        ratios = [a / b for a, b in zip(times[one], times[other])]
        print(f"{one} / {other}: {statistics.median(ratios):.3f} ({goal})")

    ratio("lately: add", "rbloom: in, add", "at most 0.95")
    ratio("lately: add", "set: in, add", "at most 1.1")
    for text in ("pyarrow", "polars"):
        ratio("set comprehension of a list of text", f"lately: add_all of {text} text", "at least 6")
        ratio("set comprehension of polars text", f"lately: add_all of {text} text", "at least 6")
    ratio("set comprehension of numpy integers", "lately: add_all of numpy integers", "at least 15")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
