"""A latent code that is the prior for every sample: told where it lasts, and by what makes it."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import COLUMN, Run, dense

N = 500
LAYERS = [("hidden", 16, "relu"), ("mean", 4, None), ("spread", 4, None), ("decoder", 8, None)]


def found(sizes: np.ndarray, *, spread: float = 0.01, codes: tuple[str, ...] = ("mean", "spread")) -> list[Finding]:
    """What is told of a network whose code has a mean of these sizes, and log-variances of one."""
    run = Run(dense(4), n_steps=N, layers=LAYERS).set_loss(np.linspace(1.0, 0.5, N))
    run.slips = [{"type": "AddV2", "name": "add", "layer": "", "source": None, "codes": list(codes)}]
    for place, size in ((1, sizes), (2, np.full(N, spread))):
        column = run.columns("activation", [place])[0]
        n_elements = run.statistics[:, column, COLUMN["n_elements"]]
        run.statistics[:, column, COLUMN["norm"]] = size * np.sqrt(n_elements)
    return [one for one in run.feed().findings() if "Posterior collapse" in one.title]


def test_a_code_that_is_the_prior() -> None:
    (told,) = found(np.full(N, 0.01))
    assert (told.kind, told.severity, told.layer, told.first_step) == ("dead_units", "warning", "mean", 0)
    assert (
        told.hypotheses[0].cause == "A penalty on the output of mean (the KL term) outweighs the reconstruction error"
    )


def test_a_code_that_comes_to_be_the_prior_and_leaves_it() -> None:
    sizes = np.full(N, 0.01)
    sizes[:100], sizes[450:] = 0.8, 0.8
    (told,) = found(sizes)
    assert told.first_step == 100
    assert "stayed near 0 from step 100 to step 450" in told.title


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        pytest.param(np.full(N, 0.3), {}, id="a mean"),
        pytest.param(np.full(N, 0.01), {"spread": 3.0}, id="a small variance"),
        pytest.param(np.where(np.arange(N) < 250, 0.01, 0.5), {}, id="a late start"),
        pytest.param(np.full(N, 0.01), {"codes": ("mean", "unseen")}, id="not all of it is seen"),
        pytest.param(np.full(N, 0.01), {"codes": ()}, id="no code"),
    ],
)
def test_others_are_not_told(sizes: np.ndarray, options: dict) -> None:
    assert not found(sizes, **options)
