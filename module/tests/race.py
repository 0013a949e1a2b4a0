"""`LATELY.ADD` beside `SET key value EX NX` in the same server, in one alternating run.

Not a test: what it prints depends on the machine. `cargo xtask race` runs it. Besides requests per
second it tells the time that the server's process took for each, which other work on the machine
disturbs less.

If `REDISBLOOM` names the file of that module, its `BF.ADD` takes part, in a server of its own.
"""

import contextlib
import ctypes.util
import itertools
import os
import pathlib
import re
import statistics
import subprocess
import sys

from servers import ENGINES, Server

# Items in a window, and how many different ids there are: nearly every id is new, as in a stream of
# events, of which a queue delivers some twice.
RANGE = 1_000_000
IDS = 1_000_000_000
# redis-benchmark seeds its ids with the second and its process number, so that two runs may draw the
# same ones: each run says its number before them.
RUNS = itertools.count(100)
CONTENDERS = {
    "SET EX NX": ["SET", "k{run}:__rand_int__", "1", "EX", "3600", "NX"],
    "LATELY.ADD last": ["LATELY.ADD", "last", "k{run}:__rand_int__"],
    "LATELY.ADD within": ["LATELY.ADD", "within", "k{run}:__rand_int__"],
    "LATELY.SEEN last": ["LATELY.SEEN", "last", "k{run}:__rand_int__"],
    "BF.ADD": ["BF.ADD", "bloom", "k{run}:__rand_int__"],
}
# The module whose commands those are, which cannot be loaded beside them.
RIVAL = os.environ.get("REDISBLOOM")
RIVALS = {"RedisBloom BF.ADD": CONTENDERS["BF.ADD"]} if RIVAL else {}
# What engines are meant to allocate memory with; the wheel of Valkey is built without it.
JEMALLOC = ctypes.util.find_library("jemalloc")


def benchmark(server, words, pipeline, requests):
    """What `redis-benchmark` prints, of ids that no other run has."""
    command = ["redis-benchmark", "-h", "127.0.0.1", "-p", str(server.port), "-c", "20"]
    command += ["-P", str(pipeline), "-n", str(requests), "-r", str(IDS), "-q"]
    run = next(RUNS)
    command += [word.format(run=run) for word in words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure(server, words, pipeline, requests):
    """Requests per second, and nanoseconds of the server's time for each."""
    before = seconds_taken(server)
    output = benchmark(server, words, pipeline, requests)
    taken = 1e9 * (seconds_taken(server) - before) / requests
    return float(re.findall(r"([\d.]+) requests per second", output)[-1]), taken


def seconds_taken(server):
    """What a server's process has computed so far, its system calls included."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def races(engine):
    """As the engine was built, and with jemalloc if it was built without and there is one."""
    allocator = race(engine, engine)
    if JEMALLOC and not allocator.startswith("jemalloc"):
        race(engine, f"{engine} with jemalloc", before=["env", f"LD_PRELOAD={JEMALLOC}"])


@contextlib.contextmanager
def running(engine, **settings):
    """A server with our module, and who takes part there; if there is a rival, another with that."""
    started = []
    try:
        started.append(Server(engine, **settings))
        if RIVAL:
            started.append(Server(engine, load=False, loadmodule=RIVAL, **settings))
        yield list(zip(started, [CONTENDERS, RIVALS]))
    finally:
        for server in started:
            server.stop()


def race(engine, title, rounds=9, **settings):
    """Prints how all fare, and says with which allocator the engine was built."""
    with running(engine, **settings) as places:
        server = places[0][0]
        allocator = server.client.info("memory")["mem_allocator"]
        print(f"{title} (built with {allocator})")
        server("LATELY.RESERVE", "last", "LAST", RANGE, "ERROR", "0.1%")
        for pipeline, requests in [(1, 60_000), (50, 600_000)]:
            runs = {name: [] for name in [*CONTENDERS, *RIVALS]}
            for _ in range(rounds):
                begin(server)
                for place, contenders in places:
                    for name, words in contenders.items():
                        runs[name].append(measure(place, words, pipeline, requests))
            for name, samples in runs.items():
                report(pipeline, name, samples, runs["SET EX NX"])
        usage(server)
        return allocator


def report(pipeline, name, samples, base):
    """Compares round by round, so that what changes slowly on the machine cancels out."""
    ratios = sorted(one[0] / other[0] for one, other in zip(samples, base))
    lighter = sorted(other[1] / one[1] for one, other in zip(samples, base))
    rate = statistics.median(sample[0] for sample in samples)
    taken = statistics.median(sample[1] for sample in samples)
    print(
        f"  pipeline {pipeline:2}  {name:18} {rate:8.0f}/s, "
        f"{statistics.median(ratios):4.2f} x SET EX NX ({ratios[0]:.2f} to {ratios[-1]:.2f}); "
        f"server {taken:5.0f} ns, {statistics.median(lighter):4.2f} x lighter "
        f"({lighter[0]:.2f} to {lighter[-1]:.2f})",
        flush=True,
    )


def begin(server):
    """Removes what the previous round brought: what lasts for an hour, as keys and in a filter, lasts for
    one round, so that both hold the same. A window by count is full from the second round on."""
    script = "for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', k) end"
    server("EVAL", script, 0, "k*:*")
    server("DEL", "within")
    server("LATELY.RESERVE", "within", "WITHIN", 3_600_000, "ERROR", "0.1%")


def usage(server):
    """Bytes per item by MEMORY USAGE, with a million items in each."""
    server("FLUSHALL", "SYNC")
    server("LATELY.RESERVE", "last", "LAST", RANGE, "ERROR", "0.1%")
    for key in ["within", "within, in a burst"]:
        server("LATELY.RESERVE", key, "WITHIN", 3_600_000, "ERROR", "0.1%")
    # Three windows, at a rate of a million per hour; the last is what they hold. The burst is a
    # million within a second, at the end.
    beginning = 1_700_000_000_000
    for start in range(0, 3 * RANGE, 1000):
        items = [f"k:{i:012}" for i in range(start, start + 1000)]
        moment = beginning + start * 3_600_000 // RANGE
        pipe = server.client.pipeline(transaction=False)
        for key in ["last", "within"]:
            pipe.execute_command("LATELY.ADDAT", key, moment, *items)
        if start < RANGE:
            pipe.execute_command("LATELY.ADDAT", "within, in a burst", beginning + start // 1000, *items)
            pipe.execute_command("BF.MADD", "BF.ADD by default, 1%", *items)
        pipe.execute()
    keys = sorted(key.decode() for key in server.client.keys("*"))
    before = server.client.info("memory")["used_memory"]
    for start in range(0, RANGE, 1000):
        pipe = server.client.pipeline(transaction=False)
        for i in range(start, start + 1000):
            pipe.set(f"k:{i:012}", 1, ex=3600, nx=True)
        pipe.execute()
    each = (server.client.info("memory")["used_memory"] - before) / RANGE
    print(f"  SET EX NX: {each:.1f} bytes per key")
    for key in keys:
        bytes = server("MEMORY", "USAGE", key) / RANGE
        print(
            f"  {key:21} {bytes:6.3f} bytes per item ({8 * bytes:.1f} bits), "
            f"1/{each / bytes:.1f} of SET EX NX"
        )


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(ENGINES):
        races(name)
