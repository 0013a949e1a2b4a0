"""What only some filters can do: forget single items, hold deadlines, tell ages."""

import random
import time

import pytest
import redis
from conftest import reserve
from servers import wait_until_equal
from test_replication import pair

MINUTE = 60_000


def now():
    return int(time.time() * 1000)


def refused(server, *words):
    with pytest.raises(redis.ResponseError) as refusal:
        server(*words)
    return str(refusal.value)


CAN_FORGET = {
    "within": "WITHIN 60000 ERROR 0.0001",
    "ever": "EVER ERROR 0.0001 REMOVING",
    "counting": "EVER ERROR 0.0001 COUNTING REMOVING CAPACITY 10000",
}


@pytest.mark.parametrize("name", sorted(CAN_FORGET))
def test_what_was_added_can_be_forgotten(server, name):
    reserve(server, "k", CAN_FORGET[name].split())
    items = [f"item {i}" for i in range(1000)]
    server("LATELY.ADD", "k", *items)
    assert server("LATELY.FORGET", "k", *items[:500]) == [1] * 500
    assert server("LATELY.SEEN", "k", *items) == [0] * 500 + [1] * 500
    assert server("LATELY.FORGET", "k", items[0], items[999], "never") == [0, 1, 0]
    assert server("LATELY.ADD", "k", items[0], items[1]) == [1, 1]


def test_forgetting_takes_back_one_sighting_of_those_that_count(server):
    reserve(server, "k", CAN_FORGET["counting"].split())
    server("LATELY.INCRBY", "k", "a", 3)
    assert server("LATELY.FORGET", "k", "a", "a") == [1, 1]
    assert server("LATELY.COUNT", "k", "a") == [1]


def test_what_has_left_the_window_is_not_there_to_be_forgotten(server):
    reserve(server, "k", "WITHIN 60000 ERROR 0.0001".split())
    server("LATELY.ADDAT", "k", now() - 5 * MINUTE, "long ago")
    assert server("LATELY.FORGET", "k", "long ago") == [0]
    assert server("LATELY.FORGET", "missing", "a", "b") == [0, 0]


@pytest.mark.parametrize("wish", ["LAST 100", "EVER"])
def test_who_cannot_forget_says_who_can(server, wish):
    reserve(server, "k", wish.split())
    server("LATELY.ADD", "k", "a")
    before = server.digest("k")
    refusal = refused(server, "LATELY.FORGET", "k", "a")
    assert "cannot forget single items" in refusal and "REMOVING" in refusal
    assert server.digest("k") == before


def test_a_deadline_ends_a_stay_early(server):
    reserve(server, "k", "WITHIN 60000 ERROR 0.0001".split())
    start = now()
    assert server("LATELY.ADDUNTILAT", "k", start, start + 10_000, "short", "brief") == [1, 1]
    assert server("LATELY.ADDUNTILAT", "k", start, start + 10 * MINUTE, "long") == [1]
    assert server("LATELY.ADDUNTILAT", "k", start, start - 1, "over") == [1]
    seen = lambda after, *items: server("LATELY.SEENAT", "k", start + after, *items)
    assert seen(0, "short", "brief", "long", "over") == [1, 1, 1, 0]
    assert seen(10_000, "short", "brief", "long") == [1, 1, 1]
    # The slack after the deadline, then it is gone; and no deadline outlives the window.
    assert seen(20_000, "short", "brief", "long") == [0, 0, 1]
    assert seen(60_000, "long") == [1] and seen(75_000, "long") == [0]
    # Of two deadlines the later holds.
    server("LATELY.ADDUNTILAT", "k", start, start + 40_000, "short")
    server("LATELY.ADDUNTILAT", "k", start, start + 5_000, "short")
    assert seen(40_000, "short") == [1]


def test_a_deadline_from_now_on(server):
    reserve(server, "k", "WITHIN 60000 ERROR 0.0001".split())
    assert server("LATELY.ADDUNTIL", "k", now() + 30_000, "a", "a") == [1, 0]
    assert server("LATELY.SEEN", "k", "a") == [1]
    assert server("LATELY.CARD", "k") == 1
    assert "the deadline must be milliseconds" in refused(server, "LATELY.ADDUNTIL", "k", "soon", "a")
    assert "ahead" in refused(server, "LATELY.ADDUNTILAT", "k", now() + 1000 * MINUTE, 5, "a")


@pytest.mark.parametrize(
    "wish, why",
    [
        ("LAST 100", "a window by count knows no deadlines: reserve one by time"),
        ("EVER", "a filter for ever knows no deadlines: reserve a window by time"),
        ("WITHIN 60000 COUNTING", "this structure knows no deadlines"),
    ],
)
def test_who_knows_no_deadlines_says_who_does(server, wish, why):
    reserve(server, "k", wish.split())
    before = server.digest("k")
    assert why in refused(server, "LATELY.ADDUNTIL", "k", now() + 1000, "a")
    assert server.digest("k") == before
    # The default is a window by count: what is refused leaves no key.
    assert "by count" in refused(server, "LATELY.ADDUNTIL", "missing", now() + 1000, "a")
    assert server("EXISTS", "missing") == 0


def test_ages_by_time(server):
    reserve(server, "k", "WITHIN 60000 ERROR 0.0001".split())
    start = now() - 30_000
    server("LATELY.ADDAT", "k", start, "a")
    server("LATELY.ADDAT", "k", start + 20_000, "b")
    a, b, c = server("LATELY.AGEAT", "k", start + 30_000, "a", "b", "c")
    assert a[0] <= 30_000 <= a[1] and b[0] <= 10_000 <= b[1] and c is None
    assert a[1] - a[0] <= 60_000 // 7 + 1
    (least, most), none = server("LATELY.AGE", "k", "a", "c")
    assert least <= 31_000 and most >= 30_000 and none is None
    assert server("LATELY.AGE", "missing", "a", "b") == [None, None]


def test_ages_by_count(server):
    reserve(server, "k", "LAST 1000 ERROR 0.0001".split())
    server("LATELY.ADD", "k", *range(500))
    oldest, newest, never = server("LATELY.AGE", "k", 0, 499, "never")
    assert oldest[0] <= 499 <= oldest[1] and newest[0] == 0 and never is None


@pytest.mark.parametrize("wish", ["EVER", "LAST 100 STRUCTURE double-buffer"])
def test_who_knows_no_ages_says_who_does(server, wish):
    reserve(server, "k", wish.split())
    assert "does not know how long ago" in refused(server, "LATELY.AGE", "k", "a")


def test_windows_cannot_be_merged(server):
    for key in ["a", "b"]:
        reserve(server, key, "WITHIN 60000 ERROR 0.001 SEED 7".split())
    refusal = refused(server, "LATELY.MERGE", "a", "b")
    assert "only counts can be merged" in refusal and "COUNTING" in refusal


def test_bounded_memory_keeps_the_window_and_tells_its_error(server):
    """A hundred times as many as fit: nothing is forgotten, and the error is as it is told."""
    reserve(server, "k", "WITHIN 3600000 MEMORY 100kb".split())
    draw = random.Random(3)
    told = lambda field: server("LATELY.INFO", "k", field)
    first = draw.randbytes(8000)
    server("LATELY.ADDHASHES", "k", first)
    assert told("exceeds-promise") == 0
    assert f"at most {percent(told('false-positives'))} of unseen" in told("promise").decode()
    for _ in range(400):
        server("LATELY.ADDHASHES", "k", draw.randbytes(80_000))
        # Allocators round up, and a segment comes on top.
        assert told("bytes") < 150_000
    assert told("exceeds-promise") == 1
    assert server("LATELY.SEENHASHES", "k", first) == b"1" * 1000
    found = server("LATELY.SEENHASHES", "k", draw.randbytes(80_000)).count(b"1") / 10_000
    # Six standard deviations of a share of 10,000, at most.
    assert abs(found - float(told("false-positives-now"))) < 0.03
    # What it says of itself is what it keeps now, not what was planned.
    assert float(told("false-positives")) < 0.5 * found
    assert f"at most {percent(told('false-positives-now'))} of unseen" in told("promise").decode()


def test_a_window_that_shortens_keeps_its_error_and_tells_how_short_it_is(server):
    """A hundred times as many as fit, in eight seconds of an hour: what is told of the window is remembered, no more is taken."""
    hour, begin = 3_600_000, 1_000_000_000_000
    reserve(server, "k", f"WITHIN {hour} ERROR 0.01 SHORTENAT 100kb".split())
    draw = random.Random(4)
    told = lambda field: server("LATELY.INFO", "k", field)
    assert (told("remembers"), told("remembered-least"), told("extent")) == (hour, hour, hour)
    batches = [draw.randbytes(80_000) for _ in range(400)]
    for at, batch in enumerate(batches):
        server("LATELY.ADDHASHES", "k", batch, "AT", begin + 20 * at)
        # Allocators round up, and a segment comes on top.
        assert told("bytes") < 150_000
    least = told("remembered-least")
    # 40,000 fit: those of four batches, each of 20 ms.
    assert least < 200
    seen = lambda batch: server("LATELY.SEENHASHES", "k", batch, "AT", begin + 20 * 399).count(b"1")
    assert seen(batches[-1]) == 10_000
    assert seen(batches[0]) < 300
    assert float(told("false-positives-now")) <= float(told("false-positives"))
    assert told("exceeds-promise") == 0
    # By the server's clock the flood is long ago, and the window is whole again.
    assert told("remembers") == hour and "the last 60m" in told("promise").decode()
    assert "memory to shorten at" in refused(server, "LATELY.RESERVE", "l", *"LAST 5 ERROR 0.1 SHORTENAT 1mb".split())
    assert "allow 128.0KiB" in refused(server, "LATELY.RESERVE", "l", *"WITHIN 5 ERROR 0.1 SHORTENAT 65535".split())


def percent(rate):
    """As promises have it: four digits."""
    return f"{float(f'{100 * float(rate):.4g}'):g}%"


def every_ability(server):
    """Commands of all kinds, at moments of the server's clock and of the client's."""
    for name, wish in CAN_FORGET.items():
        reserve(server, name, wish.split())
    for turn in range(200):
        for name in CAN_FORGET:
            server("LATELY.ADD", name, *range(10 * turn, 10 * turn + 10))
            server("LATELY.FORGET", name, *range(10 * turn, 10 * turn + 5), "never")
        server("LATELY.ADDUNTIL", "within", now() + 1000 * (turn % 60), f"deadline {turn}", "b")
        server("LATELY.ADDUNTILAT", "within", now() - turn, now() + turn, f"at {turn}")
        server("LATELY.EXPIRE", "within")


def test_they_replicate(start):
    primary, replica = pair(start)
    every_ability(primary)
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()


def test_they_are_in_the_append_only_file(start):
    server = start(appendonly="yes", appendfsync="always")
    every_ability(server)
    # Both at one moment: the keeper may be at work in between.
    with server.client.pipeline(transaction=True) as pipe:
        pipe.execute_command("DEBUG", "DIGEST-VALUE", *CAN_FORGET)
        pipe.execute_command("CONFIG", "SET", "appendonly", "no")
        digest, _ = pipe.execute()
    server.kill()
    server.start()
    assert server.digest(*CAN_FORGET) == digest


def test_forgetting_needs_no_memory(server):
    reserve(server, "k", "WITHIN 60000".split())
    server("LATELY.ADD", "k", "a", "b")
    server("CONFIG", "SET", "maxmemory", "1")
    try:
        assert "used memory" in refused(server, "LATELY.ADD", "k", "c")
        assert server("LATELY.FORGET", "k", "a") == [1]
        assert server("LATELY.EXPIRE", "k") in (0, 1)
    finally:
        server("CONFIG", "SET", "maxmemory", "0")


def test_their_flags_and_keys(server):
    for name, arity, flag in [
        ("lately.forget", -3, b"write"),
        ("lately.adduntil", -4, b"write"),
        ("lately.adduntilat", -5, b"write"),
        ("lately.age", -3, b"readonly"),
        ("lately.ageat", -4, b"readonly"),
        ("lately.expire", -2, b"write"),
    ]:
        ((_, found, flags, first, last, step, *_),) = server.raw("COMMAND", "INFO", name)
        assert (found, first, last, step) == (arity, 1, 1, 1), name
        assert flag in flags, name
        words = ["5"] * (abs(arity) - 2)
        assert server.raw("COMMAND", "GETKEYS", name, "key", *words) == [b"key"], name
    server("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@read", "+lately.age")
    client = server.connect(username="reader", password="x")
    client.execute_command("LATELY.AGE", "missing", "a")
    with pytest.raises(redis.exceptions.NoPermissionError):
        client.execute_command("LATELY.FORGET", "missing", "a")
    client.close()
    server("ACL", "DELUSER", "reader")
