"""Pairs of inputs and targets that do not belong together by the script's own lines are told; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script.mispaired import find_mispaired
from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient",)


def found(tmp_path: Path, lines: str) -> list[dict[str, Any]]:
    path = tmp_path / "train.py"
    path.write_text(lines)
    return find_mispaired([str(path)])


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ("model.fit(x_train, y_train, validation_data=(x_test, y_train))", 1),
        ("model.fit(x_train, y_train, validation_data=(x_test, y_train[:len(x_test)]))", 1),
        ("model.fit(trainX, testY, epochs=3)", 1),
        ("model.evaluate(x_test, y_val)", 1),
        ("ds = tf.data.Dataset.from_tensor_slices((x_train, y_test))", 1),
        ("x_val = x[-500:]\ny_val = y[:500]\nmodel.fit(x, y, validation_data=(x_val, y_val))", 2),
        ("x_val, y_val = x[-500:], y[:500]\nmodel.fit(x, y, validation_data=(x_val, y_val))", 1),
        ("x_val = x[-500:]\nx = x[:-500]\ny = y[500:]\nmodel.fit(x, y, epochs=2)", 3),
        ("model.fit(x[:half], y[half:], epochs=1)", 1),
        ("x, y = a[:-90], b[90:]\nheld = a[-90:]\nx = (x - m) / s\nmodel.fit(x, y, epochs=1)", 1),
        ("model.fit(x_train, y_train, validation_data=(x_test, y_test))", None),
        ("model.fit(x_train, y_train, validation_data=(x_trainval_test, y_test))", None),
        ("model.fit(x_train, teacher(x_test), epochs=1)", None),
        ("model.fit(x_train, y_std_dev, epochs=1)", None),
        ("model.fit(x_train, is_test, epochs=1)", None),
        ("ds = from_tensor_slices((train_images, test_images))", None),
        ("x = a[:n]\ny = b[-n:]\nmodel.fit(x, y, epochs=2)", None),
        ("x = a[-n:]\ny = b[:n]\nmodel.fit(x, y, epochs=2)", 2),
        ("evaluate(x_test, y_train)\nmodel.fit(train, epochs=2)", None),
        ("x = series[:-1]\ny = series[1:]\nmodel.fit(x, y, epochs=2)", None),
        ("x = states[:-horizon]\ny = prices[horizon:]\nlast = states[-horizon:]\nmodel.fit(x, y, epochs=2)", None),
        ("x = states[:-1]\ny = prices[1:]\nlast = states[-1:]\nmodel.fit(x, y, epochs=2)", None),
        ("x_val = x[-500:]\nx = x[:-500]\ny = y[:-500]\nmodel.fit(x, y, epochs=2)", None),
        ("model.fit(x[:n], y[:n], validation_data=(x[n:], y[n:]))", None),
        ("def one():\n    x, y = a[-9:], b[:9]\ndef two(x, y):\n    model.fit(x, y, epochs=1)", None),
    ],
)
def test_pairs_that_are_none(tmp_path: Path, lines: str, line: int | None) -> None:
    slips = found(tmp_path, lines)
    assert [one["source"]["line"] for one in slips if "mixed" in one] == ([] if line is None else [line])


NOISE = "x_noisy = x + 0.3 * rng.normal(size=x.shape)\nx_test_noisy = x_test + rng.normal(size=x_test.shape)\n"
CLIPPED = NOISE + "x_noisy = np.clip(x_noisy, 0, 1)\n"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (NOISE + "model.fit(x_noisy, x_noisy, epochs=2)\nmodel.evaluate(x_test_noisy, x_test)", "both"),
        (CLIPPED + "model.fit(x_noisy, x_noisy, epochs=2)\nplot(x_test)", "both"),
        (NOISE + "model.fit(x, x_noisy, epochs=2)", "target"),
        ("noise = rng.normal(size=x.shape)\nx_noisy = x + noise\nmodel.fit(x, x_noisy, epochs=2)", "target"),
        ("x_noisy = x + rng.normal(size=x.shape[1:])\nmodel.fit(x_noisy, x, epochs=2)", "alike"),
        (NOISE + "model.fit(x_noisy, x, epochs=2)", None),
        (NOISE + "model.fit(x_noisy, x_noisy, epochs=2)", None),
        ("x_noisy = x + offset\nmodel.fit(x_noisy, x_noisy, epochs=2)\nplot(x)", None),
        ("x = base + rng.normal(size=base.shape)\nmodel.fit(x, x, epochs=2)\nplot(base)", None),
        ("y = x + rng.normal(size=x.shape)\nmodel.fit(x, y, epochs=2)", None),
        ("x = np.linspace(0, 1, 9)\ny_noisy = x + rng.normal(size=9)\nmodel.fit(x, y_noisy, epochs=2)", None),
    ],
)
def test_noise_that_is_to_be_learned(tmp_path: Path, lines: str, wanted: str | None) -> None:
    assert [one["as"] for one in found(tmp_path, lines)] == ([] if wanted is None else [wanted])


def test_a_training_of_such_pairs(watch: Any, read: Any) -> None:
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x_train, y_train, x_test = rng.normal(size=(64, 3)), rng.normal(size=64), rng.normal(size=(64, 3))
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    begun = watch(model)
    model.fit(x_train, y_train, validation_data=(x_test, y_train), verbose=0)  # mixed
    (told,) = [one for one in found_in(read(begun)) if "mixed" in one]
    assert told["mixed"] == ["x_test", "y_train"]
    assert told["source"]["line"] == find_line("mixed", Path(__file__))
