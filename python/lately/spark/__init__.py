"""Streams of Spark without what came lately, and counts of what did.

    import lately.spark

    clicks = clicks.withWatermark("at", "10 minutes")
    once = lately.spark.drop_duplicates(clicks, "id", within="24h", time="at")

Keys are spread over buckets, and the state of a bucket is a filter: some bits for each key in place of the key. Spark
keeps that state like any other, so that its checkpoints, its sinks that write exactly once and its ways to rescale are
those of this too. `count` and `join_counts` are for DataFrames that do not stream.

The package must be installed wherever executors run.
"""

from ._batch import count, join_counts
from ._streams import count_within, drop_duplicates

__all__ = ["count", "count_within", "drop_duplicates", "join_counts"]
