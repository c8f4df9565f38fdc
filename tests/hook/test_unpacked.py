"""Results that are taken apart in another order than they are given in are found; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.unpacked import find_unpacked

ENCODE = "def encode(x):\n    mean = x\n    spread = x\n    return mean, spread\n"
LOAD = "def load():\n    return (x_train, y_train), (x_test, y_test)\n"
MODEL = "encoder = keras.Model(inputs, [mean, spread, z])\n"


@pytest.fixture
def find(tmp_path: Path) -> Any:
    def of(text: str) -> list[tuple[str, list[str], int]]:
        path = tmp_path / "train.py"
        path.write_text(text)
        return [(one["name"], one["unpacked"], one["source"]["line"]) for one in find_unpacked([str(path)])]

    return of


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (ENCODE + "spread, mean = encode(x)", ("encode", ["mean", "spread"], 5)),
        (LOAD + "(x_train, y_train), (y_test, x_test) = load()", ("load", ["x_test", "y_test"], 3)),
        (MODEL + "mean, z, spread = encoder.predict(x)", ("encoder", ["spread", "z"], 2)),
        (MODEL + "spread, mean, _ = self.encoder(x)", ("encoder", ["mean", "spread"], 2)),
    ],
)
def test_results_that_are_exchanged(find: Any, text: str, wanted: Any) -> None:
    assert find(text) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        ENCODE + "mean, spread = encode(x)",
        ENCODE + "spread, low = encode(x)",
        ENCODE + "spread, mean = path.encode(x)",
        "def halves(x):\n    x1, x2 = x\n    return x1, x2\nx2, x1 = halves(x)",
        "def views(x):\n    left, right = x\n    return left, right\nright, left = views(x[:, ::-1])",
        ENCODE + "spread = encode(x)",
        ENCODE + ENCODE + "spread, mean = encode(x)",
        "def swap(a, b):\n    return b, a\na, b = swap(a, b)",
        "def of(x):\n    if x:\n        return a, b\n    return b, a\nb, a = of(x)",
        "def of(x):\n    def inner():\n        return b, a\n    return a, inner\nb, a = inner()",
        "spread, mean = encode(x)",
        MODEL + "encoder = keras.Model(inputs, [spread, mean, z])\nmean, spread, z = encoder(x)",
    ],
)
def test_others_are_not(find: Any, text: str) -> None:
    assert find(text) == []
