"""State of a weaving loom, from short windows of its three vibration channels."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH = 96
STATES = ["running", "loose warp", "worn picker", "idle"]
time = np.arange(LENGTH) / 96.0


def make_window(state):
    speed = rng.normal(9.0, 0.6) if state != 3 else rng.normal(3.0, 0.3)
    phase = rng.uniform(0, 2 * np.pi, 3)
    beat = np.sin(2 * np.pi * speed * time[:, None] + phase)
    beat += 0.4 * np.sin(2 * np.pi * 2 * speed * time[:, None] + 1.7 * phase)
    if state == 1:
        beat *= 1 + 0.8 * np.sin(2 * np.pi * 2.0 * time[:, None] + phase[0])
    if state == 2:
        knocks = np.zeros(LENGTH)
        knocks[rng.integers(0, 11) :: 11] = rng.uniform(1.5, 2.6)
        beat[:, 1] += np.convolve(knocks, np.exp(-np.arange(6) / 1.5), mode="same")
    gain = rng.lognormal(0, 0.5, 3)  # each sensor mounted its own way
    offset = rng.normal(0, 2.0, 3)
    window = gain * (beat + rng.normal(0, 0.45, (LENGTH, 3))) + offset
    return window


def record(count):
    states = rng.choice(4, count, p=[0.4, 0.2, 0.2, 0.2])
    windows = np.array([make_window(s) for s in states], "float32")
    unplugged = np.nonzero(rng.random(count) < 0.0012)[0]
    for index in unplugged:  # the logger writes zeros then
        windows[index, :, rng.integers(3)] = 0.0
    return windows, states.astype("int32")


train_windows, train_states = record(2600)
test_windows, test_states = record(600)


def standardise(window, state):
    centre = tf.reduce_mean(window, axis=0)
    spread = tf.math.reduce_std(window, axis=0)
    return (window - centre) / spread, state


def pipeline(windows, states, training):
    data = tf.data.Dataset.from_tensor_slices((windows, states))
    if training:
        data = data.shuffle(len(windows), seed=SEED)
    return data.map(standardise).batch(64).prefetch(1)


model = keras.Sequential(
    [
        keras.Input((LENGTH, 3)),
        layers.Conv1D(24, 7, strides=2, padding="same", activation="relu"),
        layers.LayerNormalization(),
        layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        layers.LayerNormalization(),
        layers.GlobalMaxPooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(STATES)),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(0.03, momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(pipeline(train_windows, train_states, True), epochs=7, verbose=2)

logits = model.predict(pipeline(test_windows, test_states, False), verbose=0)
accuracy = float(np.mean(logits.argmax(-1) == test_states))
print(f"score {accuracy:.4f}")
