"""A query in a process of its own, which somebody may kill: from files to files, until nothing is left.

    python stream.py FOLDER MASTER ours|theirs [SETTING=VALUE ...]

`theirs` is what Spark has for it. Afterwards it tells in progress.json how each micro-batch went.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame

import events
import lately.spark
import running

ERROR = 1e-3


def once(stream: DataFrame, whose: str) -> DataFrame:
    if whose == "ours":
        stream = stream.withWatermark("at", f"{events.DELAY} milliseconds")
        return lately.spark.drop_duplicates(stream, "id", within="1m", time="at", error=ERROR)
    # It remembers as long as rows may be late: here the window.
    return stream.withWatermark("at", f"{events.WITHIN} milliseconds").dropDuplicatesWithinWatermark(["id"])


def main(folder: Path, master: str, whose: str, settings: list[str]) -> None:
    spark = running.session(master, dict(setting.split("=", 1) for setting in settings))
    stream = running.reading(spark, folder / "in", events.SCHEMA)
    progress = running.to_files(once(stream, whose), folder / whose)
    # Asked while all workers are there.
    workers = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    (folder / whose / "progress.json").write_text(json.dumps({"workers": workers, "batches": progress}))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
