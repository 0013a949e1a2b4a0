"""What the engine offers every key, ours has too: access lists, settings, events, limits."""

import pathlib
import subprocess

import pytest
import redis
from conftest import reserve
from servers import MODULE, Server, follow, wait_until_equal


def test_access_lists(server):
    read, write = ["+@read"], ["+@write"]
    if server.client.info("server")["redis_version"].startswith("7.0."):
        # Commands of modules have no categories there, so rules have to name them.
        read, write = ["+lately.seen", "+bf.exists"], ["+lately.add"]
    server("ACL", "SETUSER", "reader", "on", ">p", "~*", "-@all", *read)
    server("ACL", "SETUSER", "writer", "on", ">p", "~k*", "-@all", *write)
    reader = server.connect(username="reader", password="p")
    writer = server.connect(username="writer", password="p")
    assert writer.execute_command("LATELY.ADD", "k", "a") == [1]
    assert reader.execute_command("LATELY.SEEN", "k", "a") == [1]
    assert reader.execute_command("BF.EXISTS", "k", "a") == 1
    for words in [("LATELY.ADD", "k", "b"), ("LATELY.RESERVE", "l"), ("BF.ADD", "k", "b")]:
        with pytest.raises(redis.exceptions.NoPermissionError):
            reader.execute_command(*words)
    with pytest.raises(redis.exceptions.NoPermissionError):
        writer.execute_command("LATELY.ADD", "other", "b")
    reader.close()
    writer.close()


def test_our_category(server):
    categories = {name.decode() for name in server("ACL", "CAT")}
    if "lately" not in categories:
        pytest.skip("this engine has no categories of modules")
    commands = {name.decode().lower() for name in server("ACL", "CAT", "lately")}
    assert {"lately.add", "lately.seen", "lately.plan", "bf.add"} <= commands


def test_settings(server):
    settings = server.client.config_get("lately.*")
    assert settings["lately.default"] == "LAST 100000 ERROR 0.001 CAPACITY 1000"
    assert settings["lately.max-key-bytes"] == "0"
    assert settings["lately.bloom-commands"] == "yes"
    for name, nonsense in [
        ("lately.default", "LAST"),
        ("lately.default", "LAST 0 ERROR 0.1"),
        ("lately.default", "ERROR 0.1"),
        ("lately.bloom-error-rate", "2"),
        ("lately.bloom-capacity", "0"),
        ("lately.max-key-bytes", "-1"),
        ("lately.bloom-commands", "no"),
    ]:
        with pytest.raises(redis.ResponseError):
            server.client.config_set(name, nonsense)
    assert server.client.config_get("lately.*") == settings
    server.client.config_set("lately.max-key-bytes", "10kb")
    with pytest.raises(redis.ResponseError, match="lately.max-key-bytes allows 10240"):
        server("LATELY.RESERVE", "k", "LAST", 100_000)
    server.client.config_set("lately.max-key-bytes", settings["lately.max-key-bytes"])


def test_settings_in_the_configuration_file(engine, tmp_path):
    file = tmp_path / "server.conf"
    file.write_text(
        f'loadmodule {MODULE}\nlately.bloom-commands no\nlately.default "LAST 77 ERROR 1%"\n'
    )
    server = Server(engine, load=False, include=str(file))
    try:
        server("LATELY.ADD", "k", "a")
        assert server("LATELY.INFO", "k", "extent") == 77
        with pytest.raises(redis.ResponseError, match="unknown command"):
            server("BF.ADD", "k", "a")
        assert not any(b"BF." in line for line in server("LATELY.HELP"))
    finally:
        server.stop()


def test_events(server):
    server.client.config_set("notify-keyspace-events", "KEA")
    listener = server.client.pubsub()
    listener.psubscribe("__keyspace@0__:*")
    server("LATELY.RESERVE", "k", "LAST", 10)
    server("LATELY.ADD", "k", "a")
    server("LATELY.LOAD", "l", server("LATELY.DUMP", "k"))
    server("DEL", "k")
    heard = []
    while len(heard) < 4:
        message = listener.get_message(timeout=5)
        assert message, heard
        if message["type"] == "pmessage":
            heard.append((message["channel"].split(b":")[1], message["data"]))
    listener.close()
    server.client.config_set("notify-keyspace-events", "")
    assert heard == [
        (b"k", b"lately.reserve"),
        (b"k", b"lately.add"),
        (b"l", b"lately.load"),
        (b"k", b"del"),
    ]


def test_watched_keys_are_touched(server):
    server("LATELY.ADD", "k", "a")
    with server.client.pipeline() as pipe:
        pipe.watch("k")
        pipe.multi()
        pipe.execute_command("LATELY.SEEN", "k", "a")
        server("LATELY.ADD", "k", "a")
        with pytest.raises(redis.WatchError):
            pipe.execute()


def test_maxmemory_is_respected(start):
    server = start(maxmemory="20mb", maxmemory_policy="noeviction")
    reserve(server, "small", "LAST 1000 ERROR 0.01".split())
    with pytest.raises(redis.OutOfMemoryError):
        server("LATELY.RESERVE", "large", "LAST", "2e7", "ERROR", "0.1%")
    assert server.client.info("memory")["used_memory"] < 20_000_000
    with pytest.raises(redis.OutOfMemoryError):
        for key in range(1000):
            server("LATELY.RESERVE", f"k{key}", "LAST", 100_000, "ERROR", "0.1%")
    server("CONFIG", "SET", "maxmemory", "1mb")
    with pytest.raises(redis.OutOfMemoryError):
        server("LATELY.ADD", "small", "a")
    assert server("LATELY.SEEN", "small", "a") == [0]


def test_filters_are_evicted_like_any_key(start):
    server = start(maxmemory="20mb", maxmemory_policy="allkeys-lru")
    for key in range(200):
        server("LATELY.RESERVE", f"k{key}", "LAST", 100_000, "ERROR", "0.1%")
    assert server.client.info("stats")["evicted_keys"] > 50
    assert server.client.info("memory")["used_memory"] < 22_000_000
    assert server.client.info("lately")["lately_filters"] == server.client.dbsize()


def test_requests_no_machine_can_meet_are_refused(server):
    # What is as large as its window from the first item on; what starts small is made, whatever it may become.
    fixed = ["LAST 281474976710656 ERROR 1e-9 STRUCTURE double-buffer", "LAST 1e14 ERROR 0.001 STRUCTURE sliding"]
    for wish in [*fixed, "LAST 10 MEMORY 900TiB"]:
        with pytest.raises(redis.ResponseError):
            server("LATELY.RESERVE", "k", *wish.split())


def test_info_section(server):
    before = server.client.info("lately")
    server("LATELY.ADD", "k", "a", "b", "a")
    server("LATELY.SEEN", "k", "a")
    after = server.client.info("lately")
    grown = {name: after[name] - before[name] for name in before}
    assert grown["lately_filters"] == 1
    assert grown["lately_inserted_items"] == 3
    assert grown["lately_new_items"] == 2
    assert grown["lately_asked_items"] == 1
    assert grown["lately_filter_bytes"] > 0


def test_two_modules_of_the_same_name_do_not_load(server):
    with pytest.raises(redis.ResponseError):
        server("MODULE", "LOAD", MODULE)
    assert server("LATELY.ADD", "k", "a") == [1]


def test_beside_a_module_that_has_the_bloom_commands(engine, tmp_path):
    other = tmp_path / "other_bloom.so"
    source = pathlib.Path(__file__).with_name("other_bloom.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(other), str(source)], check=True)
    file = tmp_path / "server.conf"
    file.write_text(f"loadmodule {other}\nloadmodule {MODULE}\n")
    server = Server(engine, load=False, include=str(file))
    try:
        assert server.raw("BF.ADD", "k", "a") == b"the other's"
        assert server("LATELY.ADD", "k", "a") == [1]
        assert "BF commands are taken by another module" in server.log()
    finally:
        server.stop()


def test_secrets_are_not_shown(start):
    """Neither in the log of slow commands nor to who watches, here and on replicas; refused or not."""
    primary, replica = start(slowlog_log_slower_than="0"), start(slowlog_log_slower_than="0")
    follow(replica, primary)
    secret, drawn = "00112233445566778899aabbccddeeff", "KEYED"
    with primary.connect().monitor() as watched, replica.connect().monitor() as watched_there:
        primary("LATELY.RESERVE", "k", "LAST", 100, "secret", secret)
        primary("LATELY.RESERVE", "drawn", "LAST", 100, drawn)
        with pytest.raises(redis.ResponseError):
            primary("LATELY.RESERVE", "k", "LAST", 100, "SECRET", secret)
        with pytest.raises(redis.ResponseError):
            primary("LATELY.RESERVE", "l", "SECRET", secret, "LAST")
        primary("LATELY.ADD", "end", "x")
        wait_until_equal(replica, primary)
        shown = [[], []]
        for lines, watching in zip(shown, [watched, watched_there]):
            while "end" not in "".join(lines):
                lines.append(watching.next_command()["command"])
    for server, lines in zip([primary, replica], shown):
        reserved = [line for line in lines if "RESERVE" in line]
        logged = [entry["command"] for entry in server.client.slowlog_get(100)]
        reserved += [line.decode() for line in logged if b"RESERVE" in line]
        assert len(reserved) >= 6
        assert all(("(redacted)" in line) == ("secret" in line.lower()) for line in reserved), reserved
        assert not any(secret in line for line in reserved)
    digest = primary.digest("k", "drawn")
    assert replica.digest("k", "drawn") == digest
