"""Frames without what came lately, beside the whole truth."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lately
import lately.pandas
import lately.polars
from oracle import LastN

RNG = np.random.default_rng(5)
ROWS = 30_000
IDS = [f"user {i}" for i in RNG.integers(0, 9_000, ROWS)]
TIMES = np.sort(RNG.integers(0, 3_600_000, ROWS))
FRAME = pl.DataFrame({"id": IDS, "page": RNG.integers(0, 3, ROWS), "at": TIMES, "row": np.arange(ROWS)})
KINDS = {
    "polars": (FRAME, lambda frame: frame["row"].to_list(), lately.polars.drop_duplicates),
    "pandas": (
        pd.DataFrame(FRAME.to_dict(as_series=False), index=np.arange(ROWS) % 7),
        lambda frame: frame["row"].tolist(),
        lately.pandas.drop_duplicates,
    ),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def first_rows(keys):
    seen = set()
    return [row for row, key in enumerate(keys) if not (key in seen or seen.add(key))]


def test_without_end(kind):
    frame, rows, _ = kind
    assert rows(frame.lately.drop_duplicates("id", error=1e-9)) == first_rows(IDS)


def test_the_last_n(kind):
    frame, rows, _ = kind
    truth = LastN(100)
    expected = [row for row, key in enumerate(IDS) if truth.add(key)]
    kept = frame.lately.drop_duplicates("id", last=100, structure="exact-window")
    assert rows(kept) == expected


def test_keys_of_several_columns_are_tuples(kind):
    frame, rows, _ = kind
    seen = lately.Ever(error=1e-9)
    kept = frame.lately.drop_duplicates(["id", "page"], seen=seen)
    pairs = list(zip(IDS, FRAME["page"].to_list()))
    assert rows(kept) == first_rows(pairs)
    assert all(pair in seen for pair in pairs[:100]) and ("nobody", 1) not in seen


def test_by_the_time_of_the_rows(kind):
    frame, rows, _ = kind
    kept = set(rows(frame.lately.drop_duplicates("id", within="5m", slack="10s", time="at", error=1e-9)))
    last = {}
    for row, (key, now) in enumerate(zip(IDS, TIMES.tolist())):
        age = now - last[key] if key in last else None
        last[key] = now
        if age is None or age > 310_000:
            assert row in kept
        elif age <= 300_000:
            assert row not in kept
    assert 1_000 < len(kept) < ROWS


def test_batch_after_batch(kind):
    frame, rows, drop = kind
    pieces = [frame[start : start + 1_000] for start in range(0, ROWS, 1_000)]
    kept = [row for piece in drop(pieces, "id", error=1e-9) for row in rows(piece)]
    assert kept == first_rows(IDS)


def test_a_lazy_frame_is_read_in_batches(tmp_path):
    file = tmp_path / "rows.parquet"
    FRAME.write_parquet(file, row_group_size=1_000)
    batches = pl.scan_parquet(file).lately.drop_duplicates("id", error=1e-9)
    assert [row for batch in batches for row in batch["row"]] == first_rows(IDS)


def test_a_window_or_wishes(kind):
    frame, _, _ = kind
    with pytest.raises(TypeError, match="either a window"):
        frame.lately.drop_duplicates("id", seen=lately.Ever(), last=5)


def test_rows_without_a_key():
    frame = pl.DataFrame({"id": ["a", None, None], "page": [1, 1, 1]})
    for subset in ("id", ["id", "page"]):
        with pytest.raises(ValueError, match="row 1 has no key"):
            frame.lately.drop_duplicates(subset)
        assert frame.lately.drop_duplicates(subset, nulls="new").height == 3
        assert frame.lately.drop_duplicates(subset, nulls="seen").height == 1


def test_a_table_is_a_column_of_tuples():
    table = pa.table({"user": ["a", "b", "a"], "page": pa.array([1, 2, 1], type=pa.int8())})
    seen = lately.Ever()
    assert seen.add_all(table).to_pylist() == [True, True, False]
    assert ("a", 1) in seen and ("a", 2) not in seen
    with pytest.raises(TypeError):
        seen.add_all(pa.table({"user": [1.5]}))
