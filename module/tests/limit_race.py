"""`LATELY.LIMIT` beside what people use for limits in the same server, in one alternating run.

Not a test: what it prints depends on the machine. `cargo xtask limit-race` runs it. A limit of 100 per minute of
each subject: a sorted set of moments per subject in a script, the same of commands in a transaction, and `INCR`
with `EXPIRE`, whose window does not slide. Subjects are a million cold ones, or one hot one that is denied nearly
always. It tells the processor time of the server for a request, and the memory that a subject takes.
"""

import statistics
import sys
import time

from race import benchmark, seconds_taken
from servers import ENGINES, Server

LIMIT, WINDOW, SUBJECTS = 100, 60_000, 200_000
# The recipe that is found everywhere: drop what has left, count, and add if there is room.
SORTED_SET = """
local now = redis.call('TIME')
local moment = now[1] * 1000000 + now[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, moment - tonumber(ARGV[2]) * 1000)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], moment, moment)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""
COUNTER = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if count > tonumber(ARGV[1]) then return 0 end
return 1
"""


def contenders(server, subject):
    """The words of each, for subjects of this name."""
    sorted_set, counter = (server("SCRIPT", "LOAD", script).decode() for script in [SORTED_SET, COUNTER])
    words = [str(LIMIT), str(WINDOW)]
    return {
        "LATELY.LIMIT": ["LATELY.LIMIT", "limits", f"{subject}", str(LIMIT)],
        "ZSET in a script": ["EVALSHA", sorted_set, "1", f"z:{subject}", *words],
        "INCR and EXPIRE in a script": ["EVALSHA", counter, "1", f"i:{subject}", *words],
        "INCR alone": ["INCR", f"n:{subject}"],
    }


def race(engine, rounds=5, requests=100_000, pipeline=50):
    server = Server(engine, maxmemory="0")
    try:
        for title, subject in [("a million cold subjects", "s{run}:__rand_int__"), ("one hot subject", "hot")]:
            print(f"{engine}, {title}")
            runs = {}
            for _ in range(rounds):
                server("FLUSHALL", "SYNC")
                server("LATELY.RESERVE", "limits", "WITHIN", WINDOW, "ERROR", "0.1%", "COUNTING")
                for name, words in contenders(server, subject).items():
                    before = seconds_taken(server)
                    benchmark(server, words, pipeline, requests)
                    runs.setdefault(name, []).append((seconds_taken(server) - before) / requests)
            base = runs["ZSET in a script"]
            for name, taken in runs.items():
                ratios = sorted(other / one for one, other in zip(taken, base))
                print(
                    f"  {name:28} {1e9 * statistics.median(taken):6.0f} ns of the server, "
                    f"{statistics.median(ratios):5.2f} x the requests of the sorted set "
                    f"({ratios[0]:.2f} to {ratios[-1]:.2f})",
                    flush=True,
                )
        usage(server)
    finally:
        server.stop()


def usage(server):
    """Bytes per subject, each seen once, as the server's memory grows."""
    sorted_set, counter = (server("SCRIPT", "LOAD", script).decode() for script in [SORTED_SET, COUNTER])
    recipes = {
        "LATELY.LIMIT": lambda i: ("LATELY.LIMIT", "limits", f"subject:{i:08}", LIMIT),
        "ZSET in a script": lambda i: ("EVALSHA", sorted_set, 1, f"z:{i:08}", LIMIT, 1000 * WINDOW),
        "INCR and EXPIRE in a script": lambda i: ("EVALSHA", counter, 1, f"i:{i:08}", LIMIT, 1000 * WINDOW),
    }
    for name, words in recipes.items():
        server("FLUSHALL", "SYNC")
        server("LATELY.RESERVE", "limits", "WITHIN", 1000 * WINDOW, "ERROR", "0.1%", "COUNTING")
        time.sleep(0.5)
        before = server.client.info("memory")["used_memory"]
        for start in range(0, SUBJECTS, 1000):
            pipe = server.client.pipeline(transaction=False)
            for subject in range(start, start + 1000):
                pipe.execute_command(*words(subject))
            pipe.execute()
        grown = server.client.info("memory")["used_memory"] - before
        print(f"  {name:28} {grown / SUBJECTS:6.1f} bytes per subject", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(ENGINES):
        race(name)
