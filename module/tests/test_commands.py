"""What each command of the family answers."""

import time

import pytest
import redis
from conftest import reserve


def refused(server, *words):
    with pytest.raises(redis.ResponseError) as refusal:
        server(*words)
    return str(refusal.value)


def test_add_says_what_is_new(server, wish):
    reserve(server, "k", wish)
    assert server("LATELY.ADD", "k", "a", "b", "a") == [1, 1, 0]
    assert server("LATELY.ADD", "k", "a") == [0]
    assert server("LATELY.SEEN", "k", "a", "b", "c") == [1, 1, 0]
    assert server("LATELY.ADDNX", "k", "a", "c") == [0, 1]
    info = server("LATELY.INFO", "k")
    fields = dict(zip(info[::2], info[1::2]))
    assert (fields[b"inserted"], fields[b"new"]) == (6, 3)


@pytest.mark.parametrize(
    "wish",
    [
        "LAST 1000 ERROR 0.0001 STRUCTURE sliding",
        "LAST 1000 ERROR 0.0001 COUNTING",
        "LAST 1000 ERROR 0.0001 STRUCTURE exact-window",
    ],
)
def test_the_number_of_items_is_that_of_the_window(server, wish):
    reserve(server, "k", wish.split())
    assert server("LATELY.CARD", "k") == 0
    server("LATELY.ADD", "k", *range(300), *range(300))
    assert 290 <= server("LATELY.CARD", "k") <= 310
    # Five windows of different ones, then one of hardly any: what left does not count.
    server("LATELY.ADD", "k", *range(5000))
    assert 950 <= server("LATELY.CARD", "k") <= 1050
    server("LATELY.ADD", "k", *[i % 50 for i in range(5000)])
    assert 45 <= server("LATELY.CARD", "k") <= 55
    assert server("LATELY.INFO", "k", "new") >= 4900


def test_the_number_of_items_of_a_window_by_time(server):
    reserve(server, "k", "WITHIN 60000 ERROR 0.001".split())
    now = int(time.time() * 1000)
    server("LATELY.ADDAT", "k", now - 200_000, *range(2000))
    server("LATELY.ADDAT", "k", now - 1000, *range(2000, 2500))
    assert 480 <= server("LATELY.CARD", "k") <= 520
    # Sixty thousand come in many segments, of which some are asked.
    server("LATELY.ADDAT", "k", now, *range(60_000))
    assert 58_000 <= server("LATELY.CARD", "k") <= 62_000
    server("LATELY.FORGET", "k", *range(30_000))
    assert 29_000 <= server("LATELY.CARD", "k") <= 31_000


@pytest.mark.parametrize("more", ["", "COUNTING"])
def test_the_number_of_items_ever(server, more):
    reserve(server, "k", f"EVER ERROR 0.001 {more}".split())
    server("LATELY.ADD", "k", *range(1000), *range(1000))
    assert 985 <= server("LATELY.CARD", "k") <= 1000


@pytest.mark.parametrize("wish", ["LAST 1000 ERROR 0.01 STRUCTURE double-buffer", "EVER ERROR 0.01 REMOVING"])
def test_who_does_not_know_the_number_says_so(server, wish):
    reserve(server, "k", wish.split())
    server("LATELY.ADD", "k", *range(5000))
    refusal = refused(server, "LATELY.CARD", "k")
    assert "does not know how many different items" in refusal and "`new`" in refusal


def test_structures_of_papers_are_elsewhere(server):
    refusal = refused(server, "LATELY.RESERVE", "k", "LAST", 100, "STRUCTURE", "cuckoo")
    assert "structure of a paper" in refusal and "the command `lately`" in refusal


def test_one_item_is_answered_alike_by_every_way(server):
    """Answers of one item are kept ready, and so come another way than those of many."""
    script = "return {redis.call('LATELY.ADD', KEYS[1], 'a'), redis.call('LATELY.SEEN', KEYS[1], 'b')}"
    for name, client in [("two", server.client), ("three", server.connect(protocol=3))]:
        run = client.execute_command
        assert [run("LATELY.ADD", name, "x") for _ in range(2)] == [[1], [0]]
        assert [run("LATELY.SEEN", name, item) for item in ("x", "y")] == [[1], [0]]
        with client.pipeline(transaction=True) as pipe:
            for item in ["m", "m", "n"]:
                pipe.execute_command("LATELY.ADD", name, item)
            assert pipe.execute() == [[1], [0], [1]]
        assert run("EVAL", script, 1, name) == [[1], [0]]
        assert run("EVAL", script, 1, name) == [[0], [0]]
    assert len(server("LATELY.HELP")) > 20


def test_items_are_bytes(server):
    items = [b"", b"\0", b"\xff\xfe", b"AT", b"ITEMS", b"x" * 100_000]
    assert server("LATELY.ADD", "k", *items) == [1] * len(items)
    assert server("LATELY.SEEN", "k", *items) == [1] * len(items)


def test_a_count_window_forgets(server):
    reserve(server, "k", "LAST 10 ERROR 0.0001 SLACK 10".split())
    server("LATELY.ADD", "k", "first")
    server("LATELY.ADD", "k", *(f"other {i}" for i in range(20)))
    assert server("LATELY.SEEN", "k", "first", "other 19") == [0, 1]


def test_a_time_window_follows_the_moments_it_is_told(server):
    reserve(server, "k", "WITHIN 1000 ERROR 0.0001".split())
    assert server("LATELY.ADDAT", "k", 10_000, "a", "b") == [1, 1]
    assert server("LATELY.SEENAT", "k", 10_900, "a") == [1]
    assert server("LATELY.ADDAT", "k", 10_900, "a") == [0]
    assert server("LATELY.SEENAT", "k", 11_800, "a") == [1]
    assert server("LATELY.SEENAT", "k", 20_000, "a", "b") == [0, 0]


def test_addnx_passes_once_per_window(server):
    reserve(server, "k", "WITHIN 1000 ERROR 0.0001".split())
    passed = [t for t in range(10_000, 20_000, 100) if server("LATELY.ADDNXAT", "k", t, "a") == [1]]
    assert passed[0] == 10_000
    gaps = [later - earlier for earlier, later in zip(passed, passed[1:])]
    assert gaps and all(1000 <= gap <= 2200 for gap in gaps)


def test_missing_keys_hold_nothing(server):
    assert server("LATELY.SEEN", "nothing", "a", "b") == [0, 0]
    assert server("LATELY.COUNT", "nothing", "a") == [0]
    assert server("LATELY.CARD", "nothing") == 0
    assert refused(server, "LATELY.INFO", "nothing") == "no such key"
    assert refused(server, "LATELY.DUMP", "nothing") == "no such key"
    assert server("EXISTS", "nothing") == 0


def test_add_makes_a_key_as_configured(server):
    server("LATELY.ADD", "k", "a")
    assert server("TYPE", "k") == b"lately-rs"
    assert server("LATELY.INFO", "k", "window") == b"last"
    assert server("LATELY.INFO", "k", "extent") == 100_000
    server.client.config_set("lately.default", "LAST 50 ERROR 1%")
    try:
        server("LATELY.ADD", "l", "a")
        assert server("LATELY.INFO", "l", "extent") == 50
        server("LATELY.RESERVE", "m", "ERROR", "0.5")
        assert server("LATELY.INFO", "m", "extent") == 50
    finally:
        server.client.config_set("lately.default", "LAST 100000 ERROR 0.001")


def test_hashes_are_items_hashed_by_the_client(server, wish):
    """XXH3 of nothing under seed 0 is known: its hash and the empty item are the same."""
    if "KEYED" in wish:
        reserve(server, "k", wish)
        assert "keyed" in refused(server, "LATELY.ADDHASHES", "k", bytes(8))
        assert "keyed" in refused(server, "LATELY.SEENHASHES", "k", bytes(8))
        return
    reserve(server, "k", wish, "SEED", 0)
    assert server("LATELY.INFO", "k", "seed") == b"0"
    if "TOP" in wish:
        assert "items themselves" in refused(server, "LATELY.ADDHASHES", "k", bytes(8))
        return
    nothing = 0x2D06800538D394C2.to_bytes(8, "little")
    others = b"".join(hash.to_bytes(8, "big") for hash in range(1, 100))
    assert server("LATELY.ADDHASHES", "k", nothing + others + nothing) == b"1" * 100 + b"0"
    assert server("LATELY.SEEN", "k", "") == [1]
    unknown = b"unknown!"
    assert server("LATELY.SEENHASHES", "k", unknown + nothing + others) == b"0" + b"1" * 100
    assert server("LATELY.SEENHASHES", "k", unknown) == b"0", "asking changes nothing"
    assert server("LATELY.SEENHASHES", "k", nothing, "at", server("TIME")[0] * 1000) == b"1"
    assert server("LATELY.SEENHASHES", "k", b"") == b""
    assert "8 bytes" in refused(server, "LATELY.SEENHASHES", "k", b"1234567")
    assert "no such key" in refused(server, "LATELY.SEENHASHES", "missing", nothing)
    assert "wrong number" in refused(server, "LATELY.SEENHASHES", "k", nothing, "NX")
    assert server("LATELY.ADDHASHES", "k", nothing, "NX", "AT", 5) == b"0"
    assert server("LATELY.ADDHASHES", "k", b"") == b""
    assert "8 bytes" in refused(server, "LATELY.ADDHASHES", "k", b"1234567")
    assert "no such key" in refused(server, "LATELY.ADDHASHES", "missing", nothing)
    assert "milliseconds" in refused(server, "LATELY.ADDHASHES", "k", nothing, "AT")


def test_counting(server):
    reserve(server, "k", "EVER ERROR 0.01 COUNTING CAPACITY 1000".split())
    assert server("LATELY.INCRBY", "k", "a", 3, "b", 1) == [3, 1]
    assert server("LATELY.ADD", "k", "a", "c") == [0, 1]
    assert server("LATELY.COUNT", "k", "a", "b", "c", "d") == [4, 1, 1, 0]
    assert server("LATELY.INCRBYAT", "k", 5, "a", 2) == [6]
    assert server("LATELY.INCRBY", "new", "a", 2) == [2]


def test_merge_adds_counts(server):
    wish = "EVER ERROR 0.001 COUNTING CAPACITY 1000 SEED 7".split()
    for key in ["a{t}", "b{t}"]:
        reserve(server, key, wish)
    server("LATELY.INCRBY", "a{t}", "x", 3, "y", 1)
    server("LATELY.INCRBY", "b{t}", "x", 4, "z", 1)
    assert server("LATELY.MERGE", "both{t}", "a{t}", "b{t}") == b"OK"
    assert server("LATELY.COUNT", "both{t}", "x", "y", "z", "w") == [7, 1, 1, 0]
    assert server("LATELY.MERGE", "a{t}", "b{t}", "b{t}") == b"OK"
    assert server("LATELY.COUNT", "a{t}", "x", "y", "z") == [11, 1, 2]
    assert server("LATELY.COUNT", "b{t}", "x") == [4]
    server("LATELY.ADD", "window", "x")
    digest = server.digest()
    reserve(server, "seed", [*wish[:-1], "8"])
    assert "no such key" in refused(server, "LATELY.MERGE", "a{t}", "nothing")
    assert "COUNTING" in refused(server, "LATELY.MERGE", "new", "window", "window")
    assert "SEED" in refused(server, "LATELY.MERGE", "a{t}", "b{t}", "seed")
    server("DEL", "seed")
    assert server.digest() == digest
    assert server.raw("COMMAND", "GETKEYS", "LATELY.MERGE", "a", "b", "c") == [b"a", b"b", b"c"]


def test_counting_needs_a_counting_filter(server):
    server("LATELY.ADD", "k", "a")
    assert "COUNTING" in refused(server, "LATELY.COUNT", "k", "a")
    assert "COUNTING" in refused(server, "LATELY.INCRBY", "k", "a", 1)
    assert server("LATELY.CARD", "k") == 1


def test_refusals_say_what_to_do(server):
    server("SET", "text", "x")
    for command in ["ADD", "SEEN", "ADDNX", "COUNT"]:
        assert "WRONGTYPE" in refused(server, f"LATELY.{command}", "text", "a")
    for command in ["INFO", "CARD", "DUMP"]:
        assert "WRONGTYPE" in refused(server, f"LATELY.{command}", "text")
    assert server("GET", "text") == b"x"
    server("LATELY.ADD", "k", "a")
    assert "already exists" in refused(server, "LATELY.RESERVE", "k", "LAST", 5)
    assert "already exists" in refused(server, "LATELY.RESERVE", "text", "LAST", 5)
    assert "from 1 to 2^48" in refused(server, "LATELY.RESERVE", "n", "LAST", 10**16)
    exact = ("LAST", 10**13, "STRUCTURE", "exact-window")
    assert "this machine has" in refused(server, "LATELY.RESERVE", "n", *exact)
    assert "unknown option" in refused(server, "LATELY.RESERVE", "n", "FIRST", 5)
    assert "choose one of" in refused(server, "LATELY.RESERVE", "n", "STRUCTURE", "none")
    assert "needs a value" in refused(server, "LATELY.RESERVE", "n", "LAST")
    assert "milliseconds" in refused(server, "LATELY.ADDAT", "k", "soon", "a")
    assert "structure, promise" in refused(server, "LATELY.INFO", "k", "nothing")
    assert "wrong number" in refused(server, "LATELY.ADD", "k")
    assert "wrong number" in refused(server, "LATELY.INCRBY", "k", "a")
    assert "wrong number" in refused(server, "LATELY.INFO", "k", "bytes", "bytes")
    assert server("EXISTS", "n") == 0


def test_what_starts_small_is_made_however_large_it_may_become(server):
    """More than any machine has, one day: no reason to refuse it today, whatever the allocator."""
    server("LATELY.RESERVE", "last", "LAST", 10**13)
    server("BF.RESERVE", "ever", "0.01", 2**30)
    for key in ["last", "ever"]:
        assert server("LATELY.ADD", key, "a", "b", "a") == [1, 1, 0]
        assert server("MEMORY", "USAGE", key) < 20_000


def test_plan_prices_structures_and_promises(server):
    plans = server("LATELY.PLAN", "LAST", "1e6", "ERROR", "0.1%")
    plans = [dict(zip(plan[::2], plan[1::2])) for plan in plans]
    assert all(float(plan[b"false-positives"]) <= 0.001 for plan in plans)
    assert plans[0][b"bytes"] <= 1e6 * 36 / 8
    server("LATELY.RESERVE", "k", "LAST", "1e6", "ERROR", "0.1%")
    assert server("LATELY.INFO", "k", "structure") == plans[0][b"structure"]
    # Allocators round up.
    assert 1 <= server("MEMORY", "USAGE", "k") / plans[0][b"bytes"] < 1.25


def test_resp3_has_maps_and_numbers(server):
    client = server.connect(protocol=3)
    client.execute_command("LATELY.ADD", "k", "a")
    info = client.execute_command("LATELY.INFO", "k")
    assert info[b"inserted"] == 1
    assert isinstance(info[b"false-positives"], float)
    assert isinstance(info[b"parameters"], dict)
    assert isinstance(client.execute_command("LATELY.PLAN")[0][b"bytes"], int)
    client.close()


def test_help_and_docs_agree(server):
    lines = [line.decode() for line in server("LATELY.HELP")]
    syntax = {line.split()[0]: line for line in lines[::2]}
    assert syntax["LATELY.ADD"] == "LATELY.ADD key item [item ...]"
    docs = server.raw("COMMAND", "DOCS", *syntax)
    documented = {name.decode().upper(): doc for name, doc in zip(docs[::2], docs[1::2])}
    assert documented.keys() == syntax.keys()
    for name, doc in documented.items():
        doc = dict(zip(doc[::2], doc[1::2]))
        assert doc[b"summary"] and doc[b"since"] and doc[b"complexity"], name
        assert doc[b"module"] == b"lately"
        if name != "LATELY.HELP":
            assert doc[b"arguments"], name


def test_keys_and_flags_are_right_for_clusters_and_replicas(server):
    for name, arity, flag in [
        ("lately.add", -3, b"write"),
        ("lately.addat", -4, b"write"),
        ("lately.seen", -3, b"readonly"),
        ("lately.count", -3, b"readonly"),
        ("lately.load", -3, b"write"),
        ("lately.dump", 2, b"readonly"),
        ("bf.add", 3, b"write"),
        ("bf.exists", 3, b"readonly"),
    ]:
        ((_, found, flags, first, last, step, *_),) = server.raw("COMMAND", "INFO", name)
        assert (found, first, last, step) == (arity, 1, 1, 1), name
        assert flag in flags, name
        assert (b"denyoom" in flags) == (flag == b"write"), name
        words = ["item"] * (abs(arity) - 2)
        assert server.raw("COMMAND", "GETKEYS", name, "key", *words) == [b"key"], name
