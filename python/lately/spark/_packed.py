"""Rows on their way to their bucket and back.

Spark would hand rows to a stateful function as frames of pandas, made row by row, in which a large integer beside a missing
one becomes a float, and an hour of autumn another. So rows travel packed: those of one bucket, of one batch, as one
value, which holds them as Arrow wrote them. Who gets it reads whole columns, and gives back rows as they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Columns beside those of the rows: the hash of the key, and the moment in milliseconds where that counts.
HASH = "__lately_hash"
MOMENT = "__lately_moment"
# Columns of packed rows: the number of the bucket, the latest moment of its rows, the rows.
BUCKET, LATEST, ROWS = "bucket", "latest", "rows"

Batches = Iterator[pa.RecordBatch]


def packing(buckets: int) -> Callable[[Batches], Batches]:
    """What packs rows by the bucket of their hash."""

    def pack(batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                yield _packed(batch, buckets)

    return pack


def unpack(batches: Batches) -> Batches:
    """Rows as they came."""
    for batch in batches:
        for rows in batch.column(ROWS):
            yield from read(rows.as_py()).to_batches()


def write(rows: pa.RecordBatch | pa.Table) -> bytes:
    """Rows as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def read(rows: bytes) -> pa.Table:
    """Rows of one value."""
    return pa.ipc.open_stream(rows).read_all()


def _packed(batch: pa.RecordBatch, buckets: int) -> pa.RecordBatch:
    hashes = batch.column(HASH).to_numpy(zero_copy_only=False).view(np.uint64)
    # The filter of a bucket hashes this number anew, so that any part of it may say which bucket.
    bucket = (hashes >> np.uint64(32)).astype(np.int64) % buckets
    order = np.argsort(bucket, kind="stable")
    batch, bucket = batch.take(pa.array(order)), bucket[order]
    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    ends = np.append(starts[1:], len(bucket))
    pieces = [batch.slice(start, end - start) for start, end in zip(starts.tolist(), ends.tolist())]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(bucket[starts], pa.int32()),
            pa.array([_latest(piece) for piece in pieces], pa.int64()).cast(pa.timestamp("ms")).cast(pa.timestamp("us", "UTC")),
            pa.array([write(piece) for piece in pieces], pa.binary()),
        ],
        [BUCKET, LATEST, ROWS],
    )


def _latest(piece: pa.RecordBatch) -> int | None:
    return pc.max(piece.column(MOMENT)).as_py() if MOMENT in piece.schema.names else None  # type: ignore[no-any-return]
