"""What the module declares of the engine's interface is what the engine has: C would not notice."""

import pathlib
import re
import subprocess

import pytest
from servers import MODULE, Server, follow, wait_for, wait_until_equal

TABLE = pathlib.Path(__file__).parents[1] / "src/engine/api/mod.rs"
# What only a process forked from the server calls: its work is looked at instead.
IN_THE_CHILD = {"RedisModule_EmitAOF"}
# What needs an engine that was built with an allocator of its own, as neither of these is; what frees an
# answer that is not as it should be; and what the test after this one reads.
ELSEWHERE = {"RedisModule_DefragAlloc", "RedisModule_FreeCallReply", "RedisModule_Log"}


def declared(group):
    """The functions in a group of the table, with the prefix of the engine's names."""
    table = TABLE.read_text().split("\ninterface! {\n")[1]
    found = []
    for name, prefix, rows in re.findall(r"^    (\w+)(?: \"(\w+)\")? \{\n(.*?)^    \}", table, re.M | re.S):
        if name in group:
            found += [(prefix or "RedisModule_") + row for row in re.findall(r"\bfn (\w+)\(", rows)]
    return found


def calls(server):
    """How often the module called each function that the engine has; of builds with assertions."""
    prefix = "lately_"
    info = server.client.info("lately")
    return {name.removeprefix(prefix): count for name, count in info.items() if "Module_" in name}


def test_every_function_is_called_and_does_what_it_should(start):
    primary, replica = start(appendonly="yes", aof_use_rdb_preamble="no", maxmemory="1gb"), start()
    follow(replica, primary)
    if not calls(primary):
        pytest.skip("a build without assertions counts no calls")
    client = primary.connect(protocol=3)
    ask = client.execute_command
    assert ask("LATELY.RESERVE", "within", "WITHIN", 60_000) == b"OK"
    assert ask("LATELY.ADD", "within", "a", "b", "a") == [1, 1, 0]
    assert ask("LATELY.ADD", "within", "c") == [1]
    assert ask("LATELY.SEEN", "within", "c") == [1]
    assert ask("LATELY.ADD", "last", "a") == [1]
    assert ask("LATELY.INFO", "within", "window") == b"within"
    assert 0 < ask("LATELY.INFO", "within", "false-positives") <= 0.001
    assert ask("LATELY.INFO", "within")[b"inserted"] == 4
    reserve = ("LATELY.RESERVE", "counted", "EVER", "COUNTING", "CAPACITY", 1000, "KEYED")
    assert ask(*reserve) == b"OK"
    assert ask("LATELY.INFO", "counted", "seed") is None
    assert ask("LATELY.RESERVE", "secret", "EVER", "SECRET", "0" * 32) == b"OK"
    assert ask("LATELY.INCRBY", "counted", "a", 3) == [3]
    assert client.bf().add("bloom", "a") in (True, 1)
    assert ask("BF.INFO", "bloom")[b"Number of items inserted"] == 1
    with pytest.raises(Exception, match="still|already|BUSYKEY"):
        ask(*reserve)
    assert ask("LATELY.LOAD", "within", ask("LATELY.DUMP", "within"), "REPLACE") == b"OK"
    dump = ask("DUMP", "last")
    ask("RESTORE", "restored", 0, dump)
    assert primary.digest("restored") == primary.digest("last")
    ask("COPY", "last", "copied")
    assert ask("MEMORY", "USAGE", "copied") > 1000
    assert ask("CONFIG", "SET", "lately.default", "LAST 50 ERROR 0.01") == b"OK"
    assert ask("CONFIG", "SET", "lately.max-key-bytes", "2gb") == b"OK"
    settings = ask("CONFIG", "GET", "lately.*")
    assert settings[b"lately.default"] == b"LAST 50 ERROR 0.01"
    assert settings[b"lately.bloom-commands"] == b"yes"
    # A type of ours in words that only a newer release would write.
    with pytest.raises(Exception, match="Bad data format"):
        ask("RESTORE", "newer", 0, with_checksum(newer(dump)))
    assert "lately: a value of an unknown kind" in primary.log()
    ask("UNLINK", "copied")
    wait_until_equal(replica, primary)
    assert replica.digest() == primary.digest()
    ask("BGREWRITEAOF")
    wait_for(lambda: not primary.client.info("persistence")["aof_rewrite_in_progress"])
    files = list((primary.folder / "appendonlydir").glob("*base*"))
    assert any(b"LATELY.LOAD" in file.read_bytes() for file in files)
    client.close()
    # The filter that was loaded is found by a walk through all keys.
    primary("CONFIG", "SET", "lately.expire-idle", "yes")
    wait_for(lambda: calls(primary)["RedisModule_ScanCursorDestroy"] > 0)

    counts = calls(primary)
    assert set(declared(["required", "variadic"])) <= counts.keys()
    called = {name for name, count in counts.items() if count > 0}
    # The clock as it was when the command began, where the engine keeps that; else the clock.
    cached, plain = "RedisModule_CachedMicroseconds", "RedisModule_Milliseconds"
    assert (cached in called) != (plain in called)
    assert counts.keys() - called - {plain} - IN_THE_CHILD - ELSEWHERE == set()


def newer(dump):
    """A dump of ours, its first number one that means nothing yet. Before it come the type's id in nine
    bytes after the engine's own type, and the announcement of a number."""
    place = 1 + 9 + 1
    assert dump[place] == 0
    return dump[:place] + b"\x3f" + dump[place + 1 : -8]


def with_checksum(body):
    from test_persistence import crc64

    return body + crc64(body).to_bytes(8, "little")


@pytest.fixture(scope="module")
def hiding(tmp_path_factory):
    """The module that hides a function of the engine from ours."""
    library = tmp_path_factory.mktemp("hiding") / "hiding.so"
    source = pathlib.Path(__file__).with_name("hiding.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def test_an_engine_without_a_function_that_we_need_is_refused(engine, hiding):
    server = Server(engine, load=False, enable_module_command="yes")
    try:
        for name in declared(["required", "variadic"]):
            with pytest.raises(Exception, match="Error loading the extension"):
                server("MODULE", "LOAD", str(hiding), MODULE, name)
            said = f"lately needs Redis 7.0 or later, or Valkey: this server has no {name}"
            # What cannot be said cannot be read.
            assert name == "RedisModule_Log" or said in server.log()
        assert server("MODULE", "LOAD", str(hiding), MODULE, "nothing") == b"OK"
        assert server("LATELY.ADD", "k", "a") == [1]
    finally:
        server.stop()


@pytest.mark.parametrize("name", declared(["optional"]))
def test_an_engine_without_a_function_that_we_can_spare_is_not(engine, hiding, tmp_path, name):
    file = tmp_path / "server.conf"
    file.write_text(f"loadmodule {hiding} {MODULE} {name}\n")
    server = Server(engine, load=False, include=str(file))
    try:
        assert server("LATELY.RESERVE", "k", "WITHIN", 1000) == b"OK"
        assert server("LATELY.ADD", "k", "a", "a") == [1, 0]
        assert name not in calls(server)
    finally:
        server.stop()
