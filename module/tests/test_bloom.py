"""`BF.*` through the client's own interface, as programs written for RedisBloom use it."""

import random

import pytest
import redis
from conftest import reserve
from servers import follow, wait_for, wait_until_equal


@pytest.fixture(params=[2, 3])
def bf(server, request):
    client = server.connect(protocol=request.param)
    yield client.bf()
    client.close()


def facts(bf, key):
    """What `info` says: an object or, from clients that speak RESP3, a dictionary."""
    info = bf.info(key)
    if isinstance(info, dict):
        names = {name if isinstance(name, str) else name.decode(): v for name, v in info.items()}
        return {
            "capacity": names["Capacity"],
            "size": names["Size"],
            "filterNum": names["Number of filters"],
            "insertedNum": names["Number of items inserted"],
            "expansionRate": names["Expansion rate"],
        }
    return info


def refused(call, *words, **options):
    with pytest.raises(redis.ResponseError) as refusal:
        call(*words, **options)
    return str(refusal.value)


def test_create_and_add(bf):
    assert bf.create("bloom", 0.01, 1000)
    assert bf.create("bloom_e", 0.01, 1000, expansion=1)
    assert bf.create("bloom_ns", 0.01, 1000, noScale=True)
    assert bf.add("bloom", "foo") == 1
    assert bf.add("bloom", "foo") == 0
    assert bf.exists("bloom", "foo") == 1
    assert bf.exists("bloom", "bar") == 0
    assert bf.madd("bloom", "foo", "bar", "baz") == [0, 1, 1]
    assert bf.mexists("bloom", "bar", "baz", "noexist") == [1, 1, 0]
    assert bf.card("bloom") == 3
    assert bf.card("nothing") == 0
    assert bf.exists("nothing", "foo") == 0


def test_insert_with_all_options(bf):
    assert bf.insert("made", ["a", "b", "a"]) == [1, 1, 0]
    assert bf.insert("told", ["a"], capacity=1000, error=0.001, expansion=4) == [1]
    info = facts(bf, "told")
    assert (info["capacity"], info["expansionRate"], info["insertedNum"]) == (1000, 4, 1)
    assert bf.insert("fixed", ["a"], capacity=5, noScale=True) == [1]
    assert facts(bf, "fixed")["expansionRate"] is None
    assert bf.insert("made", ["c"], noCreate=True) == [1]
    assert refused(bf.insert, "missing", ["c"], noCreate=True) == "not found"


def test_info_and_its_fields(server, bf):
    bf.create("bloom", 0.01, 1000, expansion=3)
    bf.add("bloom", "foo")
    info = facts(bf, "bloom")
    assert (info["capacity"], info["filterNum"], info["insertedNum"]) == (1000, 1, 1)
    assert info["expansionRate"] == 3
    assert info["size"] > 0
    assert server("BF.INFO", "bloom", "CAPACITY") == [1000]
    assert server("BF.INFO", "bloom", "items") == [1]
    assert server("BF.INFO", "bloom", "SIZE") == [info["size"]]
    assert refused(server, "BF.INFO", "bloom", "colour") == "invalid information value"
    assert refused(bf.info, "missing") == "not found"


def test_refusals(server, bf):
    bf.create("bloom", 0.01, 1000)
    assert refused(bf.create, "bloom", 0.01, 1000) == "item exists"
    assert refused(bf.create, "new", "x", 1000) == "bad error rate"
    assert refused(bf.create, "new", 1.5, 1000) == "(0 < error rate range < 1)"
    assert refused(bf.create, "new", 0.1, "x") == "bad capacity"
    assert refused(bf.create, "new", 0.1, 0) == "(capacity should be larger than 0)"
    assert refused(bf.create, "new", 0.1, 10, expansion="x") == "bad expansion"
    assert "cannot expand" in refused(bf.create, "new", 0.1, 10, expansion=2, noScale=True)
    assert "unknown argument" in refused(server, "BF.INSERT", "new", "DONTEXIST", "ITEMS", "a")
    assert "wrong number" in refused(server, "BF.INSERT", "new", "ITEMS")
    assert "wrong number" in refused(server, "BF.INSERT", "new", "NOCREATE", "CAPACITY")
    server("SET", "text", "x")
    assert "WRONGTYPE" in refused(bf.add, "text", "a")
    assert server("EXISTS", "new") == 0


def test_what_other_modules_take_is_not_too_large(server, bf):
    assert bf.create("large", 0.000001, 300_000_000)


def test_a_filter_that_must_not_grow(server, bf):
    bf.create("fixed", 0.001, 3, noScale=True)
    answers = bf.madd("fixed", "a", "b", "a", "c", "d", "e")
    assert answers[:4] == [1, 1, 0, 1]
    assert len(answers) == 5 and "non scaling filter is full" in str(answers[4])
    assert bf.add("fixed", "a") == 0
    assert "non scaling filter is full" in refused(bf.add, "fixed", "z")
    assert bf.card("fixed") == 3


def test_scandump_and_loadchunk(server, bf):
    bf.create("original", 0.0001, 1000)
    items = [f"item {i}" for i in range(2000)]
    bf.insert("original", items)
    chunks, iterator = [], 0
    while True:
        iterator, data = bf.scandump("original", iterator)
        if iterator == 0:
            break
        chunks.append((iterator, data))
    for iterator, data in chunks:
        assert bf.loadchunk("copy", iterator, data) in (True, b"OK", "OK")
    assert server.digest("copy") == server.digest("original")
    assert bf.mexists("copy", *items) == [1] * 2000
    assert "exists" in refused(bf.loadchunk, "copy", *chunks[0])
    assert refused(bf.loadchunk, "missing", 10**9, b"x") == "not found"
    server.client.delete("copy")
    whole = b"".join(data for _, data in chunks)
    # In small pieces, saved and reloaded half-way.
    for place in range(0, len(whole), 1000):
        piece = whole[place : place + 1000]
        bf.loadchunk("copy", place + len(piece) + 1, piece)
        if place == 2000:
            assert "still being loaded" in refused(bf.add, "copy", "x")
            server("DEBUG", "RELOAD")
    assert server.digest("copy") == server.digest("original")
    assert refused(bf.loadchunk, "bad", len(whole) + 1, whole[:-1] + b"?")
    assert server("EXISTS", "bad") == 0


def test_other_ways_of_living(start):
    """Everything made by `BF.*` replicates and persists with its tallies."""
    primary, replica = start(appendonly="yes", aof_use_rdb_preamble="no"), start()
    follow(replica, primary)
    bf = primary.client.bf()
    bf.create("fixed", 0.001, 3, noScale=True)
    bf.madd("fixed", "a", "b", "a", "c", "d")
    bf.insert("grown", [f"item {i}" for i in range(1000)], error=0.001)
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    digest = primary.digest()
    primary("BGREWRITEAOF")
    wait_for(lambda: not primary.client.info("persistence")["aof_rewrite_in_progress"])
    primary.restart("NOSAVE")
    assert primary.digest() == digest
    assert primary.client.bf().info("grown")["insertedNum"] >= 995


def test_items_that_expire_for_clients_that_know_only_bloom_filters(server, bf):
    reserve(server, "k", "LAST 100 ERROR 0.0001 SLACK 10".split())
    assert bf.add("k", "first") == 1
    bf.madd("k", *(f"item {i}" for i in range(110)))
    assert bf.exists("k", "first") == 0
    assert bf.exists("k", "item 109") == 1


def test_a_stated_capacity_never_costs_more_than_none(server):
    """Whether 100 were stated or 300,000: with 300,000 items neither takes more than what nobody described."""
    server("BF.ADD", "none", "first")
    server("BF.RESERVE", "too small", 0.01, 100)
    server("BF.RESERVE", "right", 0.01, 300_000)
    draw = random.Random(1)
    for _ in range(30):
        hashes = draw.randbytes(8 * 10_000)
        for key in ["none", "too small", "right"]:
            server("LATELY.ADDHASHES", key, hashes)
    none, small, right = (server("MEMORY", "USAGE", key) for key in ["none", "too small", "right"])
    # Seeds differ, and with them when segments split.
    assert small <= 1.03 * none
    assert right <= 0.8 * none
    # 1.45 bytes per item, and what jemalloc rounds up, where the engine has it.
    rounded = "jemalloc" in server.client.info("memory")["mem_allocator"]
    assert right <= (1.6 if rounded else 1.45) * 300_000


def test_a_default_filter_grown_to_a_million(server):
    """At 1%, at most 20 bits per item; and the error is kept."""
    server("BF.ADD", "k", "first")
    draw = random.Random(1)
    for _ in range(100):
        server("LATELY.ADDHASHES", "k", draw.randbytes(8 * 10_000))
    bits = 8 * server("MEMORY", "USAGE", "k") / 1e6
    print(f"{bits:.2f} bits per item")
    assert bits <= 20
    wrong = sum(server("BF.MEXISTS", "k", *range(100_000)))
    # 1000 expected at most; Chernoff: more than 1300 once in 10^19 runs.
    assert wrong <= 1300
    assert server("BF.CARD", "k") >= 985_000
