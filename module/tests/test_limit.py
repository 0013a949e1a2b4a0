"""LATELY.LIMIT: at most so many per window, in one step; what is denied is not counted and not sent."""

import time

import pytest
import redis
from conftest import reserve
from servers import wait_until_equal
from test_abilities import now, refused
from test_replication import pair

WINDOW = "WITHIN 60000 ERROR 0.0001 COUNTING".split()


def test_as_many_pass_as_may(server):
    reserve(server, "k", WINDOW)
    start = now() - 30_000
    for turn in range(1, 6):
        assert server("LATELY.LIMITAT", "k", start, "a b", 5) == [1, turn, 5 - turn, 0, turn - 1]
    allowed, count, left, wait, surely = server("LATELY.LIMITAT", "k", start, "a b", 5)
    assert (allowed, count, left, surely) == (0, 5, 0, 5)
    assert 60_000 < wait <= 60_000 + 60_000 // 7 + 1
    # After that wait, all of them may pass again; a millisecond before, none.
    assert server("LATELY.COUNTAT", "k", start + wait - 1, "a b") == [5]
    assert server("LATELY.COUNTAT", "k", start + wait, "a b") == [0]
    assert server("LATELY.LIMIT", "k", "other", 5)[0] == 1


def test_several_at_once_are_all_or_none(server):
    reserve(server, "k", WINDOW)
    assert server("LATELY.LIMIT", "k", "a", 10, "BY", 7) == [1, 7, 3, 0, 0]
    assert server("LATELY.LIMIT", "k", "a", 10, "by", 4)[:3] == [0, 7, 3]
    assert server("LATELY.LIMIT", "k", "a", 10, "BY", 3)[:3] == [1, 10, 0]
    # What can never pass need not wait.
    assert server("LATELY.LIMIT", "k", "a", 10, "BY", 11)[3] == -1
    assert server("LATELY.LIMIT", "k", "b", 0)[:3] == [0, 0, 0]


@pytest.mark.parametrize("wish", ["LAST 1000 COUNTING", "LAST 1000 SLACK 0 COUNTING", "EVER COUNTING"])
def test_other_windows_have_limits_too(server, wish):
    reserve(server, "k", wish.split())
    assert [server("LATELY.LIMIT", "k", "a", 2)[0] for _ in range(4)] == [1, 1, 0, 0]
    assert server("LATELY.COUNT", "k", "a") == [2]


def test_a_flood_costs_nothing(server):
    reserve(server, "k", WINDOW)
    for _ in range(5):
        server("LATELY.LIMIT", "k", "a", 5)
    before, digest = server("LATELY.INFO", "k", "bytes"), server.digest("k")
    pipeline = server.client.pipeline(transaction=False)
    for _ in range(10_000):
        pipeline.execute_command("LATELY.LIMIT", "k", "a", 5)
    assert sum(told[0] for told in pipeline.execute()) == 0
    assert server("LATELY.INFO", "k", "bytes") == before
    assert server.digest("k") == digest


def test_a_replica_counts_what_passed(start):
    primary, replica = pair(start)
    reserve(primary, "k", WINDOW)
    reserve(primary, "last", "LAST 100 COUNTING".split())
    passed = 0
    for turn in range(300):
        passed += primary("LATELY.LIMIT", "k", f"subject {turn % 20}", 5)[0]
        primary("LATELY.LIMITAT", "k", now(), f"\x00 {turn % 7}", 9, "BY", 2)
        primary("LATELY.LIMIT", "last", turn % 40, 3)
        if turn % 50 == 0:
            time.sleep(0.005)
    assert passed == 100
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    before = primary.client.info("replication")["master_repl_offset"]
    assert primary("LATELY.LIMIT", "k", "subject 1", 5)[0] == 0
    sent = primary.client.info("replication")["master_repl_offset"] - before
    assert sent < 200, "what is denied is not sent"
    with pytest.raises(redis.ReadOnlyError):
        replica("LATELY.LIMIT", "k", "a", 5)


def test_counts_by_time_survive_a_restart(start):
    server = start(appendonly="yes")
    reserve(server, "k", WINDOW)
    for turn in range(50):
        server("LATELY.LIMIT", "k", turn % 5, 4)
    server("LATELY.INCRBY", "k", "many", 1_000_000)
    digest = server.digest("k")
    server.restart()
    assert server.digest("k") == digest
    assert server("LATELY.COUNT", "k", "many", 1) == [1_000_000, 4]


def test_nonsense_is_refused(server):
    assert "no such key" in refused(server, "LATELY.LIMIT", "missing", "a", 5)
    assert server("EXISTS", "missing") == 0
    reserve(server, "set", "WITHIN 60000 ERROR 0.01".split())
    assert "COUNTING" in refused(server, "LATELY.LIMIT", "set", "a", 5)
    reserve(server, "k", WINDOW)
    assert "whole number" in refused(server, "LATELY.LIMIT", "k", "a", "x")
    assert "whole number" in refused(server, "LATELY.LIMIT", "k", "a", 5, "BY", 0)
    assert "at most 2^63" in refused(server, "LATELY.LIMIT", "k", "a", 5, "BY", 2**64 - 1)
    assert "there is BY" in refused(server, "LATELY.LIMIT", "k", "a", 5, "PER", 3)
    assert "wrong number" in refused(server, "LATELY.LIMIT", "k", "a", 5, "BY")
    assert "ahead" in refused(server, "LATELY.LIMITAT", "k", now() + 10**9, "a", 5)
    assert server("LATELY.COUNT", "k", "a") == [0]
