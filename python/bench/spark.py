"""The state and the time of lately.spark.drop_duplicates beside those of dropDuplicatesWithinWatermark: a million events in
files, each a micro-batch, on a cluster of two worker processes; each query alone, one after the other.

    cargo xtask spark full             # runs this after the tests
    python spark.py 100000 44          # with fewer events, in an environment with Spark and the package

`newest` is what the newest version of the state weighs, which is what a restart reads. `kept` is all that lies on disk,
with as many older versions as Spark keeps unless it is told otherwise, and below it by kind: `sst` holds the state,
`zip` says for each version which of them it is made of, `crc` are checksums. `written` is what a micro-batch adds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests_spark"
sys.path.insert(0, str(TESTS))

import events  # noqa: E402

MASTER = "local-cluster[2,1,1024]"
# Kinds of files by how their names end; changelogs are written where Spark is told so.
OTHERS = "others"
KINDS = ("sst", "zip", "changelog", "crc", OTHERS)
# The first micro-batches wait for workers to start.
WARM = 3


def run(folder: Path, whose: str) -> dict[str, float]:
    log = folder / "log"
    with open(log, "wb") as output:
        command = [sys.executable, str(TESTS / "stream.py"), str(folder), MASTER, whose]
        if subprocess.run(command, stdout=output, stderr=output).returncode:
            raise SystemExit(log.read_text()[-3000:])
    batches = json.loads((folder / whose / "progress.json").read_text())["batches"]
    batches = [batch for batch in batches if batch["numInputRows"]][WARM:]
    metrics = [batch["stateOperators"][0]["customMetrics"] for batch in batches]
    kinds: Counter[str] = Counter()
    for file in (folder / whose / "checkpoint" / "state").rglob("*"):
        if file.is_file():
            kinds[file.suffix[1:] if file.suffix[1:] in KINDS else OTHERS] += file.stat().st_size
    return {
        "milliseconds a batch": statistics.median(batch["durationMs"]["addBatch"] for batch in batches),
        "bytes newest": metrics[-1]["rocksdbSstFileSize"],
        "bytes kept": sum(kinds.values()),
        **{f"bytes kept, {kind}": kinds[kind] for kind in KINDS},
        "bytes written": statistics.median(each["rocksdbBytesCopied"] for each in metrics),
    }


def main(count: int, files: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        events.make(count, files).write(folder / "in")
        ours, theirs = run(folder, "ours"), run(folder, "theirs")
    print(f"{count:,} events in {files} micro-batches")
    for what in ours:
        times = f"theirs / ours {theirs[what] / ours[what]:6.2f}" if ours[what] else ""
        print(f"{what:22} ours {ours[what]:>12,.0f}  theirs {theirs[what]:>12,.0f}  {times}")


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:3])) if len(sys.argv) > 2 else main(1_000_000, 44)
