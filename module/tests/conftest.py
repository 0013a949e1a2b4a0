"""Fixtures: servers of every engine, and every kind of window."""

import pytest
from servers import ENGINES, Server

# Every kind of wish.
WISHES = {
    "last": "LAST 2000 ERROR 0.001",
    "last-double-buffer": "LAST 2000 ERROR 0.001 STRUCTURE double-buffer",
    "last-tight": "LAST 500 ERROR 0.01 SLACK 50",
    # Named, because to choose among all that fit a memory takes long.
    "last-in-memory": "LAST 2000 MEMORY 8kb STRUCTURE quotient-table",
    "last-keyed": "LAST 2000 ERROR 0.001 KEYED",
    "within": "WITHIN 60000 ERROR 0.001",
    "within-capacity": "WITHIN 60000 ERROR 0.01 CAPACITY 5000",
    # Some thousand items are too many for it.
    "within-shortening": "WITHIN 60000 ERROR 0.0001 SHORTENAT 64KiB",
    "ever": "EVER ERROR 0.01",
    "ever-capacity": "EVER ERROR 0.001 CAPACITY 10000",
    "counting": "EVER ERROR 0.01 COUNTING CAPACITY 10000",
    "counting-top": "WITHIN 60000 ERROR 0.01 COUNTING TOP 20",
}


@pytest.fixture(params=sorted(ENGINES))
def engine(request):
    return request.param


@pytest.fixture(scope="module", params=sorted(ENGINES))
def shared(request):
    """A server for all tests of a file; each begins with an empty database."""
    server = Server(request.param)
    yield server
    server.stop()


@pytest.fixture
def server(shared):
    # Now and not in the background, where it would change what the test measures.
    shared("FLUSHALL", "SYNC")
    shared.client.config_resetstat()
    yield shared
    assert shared.is_alive()
    assert shared.client.info("lately")["lately_caught_faults"] == 0


@pytest.fixture
def start(engine):
    """Starts servers of an engine, and stops them after the test."""
    servers = []

    def start(**settings):
        servers.append(Server(engine, **settings))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(params=sorted(WISHES))
def wish(request):
    return WISHES[request.param].split()


def reserve(server, key, wish, *more):
    """Makes a filter."""
    assert server("LATELY.RESERVE", key, *wish, *more) == b"OK"
