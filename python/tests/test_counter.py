"""What a counter promises, beside oracles."""

import collections
import copy
import pickle
from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lately
from oracle import LastN, most


@given(st.lists(st.integers(0, 10), max_size=200))
def test_counts_without_end(keys):
    counter, truth = lately.Counter(error=1e-9), collections.Counter()
    for key in keys:
        truth[key] += 1
        assert counter.add(key) == truth[key]
    assert all(counter[key] == truth[key] for key in range(12))
    assert all(counter.reaches(key, count) for key, count in truth.items())


@given(st.integers(1, 30), st.lists(st.integers(0, 5), max_size=100))
def test_counts_of_the_last_n(n, keys):
    counter, truth = lately.Counter(last=n, slack=0, error=1e-6), LastN(n)
    for key in keys:
        truth.add(key)
        assert counter.add(key) == truth.count(key)


def test_counts_of_a_span_of_time():
    counter = lately.Counter(within="1m", error=1e-9)
    assert [counter.add("a", now=now) for now in (0.0, 30.0, 59.0)] == [1, 2, 3]
    assert counter.count("a", now=59.0) == 3 and counter.count("a", now=300.0) == 0
    assert counter.add_all(["a", "a"], now=[301.0, 302.0]) == [1, 2]
    again = pickle.loads(pickle.dumps(counter))
    assert isinstance(again, lately.Counter) and again.count("a", now=302.0) == 2


def test_no_count_is_too_low_and_few_are_too_high():
    rng = np.random.default_rng(1)
    keys = rng.zipf(1.3, 50_000) % 20_000
    counter, truth = lately.Counter(error=0.01), collections.Counter(keys.tolist())
    counter.add_all(keys)
    found = counter.count_all(np.array(list(truth)))
    wrong = sum(int(count) != truth[key] for key, count in zip(truth, found))
    assert all(count >= truth[key] for key, count in zip(truth, found))
    assert wrong <= most(len(truth), counter.plan.false_positives)
    assert abs(counter.distinct() / len(truth) - 1) < 0.05


def test_many_at_once_in_kind():
    counter = lately.Counter()
    assert counter.add_all(["a", "b", "a", None], nulls="skip") == [1, 1, 2, 0]
    answer = counter.add_all(np.array([b"a", b"c"]))
    assert answer.dtype == np.uint64 and answer.tolist() == [3, 1]
    with pytest.raises(ValueError, match="row 1 has no key, and nothing was done"):
        counter.add_all(["z", None])
    assert "z" not in counter and "a" in counter


def test_taking_back():
    counter = lately.Counter(removing=True)
    assert counter.add("apples", times=3) == 3
    assert counter.take_back("apples") == 2
    with pytest.raises(lately.LatelyError, match="cannot be taken back"):
        counter.take_back("apples", times=9)
    assert counter["apples"] == 2


def test_sums_and_products():
    monday, tuesday = lately.Counter(), lately.Counter()
    monday.add("a", times=3)
    tuesday.add("a", times=2)
    product = copy.copy(monday)
    product.multiply(tuesday)
    monday.merge(tuesday)
    assert (monday["a"], product["a"], tuesday["a"]) == (5, 6, 2)
    monday.merge(monday)
    assert monday["a"] == 10
    with pytest.raises(TypeError, match="hash differently"):
        monday.merge(lately.Counter(seed=1))
    with pytest.raises(lately.LatelyError):
        monday.merge(lately.Counter(last=10))


def test_snapshots_and_copies():
    counter = lately.Counter()
    counter.add("a", times=7)
    for again in (
        pickle.loads(pickle.dumps(counter)),
        lately.open(bytes(counter)),
        lately.Counter.open(bytes(counter)),
        copy.deepcopy(counter),
    ):
        assert isinstance(again, lately.Counter) and again["a"] == 7
        again.add("a")
        assert counter["a"] == 7
    exact = lately.Counter(last=10, structure="quotient-short-hash")
    exact.add("a")
    assert pickle.loads(pickle.dumps(exact))["a"] == 1
    with pytest.raises(lately.UnsupportedError):
        lately.Counter.open(bytes(lately.Window(last=10)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(1, 3)), max_size=60), st.integers(0, 5))
def test_never_more_than_the_limit_pass_in_a_window(events, limit):
    counter, passed, now = lately.Counter(within=0.1, error=1e-9), collections.defaultdict(list), 0
    for key, after, times in events:
        now += after
        inside = sum(count for moment, count in passed[key] if now - moment <= 100)
        admission = counter.admit(key, limit=limit, times=times, now=now)
        assert bool(admission) == admission.allowed
        if admission:
            assert inside + times <= limit, "more than the limit passed"
            passed[key].append((now, times))
            assert admission.wait is None and admission.left == limit - admission.count
        else:
            assert admission.count == counter.count(key, now=now)
            assert (admission.wait is None) == (times > limit), "how long to wait is told where that helps"
        assert inside <= admission.count


def test_whoever_waits_as_told_may_pass():
    counter = lately.Counter(within="1m", error=1e-9)
    assert counter.admit("a", limit=1, now=0.0)
    denied = counter.admit("a", 1, now=10.0)
    assert not denied and denied.left == 0 and "allowed=False" in repr(denied)
    assert denied.wait >= timedelta(seconds=50)
    assert counter.admit("a", 1, now=10.0 + denied.wait.total_seconds())
    last = lately.Counter(last=1000, structure="window-counts", error=1e-9)
    assert last.admit("a", limit=1)
    assert isinstance(last.admit("a", limit=1).wait, int)
    with pytest.raises(TypeError):
        counter.admit("a")


def test_memory_comes_back_when_nothing_comes():
    counter = lately.Counter(within="1m")
    counter.add_all(np.arange(50_000), now=0.0)
    full = counter.nbytes
    while not counter.expire(now=1000.0):
        pass
    assert counter.nbytes < full / 10 and counter.count(7, now=1000.0) == 0


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 20)), max_size=150), st.integers(1, 4))
def test_the_keys_that_came_most_often_in_a_span_of_time(events, most):
    counter, truth, now = lately.Counter(within=0.1, slack=0.001, error=1e-9, top=most), [], 0
    for key, after in events:
        now += after
        truth.append((now, f"key {key}"))
        counter.add(f"key {key}", now=now)
        # With the slack on either side.
        least = collections.Counter(key for moment, key in truth if now - moment <= 100)
        largest = collections.Counter(key for moment, key in truth if now - moment <= 102)
        told = counter.top(now=now)
        assert len(told) <= most and len(told) >= min(most, len(least))
        assert all(least[key] <= count <= largest[key] for key, count in told)
        # No other counts more than the last that is told.
        others = [count for key, count in least.items() if key not in dict(told)]
        assert not others or len(told) == most and max(others) <= told[-1][1]
        assert [count for _, count in told] == sorted((count for _, count in told), reverse=True)


def test_keys_are_told_as_they_came():
    counter = lately.Counter(top=10)
    counter.add("ä", times=5)
    counter.add(b"\xff", times=4)
    counter.add(b"text", times=3)
    counter.admit("admitted", limit=2, times=2)
    assert not counter.admit("denied", limit=0)
    counter.add("nothing", times=0)
    expected = [("ä", 5), (b"\xff", 4), ("text", 3), ("admitted", 2)]
    assert counter.top() == expected and counter.top(2) == expected[:2] and counter.top(0) == []
    for again in (pickle.loads(pickle.dumps(counter)), copy.copy(counter)):
        assert again.top() == expected
        again.add("ä")
        assert again.top(1) == [("ä", 6)] and counter.top(1) == [("ä", 5)]
    assert lately.open(bytes(counter))["ä"] == 5
    counter.clear()
    assert counter.top() == []


@pytest.mark.parametrize(
    "kind", [list, np.array, pd.Series, pl.Series, pa.array, lambda keys: pa.chunked_array([keys[:1], keys[1:]])]
)
def test_columns_of_keys_that_are_told(kind):
    keys = ["a", "b", "a", "c", "a", "b"]
    counter, plain = lately.Counter(top=2), lately.Counter()
    answers = counter.add_all(kind(keys))
    assert type(answers) is type(plain.add_all(kind(keys)))
    assert [int(str(count)) for count in answers] == [1, 1, 2, 1, 3, 2]
    assert counter.top() == [("a", 3), ("b", 2)]


def test_what_a_counter_that_tells_keys_refuses():
    counter = lately.Counter(top=3)
    for key in (5, ("a", "b"), None, 1.5):
        with pytest.raises(TypeError):
            counter.add(key)
    with pytest.raises(TypeError):
        counter.add_all(["a", 5])
    with pytest.raises(ValueError, match="row 1"):
        counter.add_all(["a", None])
    assert counter.top() == [] and counter.add_all(["a", None], nulls="skip") == [1, 0]
    for wrong in (lambda: counter.merge(lately.Counter()), lambda: counter.take_back("a")):
        with pytest.raises(lately.UnsupportedError, match="top="):
            wrong()
    with pytest.raises(lately.UnsupportedError, match="top="):
        lately.Counter().top()
    for wishes in ({"top": 0}, {"top": -1}, {"top": 2**40}, {"last": 100, "top": 3, "structure": "quotient-short-hash"}):
        with pytest.raises((TypeError, ValueError)):
            lately.Counter(**wishes)
    with pytest.raises(TypeError, match="Counter"):
        lately.Window(last=10, top=3)
    with pytest.raises(lately.SnapshotError):
        lately.Counter.open(bytes(counter), None, b"nonsense")
