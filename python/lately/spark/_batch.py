"""DataFrames that do not stream: what can be said of their keys by a sketch of each partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Union

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

import lately

from ._packed import Batches

Columns = Union[str, list[str]]


def count(df: DataFrame, key: Columns, **wishes: Any) -> lately.Counter:
    """How often each key is in a DataFrame: a counter for each partition, made where that is, and their sum. Keys are text,
    bytes, integers or, of several columns, tuples of those; rows in which one is missing are left out.

        words = lately.spark.count(df, "word")
        words["the"]
    """
    empty = _counter(wishes)
    names = _listed(key)
    total = lately.open(empty)
    assert isinstance(total, lately.Counter)
    sketches = _keys(df, names).mapInArrow(_sketching(empty, names), "sketch binary")
    for sketch in sketches.toLocalIterator():
        total.merge(lately.Counter.open(bytes(sketch[0])))
    return total


def join_counts(
    left: DataFrame, right: DataFrame, on: Columns, *, at_least: int = 1, column: str = "count", **wishes: Any
) -> DataFrame:
    """How many rows the join of two DataFrames has for each key: `on` and the count, of keys with as many at least. No row
    of the right side is sent anywhere, but a counter of its keys; a row of the left side only if its key is in that. No
    count is too low, and the share of those that are too high is `error=`."""
    names = _listed(on)
    if column in names:
        raise ValueError(f"there is a column {column!r} already: name another with column=")
    sketch = bytes(count(right, names, **wishes))
    keys = _keys(left, names)
    # The count of a key on the right, once for each row on the left: their sum is the product.
    schema = StructType([*keys.schema.fields, StructField(column, LongType(), False)])
    paired = keys.mapInArrow(_pairing(sketch, names), schema)
    joined = paired.groupBy(*names).agg(F.sum(column).alias(column))
    return joined if at_least <= 1 else joined.where(F.col(column) >= at_least)


def _counter(wishes: dict[str, Any]) -> bytes:
    windows = [name for name in ("last", "within") if wishes.get(name) is not None]
    if windows:
        raise TypeError(f"partitions have no order, so that there is no window: not {windows[0]}")
    return bytes(lately.Counter(**wishes))


def _listed(key: Columns) -> list[str]:
    names = [key] if isinstance(key, str) else list(key)
    if not names:
        raise ValueError("say which columns are the key")
    return names


def _keys(df: DataFrame, names: list[str]) -> DataFrame:
    if df.isStreaming:
        raise TypeError("this DataFrame streams: lately.spark.count_within counts there")
    return df.select(*names).dropna()


def _sketching(empty: bytes, names: list[str]) -> Callable[[Batches], Batches]:
    def sketch(batches: Batches) -> Batches:
        counter = lately.Counter.open(empty)
        for batch in batches:
            counter.add_all(_column(batch, names))
        yield pa.RecordBatch.from_arrays([pa.array([bytes(counter)], pa.binary())], ["sketch"])

    return sketch


def _pairing(sketch: bytes, names: list[str]) -> Callable[[Batches], Batches]:
    def pair(batches: Batches) -> Iterator[pa.RecordBatch]:
        counter = lately.Counter.open(sketch)
        for batch in batches:
            counts = np.asarray(counter.count_all(_column(batch, names)))
            counts = pa.array(np.minimum(counts, np.uint64(2**63 - 1)).astype(np.int64))
            paired = pa.RecordBatch.from_arrays([*batch.columns, counts], [*batch.schema.names, "count"])
            yield paired.filter(pa.compute.greater(counts, 0))

    return pair


def _column(batch: pa.RecordBatch, names: list[str]) -> Any:
    return batch.column(0) if len(names) == 1 else pa.Table.from_batches([batch])
