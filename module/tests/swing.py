"""What a server's main thread has done, and how long commands keep it while a window by time swings.

`python swing.py [items]` lets one grow to 40 million items, or as many as it is told, and shrink again, and
prints the most that a command of each name took. The tests do the same with fewer.
"""

import pathlib
import random
import sys

from servers import ENGINES, Server

LIMIT = 5e-3
# Items that one command inserts unseen, between two looks.
BATCH = 1000
SPAN = 3_600_000
START = 1_700_000_000_000


class Work:
    """What the main thread of a server has done."""

    def __init__(self, server):
        self.server = server
        pid = server.process.pid
        self.told = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat")
        self.most = {}

    def spent(self):
        # The system counts when the thread pauses; it does, because this question is another command.
        self.server("PING")
        return int(self.told.read_text().split()[0]) / 1e9

    def __call__(self, *words):
        """Runs a command, and keeps what it took if nothing of its name took more."""
        before = self.spent()
        answer = self.server(*words)
        taken = self.spent() - before
        # The field of `LATELY.INFO` is part of its name.
        name = f"{words[0]} {words[2]}" if words[0] == "LATELY.INFO" and len(words) == 3 else words[0]
        self.most[name] = max(taken, self.most.get(name, 0))
        return answer

    def check(self, limit=LIMIT):
        slow = {name: f"{1000 * taken:.1f} ms" for name, taken in self.most.items() if taken > limit}
        assert self.most and not slow, slow


def swing(server, items, looks):
    """Lets a window by time grow and shrink, and looks at some commands of every stage."""
    server("LATELY.RESERVE", "swing", "WITHIN", SPAN, "ERROR", "0.001", "SEED", 1)
    work = Work(server)
    every = max(1, items // looks // BATCH)
    draw = random.Random(1)
    for number in range(items // BATCH):
        moment = START + SPAN * number * BATCH // (2 * items)
        server("LATELY.ADDHASHES", "swing", draw.randbytes(8 * BATCH), "AT", moment)
        if number % every == 0:
            for item in range(5):
                work("LATELY.ADDAT", "swing", moment, f"{number} {item}")
            work("LATELY.SEENAT", "swing", moment, f"{number} 1", "never")
            work("LATELY.FORGET", "swing", f"{number} 3")
            work("LATELY.INFO", "swing", "bytes")
            work("LATELY.INFO", "swing", "false-positives-now")
    full = server("LATELY.INFO", "swing", "bytes")
    # All leaves, a part with every tenth of the span; then nothing but steps, as the timer takes them.
    for tenth in range(30):
        moment = START + SPAN // 2 + tenth * SPAN // 10
        for item in range(5):
            work("LATELY.ADDAT", "swing", moment, f"{tenth} {item}")
        for _ in range(items // 5_000 + 10):
            if work("LATELY.EXPIRE", "swing", moment):
                break
    assert server("LATELY.INFO", "swing", "bytes") < full / 10
    return work


if __name__ == "__main__":
    items = int(float(sys.argv[1])) if len(sys.argv) > 1 else 40_000_000
    for engine in sorted(ENGINES):
        server = Server(engine)
        try:
            for name, taken in swing(server, items, looks=2000).most.items():
                print(f"{engine:7} {name:40} {1000 * taken:6.3f} ms at most", flush=True)
        finally:
            server.stop()
