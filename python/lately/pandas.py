"""Frames of pandas without what came lately: `df.lately.drop_duplicates("id", last=1_000_000)`.

>>> import lately.pandas, pandas
>>> df = pandas.DataFrame({"id": ["a", "b", "a"], "at": [0.0, 1.0, 2.0]})
>>> df.lately.drop_duplicates("id", within="1m", time="at")["id"].to_list()
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from . import _frames
from ._frames import Columns
from ._lately import Window

__all__ = ["drop_duplicates"]


def drop_duplicates(
    frames: Iterable[pd.DataFrame],
    subset: Columns,
    *,
    seen: Window | None = None,
    time: str | None = None,
    nulls: str = "error",
    **wishes: Any,
) -> Iterator[pd.DataFrame]:
    """Each frame without the rows whose key came lately, in this frame or one before: memory is that of one frame and
    of the window. `seen` is a window to go on with; otherwise one is made as the wishes say, `Ever` if they say none.
    `time` names the column of moments for a window by time, in place of the clock."""
    remembered = _frames.window(seen, wishes)
    for frame in frames:
        yield frame[_new(frame, subset, remembered, time, nulls)]


def _new(frame: pd.DataFrame, subset: Columns, seen: Window, time: str | None, nulls: str) -> Any:
    names = _frames.listed(subset)
    # Rows of several parts are tuples; without an index, which would be one part more.
    keys: Any = frame[names[0]] if len(names) == 1 else frame[names].reset_index(drop=True)
    return seen.add_all(keys, None if time is None else frame[time], nulls)  # type: ignore[arg-type]


@pd.api.extensions.register_dataframe_accessor("lately")
class _DataFrame:
    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def drop_duplicates(self, subset: Columns, **wishes: Any) -> pd.DataFrame:
        """The rows whose key did not come lately; keywords as those of `lately.pandas.drop_duplicates`."""
        return next(drop_duplicates([self._frame], subset, **wishes))
