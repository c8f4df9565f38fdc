"""Lines that keep a name of the line that they were copied from: told where nothing reads the other name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from gradwatch import syntax
from gradwatch.slips.script.siblings import find_siblings

LOAD = "(x_train, y_train), (x_test, y_test) = load_data()\n"


@pytest.fixture
def find(monkeypatch: Any) -> Callable[[str], list[tuple[str, str]]]:
    def read(text: str) -> list[tuple[str, str]]:
        tree = ast.parse(text)
        monkeypatch.setattr(syntax, "parse", lambda file: tree)
        return [(one["name"], one["meant"]) for one in find_siblings(["train.py"])]

    return read


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{LOAD}x_train = x_train / 255.0\nx_test = x_train / 255.0\nfit(x_test)", [("x_train", "x_test")]),
        (f"{LOAD}train_y = one_hot(y_train)\ntest_y = one_hot(y_train)", [("y_train", "y_test")]),
        (f"{LOAD}train_y = one_hot(y_train)\ntest_y = one_hot(y_test)", []),
        (f"{LOAD}train_y = one_hot(y_train)\ntest_y = one_hot(y_train)\nshow(y_test)", []),
        (f"{LOAD}print(x_test)\nx_train = x_train / 255.0\nx_test = x_train / 255.0", []),
        (
            f"{LOAD}x_train, x_test = f(x_train), f(x_test)\na_train = g(x_train)\na_test = g(x_train)",
            [("x_train", "x_test")],
        ),
        (
            f"{LOAD}x_train, x_test = f(x_train), f(x_test)\nx_train = g(x_train)\nx_test = g(x_train)",
            [("x_train", "x_test")],
        ),
        (f"{LOAD}a_train = g(x_train)\na_test = g(x_train)\nx_test = f(x_test)", []),
        (
            "for x_train, x_test in folds:\n    a_train = g(x_train)\n    a_test = g(x_train)\n    x_test = f(x_test)",
            [],
        ),
        ("x_train = load()\nx_val = x_train[-50:]\nx_train = x_train[:-50]\nfit(x_val)", []),
        ("x_val = x_train[-50:]\ny_val = x_train[:50]", []),
        (
            "def f(x_real, x_fake):\n    d_real = D(x_real)\n    d_fake = D(x_real)\n    return d_real, d_fake",
            [("x_real", "x_fake")],
        ),
        ("def f(x_real, x_fake):\n    d_real = D(x_real)\n    d_fake = D(x_real)\n    return x_fake", []),
        ("def f(x_real, x_fake):\n    d_real = D(x_real)\n    d_fake = D(x_real)\n    return lambda: x_fake", []),
        ("def f(x_real):\n    d_real = D(x_real)\n    d_fake = D(x_real)\n    return d_real, d_fake", []),
        ("low_1 = f(a_1, 1)\nlow_2 = f(a_1, 2)\na_2 = 0", []),
        ("a_1, a_2 = 0, 0\nlow_1 = f(a_1, b_1)\nlow_2 = f(a_1, b_2)", [("a_1", "a_2")]),
        ("a_1, a_2, b_2 = 0, 0, 0\nlow_1 = f(a_1, b_1)\nlow_2 = f(a_1, b_1)", []),
        ("x_max = 9\nx_min = np.clip(x_min, low, x_max)\nx_max = np.clip(x_max, low, x_max)", []),
    ],
)
def test_a_copied_line_that_keeps_a_name(find: Any, text: str, told: list[tuple[str, str]]) -> None:
    assert find(text) == told
