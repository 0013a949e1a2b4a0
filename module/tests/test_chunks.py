"""`BF.SCANDUMP` and `BF.LOADCHUNK`: a filter in pieces, while it is written, on replicas, after restarts."""

import pytest
import redis
from servers import follow, wait_until_equal

LARGE = "LAST 12000000 ERROR 0.001".split()


def dump(server, key, meanwhile=lambda: None):
    """All pieces of a filter, and what happens between them."""
    iterator, pieces = 0, []
    while True:
        iterator, data = server.raw("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return pieces
        pieces.append((iterator, data))
        meanwhile()


def small(server, key, items=2000):
    """A filter in two pieces, of which the second is the last, with more memory than bytes."""
    server("LATELY.RESERVE", key, "EVER", "ERROR", "0.0001", "SEED", 1)
    server("BF.MADD", key, *(f"item {i}" for i in range(items)))
    [(iterator, data)] = dump(server, key)
    middle = len(data) // 2
    return [(middle + 1, data[:middle]), (iterator, data[middle:])], len(data)


def test_a_filter_that_is_written_meanwhile_is_dumped_as_it_was(server):
    server("LATELY.RESERVE", "k", *LARGE)
    server("LATELY.ADD", "k", *range(1000))
    server("COPY", "k", "as it was")
    usage = server("MEMORY", "USAGE", "k")
    held = []

    def write():
        server("LATELY.ADD", "k", *range(1000, 2000))
        held.append(server("MEMORY", "USAGE", "k"))

    pieces = dump(server, "k", write)
    assert len(pieces) > 1
    assert all(iterator < 2**53 for iterator, _ in pieces)
    # What is kept for the dump is seen while it is there, and gone with the last piece.
    assert min(held) > 1.9 * usage
    assert server("MEMORY", "USAGE", "k") == usage
    for iterator, data in pieces:
        assert server.raw("BF.LOADCHUNK", "copy", iterator, data) == b"OK"
    assert server.digest("copy") == server.digest("as it was")
    assert server.digest("copy") != server.digest("k")


def test_a_dump_that_is_over_says_so(server):
    server("LATELY.RESERVE", "k", *LARGE)
    first, _ = server.raw("BF.SCANDUMP", "k", 0)
    second, _ = server.raw("BF.SCANDUMP", "k", 0)
    for over in {first, 1 << 40 | 1, (1 << 52) - 1} - {second}:
        with pytest.raises(redis.ResponseError, match="this dump is over"):
            server("BF.SCANDUMP", "k", over)
    dump(server, "k")
    with pytest.raises(redis.ResponseError, match="this dump is over"):
        server("BF.SCANDUMP", "k", second)


def test_what_a_primary_loaded_its_replica_has(start):
    primary, replica = start(), start()
    follow(replica, primary)
    replica("CONFIG", "SET", "lately.max-key-bytes", "1")
    pieces, _ = small(primary, "original")
    for iterator, data in pieces:
        primary.raw("BF.LOADCHUNK", "copy", iterator, data)
        wait_until_equal(replica, primary)
        assert replica.digest() == primary.digest()


def test_what_was_loaded_survives_a_restart_with_a_smaller_limit(start):
    server = start(appendonly="yes", appendfsync="always")
    pieces, _ = small(server, "original")
    for iterator, data in pieces:
        server.raw("BF.LOADCHUNK", "copy", iterator, data)
    server.raw("BF.LOADCHUNK", "half", *pieces[0])
    digest = server.digest()
    server.settings["lately.max-key-bytes"] = "100"
    server.restart("NOSAVE")
    assert server.client.config_get("lately.max-key-bytes") == {"lately.max-key-bytes": "100"}
    assert server.digest() == digest


@pytest.mark.parametrize("fault", ["too large", "damaged"])
def test_a_last_piece_that_is_refused_changes_nothing(start, fault):
    primary, replica = start(), start()
    follow(replica, primary)
    [first, (iterator, data)], length = small(primary, "original")
    primary.raw("BF.LOADCHUNK", "copy", *first)
    digest = primary.digest()
    wrong = data
    if fault == "damaged":
        wrong = data[:-1] + bytes([data[-1] ^ 1])
    else:
        # The bytes may come, but the filter takes more.
        primary("CONFIG", "SET", "lately.max-key-bytes", length)
    with pytest.raises(redis.ResponseError):
        primary.raw("BF.LOADCHUNK", "copy", iterator, wrong)
    assert primary.digest() == digest
    wait_until_equal(replica, primary)
    assert replica.digest() == digest
    primary("CONFIG", "SET", "lately.max-key-bytes", 0)
    assert primary.raw("BF.LOADCHUNK", "copy", iterator, data) == b"OK"
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    assert primary.digest("copy") == primary.digest("original")
