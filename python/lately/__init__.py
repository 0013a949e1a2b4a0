"""Have I seen this lately, and how often? Windows over endless streams, in a few bits per key.

>>> import lately
>>> seen = lately.Window(last=1_000_000, error=1e-3)
>>> [event for event in ["a", "b", "a"] if seen.add(event)]
['a', 'b']
"""

from ._lately import (
    Admission,
    Counter,
    Ever,
    LatelyError,
    NoPlanError,
    Plan,
    Plans,
    SnapshotError,
    TooFarAheadError,
    UnsupportedError,
    Window,
    __version__,
    open,
    plan,
)

__all__ = [
    "Admission",
    "Counter",
    "Ever",
    "LatelyError",
    "NoPlanError",
    "Plan",
    "Plans",
    "SnapshotError",
    "TooFarAheadError",
    "UnsupportedError",
    "Window",
    "__version__",
    "open",
    "plan",
]
