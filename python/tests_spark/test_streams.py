"""Streams on a real Spark, beside oracles, with both of its interfaces for state."""

import collections
import datetime
import decimal
import math
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import events
import lately
import lately.spark
import running

ERROR = 1e-3


def written(folder, *tables):
    """Files that are one micro-batch each."""
    folder.mkdir(exist_ok=True)
    there = len(list(folder.iterdir()))
    for number, table in enumerate(tables, there):
        name = folder / f"{number:05}.parquet"
        pq.write_table(pa.table(table), name)
        os.utime(name, (number, number))
    return folder


def test_events_within_a_window(spark, store, tmp_path):
    stream = events.make(10_000, 7)
    stream.write(tmp_path / "in")
    work = lambda df: lately.spark.drop_duplicates(
        df.withWatermark("at", f"{events.DELAY} milliseconds"), "id", within="1m", time="at", error=ERROR, buckets=5
    )
    out = running.done(spark, work, tmp_path / "in", events.SCHEMA, tmp_path)
    judged = events.judge(stream, np.array([row[0] for row in out.select("row").collect()]), ERROR)
    assert judged["late"] > 0 and judged["passed"] < 0.8 * judged["rows"]


def test_a_query_that_stops_goes_on(spark, store, tmp_path):
    source = tmp_path / "in"
    work = lambda df: lately.spark.drop_duplicates(df, "id", last=1_000_000, error=1e-6, buckets=3)
    first, second = np.arange(3000), np.arange(1500, 4500)
    written(source, {"id": first}, {"id": first})
    assert running.done(spark, work, source, "id long", tmp_path).count() == 3000
    written(source, {"id": second})
    ids = [row[0] for row in running.done(spark, work, source, "id long", tmp_path).collect()]
    assert sorted(ids) == list(range(4500))


def test_rows_come_as_they_were(spark, tmp_path, store):
    big = 2**53 + 1
    twice = [datetime.datetime(2024, 10, 27, hour, 30, tzinfo=datetime.timezone.utc) for hour in (0, 1)]
    table = pa.table(
        {
            "id": pa.array(["a", "b", "c", "b"]),
            "integer": pa.array([big, None, -big, None]),
            "float": pa.array([math.nan, None, -0.0, None]),
            # The same hour of the clock, an hour apart.
            "at": pa.array([twice[0], twice[1], None, twice[1]], pa.timestamp("us", "UTC")),
            "old": pa.array([datetime.datetime(1066, 10, 14), None, None, None], pa.timestamp("us")),
            "day": pa.array([datetime.date(1, 1, 2), None, datetime.date(2024, 2, 29), None]),
            "price": pa.array([decimal.Decimal("1.10"), None, None, None], pa.decimal128(30, 2)),
            "yes": pa.array([True, None, False, None]),
            "bytes": pa.array([b"\x00\xff", None, b"", None]),
            "list": pa.array([[big, None], None, [], None]),
            "map": pa.array([[("x", big)], None, [], None], pa.map_(pa.string(), pa.int64())),
            "struct": pa.array([{"x": None, "y": [twice[0]]}, None, {"x": big, "y": None}, None],
                               pa.struct([("x", pa.int64()), ("y", pa.list_(pa.timestamp("us", "UTC")))])),
        }
    )
    written(tmp_path / "in", table)
    whole = spark.read.parquet(str(tmp_path / "in"))
    schema = whole.schema
    stream = spark.readStream.schema(schema).parquet(str(tmp_path / "in"))
    running.to_files(lately.spark.drop_duplicates(stream, "id"), tmp_path)
    out = spark.read.parquet(str(tmp_path / "out"))
    assert out.schema == schema

    def rows(df):
        return sorted(map(repr, df.withColumn("at", F.unix_micros("at")).collect()))

    assert rows(out) == rows(whole.dropDuplicates(["id"])) and out.count() == 3


def test_keys_of_several_columns_and_missing_ones(spark, tmp_path):
    running.keep_state_in(spark, running.ROCKSDB)
    pairs = {"a": ["x", None, "x", None, None, "xy", "x"], "b": [None, "x", None, "x", None, "z", "yz"]}
    written(tmp_path / "in", {**pairs, "number": list(range(7))})
    work = lambda df: lately.spark.drop_duplicates(df, ["a", "b"])
    out = running.done(spark, work, tmp_path / "in", "a string, b string, number long", tmp_path).collect()
    distinct = {(row["a"], row["b"]) for row in out}
    assert len(out) == 5 and distinct == set(zip(pairs["a"], pairs["b"]))


def test_by_the_time_of_the_machine(spark, store, tmp_path):
    written(tmp_path / "in", {"id": [1, 2, 1]}, {"id": [2, 3]})
    work = lambda df: lately.spark.drop_duplicates(df, "id", within="1h")
    out = running.done(spark, work, tmp_path / "in", "id long", tmp_path)
    assert sorted(row[0] for row in out.collect()) == [1, 2, 3]


def test_a_micro_batch_longer_than_the_window_is_taken_in_order(spark, store, tmp_path):
    hour = 3_600_000_000
    begin = events.BEGIN * 1000
    moments = [begin + 5 * hour, begin + hour, begin + 2 * hour + 1, begin + 2 * hour, begin + 10 * hour]
    table = {"id": [1, 2, 3, 2, 1], "at": pa.array(moments, pa.timestamp("us", "UTC")), "row": range(5)}
    written(tmp_path / "in", {name: pa.array(column) for name, column in table.items()})
    work = lambda df: lately.spark.drop_duplicates(df.withWatermark("at", "1 second"), "id", within="61m", time="at")
    out = running.done(spark, work, tmp_path / "in", "id long, at timestamp, row long", tmp_path)
    assert sorted(row["row"] for row in out.collect()) == [0, 1, 2, 4]


def test_counts_within_a_window(spark, store, tmp_path):
    rng = np.random.default_rng(1)
    files = [rng.integers(0, 50, 500) for _ in range(4)]
    minute = 60_000_000
    for number, keys in enumerate(files):
        # Each file a minute after the one before, all of it at one moment.
        at = pa.array([events.BEGIN * 1000 + number * minute] * len(keys), pa.timestamp("us", "UTC"))
        written(tmp_path / "in", {"id": keys, "at": at, "file": [number] * len(keys)})
    work = lambda df: lately.spark.count_within(
        df.withWatermark("at", "1 second"), "id", within="90s", time="at", error=1e-9, slack="1s", column="times"
    )
    out = running.done(spark, work, tmp_path / "in", "id long, at timestamp, file long", tmp_path).collect()
    found = collections.defaultdict(list)
    for row in out:
        found[row["file"], row["id"]].append(row["times"])
    for number, keys in enumerate(files):
        before = collections.Counter(files[number - 1].tolist() if number else [])
        for key, times in collections.Counter(keys.tolist()).items():
            expected = [before[key] + time for time in range(1, times + 1)]
            assert sorted(found[number, key]) == expected


def test_the_watermark_is_handed_on(spark, tmp_path):
    written(tmp_path / "in", {"id": [1], "at": pa.array([events.BEGIN * 1000], pa.timestamp("us", "UTC"))})
    stream = running.reading(spark, tmp_path / "in", "id long, at timestamp").withWatermark("at", "7 seconds")
    once = lately.spark.drop_duplicates(stream, "id", within="1h", time="at")
    assert once.schema["at"].metadata == {"spark.watermarkDelayMs": 7000}


def test_what_is_refused(spark, tmp_path):
    still = spark.range(3)
    (tmp_path / "in").mkdir()
    stream = running.reading(spark, tmp_path / "in", "id long, at timestamp")
    with pytest.raises(TypeError, match="does not stream"):
        lately.spark.drop_duplicates(still, "id")
    with pytest.raises(ValueError, match="withWatermark"):
        lately.spark.drop_duplicates(stream, "id", within="1h", time="at")
    with pytest.raises(ValueError, match="withWatermark"):
        lately.spark.drop_duplicates(stream, "id", within="1h", time="nothing")
    with pytest.raises(TypeError, match="within="):
        lately.spark.drop_duplicates(stream, "id", time="at")
    with pytest.raises(TypeError, match="keyed"):
        lately.spark.drop_duplicates(stream, "id", keyed=b"x" * 16)
    with pytest.raises(ValueError, match="one bucket"):
        lately.spark.drop_duplicates(stream, "id", buckets=0)
    with pytest.raises(ValueError, match="which columns"):
        lately.spark.drop_duplicates(stream, [])
    with pytest.raises(ValueError, match="already"):
        lately.spark.count_within(stream, "id", column="at")
    with pytest.raises(lately.NoPlanError):
        lately.spark.drop_duplicates(stream, "id", last=10**6, memory=100)
    with pytest.raises(TypeError, match="count_within"):
        lately.spark.count(stream, "id")
