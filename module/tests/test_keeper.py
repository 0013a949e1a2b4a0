"""Windows by time give memory back while nobody uses them, on the primary, its replicas and in files alike."""

import random
import time

import pytest
from conftest import reserve
from servers import follow, wait_for, wait_until_equal

IDLE = {"lately.expire-idle": "yes"}


@pytest.fixture
def server(server):
    server.client.config_set(*next(iter(IDLE.items())))
    yield server
    server.client.config_set("lately.expire-idle", "no")


def now():
    return int(time.time() * 1000)


def bytes_of(server, key):
    return server("LATELY.INFO", key, "bytes")


def expiries(server):
    """How often the server was told to give memory back."""
    stats = server.client.info("commandstats")
    return sum(stat["calls"] for name, stat in stats.items() if name.lower().endswith("lately.expire"))


def burst(server, key, items, start=0):
    for first in range(start, start + items, 1000):
        server("LATELY.ADD", key, *range(first, first + 1000))


def filled(server, key="k", span=1500, items=100_000):
    """A filter after a burst, and its bytes."""
    reserve(server, key, ["WITHIN", span])
    burst(server, key, items)
    return bytes_of(server, key)


def test_memory_comes_back_while_nobody_asks(server):
    full = filled(server)
    used = server.client.info("memory")["used_memory"]
    # Nothing touches the key: its own bytes are the server's to tell.
    total = lambda: server.client.info("lately")["lately_filter_bytes"]
    wait_for(lambda: total() < full / 20)
    assert server.client.info("memory")["used_memory"] < used - full / 2
    wait_for(lambda: not any(server("LATELY.SEEN", "k", *range(1000))))
    # And then it rests: not even its clock goes on.
    clock = lambda: server("LATELY.INFO", "k", "clock")
    wait_for(lambda: clock() < now() - 1000)


def test_what_is_in_the_window_stays(server):
    reserve(server, "k", ["WITHIN", 20_000, "ERROR", "0.0001"])
    burst(server, "k", 20_000)
    # Looked after several times, after a part of the window each.
    time.sleep(2)
    assert server("LATELY.SEEN", "k", *range(20_000)) == [1] * 20_000


def test_a_filter_in_another_time_is_left_there(server):
    """Told moments by its clients, it is not for the server to say how late it is."""
    reserve(server, "k", ["WITHIN", 1000])
    then = now() - 100_000
    server("LATELY.ADDAT", "k", then, *range(1000))
    time.sleep(1.5)
    assert server("LATELY.INFO", "k", "clock") == then
    assert server("LATELY.SEENAT", "k", then + 500, *range(1000)) == [1] * 1000
    # What has left by its own clock is given back.
    full = bytes_of(server, "k")
    server("LATELY.ADDAT", "k", then + 10_000, "a")
    wait_for(lambda: bytes_of(server, "k") < full / 2)


def test_nobody_notices(server):
    """Neither who watches a key, nor who wants to know what was used last."""
    reserve(server, "k", ["WITHIN", 800])
    burst(server, "k", 20_000)
    with server.client.pipeline(transaction=True) as pipe:
        pipe.watch("k")
        wait_for(lambda: server.client.info("lately")["lately_filter_bytes"] < 20_000)
        pipe.multi()
        pipe.ping()
        assert pipe.execute() == [True]
    time.sleep(1.2)
    assert server("OBJECT", "IDLETIME", "k") >= 1


def test_filters_that_came_another_way_are_found(start):
    """Loaded, renamed, copied, moved, restored: by a walk through all keys."""
    server = start(save="3600 1", **IDLE)
    full = filled(server, "old", span=2500)
    server("RENAME", "old", "renamed")
    server("COPY", "renamed", "copied", "DB", 3)
    filled(server, "moving", span=2500)
    server("MOVE", "moving", 2)
    server("RESTORE", "restored", 0, server("DUMP", "renamed"))
    for i in range(1000):
        server("SET", f"other {i}", i)
    # A restored one follows whose clock nobody knows, until it is used.
    server("LATELY.ADD", "restored", "a")
    total = lambda: server.client.info("lately")["lately_filter_bytes"]
    wait_for(lambda: total() < full / 4, seconds=60)
    assert server.client.info("lately")["lately_timed_filters"] == 4
    server.restart("SAVE")
    burst(server, "renamed", 50_000)
    wait_for(lambda: bytes_of(server, "renamed") < full / 10, seconds=60)


def test_replicas_and_files_do_the_same(start):
    """Writes with swings of the rate, idle times, and a resynchronization in the middle."""
    primary = start(appendonly="yes", appendfsync="everysec", repl_backlog_size="1mb", **IDLE)
    replica = start(appendonly="yes", **IDLE)
    follow(replica, primary)
    spans = {"short": 400, "long": 1500, "forgetful": 800}
    for key, span in spans.items():
        reserve(primary, key, ["WITHIN", span, "ERROR", "0.01"])
    draw = random.Random(9)
    for swing in range(1, 36):
        # A lull, a trickle, a burst.
        count = [0, 1_000, 20_000][swing % 3]
        for _ in range(count // 500):
            key = draw.choice(list(spans))
            words = [draw.randrange(1 << 40) for _ in range(500)]
            if draw.random() < 0.1:
                primary("LATELY.ADDUNTIL", key, now() + draw.randrange(2000), *words)
            else:
                primary("LATELY.ADD", key, *words)
            if key == "forgetful":
                primary("LATELY.FORGET", key, *words[:50])
        if count == 0:
            time.sleep(draw.choice([0.1, 0.5, 0.9]))
        if swing == 20:
            replica("REPLICAOF", "NO", "ONE")
        if swing == 23:
            follow(replica, primary)
    assert expiries(primary) == 0, "the primary's timer needs no command"
    # Until all rest, with hardly more than empty filters take.
    total = lambda server: server.client.info("lately")["lately_filter_bytes"]
    wait_for(lambda: total(primary) < 40_000, seconds=60)
    resting = lambda: primary.client.info("replication")["master_repl_offset"]
    wait_for(lambda: (resting(), time.sleep(1))[0] == resting(), seconds=60)
    wait_until_equal(replica, primary)
    assert expiries(replica) > 10
    digest = primary.digest(*spans)
    assert replica.digest(*spans) == digest
    assert abs(total(replica) - total(primary)) < 10_000
    primary.shutdown("NOSAVE")
    primary.start()
    assert primary.digest(*spans) == digest


def test_it_is_a_setting(server):
    server.client.config_set("lately.expire-idle", "no")
    full = filled(server, span=500)
    time.sleep(1.5)
    assert bytes_of(server, "k") == full
    server.client.config_set("lately.expire-idle", "yes")
    wait_for(lambda: bytes_of(server, "k") < full / 10)


def test_a_replica_that_is_promoted_takes_over(start):
    primary, replica = start(**IDLE), start(**IDLE)
    follow(replica, primary)
    full = filled(primary)
    wait_until_equal(replica, primary)
    replica("REPLICAOF", "NO", "ONE")
    burst(replica, "k", 50_000)
    wait_for(lambda: bytes_of(replica, "k") < full / 10)
