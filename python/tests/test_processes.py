"""Threads, forks, other processes."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import lately


def test_of_many_threads_exactly_one_is_told_that_a_key_is_new():
    seen = lately.Window(last=1_000_000, structure="exact-window")
    keys = [f"key {i}" for i in range(20_000)]
    new = [None] * 8

    def work(number):
        half = len(keys) // 2
        single = [seen.add(key) for key in keys[:half]]
        new[number] = single + seen.add_all(keys[half:])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert (np.array(new).sum(axis=0) == 1).all()


def test_others_go_on_while_a_batch_runs():
    seen, keys = lately.Ever(), np.arange(3_000_000)
    batch = threading.Thread(target=seen.add_all, args=(keys,))
    batch.start()
    steps = 0
    while batch.is_alive():
        seen.add(steps)
        steps += 1
    batch.join()
    # The interpreter alone would let this thread run every 5 ms, for one step each time.
    assert steps > 2_000
    assert seen.contains_all(keys).all()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_a_filter_that_is_not_locked():
    seen, stop = lately.Window(last=100_000), threading.Event()
    keys = np.arange(50_000)
    seen.add_all(keys)

    def work():
        while not stop.is_set():
            seen.add_all(keys)

    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                ok = seen.contains_all(keys).any() and seen.add("only in the child") and bytes(seen)
                os._exit(0 if ok else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        [thread.join() for thread in threads]
    assert "only in the child" not in seen


def told(seen):
    return seen.add("a"), seen.add("b"), os.getpid()


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_filters_travel_to_other_processes(method):
    seen = lately.Window(within="1h", max_ahead="2h")
    seen.add("a")
    with multiprocessing.get_context(method).Pool(1) as pool:
        first, second, pid = pool.apply(told, (seen,))
    assert (first, second) == (False, True) and pid != os.getpid()
    assert "b" not in seen
    again = pickle.loads(pickle.dumps(seen))
    assert again.__reduce__()[1] == seen.__reduce__()[1]


def test_copies_are_their_own():
    seen = lately.Ever()
    seen.add("a")
    for other in (copy.copy(seen), copy.deepcopy(seen), copy.deepcopy([seen])[0]):
        assert type(other) is lately.Ever and "a" in other and bytes(other) == bytes(seen)
        other.add("b")
        assert "b" not in seen


def test_leaving_the_interpreter_while_a_batch_runs():
    program = """
import threading, lately, numpy
seen = lately.Ever()
threading.Thread(target=lambda: [seen.add_all(numpy.arange(1_000_000)) for _ in range(1000)], daemon=True).start()
seen.add_all(numpy.arange(100_000))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
