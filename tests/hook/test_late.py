"""Functions that a loop keeps and that read its name: told with their line, others are not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from gradwatch import syntax
from gradwatch.slips.script.late import find_late


@pytest.fixture
def find(monkeypatch: Any) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        tree = ast.parse(text)
        monkeypatch.setattr(syntax, "parse", lambda file: tree)
        return [one["name"] for one in find_late(["train.py"])]

    return read


@pytest.mark.parametrize(
    "text",
    [
        "losses = [lambda y, p: pinball(q, y, p) for q in qs]",
        "losses = {name: lambda y, p: pinball(q, y, p) for name, q in qs.items()}",
        "for q in qs:\n    losses.append(lambda y, p: pinball(q, y, p))",
        "for q in qs:\n    losses[f'at_{q}'] = lambda y, p: pinball(q, y, p)",
        "for q in qs:\n    def loss(y, p):\n        return pinball(q, y, p)\n    losses.append(loss)",
        "heads = [layers.Lambda(lambda t: t[:, q])(x) for q in range(3)]",
        "for q in range(3):\n    h = layers.Lambda(lambda t: t[:, q])(x)\n    heads.append(h)",
        "def build():\n    for q in range(3):\n        heads.append(layers.Lambda(lambda t: t[:, q])(x))",
    ],
)
def test_a_function_that_sees_the_last_turn(find: Any, text: str) -> None:
    assert find(text) == ["q"]


@pytest.mark.parametrize(
    "text",
    [
        "losses = [lambda y, p, q=q: pinball(q, y, p) for q in qs]",
        "losses = [(lambda q: lambda y, p: pinball(q, y, p))(q) for q in qs]",
        "losses = [functools.partial(pinball, q) for q in qs]",
        "losses = [make(q) for q in qs]",
        "losses = [lambda y, p: min(q for q in y) for q in qs]",
        "parts = [data.filter(lambda x: x == q) for q in qs]",
        "for q in qs:\n    parts.append(sorted(x, key=lambda one: one[q]))",
        "for q in qs:\n    kept = []\n    kept.append(lambda: q)\n    print(kept[0]())",
        "for q in qs:\n    model = Sequential([Lambda(lambda t: t * q)])\n    model.fit(x)",
        "for q in qs:\n    h = layers.Lambda(lambda t: t * q)(x)\n    Model(x, h).fit(x)",
        "for q in qs:\n    h = layers.Lambda(lambda t: t[:, 0])(x)",
        "for q in qs:\n    if q in known:\n        table['loss'] = lambda y, p: pinball(q, y, p)\n        break",
        "def pick():\n    for q in qs:\n        table['loss'] = lambda y, p: pinball(q, y, p)\n        return table",
        "for q in qs:\n    config['loss'] = lambda y, p: pinball(q, y, p)\n    results.append(run(config))",
        "for q in qs:\n    parts.append(lambda t: t + q)\n    x = parts[-1](x)",
        "class Net:\n    def call(self, x):\n        return [layers.Lambda(lambda t: t[:, q])(x) for q in range(3)]",
        "for q in qs:\n    loss = lambda y, p: pinball(q, y, p)\n    print(loss(1, 2))",
    ],
)
def test_a_function_that_has_its_own_turn(find: Any, text: str) -> None:
    assert find(text) == []
