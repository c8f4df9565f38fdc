"""Validation data that lie elsewhere than those of the training, or among them, are told; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from gradwatch.slips.script import held_out
from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient",)
RNG = np.random.default_rng(0)
N = 800
TABLE = (RNG.normal(size=(N, 6)) * (12, 900, 3, 40, 5, 1) + (40, 5000, 0, 80, 900, 2)).astype(np.float32)
SCALED = (TABLE - TABLE.mean(axis=0)) / TABLE.std(axis=0)
IMAGES = RNG.integers(0, 256, (N, 8, 8, 1)).astype(np.float32)
NUMBERS = RNG.normal(size=N).astype(np.float32)
BORDERED = RNG.random((N, 8, 8, 1)) * (np.arange(8) > 0).reshape(1, 1, 8, 1)
BORDERED[300:, :, 0] = RNG.random((N - 300, 8, 1)) * (RNG.random((N - 300, 8, 1)) < 0.01)
LABELS = RNG.integers(0, 3, N)
CUT = 600
TIME = np.arange(N, dtype=np.float64).reshape(N, 1)
SERIES = np.cumsum(RNG.normal(size=(14_000, 3)), axis=0)
WALK = np.exp(np.cumsum(RNG.normal(0.01, 0.02, (N, 1)), axis=0))
AMOUNTS = np.where(TIME == 5, 1e6, RNG.random((N, 1)))
HEAVY = RNG.lognormal(0, 3, (N, 1))


SOURCE = """\
def fit(find, x, y, validation_data):
    return find()
"""
_SPACE: dict[str, Any] = {}
exec(compile(SOURCE, "/somewhere/keras/trainer.py", "exec"), _SPACE)  # noqa: S102


def kinds(x: Any, y: Any, held: Any) -> list[str]:
    """What is told of such data."""
    found = _SPACE["fit"](held_out.find_held_out, x, y, held)
    return [
        next(key for key in ("beyond", "seen", "windowed", "relabelled", "unlabelled") if key in one) for one in found
    ]


FOREIGN = RNG.normal(size=(200, 6)).astype(np.float32)


@pytest.mark.parametrize(
    ("x", "y", "held", "wanted"),
    [
        (IMAGES[:CUT] / 255, LABELS[:CUT], (IMAGES[CUT:], LABELS[CUT:]), ["beyond"]),
        (IMAGES[:CUT], LABELS[:CUT], (IMAGES[CUT:] / 255, LABELS[CUT:]), ["beyond"]),
        (IMAGES[:CUT] / 255, LABELS[:CUT], (IMAGES[CUT:] / 255, LABELS[CUT:]), []),
        (IMAGES[:CUT] / 255, LABELS[:CUT], (IMAGES[CUT:] / 127.5 - 1, LABELS[CUT:]), []),
        (BORDERED[:CUT], LABELS[:CUT], (BORDERED[CUT:], LABELS[CUT:]), []),
        (SCALED[:CUT], NUMBERS[:CUT], (TABLE[CUT:], NUMBERS[CUT:]), ["beyond"]),
        (TABLE[:CUT], NUMBERS[:CUT], (SCALED[CUT:], NUMBERS[CUT:]), ["beyond"]),
        (SCALED[:CUT], NUMBERS[:CUT], (SCALED[CUT:] * 3 + 1, NUMBERS[CUT:]), []),
        ([SCALED[:CUT], IMAGES[:CUT]], NUMBERS[:CUT], ([SCALED[CUT:], IMAGES[CUT:] / 255], NUMBERS[CUT:]), ["beyond"]),
        (SCALED[:CUT], NUMBERS[:CUT], (SCALED[CUT:], 200 * NUMBERS[CUT:] + 30), ["beyond"]),
        (SCALED, NUMBERS, (SCALED[CUT:], NUMBERS[CUT:]), ["seen"]),
        (SCALED, NUMBERS, (SCALED, NUMBERS), []),
        (SCALED[:300], NUMBERS[:300], (SCALED[:100], NUMBERS[:100]), []),
        (SCALED[:CUT], NUMBERS[:CUT], (SCALED[CUT:], NUMBERS[CUT:]), []),
        (SCALED.round(), NUMBERS, (SCALED[CUT:].round(), NUMBERS[CUT:]), []),
        (SCALED, LABELS, (SCALED[CUT:], LABELS[:200]), ["relabelled"]),
        (SCALED, LABELS, (SCALED[CUT:], np.where(NUMBERS[CUT:] > 0.8, 1, LABELS[CUT:])), []),
        (FOREIGN[:100], LABELS[:100] % 2, (FOREIGN[100:], LABELS[:100] * 0 + 2), ["unlabelled"]),
        (SCALED[:CUT], np.eye(3)[LABELS[:CUT] % 2], (SCALED[CUT:], np.eye(3)[LABELS[CUT:] * 0 + 2]), ["unlabelled"]),
        (SCALED[:CUT], LABELS[:CUT], (SCALED[CUT:], LABELS[CUT:]), []),
        (SCALED[:CUT], None, (SCALED[CUT:], None), []),
        (SCALED[:CUT], NUMBERS[:CUT], (SCALED[:16] * 900, NUMBERS[:16]), []),
        (SCALED[:CUT], NUMBERS[:CUT], None, []),
        (TIME[:750], LABELS[:750], (TIME[750:], LABELS[750:]), []),
        (WALK[:760], LABELS[:760], (WALK[760:], LABELS[760:]), []),
        (AMOUNTS[:CUT], LABELS[:CUT], (AMOUNTS[CUT:], LABELS[CUT:]), []),
        (HEAVY[:750], LABELS[:750], (HEAVY[750:], LABELS[750:]), []),
        (SCALED[:CUT], 1990 + np.arange(CUT) // 20, (SCALED[CUT:], 2020 + np.arange(N - CUT) // 20), []),
        (SCALED[:CUT], np.arange(CUT), (SCALED[CUT:], np.arange(CUT, N)), []),
        (SCALED[:CUT], NUMBERS[:CUT], ((SCALED[CUT:] - 900) / 90, NUMBERS[CUT:]), ["beyond"]),
    ],
)
def test_what_is_told(x: Any, y: Any, held: Any, wanted: list[str]) -> None:
    assert kinds(x, y, held) == wanted


def fitted(watch: Any, held: Any, x: Any = SCALED, y: Any = NUMBERS) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    begun = watch(model)
    model.fit(x, y, batch_size=32, epochs=6, validation_data=held, verbose=0)  # fit
    return begun


def test_another_range_with_its_line(watch: Any, read: Any) -> None:
    found = [one for one in diagnose(read(fitted(watch, (TABLE[CUT:], NUMBERS[CUT:])))).findings() if one.source]
    assert [one.title.split(":")[0] for one in found] == ["The validation data are in another range"]
    assert found[0].source["line"] == find_line("fit", Path(__file__))


def test_rows_that_are_trained_on(watch: Any, read: Any) -> None:
    (found,) = found_in(read(fitted(watch, (SCALED[CUT:], NUMBERS[CUT:]))))
    assert found["seen"] == 1


def test_a_part_that_the_line_itself_takes_is_meant(watch: Any, read: Any) -> None:
    model = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    begun = watch(model)
    model.fit(SCALED, NUMBERS, epochs=1, validation_data=(SCALED[:200], NUMBERS[:200]), verbose=0)
    assert found_in(read(begun)) == []


def test_targets_of_other_rows_are_no_slip(watch: Any, read: Any) -> None:
    recording = read(fitted(watch, (SCALED[CUT:], NUMBERS[:200])))
    assert found_in(recording) == []
    assert known_in(recording, "relabelled")


def windows(stride: int, length: int = 24, series: Any = SERIES) -> Any:
    return np.stack([series[i : i + length] for i in range(0, len(series) - length, stride)])


def split(x: Any, share: float = 0.8, *, is_random: bool = True) -> list[str]:
    """What is told of windows that are split so."""
    order = RNG.permutation(len(x)) if is_random else np.arange(len(x))
    own, held = x[order[: int(share * len(x))]], x[order[int(share * len(x)) :]]
    return kinds(own, np.arange(len(own)) / 7, (held, np.arange(len(held)) / 7))


@pytest.mark.parametrize("stride", [1, 5, 12])
@pytest.mark.parametrize("n_columns", [0, 3])
def test_windows_that_are_split_at_random(stride: int, n_columns: int) -> None:
    series = SERIES[:, :n_columns] if n_columns else SERIES[:, 0]
    assert split(windows(stride, series=series)) == ["windowed"]
    assert split(windows(stride, series=series), is_random=False) == []


def test_windows_that_share_little_or_nothing() -> None:
    assert split(windows(24, series=np.concatenate([SERIES, -SERIES]))) == []
    assert split(windows(13)) == []  # less than half
    assert split(RNG.normal(size=(900, 24, 3))) == []
    noisy = windows(2)
    assert split(noisy + RNG.normal(0, 1e-3, noisy.shape)) == []


def test_recordings_that_are_held_out_whole() -> None:
    parts = [windows(2, series=RNG.normal(size=(600, 3))) for _ in range(8)]
    own, held = np.concatenate(parts[:6]), np.concatenate(parts[6:])
    assert kinds(own, np.zeros(len(own)), (held, np.zeros(len(held)))) == []


def test_the_next_part_of_a_series() -> None:
    x = windows(1)
    assert kinds(x[:3000], x[:3000, 0], (x[3000:3040], x[3000:3040, 0])) == []  # all of them overlap with the last


def test_windows_of_what_repeats() -> None:
    x = windows(1, series=np.tile(SERIES[:40], (60, 1)))
    assert split(x, is_random=False) == []
