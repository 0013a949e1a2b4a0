"""How long commands keep a server while a window by time swings.

`python swing.py [items]` lets one grow to 40 million items, or as many as it is told, and shrink again, and
prints the most that a command of each name took. The tests do the same with fewer.
"""

import random
import sys

from servers import ENGINES, Server
from work import Work

# Items that one command inserts unseen, between two looks.
BATCH = 1000
SPAN = 3_600_000
START = 1_700_000_000_000


def swing(server, work, items, looks):
    """Lets a window by time grow and shrink, and looks at some commands of every stage."""
    server("LATELY.RESERVE", "swing", "WITHIN", SPAN, "ERROR", "0.001", "SEED", 1)
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
            assert work("LATELY.CARD", "swing", moment) > 0.9 * number * BATCH
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


if __name__ == "__main__":
    items = int(float(sys.argv[1])) if len(sys.argv) > 1 else 40_000_000
    for engine in sorted(ENGINES):
        server = Server(engine)
        try:
            work = Work(server)
            swing(server, work, items, looks=2000)
            for name, taken in work.most().items():
                print(f"{engine:7} {name:40} {1000 * taken:6.3f} ms at most", flush=True)
        finally:
            server.stop()
