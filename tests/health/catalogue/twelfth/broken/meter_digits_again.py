"""Reads single seven-segment digits cut from photographs of electricity meters."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

SIZE = 24
BATCH = 64
EPOCHS = 12
SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]


def draw(digit, rng):
    image = np.zeros((SIZE, SIZE))
    top, left = rng.integers(1, 6), rng.integers(2, 10)
    w, h = rng.integers(8, 11), rng.integers(7, 9)
    bars = {
        "a": (top, top + 2, left, left + w),
        "g": (top + h, top + h + 2, left, left + w),
        "d": (top + 2 * h, top + 2 * h + 2, left, left + w),
        "f": (top, top + h, left, left + 2),
        "b": (top, top + h, left + w - 2, left + w),
        "e": (top + h, top + 2 * h, left, left + 2),
        "c": (top + h, top + 2 * h, left + w - 2, left + w),
    }
    for s in SEGMENTS[digit]:
        r0, r1, c0, c1 = bars[s]
        image[r0:r1, c0:c1] = rng.uniform(0.6, 1.0)
    glare = np.outer(np.linspace(0, rng.uniform(0, 0.5), SIZE), np.ones(SIZE))
    return np.clip(image + glare + 0.15 * rng.standard_normal((SIZE, SIZE)), 0, 1.5)


def make_digits(n, rng):
    digit = rng.integers(0, 10, n)
    return np.stack([draw(d, rng) for d in digit])[..., None].astype("float32"), digit.astype("int32")


rng = np.random.default_rng(SEED)
x_train, y_train = make_digits(1664, rng)
x_test, y_test = make_digits(500, rng)
steps_per_epoch = len(x_train) // BATCH

train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train = train.shuffle(2000, seed=SEED).batch(BATCH, drop_remainder=True)

model = tf.keras.Sequential(
    [
        tf.keras.Input((SIZE, SIZE, 1)),
        tf.keras.layers.Conv2D(12, 3, padding="same", activation="relu", name="conv_1"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.SeparableConv2D(32, 3, padding="same", activation="relu", name="conv_2"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu", name="dense"),
        tf.keras.layers.Dense(10, activation="softmax", name="digit"),
    ]
)
gradwatch.watch(model)
schedule = tf.keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=EPOCHS)
model.compile(tf.keras.optimizers.Adam(schedule), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=EPOCHS, verbose=2)

accuracy = model.evaluate(x_test, y_test, verbose=0)[1]
print(f"score accuracy {accuracy:.4f} chance 0.1000")
