"""What a window promises, beside oracles."""

import random
import sys
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lately
from oracle import LastN, Within, most

PARTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.binary(max_size=20),
    st.integers(-(2**127), 2**128 - 1),
)
KEYS = st.one_of(PARTS, st.tuples(PARTS), st.tuples(PARTS, PARTS))


@given(st.integers(1, 20), st.lists(KEYS, max_size=100))
def test_an_exact_window_is_the_last_n(n, keys):
    # Keys are told apart as their bytes: text and its UTF-8 are one key, and so are 1 and True.
    def as_bytes(key):
        if isinstance(key, str):
            return key.encode()
        if isinstance(key, int):
            return key.to_bytes(8 if -(2**63) <= key < 2**64 else 16, "little", signed=key < 0)
        if isinstance(key, tuple):
            parts = [as_bytes(part) for part in key]
            return b"".join(len(part).to_bytes(8, "little") + part for part in parts)
        return key

    seen, truth = lately.Window(last=n, structure="exact-window"), LastN(n)
    for key in keys:
        assert (key in seen) == (as_bytes(key) in truth)
        assert seen.add(key) == truth.add(as_bytes(key))


@pytest.mark.parametrize("n", [1, 2, 3, 100, 5_000])
def test_nothing_in_the_window_is_forgotten_and_few_others_are_reported(n):
    chance = random.Random(n)
    seen, insertions, wrong, unseen = lately.Window(last=n, error=0.01), [], 0, 0
    for step in range(3 * n + 20_000):
        if insertions and chance.random() < 0.3:
            key = insertions[-1 - chance.randrange(min(n, len(insertions)))]
            assert not seen.add(key), "a key of the last n was forgotten"
        else:
            key = f"fresh {step}"
            unseen += 1
            wrong += not seen.add(key)
        insertions.append(key)
    assert wrong <= most(unseen, seen.plan.false_positives)


def test_the_test_above_notices_a_window_that_is_too_short():
    seen, keys = lately.Window(last=99, structure="exact-window"), [f"{i}" for i in range(100)]
    seen.add_all(keys)
    assert keys[0] not in seen and keys[1] in seen


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400)), max_size=60))
def test_a_window_by_time_is_the_last_span(events):
    seen, truth = lately.Window(within=0.1, error=1e-9), Within(100)
    for key, now in events:
        inside, age = truth.add(key, now)
        new = seen.add(key, now=now)
        if inside:
            assert not new, "a key of the window was forgotten"
        elif age is None:
            assert new
    assert seen.latest == (truth.latest / 1000 if events else None)


def test_keys_older_than_window_and_slack_leave():
    seen = lately.Window(within="1m", slack="6s", error=1e-9)
    for start in range(0, 1_000_000, 1_000):
        assert seen.add("a", now=0 + start * 1_000)
        assert not seen.add("a", now=start * 1_000 + 60_000)
        assert not seen.contains("a", now=start * 1_000 + 60_000 + 60_000 + 6_001)


def test_ways_to_say_a_moment():
    noon = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
    ways = [noon, noon.timestamp(), int(noon.timestamp() * 1000), noon.astimezone().replace(tzinfo=None)]
    for way in ways:
        seen = lately.Window(within=timedelta(minutes=1))
        assert seen.add("a", now=way)
        assert seen.latest == noon.timestamp()
        assert all(seen.contains("a", now=other) for other in ways)


def test_ways_to_say_a_span_and_numbers():
    for span in ["1h", timedelta(hours=1), 3600, 3600.0, "60m"]:
        assert "the last 60m" in lately.Window(within=span).plan.promise
    for last in [1_000_000, 1e6, "1M", "1000k"]:
        assert lately.Window(last=last).plan.bytes == lately.Window(last=1_000_000).plan.bytes
    assert lately.Window(last=1000, memory="10kB").nbytes <= 10_000
    assert lately.Window(last=1000, error="1%").plan.false_positives <= 0.01


def test_the_clock_of_the_machine_is_read():
    seen = lately.Window(within="1h")
    before = datetime.now(timezone.utc).timestamp()
    assert seen.add("a") and not seen.add("a") and "a" in seen
    assert abs(seen.latest - before) < 600


def test_a_moment_that_is_too_far_ahead_is_refused_and_changes_nothing():
    seen = lately.Window(within="1h")
    with pytest.raises(lately.TooFarAheadError, match="max_ahead"):
        seen.add("a", now=4e9)
    with pytest.raises(lately.TooFarAheadError):
        seen.add_all(["a", "b"], now=[0.0, 4e9])
    assert seen.latest is None and not seen.contains("a", now=0.0)
    assert lately.Window(within="1h", max_ahead="50000d").add("a", now=4e9)


def test_turning_back_mends_a_wrong_moment():
    seen = lately.Window(within="1m", max_ahead="50000d")
    seen.add("a", now=4e9)
    seen.turn_back(now=5.0)
    assert seen.latest == 5.0 and seen.contains("a", now=5.0)
    while not seen.expire(now=1000.0):
        pass
    assert not seen.contains("a", now=1000.0)


def test_ever():
    seen = lately.Ever(removing=True)
    assert isinstance(seen, lately.Window)
    assert seen.add_all([str(i) for i in range(10_000)]).count(False) <= most(10_000, 0.001)
    assert seen.contains_all([str(i) for i in range(10_000)]).count(False) == 0
    assert seen.forget("5") and "5" not in seen
    seen.clear()
    assert "7" not in seen


def test_age():
    seen = lately.Window(last=1000)
    seen.add_all([f"{i}" for i in range(500)])
    assert abs(seen.distinct() - 500) < 10
    least, most_ = seen.age("100")
    assert least <= 399 <= most_ and seen.age("never") is None
    timed = lately.Window(within="1m")
    timed.add("a", now=0.0)
    least, most_ = timed.age("a", now=30.0)
    assert least <= timedelta(seconds=30) <= most_


def test_a_repeat_starts_the_window_anew_unless_it_must_not():
    seen, strict = lately.Window(within="1m", error=1e-9), lately.Window(within="1m", error=1e-9)
    answers = [(seen.add("a", now=t), strict.add_new("a", now=t)) for t in (0.0, 59.0, 90.0)]
    assert answers == [(True, True), (False, False), (False, True)]
    assert strict.add_new_all(["a", "b", "b"], now=95.0) == [False, True, False]


def test_a_secret_key_changes_hashes_and_a_seed_does():
    plain, seeded, keyed = (
        bytes(lately.Window(last=10, **how)) for how in ({}, {"seed": 7}, {"keyed": b"sixteen secrets."})
    )
    assert len({plain, seeded, keyed}) == 3
    assert b"sixteen secrets." not in repr(lately.open(keyed)).encode()


def test_what_it_weighs():
    seen = lately.Window(last=1_000_000, error=0.001)
    assert seen.nbytes == seen.plan.bytes and sys.getsizeof(seen) >= seen.nbytes
    assert seen.plan.bits_per_item < 19 and seen.error_now == 0.0


def test_plans_are_a_table():
    plans = lately.plan(last=1e6, error=0.001)
    assert [plan.structure for plan in plans][0] == plans[0].structure == "sliding"
    assert len(plans) == len(str(plans).splitlines()) - 1 and plans[-1].structure in str(plans)
    assert plans._repr_html_().count("<tr>") == len(plans) + 1
    assert "sliding" in plans[0]._repr_html_() and "sliding" in repr(plans[0])
    assert len(lately.plan(last=1e6, structure="interleaved")) == 1
    assert lately.plan(counting=True)[0].structure
    with pytest.raises(lately.NoPlanError):
        lately.plan(last=1000, memory=3)



@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 300)), max_size=40))
def test_a_key_may_leave_at_a_moment_of_its_own(events):
    seen, until, now = lately.Window(within=0.1, slack=0.05, error=1e-9), {}, 0
    for key, after, life in events:
        now += after
        deadline = min(now + life, now + 100)
        if until.get(key, -1000) >= now:
            assert not seen.add(key, now=now, until=now + life), "forgotten before its moment"
        elif until.get(key, -1000) + 51 < now:
            assert seen.add(key, now=now, until=now + life), "remembered for longer than the slack"
        else:
            seen.add(key, now=now, until=now + life)
        until[key] = max(until.get(key, -1000), deadline)


def test_only_windows_by_time_have_moments_of_their_own():
    for seen in (lately.Window(last=10), lately.Ever()):
        with pytest.raises(lately.UnsupportedError, match="within"):
            seen.add("a", until=5.0)
        assert "a" not in seen
    with pytest.raises(TypeError):
        lately.Window(within="1h").add("a", now=0.0, until="soon")
