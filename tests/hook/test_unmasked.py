"""A `Masking` layer that masks none of the padding is told; one that does, or has nothing to mask, is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from tests.hook.diagnosis import find_line, found_in

CAPTURE = ("gradient",)
N, TIMES = 64, 12
RNG = np.random.default_rng(0)
FULL = RNG.normal(size=(N, TIMES, 3)).astype(np.float32)
IS_PADDING = np.arange(TIMES) >= RNG.integers(4, TIMES, N)[:, None]


RARE = np.random.default_rng(1).random((N, TIMES, 1)) < 0.3


def padded(value: float, *, is_before: bool = False) -> np.ndarray:
    """Sequences that end, or begin, in a number."""
    rows = np.where(IS_PADDING[..., None], np.float32(value), FULL)
    return rows[:, ::-1].copy() if is_before else rows


def scaled() -> np.ndarray:
    """Sequences that were padded with 0, and scaled by columns then."""
    rows = padded(0.0) + np.arange(3, dtype=np.float32)
    return (rows - rows.mean((0, 1))) / rows.std((0, 1))


@pytest.mark.parametrize(
    ("rows", "pads"),
    [
        (lambda: padded(-1.0), -1.0),
        (lambda: padded(-1.0, is_before=True), -1.0),
        (scaled, None),
        (lambda: padded(0.0), "silent"),
        (lambda: FULL, "silent"),
        (lambda: np.where(RARE, FULL, np.float32(-1)), "silent"),  # times without an event
    ],
)
def test_masking(watch: Any, read: Any, rows: Callable[[], np.ndarray], pads: Any) -> None:
    masking = layers.Masking(mask_value=0.0)  # masking
    model = keras.Sequential([keras.Input((TIMES, 3)), masking, layers.GRU(4), layers.Dense(1)])
    model.compile("sgd", "mse")
    begun = watch(model)
    model.fit(rows(), np.zeros((N, 1)), batch_size=32, epochs=1, verbose=0)
    found = [one for one in found_in(read(begun)) if "unmasked" in one]
    if pads == "silent":
        assert found == []
        return
    (one,) = found
    assert (one["unmasked"], one["pads"]) == ("0", pads)
    assert one["source"]["line"] == find_line("masking", Path(__file__))
