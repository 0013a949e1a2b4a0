"""Frames of polars without what came lately: `df.lately.drop_duplicates("id", last=1_000_000)`.

>>> import lately.polars, polars
>>> df = polars.DataFrame({"id": ["a", "b", "a"], "at": [0.0, 1.0, 2.0]})
>>> df.lately.drop_duplicates("id", within="1m", time="at")["id"].to_list()
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from . import _frames
from ._frames import Columns
from ._lately import Window

__all__ = ["drop_duplicates"]


def drop_duplicates(
    frames: Iterable[pl.DataFrame],
    subset: Columns,
    *,
    seen: Window | None = None,
    time: str | None = None,
    nulls: str = "error",
    **wishes: Any,
) -> Iterator[pl.DataFrame]:
    """Each frame without the rows whose key came lately, in this frame or one before: memory is that of one frame and
    of the window. `seen` is a window to go on with; otherwise one is made as the wishes say, `Ever` if they say none.
    `time` names the column of moments for a window by time, in place of the clock."""
    remembered = _frames.window(seen, wishes)
    for frame in frames:
        yield frame.filter(_new(frame, subset, remembered, time, nulls))


def _new(frame: pl.DataFrame, subset: Columns, seen: Window, time: str | None, nulls: str) -> Any:
    names = _frames.listed(subset)
    keys: Any = frame[names[0]] if len(names) == 1 else frame.select(names)
    return seen.add_all(keys, None if time is None else frame[time], nulls)  # type: ignore[arg-type]


@pl.api.register_dataframe_namespace("lately")
class _DataFrame:
    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def drop_duplicates(self, subset: Columns, **wishes: Any) -> pl.DataFrame:
        """The rows whose key did not come lately; keywords as those of `lately.polars.drop_duplicates`."""
        return next(drop_duplicates([self._frame], subset, **wishes))


@pl.api.register_lazyframe_namespace("lately")
class _LazyFrame:
    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def drop_duplicates(self, subset: Columns, **wishes: Any) -> Iterator[pl.DataFrame]:
        """The same, batch after batch as polars reads them: the whole is never in memory."""
        return drop_duplicates(self._frame.collect_batches(maintain_order=True), subset, **wishes)
