"""Snapshots of the library, the command and this package are one format: each opens those of the others and answers
alike."""

import os
import subprocess
from pathlib import Path

import pytest

import lately

GOLDEN = sorted((Path(__file__).parents[2] / "core/tests/golden").glob("*.bin"))
# Structures of papers, which are kept elsewhere: it is told where.
PAPERS = {
    f"{name}-v1"
    for name in (
        "active-active", "block-decaying", "cuckoo", "growing-layers", "growing-tails", "queued-cuckoo",
        "queued-stable-bloom", "queued-streaming-quotient", "stable-bloom", "streaming-quotient", "time-limited",
        "time-limited-bits",
    )
}
COMMAND = os.environ.get("LATELY_COMMAND")


def run(*words, text):
    done = subprocess.run([COMMAND, *words], input=text, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_files_of_the_library_open_and_are_written_again(file):
    golden = file.read_bytes()
    if file.stem in PAPERS:
        with pytest.raises(lately.LatelyError, match="lately-papers"):
            lately.open(golden)
        return
    opened = lately.open(golden)
    assert isinstance(opened, lately.Counter) == any(word in file.stem for word in ("spectral", "counts"))
    assert bytes(opened) == golden
    assert opened.plan.structure in file.stem or file.stem.startswith("spectral-marked")


def test_all_golden_files_are_there():
    assert len(GOLDEN) > 20


def test_keys_hash_as_the_vectors_of_the_library():
    # By FORMAT.md: an integer is its value in eight bytes, least first, or sixteen; parts have their lengths before.
    same = [
        (1, (1).to_bytes(8, "little")),
        (-1, b"\xff" * 8),
        (2**64 - 1, b"\xff" * 8),
        (2**64, (2**64).to_bytes(16, "little")),
        (-(2**63) - 1, (-(2**63) - 1).to_bytes(16, "little", signed=True)),
        (True, (1).to_bytes(8, "little")),
        ("ä", "ä".encode()),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"xaxbx")[1::2], b"ab"),
        (("ab", 1), (2).to_bytes(8, "little") + b"ab" + (8).to_bytes(8, "little") + (1).to_bytes(8, "little")),
    ]
    for key, its_bytes in same:
        one, other = lately.Window(last=10), lately.Window(last=10)
        one.add(key)
        other.add(its_bytes)
        assert bytes(one) == bytes(other), key


@pytest.mark.skipif(not COMMAND, reason="LATELY_COMMAND does not say where the command is")
@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: lately.Window(last=1000, error=1e-9), ["--last", "1000"]),
        (lambda: lately.Ever(error=1e-9), ["--ever"]),
        (lambda: lately.Window(within="1h", error=1e-9), ["--within", "1h"]),
    ],
    ids=["last", "ever", "within"],
)
def test_the_command_goes_on_where_python_stopped_and_the_reverse(make, words, tmp_path):
    state = tmp_path / "state"
    seen = make()
    assert seen.add_all([f"key {i}" for i in range(100)]) == [True] * 100
    state.write_bytes(bytes(seen))
    lines = "".join(f"key {i}\n" for i in range(50, 150))
    assert run("dedup", *words, "--state", str(state), text=lines) == [f"key {i}" for i in range(100, 150)]
    again = lately.open(state.read_bytes())
    assert type(again) is type(seen)
    assert again.contains_all([f"key {i}" for i in range(150)]) == [True] * 150
    assert again.add("key 150")


@pytest.mark.skipif(not COMMAND, reason="LATELY_COMMAND does not say where the command is")
def test_a_state_that_was_damaged_after_its_snapshot_is_refused(tmp_path):
    state = tmp_path / "state"
    run("dedup", "--last", "100", "--state", str(state), text="a\nb\n")
    good = state.read_bytes()
    assert "a" in lately.open(good)
    for place in range(len(good) - 100, len(good)):
        with pytest.raises(lately.SnapshotError):
            lately.open(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
