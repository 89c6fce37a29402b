"""The lessons on Spark hold under another seed: one each, since they take seconds."""

import pytest

from tests.notebooks.test_seeds import ON_SPARK, SEEDS, run

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize("path", ON_SPARK, ids=lambda path: path.stem[:2])
def test_a_lesson_on_spark_holds_under_another_seed(path, spark, tmp_path, monkeypatch):
    """No assertion depends on the stored seed."""
    monkeypatch.chdir(tmp_path)
    run(path, SEEDS[0])


def test_there_are_lessons_on_spark():
    """They are found by what they import."""
    assert [path.stem[:2] for path in ON_SPARK] == ["62", "63"]
