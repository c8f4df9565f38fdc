"""Targets that were filled with 0 where they are missing, by the statistics of what enters and of what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import COLUMN, Run, dense

N, SAMPLES, WIDTH = 120, 64, 4
TITLE = "of the targets are exactly 0, in the midst of others: missing ones, filled with 0?"


def told(
    share: float = 0.5, *, mean: float = 0.0, scale: float = 1.0, are_signs: bool = False, unheard: float = 0.0
) -> list[Finding]:
    """Several targets of each sample, of which a share is 0.

    Args:
        share: of zeros.
        mean: of the others.
        scale: their deviation.
        are_signs: whether they are 1 and -1.
        unheard: of the gradient with respect to the output, the share that is 0.
    """
    layers = [("hidden", 32, "relu"), ("out", WIDTH, None)]
    run = Run(dense(2), n_steps=N, layers=layers, inputs=[("target", WIDTH)])
    (column,) = run.columns("input")
    run.tensors[int(column)] |= {"tensor": "target", "shape": [None, WIDTH]}
    random = np.random.default_rng(0)
    signal = run.columns("backprop")[-1]
    for row in range(N):
        values = mean + scale * random.normal(size=SAMPLES * WIDTH)
        values = np.sign(values) if are_signs else values
        values *= random.random(len(values)) >= share
        known = {"min": values.min(), "max": values.max(), "mean": values.mean(), "std": values.std()}
        for name, value in (known | {"n_zero": (values == 0).sum(), "n_elements": len(values)}).items():
            run.statistics[row, column, COLUMN[name]] = value
    run.statistics[:, signal, COLUMN["n_zero"]] = unheard * run.statistics[:, signal, COLUMN["n_elements"]]
    found = run.set_loss(0.5 * np.exp(-np.arange(N) / 20) + 0.3).feed().findings()
    return [one for one in found if one.title.endswith(TITLE)]


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_targets_that_were_filled(share: float) -> None:
    (found,) = told(share)
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert float(found.title.split("%")[0]) / 100 == pytest.approx(share, abs=0.05)
    assert found.hypotheses[0].cause == "Missing targets were filled with 0, and the loss has no mask"


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"share": 0.0}, id="none"),
        pytest.param({"share": 0.9}, id="a sparse code"),
        pytest.param({"are_signs": True}, id="signs"),
        pytest.param({"mean": 1.0}, id="another mean"),
        pytest.param({"scale": 3.0}, id="another scale"),
        pytest.param({"unheard": 0.5}, id="a mask"),
    ],
)
def test_other_targets(options: dict[str, float]) -> None:
    assert told(**options) == []
