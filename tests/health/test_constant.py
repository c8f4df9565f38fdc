"""Inputs that are one number in every sample, beside what is not learned."""

import numpy as np
import pytest

from gradwatch_server.health.finding import Finding
from tests.health.streams import Run, dense
from tests.numerics.reference import row

N_STEPS = 400
RANDOM = np.random.default_rng(0)


def told(dtype: str = "int64", n_rows: int = N_STEPS, **inputs: np.ndarray) -> Finding:
    """What is told of a loss that stands, with these inputs ``[n_steps, n_samples]``, looked at in the first rows."""
    named = [(f"input/{name}", 1) for name in inputs]
    run = Run(dense(4, 10), n_steps=N_STEPS, inputs=named).set_loss(LOSS)
    for place, batches in zip(run.columns("input"), inputs.values(), strict=False):
        run.tensors[int(place)] |= {"dtype": dtype, "shape": [None]}
        run.statistics[:, int(place)] = [row(batch.astype(np.float64)) for batch in batches]
        run.statistics[n_rows:, int(place)] = np.nan
    (found,) = run.feed().findings()
    return found


def causes(found: Finding) -> dict[str, float]:
    return {one.cause: one.confidence for one in found.hypotheses if "the same in every sample" in one.cause}


ZEROS = np.zeros((N_STEPS, 16))
LOSS = np.log(16) + 0.01 * RANDOM.standard_normal(N_STEPS)
WORDS = RANDOM.integers(0, 40, (N_STEPS, 16))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_an_input_that_never_changes(dtype: str) -> None:
    found = told(dtype, word=ZEROS)
    assert causes(found) == {"word is the same in every sample: 0": 0.75}
    assert found.evidence["constant_inputs"] == ["input/word"]
    assert found.hypotheses[0].cause in causes(found)


def test_several() -> None:
    assert causes(told(one=ZEROS, other=ZEROS + 1)) == {"one and other are the same in every sample: 0 and 1": 0.75}


def test_one_of_several_may_be_meant() -> None:
    assert causes(told(word=WORDS, type=ZEROS)) == {"type is the same in every sample: 0": 0.35}


def test_what_changes_once_is_none() -> None:
    given = ZEROS.copy()
    given[5, 3] = 1
    assert causes(told(word=given)) == {}
    assert "constant_inputs" not in told(word=given).evidence


def test_what_was_hardly_looked_at_is_not_known() -> None:
    assert causes(told(word=ZEROS, n_rows=19)) == {}
    assert len(causes(told(word=ZEROS, n_rows=20))) == 1
