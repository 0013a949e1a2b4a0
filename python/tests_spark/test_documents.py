"""What the page on Spark shows, runs."""

import re
from pathlib import Path

import lately.spark
import running

PAGE = Path(__file__).parents[2] / "docs/python-spark.md"


def test_the_page_runs(spark, tmp_path):
    running.keep_state_in(spark, running.ROCKSDB)
    (tmp_path / "in").mkdir()
    schema = "id string, ad long, user long, at timestamp"
    words = spark.createDataFrame([("the",), ("cat",), ("the",)], "word string")
    known = {"clicks": running.reading(spark, tmp_path / "in", schema), "df": words, "left": words, "right": words}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), known)
    assert known["once"].columns == ["id", "ad", "user", "at"]
    assert known["shown"].columns == ["id", "ad", "user", "at", "times"]
    assert known["words"]["the"] == 2
    assert {tuple(row) for row in known["pairs"].collect()} == {("the", 4), ("cat", 1)}
    for name in lately.spark.__all__:
        assert getattr(lately.spark, name).__doc__, "says what it is for"
