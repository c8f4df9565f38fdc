"""Kernels that start at one number: told only where the units stay copies of one another."""

from __future__ import annotations

import numpy as np
import pytest

from tests.health.streams import COLUMN, Run, dense

N = 200
RATE = 1e-3
ADDED = RATE * np.arange(1, N + 1)
"""What the updates add up to, step by step: to the mean of a kernel too."""
PLAIN = [(path, shape, dtype) for path, shape, dtype in dense(3) if path.endswith("kernel")]


def alike(
    which: list[int], value: float = 0.1, *, variables: list[tuple[str, tuple[int, ...], str]] | None = None
) -> Run:
    """Some layers start at a constant and have equal units; weights spread as their updates do from step to step."""
    run = Run(dense(3) if variables is None else variables, n_steps=N).set_loss(2.3)
    has_bias = variables is None
    for layer in which:
        place = 2 * layer if has_bias else layer
        kernel, update = (int(run.columns(kind, [place])[0]) for kind in ("weight", "update"))
        spread = RATE * np.sqrt(np.arange(1, N + 1))
        put(run, update, mean=RATE, std=RATE)
        put(run, kernel, mean=value + ADDED, std=spread if has_bias else 1e-9)
        if has_bias:
            put(run, int(run.columns("gradient", [place + 1])[0]), mean=0.02, std=1e-9)
    return run


def put(run: Run, column: int, *, mean: float | np.ndarray, std: float | np.ndarray) -> None:
    n = run.statistics[0, column, COLUMN["n_elements"]]
    run.statistics[:, column, COLUMN["mean"]] = mean
    run.statistics[:, column, COLUMN["std"]] = std
    run.statistics[:, column, COLUMN["norm"]] = np.sqrt(n * (np.square(mean) + np.square(std)))


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 4])
def test_layers_that_start_at_a_constant_and_stay_so(batch: int, every: int) -> None:
    (found,) = alike([0, 1]).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step, found.layer) == ("dead_units", "warning", 0, "dense_0")
    title = "The units of dense_0 (and of 1 more layer) are copies of one another: its kernel started at 0.1 throughout"
    assert found.title == title
    assert (found.evidence["n_units"], found.evidence["layers"]) == (64, ["dense_0", "dense_1"])
    assert found.evidence["value"] == pytest.approx(0.1)
    assert found.hypotheses[0].cause.startswith("The kernel starts at a constant")


def test_a_layer_without_a_bias_behind_equal_units() -> None:
    (found,) = alike([1], variables=PLAIN).feed().findings()
    assert (found.layer, found.kind) == ("dense_1", "dead_units")


def test_units_that_come_apart_are_units_of_their_own() -> None:
    healthy, sick = alike([0, 1]), alike([0, 1])
    for run, start in ((healthy, 60), (sick, 150)):
        for column in run.columns("gradient", [1, 3]):
            run.statistics[start:, column, COLUMN["std"]] = 0.02
    assert not healthy.feed().findings(), "dropout, or targets that differ"
    (found,) = sick.feed().findings()
    assert found.title == "The units of dense_0 (and of 1 more layer) were copies of one another until step 150"


def test_a_start_at_0_is_made_on_purpose() -> None:
    assert not alike([2], value=0.0).feed().findings()


def test_a_random_start_with_equal_gradients_is_a_sum_of_units() -> None:
    healthy = alike([0])
    put(healthy, int(healthy.columns("weight", [0])[0]), mean=0.1 + ADDED, std=0.05)
    assert not healthy.feed().findings()


def test_one_unit_is_equal_to_itself() -> None:
    variables = [("dense/kernel", (64, 64), "float32"), ("out/kernel", (64, 1), "float32")]
    assert not alike([1], variables=variables).feed().findings()


def test_a_table_of_ones_is_a_scale_for_each_class() -> None:
    variables = [("scale/embeddings", (10, 64), "float32"), ("out/kernel", (64, 10), "float32")]
    healthy = alike([0], value=1.0, variables=variables)
    column = int(healthy.columns("weight", [0])[0])
    put(healthy, column, mean=1.0 + ADDED, std=RATE * np.sqrt(np.arange(1, N + 1)))
    assert not healthy.feed().findings()


def test_a_model_that_learns_all_the_same_needs_no_more_units() -> None:
    assert not alike([0]).set_loss(np.geomspace(2.3, 1e-3, N)).feed().findings()


# Kernels that are copies of one another


def twins(which: list[int], *, until: int = N, is_trained: bool = True, is_apart: bool = False) -> Run:
    """Kernels of one shape with the same numbers until a step, and others from then on; or with other gradients."""
    run = Run(dense(4), n_steps=N).set_loss(2.3)
    columns = run.columns("weight", [2 * layer for layer in which])
    grown = ADDED if is_trained else np.zeros(N)
    for place, column in enumerate(columns.tolist()):
        put(run, column, mean=0.01, std=0.1)
        apart = 0.01 * place * (np.arange(N) >= until)
        run.statistics[:, column, COLUMN["min"]] = -0.3 - grown - apart
        run.statistics[:, column, COLUMN["max"]] = 0.3 + grown
        gradient = int(run.columns("gradient", [2 * which[place]])[0])
        run.statistics[:, gradient, [COLUMN["min"], COLUMN["max"]]] = -0.02 - 0.01 * place * is_apart, 0.03
    return run


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 4])
def test_kernels_that_begin_and_stay_the_same(batch: int, every: int) -> None:
    (found,) = twins([0, 1, 3]).thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step, found.layer) == ("dead_units", "warning", 0, "dense_0")
    assert found.title.startswith("dense_0/kernel, dense_1/kernel and 1 more are copies of one another")
    assert found.evidence["tensors"] == ["dense_0/kernel", "dense_1/kernel", "dense_3/kernel"]
    assert found.hypotheses[0].cause.startswith("One seed makes the initial numbers of several kernels")


def test_kernels_that_come_apart_are_kernels_of_their_own() -> None:
    assert not twins([0, 1], until=1).feed().findings()
    (ended,) = twins([0, 1], until=150).feed().findings()
    assert "were copies of one another until step 150" in ended.title


def test_kernels_that_are_given_gradients_of_their_own() -> None:
    assert not twins([0, 1], is_apart=True).feed().findings()


def test_kernels_that_nobody_moves_are_no_copies_to_speak_of() -> None:
    found = twins([0, 1], is_trained=False).feed().findings()
    assert not [one for one in found if "copies of one another" in one.title]
