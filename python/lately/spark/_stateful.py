"""The state of buckets in Spark: by `transformWithStateInPandas`, which keeps a list beside a value and writes only what is
new of it, or else by `applyInPandasWithState`, which writes the whole at every change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import DataFrame

from ._bucket import Bucket, Piece, Snapshot
from ._packed import BUCKET, ROWS

if TYPE_CHECKING:
    from ._streams import Deed

PASSED = "rows binary"
# What can keep lists in Spark.
STORE = "RocksDBStateStoreProvider"


def with_state(packed: DataFrame, deed: Deed) -> DataFrame:
    """Packed rows after the deed of their bucket."""
    grouped = packed.groupBy(BUCKET)
    store = packed.sparkSession.conf.get("spark.sql.streaming.stateStore.providerClass", "")
    if hasattr(grouped, "transformWithStateInPandas") and (store or "").endswith(STORE):
        _check_protobuf()
        mode = "EventTime" if deed.has_time else "None"
        return grouped.transformWithStateInPandas(_processor(deed), PASSED, "Append", mode)
    timeout = "EventTimeTimeout" if deed.has_time else "NoTimeout"
    return grouped.applyInPandasWithState(_function(deed), PASSED, "filter binary", "append", timeout)


def _check_protobuf() -> None:
    try:
        import google.protobuf  # noqa: F401
    except ImportError as missing:
        words = "Spark needs it to keep lists as state: pip install protobuf, wherever executors run"
        raise ImportError(words) from missing


def _processor(deed: Deed) -> Any:
    from pyspark.sql.streaming import StatefulProcessor

    class Processor(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self._snapshot = handle.getValueState("snapshot", "data binary")
            self._pieces = handle.getListState("pieces", "data binary")

        def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
            kept = self._snapshot.get()
            bucket = Bucket(deed.beginning, kept and bytes(kept[0]), (bytes(piece[0]) for piece in self._pieces.get()))
            watermark = timerValues.getCurrentWatermarkInMs() if deed.has_time else 0
            yield from _passed(deed, bucket, rows, watermark)
            changes = bucket.changes()
            if isinstance(changes, Piece):
                self._pieces.appendValue((changes.data,))
            elif isinstance(changes, Snapshot):
                self._snapshot.update((changes.data,))
                self._pieces.clear()

        def close(self) -> None:
            pass

    return Processor()


def _function(deed: Deed) -> Any:
    def function(key: Any, rows: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        kept = state.getOption
        bucket = Bucket(deed.beginning, kept and bytes(kept[0]), ())
        watermark = state.getCurrentWatermarkMs() if deed.has_time else 0
        yield from _passed(deed, bucket, rows, watermark)
        if bucket.changes() is not None:
            state.update((bucket.snapshot(),))

    return function


def _passed(deed: Deed, bucket: Bucket, frames: Iterator[pd.DataFrame], watermark: int) -> Iterator[pd.DataFrame]:
    pieces = (bytes(rows) for frame in frames for rows in frame[ROWS])
    for passed in deed.do(bucket, pieces, watermark):
        yield pd.DataFrame({ROWS: [passed]})
