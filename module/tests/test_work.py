"""How long a command keeps the server from all others: the time that its main thread is at work.

Not how long anything takes: whoever else is at work on this machine does not count. What copies a whole
filter (DUMP, RESTORE, COPY, LATELY.LOAD, LATELY.DUMP, LATELY.MERGE, BF.SCANDUMP, BF.LOADCHUNK) is left out:
that takes as long as memory takes.
"""

import pathlib

import pytest
from conftest import reserve
from servers import wait_for
from swing import Work, swing

# Filters of about 100 MB.
LARGE = {
    "sliding": "LAST 44000000 ERROR 0.001",
    "age-partitioned": "LAST 32000000 ERROR 0.001 STRUCTURE age-partitioned",
    "within": "WITHIN 3600000 ERROR 0.001 CAPACITY 260000000 STRUCTURE time-limited",
    "counting": "EVER ERROR 0.001 COUNTING CAPACITY 7000000 STRUCTURE spectral",
    "counting-window": "LAST 5000000 ERROR 0.001 COUNTING STRUCTURE spectral-window",
}


def loaded(server, wish):
    """A large filter of which every page was written, as after some time at work."""
    reserve(server, "made", wish)
    server("LATELY.ADD", "made", "first")
    snapshot = server("LATELY.DUMP", "made")
    server("DEL", "made")
    assert server("LATELY.LOAD", "k", snapshot) == b"OK"
    assert server("LATELY.INFO", "k", "bytes") > 80e6


@pytest.mark.parametrize("name", sorted(LARGE))
def test_no_command_takes_long(server, name):
    loaded(server, LARGE[name].split())
    work = Work(server)
    for turn in range(50):
        work("LATELY.ADD", "k", f"item {turn}")
        work("LATELY.ADDNX", "k", f"other {turn}")
        work("LATELY.SEEN", "k", f"item {turn}")
    work("LATELY.ADD", "k", *range(100))
    work("LATELY.SEEN", "k", *range(100))
    if name.startswith("counting"):
        for turn in range(50):
            work("LATELY.INCRBY", "k", f"item {turn}", 1 << turn)
            work("LATELY.COUNT", "k", f"item {turn}")
    fields = work("LATELY.INFO", "k")[::2]
    for field in fields:
        work("LATELY.INFO", "k", field)
    work("LATELY.CARD", "k")
    work("MEMORY", "USAGE", "k")
    work("EXISTS", "k")
    work("TYPE", "k")
    work("RENAME", "k", "l")
    work("RENAME", "l", "k")
    work("EXPIRE", "k", 1000)
    work("LATELY.RESERVE", "new", *LARGE[name].split())
    work("UNLINK", "k")
    work.check()


def test_growing_takes_no_command_long(server):
    """A filter that nobody said the size of: every command of a growth from nothing."""
    work = Work(server)
    for turn in range(600):
        work("BF.MADD", "k", *range(1000 * turn, 1000 * turn + 500))
    for turn in range(50):
        work("BF.ADD", "k", f"item {turn}")
        work("BF.EXISTS", "k", f"item {turn}")
    for field in ["CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"]:
        work("BF.INFO", "k", field)
    work("BF.INFO", "k")
    work("BF.CARD", "k")
    work("LATELY.INFO", "k")
    work("UNLINK", "k")
    work.check()


@pytest.mark.parametrize("structure", ["", "STRUCTURE time-limited"])
def test_a_burst_takes_no_command_long(server, structure):
    """All in one moment: one window by time grows fourfold at once, again and again."""
    reserve(server, "k", f"WITHIN 3600000 ERROR 0.001 {structure}".split())
    work = Work(server)
    for turn in range(1500):
        work("LATELY.ADDAT", "k", 1_700_000_000_000, *range(400 * turn, 400 * turn + 400))
    work.check()


def test_a_swing_takes_no_command_long(server):
    """A window by time grows from nothing and shrinks again; `swing.py` does the same with 40 million."""
    swing(server, items=400_000, looks=400).check(limit=1e-3)


@pytest.mark.parametrize("structure", ["", "STRUCTURE spectral-window"])
def test_a_crowd_takes_no_command_long(server, structure):
    """Many sightings at once push as many others out of a window, one by one unless they came at once."""
    reserve(server, "k", f"LAST 200000 ERROR 0.001 COUNTING {structure}".split())
    for first in range(0, 200_000, 10_000):
        server("LATELY.ADD", "k", *range(first, first + 10_000))
    before = server.digest("k")
    for pairs in [("a", 10_001), ("a", 199_999), ("a", 9_000, "b", 1_001)]:
        with pytest.raises(Exception, match="at most 10000 at a time"):
            server("LATELY.INCRBY", "k", *pairs)
    assert server.digest("k") == before
    work = Work(server)
    for turn in range(10):
        assert work("LATELY.INCRBY", "k", f"item {turn}", 10_000) == [10_000]
    # What came at once leaves at once, and all of it in no time.
    for times in [100_000, 200_000, 150_000, 1 << 60]:
        server("LATELY.INCRBY", "k", "filler", 300_000)
        work("LATELY.INCRBY", "k", "crowd", times)
        assert server("LATELY.COUNT", "k", "crowd") == [min(times, 200_000)]
    work.check()


def test_counters_widen_a_few_at_a_time(server):
    """So many large counts that all 100 MB of counters need more bits."""
    loaded(server, LARGE["counting"].split())
    before = server("LATELY.INFO", "k", "bytes")
    work = Work(server)
    item = 0

    def count(items, command):
        nonlocal item
        pairs = [word for i in range(item, item + items) for word in (i, 300)]
        command("LATELY.INCRBY", "k", *pairs)
        item += items
        assert item < 400_000, "they should have widened by now"
        return server("LATELY.INFO", "k", "bytes") / before

    while item < 90_000:
        assert count(1000, server) < 1.9
    # Narrow ones, then both, then wide ones.
    while count(50, work) < 2.9:
        pass
    while count(50, work) > 2.5:
        pass
    assert count(50, work) > 1.9
    assert set(server("LATELY.COUNT", "k", *range(0, item, item // 100))) == {300}
    work.check()


def test_merging_is_in_place(server):
    """Nothing as large as the filters comes beside them, and nothing changes unless all can be merged."""
    wish = LARGE["counting"].split() + ["SEED", "7"]
    reserve(server, "a", wish)
    reserve(server, "b", wish)
    reserve(server, "c", "EVER ERROR 0.001 COUNTING CAPACITY 1000 SEED 7".split())
    for key, times in [("a", 3), ("b", 200)]:
        server("LATELY.INCRBY", key, *[word for i in range(500) for word in (i, times)])
    peak = server.client.info("memory")["used_memory_peak"]
    with pytest.raises(Exception, match="differ"):
        server("LATELY.MERGE", "a", "b", "c")
    assert server("LATELY.COUNT", "a", 1, 2) == [3, 3]
    assert server("LATELY.MERGE", "a", "b", "b", "a") == b"OK"
    assert set(server("LATELY.COUNT", "a", *range(500))) == {3 + 200 + 200 + 3}
    assert server("LATELY.MERGE", "d", "a", "b") == b"OK"
    assert set(server("LATELY.COUNT", "d", *range(500))) == {406 + 200}
    # A copy for `a` as its own source, and `d`.
    grown = server.client.info("memory")["used_memory_peak"] - peak
    assert grown < 2.5 * server("LATELY.INFO", "b", "bytes")


def test_large_pages_are_a_setting(server):
    assert server.client.config_get("lately.large-pages") == {"lately.large-pages": "no"}

    def large():
        """Bytes of memory for which the module asked for large pages."""
        maps = pathlib.Path(f"/proc/{server.process.pid}/smaps").read_text()
        asked = [part for part in maps.split("Size:") if " hg" in part.split("VmFlags:")[-1]]
        return len(asked)

    reserve(server, "without", LARGE["sliding"].split())
    assert large() == 0
    server.client.config_set("lately.large-pages", "yes")
    reserve(server, "with", LARGE["sliding"].split())
    server.client.config_set("lately.large-pages", "no")
    assert large() > 0
    wait_for(lambda: server("UNLINK", "with") == 0)
