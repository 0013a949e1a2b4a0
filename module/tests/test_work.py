"""No command keeps a server from all others for long; `work` says what is counted.

What copies a whole filter (DUMP, RESTORE, COPY, LATELY.LOAD, LATELY.DUMP, LATELY.MERGE, BF.SCANDUMP,
BF.LOADCHUNK) is left out: that takes as long as memory takes.
"""

import pathlib
import random

import pytest
from conftest import reserve
from servers import wait_for
from swing import swing
from work import TURNS, slow_steps

# Filters of about 100 MB.
LARGE = {
    "sliding": "LAST 44000000 ERROR 0.001",
    "age-partitioned": "LAST 32000000 ERROR 0.001 STRUCTURE age-partitioned",
    "double-buffer": "LAST 22000000 ERROR 0.001 STRUCTURE double-buffer",
    "counting": "EVER ERROR 0.001 COUNTING CAPACITY 7000000 STRUCTURE spectral",
    "counting-window": "LAST 5000000 ERROR 0.001 COUNTING STRUCTURE spectral-window",
    "counting-exactly": "LAST 16000000 ERROR 0.001 COUNTING STRUCTURE quotient-short-hash",
}
# Those that know how many different items they hold.
KNOW_THEIR_NUMBER = {"sliding", "counting", "counting-exactly"}
# Sightings that may be pushed out of a window one by one.
MOST_DISPLACED = 1000


def reserve_large(server, name):
    reserve(server, "k", LARGE[name].split(), "SEED", 1)
    assert server("LATELY.INFO", "k", "bytes") > 80e6


@pytest.mark.parametrize("name", sorted(LARGE))
def test_no_command_takes_long(engine, name):
    def scenario(server, work):
        reserve_large(server, name)
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
        if name in KNOW_THEIR_NUMBER:
            work("LATELY.CARD", "k")
        work("MEMORY", "USAGE", "k")
        work("EXISTS", "k")
        work("TYPE", "k")
        work("RENAME", "k", "l")
        work("RENAME", "l", "k")
        work("EXPIRE", "k", 1000)
        work("LATELY.RESERVE", "new", *LARGE[name].split())
        work("UNLINK", "k")

    assert not slow_steps(engine, scenario)


def test_no_plan_takes_long(engine):
    """The memory is given, and of all structures the one that errs least is taken; whatever the size. How many
    formulas that takes is counted by a test of the planner, on any machine."""

    def scenario(server, work):
        for items in [100, 2000, 30_000, 1_000_000, 20_000_000]:
            for bits in [1, 4, 9, 14, 17, 25, 40]:
                for kind in ["LAST", "COUNTING"]:
                    goal = ["LAST", items, "MEMORY", max(items * bits // 8, 100)]
                    goal += ["COUNTING"] if kind == "COUNTING" else []
                    # Too little memory for anything is an error, and that takes no longer.
                    work("LATELY.PLAN", *goal, may_fail=True)
                    work("LATELY.RESERVE", "k", *goal, may_fail=True)
                    work("UNLINK", "k")
        for error in ["30%", "1%", "0.1%", "1e-9"]:
            for window in [["LAST", 1000], ["LAST", 1_000_000], ["WITHIN", 60_000], ["EVER"]]:
                work("LATELY.PLAN", *window, "ERROR", error)
                work("LATELY.RESERVE", "k", *window, "ERROR", error)
                work("UNLINK", "k")

    # Once for a filter: 27 million instructions at most, 4 ms where the script takes 5.
    assert not slow_steps(engine, scenario, limit=8e-3)


def test_what_is_slow_is_found(engine):
    """A command that copies many megabytes takes too long each time; what came once was the machine's."""
    turns = []

    def scenario(server, work, always):
        turns.append(1)
        reserve(server, "k", "LAST 10000000 ERROR 0.001 SEED 1".split())
        work("LATELY.SEEN", "k", "a")
        work("LATELY.DUMP" if always or len(turns) == 1 else "EXISTS", "k")

    slow = slow_steps(engine, lambda server, work: scenario(server, work, always=True))
    assert [name for name, _ in slow] == ["LATELY.DUMP"] and len(turns) == TURNS
    turns.clear()
    assert not slow_steps(engine, lambda server, work: scenario(server, work, always=False))
    assert len(turns) >= 2


def test_growing_takes_no_command_long(engine):
    """A filter that nobody said the size of: every command of a growth from nothing."""

    def scenario(server, work):
        for turn in range(600):
            work("BF.MADD", "k", *range(1000 * turn, 1000 * turn + 500))
        for turn in range(50):
            work("BF.ADD", "k", f"item {turn}")
            work("BF.EXISTS", "k", f"item {turn}")
        for field in ["CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"]:
            work("BF.INFO", "k", field)
        work("BF.INFO", "k")
        work("BF.CARD", "k")
        work("LATELY.CARD", "k")
        work("LATELY.INFO", "k")
        work("UNLINK", "k")

    assert not slow_steps(engine, scenario)


def test_a_burst_takes_no_command_long(engine):
    """All in one moment: the window by time grows with every command."""

    def scenario(server, work):
        reserve(server, "k", "WITHIN 3600000 ERROR 0.001 SEED 1".split())
        for turn in range(1500):
            work("LATELY.ADDAT", "k", 1_700_000_000_000, *range(400 * turn, 400 * turn + 400))

    assert not slow_steps(engine, scenario)


def test_a_swing_takes_no_command_long(engine):
    """A window by time grows from nothing and shrinks again; `swing.py` does the same with 40 million."""

    def scenario(server, work):
        swing(server, work, items=400_000, looks=400)

    assert not slow_steps(engine, scenario, limit=1e-3)


@pytest.mark.parametrize("counting", [[], ["COUNTING"]])
def test_a_full_window_by_time_tells_how_it_stands_at_once(engine, counting):
    """Whatever is asked of a million items that are in the window, at a moment at which they are."""

    def scenario(server, work):
        moment = 1_700_000_000_000
        reserve(server, "k", "WITHIN 3600000 ERROR 0.001 SEED 1".split(), *counting)
        draw = random.Random(1)
        for _ in range(20):
            server("LATELY.ADDHASHES", "k", draw.randbytes(8 * 50_000), "AT", moment)
        assert 960_000 < work("LATELY.CARD", "k", moment) < 1_040_000
        # A little later, when nothing has been swept.
        assert 960_000 < work("LATELY.CARD", "k", moment + 3_000_000) < 1_040_000
        assert work("LATELY.CARD", "k", moment + 5_000_000) == 0
        for field in work("LATELY.INFO", "k")[::2]:
            work("LATELY.INFO", "k", field)
        for turn in range(20):
            work("LATELY.ADDAT", "k", moment, f"item {turn}")
            work("LATELY.SEENAT", "k", moment, f"item {turn}")
            work("LATELY.FORGET", "k", f"item {turn}", may_fail=True)
        work("MEMORY", "USAGE", "k")
        work("UNLINK", "k")

    assert not slow_steps(engine, scenario)


@pytest.mark.parametrize("counting", [[], ["COUNTING"]])
def test_a_clock_that_is_set_back_takes_no_command_long(engine, counting):
    """Whatever the window holds, and all that is asked of it until its items follow."""

    def scenario(server, work):
        moment = 1_700_000_000_000
        reserve(server, "k", "WITHIN 3600000 ERROR 0.001 SEED 1".split(), *counting)
        draw = random.Random(1)
        for number in range(20):
            server("LATELY.ADDHASHES", "k", draw.randbytes(8 * 50_000), "AT", moment + 60_000 * number)
        back = moment + 600_000
        assert work("LATELY.TURNBACK", "k", back) == back
        assert 960_000 < work("LATELY.CARD", "k", back) < 1_040_000
        for turn in range(40):
            work("LATELY.ADDAT", "k", back, f"item {turn}", f"other {turn}")
            work("LATELY.SEENAT", "k", back, f"item {turn}", "never")
            work("LATELY.FORGET", "k", f"item {turn}", may_fail=True)
            work("LATELY.EXPIRE", "k", back)
            # Again and again, before all have followed.
            if turn % 4 == 0:
                back -= 30_000
                assert work("LATELY.TURNBACK", "k", back) == back
        for field in work("LATELY.INFO", "k")[::2]:
            work("LATELY.INFO", "k", field)
        assert 960_000 < work("LATELY.CARD", "k", back + 2_000_000) < 1_040_000
        assert work("LATELY.CARD", "k", back + 5_000_000) == 0

    assert not slow_steps(engine, scenario)


@pytest.mark.parametrize("structure", ["quotient-short-hash", "spectral-window"])
def test_a_crowd_takes_no_command_long(engine, structure):
    """Many sightings at once push as many others out of a window, one by one unless they came at once."""

    def scenario(server, work):
        reserve(server, "k", f"LAST 200000 ERROR 0.001 COUNTING SEED 1 STRUCTURE {structure}".split())
        for first in range(0, 200_000, 10_000):
            server("LATELY.ADD", "k", *range(first, first + 10_000))
        before = server.digest("k")
        for pairs in [("a", MOST_DISPLACED + 1), ("a", 199_999), ("a", 900, "b", 101), ("a", 199_999, "b", 199_999)]:
            with pytest.raises(Exception, match=f"at most {MOST_DISPLACED} at a time"):
                server("LATELY.INCRBY", "k", *pairs)
        assert server.digest("k") == before
        for turn in range(10):
            assert work("LATELY.INCRBY", "k", f"item {turn}", MOST_DISPLACED) == [MOST_DISPLACED]
        # What came at once leaves at once, and all of it in no time.
        for times in [100_000, 200_000, 150_000, 1 << 60]:
            server("LATELY.INCRBY", "k", "filler", 300_000)
            work("LATELY.INCRBY", "k", "crowd", times)
            assert server("LATELY.COUNT", "k", "crowd") == [min(times, 200_000)]

    assert not slow_steps(engine, scenario, limit=2.5e-3)


@pytest.mark.parametrize("structure", ["quotient-short-hash", "window-counts"])
def test_crowds_in_a_large_window_take_no_command_long(engine, structure):
    """A window of four million, full of items that came alone or by the hundred: whatever pushes out too much
    is refused, and nothing else takes long."""

    def scenario(server, work):
        draw = random.Random(1)
        reserve(server, "k", f"LAST 4000000 ERROR 0.001 COUNTING SEED 1 STRUCTURE {structure}".split())
        for _ in range(20):
            server("LATELY.ADDHASHES", "k", draw.randbytes(8 * 100_000))
        for turn in range(40):
            server("LATELY.INCRBY", "k", *[word for item in range(250) for word in (f"{turn} {item}", 200)])
        for times in [MOST_DISPLACED, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 1 << 60]:
            try:
                work("LATELY.INCRBY", "k", f"crowd of {times}", times)
            except Exception as refusal:
                assert times > MOST_DISPLACED and f"at most {MOST_DISPLACED} at a time" in str(refusal)

    assert not slow_steps(engine, scenario, limit=4e-3)


def test_counters_widen_a_few_at_a_time(engine):
    """So many large counts that all 100 MB of counters need more bits."""

    def scenario(server, work):
        reserve_large(server, "counting")
        before = server("LATELY.INFO", "k", "bytes")
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

    assert not slow_steps(engine, scenario)


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
