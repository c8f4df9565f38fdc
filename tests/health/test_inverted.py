"""A loss whose mask keeps the padding, by how many places get no gradient and how many labels are 0."""

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N, SAMPLES, PLACES, UNITS = 80, 16, 20, 5


def run_with(
    heard: str, *, name: str = "target", padded: tuple[float, float] = (0.1, 0.4), dtype: str = "int32"
) -> Run:
    """A tagger of sequences, of which so large a part is padding, whose loss hears these places."""
    random = np.random.default_rng(0)
    run = Run(dense(2), n_steps=N, layers=[("out", UNITS, None)], inputs=[(name, PLACES)])
    signal, target = int(run.columns("backprop", [0])[0]), int(run.columns("input", [0])[0])
    for column in (int(run.columns("activation", [0])[0]), signal):
        run.tensors[column]["shape"] = [None, PLACES, UNITS]
    run.tensors[target] |= {"dtype": dtype, "shape": [None, PLACES]}
    n = SAMPLES * PLACES
    n_padded = np.round(n * random.uniform(*padded, N))
    silent = {"labels": n_padded, "padding": n - n_padded, "all": np.zeros(N), "some": np.round(0.3 * (n - n_padded))}
    for column, size, n_zero in ((signal, n * UNITS, silent[heard] * UNITS), (target, n, n_padded)):
        run.statistics[:, column, COLUMN["n_elements"]] = size
        run.statistics[:, column, COLUMN["n_zero"]] = n_zero
    return run.set_loss(2.0 * np.exp(-np.arange(N) / 5.0))


@pytest.mark.parametrize("batch", [1, 64])
def test_a_mask_that_keeps_the_padding(batch: int) -> None:
    (found,) = run_with("padding").feed(batch=batch).findings()
    assert (found.kind, found.first_step, found.layer) == ("zero_gradient", 0, "out")
    assert found.title.startswith("The loss is taken of the places that are labelled 0 alone")
    assert found.evidence["share"] == pytest.approx(0.75, abs=0.15)


@pytest.mark.parametrize("heard", ["labels", "all", "some"])
def test_other_masks(heard: str) -> None:
    assert run_with(heard).feed().findings() == []


def test_half_padding_does_not_tell_a_mask_from_its_opposite() -> None:
    assert run_with("padding", padded=(0.48, 0.52)).feed().findings() == []


def test_targets_that_are_no_labels() -> None:
    assert run_with("padding", dtype="float32").feed().findings() == []


def test_words_stand_for_labels_that_are_not_known() -> None:
    (found,) = run_with("padding", name="input").feed().findings()
    assert "places that are 0 in the input alone" in found.title
    assert run_with("labels", name="input").feed().findings() == []
