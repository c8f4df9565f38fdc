"""Callbacks, schedules and weights of classes that nothing reads are told; those that are handed over are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradwatch.slips.script.withheld import find_withheld

STOP = "stop = keras.callbacks.EarlyStopping(patience=3)\n"
FIT = "model.fit(x, y)\n"
RATE = "rate = keras.optimizers.schedules.CosineDecay(1e-3, 1000)\n"
COUNTED = "weights = compute_class_weight('balanced', classes=classes, y=y)\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (STOP + FIT, ("EarlyStopping", "stop")),
        ("def train():\n    " + STOP + "    " + FIT, ("EarlyStopping", "stop")),
        (RATE + "optimizer = keras.optimizers.Adam(1e-3)\n", ("CosineDecay", "rate")),
        (COUNTED + FIT, ("class_weight", "weights")),
        ("class_weight = {0: 1.0, 1: 9.0}\n" + FIT, ("class_weight", "class_weight")),
        ("class_weights = {i: 1 / n for i, n in enumerate(counts)}\n" + FIT, ("class_weight", "class_weights")),
        (STOP + "model.fit(x, y, callbacks=[stop])\n", None),
        (STOP + "train(model)\n", None),
        (STOP + FIT + "print(vars())\n", None),
        (RATE + "optimizer = keras.optimizers.Adam(rate)\n", None),
        (COUNTED + "model.fit(x, y, class_weight=dict(enumerate(weights)))\n", None),
        ("table = {0: 1.0, 1: 9.0}\n" + FIT, None),
        ("class Trainer:\n    " + STOP + FIT, None),
        ("watch = gradwatch.watch(model)\n" + FIT, None),
        ("_" + STOP + FIT, None),
        ('__all__ = ["stop"]\n' + STOP + FIT, None),
    ],
)
def test_lines(tmp_path: Path, text: str, told: tuple[str, str] | None) -> None:
    path = tmp_path / "made_and_withheld.py"  # a name that no other module imports
    path.write_text(text)
    assert [(one["name"], one["withheld"]) for one in find_withheld([str(path)])] == ([] if told is None else [told])


def test_one_that_another_file_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "settings.py", tmp_path / "train.py"
    first.write_text(STOP + "x = 1\n")
    second.write_text("from settings import stop\n" + FIT)
    monkeypatch.setattr("gradwatch.syntax.users_files", lambda: [str(first), str(second)])
    assert find_withheld([str(first), str(second)]) == []
