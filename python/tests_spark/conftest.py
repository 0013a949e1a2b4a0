"""One Spark for all tests but those that kill theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import running


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # An hour that comes twice in autumn is a good test of rows that must come back as they were.
    session = running.session("local[2]", {"spark.sql.session.timeZone": "Europe/Berlin"})
    yield session
    session.stop()


@pytest.fixture(params=["RocksDBStateStoreProvider", "HDFSBackedStateStoreProvider"])
def store(request: pytest.FixtureRequest, spark: SparkSession) -> str:
    """Where Spark keeps state; by that it is chosen which of its interfaces is used."""
    running.keep_state_in(spark, request.param)
    return str(request.param)
