"""What a run's first rows say is told where something goes wrong later: unscaled inputs, a start of the wrong size."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health import Hypothesis
from gradwatch_server.health.table import TensorTable
from tests.health.streams import COLUMN, Run, dense, forward

LAYERS = [("a", 32, "relu"), ("b", 32, "relu"), ("c", 8, "softmax")]
N = 300


def growing(largest: float, spread: float, start: int, *, batch: int = 64) -> dict[str, Hypothesis]:
    """Causes of a growing gradient, where so much entered, and one layer's output is so much wider than the last."""
    run = Run(dense(3), n_steps=N, layers=LAYERS, inputs=[("input", 4), ("target", 1)])
    run.statistics[:, run.columns("input", [0]), COLUMN["max"]] = largest
    run.statistics[:, run.columns("activation", [1]), COLUMN["std"]] *= spread
    run.statistics[:, run.columns("activation", [2]), COLUMN["std"]] *= 1e-6  # of a softmax nothing is concluded
    run.scale("gradient", np.exp(2.0 * np.clip(np.arange(N) - start, 0, 15)))
    (finding,) = [one for one in run.feed(batch=batch).findings() if one.kind == "exploding_gradient"]
    return {hypothesis.cause: hypothesis for hypothesis in finding.hypotheses}


START = "The weights start too large for the depth"


def test_unscaled_inputs_are_a_cause_with_their_size() -> None:
    causes = growing(255.0, 1.0, 100)
    assert "Values up to 255 enter the model" in causes["The inputs are not scaled"].why
    assert "The inputs are not scaled" not in growing(1.0, 1.0, 100)


@pytest.mark.parametrize(("highest", "are_so"), [(np.nan, False), (3.0, True), (2.5, False)])
def test_numbers_of_classes_among_targets_that_may_not_have_been_looked_at(highest: float, *, are_so: bool) -> None:
    well = Run(dense(1), n_steps=20, inputs=[("input", 8), ("target", 1)]).set_loss(1.0)
    (column,) = well.columns("input", [1])
    for name, value in (("min", 0.0), ("max", highest), ("mean", 1.5), ("n_elements", 32.0)):
        well.statistics[:, column, COLUMN[name]] = value * highest / highest  # NaN throughout where it is NaN
    assert well.feed()._streams[0].start.are_classes == are_so


@pytest.mark.parametrize("batch", [1, 64])
def test_a_start_of_the_wrong_size_is_seen_in_the_outputs(batch: int) -> None:
    wide, usual = growing(1.0, 20.0, 8, batch=batch)[START], growing(1.0, 1.0, 8, batch=batch)[START]
    late = growing(1.0, 20.0, 150, batch=batch)[START]
    assert wide.confidence > max(usual.confidence, late.confidence)
    assert "the variance of the output of b was" in wide.why
    assert "of a before it" in wide.why
    assert "variance of the output" not in usual.why


@pytest.mark.parametrize(
    ("shapes", "is_told"), [([(16, 64), (16, 64)], True), ([(16, 32), (8, 32)], True), ([(16, 64), (64, 10)], False)]
)
def test_a_recurrent_layer_is_known_by_its_kernels(shapes: list[tuple[int, int]], is_told: bool) -> None:
    first = [("rnn/cell/kernel", shapes[0], "float32"), ("rnn/cell/other", shapes[1], "float32")]
    causes = fading_causes(first)
    assert ("A recurrence over many steps of the sequence" in causes) == is_told
    assert "The inputs are not scaled" not in causes


def test_a_recurrence_on_the_way_counts_too() -> None:
    """What enters as a first state fades through the recurrent layer, which itself gets some gradient."""
    first = [("settings/kernel", (10, 32), "float32"), ("rnn/kernel", (8, 32), "float32")]
    first.append(("rnn/recurrent_kernel", (32, 32), "float32"))
    assert "A recurrence over many steps of the sequence" in fading_causes(first)
    assert "A recurrence over many steps of the sequence" not in fading_causes(first[:2])


@pytest.mark.parametrize(("shape", "is_first"), [((16, 64), True), ((64, 10), False)])
def test_gates_are_at_their_ends_for_inputs_that_are_not_scaled(shape: tuple[int, int], is_first: bool) -> None:
    first = [("rnn/cell/kernel", (1, 64), "float32"), ("rnn/cell/other", shape, "float32")]
    assert (fading_causes(first, largest=4_800.0)[0] == "The inputs are not scaled") == is_first


def fading_causes(first: list[tuple[str, tuple[int, ...], str]], largest: float = 1.0) -> list[str]:
    """Causes of a gradient that fades towards the first layer's kernels, where so much enters."""
    run = Run([*first, *dense(8)], n_steps=400, inputs=[("input", 4)]).set_loss(2.3)
    run.statistics[:, run.columns("input", [0]), COLUMN["max"]] = largest
    run.scale("gradient", 1e-7, [0, 1, 2, 3, 4, 5])
    (finding,) = [one for one in run.feed().findings() if one.kind == "vanishing_gradient"]
    return [hypothesis.cause for hypothesis in finding.hypotheses]


@pytest.mark.parametrize(("size", "is_named"), [(1e10, False), (1e26, True)])
def test_a_first_loss_that_is_infinite_of_outputs_that_are_too_large_to_square(size: float, is_named: bool) -> None:
    run = Run(dense(3), n_steps=20, layers=[(f"dense_{i}", 64, None) for i in range(3)]).set_loss(np.inf)
    column = run.columns("activation", [1])[0]
    run.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = [-size, size / 2]
    (found,) = run.feed().findings()
    assert (found.kind, found.first_step) == ("nonfinite_loss", 0)
    assert ("dense_1 gave 1e+26" in found.title) == is_named
    assert found.hypotheses[0].cause.startswith("Numbers grow to 1e+26") == is_named


def test_a_square_that_overflows_is_not_to_blame_for_what_it_was_given() -> None:
    run = Run(dense(3), n_steps=20, layers=[(f"dense_{i}", 64, None) for i in range(3)]).set_loss(np.inf)
    run.statistics[:, run.columns("activation", [1])[0], COLUMN["max"]] = 1e26
    (found,) = run.name_origin(forward("Square", "Square"), 0).feed().findings()
    assert found.operation == {"type": "Square", "name": "Square"}
    assert [one.cause.partition(" on")[0] for one in found.hypotheses[:2]] == [
        "Numbers grow to 1e+26",
        "Numbers too large for the square",
    ]


@pytest.mark.parametrize(("state", "largest", "is_named"), [(4e5, 1.0, True), (50.0, 1.0, False), (4e5, 4e4, False)])
def test_a_state_that_grows_along_its_sequence_from_the_start(state: float, largest: float, is_named: bool) -> None:
    """The last state of a recurrent layer is hundreds of times as large as all that entered."""
    variables = [("rnn/kernel", (8, 32), "float32"), ("rnn/recurrent_kernel", (32, 32), "float32"), *dense(1, 32)]
    layers = [("rnn", 32, "relu"), ("dense_0", 32, None)]
    run = Run(variables, n_steps=400, layers=layers, inputs=[("input", 8)]).set_loss(2.3).scale("update", 300.0)
    run.statistics[:, run.columns("activation", [0]), COLUMN["max"]] = state
    run.statistics[:, run.columns("input", [0]), COLUMN["max"]] = largest
    causes = [hypothesis.cause for one in run.feed().findings() for hypothesis in one.hypotheses]
    assert any("The state grows along the recurrence of rnn, to 400,000" in cause for cause in causes) == is_named


@pytest.mark.parametrize(
    ("before", "after", "pooling"),
    [
        ([None, 26, 32], [None, 32], "pool"),
        ([None, 8, 8, 32], [None, 32], "pool"),
        ([None, 26, 32], [None, 832], None),  # laid end to end
        ([None, 26, 1], [None, 1], None),
    ],
)
def test_a_pooling_over_all_places(before: list[int | None], after: list[int | None], pooling: str | None) -> None:
    run = Run(dense(1), layers=[("dense_0", 64, None), ("pool", 64, None)])
    for tensor in run.tensors:
        if tensor["tensor"] in ("dense_0", "pool"):
            tensor["shape"] = before if tensor["tensor"] == "dense_0" else after
    assert TensorTable.from_message(run.tensors).find_pooling() == pooling


def faded() -> Run:
    """Kernels whose gradients fade towards the input, each layer's weights captured."""
    return Run(dense(8), n_steps=400).set_loss(2.3).scale("gradient", 1e-7, range(6))


def vanishing(run: Run, batch: int = 64) -> list[list[str]]:
    told = [one for one in run.feed(batch=batch).findings() if one.kind == "vanishing_gradient"]
    return [[hypothesis.cause for hypothesis in one.hypotheses] for one in told]


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize(("size", "is_told"), [(1e-17, True), (1e-7, False)])
def test_gradients_so_small_that_their_squares_are_0_in_most_rows_have_vanished(
    size: float, is_told: bool, batch: int
) -> None:
    run = Run(dense(8), n_steps=400).set_loss(2.3).scale("gradient", size, range(6))
    for first in range(1, 10):  # nine rows of ten hold none
        run.statistics[first::10, run.columns("gradient", [0, 2])[0], COLUMN["norm"]] = 0.0
    assert bool(vanishing(run, batch)) == is_told


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ({1: 2.0, 3: 2.0, 5: 2.0, 7: 2.0}, "Gates start open: the biases of dense_0 and of 3 more layers begin at 2"),
        ({1: -3.0, 3: -3.0, 5: -3.0}, "Gates start closed: the biases of dense_0 and of 2 more layers begin at -3"),
        ({1: 2.0, 3: 2.0}, None),
        ({1: 2.0, 3: 1.0, 5: -4.0}, None),
        ({1: 2.0, 3: 1.0}, None),
        ({1: 1.0, 3: 2.0, 5: 2.0, 7: 2.0}, "Gates start open: the biases of dense_1 and of 2 more layers begin at 2"),
    ],
)
def test_biases_of_many_layers_that_begin_at_the_same_number_are_a_cause(
    values: dict[int, float], first: str | None
) -> None:
    run = faded()
    for place, value in values.items():
        column = run.columns("weight", [place])[0]
        run.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = [value - 1e-3, value]
    (causes,) = vanishing(run)
    told = [one for one in causes if one.startswith("Gates start")]
    assert told == ([first] if first else [])
    assert causes[0] == first or first is None
