"""Keyword spotting with 4-bit weights: straight-through quantisation, Nesterov SGD with restarts."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

KEYWORDS = ["yes", "no", "stop", "go", "left", "right"]
FRAMES, BANDS = 24, 16
FORMANTS = rng.uniform(2, BANDS - 3, (len(KEYWORDS), 2, 3))  # word, formant, knot


def utter(n):
    """Log-mel-like patches: two gliding formants each, random onset and tempo, noise."""
    word = rng.integers(0, len(KEYWORDS), n)
    bands = np.arange(BANDS)
    patch = rng.normal(0, 0.9, (n, FRAMES, BANDS))
    for i in range(n):
        onset, duration = rng.uniform(0, 6), rng.uniform(14, 18)
        progress = (np.arange(FRAMES) - onset) / duration
        voiced = ((progress >= 0) & (progress <= 1)).astype(float)
        for knots in FORMANTS[word[i]]:
            pitch = np.interp(progress, [0, 0.5, 1], knots + rng.normal(0, 0.8))
            patch[i] += 1.5 * voiced[:, None] * np.exp(-0.5 * ((bands - pitch[:, None]) / 1.0) ** 2)
    return patch[..., None].astype("float32"), word.astype("int32")


x_train, y_train = utter(3000)
x_test, y_test = utter(1000)
mean, std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


def straight_through(value, rounded):
    return value + ops.stop_gradient(rounded - value)


def quantise_weight(w, bits=4):
    scale = ops.maximum(ops.max(ops.abs(w)), 1e-6) / (2 ** (bits - 1) - 1)
    return straight_through(w, ops.round(w / scale) * scale)


class QuantConv2D(layers.Layer):
    def __init__(self, filters, stride=1):
        super().__init__()
        self.filters, self.stride = filters, stride

    def build(self, shape):
        self.kernel = self.add_weight(shape=(3, 3, shape[-1], self.filters), initializer="he_normal", name="kernel")

    def call(self, x):
        return ops.conv(x, quantise_weight(self.kernel), strides=self.stride, padding="same")


class QuantDense(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        return ops.matmul(x, quantise_weight(self.kernel)) + self.bias


class QuantReLU6(layers.Layer):
    def call(self, x):
        x = ops.relu6(x)
        return straight_through(x, ops.round(x * (63 / 6)) * (6 / 63))  # 6-bit activations


model = keras.Sequential([keras.Input((FRAMES, BANDS, 1))])
for filters, stride in [(16, 2), (24, 2), (32, 1)]:
    model.add(QuantConv2D(filters, stride))
    model.add(layers.BatchNormalization())
    model.add(QuantReLU6())
model.add(layers.Flatten())
model.add(layers.Dropout(0.4))
model.add(QuantDense(len(KEYWORDS)))

schedule = keras.optimizers.schedules.CosineDecayRestarts(0.05, 94, t_mul=2.0, m_mul=0.8, alpha=0.01)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=14, verbose=2, validation_data=(x_test, y_test))
_, accuracy = model.evaluate(x_test, y_test, verbose=0)
levels = [
    len(np.unique(ops.convert_to_numpy(quantise_weight(l.kernel)).round(6)))
    for l in model.layers
    if hasattr(l, "kernel")
]
print(f"FINAL test accuracy {accuracy:.4f} with weight levels per layer {levels}")
