"""A key that vanished (deleted, evicted, expired, mistyped) comes back as told, or not at all."""

import pytest
import redis
from conftest import reserve
from servers import follow, wait_until_equal
from test_commands import refused


@pytest.fixture
def without_default(server):
    default = server.client.config_get("lately.default")["lately.default"]
    server.client.config_set("lately.default", "none")
    yield server
    server.client.config_set("lately.default", default)


@pytest.mark.parametrize(
    "words",
    [
        ("LATELY.ADD", "k", "a"),
        ("LATELY.ADDNX", "k", "a", "b"),
        ("LATELY.ADDAT", "k", 1, "a"),
        ("LATELY.ADDNXAT", "k", 1, "a"),
        ("LATELY.INCRBY", "k", "a", 2),
        ("LATELY.LIMIT", "k", "a", 2),
        ("LATELY.INSERT", "k", "ITEMS", "a"),
        ("LATELY.INSERT", "k", "NOCREATE", "ITEMS", "a"),
    ],
)
def test_without_a_default_a_missing_key_stays_missing(without_default, words):
    assert "LATELY.RESERVE" in refused(without_default, *words)
    assert without_default("EXISTS", "k") == 0


def test_without_a_default_a_key_is_as_it_was_reserved(without_default):
    server = without_default
    assert server.client.config_get("lately.default")["lately.default"] == "none"
    assert "give a window" in refused(server, "LATELY.RESERVE", "k")
    assert "give ERROR or MEMORY" in refused(server, "LATELY.RESERVE", "k", "LAST", 10)
    reserve(server, "k", "LAST 10 ERROR 0.01".split())
    assert server("LATELY.ADD", "k", "a", "a") == [1, 0]
    assert server("LATELY.PLAN", "LAST", 10, "ERROR", "1%")


def test_items_with_options(server):
    insert = lambda *words: server("LATELY.INSERT", *words)
    assert "LATELY.RESERVE" in refused(server, "LATELY.INSERT", "k", "NOCREATE", "ITEMS", "a")
    # After ITEMS everything is an item.
    assert insert("k", "ITEMS", "a", "NX", "ITEMS") == [1, 1, 1]
    assert insert("k", "nocreate", "nx", "items", "a", "ITEMS", "b") == [0, 0, 1]
    reserve(server, "within", "WITHIN 1000 ERROR 0.001".split())
    assert insert("within", "AT", 5000, "ITEMS", "a") == [1]
    assert insert("within", "NX", "AT", 5900, "ITEMS", "a") == [0]
    # The repeat did not extend its stay.
    assert server("LATELY.SEENAT", "within", 9000, "a") == [0]
    for words in [["ITEMS"], ["a"], ["NX"], ["AT", "ITEMS", "a"], ["AT"], ["FIRST", "ITEMS", "a"]]:
        with pytest.raises(redis.ResponseError):
            insert("k", *words)


def test_items_with_options_replicate(start):
    primary, replica = start(), start()
    follow(replica, primary)
    for wish in ["WITHIN 60000 ERROR 0.01", "LAST 100 ERROR 0.01"]:
        key = wish.split()[0]
        reserve(primary, key, wish.split())
        for number in range(50):
            primary("LATELY.INSERT", key, "NOCREATE", "ITEMS", number, number // 2)
            primary("LATELY.INSERT", key, "NX", "ITEMS", number // 3)
    primary("LATELY.INSERT", "made", "ITEMS", "a")
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
