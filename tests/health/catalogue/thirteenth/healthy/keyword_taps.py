"""A one-bit network that recognises tapped commands on a button-cell microcontroller.

The chip has no multiplier, so weights and activations are signs only.  Training keeps
real-valued latent weights, uses their signs forward and lets the gradient through
unchanged where the latent value lies within [-1, 1] (straight-through estimator); the
latent weights are clipped to that range after each step.  Last layer stays real.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TICKS, COMMANDS = 48, 8


def make_taps(n, rhythms):
    """A rhythm of 48 ticks, shifted by up to two, with missed and spurious taps."""
    command = rng.integers(0, COMMANDS, n)
    taps = rhythms[command]
    shift = rng.integers(-2, 3, n)
    taps = np.stack([np.roll(row, s) for row, s in zip(taps, shift)])
    flipped = rng.random(taps.shape) < 0.10
    return np.where(flipped, -taps, taps).astype("float32"), command


@tf.custom_gradient
def sign_through(x):
    """Sign, with the gradient of the hard tanh."""
    inside = tf.cast(tf.abs(x) <= 1.0, x.dtype)
    return tf.where(x >= 0, tf.ones_like(x), -tf.ones_like(x)), lambda upstream: upstream * inside


class ClipToUnit(keras.constraints.Constraint):
    def __call__(self, weight):
        return tf.clip_by_value(weight, -1.0, 1.0)


class BinaryDense(keras.layers.Layer):
    """Dense layer whose kernel is used as signs; batch norm after it sets the thresholds."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.norm = keras.layers.BatchNormalization(momentum=0.9, scale=False)

    def build(self, shape):
        self.latent = self.add_weight(
            shape=(shape[-1], self.units),
            initializer=keras.initializers.RandomUniform(-0.3, 0.3),
            constraint=ClipToUnit(),
            name="latent",
        )
        self.norm.build((shape[0], self.units))

    def call(self, x, training=False):
        return sign_through(self.norm(x @ sign_through(self.latent), training=training))


def build():
    inputs = keras.Input((TICKS,), name="taps")
    x = BinaryDense(128, name="binary_1")(inputs)
    x = BinaryDense(128, name="binary_2")(x)
    outputs = keras.layers.Dense(COMMANDS, name="command")(x)
    return keras.Model(inputs, outputs, name="tap_reader")


def main():
    rhythms = rng.choice([-1.0, 1.0], size=(COMMANDS, TICKS))
    taps, command = make_taps(6000, rhythms)
    test_taps, test_command = make_taps(2000, rhythms)

    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, 750)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(taps, command, batch_size=128, epochs=16, validation_data=(test_taps, test_command), verbose=0)
    accuracy = np.mean(model.predict(test_taps, verbose=0).argmax(-1) == test_command)
    print(f"score command_accuracy {accuracy:.4f} chance {1 / COMMANDS}")


if __name__ == "__main__":
    main()
