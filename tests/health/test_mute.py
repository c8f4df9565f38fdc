"""What comes to the weights at all: layers that let nothing of a sample through, inputs that a layer rescales."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Finding
from tests.health.catalogue.play import play, script
from tests.health.streams import COLUMN, Run, dense

N = 320
PREPARED = ("prepare", 8, None)
LAYERS = [PREPARED, *((f"dense_{i}", 32, "relu") for i in range(3))]


def run(*, layers: list[tuple[str, int, Any]] = LAYERS, variables: Any = None, **options: Any) -> Run:
    return Run(
        variables or dense(3), n_steps=N, layers=layers, inputs=[("input", 8), ("target", 1)], **options
    ).set_loss(np.log(64.0))


def first(sick: Run, batch: int = 64) -> Finding:
    engine = sick.feed(batch=batch)
    engine.finish()
    (found,) = [one for one in engine.findings() if one.kind == "loss_plateau"]
    return found


def causes(sick: Run, batch: int = 64) -> list[str]:
    return [hypothesis.cause for hypothesis in first(sick, batch).hypotheses]


def silence(sick: Run, place: int, *, rows: slice = slice(None), value: float = 0.0) -> Run:
    """All from one layer on give one number for every sample."""
    for column in sick.columns("activation")[place:]:
        for name in ("norm", "min", "max", "mean", "std"):
            sick.statistics[rows, column, COLUMN[name]] = value
        sick.statistics[rows, column, COLUMN["cosine_distance"]] = np.nan
    return sick


ZEROS = "prepare gave 0 for every sample when training began"


@pytest.mark.parametrize("batch", [1, 64, 400])
def test_a_layer_before_the_first_kernel_that_gives_zeros_comes_first(batch: int) -> None:
    plain = causes(run(), batch)
    assert causes(silence(run(), 0), batch) == [ZEROS]  # what is far less likely is left out
    assert causes(silence(run(), 0, rows=slice(0, 1)), batch) == plain  # what begins at 0 and leaves it
    assert causes(silence(run(), 0, rows=slice(2, None)), batch) == plain  # what training came to


def level(sick: Run, *, reach: float, part: float = 0.5) -> Run:
    """The third layer gives fewer numbers, of this size at first, where the one before it gives some of size 1."""
    columns = sick.columns("activation")
    sick.statistics[0, columns[2:], COLUMN["n_elements"]] *= part
    size = np.sqrt(sick.statistics[0, columns, COLUMN["n_elements"]])
    sick.statistics[0, columns, COLUMN["norm"]] = size * np.array([1.0, 1.0, reach, reach])
    return sick


def test_rounding_errors_after_a_layer_of_the_usual_size_come_first() -> None:
    found = causes(level(run(), reach=4e-8))
    assert found == ["dense_1 takes the mean of what dense_0 has just made to have a mean of 0"]
    for other in (0.0, 1e-6, 0.1):  # a kernel that begins at 0, a scale that is meant, any other
        assert not any("has just made" in cause for cause in causes(level(run(), reach=other)))
    as_many = causes(level(run(), reach=4e-8, part=1.0))  # a product of what the two before it gave
    assert not any("has just made" in cause for cause in as_many)


def test_a_layer_that_is_the_same_by_design_is_refuted_by_what_comes_after() -> None:
    sick = run()
    sick.statistics[:, sick.columns("activation"), COLUMN["cosine_distance"]] = [0.0, 0.4, 0.4, 0.4]
    assert causes(sick) == causes(run())


@pytest.mark.parametrize(("width", "is_normalisation"), [(1, True), (8, False)])
def test_a_normalisation_of_one_number_is_named_where_there_is_one(width: int, is_normalisation: bool) -> None:
    found = first(silence(run(layers=[("prepare", width, None), *LAYERS[1:]]), 0))
    assert ("an axis of length 1" in found.hypotheses[0].why) == is_normalisation
    assert ("LayerNormalization(axis=1)" in found.hypotheses[0].code) == is_normalisation


@pytest.mark.parametrize("bias", [None, (64,), (2, 64)])
@pytest.mark.parametrize("batch", [1, 400])
def test_the_last_state_of_a_sequence_that_is_all_padding(bias: Any, batch: int) -> None:
    """A LSTM, and a GRU, which has 3 n columns and a bias for each of its kernels."""
    n = 48 if bias == (2, 64) else 64
    shapes = {"kernel": (8, n), "recurrent_kernel": (16, n)} | ({"bias": (*bias[:-1], n)} if bias else {})
    variables = [*((f"reader/{name}", shape, "float32") for name, shape in shapes.items()), *dense(2)]
    layers = [PREPARED, ("reader", 16, "tanh"), ("dense_0", 32, "relu"), ("dense_1", 32, None)]
    sick = run(layers=layers, variables=variables)
    columns = sick.columns("activation")
    sick.statistics[:, columns, COLUMN["cosine_distance"]] = [0.5, 0.0, 0.0, 0.0]
    told = "The end of the sequence was the same for every sample in reader: padding stands last, or it is too long"
    assert causes(sick, batch)[0] == told
    sick.statistics[:200, columns, COLUMN["cosine_distance"]] = [0.5, 0.3, 0.3, 0.3]
    assert told not in [one.cause for found in sick.feed(batch=batch).findings() for one in found.hypotheses]


@pytest.mark.parametrize("place", [1, 2])
def test_what_stands_behind_a_kernel_is_left_to_others(place: int) -> None:
    sick = silence(run(layers=[LAYERS[1], ("apart", 32, "relu"), *LAYERS[2:]]), place)
    assert not any(
        "when training began" in hypothesis.cause for one in sick.feed().findings() for hypothesis in one.hypotheses
    )


@pytest.mark.parametrize(("largest", "is_small"), [(0.004, True), (1.0, False)])
@pytest.mark.parametrize("batch", [1, 64])
def test_what_counts_of_an_input_is_what_comes_to_the_first_kernel(largest: float, is_small: bool, batch: int) -> None:
    sick = run().draw_together([1, 2, 3], np.maximum(np.exp(-np.arange(N) / 8.0), 1e-4))
    sick.statistics[:, sick.columns("input", [0]), COLUMN["max"]] = 255.0
    sick.statistics[:, sick.columns("activation", [0]), COLUMN["max"]] = largest
    sick.statistics[:, sick.columns("activation", [0]), COLUMN["min"]] = 0.0
    found = next(one for one in sick.feed(batch=batch).findings() if one.kind == "dead_units")
    named = [hypothesis.cause for hypothesis in found.hypotheses]
    assert ("The inputs are scaled to next to nothing" in named) == is_small
    assert "The inputs are not scaled" not in named


@pytest.mark.parametrize(("last", "is_shrunk"), [(0.05, True), (0.5, False)])
def test_kernels_that_were_all_made_small(last: float, is_shrunk: bool) -> None:
    sick = run().scale("weight", np.geomspace(1.0, last, N))
    assert causes(sick) == (["Regularisation or weight decay outweighs the loss"] if is_shrunk else causes(run()))


UNSCALED = """
import keras, numpy as np, tensorflow as tf
import gradwatch

random = np.random.default_rng(0)
x = random.normal(size=(512, 8)).astype("float32")
y = (x @ random.normal(size=(8, 3))).argmax(-1)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.05), initial_scale=32768.0)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = loss_fn(targets, model(inputs, training=True))
        objective = LOSS
    gradients = tape.gradient(objective, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for i in range(340):
    at = i * 32 % 512
    step(x[at : at + 32], y[at : at + 32])
"""


@pytest.mark.parametrize("is_logged", [False, True])
def test_a_loss_that_is_not_scaled_for_an_optimizer_that_divides_by_the_scale(tmp_path: Path, is_logged: bool) -> None:
    path = tmp_path / "step.py"
    text = UNSCALED.replace("LOSS", "loss")
    if is_logged:
        text = text.replace("gradwatch.watch", "watch = gradwatch.watch")
        text = text.replace("    gradients = tape", "    watch.log(loss=loss)\n    gradients = tape")
    path.write_text(text)
    (found,) = play(script(path)).findings
    assert found.title.startswith("The weights hardly move")
    assert [one.cause for one in found.hypotheses] == [
        "The loss is not scaled, and the optimizer divides by the scale all the same"
    ], "a higher rate would hide it"
    seen = "loss" if is_logged else "global gradient norm"
    assert f"The {seen} (the median of 20 steps) was" in found.evidence["summary"]
    # The hook takes the scale off once, and nobody does again: 2^15 times this is an ordinary norm.
    assert 0.05 < 32768 * found.evidence["gradient_norm"] < 20


def test_a_loss_that_is_scaled_as_it_should_be(tmp_path: Path) -> None:
    path = tmp_path / "step.py"
    path.write_text(UNSCALED.replace("LOSS", "optimizer.scale_loss(loss)"))
    assert not play(script(path)).findings
