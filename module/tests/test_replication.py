"""A replica equals its primary, bit by bit, whatever happens to the link between them."""

import random
import signal
import time

import pytest
import redis
from conftest import WISHES, reserve
from servers import follow, wait_for, wait_until_equal
from streams import ask, fill


def pair(start, **settings):
    primary, replica = start(**settings), start(**settings)
    follow(replica, primary)
    return primary, replica


def test_a_replica_equals_its_primary(start, wish):
    primary, replica = pair(start)
    reserve(primary, "k", wish)
    fill(primary, "k", seed=1, count=3000)
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    # Questions may go to replicas, insertions may not.
    assert replica("LATELY.SEEN", "k", "item 1") == primary("LATELY.SEEN", "k", "item 1")
    with pytest.raises(redis.ReadOnlyError):
        replica("LATELY.ADD", "k", "x")


def test_settings_of_the_replica_do_not_matter(start):
    """What a primary accepted, its replica has: other defaults and limits notwithstanding."""
    primary, replica = pair(start)
    replica("CONFIG", "SET", "lately.default", "LAST 5 ERROR 0.5")
    replica("CONFIG", "SET", "lately.max-key-bytes", "1")
    primary("BF.ADD", "made by bf", "a")
    replica("CONFIG", "SET", "lately.default", "EVER ERROR 0.5 COUNTING CAPACITY 7 KEYED")
    reserve(primary, "ever", "EVER ERROR 0.01".split())
    reserve(primary, "within", "WITHIN 60000 ERROR 0.01".split())
    primary("LATELY.ADD", "within", "a", "b")
    primary("LATELY.ADD", "made by add", "a", "b", "a")
    reserve(primary, "keyed", "LAST 100 ERROR 0.01 KEYED".split())
    primary("LATELY.ADDNX", "keyed", "a", "b", "a")
    primary("LATELY.LOAD", "loaded", primary("LATELY.DUMP", "keyed"))
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    assert replica.client.dbsize() == 6


def test_bloom_commands_replicate_whatever_the_filter(start, wish):
    """As they came; in words of ours with the moment, if it matters and was not sent before."""
    primary, replica = pair(start)
    reserve(primary, "k", wish)
    for number in range(100):
        primary("BF.ADD", "k", f"a{number}")
        primary("BF.MADD", "k", f"b{number}", f"c{number}", f"b{number}")
        primary("BF.INSERT", "k", "NOCREATE", "ITEMS", f"d{number}", f"a{number}")
        if number % 10 == 0:
            time.sleep(0.002)
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()


def test_bloom_commands_are_sent_as_they_came_if_they_would_do_the_same(start):
    """In other words they take twice the time, even while nobody listens."""
    primary, replica = pair(start)
    bf = primary.client.bf()
    for item in range(10):
        bf.add("k", item)
    bf.madd("k", "a", "b")
    bf.insert("k", ["c", "a"], capacity=5)
    # Of what is full, only what was taken.
    bf.create("full", 0.01, 2, noScale=True)
    bf.madd("full", "a", "b", "c")
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    stats = replica.client.info("commandstats")
    calls = {name.removeprefix("cmdstat_").lower(): stat["calls"] for name, stat in stats.items()}
    assert [calls.get(name, 0) for name in ["bf.add", "bf.madd", "bf.insert"]] == [10, 1, 1]
    assert [calls[name] for name in ["lately.reserve", "lately.add"]] == [2, 1]


def test_a_script_and_a_transaction_replicate(start):
    primary, replica = pair(start)
    script = "return redis.call('LATELY.ADD', KEYS[1], unpack(ARGV))"
    assert primary("EVAL", script, 1, "k", "a", "b", "a") == [1, 1, 0]
    with primary.client.pipeline(transaction=True) as pipe:
        pipe.execute_command("LATELY.ADD", "k", "c")
        pipe.execute_command("LATELY.ADD", "l", "c")
        pipe.execute_command("LATELY.SEEN", "k", "c", "d")
        assert pipe.execute() == [[1], [1], [1, 0]]
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()


def test_refused_commands_replicate_nothing(start):
    primary, replica = pair(start)
    primary("LATELY.ADD", "k", "a")
    reserve(primary, "within", ["WITHIN", "1h"])
    before = primary.client.info("replication")["master_repl_offset"]
    for words in [
        ("LATELY.RESERVE", "k"),
        ("LATELY.RESERVE", "l", "LAST", "0"),
        ("LATELY.ADDAT", "k", "x", "a"),
        ("LATELY.ADDAT", "within", 4_102_444_800_000, "a"),
        ("LATELY.TURNBACK", "k"),
        ("LATELY.LOAD", "l", "damage"),
    ]:
        with pytest.raises(redis.ResponseError):
            primary(*words)
    # The engine pings its replicas now and then; commands would be much longer.
    assert primary.client.info("replication")["master_repl_offset"] - before < 60
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()


def mixed(primary, keys, writes, seed, step=lambda: None):
    """Writes of all kinds, 100 items at a time; `step` is called now and then."""
    draw = random.Random(seed)
    pipe = primary.client.pipeline(transaction=False)
    for number in range(writes // 100):
        key = draw.choice(keys)
        words = [b"item %d" % draw.randrange(20_000) for _ in range(100)]
        choice = draw.random()
        if choice < 0.6:
            pipe.execute_command("LATELY.ADD", key, *words)
        elif choice < 0.65 and not key.endswith(("keyed", "top")):
            pipe.execute_command("LATELY.ADDHASHES", key, draw.randbytes(800), "NX")
        elif choice < 0.85:
            pipe.execute_command("LATELY.ADDNX", key, *words)
        else:
            # Event time that jumps to and fro.
            moment = int(time.time() * 1000) + draw.randrange(-60_000, 60_000)
            pipe.execute_command("LATELY.ADDAT", key, moment, *words)
        if number % 50 == 49:
            pipe.execute()
            step()
    pipe.execute()


def one_of_each(primary):
    for name, wish in WISHES.items():
        reserve(primary, name, wish.split())
    return list(WISHES)


def test_a_million_writes_under_a_stalled_link_and_resyncs(start):
    primary, replica = pair(start, repl_backlog_size="8mb")
    keys = one_of_each(primary)
    steps = 0

    def disturb():
        nonlocal steps
        steps += 1
        if steps in (40, 100):
            # Stalled, then continued: what was sent meanwhile waits in buffers.
            replica.process.send_signal(signal.SIGSTOP)
        elif steps in (50, 110):
            replica.process.send_signal(signal.SIGCONT)
        elif steps in (60, 130):
            # Cut: the backlog is enough for a partial resync ...
            primary("CLIENT", "KILL", "TYPE", "replica")
        elif steps == 150:
            # ... and not when it is gone: a full one.
            replica("REPLICAOF", "NO", "ONE")
        elif steps == 160:
            replica("REPLICAOF", "127.0.0.1", primary.port)

    mixed(primary, keys, writes=1_000_000, seed=7, step=disturb)
    wait_for(lambda: replica.client.info("replication").get("master_link_status") == "up", 60)
    wait_until_equal(replica, primary)
    stats = primary.client.info("stats")
    assert stats["sync_partial_ok"] >= 1
    assert stats["sync_full"] >= 2
    assert replica.digest(*keys) == primary.digest(*keys)
    for key in keys:
        assert ask(replica, key, 500) == ask(primary, key, 500)


@pytest.mark.parametrize("counting", [[], ["COUNTING"]])
def test_a_clock_that_is_set_back_replicates(start, counting):
    """Also while items have yet to follow: by a snapshot then, and by commands before and after it."""
    primary, replica = pair(start)
    reserve(primary, "k", "WITHIN 3600000 ERROR 0.01 SEED 1".split(), *counting)
    draw = random.Random(5)
    moment = 1_700_000_000_000
    for number in range(20):
        primary("LATELY.ADDHASHES", "k", draw.randbytes(8 * 10_000), "AT", moment + 100_000 * number)
    moment += 2_000_000
    for turn in range(12):
        moment -= draw.randrange(1_000_000)
        assert primary("LATELY.TURNBACK", "k", moment) == moment
        if turn % 4 == 1:
            # The next thing it gets is a snapshot.
            replica("REPLICAOF", "NO", "ONE")
            replica("FLUSHALL")
            follow(replica, primary)
        for number in range(20):
            moment += draw.randrange(50_000)
            primary("LATELY.ADDAT", "k", moment, *(b"item %d" % draw.randrange(5_000) for _ in range(5)))
        wait_until_equal(replica, primary)
        assert replica.digest() == primary.digest()
        assert replica("LATELY.INFO", "k", "clock") == moment
    assert primary.client.info("stats")["sync_full"] >= 4
    assert replica("LATELY.CARD", "k", moment) == primary("LATELY.CARD", "k", moment) > 100_000


def test_a_replica_with_a_file_of_its_own(start):
    """The replica's append-only file says the same as the primary did."""
    primary = start()
    replica = start(appendonly="yes", appendfsync="always")
    follow(replica, primary)
    reserve(primary, "k", "LAST 2000 ERROR 0.001".split())
    fill(primary, "k", seed=3, count=2000)
    primary("LATELY.ADD", "made by add", "x")
    wait_until_equal(replica, primary)
    # After a full resync the file is written anew.
    wait_for(lambda: not replica.client.info("persistence")["aof_rewrite_in_progress"])
    digest = primary.digest()
    replica.kill()
    replica.start()
    assert replica.digest() == digest
