"""Ten million rows of which half are repeats of one of the last million, without those: the memory of `unique` beside
that of a window. Each runs in a process of its own, whose peak is told by the operating system, less what the same
process takes with the libraries loaded and nothing done.

    cargo xtask python-race            # runs this after the race
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = 10_000_000
LAST = 1_000_000


def write(file: Path) -> None:
    """The rows, and which of them the window must keep."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    ids = np.arange(ROWS, dtype=np.int64)
    back = rng.integers(1, LAST // 2, ROWS)
    repeat = (rng.random(ROWS) < 0.5) & (ids >= LAST)
    # A repeat is of the row that many before it, or of what that repeats.
    for row in np.flatnonzero(repeat):
        ids[row] = ids[row - back[row]]
    frame = pl.DataFrame({"id": pl.Series(ids).cast(pl.String), "value": rng.random(ROWS)})
    frame.write_parquet(file, row_group_size=100_000)


def nothing(file: Path) -> int:
    import lately.polars  # noqa: F401
    import polars as pl

    return pl.scan_parquet(file).head(1000).collect().height


def ours(file: Path) -> int:
    import lately.polars  # noqa: F401
    import polars as pl

    batches = pl.scan_parquet(file).lately.drop_duplicates("id", last=LAST, error=1e-6)
    return sum(batch.height for batch in batches)


def unique(file: Path) -> int:
    import polars as pl

    return pl.read_parquet(file).unique("id", maintain_order=True, keep="first").height


def unique_streaming(file: Path) -> int:
    import polars as pl

    kept = pl.scan_parquet(file).unique("id", keep="first").select(pl.len())
    return int(kept.collect(engine="streaming").item())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        run = lambda name: subprocess.run(
            [sys.executable, __file__, name, str(file)], check=True, capture_output=True, text=True
        ).stdout.split()
        run("write")
        peaks = {}
        for name in ("nothing", "ours", "unique", "unique_streaming"):
            rows, peak = map(int, run(name))
            peaks[name] = peak - peaks.get("nothing", 0)
            print(f"{name:20} {rows:>9} rows kept, {peaks[name] / 1024:8.1f} MiB")
        for name in ("unique", "unique_streaming"):
            print(f"ours / {name}: {peaks['ours'] / peaks[name]:.3f} (at most 0.1)")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        rows = {"nothing": nothing, "ours": ours, "unique": unique, "unique_streaming": unique_streaming}[
            sys.argv[1]
        ](Path(sys.argv[2]))
        print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
