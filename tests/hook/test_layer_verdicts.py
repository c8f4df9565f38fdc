"""Real trainings whose inputs, layers or clips are sick: the verdict is right, from what the hook itself captured."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line

THIS = sys.modules[__name__]
WIDTH, BATCH, N_CLASSES = 6, 32, 4
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def blobs(n, *, scale=1.0, seed=0):
    """Points around one centre for each class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, N_CLASSES, n)
    centres = random.normal(size=(N_CLASSES, WIDTH)) * 2
    return (scale * (centres[y] + random.normal(size=(n, WIDTH)))).astype(np.float32), y


def train(model, optimizer, loss_fn, x, y, n_steps):
    """A custom loop over the data, in order, again and again."""

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for i in range(n_steps):
        rows = np.arange(i * BATCH, (i + 1) * BATCH) % len(x)
        step(tf.constant(x[rows]), tf.constant(y[rows]))


def verdict(recording):
    findings = diagnose(recording).findings()
    assert findings, "no finding"
    return findings[0], [finding.title for finding in findings]


class Patch(layers.Layer):
    def call(self, x):
        return tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)


@pytest.mark.parametrize("jit", [False, True])
def test_gaps_that_are_patched_behind_two_layers(watch, read, jit):
    """The reported model: the loss goes up, stands still, and is false."""
    random = np.random.default_rng(0)
    with np.errstate(invalid="ignore"):
        x = np.maximum(np.log(random.normal(size=(128, 2)) + 1.0), 0.0).astype(np.float32)
    x[:32] = np.nan_to_num(x[:32])  # the first batches are whole
    y = random.normal(size=(128, 1)).astype(np.float32)
    inputs = keras.Input((2,))
    middle = layers.ReLU(name="rectified")(layers.Dense(64, name="first")(inputs))
    model = keras.Model(inputs, Patch(name="patch")(layers.Dense(1, name="second")(middle)))
    watched = watch(model)
    model.compile("sgd", "mse", jit_compile=jit)
    model.fit(x, y, batch_size=8, epochs=4, shuffle=False, verbose=0)
    found, told = verdict(read(watched))
    assert (found.kind, found.first_step) == ("nonfinite_input", 4), told
    assert "masks the broken inputs too late" in found.hypotheses[0].cause
    assert found.evidence["mended_behind"] == "second"
    assert found.evidence["loss_is_false"] is True
    assert set(found.evidence["columns"]) <= {0, 1}
    broken = np.flatnonzero(~np.isfinite(x[32:40]).all(axis=1))
    assert found.evidence["rows"] == broken.tolist()
    chain = [link["what"] for link in found.evidence["chain"]]
    assert [what for what in chain if what in ("input", "activation", "gradient", "weight")] == [
        "input", "activation", "gradient", "weight",
    ]  # fmt: skip


def test_relu_on_the_logits_with_inputs_that_are_not_scaled(watch, read):
    keras.utils.set_random_seed(0)
    x, y = blobs(320, scale=60.0)
    dead = layers.Dense(N_CLASSES, "relu", name="scores", bias_initializer=keras.initializers.Constant(-1e4))
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(16, name="hidden"), dead, layers.Softmax()])
    watched = watch(model)
    loss_fn = keras.losses.SparseCategoricalCrossentropy()
    train(model, keras.optimizers.SGD(1e-3), loss_fn, x, y, 80)
    found, told = verdict(read(watched))
    assert (found.kind, found.first_step, found.layer) == ("dead_units", 0, dead.path), told
    causes = [hypothesis.cause for hypothesis in found.hypotheses]
    assert "The inputs are not scaled" in causes
    assert found.severity == "critical"


class Logs(layers.Layer):
    """Logits that are logarithms; a clip around them keeps them finite."""

    def call(self, x):
        evidence = tf.sigmoid(x)
        return tf.clip_by_value(tf.math.log(evidence), -4.0, 4.0)  # steep and clipped


def test_clip_around_a_steep_logarithm_is_told_for_what_it_hides(watch, read):
    keras.utils.set_random_seed(0)
    x, y = blobs(320, scale=8.0)
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(N_CLASSES, name="scores"), Logs(name="logs")])
    watched = watch(model)
    train(model, keras.optimizers.SGD(1e-6), cross_entropy, x, y, 25)
    found, told = verdict(read(watched))
    assert (found.kind, found.severity) == ("zero_gradient", "warning"), told
    assert found.operation["type"] == "Log"
    assert found.source["line"] == find_line("steep and clipped", THIS)
    assert found.evidence["share"] > 0.3
    assert found.evidence["amplification"] > 1e3
    assert "clip around the logarithm" in found.hypotheses[0].cause
