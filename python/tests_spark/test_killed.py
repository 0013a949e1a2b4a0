"""A query on a cluster that is killed over and over, in the middle of what it does, and goes on from its checkpoint.

LATELY_SPARK=full is a million events and ten kills; otherwise it is few of both.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import events
from stream import ERROR

FULL = os.environ.get("LATELY_SPARK") == "full"
EVENTS, FILES, KILLS = (1_000_000, 44, 10) if FULL else (30_000, 7, 2)
# Worker processes; whoever starts again may have more or fewer.
MASTERS = ["local-cluster[2,1,1024]", "local-cluster[3,1,1024]"]


def start(folder, master):
    program = Path(__file__).with_name("stream.py")
    command = [sys.executable, str(program), str(folder), master, "ours"]
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(command, start_new_session=True, stdout=log, stderr=log)


def committed(folder):
    """Micro-batches that are done."""
    commits = folder / "ours" / "checkpoint" / "commits"
    return len([name for name in commits.glob("*") if name.name.isdigit()]) if commits.exists() else 0


def kill_during(folder, master, batch, chance):
    """Kills all of it some time after so many micro-batches are done, while it works on the next."""
    process = start(folder, master)
    while committed(folder) < batch:
        if process.poll() is not None:
            process = start_again(folder, master)
        time.sleep(0.02)
    time.sleep(chance.random() * 1.5)
    alive = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert alive, "it was done before it could be killed"


def start_again(folder, master):
    """Starts what ended by itself, if that was for want of time: Spark gives a worker ten seconds to call back."""
    log = (folder / "log").read_text()
    assert "failed to connect back" in log, log[-3000:]
    (folder / "log").unlink()
    return start(folder, master)


def passed_rows(folder):
    """The rows that the sink vouches for."""
    files = []
    log = folder / "ours" / "out" / "_spark_metadata"
    # Beside each is its checksum, in a file whose name begins with a dot.
    numbers = sorted(log.glob("[0-9]*"), key=lambda name: int(name.name.split(".")[0]))
    for name in numbers:
        if name.name.endswith(".compact"):
            files = []
        for line in name.read_text().splitlines()[1:]:
            files.append(json.loads(line)["path"].removeprefix("file://"))
    return np.concatenate([pq.read_table(file)["row"].to_numpy() for file in files])


def test_killed_again_and_again_it_loses_nothing_and_passes_nothing_twice(tmp_path):
    stream = events.make(EVENTS, FILES)
    assert 0.2 < events.share_of_repeats(stream) < 0.35
    stream.write(tmp_path / "in")
    chance = random.Random(1)
    for kill in range(KILLS):
        kill_during(tmp_path, MASTERS[kill % 2], 1 + kill * (FILES - 4) // KILLS, chance)
        print(f"killed after {committed(tmp_path)} micro-batches", flush=True)
    process = start(tmp_path, MASTERS[0])
    while process.wait() != 0:
        process = start_again(tmp_path, MASTERS[0])
    told = json.loads((tmp_path / "ours" / "progress.json").read_text())
    assert told["workers"] >= 2
    print(events.judge(stream, passed_rows(tmp_path), ERROR))


def test_what_is_wrong_is_found():
    stream = events.make(10_000, 7)
    late = events.is_late(stream)
    seen, passed = {}, []
    for row in np.lexsort((stream.moments, stream.files)):
        if late[row]:
            continue
        key, moment = stream.ids[row], stream.moments[row]
        if moment - seen.get(key, -(10**9)) > events.WITHIN:
            passed.append(row)
        seen[key] = max(moment, seen.get(key, 0))
    passed = np.array(passed)
    events.judge(stream, passed, ERROR)
    others = np.setdiff1d(np.flatnonzero(~late), passed)
    for wrong in (
        np.append(passed, passed[5]),
        np.append(passed, others[:1]),
        np.append(passed, np.flatnonzero(late)[:1]),
        passed[: -events.most(len(passed), ERROR) - 1],
    ):
        try:
            events.judge(stream, wrong, ERROR)
        except AssertionError:
            continue
        raise AssertionError("a wrong output was taken for a right one")
