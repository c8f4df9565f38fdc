"""Lines of fine-tuning that undo one another, or that nobody looks at, are told; stages in order are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import pytest
from keras import layers

from gradwatch.slips.script.thawed import find_thawed

FREEZE = "for layer in base.layers[:100]:\n    layer.trainable = False\n"
THAW = "base.trainable = True\n"
FIT = "model.fit(x, y)\n"
COMPILE = "model.compile('adam', 'mse')\n"
STILL = "base.trainable = False\n"
PART = "\n\ndef build(x):\n    return base(x)\n"


def find(folder: Path, text: str, model: Any = None) -> list[tuple[int, str]]:
    path = folder / "train.py"
    path.write_text(text + PART)
    found = find_thawed([] if model is None else [model], [str(path)])
    return [(one["source"]["line"], one.get("thawed") or one["frozen"]) for one in found]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FREEZE + THAW + COMPILE + FIT, (3, "base")),
        (FREEZE + "print(len(base.layers))\n" + THAW, (4, "base")),
        (THAW + FREEZE + COMPILE + FIT, None),
        (FREEZE + COMPILE + FIT + THAW + COMPILE + FIT, None),
        (FREEZE + "train(model)\n" + THAW, None),
        (FREEZE + "other.trainable = True\n", None),
        (FREEZE.replace("[:100]", "") + THAW, None),
        ("def train():\n    " + FREEZE.replace("\n    ", "\n        ") + "    " + THAW, (4, "base")),
        (COMPILE + FIT + STILL + FIT, (3, "base")),
        (COMPILE + FIT + STILL + "print(model.evaluate(x, y))\n" + FIT, (3, "base")),
        (COMPILE + FIT + STILL + COMPILE + FIT, None),
        (COMPILE + FIT + "teacher.trainable = False\n" + FIT, None),
        (COMPILE + FIT + STILL + FIT + "base.predict(x)\n", None),
        (COMPILE + STILL + FIT, None),
        (COMPILE + FIT + STILL + "other.fit(x, y)\n", None),
        (COMPILE + FIT + STILL + "model = build(base)\n" + FIT, None),
        (COMPILE + FIT + STILL, None),
    ],
)
def test_lines(tmp_path: Path, text: str, told: tuple[int, str] | None) -> None:
    assert find(tmp_path, text) == ([] if told is None else [told])


@pytest.mark.parametrize(("is_trained", "is_told"), [(True, True), (False, False)])
def test_a_model_with_a_frozen_layer(tmp_path: Path, is_trained: bool, is_told: bool) -> None:
    model: Any = keras.Sequential([keras.Input((4,)), layers.Dense(2), layers.Dense(1)])
    model.layers[0].trainable = is_trained
    assert bool(find(tmp_path, FREEZE + THAW, model)) == is_told
