"""What the documents show, runs; what the stubs say, is so."""

import doctest
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lately

ROOT = Path(__file__).parents[2]


def documented():
    yield lately
    for name in lately.__all__:
        thing = getattr(lately, name)
        if inspect.isroutine(thing) or inspect.isclass(thing):
            yield thing


@pytest.mark.parametrize("thing", documented(), ids=lambda thing: thing.__name__)
def test_docstrings_run(thing):
    assert thing.__doc__, "says what it is for"
    finder = doctest.DocTestFinder(recurse=False)
    members = vars(thing).values() if inspect.isclass(thing) else []
    for part in [thing, *(member for member in members if inspect.isroutine(member))]:
        name = getattr(part, "__name__", "")
        assert name.startswith("_") or part.__doc__, f"{thing.__name__}.{name} says what it is for"
        for test in finder.find(part, name or thing.__name__, globs={"lately": lately}):
            assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md", "README.md"])
def test_pages_run(page):
    """Blocks of Python, from the top of the page to its end."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    known = {}
    for block in blocks:
        exec(compile(block, page, "exec"), known)


def test_the_notebook_runs():
    notebook = json.loads((ROOT / "docs/python.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 3
    known = {}
    for cell in cells:
        exec(compile(cell, "python.ipynb", "exec"), known)


def test_stubs_are_what_is_there():
    command = [sys.executable, "-m", "mypy.stubtest", "lately._lately", "--ignore-disjoint-bases"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "python/tests")
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_are_checked(tmp_path):
    good = """
import lately
seen = lately.Window(last=1000, error="0.1%")
new: bool = seen.add("a") or seen.add((1, "b"), now=1.0)
mask: list[bool] = seen.add_all(["a", "b"])
count: int = lately.Counter(within=None).add(b"a", times=3)
opened: lately.Window | lately.Counter = lately.open(bytes(lately.Ever()))
bits: float | None = lately.plan(last=1e6)[0].bits_per_item
"""
    bad = ["seen.add(1.5)", "seen.add(None)", "lately.Window(colour='red')", "lately.Counter().add('a', times='b')"]
    program = tmp_path / "program.py"
    program.write_text(good + "\n".join(bad) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program)],
        capture_output=True, text=True, cwd=tmp_path,
    )
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    first = good.count("\n") + 1
    assert lines == set(range(first, first + len(bad))), done.stdout
