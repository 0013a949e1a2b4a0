"""`LATELY.ADD` beside `SET key value EX NX` in the same server, in one alternating run.

Not a test: what it prints depends on the machine. `cargo xtask race` runs it.
"""

import re
import statistics
import subprocess
import sys

from servers import ENGINES, Server

# Items in a window, and how many different ids there are: nearly every id is new, as in a stream of
# events, of which a queue delivers some twice.
RANGE = 1_000_000
IDS = 1_000_000_000
CONTENDERS = {
    "SET EX NX": ["SET", "k:__rand_int__", "1", "EX", "3600", "NX"],
    "LATELY.ADD last": ["LATELY.ADD", "last", "k:__rand_int__"],
    "LATELY.ADD within": ["LATELY.ADD", "within", "k:__rand_int__"],
    "LATELY.SEEN last": ["LATELY.SEEN", "last", "k:__rand_int__"],
    "BF.ADD": ["BF.ADD", "bloom", "k:__rand_int__"],
}


def measure(server, words, pipeline, requests):
    command = ["redis-benchmark", "-h", "127.0.0.1", "-p", str(server.port), "-c", "20"]
    command += ["-P", str(pipeline), "-n", str(requests), "-r", str(IDS), "-q", *words]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.findall(r"([\d.]+) requests per second", output)[-1])


def race(engine, rounds=3):
    server = Server(engine)
    try:
        server("LATELY.RESERVE", "last", "LAST", RANGE, "ERROR", "0.1%")
        server("LATELY.RESERVE", "within", "WITHIN", 3_600_000, "ERROR", "0.1%")
        server("BF.RESERVE", "bloom", 0.01, 100)
        for pipeline, requests in [(1, 60_000), (50, 1_000_000)]:
            rates = {name: [] for name in CONTENDERS}
            for _ in range(rounds):
                remove(server, "k:*")
                for name, words in CONTENDERS.items():
                    rates[name].append(measure(server, words, pipeline, requests))
            base = statistics.median(rates["SET EX NX"])
            for name, samples in rates.items():
                middle = statistics.median(samples)
                print(
                    f"{engine:8} pipeline {pipeline:2}  {name:18} {middle:10.0f}/s  "
                    f"{middle / base:5.2f} x SET EX NX  (from {min(samples):.0f} to {max(samples):.0f})"
                )
        usage(server)
    finally:
        server.stop()


def remove(server, pattern):
    """Removes the keys of the previous round, so that every round begins alike."""
    script = "for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end"
    server("EVAL", script, 0, pattern)


def usage(server):
    """Bytes per item by MEMORY USAGE, with a million items in each."""
    server.client.flushall()
    keys = []
    for key, wish in [
        ("last", f"LAST {RANGE} ERROR 0.1%"),
        ("within", "WITHIN 3600000 ERROR 0.1%"),
        ("ever", "EVER ERROR 1%"),
    ]:
        server("LATELY.RESERVE", key, *wish.split())
        keys.append(key)
    # Three windows, at a rate of a million per hour; the last is what they hold.
    for start in range(0, 3 * RANGE, 1000):
        items = [f"k:{i:012}" for i in range(start, start + 1000)]
        moment = 1_700_000_000_000 + start * 3_600_000 // RANGE
        pipe = server.client.pipeline(transaction=False)
        for key in keys:
            if key != "ever" or start < RANGE:
                pipe.execute_command("LATELY.ADDAT", key, moment, *items)
        pipe.execute()
    before = server.client.info("memory")["used_memory"]
    for start in range(0, RANGE, 1000):
        pipe = server.client.pipeline(transaction=False)
        for i in range(start, start + 1000):
            pipe.set(f"k:{i:012}", 1, ex=3600, nx=True)
        pipe.execute()
    each = (server.client.info("memory")["used_memory"] - before) / RANGE
    one = server("MEMORY", "USAGE", "k:000000000007")
    print(f"{server.engine:8} SET EX NX: {each:.1f} bytes per key (MEMORY USAGE {one})")
    for key in keys:
        bytes = server("MEMORY", "USAGE", key) / RANGE
        print(f"{server.engine:8} {key:7} {bytes:6.3f} bytes per item, 1/{each / bytes:.1f} of SET EX NX")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(ENGINES):
        race(name)
