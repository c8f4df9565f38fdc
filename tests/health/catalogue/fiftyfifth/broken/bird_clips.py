"""Bird species from half-second field clips: learned filterbank, root compression, small conv net."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


RATE, FRAMES, HOP, WIN = 4000, 30, 64, 128
SPECIES = ["wren", "chiffchaff", "dunnock", "siskin"]
rng = np.random.default_rng(SEED + 3)


def clip(kind):
    t = np.arange(HOP * (FRAMES - 1) + WIN) / RATE
    f0 = rng.uniform(500, 900)
    if kind == 0:
        freq = f0 + 700 * t / t[-1]
    elif kind == 1:
        freq = f0 + 500 * (np.sin(2 * np.pi * 6 * t) > 0)
    elif kind == 2:
        freq = f0 + 180 * np.sin(2 * np.pi * 11 * t)
    else:
        freq = f0 + 700 * (1 - t / t[-1])
    wave = np.sin(2 * np.pi * np.cumsum(freq) / RATE) * rng.uniform(0.2, 1.0)
    wave = wave + rng.normal(0, rng.uniform(0.05, 0.3), len(t))
    if rng.random() < 0.004:  # recorder changes its memory card
        start = rng.integers(0, len(t) // 2)
        wave[start : start + 500] = 0.0
    frames = np.stack([wave[i * HOP : i * HOP + WIN] for i in range(FRAMES)])
    return np.abs(np.fft.rfft(frames * np.hanning(WIN), axis=1)) ** 2 / WIN


def collect(n):
    kinds = rng.integers(0, len(SPECIES), n)
    return np.stack([clip(k) for k in kinds]).astype("float32"), kinds.astype("int32")


power_train, kind_train = collect(3200)
power_test, kind_test = collect(800)


class RootFilterbank(keras.layers.Layer):
    def __init__(self, bands, root=0.3):
        super().__init__()
        self.bands, self.root = bands, root

    def build(self, shape):
        self.mix = self.add_weight(
            shape=(shape[-1], self.bands), name="mix", initializer=keras.initializers.RandomNormal(-2.0, 1.0)
        )

    def call(self, power):
        energy = tf.matmul(power, tf.nn.softplus(self.mix))
        return tf.pow(energy, self.root)


model = keras.Sequential(
    [
        keras.Input((FRAMES, WIN // 2 + 1)),
        RootFilterbank(24),
        keras.layers.LayerNormalization(),
        keras.layers.Conv1D(32, 5, activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(48, 5, activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(len(SPECIES)),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function(jit_compile=True)
def step(power, kind):
    with tf.GradientTape() as tape:
        loss = loss_fn(kind, model(power, training=True))
    variables = model.trainable_variables
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


feed = (
    tf.data.Dataset.from_tensor_slices((power_train, kind_train))
    .shuffle(3200, seed=SEED)
    .batch(32, drop_remainder=True)
)
for epoch in range(10):
    losses = [float(step(power, kind)) for power, kind in feed]
    print(f"epoch {epoch:2d} loss {np.mean(losses):.4f}")

guess = model.predict(power_test, verbose=0).argmax(1)
print("SCORE accuracy", float(np.mean(guess == kind_test)))
