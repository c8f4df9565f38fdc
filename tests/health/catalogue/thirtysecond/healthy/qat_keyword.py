"""Distils a keyword spotter on log-mel-like patches into a student with 4-bit weights and activations, by straight-through quantisation."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

TIME, MEL, N_WORDS, BATCH, STEPS = 32, 20, 8, 64, 700
# A word is a track of two formants: (start, end) mel band of either.
tracks = np.random.default_rng(3).uniform(2, MEL - 3, (N_WORDS, 2, 2))


def make(n):
    y = rng.integers(0, N_WORDS, n)
    x = rng.normal(0, 0.45, (n, TIME, MEL))
    bands = np.arange(MEL)
    for i in range(n):
        dur = rng.integers(11, 20)
        start = rng.integers(0, TIME - dur)
        u = np.linspace(0, 1, dur) ** rng.uniform(0.7, 1.4)
        shift = rng.normal(0, 0.6)
        for lo, hi in tracks[y[i]]:
            centre = lo + (hi - lo) * u + shift
            x[i, start : start + dur] += rng.uniform(0.7, 1.2) * np.exp(
                -0.5 * ((bands[None] - centre[:, None]) / 1.2) ** 2
            )
    return x[..., None].astype("float32"), y.astype("int32")


x_train, y_train = make(4000)
x_test, y_test = make(1500)
mean, std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


def quantise(x, scale, low, high):
    """Rounds x to the grid scale * {low..high}; the gradient passes straight through inside the range, and is 0 outside."""
    clipped = tf.clip_by_value(x / scale, low, high)
    return scale * (clipped + tf.stop_gradient(tf.round(clipped) - clipped))


def quantise_weight(w):
    """Symmetric 4-bit grid per output channel, scaled by the largest weight of the channel."""
    axes = list(range(len(w.shape) - 1))
    scale = tf.stop_gradient(tf.reduce_max(tf.abs(w), axis=axes, keepdims=True) / 7.0 + 1e-8)
    return quantise(w, scale, -7.0, 7.0)


class QConv(layers.Layer):
    def __init__(self, filters, **kw):
        super().__init__(**kw)
        self.filters = filters

    def build(self, shape):
        self.kernel = self.add_weight(shape=(3, 3, shape[-1], self.filters), initializer="he_normal", name="kernel")

    def call(self, x):
        return tf.nn.conv2d(x, quantise_weight(self.kernel), 1, "SAME")


class QDense(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        return tf.matmul(x, quantise_weight(self.kernel)) + self.bias


class QReLU(layers.Layer):
    """ReLU clipped to [0, 4] on a 4-bit grid."""

    def call(self, x):
        return quantise(tf.nn.relu(x), 4.0 / 15.0, 0.0, 15.0)


def build(conv, dense, act, widths):
    inp = keras.Input((TIME, MEL, 1))
    h = inp
    for f in widths:
        h = conv(f)(h)
        h = layers.BatchNormalization(momentum=0.95)(h)
        h = act()(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    return keras.Model(inp, dense(N_WORDS)(h))


teacher = build(lambda f: layers.Conv2D(f, 3, padding="same", use_bias=False), layers.Dense, layers.ReLU, (24, 48))
teacher.compile(
    keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, 6 * 63)),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
teacher.fit(x_train, y_train, batch_size=64, epochs=6, verbose=0)
teacher.trainable = False
print("teacher accuracy", round(float(teacher.evaluate(x_test, y_test, verbose=0)[1]), 4))

model = build(QConv, QDense, QReLU, (8, 16))
gradwatch.watch(model)

TEMPERATURE, ALPHA = 3.0, 0.5
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, STEPS))


@tf.function
def train_step(x, y):
    soft = tf.nn.softmax(teacher(x, training=False) / TEMPERATURE)
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        hard_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        soft_loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=soft, logits=logits / TEMPERATURE))
        loss = ALPHA * hard_loss + (1.0 - ALPHA) * TEMPERATURE**2 * soft_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return hard_loss


data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4000, seed=seed)
    .repeat()
    .batch(BATCH, drop_remainder=True)
    .take(STEPS)
)
for step, (xb, yb) in enumerate(data):
    loss = train_step(xb, yb)
    if step % 100 == 99:
        print(f"step {step + 1} hard loss {float(loss):.4f}")

# Baseline: nearest class mean in pixel space.
centres = np.stack([x_train[y_train == k].mean(0) for k in range(N_WORDS)])
dist = ((x_test[:, None] - centres[None]) ** 2).sum((2, 3, 4))
print("BASELINE accuracy (majority)", round(float((y_test == np.bincount(y_train).argmax()).mean()), 4))
print("BASELINE accuracy (nearest class mean)", round(float((dist.argmin(1) == y_test).mean()), 4))
print("SCORE accuracy", round(float((model.predict(x_test, verbose=0).argmax(1) == y_test).mean()), 4))
