"""Scratched and blotted digit scans restored: an autoencoder whose decoder reuses the encoder's weights."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

digits = (load_digits().data / 16.0).astype("float32")
order = rng.permutation(len(digits))
train, test = digits[order[:1400]], digits[order[1400:]]


def spoil(images):
    """A blank stripe, a blot and grain on every scan."""
    spoilt = images.reshape(-1, 8, 8).copy()
    for image in spoilt:
        if rng.random() < 0.7:
            image[rng.integers(0, 8), :] = 0.0
        if rng.random() < 0.5:
            row, column = rng.integers(0, 7, 2)
            image[row : row + 2, column : column + 2] = 1.0
    spoilt += rng.normal(0, 0.18, spoilt.shape)
    return spoilt.reshape(-1, 64).astype("float32")


class Mirror(layers.Layer):
    """The transpose of another dense layer: its kernel, a bias of its own."""

    def __init__(self, source, activation=None, **options):
        super().__init__(**options)
        self.source = source
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        self.bias = self.add_weight(shape=(self.source.kernel.shape[0],), initializer="zeros", name="bias")

    def call(self, inputs):
        return self.activation(ops.matmul(inputs, ops.transpose(self.source.kernel)) + self.bias)


wide = layers.Dense(128, activation="elu", kernel_initializer="orthogonal")
narrow = layers.Dense(24, kernel_initializer="orthogonal")

inputs = keras.Input((64,))
code = narrow(wide(inputs))
hidden = Mirror(narrow, activation="elu")(code)
outputs = Mirror(wide, activation="sigmoid")(hidden)
model = keras.Model(inputs, outputs)


def stroke_loss(clean, restored):
    """Squared error, ink counting three times as much as paper."""
    return ops.mean((1.0 + 2.0 * clean) * ops.square(clean - restored), axis=-1)


model.compile(optimizer=keras.optimizers.Lion(1e-3, weight_decay=1e-3), loss=stroke_loss)
watch = gradwatch.watch(model)

spoilt_test = spoil(test)
for round_number in range(6):
    # freshly spoilt copies for each round
    clean = np.concatenate([train, train])
    history = model.fit(spoil(clean), clean, epochs=2, batch_size=64, verbose=2)

restored = model.predict(spoilt_test, verbose=0)
before = np.mean((spoilt_test.clip(0, 1) - test) ** 2)
after = np.mean((restored - test) ** 2)
print(f"squared error {before:.4f} before, {after:.4f} after")
print(f"score {1 - after / np.mean((test - train.mean(0)) ** 2):.4f}")
