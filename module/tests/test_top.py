"""LATELY.TOP: the items that came most often in the window, right at any moment, wherever the filter goes."""

import collections
import random

import pytest
from conftest import reserve
from servers import follow, wait_for, wait_until_equal
from test_abilities import now, refused
from test_replication import pair

WITHIN = "WITHIN 60000 ERROR 0.000001 COUNTING TOP 5".split()


def pairs(told):
    return list(zip(told[::2], map(int, told[1::2])))


def stream(seed, count, span):
    """Moments and items: which items come often changes all the time."""
    draw = random.Random(seed)
    for at in range(count):
        turn = at * 10 // count
        item = int(200 ** draw.random())
        yield at * span // count, b"item %d" % ((item + 31 * turn) % 200)


def count_at(server, key, start, moments):
    pipeline = server.client.pipeline(transaction=False)
    for moment, item in moments:
        pipeline.execute_command("LATELY.INCRBYAT", key, start + moment, item, 1)
    pipeline.execute()


def check(told, most, truth, with_slack):
    """Nobody counts too little, nor more than window and slack have; nobody else came more often."""
    counts = [count for _, count in told]
    assert len(told) <= most and counts == sorted(counts, reverse=True)
    for item, count in told:
        assert truth[item] <= count <= with_slack[item]
    last = counts[-1] if len(told) == most else 0
    listed = {item for item, _ in told}
    assert all(count <= last for item, count in truth.items() if item not in listed)


def test_the_first_are_right_at_any_moment(server):
    """Also long after the last sighting, when others have left."""
    reserve(server, "k", WITHIN)
    start = now() - 500_000
    moments = list(stream(seed=1, count=4000, span=150_000))
    told = 0
    for until in range(0, len(moments), 100):
        count_at(server, "k", start, moments[until : until + 100])
        latest = moments[min(until + 100, len(moments)) - 1][0]
        for later in [0, 1_000, 20_000, 45_000, 59_000]:
            moment = latest + later
            seen = [(at, item) for at, item in moments[: until + 100] if at >= moment - 60_000]
            older = [(at, item) for at, item in moments[: until + 100] if at >= moment - 60_000 * 8 // 7 - 2]
            truth = collections.Counter(item for _, item in seen)
            with_slack = collections.Counter(item for _, item in older)
            listed = pairs(server("LATELY.TOPAT", "k", start + moment))
            check(listed, 5, truth, with_slack)
            told += len(listed)
    assert told > 500
    assert server("LATELY.TOPAT", "k", start + 300_000) == []


def test_a_list_of_those_that_lead_now_would_be_caught():
    """What the check is for: the first ones of before are not those of later."""
    truth = collections.Counter({b"a": 3, b"b": 2, b"c": 1})
    check([(b"a", 3), (b"b", 2)], 2, truth, truth)
    for wrong in [[(b"a", 3), (b"c", 1)], [(b"a", 3)], [(b"a", 4), (b"b", 2)], [(b"b", 2), (b"a", 3)]]:
        with pytest.raises(AssertionError):
            check(wrong, 2, truth, truth)


@pytest.mark.parametrize("wish", ["LAST 1000 ERROR 0.000001", "EVER ERROR 0.000001"])
def test_other_windows_have_a_top_too(server, wish):
    reserve(server, "k", f"{wish} COUNTING TOP 10".split())
    items = [item for _, item in stream(seed=2, count=5000, span=1)]
    for start in range(0, 5000, 250):
        server("LATELY.ADD", "k", *items[start : start + 250])
        came = items[: start + 250]
        last = wish.startswith("LAST")
        truth = collections.Counter(came[-1000:] if last else came)
        with_slack = collections.Counter(came[-(1000 * 8 // 7 + 10) :] if last else came)
        check(pairs(server("LATELY.TOP", "k")), 10, truth, with_slack)
    assert len(server("LATELY.TOP", "k", 3)) == 6
    assert len(server("LATELY.TOP", "k", 99)) == 20
    assert server("LATELY.TOP", "k", 0) == []
    assert server("LATELY.INFO", "k", "top") == 10


def test_whatever_counts_is_noted(server):
    reserve(server, "k", WITHIN)
    server("LATELY.ADD", "k", "a", "a", "a", "a")
    server("LATELY.INCRBY", "k", "b", 9)
    for _ in range(9):
        server("LATELY.LIMIT", "k", "c", 3)
    server("LATELY.ADDNX", "k", "d", "d")
    server("BF.ADD", "k", "e")
    server("LATELY.INSERT", "k", "ITEMS", "e")
    assert pairs(server("LATELY.TOP", "k")) == [(b"b", 9), (b"a", 4), (b"c", 3), (b"e", 2), (b"d", 1)]
    assert server("LATELY.COUNT", "k", "b", "a", "c", "e", "d") == [9, 4, 3, 2, 1]
    # What was ahead by mistake is forgiven, and listed for one more window at most.
    start = now()
    server("LATELY.TURNBACK", "k", start - 30_000)
    assert pairs(server("LATELY.TOP", "k", 1)) == [(b"b", 9)]
    assert server("LATELY.TOPAT", "k", start + 60_000 * 8 // 7 + 1_000) == []


def test_items_are_held_only_while_they_matter(server):
    reserve(server, "plain", "WITHIN 60000 ERROR 0.01 COUNTING SEED 1".split())
    reserve(server, "top", "WITHIN 60000 ERROR 0.01 COUNTING SEED 1 TOP 10".split())
    start = now() - 400_000
    for key in ["plain", "top"]:
        for turn in range(40):
            items = [b"a long name of an item, %d, to be seen in memory" % (500 * turn + i) for i in range(500)]
            server("LATELY.ADDAT", key, start + 1_000 * turn, *items)
    more = server("MEMORY", "USAGE", "top") - server("MEMORY", "USAGE", "plain")
    # At most ten for each of 64 moments at which sightings leave, and as many until they are sorted out.
    assert 0 < more < 2 * 640 * 200
    while not server("LATELY.EXPIRE", "top", start + 300_000):
        pass
    assert server("LATELY.TOPAT", "top", start + 300_000) == []
    assert server("MEMORY", "USAGE", "top") < 20_000


def test_it_outlives_its_server(start):
    server = start(appendonly="yes", appendfsync="always")
    reserve(server, "k", WITHIN)
    moments = list(stream(seed=3, count=3000, span=150_000))
    begin = now() - 200_000
    count_at(server, "k", begin, moments[:1000])
    server("BGREWRITEAOF")
    wait_for(lambda: not server.client.info("persistence")["aof_rewrite_in_progress"])
    count_at(server, "k", begin, moments[1000:2000])
    digest, told = server.digest("k"), server("LATELY.TOPAT", "k", begin + 100_000)
    assert len(told) == 10
    server.kill()
    server.start()
    assert server.digest("k") == digest
    # From a dump, and copies of all kinds: they hold the same, and go on alike.
    server.restart()
    assert server.digest("k") == digest
    server("COPY", "k", "copied")
    server("RESTORE", "restored", 0, server("DUMP", "k"))
    iterator = 0
    while True:
        iterator, chunk = server("BF.SCANDUMP", "k", iterator)
        if iterator == 0:
            break
        server("BF.LOADCHUNK", "loaded", iterator, chunk)
    keys = ["k", "copied", "restored", "loaded"]
    assert server.digest(*keys) == digest * 4
    for key in keys:
        count_at(server, key, begin, moments[2000:])
    (digest,) = server.digest("k")
    assert server.digest(*keys) == [digest] * 4
    assert [server("LATELY.TOPAT", key, begin + 150_000) for key in keys] == [
        server("LATELY.TOPAT", "k", begin + 150_000)
    ] * 4


def test_replicas_are_equal(start):
    primary, replica = pair(start)
    reserve(primary, "k", WITHIN)
    reserve(primary, "last", "LAST 500 COUNTING TOP 7".split())
    begin = now() - 200_000
    moments = list(stream(seed=4, count=4000, span=150_000))
    count_at(primary, "k", begin, moments[:2000])
    primary("LATELY.ADD", "last", *(item for _, item in moments[:2000]))
    # One that comes late gets all of it at once.
    late = start()
    follow(late, primary)
    for from_ in range(2000, 4000, 200):
        count_at(primary, "k", begin, moments[from_ : from_ + 200])
        primary("LATELY.ADD", "last", *(item for _, item in moments[from_ : from_ + 200]))
        primary("LATELY.EXPIRE", "k", begin + moments[from_][0])
    for server in [replica, late]:
        wait_until_equal(server, primary)
        assert server.digest() == primary.digest()
        for later in [0, 30_000, 55_000]:
            moment = begin + 150_000 + later
            assert server("LATELY.TOPAT", "k", moment) == primary("LATELY.TOPAT", "k", moment)
        assert server("LATELY.TOP", "last") == primary("LATELY.TOP", "last")


def test_what_would_make_it_wrong_is_refused(server):
    assert "COUNTING" in refused(server, "LATELY.RESERVE", "k", "WITHIN", 1000, "TOP", 5)
    for top in ["0", "1001", "x", "-1"]:
        assert "from 1 to 1000" in refused(server, "LATELY.RESERVE", "k", "EVER", "COUNTING", "TOP", top)
    exact = ["LAST", 1000, "SLACK", 0, "COUNTING", "TOP", 5, "STRUCTURE", "quotient-short-hash"]
    assert "window-counts" in refused(server, "LATELY.RESERVE", "k", *exact)
    assert "no such key" in refused(server, "LATELY.TOP", "k")
    reserve(server, "plain", "WITHIN 60000 ERROR 0.01 COUNTING SEED 1".split())
    assert "TOP k" in refused(server, "LATELY.TOP", "plain")
    reserve(server, "k", "WITHIN 60000 ERROR 0.01 COUNTING SEED 1 TOP 5".split())
    server("LATELY.ADD", "k", "a", "b")
    assert "items themselves" in refused(server, "LATELY.ADDHASHES", "k", bytes(8))
    assert "without TOP" in refused(server, "LATELY.FORGET", "k", "a")
    assert "without TOP" in refused(server, "LATELY.MERGE", "k", "plain")
    assert "without TOP" in refused(server, "LATELY.MERGE", "other", "k")
    assert server("LATELY.MERGE", "plain", "k") == b"OK"
    assert "whole number" in refused(server, "LATELY.TOP", "k", "x")
    assert "wrong number" in refused(server, "LATELY.TOP", "k", 1, 2)
    # A snapshot without its items is a filter that keeps none.
    server("LATELY.LOAD", "loaded", server("LATELY.DUMP", "k"))
    assert "TOP k" in refused(server, "LATELY.TOP", "loaded")
    for items in [b"", b"x", b"\x01\x00" + bytes(40), b"\xff" * 90]:
        words = ["LATELY.LOAD", "forged", server("LATELY.DUMP", "k"), "TOP", items]
        if items:
            refused(server, *words)
    assert server("EXISTS", "forged") == 0
