"""Streams: rows to buckets, and what a bucket does with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructField, StructType, TimestampType

from .._lately import part
from . import _packed
from ._bucket import Beginning, Bucket
from ._packed import BUCKET, HASH, LATEST, MOMENT, ROWS
from ._stateful import with_state

Columns = Union[str, list[str]]

# Where Spark notes how late rows may come: in the metadata of the column of moments, in milliseconds.
DELAY = "spark.watermarkDelayMs"


def drop_duplicates(
    df: DataFrame, key: Columns, *, time: str | None = None, buckets: int = 16, **wishes: Any
) -> DataFrame:
    """The rows of a stream whose key did not come lately. What lately means is said as for `lately.Window`, by
    `within=` or `last=`; without them it is ever. `error=` is the share of new rows that may be dropped.

    `key` names one column or several; rows in which they are missing alike are alike. `time` names the column of moments
    of a window by time, which must have a watermark: of two rows of one key that are at most the window apart, and come
    no later than the watermark allows, the first passes. Later rows are dropped, as always in Spark. Without `time`
    what counts is when Spark begins the micro-batch.

    `buckets` is how many filters there are, and so how many tasks can work at once. It is part of the checkpoint, like
    all that is said here: to change it means to begin anew."""
    return _through(df, key, time, buckets, wishes, None)


def count_within(
    df: DataFrame, key: Columns, *, time: str | None = None, column: str = "count", buckets: int = 16, **wishes: Any
) -> DataFrame:
    """The rows of a stream, each with how often its key has come lately, itself included, in a column of its own. As
    `drop_duplicates` in all else; no count is too low."""
    if column in df.columns:
        raise ValueError(f"there is a column {column!r} already: name another with column=")
    return _through(df, key, time, buckets, {**wishes, "counting": True}, column)


@dataclass(frozen=True)
class Deed:
    """What is done with the rows of a bucket: sent to whoever does it."""

    beginning: Beginning
    # Whether a column says the moments.
    has_time: bool
    # Where counts go; nowhere if rows are dropped.
    count: str | None

    def do(self, bucket: Bucket, pieces: Iterable[bytes], watermark: int) -> Iterator[bytes]:
        """Rows that pass, of packed rows that came."""
        tables = map(_packed.read, pieces)
        if self.has_time:
            # A micro-batch may span more time than rows may be late: in order they come.
            table = pa.concat_tables(list(tables))
            table = table.filter(pc.greater(table[MOMENT], watermark))
            tables = iter([table.take(pc.sort_indices(table[MOMENT]))])
        for table in tables:
            if table.num_rows:
                yield _packed.write(self._passed(bucket, table))

    def _passed(self, bucket: Bucket, table: pa.Table) -> pa.Table:
        names = table.schema.names
        hashes = table[HASH].to_numpy()
        moments = table[MOMENT].to_numpy() if MOMENT in names else None
        answers = bucket.add(hashes, moments)
        rows = table.drop_columns([name for name in (HASH, MOMENT) if name in names])
        if self.count is None:
            return rows.filter(pa.array(answers))
        counts = np.minimum(answers, np.uint64(2**63 - 1)).astype(np.int64)
        return rows.append_column(self.count, pa.array(counts))


def _through(
    df: DataFrame, key: Columns, time: str | None, buckets: int, wishes: dict[str, Any], count: str | None
) -> DataFrame:
    if not df.isStreaming:
        raise TypeError("this DataFrame does not stream: dropDuplicates and groupBy do it at once, and lately.spark.count")
    timed = wishes.get("within") is not None
    if time is not None and not timed:
        raise TypeError("`time` is for windows by time: say within=")
    delay = 0 if time is None else _delay(df, time)
    beginning = Beginning.of(part(buckets, delay, **wishes), wishes.get("max_ahead"))

    rows = df.withColumn(HASH, _hash(df, key))
    if timed:
        moment = F.current_timestamp() if time is None else F.col(time).cast("timestamp")
        rows = rows.withColumn(MOMENT, F.unix_millis(moment))
    packed_schema = StructType(
        [
            StructField(BUCKET, IntegerType(), False),
            # What is noted of the column of moments holds for the latest of many, too.
            StructField(LATEST, TimestampType(), True, {} if time is None else {DELAY: delay}),
            StructField(ROWS, BinaryType(), False),
        ]
    )
    packed = rows.mapInArrow(_packed.packing(buckets), packed_schema)
    passed = with_state(packed, Deed(beginning, time is not None, count))
    schema = StructType(list(df.schema.fields))
    if count is not None:
        schema = schema.add(StructField(count, LongType(), False))
    return passed.mapInArrow(_packed.unpack, schema)


def _hash(df: DataFrame, key: Columns) -> Any:
    names = [key] if isinstance(key, str) else list(key)
    if not names:
        raise ValueError("say which columns are the key")
    # Spark skips what is missing, so that ("a", None) and (None, "a") would be one key.
    parts = [part for name in names for part in (F.isnull(df[name]), df[name])]
    return F.xxhash64(*parts)


def _delay(df: DataFrame, time: str) -> int:
    for field in df.schema.fields:
        if field.name == time and DELAY in (field.metadata or {}):
            return int(field.metadata[DELAY])
    raise ValueError(
        f"say how late rows may come: df.withWatermark({time!r}, '10 minutes') before, on a column of this name"
    )
