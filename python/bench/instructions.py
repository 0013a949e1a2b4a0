"""Instructions for each key, by lately and its rivals, under valgrind: they need no quiet machine. Of each program the same without
keys is subtracted.

    cargo xtask python-race instructions
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

KEYS = 100_000

TEXTS = """
import random, sys
chance = random.Random(1)
distinct = [f"user:{chance.getrandbits(60):015x}" for _ in range(KEYS // 2)]
keys = distinct + distinct
chance.shuffle(keys)
keys = [key[:1] + key[1:] for key in keys]
if sys.argv[1] == "nothing":
    keys = []
new = []
"""
INTEGERS = """
import sys
import numpy as np
keys = np.random.default_rng(1).integers(0, 1 << 62, KEYS // 2)
keys = np.random.default_rng(2).permutation(np.concatenate([keys, keys]))
if sys.argv[1] == "nothing":
    keys = keys[:0]
"""
PROGRAMS = {
    "lately: add": TEXTS + """
import lately
add = lately.Window(last=1_000_000, error=1e-3).add
new = [add(key) for key in keys]
""",
    "rbloom: in, add": TEXTS + """
import rbloom
seen = rbloom.Bloom(1_000_000, 1e-3)
for key in keys:
    if key in seen:
        new.append(False)
    else:
        seen.add(key)
        new.append(True)
""",
    "set: in, add": TEXTS + """
seen = set()
for key in keys:
    if key in seen:
        new.append(False)
    else:
        seen.add(key)
        new.append(True)
""",
    "lately: add_all of numpy integers": INTEGERS + """
import lately
lately.Window(last=1_000_000, error=1e-3).add_all(keys)
""",
    "set comprehension of numpy integers": INTEGERS + """
{key for key in keys}
""",
}


def collected(program: str, which: str) -> int:
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*valgrind, sys.executable, "-c", program.replace("KEYS", str(KEYS)), which]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})
    return int(re.findall(r"Collected : (\d+)", done.stderr)[0])


def main() -> None:
    taken = {}
    for name, program in PROGRAMS.items():
        taken[name] = (collected(program, "all") - collected(program, "nothing")) / KEYS
        print(f"{name:40} {taken[name]:8.0f} instructions a key", flush=True)
    for one, other in (
        ("lately: add", "rbloom: in, add"),
        ("lately: add", "set: in, add"),
        ("set comprehension of numpy integers", "lately: add_all of numpy integers"),
    ):
        print(f"{one} / {other}: {taken[one] / taken[other]:.2f}")


if __name__ == "__main__":
    main()
