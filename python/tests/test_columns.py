"""Many keys at once, in every kind: answers are those of one key after the other."""

import array
import sys
from datetime import datetime, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lately

TEXT = ["a", "", "ä", "a", "𝄞 long text that is not inlined anywhere", "b", ""]
NUMBERS = [1, 2, 1, 127, 0, 2, 100]


def one_by_one(keys):
    seen = lately.Ever()
    return [seen.add(key) for key in keys]


def listed(answers):
    return answers.to_pylist() if isinstance(answers, pa.Array) else list(map(bool, answers))


TEXT_COLUMNS = {
    "list": (TEXT, list),
    "tuple": (tuple(TEXT), list),
    "generator": ((key for key in TEXT), list),
    "numpy text": (np.array(TEXT), np.ndarray),
    "numpy objects": (np.array(TEXT, dtype=object), np.ndarray),
    "numpy strings": (np.array(TEXT, dtype=np.dtypes.StringDType()), np.ndarray),
    "numpy bytes": (np.array([key.encode() for key in TEXT]), np.ndarray),
    "pandas": (pd.Series(TEXT), np.ndarray),
    "pandas objects": (pd.Series(TEXT, dtype=object), np.ndarray),
    "pandas categories": (pd.Series(TEXT, dtype="category"), np.ndarray),
    "pandas index": (pd.Index(TEXT), np.ndarray),
    "polars": (pl.Series(TEXT), pl.Series),
    "polars categories": (pl.Series(TEXT, dtype=pl.Categorical), pl.Series),
    "polars binary": (pl.Series([key.encode() for key in TEXT]), pl.Series),
    "polars in pieces": (pl.concat([pl.Series(TEXT[:3]), pl.Series(TEXT[3:])], rechunk=False), pl.Series),
    "pyarrow in pieces": (pa.chunked_array([TEXT[:2], [], TEXT[2:]]), pa.Array),
    "pyarrow slice": (pa.array(["no", *TEXT, "no"])[1:-1], pa.Array),
    "pyarrow dictionary": (pa.array(TEXT).dictionary_encode(), pa.Array),
    **{
        f"pyarrow {kind}": (pa.array(TEXT, type=kind), pa.Array)
        for kind in [pa.string(), pa.large_string(), pa.string_view()]
    },
    **{
        f"pyarrow {kind}": (pa.array([key.encode() for key in TEXT], type=kind), pa.Array)
        for kind in [pa.binary(), pa.large_binary(), pa.binary_view()]
    },
}


@pytest.mark.parametrize("name", TEXT_COLUMNS)
def test_columns_of_text(name):
    column, kind = TEXT_COLUMNS[name]
    seen = lately.Ever()
    answers = seen.add_all(column)
    assert isinstance(answers, kind)
    assert listed(answers) == one_by_one(TEXT)
    assert all(key in seen for key in TEXT)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBER_COLUMNS = {
    "list": NUMBERS,
    "array": array.array("q", NUMBERS),
    "pandas nullable": pd.Series(NUMBERS, dtype="Int64"),
    "big-endian": np.array(NUMBERS, dtype=">i4"),
    "every second": np.repeat(np.array(NUMBERS), 2)[::2],
    "backwards": np.array(NUMBERS[::-1])[::-1],
    "a column of a matrix": np.array([NUMBERS, NUMBERS]).T[:, 0],
    "polars categories of pandas": pd.Series(NUMBERS, dtype="category"),
    **{f"numpy {kind}": np.array(NUMBERS, dtype=kind) for kind in INTEGERS},
    **{f"pyarrow {kind}": pa.array(NUMBERS, type=kind) for kind in INTEGERS},
    **{f"polars {kind}": pl.Series(np.array(NUMBERS, dtype=kind)) for kind in INTEGERS},
    **{f"pandas {kind}": pd.Series(NUMBERS, dtype=kind) for kind in INTEGERS},
}


@pytest.mark.parametrize("name", NUMBER_COLUMNS)
def test_columns_of_integers(name):
    seen = lately.Ever()
    assert listed(seen.add_all(NUMBER_COLUMNS[name])) == one_by_one(NUMBERS)
    assert all(key in seen for key in NUMBERS) and "1" not in seen


def test_negative_and_large_integers_are_the_keys_that_python_has():
    for kind in INTEGERS:
        limits = np.iinfo(kind)
        keys = [int(limits.min), int(limits.max)]
        seen = lately.Ever()
        seen.add_all(np.array(keys, dtype=kind))
        assert all(key in seen for key in keys)
        again = lately.Ever()
        again.add_all(pa.array(keys, type=kind))
        assert bytes(again) == bytes(seen)


def test_bytes_of_a_fixed_size():
    keys = [bytes([i]) * 16 for i in range(5)]
    seen = lately.Ever()
    assert seen.add_all(pa.array(keys, type=pa.binary(16))).to_pylist() == [True] * 5
    assert all(key in seen for key in keys)
    # Numpy cuts zeros at the end of bytes, and so do we.
    zeros = np.array([b"a\0\0", b"\0", b""])
    assert one_by_one(zeros.tolist()) == lately.Ever().add_all(zeros).tolist()
    assert lately.Ever().add_all(np.array([b"", b""], dtype="S0")).tolist() == [True, False]


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 65_535, 65_536, 65_537, 200_000])
def test_lengths_around_the_pieces(count):
    keys = np.arange(count) % 70_001
    expected = np.zeros(count, dtype=bool)
    expected[np.unique(keys, return_index=True)[1]] = True
    for column in (keys, pa.array(keys), pl.Series(keys), pd.Series(keys), keys.tolist()):
        answers = np.array(lately.Window(last=10**6, structure="exact-window").add_all(column), dtype=bool)
        assert (answers == expected).all()


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))))
def test_rows_without_a_key(keys):
    seen = lately.Ever()
    expected = [None if key is None else seen.add(key) for key in keys]
    for answer in (True, False):
        policy = "new" if answer else "seen"
        wanted = [answer if new is None else new for new in expected]
        for column in (keys, pa.array(keys, type=pa.string()), pl.Series(keys, dtype=pl.String)):
            assert listed(lately.Ever().add_all(column, nulls=policy)) == wanted
            looked = lately.Ever().contains_all(column, nulls=policy)
            assert listed(looked) == [key is None and not answer for key in keys]
    if None in keys:
        for column in (keys, pa.array(keys, type=pa.string())):
            empty = lately.Ever()
            with pytest.raises(ValueError, match=f"row {keys.index(None)} has no key"):
                empty.add_all(column)
            assert empty.error_now == 0


def test_masked_arrays_and_columns_of_nothing():
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    assert lately.Ever().add_all(masked, nulls="seen").tolist() == [True, False, True]
    assert lately.Ever().add_all(pa.nulls(3), nulls="new").to_pylist() == [True] * 3
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), pa.array(["a", None]))
    assert lately.Ever().add_all(dictionary, nulls="new").to_pylist() == [True, True, True, False]


MOMENTS = [0, 30_000, 59_000, 200_000]


@pytest.mark.parametrize(
    "now",
    [
        MOMENTS,
        [moment / 1000 for moment in MOMENTS],
        [datetime.fromtimestamp(moment / 1000, timezone.utc) for moment in MOMENTS],
        np.array(MOMENTS),
        np.array(MOMENTS) / 1000,
        np.array(MOMENTS, dtype="datetime64[ms]"),
        np.array(MOMENTS, dtype="datetime64[ms]").astype("datetime64[ns]"),
        pa.array(MOMENTS),
        *[pa.array(MOMENTS).cast(pa.timestamp("ms")).cast(pa.timestamp(unit)) for unit in ["us", "ns", "ms"]],
        pl.Series(MOMENTS).cast(pl.Datetime("ms")),
        pl.Series(MOMENTS).cast(pl.Datetime("ms")).dt.replace_time_zone("UTC"),
        pd.to_datetime(pd.Series(MOMENTS), unit="ms"),
        pd.to_datetime(pd.Series(MOMENTS), unit="ms", utc=True),
    ],
    ids=lambda now: str(getattr(now, "dtype", getattr(now, "type", type(now[0])))),
)
def test_columns_of_moments(now):
    seen = lately.Window(within="1m", error=1e-9)
    assert seen.add_all(["a", "a", "b", "a"], now=now) == [True, False, True, True]
    assert seen.latest == 200.0


def test_moments_that_do_not_fit():
    seen = lately.Window(within="1m")
    for now in ([0.0], np.zeros(3), pa.array([0, 1, 2])):
        with pytest.raises(ValueError, match="moments for 2 keys"):
            seen.add_all(["a", "b"], now=now)
    for now in (["x", 0.0], pa.array(["x", "y"]), np.array(["x", "y"]), object()):
        with pytest.raises(TypeError):
            seen.add_all(["a", "b"], now=now)
    missing = np.array(["2024-01-01", "NaT"], dtype="datetime64[ms]")
    for now in ([float("nan"), 0.0], [-1.0, 0.0], np.array([-1, 0]), missing, pa.array([0, None])):
        with pytest.raises(ValueError):
            seen.add_all(["a", "b"], now=now)
    assert seen.latest is None
    with pytest.raises(TypeError, match="counts insertions"):
        lately.Window(last=10).add_all(["a"], now=[0.0])


def test_a_wrong_value_in_a_list_leaves_the_filter_as_it_was():
    seen = lately.Ever()
    for wrong in (1.5, "\ud800", object(), 2**200, (1, (2,)), ()):
        with pytest.raises((TypeError, ValueError)):
            seen.add_all(["a", "b", wrong])
    assert seen.error_now == 0


def test_a_column_needs_no_object_for_each_value():
    column = pl.Series([f"user {i}" for i in range(100_000)])
    seen = lately.Window(last=1000)
    before = sys.getallocatedblocks()
    seen.add_all(column)
    assert sys.getallocatedblocks() - before < 1_000
