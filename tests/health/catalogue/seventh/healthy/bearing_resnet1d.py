"""Bearing fault diagnosis with a deep pre-activation 1-D residual network, SGD at rate 0.1."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FAULTS = ["healthy", "outer race", "ball", "inner race"]
LENGTH, BLOCKS, CHANNELS = 128, 9, 16
IMPACT_PERIOD = {1: 25, 2: 18, 3: 12}
RESONANCE = {1: 0.18, 2: 0.25, 3: 0.32}


def record(n):
    """Accelerometer windows: shaft rotation, noise, and ringing after each impact."""
    fault = rng.integers(0, len(FAULTS), n)
    t = np.arange(LENGTH)
    signal = rng.normal(0, 0.6, (n, LENGTH))
    signal += np.sin(2 * np.pi * t / 64 + rng.uniform(0, 2 * np.pi, (n, 1)))
    for i in np.flatnonzero(fault):
        period = IMPACT_PERIOD[fault[i]] * rng.uniform(0.95, 1.05)
        start = rng.uniform(0, period)
        for hit in np.arange(start, LENGTH, period):
            after = np.maximum(t - hit, 0)
            ring = np.exp(-after / 5) * np.sin(2 * np.pi * RESONANCE[fault[i]] * after)
            signal[i] += rng.uniform(1.3, 2.2) * ring * (t >= hit)
    return signal[..., None].astype("float32"), fault.astype("int32")


x_train, y_train = record(3200)
x_test, y_test = record(1000)
scale = x_train.std()
x_train, x_test = x_train / scale, x_test / scale


def residual_block(x, channels, stride):
    h = layers.BatchNormalization(momentum=0.9)(x)
    h = layers.ReLU()(h)
    skip = x
    if stride > 1:
        skip = layers.AveragePooling1D(stride, padding="same")(x)
    h = layers.Conv1D(channels, 3, strides=stride, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.9)(h)
    h = layers.ReLU()(h)
    h = layers.Conv1D(channels, 3, padding="same", use_bias=False)(h)
    # gamma starts at zero: each block starts as the identity; a shift would be undone later
    h = layers.BatchNormalization(momentum=0.9, center=False, gamma_initializer="zeros")(h)
    return layers.Add()([skip, h])


signal_in = keras.Input((LENGTH, 1))
x = layers.Conv1D(CHANNELS, 7, strides=2, padding="same", use_bias=False)(signal_in)
for block in range(BLOCKS):
    x = residual_block(x, CHANNELS, stride=2 if block in (2, 5) else 1)
x = layers.BatchNormalization(momentum=0.9)(x)
x = layers.ReLU()(x)
x = layers.GlobalAveragePooling1D()(x)
model = keras.Model(signal_in, layers.Dense(len(FAULTS))(x), name="deep_resnet")
print("layers", len(model.layers), "parameters", model.count_params())

EPOCHS, BATCH = 6, 64
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.CosineDecay(0.1, EPOCHS * len(x_train) // BATCH),
        momentum=0.9,
        nesterov=True,
    ),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=False,  # compiling this deep graph takes longer than the training
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2, validation_data=(x_test, y_test))
_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"FINAL test accuracy {accuracy:.4f}")
