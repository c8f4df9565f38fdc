"""Gradients that a tape is asked for of what it has not seen are found; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.untaped import find_untaped


@pytest.fixture
def find(tmp_path: Path) -> Any:
    def of(text: str) -> list[tuple[str, str, int, int]]:
        path = tmp_path / "rod.py"
        path.write_text(text)
        found = find_untaped([str(path)])
        return [(one["name"], one["untaped"], one["source"]["line"], one["made"]["line"]) for one in found]

    return of


SECOND = """\
def residual(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
{indent}u_x = inner.gradient(u, x)
    u_xx = outer.gradient(u_x, x, unconnected_gradients="zero")
    return u_xx
"""
PENALTY = """\
for x in data:
    with tf.GradientTape() as tape:
        errors = tf.square(model(x) - y)
    loss = {loss}
    grads = tape.gradient(loss, model.trainable_variables)
"""


def test_a_first_derivative_outside_of_the_outer_tape(find: Any) -> None:
    assert find(SECOND.format(indent="    ")) == [("u_x", "outer", 8, 7)]


@pytest.mark.parametrize("indent", [" " * 8, " " * 12])
def test_a_first_derivative_within_it(find: Any, indent: str) -> None:
    assert find(SECOND.format(indent=indent)) == []


@pytest.mark.parametrize(
    ("loss", "is_told"),
    [
        ("tf.reduce_mean(errors)", True),
        ("errors + penalty", True),
        ("errors", False),  # as it was recorded
        ("parts[0]", False),
        ("loss_of(errors)", False),  # may be what gave it
        ("tf.reduce_mean(errors); loss = errors", False),
    ],
)
def test_a_loss_that_is_computed_behind_the_block(find: Any, loss: str, is_told: bool) -> None:
    assert find(PENALTY.format(loss=loss)) == ([("loss", "tape", 5, 4)] if is_told else [])


@pytest.mark.parametrize(
    "text",
    [
        "with tf.GradientTape() as t:\n    y = f(x)\nz = y + 1\nwith t:\n    z = y + 2\ng = t.gradient(z, x)\n",
        "with tf.GradientTape() as t:\n    y = f(x)\nwith t:\n    z = tf.square(y)\ng = t.gradient(z, x)\n",
        "loss = 0 * x\nwith tf.GradientTape() as t:\n    loss = loss + f(x)\ng = t.gradient(loss, x)\n",
        "with tf.GradientTape() as t:\n    a, loss = f(x)\ng = t.gradient(loss, x)\n",
        "def step(loss):\n    with tf.GradientTape() as t:\n        f(x)\n    return t.gradient(loss, x)\n",
        "with tf.GradientTape() as t:\n    y = f(x)\nmean = tf.reduce_mean(y)\ng = t.gradient(y, x)\n",
    ],
)
def test_what_a_tape_has_seen_or_may_have(find: Any, text: str) -> None:
    assert find(text) == []
