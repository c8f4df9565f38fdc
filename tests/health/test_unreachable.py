"""Targets, and data, that the function at the end of a model cannot give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine
from gradwatch_server.health.episode import Phase, Unreachable
from gradwatch_server.health.incident import assemble
from gradwatch_server.health.table import TensorTable
from tests.health.streams import BATCH, COLUMN, Run, dense

N = 120


def spread(run: Run, place: int, low: float, high: float, std: float) -> Run:
    """Makes an input's numbers lie so, as many as an output of its width has."""
    column = run.columns("input", [place])[0]
    width = run.tensors[column]["shape"][-1]
    numbers = {"min": low, "max": high, "mean": (low + high) / 2, "std": std, "n_elements": BATCH * width}
    for name, value in numbers.items():
        run.statistics[:, column, COLUMN[name]] = value
    return run


def regression(function: str, low: float, high: float, std: float) -> Run:
    layers = [("dense_0", 64, "relu"), ("dense_1", 64, "relu"), ("dense_2", 1, function)]
    run = Run(dense(3, 1), n_steps=N, layers=layers, inputs=[("input", 8), ("target", 1)]).set_loss(40.0)
    return spread(run, 1, low, high, std)


def game(low: float, high: float, std: float, *, width: int = 32, calls: str = " (2)") -> Run:
    """A generator that ends in tanh, and a discriminator that is called for the data and for what it gives."""
    judged = [("critic/dense", 16, "relu"), ("critic/score", 1, None)]
    layers = [
        ("maker/dense", 16, "relu"),
        ("maker/output", 32, "tanh"),
        *judged,
        *((f"{name}{calls}", units, function) for name, units, function in judged),
    ]
    run = Run(dense(3), n_steps=N, layers=layers, inputs=[("input/maker", 4), ("input/critic", width)])
    return spread(run.set_loss(np.geomspace(2.0, 0.1, N)), 1, low, high, std)


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize(
    ("function", "low", "high", "std"),
    [("sigmoid", 0.0, 300.0, 80.0), ("tanh", -9.0, 4.0, 2.0), ("relu", -5.0, 1.0, 1.0)],
)
def test_targets_that_the_last_layer_cannot_give(
    function: str, low: float, high: float, std: float, batch: int
) -> None:
    (found,) = regression(function, low, high, std).feed(batch=batch).findings()
    assert (found.kind, found.severity, found.first_step) == ("saturated_activation", "warning", 0)
    assert found.title.startswith("Layer dense_2 can only give ")
    assert found.title.endswith(f", and the targets are {low:g} to {high:g}")
    assert found.hypotheses[0].cause.startswith("The activation of dense_2 does not fit the targets")


@pytest.mark.parametrize(
    "well",
    [
        pytest.param(regression("tanh", -1.0, 1.0, 0.9), id="at the ends"),
        pytest.param(regression("linear", -300.0, 300.0, 80.0), id="no ends"),
        pytest.param(regression("softmax", 0.0, 20.0, 4.0), id="counts of what shares are asked for"),
        pytest.param(regression("softmax", -2.0, 2.0, 1.0), id="advantages of what a policy chose"),
    ],
)
def test_targets_within_reach(well: Run) -> None:
    assert not well.feed().findings()


def heads(function: str, low: float, high: float, std: float, *, name: str = "change") -> Run:
    """Two outputs, of which the other one is learned well."""
    layers = [("dense_0", 64, "relu"), ("model/change", 1, function), ("model/alert", 1, "sigmoid")]
    inputs = [("input", 8), (f"target/{name}", 1), ("target/alert", 1)]
    run = Run(dense(3, 1), n_steps=N, layers=layers, inputs=inputs).set_loss(np.geomspace(2.0, 0.1, N))
    return spread(spread(run, 1, low, high, std), 2, 0.0, 1.0, 0.1)


@pytest.mark.parametrize(("function", "low", "std"), [("sigmoid", -2.0, 1.0), ("tanh", -9.0, 3.0), ("relu", -4.0, 1.0)])
def test_one_of_two_outputs_that_cannot_give_its_own(function: str, low: float, std: float) -> None:
    (found,) = heads(function, low, 5.0, std).feed().findings()
    assert found.kind == "saturated_activation"
    assert found.title.startswith("Layer model/change can only give ")
    assert found.title.endswith(f", and its targets are {low:g} to 5")
    assert "the loss" not in found.evidence["summary"]


@pytest.mark.parametrize(
    "well",
    [
        pytest.param(heads("sigmoid", -2.0, 5.0, 0.1), id="but for single ones"),
        pytest.param(heads("linear", -2.0, 5.0, 1.0), id="no ends"),
        pytest.param(heads("sigmoid", -2.0, 5.0, 1.0, name="level"), id="of another name"),
    ],
)
def test_one_of_two_outputs_within_reach(well: Run) -> None:
    assert not well.feed().findings()


@pytest.mark.parametrize("batch", [1, 64])
def test_data_that_a_generator_cannot_give(batch: int) -> None:
    (found,) = game(-60.0, 70.0, 30.0).feed(batch=batch).findings()
    assert (found.kind, found.layer, found.first_step) == ("saturated_activation", "maker/output", 0)
    assert found.title == "Layer maker/output can only give -1 to 1, and the data are -60 to 70"
    assert found.hypotheses[0].cause == "The data are not on the scale of what maker/output gives"


@pytest.mark.parametrize(
    "well",
    [
        pytest.param(game(-1.0, 1.0, 0.5), id="scaled"),
        pytest.param(game(-4.0, 4.0, 1.0), id="standardised"),
        pytest.param(game(-60.0, 70.0, 30.0, width=8), id="not what it is to be like"),
        pytest.param(game(-60.0, 70.0, 30.0, calls="_b"), id="a hidden layer as wide as the input"),
    ],
)
def test_data_that_say_nothing_of_a_generator(well: Run) -> None:
    assert not well.feed().findings()


def played(low: float, high: float, std: float, *, mean: float = 0.0, function: str = "tanh", width: int = 6) -> Engine:
    """A game whose players have a stream each: the data enter the judge's, what is generated leaves the other's."""
    calls = ["judge", "judge (2)"]
    judge = Run(
        [("judge/kernel", (6, 1), "float32"), ("judge/bias", (1,), "float32")],
        n_steps=60,
        optimizer="judge's",
        inputs=[("input", width)],
        layers=[(name, 1, None) for name in calls],
    )
    player = Run(
        dense(2), n_steps=60, stream=1, optimizer="player's", layers=[("maker/output", 6, function), ("judge", 1, None)]
    )
    for tensor in [*judge.tensors, *player.tensors]:
        if tensor["kind"] in ("activation", "backprop") and "judge" in tensor["tensor"]:
            tensor["layer"] = "judge"
    column = judge.columns("input", [0])[0]
    for name, value in {"min": low, "max": high, "std": std, "mean": mean}.items():
        judge.statistics[:, column, COLUMN[name]] = value
    engine = Engine()
    judge.set_loss(1.0).feed(engine)
    player.set_loss(1.0).feed(engine)
    return engine


@pytest.mark.parametrize(
    ("engine", "limits"),
    [
        (played(-60.0, 70.0, 30.0), "-1 to 1, and the data are -60 to 70"),
        (played(-1.0, 1.0, 0.5, mean=-0.5, function="sigmoid"), "0 to 1, and the data are -1 to 1"),
        (played(-1.0, 1.0, 0.38, mean=0.0, function="sigmoid"), "0 to 1, and the data are -1 to 1"),
    ],
)
def test_data_that_another_stream_cannot_give(engine: Engine, limits: str) -> None:
    (found,) = [one for one in engine.findings() if one.kind == "saturated_activation"]
    assert (found.layer, found.first_step) == ("maker/output", 0)
    assert found.title == f"Layer maker/output can only give {limits}"


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(played(-1.0, 1.0, 0.5), id="scaled"),
        pytest.param(played(-1.0, 1.0, 0.5, mean=0.1, function="sigmoid"), id="partly within reach"),
        pytest.param(played(-60.0, 70.0, 30.0, function="linear"), id="no ends"),
        pytest.param(played(-60.0, 70.0, 30.0, width=8), id="not what it is to be like"),
    ],
)
def test_data_that_another_stream_may_give(engine: Engine) -> None:
    assert not [one for one in engine.findings() if one.kind == "saturated_activation"]


def test_what_two_streams_know_of_one_output_is_told_once() -> None:
    output: dict[str, Any] = {"kind": "activation", "tensor": "maker/output", "layer": "maker/output"}
    table = TensorTable.from_message([output | {"shape": [None, 6], "dtype": "float32", "n_elements": 6}])
    twins = [
        Unreachable(stream=stream, phase=Phase.ACTIVATION, first_step=0, last_step=90, table=table, column=0)
        for stream in (0, 1)
    ]
    other = replace(twins[1], first_step=5)
    assert [incident.lead for incident in assemble(twins)] == twins[:1]
    assert len(assemble([twins[0], other])) == 2


@pytest.mark.parametrize(("mean", "is_known"), [(4.5, True), (4.51, False)])
@pytest.mark.parametrize("is_falling", [True, False])
def test_numbers_of_classes_for_a_single_probability(mean: float, is_known: bool, is_falling: bool) -> None:
    run = regression("sigmoid", 0.0, 9.0, 2.9)
    run.statistics[:, run.columns("input", [1]), COLUMN["mean"]] = mean
    if is_falling:
        run.set_loss(0.5 - np.arange(N) ** 2.0).scale("gradient", 1e4, start=N // 2)
    (found,) = run.feed().findings()
    told = ["numbers of several classes" in one.cause for one in found.hypotheses]
    assert (told[0], any(told)) == (is_known and is_falling, is_known)
    if is_known:
        assert 'activation="softmax"' in found.hypotheses[told.index(True)].code


@pytest.mark.parametrize(
    ("low", "high", "cause", "code"),
    [(-1.0, 1.0, "labels from -1 to 1: they must be 0 and 1", "(y + 1) / 2"), (0.0, 90.0, "from 0 to 1", "y / 100")],
)
def test_a_cross_entropy_that_falls_without_an_end(low: float, high: float, cause: str, code: str) -> None:
    run = regression("sigmoid", low, high, (high - low) / 3).set_loss(0.5 - np.arange(N) ** 2.0)
    (found,) = run.scale("gradient", 1e4, start=N // 2).feed().findings()
    assert found.kind == "saturated_activation"
    assert cause in found.hypotheses[0].cause
    assert code in found.hypotheses[0].code


@pytest.mark.parametrize(("largest", "told"), [(5.0, "saturated_activation"), (1.0, "dead_units")])
def test_a_layer_that_comes_to_rest_at_its_end_before_its_result_is_given_another_shape(
    largest: float, told: str
) -> None:
    layers = [("dense_0", 64, "relu"), ("model/dense_1", 1, "sigmoid"), ("model", 1, "sigmoid")]
    run = Run(dense(2, 1), n_steps=200, layers=layers, inputs=[("input", 8), ("target", 1)]).set_loss(4.0)
    for place in (1, 2):
        column = run.columns("activation", [place])[0]
        run.statistics[:, column, COLUMN["std"]] *= np.geomspace(1.0, 1e-3, 200)
    found = spread(run, 1, 0.0 if largest == 1 else 1.0, largest, 1.0).feed().findings()
    assert [(one.kind, one.layer) for one in found] == [(told, "model/dense_1")]
