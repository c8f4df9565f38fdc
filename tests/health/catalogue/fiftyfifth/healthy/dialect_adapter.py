"""A phoneme classifier of one dialect adapted to another with low-rank adapters; everything else stays fixed."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


rng = np.random.default_rng(SEED + 23)
PHONEMES, CEPSTRA = 12, 20
centres = rng.normal(0, 1.0, (PHONEMES, 3, CEPSTRA))
shift = np.linalg.qr(rng.normal(size=(CEPSTRA, CEPSTRA)))[0]
shift = 0.6 * np.eye(CEPSTRA) + 0.5 * shift


def frames(n, dialect):
    phoneme = rng.integers(0, PHONEMES, n)
    x = centres[phoneme, rng.integers(0, 3, n)] + rng.normal(0, 0.55, (n, CEPSTRA))
    return (x @ shift if dialect else x).astype("float32"), phoneme.astype("int32")


class AdaptedDense(keras.layers.Layer):
    def __init__(self, units, rank=6, **kwargs):
        super().__init__(**kwargs)
        self.units, self.rank = units, rank

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="he_normal", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.down = self.add_weight(shape=(shape[-1], self.rank), initializer="he_normal", name="down")
        self.up = self.add_weight(shape=(self.rank, self.units), initializer="zeros", name="up")

    def call(self, x):
        return tf.matmul(x, self.kernel) + tf.matmul(tf.matmul(x, self.down), self.up) + self.bias


inputs = keras.Input((CEPSTRA,))
h = keras.layers.Activation("relu")(AdaptedDense(96, name="first")(inputs))
h = keras.layers.Activation("relu")(AdaptedDense(96, name="second")(h))
outputs = AdaptedDense(PHONEMES, name="logits")(h)
model = keras.Model(inputs, outputs)
adapted = [layer for layer in model.layers if isinstance(layer, AdaptedDense)]
base_weights = [w for layer in adapted for w in (layer.kernel, layer.bias)]
adapters = [w for layer in adapted for w in (layer.down, layer.up)]
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def make_step(variables, optimizer):
    optimizer.build(variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in variables])
            loss = loss_fn(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, [v.value for v in variables]), variables)
        return loss

    return step


gradwatch.watch(model)
for name, dialect, n, epochs, variables, rate in [
    ("home dialect", 0, 9000, 8, base_weights, 2e-3),
    ("other dialect", 1, 1600, 40, adapters, 2e-3),
]:
    x, y = frames(n, dialect)
    feed = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n, seed=SEED).batch(64, drop_remainder=True)
    step = make_step(variables, keras.optimizers.Adam(rate))
    for epoch in range(epochs):
        losses = [float(step(a, b)) for a, b in feed]
    print(f"{name}: last epoch loss {np.mean(losses):.4f}")
    x_far, y_far = frames(3000, 1)
    accuracy = float(np.mean(model.predict(x_far, verbose=0).argmax(1) == y_far))
    print(f"  accuracy on the other dialect {accuracy:.3f}")

print("SCORE other_dialect_accuracy", accuracy)
