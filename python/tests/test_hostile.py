"""Whatever comes in, an exception of Python comes out, or an answer: never a crash, and never a panic."""

import array
import copy
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lately

# A panic is no Exception, so that none of these catches it.
REFUSED = (TypeError, ValueError, OverflowError, MemoryError, lately.LatelyError)

ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters()),
        st.binary(),
        st.complex_numbers(),
        st.datetimes(),
        st.timedeltas(),
        st.sampled_from([object(), int, range(3), slice(1), array.array("d", [1.0]), memoryview(b"ab")]),
        st.sampled_from([np.float64("nan"), np.int8(3), np.datetime64("NaT"), np.array(1), pa.scalar(1)]),
    ),
    lambda inner: st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)


def attempt(work):
    try:
        return work()
    except REFUSED as refusal:
        assert str(refusal), "says why"
        return refusal


@pytest.mark.parametrize("make", [lambda: lately.Window(last=9), lambda: lately.Window(within="1h"), lately.Ever])
@given(key=ANYTHING, now=ANYTHING)
def test_any_key_and_any_moment(make, key, now):
    seen = make()
    attempt(lambda: seen.add(key))
    attempt(lambda: seen.add(key, now=now))
    attempt(lambda: seen.add("a", until=now))
    attempt(lambda: seen.add(key, now, now))
    attempt(lambda: key in seen)
    attempt(lambda: seen.age(key, now))
    attempt(lambda: seen.forget(key))
    attempt(lambda: seen.distinct(now))
    attempt(lambda: seen.add_all(key, now=now))
    attempt(lambda: seen.contains_all([key], now))
    attempt(lambda: seen.turn_back(now))
    attempt(lambda: seen.expire(now))
    attempt(lambda: lately.open(key))


@given(key=ANYTHING, number=ANYTHING)
def test_any_count(key, number):
    counter = lately.Counter()
    attempt(lambda: counter.add(key, number))
    attempt(lambda: counter.add(key, times=2**63 - 1))
    attempt(lambda: counter.add(key, times=2**63 - 1))
    attempt(lambda: counter.reaches(key, number))
    attempt(lambda: counter.admit(key, number))
    attempt(lambda: counter.admit("a", 2**64 - 1, number))
    attempt(lambda: counter.expire(number))
    attempt(lambda: counter.top(number))
    told = lately.Counter(within="1h", top=2)
    attempt(lambda: told.add(key, now=number))
    attempt(lambda: told.add_all(key, now=number))
    attempt(lambda: told.top(2, number))
    attempt(lambda: lately.Counter.open(bytes(counter), None, key))
    attempt(lambda: counter.take_back(key, number))
    attempt(lambda: counter.merge(key))
    attempt(lambda: counter[key])


KEYWORDS = ["last", "within", "error", "memory", "slack", "expected", "alphabet", "seed", "keyed", "max_ahead", "top"]


@given(st.dictionaries(st.sampled_from(KEYWORDS), ANYTHING), st.sampled_from([None, "sliding", "no such", "growing"]))
def test_any_wish(wishes, structure):
    wishes["structure"] = structure
    # What is large is refused by the machine, not by us: not here.
    small = {k: v for k, v in wishes.items() if not (isinstance(v, (int, float)) and abs(v) > 10**6)}
    for make in (lately.Window, lately.Ever, lately.Counter, lately.plan):
        attempt(lambda: make(**small))


@pytest.mark.parametrize(
    "wishes",
    [
        {"last": 0}, {"last": -1}, {"last": 1.5e300}, {"last": float("nan")}, {"last": "x"}, {"last": True},
        {"last": 10, "within": "1h"}, {"last": 10, "error": 0}, {"last": 10, "error": 1}, {"last": 10, "error": "200%"},
        {"last": 10, "error": 0.1, "memory": 5}, {"within": "1"}, {"within": 0}, {"within": float("inf")},
        {"within": "1h", "slack": "nonsense"}, {"last": 10, "max_ahead": "1h"}, {"last": 10, "keyed": b"short"},
        {"last": 10, "keyed": "text of 16 chars"}, {"last": 10, "seed": -1}, {"last": 10, "seed": 1, "keyed": b"x" * 16},
        {"last": 10, "structure": "nothing"}, {"last": 10, "colour": "red"}, {"last": 10, "colour": None},
        {"last": 2**47, "structure": "sliding"}, {"last": 2**64}, {"last": 10, "counting": True}, {},
    ],
)
def test_wishes_that_are_refused(wishes):
    with pytest.raises(REFUSED) as refusal:
        lately.Window(**wishes)
    assert str(refusal.value)


# Arrays of any type, shape and order of bytes, with steps, backwards, read-only, of no length.
DTYPES = ["?", "i1", "<i2", ">i4", "<i8", ">u8", "u1", "<f4", "<f8", "c16", "S0", "S3", "U2", "V3", "O", "M8[ns]", "m8[s]"]


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    values = draw(st.lists(st.integers(0, 255), max_size=40))
    data = np.frombuffer(bytes(values * 16)[: len(values) * max(dtype.itemsize, 1)], np.uint8)
    if dtype == object:
        column = np.array([draw(ANYTHING) for _ in values[:3]] + [None], dtype=object)[:-1]
    elif dtype.itemsize == 0:
        column = np.zeros(len(values), dtype)
    else:
        column = data.view(dtype) if dtype.itemsize else data
    step = draw(st.sampled_from([1, 2, 3, -1, -2]))
    column = column[::step]
    shape = draw(st.sampled_from(["flat", "matrix", "column of a matrix", "field", "masked", "point"]))
    if shape == "matrix":
        return column.reshape(-1, 1)
    if shape == "column of a matrix":
        return np.stack([column, column], axis=1)[:, 1]
    if shape == "field":
        wide = np.zeros(len(column), [("pad", "u1"), ("value", column.dtype)])
        wide["value"] = column
        return wide["value"]
    if shape == "masked":
        return np.ma.masked_array(column, mask=np.arange(len(column)) % 2 == 0)
    return column if shape == "flat" or not len(column) else column[:1].reshape(())


@given(keys=arrays(), moments=arrays())
def test_any_array(keys, moments):
    seen, counter = lately.Window(within="1h", max_ahead="1000000d"), lately.Counter()
    alone = attempt(lambda: lately.Ever(error=1e-9).add_all(keys, nulls="seen"))
    if isinstance(alone, np.ndarray):
        assert alone.dtype == bool and alone.shape == keys.shape
        # As one after the other, and as a copy without steps.
        again = lately.Ever(error=1e-9)
        assert alone.tolist() == [key is not None and again.add(key) for key in keys.tolist()]
    attempt(lambda: seen.add_all(keys, now=moments))
    attempt(lambda: seen.contains_all(keys, now=moments, nulls="new"))
    attempt(lambda: counter.add_all(keys, nulls="skip"))


ARROW = [pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float32(), pa.string(), pa.large_string(), pa.string_view(),
         pa.binary(), pa.binary(3), pa.binary_view(), pa.date32(), pa.timestamp("ns"), pa.timestamp("s", "UTC"),
         pa.decimal128(5, 2), pa.list_(pa.int8()), pa.dictionary(pa.int8(), pa.string()), pa.struct([("a", pa.int8())])]


@given(st.sampled_from(ARROW), st.integers(0, 30), st.integers(0, 10), st.booleans())
def test_any_column_of_arrow(kind, length, offset, chunked):
    column = pa.nulls(length + offset, kind)[offset:]
    column = pa.chunked_array([column, column[:0], column]) if chunked else column
    seen = lately.Window(within="1h")
    answers = attempt(lambda: seen.add_all(column, nulls="seen"))
    if isinstance(answers, pa.Array):
        assert answers.to_pylist() == [False] * len(column)
    attempt(lambda: seen.add_all(["a"] * len(column), now=column))
    if len(column):
        with pytest.raises(REFUSED):
            seen.add_all(column)


@pytest.mark.parametrize("key", ["\ud800", ("a", "\udfff"), ["\ud800"], np.array(["\ud800"])], ids=repr)
def test_halves_of_characters_are_refused(key):
    seen = lately.Ever()
    with pytest.raises(UnicodeEncodeError):
        seen.add_all(key) if isinstance(key, (list, np.ndarray)) else seen.add(key)
    assert seen.error_now == 0


def test_huge_keys_are_keys():
    seen = lately.Ever()
    huge = "x" * (1 << 26)
    assert seen.add(huge) and huge in seen and not seen.add(huge.encode())
    assert seen.add(2**128 - 1) and seen.add(-(2**127))
    for beyond in (2**128, -(2**127) - 1, 10**400):
        with pytest.raises(ValueError, match="give a larger one as text"):
            seen.add(beyond)


@given(st.binary(max_size=200))
def test_any_snapshot(noise):
    snapshot = bytes(lately.Window(last=100))
    for damaged in (noise, snapshot[:8] + noise, snapshot + noise, snapshot[: len(noise)]):
        if damaged != snapshot:
            with pytest.raises(lately.SnapshotError):
                lately.open(damaged)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_byte_of_a_snapshot(place, flip):
    seen = lately.Window(within="1h")
    seen.add_all([str(i) for i in range(50)], now=0.0)
    snapshot = bytearray(bytes(seen))
    snapshot[place % len(snapshot)] ^= flip
    with pytest.raises(lately.LatelyError):
        lately.open(snapshot)


def test_columns_that_are_no_keys():
    seen = lately.Ever()
    for column in (
        np.array([1.0]), np.array([[1, 2]]), np.array(5), np.array(["2024-01-01"], dtype="datetime64[D]"),
        pa.array([1.5]), pa.array([[1]]), pa.array([{}]), pa.table({"a": [1.5]}), pl.DataFrame({"a": [[1]]}),
        pl.Series([1.5]), pl.Series([[1]]), "text", b"bytes", 5, None, object(), {1.5: "a"},
    ):
        with pytest.raises(REFUSED):
            seen.add_all(column)
    assert seen.error_now == 0
    with pytest.raises(ValueError, match="nulls is"):
        seen.add_all(["a"], nulls="whatever")


class Liar:
    """Has an Arrow interface, and gives something else."""

    def __init__(self, answer):
        self.answer = answer

    def __arrow_c_stream__(self, requested_schema=None):
        return self.answer

    def __arrow_c_array__(self, requested_schema=None):
        return self.answer


def test_interfaces_that_lie():
    other = pa.array([1]).__arrow_c_array__()
    spent = pa.chunked_array([["a"]]).__arrow_c_stream__()
    lately.Ever().add_all(Liar(spent))
    for answer in (None, 5, (), (1, 2), other, other[0], spent):
        with pytest.raises(REFUSED):
            lately.Ever().add_all(Liar(answer))


def test_an_iterator_that_raises_midway():
    def keys():
        yield "a"
        raise RuntimeError("midway")

    seen = lately.Ever()
    with pytest.raises(RuntimeError, match="midway"):
        seen.add_all(keys())
    assert seen.error_now == 0


def test_types_are_frozen_and_equal_only_to_themselves():
    seen = lately.Window(last=5)
    with pytest.raises(AttributeError):
        seen.colour = 1
    with pytest.raises(AttributeError):
        seen.plan.bytes = 1
    assert seen != copy.copy(seen) and seen == seen and len({seen, seen}) == 1


def test_pickles_of_others_are_refused():
    opened, arguments = lately.Window(last=5).__reduce__()
    assert opened is lately.open
    with pytest.raises(lately.SnapshotError):
        opened(arguments[0][:-1])
    assert pickle.loads(pickle.dumps(lately.Window(last=5), protocol=0)).add("a")
