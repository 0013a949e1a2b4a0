"""How many instructions a server takes for `LATELY.ADD` and for `SET key value EX NX`.

Not a test, and like `race.py` but for the unit: instructions hardly depend on what else the machine
does. `cargo xtask instructions` runs it; it needs valgrind. Whatever the kernel does is not counted. If
`REDISBLOOM` names the file of that module, its `BF.ADD` is counted too.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys

from race import RANGE, benchmark, running
from servers import ENGINES

REQUESTS = 60_000
PIPELINE = 50
# What replicas are sent in other words than the client's: of a window by time the first insertion of a
# millisecond, with its moment. A server that is watched takes so much longer for a command that this comes
# dozens of times as often as in earnest: so it is told apart.
SENT = re.compile(r"^[RV]M_Replicate$")
# How the engine finds a command by its name: by luck of a hash that it draws when it starts, beside one name or
# a few, some 75 instructions each.
LOOKUP = re.compile(r"^lookupCommandLogic$")
# What the server and the module do some times a second, whatever is asked: the more of it, the slower the machine.
CHORES = re.compile(r"^(serverCron|moduleTimerHandler)$")


def count(engine):
    with running(engine, before=["valgrind", "-q", "--tool=callgrind"]) as places:
        ours = places[0][0]
        ours("LATELY.RESERVE", "last", "LAST", RANGE, "ERROR", "0.1%")
        ours("LATELY.RESERVE", "within", "WITHIN", 3_600_000, "ERROR", "0.1%")
        for server, contenders in places:
            for name, words in contenders.items():
                total, sent, looked_up = measure(server, words)
                print(
                    f"{engine:7} {name:18} {total / REQUESTS:6.0f} instructions, "
                    f"of which {looked_up / REQUESTS:.0f} to find the command, "
                    f"and {sent / REQUESTS:.0f} for what is sent in other words",
                    flush=True,
                )


def measure(server, words):
    # Once unseen, so that memory is there and slices are of the size they will have.
    benchmark(server, words, PIPELINE, REQUESTS)
    control(server, "--zero")
    benchmark(server, words, PIPELINE, REQUESTS)
    control(server, "--dump")
    dump = max(glob.glob(f"{server.folder}/callgrind.out.*"), key=os.path.getmtime)
    return read(pathlib.Path(dump))


def control(server, order):
    command = ["callgrind_control", order, str(server.process.pid)]
    subprocess.run(command, check=True, capture_output=True)


def read(dump):
    """The instructions in a profile, without chores and what `SENT` names; those; and those of `LOOKUP`."""
    total, names, callee, is_call = 0, {}, None, False
    below = {SENT: 0, LOOKUP: 0, CHORES: 0}
    for line in dump.read_text().splitlines():
        if name := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            number, text = name.groups()
            names.setdefault(number, text)
            callee = names[number] if line.startswith("c") else callee
        elif line.startswith("calls="):
            is_call = True
        elif summary := re.match(r"(?:summary|totals): (\d+)", line):
            total = int(summary[1])
        elif is_call:
            is_call = False
            for kind in below:
                below[kind] += int(line.split()[1]) if kind.match(callee) else 0
    return total - below[SENT] - below[CHORES], below[SENT], below[LOOKUP]


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(ENGINES):
        count(name)
