"""Spark as the tests want it, and queries from files to files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

PROVIDERS = "org.apache.spark.sql.execution.streaming.state."
ROCKSDB = "RocksDBStateStoreProvider"


def session(master: str, settings: dict[str, str] | None = None) -> SparkSession:
    # Spark starts its workers with whatever is called python3, unless it is told.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("lately")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.executor.memory": "1g",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in {**fixed, **(settings or {})}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    keep_state_in(spark, ROCKSDB)
    return spark


def keep_state_in(spark: SparkSession, store: str) -> None:
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", PROVIDERS + store)


def reading(spark: SparkSession, source: Path, schema: str) -> DataFrame:
    """A stream of a folder's files, one in each micro-batch, in the order of their age."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))


def to_files(stream: DataFrame, folder: Path) -> list[dict]:
    """Runs until nothing is left, and tells how each micro-batch went. Goes on where it was if it ran before."""
    writer = stream.writeStream.format("parquet").option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    return [json.loads(progress.json) for progress in query.recentProgress]


def done(spark: SparkSession, work: Callable[[DataFrame], DataFrame], source: Path, schema: str, folder: Path) -> DataFrame:
    """What a stream of files becomes."""
    to_files(work(reading(spark, source, schema)), folder)
    return spark.read.parquet(str(folder / "out"))
