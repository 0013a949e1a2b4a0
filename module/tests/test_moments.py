"""Moments that clients tell: one that is wrong spoils nothing, and a clock can be set back."""

import time

import pytest
import redis
from conftest import reserve
from servers import wait_until_equal
from test_replication import pair

HOUR = 3_600_000
YEAR_2100 = 4_102_444_800_000


def now():
    return int(time.time() * 1000)


def refused(server, *words):
    with pytest.raises(redis.ResponseError) as refusal:
        server(*words)
    return str(refusal.value)


def metric(server):
    return server.client.info("lately")["lately_refused_moments"]


def within(server, key="k"):
    reserve(server, key, "WITHIN 60000 ERROR 0.001 SEED 1".split())


def inserting(key, moment):
    """Every command with which a moment enters a filter."""
    return [
        ("LATELY.ADDAT", key, moment, "wrong"),
        ("LATELY.ADDNXAT", key, moment, "wrong", "wrong too"),
        ("LATELY.INSERT", key, "AT", moment, "ITEMS", "wrong"),
        ("LATELY.ADDHASHES", key, b"8 bytes.", "AT", moment),
        ("LATELY.ADDHASHES", key, b"8 bytes.", "NX", "AT", moment),
    ]


# Each computed when it is asked for, so that all who collect the tests find the same.
WRONG = {
    "the year 2100": lambda: YEAR_2100,
    "microseconds": lambda: now() * 1000,
    "the last of all": lambda: 2**63 - 1,
    "two hours ahead": lambda: now() + 2 * HOUR,
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_moment_too_far_ahead_is_refused_and_changes_nothing(server, name):
    wrong = WRONG[name]()
    within(server)
    server("LATELY.ADDAT", "k", now() - HOUR, "a")
    before, count = server("LATELY.DUMP", "k"), metric(server)
    for words in inserting("k", wrong):
        refusal = refused(server, *words)
        assert f"the moment {wrong} is " in refusal and "lately.max-ahead" in refusal
    assert metric(server) == count + 5
    assert server("LATELY.DUMP", "k") == before
    assert server("LATELY.INFO", "k", "new") == 1
    # A thousand records after it pass, one in each window.
    start = now() - 1000 * 600_000
    within(server, "l")
    refused(server, "LATELY.ADDAT", "l", wrong, "a")
    assert all(server("LATELY.ADDAT", "l", start + 600_000 * i, "a") == [1] for i in range(1000))


def test_a_refused_moment_makes_no_key(server):
    server("CONFIG", "SET", "lately.default", "WITHIN 60000 ERROR 0.001")
    try:
        for command in ("LATELY.ADDAT", "LATELY.ADDNXAT"):
            refused(server, command, "new", YEAR_2100, "a")
        assert server("EXISTS", "new") == 0
        assert server("LATELY.ADDAT", "new", 5, "a") == [1]
    finally:
        server("CONFIG", "SET", "lately.default", "LAST 100000 ERROR 0.001")


def test_what_is_believed(server):
    within(server)
    # From the past, after a long pause, a little ahead, and late.
    for moment in (0, 1, now() - 1000 * HOUR, now() + HOUR - 60_000, 5):
        server("LATELY.ADDAT", "k", moment, "a")
    # A window of a day believes a day.
    reserve(server, "day", ["WITHIN", "24h"])
    server("LATELY.ADDAT", "day", now() + 23 * HOUR, "a")
    assert "24h are believed" in refused(server, "LATELY.ADDAT", "day", now() + 25 * HOUR, "a")
    # A filter that counts items does not care, and looking changes nothing.
    reserve(server, "last", ["LAST", "100"])
    assert server("LATELY.ADDAT", "last", 2**63 - 1, "a") == [1]
    assert server("LATELY.SEENAT", "k", YEAR_2100, "a") == [0]
    assert server("LATELY.SEENAT", "k", 0, "a") == [1]


def test_the_limit_is_a_setting(server):
    within(server)
    try:
        server("CONFIG", "SET", "lately.max-ahead", 1000)
        refused(server, "LATELY.ADDAT", "k", now() + 60_000, "a")
        server("CONFIG", "SET", "lately.max-ahead", 2**63 - 1)
        assert server("LATELY.ADDAT", "k", YEAR_2100, "a") == [1]
    finally:
        server("CONFIG", "SET", "lately.max-ahead", 0)
    assert server("LATELY.INFO", "k", "clock") == YEAR_2100


def spoil(server, key="k"):
    """A filter that believed in the year 2100, as one of an older release may have."""
    within(server, key)
    server("CONFIG", "SET", "lately.max-ahead", 2**63 - 1)
    server("LATELY.ADDAT", key, YEAR_2100, "a")
    server("CONFIG", "SET", "lately.max-ahead", 0)


def test_a_clock_is_shown_and_set_back(server):
    within(server)
    assert server("LATELY.INFO", "k", "clock") is None
    assert server("LATELY.TURNBACK", "k") is None
    spoil(server, "l")
    assert server("LATELY.INFO", "l", "clock") == YEAR_2100
    start = now() - 1000 * HOUR
    assert server("LATELY.TURNBACK", "l", start) == start
    assert server("LATELY.INFO", "l", "clock") == start
    # What it held stays for one window.
    assert server("LATELY.SEENAT", "l", start + 60_000, "a") == [1]
    assert server("LATELY.SEENAT", "l", start + 600_000, "a") == [0]
    # Never forward, and now unless told otherwise.
    assert server("LATELY.TURNBACK", "l", start + 1) == start
    spoil(server, "m")
    earliest = now()
    assert earliest <= server("LATELY.TURNBACK", "m") <= now()

    reserve(server, "last", ["LAST", "100"])
    assert "not by time" in refused(server, "LATELY.TURNBACK", "last")
    assert "no such key" in refused(server, "LATELY.TURNBACK", "nothing")
    assert "milliseconds" in refused(server, "LATELY.TURNBACK", "m", "soon")
    assert "wrong number" in refused(server, "LATELY.TURNBACK", "m", 1, 2)


def test_a_snapshot_whose_clock_is_wrong_is_refused(server):
    spoil(server)
    snapshot = server("LATELY.DUMP", "k")
    assert f"the moment {YEAR_2100} is " in refused(server, "LATELY.LOAD", "l", snapshot)
    assert server("EXISTS", "l") == 0
    server("LATELY.TURNBACK", "k")
    assert server("LATELY.LOAD", "l", server("LATELY.DUMP", "k")) == b"OK"


def test_replicas_believe_what_their_primary_believed(start):
    primary, replica = pair(start)
    # Whatever their own settings say, and however their own clocks are.
    replica("CONFIG", "SET", "lately.max-ahead", 1)
    within(primary)
    primary("LATELY.ADDAT", "k", now() + HOUR // 2, "a")
    primary("LATELY.ADDHASHES", "k", b"8 bytes.", "AT", now() + HOUR // 2 + 5)
    refused(primary, "LATELY.ADDAT", "k", YEAR_2100, "b")
    spoil(primary, "l")
    primary("LATELY.ADD", "l", "b")
    snapshot = primary("LATELY.DUMP", "k")
    primary("LATELY.LOAD", "m", snapshot)
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    # The primary reads its clock for both.
    primary("LATELY.TURNBACK", "l")
    primary("LATELY.ADD", "l", "c")
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    assert replica("LATELY.INFO", "l", "clock") == primary("LATELY.INFO", "l", "clock") <= now()


def test_the_append_only_file_is_believed(start):
    server = start(appendonly="yes", aof_use_rdb_preamble="no")
    spoil(server)
    spoil(server, "l")
    server("LATELY.TURNBACK", "l")
    within(server, "m")
    server("LATELY.ADDAT", "m", now() + HOUR // 2, "a")
    before = server.digest()
    server.restart()
    assert server.digest() == before
    assert server("LATELY.INFO", "k", "clock") == YEAR_2100
