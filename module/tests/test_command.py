"""`lately dedup --redis`: the command with a filter that many share."""

import array
import fcntl
import os
import pathlib
import random
import signal
import subprocess
import termios
import threading
import time

import pytest
from cluster import Cluster
from servers import Server, free_port, wait_for

COMMAND = os.environ["LATELY_COMMAND"]


def dedup(url, *options, input=b"", env=None):
    run = subprocess.run(
        [COMMAND, "dedup", "--redis", url, *options],
        input=input,
        capture_output=True,
        check=False,
        env=os.environ | (env or {}),
    )
    return run.stdout, run.stderr.decode(), run.returncode


def lines(seed, count, distinct):
    draw = random.Random(seed)
    return b"".join(b"line %d\n" % draw.randrange(distinct) for _ in range(count))


def first_occurrences(text):
    return b"".join(dict.fromkeys(text.splitlines(keepends=True)))


def url(server, key="seen"):
    return f"redis://127.0.0.1:{server.port}/{key}"


def test_first_occurrences_pass(server):
    text = lines(1, 30_000, 10_000)
    options = ["--last", "100k", "--error", "1e-9"]
    out, err, code = dedup(url(server), *options, input=text)
    assert (out, err, code) == (first_occurrences(text), "", 0)
    # A second worker finds nothing new, ...
    out, err, code = dedup(url(server), *options, "--exit-status", input=text)
    assert (out, err, code) == (b"", "", 1)
    # ... and clients that send the items themselves see the same.
    assert server("LATELY.SEEN", "seen", "line 1", "line 10001") == [1, 0]


def test_the_same_verdicts_as_without_a_server(server, tmp_path):
    """Same structure, same seed, same mistakes, if records are marked one by one as they come."""
    text = lines(2, 50_000, 30_000)
    file = tmp_path / "lines"
    file.write_bytes(text)
    for options in [
        ["--last", "5000", "--error", "5%", "--seed", "7"],
        ["--last", "5000", "--error", "5%", "--seed", "7", "--no-refresh"],
    ]:
        server.client.flushall()
        here = subprocess.run(
            [COMMAND, "dedup", *options, str(file)], capture_output=True, check=True
        )
        there, err, code = dedup(url(server), *options, "--deliver", "at-most-once", str(file))
        assert (err, code) == ("", 0)
        assert there == here.stdout


@pytest.mark.parametrize("deliver", ["at-least-once", "at-most-once"])
@pytest.mark.parametrize("repeats", ["--refresh", "--no-refresh"])
def test_windows_are_kept_however_it_is_delivered(server, deliver, repeats):
    """Known while it is among the last n; new when so many more came between that no slack explains it."""
    window = 300
    slack = 150 if deliver == "at-least-once" and repeats == "--refresh" else 0
    draw = random.Random(10)
    numbers = [draw.choice([draw.randrange(200), draw.randrange(2000)]) for _ in range(30_000)]
    text = b"".join(b"%d\n" % number for number in numbers)
    options = ["--last", str(window), "--structure", "exact-window", "--deliver", deliver]
    out, err, code = dedup(url(server), *options, repeats, input=text)
    assert (err, code) == ("", 0)
    printed = iter(out.splitlines())
    expected = next(printed)
    begun = {}
    for place, number in enumerate(numbers):
        distance = place - begun.get(number, -(10**9))
        new = expected is not None and int(expected) == number and distance > window
        if new:
            expected = next(printed, None)
        else:
            assert distance <= window + slack, f"{number} came {distance} records before"
        if new or repeats == "--refresh":
            begun[number] = place
    assert expected is None, "everything that was printed was new"


def unread(pipe):
    waiting = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, waiting)
    return waiting[0]


@pytest.mark.parametrize("deliver", [None, "at-least-once", "at-most-once"])
def test_a_killed_worker(server, tmp_path, deliver):
    """Killed when it cannot print what it judged: then nothing is lost, unless that is asked for."""
    total = 100_000
    file = tmp_path / "lines"
    file.write_bytes(b"".join(b"line %d\n" % n for n in range(total)))
    options = ["--last", "1M", "--error", "1e-9", *(["--deliver", deliver] if deliver else [])]
    command = [COMMAND, "dedup", "--redis", url(server), *options, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
        printed = b""
        while len(printed) < 600_000:
            piece = process.stdout.read(10_000)
            assert piece, "it ended by itself"
            printed += piece
        wait_for(lambda: unread(process.stdout) > 50_000)
        process.kill()
        while piece := process.stdout.read(100_000):
            printed += piece
    # A line that was cut off is not whole for anybody.
    before = set(printed[: printed.rindex(b"\n") + 1].splitlines())
    out, err, code = dedup(url(server), *options, str(file))
    assert (err, code) == ("", 0)
    after = set(out.splitlines())
    lost = set(file.read_bytes().splitlines()) - before - after
    assert len(after) < total, "what was marked is remembered"
    if deliver == "at-most-once":
        assert lost and not before & after
    else:
        assert not lost
    # And now all of it is.
    assert dedup(url(server), *options, str(file)) == (b"", "", 0)


@pytest.mark.parametrize("deliver", ["at-least-once", "at-most-once"])
def test_a_worker_that_is_asked_to_end_loses_nothing(server, tmp_path, deliver):
    """What it took from the pipe is printed and marked."""
    options = ["--last", "1M", "--error", "1e-9", "--deliver", deliver]
    command = [COMMAND, "dedup", "--redis", url(server), *options]
    reader, writer = os.pipe()
    process = subprocess.Popen(command, stdin=reader, stdout=subprocess.PIPE)
    ended = threading.Event()
    written = []

    def write():
        number = 0
        while not ended.is_set():
            piece = b"".join(b"line %d\n" % n for n in range(number, number + 1000))
            number += 1000
            written.append(piece)
            view = memoryview(piece)
            while view:
                view = view[os.write(writer, view) :]
        os.close(writer)

    printed = []
    threads = [threading.Thread(target=write)]
    threads.append(threading.Thread(target=lambda: printed.extend(process.stdout)))
    for thread in threads:
        thread.start()
    wait_for(lambda: len(printed) > 50_000)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM
    ended.set()
    left = b""
    with open(reader, "rb") as rest:
        left = rest.read()
    for thread in threads:
        thread.join()
    everything = b"".join(written)
    taken = everything[: len(everything) - len(left)]
    assert everything.endswith(left) and b"".join(printed) == taken
    assert dedup(url(server), *options, input=taken) == (b"", "", 0)


def test_another_database_and_a_password(start):
    server = start(requirepass="s3cret")
    text = lines(3, 1000, 500)
    address = f"redis://:s3cret@127.0.0.1:{server.port}/3/a/b"
    out, err, code = dedup(address, "--last", "10k", "--error", "1e-9", input=text)
    assert (out, err, code) == (first_occurrences(text), "", 0)
    assert server.client.dbsize() == 0
    assert server.connect(db=3).exists("a/b")
    wrong = address.replace("s3cret", "wr0ng")
    _, err, code = dedup(wrong, "--last", "10k", input=text)
    assert code == 2 and "wr0ng" not in err and err.count("\n") == 1


def test_complaints(server):
    server("SET", "text", "x")
    server("LATELY.RESERVE", "other", "LAST", 5)
    for address, options, words in [
        ("http://h/k", [], "is not redis://"),
        ("redis://127.0.0.1:1/k", [], "cannot reach redis://127.0.0.1:1"),
        (url(server, "text"), [], "holds something else"),
        (url(server, "other"), ["--last", "10"], "another extent"),
        (url(server), ["--state", "file"], "cannot be used with"),
        (url(server), ["--shards", "0"], "0 is not in 1..=4096"),
        (url(server), ["--deliver", "twice"], "at-least-once, at-most-once"),
        (url(server), ["--count"], "cannot be used with"),
    ]:
        _, err, code = dedup(address, *(options or ["--last", "10"]))
        assert code == 2 and words in err and err.count("\n") == 1, err
    _, err, code = dedup("redis://127.0.0.1:1/k", "--shards", "2", "--last", "5")
    assert code == 2


def test_sharded_over_a_cluster(engine):
    cluster = Cluster(engine, replicas=False)
    try:
        text = lines(4, 60_000, 20_000)
        address = url(cluster.nodes[0], "seen")
        options = ["--last", "200k", "--error", "1e-9", "--shards", "12", "--stats"]
        options += ["--deliver", "at-most-once"]  # No worker prints what another does.
        out, err, code = dedup(address, *options, input=text)
        assert (out, code) == (first_occurrences(text), 0), err
        spread = [node.client.dbsize() for node in cluster.nodes]
        assert sum(spread) == 12 and all(spread), spread
        # Other workers through other nodes, at the same time.
        parts = [lines(seed, 20_000, 40_000) for seed in (5, 6, 7)]
        outputs = [None] * 3

        def work(place):
            outputs[place] = dedup(url(cluster.nodes[place]), *options, input=parts[place])[0]

        threads = [threading.Thread(target=work, args=(place,)) for place in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        together = sorted(b"".join(outputs).splitlines())
        assert together == sorted(set(b"".join(parts).splitlines()) - set(text.splitlines()))
    finally:
        cluster.stop()


def test_windows_by_time_stay_exact_over_shards(server):
    """An item that comes back within the window is known, one that comes back much later is not."""
    options = ["--within", "10s", "--error", "1e-6", "--shards", "5", "-k", "/id", "--time-key", "/t"]
    moments = [0, 9_000, 18_000, 60_000, 69_000, 200_000]
    records = [(1_700_000_000_000 + t, item) for t in moments for item in range(200)]
    text = "".join('{"t":%d,"id":%d}\n' % record for record in records).encode()
    out, err, code = dedup(url(server), *options, input=text)
    assert (err, code) == ("", 0)
    passed = [record for record in records if record[0] % 100_000 in (0, 60_000)]
    assert out.decode() == "".join('{"t":%d,"id":%d}\n' % record for record in passed)


def test_a_lost_server_is_found_again_and_no_line_is_lost(start, tmp_path):
    server = start(appendonly="yes", appendfsync="always")
    fifo = tmp_path / "stream"
    os.mkfifo(fifo)
    report = tmp_path / "report.json"
    command = [COMMAND, "dedup", "--redis", url(server), "--last", "1M", "--error", "1e-9"]
    command += ["--stats-json", str(report), str(fifo)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    total = 60_000
    printed = []
    reader = threading.Thread(target=lambda: printed.extend(process.stdout))
    reader.start()
    with open(fifo, "wb", buffering=0) as stream:
        for start_line in range(0, total, 500):
            stream.write(b"".join(b"line %d\n" % n for n in range(start_line, start_line + 500)))
            if start_line == 20_000:
                server.kill()
                threading.Timer(0.5, server.start).start()
            time.sleep(0.001)
    reader.join()
    errors = process.stderr.read().decode()
    assert process.wait() == 0, errors
    wait_for(server.is_alive)
    assert {int(line.split()[1]) for line in printed} == set(range(total))
    assert '"uncertain"' in report.read_text()
    # And it gives up in the end.
    server.process.send_signal(signal.SIGSTOP)
    try:
        server.kill()
    finally:
        _, err, code = dedup(url(server), "--last", "10", input=b"x\n")
        assert code == 2 and "cannot reach" in err


def test_over_tls(engine, tmp_path):
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=tmp_path)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt",
            "-days", "2", "-subj", "/CN=lately tests")  # fmt: skip
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr",
            "-subj", "/CN=localhost")  # fmt: skip
    (tmp_path / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.crt")  # fmt: skip
    tls_port = free_port()
    try:
        server = Server(
            engine,
            tls_port=tls_port,
            tls_cert_file=tmp_path / "server.crt",
            tls_key_file=tmp_path / "server.key",
            tls_ca_cert_file=tmp_path / "ca.crt",
            tls_auth_clients="no",
        )
    except RuntimeError:
        pytest.skip("this server was built without TLS")
    try:
        text = lines(8, 1000, 500)
        address = f"rediss://localhost:{tls_port}/seen"
        options = ["--last", "10k", "--error", "1e-9"]
        trusted = {"SSL_CERT_FILE": str(tmp_path / "ca.crt")}
        out, err, code = dedup(address, *options, input=text, env=trusted)
        assert (out, err, code) == (first_occurrences(text), "", 0)
        # Nobody else's word is taken.
        _, err, code = dedup(address, *options, input=text)
        assert code == 2 and "cannot reach" in err
    finally:
        server.stop()


def test_files_of_the_command_become_keys_and_back(server, tmp_path):
    file = tmp_path / "seen.lately"
    text = lines(9, 5000, 3000)
    options = ["--last", "10k", "--error", "1e-6", "--state", str(file)]
    subprocess.run([COMMAND, "dedup", *options], input=text, capture_output=True, check=True)
    state = pathlib.Path(file).read_bytes()
    assert server("LATELY.LOAD", "k", state) == b"OK"
    assert server("LATELY.SEEN", "k", *text.split(b"\n")[:100]) == [1] * 100
    snapshot = server("LATELY.DUMP", "k")
    assert state.startswith(snapshot) and len(state) > len(snapshot)
    # The command goes on where the key is now, and knows what the key has seen.
    server("LATELY.ADD", "k", "only there")
    file.write_bytes(server("LATELY.DUMP", "k"))
    text = b"only there\n" + text + b"only here\n"
    run = subprocess.run([COMMAND, "dedup", *options], input=text, capture_output=True, check=True)
    assert run.stdout == b"only here\n"


def test_times_too_far_ahead_end_no_run(server):
    """What the command believes the server believes, though their clocks may differ."""
    minute, now = 60_000, int(time.time() * 1000)
    event = b'{"k":%d,"t":%d}\n'
    right = [event % (k, now + k * minute) for k in range(0, 29)]
    wrong = [event % (k, now + k * minute) for k in (31, 59, 61, 600_000)]
    options = ["--within", "10m", "--key", "k", "--time-key", "t"]
    out, err, code = dedup(url(server), *options, input=b"".join(right + wrong + right[-9:]))
    assert (out, code) == (b"".join(right + wrong), 0)
    assert err.startswith("lately: 4 records tell a time too far ahead of this machine's clock")
    assert server.client.info("lately")["lately_refused_moments"] == 0
    # Whoever wants more has to tell both.
    out, err, code = dedup(url(server), *options, "--max-ahead", "any", input=wrong[-1])
    assert (out, code) == (b"", 2)
    assert "lately.max-ahead" in err
