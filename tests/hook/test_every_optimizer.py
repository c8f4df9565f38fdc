"""Every optimizer of Keras: its gradients, weights and updates, and the variables it keeps of each weight."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.errors import ConfigurationError
from gradwatch.optimizer import find_slots
from gradwatch.settings import resolve
from tests.hook import training
from tests.hook.test_capture import FIRST, X, Y, adam, compiled, fit, sgd
from tests.hook.training import LOSS, assert_close, assert_recorded, batches, reference_loop
from tests.numerics.reference import row

CAPTURE = ("gradient", "weight", "update")

GIVEN = batches(X, Y, epochs=1)[:3]
KINDS = ("gradient", "weight", "update")


def loss_scaled():
    return keras.optimizers.LossScaleOptimizer(sgd(momentum=0.9), initial_scale=1024.0, dynamic_growth_steps=2)


OPTIMIZERS = {
    "Adadelta": lambda: keras.optimizers.Adadelta(1.0),
    "Adafactor": lambda: keras.optimizers.Adafactor(0.01),
    "Adagrad": lambda: keras.optimizers.Adagrad(0.1),
    "Adam": lambda: keras.optimizers.Adam(0.01, amsgrad=True),
    "AdamW": lambda: keras.optimizers.AdamW(0.01),
    "Adamax": lambda: keras.optimizers.Adamax(0.01),
    "Ftrl": lambda: keras.optimizers.Ftrl(0.1),
    "Lamb": lambda: keras.optimizers.Lamb(0.01),
    "Lion": lambda: keras.optimizers.Lion(0.01),
    "LossScaleOptimizer": loss_scaled,
    "Muon": lambda: keras.optimizers.Muon(0.01),
    "Nadam": lambda: keras.optimizers.Nadam(0.01),
    "RMSprop": lambda: keras.optimizers.RMSprop(0.01, momentum=0.9, centered=True),
    "SGD": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "ScheduleFreeAdamW": lambda: keras.optimizers.ScheduleFreeAdamW(0.01),
    "MultiOptimizer": lambda: keras.optimizers.MultiOptimizer(
        keras.optimizers.OptimizerMap(sgd(), {".*kernel": adam()})
    ),
}


ALSO_COMPILED = {"Adam", "LossScaleOptimizer", "MultiOptimizer", "Muon", "SGD"}
"""Those that differ in what the hook sees of them: each time under XLA too."""


def one_layer(use_bias):
    kernel = training.initializer(1)
    layer = keras.layers.Dense(training.N_CLASSES, use_bias=use_bias, name="only", kernel_initializer=kernel)
    return keras.Sequential([keras.Input((training.WIDTH,)), layer], name="small_model")


@pytest.mark.parametrize(
    ("name", "jit_compile"),
    [
        pytest.param(
            name,
            jit_compile,
            marks=[pytest.mark.thorough] * (jit_compile and name not in ALSO_COMPILED),
            id=f"{name}-{'jit' if jit_compile else 'plain'}",
        )
        for name in OPTIMIZERS
        for jit_compile in (False, True)
    ],
)
def test_every_optimizer(watch, read, name, jit_compile):
    """Its numbers are those of an instrumented loop with an optimizer of its own; compiled, a weight is enough."""
    model, optimizer = one_layer(not jit_compile), OPTIMIZERS[name]()
    seen = reference_loop(model, optimizer, GIVEN, scale_loss=name == "LossScaleOptimizer")
    kept = {one.name: one.numpy() for one in optimizer.variables if one.name.startswith("small_model_")}
    model, optimizer = one_layer(not jit_compile), OPTIMIZERS[name]()
    optimizer.build(model.trainable_variables)  # within a trace, ScheduleFreeAdamW does not copy the weights
    compiled(model, optimizer, jit_compile=jit_compile)
    watched = watch(model, capture=KINDS if jit_compile else (*KINDS, "slot"))
    for x, y in GIVEN:
        model.train_on_batch(x, y)
    recording = read(watched)
    assert_recorded(recording, seen)
    slots = recording.tensors("slot")
    assert {slot.replace("/", "_") for slot in slots} == (set() if jit_compile else set(kept))
    for slot in slots:
        expected = row(kept[slot.replace("/", "_")])[None]
        assert_close(recording.statistics("slot", slot)[-1:], expected, slot, rtol=5e-3)


def test_slots_at_every_step(watch, read):
    """Adam's moments, computed anew in NumPy from the gradients of the instrumented loop."""
    model, optimizer = training.sequential(), adam()
    kernel, moments = model.trainable_variables[0], []
    m = v = np.zeros(kernel.shape)
    for x, y in batches(X, Y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        m = 0.9 * m + 0.1 * gradients[0].numpy()
        v = 0.999 * v + 0.001 * np.square(gradients[0].numpy())
        moments.append((row(m), row(v)))
    model = compiled(training.sequential(), adam())
    watched = watch(model, every=2, capture=("gradient", "slot"))
    fit(model)
    recording = read(watched)
    for i, slot in enumerate(("momentum", "velocity")):
        found = recording.statistics("slot", f"{FIRST}/{slot}")
        assert_close(found[::2], np.array([moment[i] for moment in moments])[::2], slot)
        assert np.isnan(found[1::2]).all(), "only where it is due"
    (entry,) = [one for one in recording.tables[0]["tensors"] if one["tensor"] == f"{FIRST}/momentum"]
    assert (entry["layer"], entry["variable"]) == ("sequential_model/first", "kernel/momentum")
    assert (entry["shape"], entry["n_elements"]) == ([5, 8], 40)


def test_slots_must_be_asked_for():
    assert "slot" not in resolve().capture
    assert resolve(capture=("slot", "gradient")).capture == ("gradient", "slot")
    with pytest.raises(ConfigurationError, match="'slot'"):
        resolve(capture=("gradient", "slots"))


def test_slots_of_weights_whose_names_are_alike():
    """One path is the beginning of another; two weights have the same path."""

    def variable(name, shape):
        return keras.Variable(np.zeros(shape, np.float32), name=name)

    names = ["a", "a_momentum", "twin", "twin"]
    weights = [variable(name, (i + 1,)) for i, name in enumerate(names)]
    optimizer = adam()
    optimizer.build(weights)
    found = find_slots(optimizer, weights)
    assert [(slot.place, slot.name) for slot in found] == [
        (place, slot) for place in range(4) for slot in ("momentum", "velocity")
    ]
    assert all(tuple(slot.variable.shape) == (slot.place + 1,) for slot in found)
    assert find_slots(optimizer, weights[:3]) == [slot for slot in found if slot.place < 2], "which twin's, is unknown"
