"""What frames of polars and pandas have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from ._lately import Ever, Window

Columns = Union[str, Sequence[str]]


def window(seen: Window | None, wishes: dict[str, Any]) -> Window:
    """The window that was given, or one as it is wished; without end if nothing is."""
    if seen is not None:
        if wishes:
            raise TypeError(f"either a window as seen=, or wishes for one: {', '.join(wishes)}")
        return seen
    if wishes.get("last") is None and wishes.get("within") is None:
        return Ever(**wishes)
    return Window(**wishes)


def listed(columns: Columns) -> list[str]:
    """Names of columns."""
    return [columns] if isinstance(columns, str) else list(columns)
