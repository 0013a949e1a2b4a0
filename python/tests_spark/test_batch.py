"""Counts of DataFrames that do not stream, beside exact ones."""

import collections

import numpy as np
import pytest
from pyspark.sql import functions as F

import events
import lately.spark

ERROR = 0.01


def of_keys(spark, keys, name="word"):
    frame = spark.createDataFrame([(key,) for key in keys], f"{name} string")
    return frame.repartition(5)


def zipf(seed, count=20_000):
    return [f"w{number}" for number in np.random.default_rng(seed).zipf(1.3, count) % 5000]


def test_counts_of_all_partitions(spark):
    keys = zipf(1)
    truth = collections.Counter(keys)
    counter = lately.spark.count(of_keys(spark, [*keys, None]), "word", error=ERROR)
    found = dict(zip(truth, counter.count_all(list(truth))))
    assert all(found[key] >= times for key, times in truth.items())
    assert sum(found[key] != times for key, times in truth.items()) <= events.most(len(truth), ERROR)
    assert lately.spark.count(of_keys(spark, []), "word")["w1"] == 0


def test_keys_of_several_columns(spark):
    frame = spark.range(1000).select((F.col("id") % 7).alias("a"), (F.col("id") % 3).cast("string").alias("b"))
    counter = lately.spark.count(frame, ["a", "b"], error=1e-9)
    truth = collections.Counter((number % 7, str(number % 3)) for number in range(1000))
    assert {pair: counter[pair] for pair in truth} == dict(truth)


@pytest.mark.parametrize("at_least", [1, 500])
def test_rows_of_a_join(spark, at_least):
    left, right = zipf(1, 5000), [*zipf(2), "only right"]
    left += ["only left"] * 3
    pairs = lately.spark.join_counts(
        of_keys(spark, left), of_keys(spark, right), "word", at_least=at_least, column="pairs", error=ERROR
    )
    ours, theirs = collections.Counter(left), collections.Counter(right)
    truth = {key: times * theirs[key] for key, times in ours.items() if times * theirs[key] >= at_least}
    found = {row["word"]: row["pairs"] for row in pairs.collect()}
    assert truth.keys() <= found.keys() and all(found[key] >= times for key, times in truth.items())
    wrong = sum(found[key] != truth.get(key, 0) for key in found)
    assert wrong <= events.most(len(ours), ERROR)


def test_a_join_by_several_columns(spark):
    left = spark.createDataFrame([("a", 1), ("a", 1), ("b", 2), ("c", None)], "x string, y long")
    right = spark.createDataFrame([("a", 1), ("a", 2), ("b", 2), ("b", 2), ("c", None)], "x string, y long")
    found = lately.spark.join_counts(left, right, ["x", "y"], error=1e-9).collect()
    assert sorted(map(tuple, found)) == [("a", 1, 2), ("b", 2, 2)]


def test_what_is_refused(spark):
    with pytest.raises(TypeError, match="no window"):
        lately.spark.count(spark.range(3), "id", last=10)
    with pytest.raises(ValueError, match="already"):
        lately.spark.join_counts(spark.range(3), spark.range(3), "id", column="id")
