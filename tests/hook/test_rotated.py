"""Rotations by whole turns, where degrees are meant, are told; shares of a turn are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import pytest
from keras import layers

from gradwatch.slips.script.rotated import find_rotated


@pytest.mark.parametrize(
    ("line", "factor"),
    [
        ("turn = layers.RandomRotation((-10, 10))", [-10, 10]),
        ("turn = layers.RandomRotation(factor=20)", [-20, 20]),
        ("turn = layers.RandomRotation(0.1)", None),
        ("turn = layers.RandomRotation((-1, 1))", None),
        ("turn = layers.RandomRotation((-180, 180))", None),
        ("turn = layers.RandomRotation((0, 360))", None),
        ("turn = layers.RandomRotation(20 / 360)", None),
        ("turn = layers.RandomRotation(factor)", None),
        ("turn = RandomRotation()", None),
        ("turn = layers.RandomRotation((0, 1.5))", None),
        ("turn = layers.RandomRotation(3.1416)", None),
        ("from torchvision import transforms; turn = transforms.RandomRotation(15)", None),
        ("import kornia.augmentation as aug; turn = aug.RandomRotation(15)", None),
    ],
)
def test_a_line(tmp_path: Path, line: str, factor: list[float] | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"from keras import layers\n{line}\n")
    found = find_rotated([], [str(path)])
    assert [(one["rotates"], one["source"]["line"], one["layer"]) for one in found] == [(factor, 2, "")] * bool(factor)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ("RandomRotation((-angle, angle))", 1),
        ("RandomRotation((-10, 10))\nRandomRotation(0.1)", 1),
        ("RandomRotation(low)\nRandomRotation(high)", None),
    ],
)
def test_a_layer(tmp_path: Path, lines: str, line: int | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{lines}\nx = 1\n")
    model: Any = keras.Sequential([keras.Input((8, 8, 1)), layers.RandomRotation((-10, 10), name="turn")])
    (found,) = find_rotated([model], [str(path)])
    assert found["layer"].endswith("turn")
    assert found["rotates"] == [-10, 10]
    assert (found["source"] or {}).get("line") == line


def test_a_layer_that_turns_by_shares() -> None:
    assert find_rotated([keras.Sequential([keras.Input((8, 8, 1)), layers.RandomRotation(0.1)])], []) == []
