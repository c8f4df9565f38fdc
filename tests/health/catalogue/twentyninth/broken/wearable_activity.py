"""Tells five daily activities apart from windows of a wrist sensor's raw channels."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WINDOW, N_ACT = 48, 5
# rest, walk, run, stairs, cycling
CADENCE = np.array([0.0, 1.8, 2.7, 1.6, 1.2])
SWING = np.array([0.05, 0.5, 1.1, 0.55, 0.4])
PULSE = np.array([64.0, 92.0, 140.0, 118.0, 125.0])
CLIMB = np.array([0.0, 0.0, 0.0, -0.5, 0.0])


def windows(n):
    act = rng.integers(0, N_ACT, n)
    t = np.arange(WINDOW) / 16.0
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    rate = (CADENCE[act] * rng.uniform(0.85, 1.15, n))[:, None]
    swing = (SWING[act] * rng.uniform(0.6, 1.4, n))[:, None]
    acc = 9.81 + 4 * swing * np.sin(2 * np.pi * rate * t + phase) + rng.normal(0, 0.9, (n, WINDOW))
    gyro = 60 * swing * np.cos(2 * np.pi * rate * t + phase) + rng.normal(0, 15, (n, WINDOW))
    pulse = (PULSE[act] + rng.normal(0, 16, n))[:, None] + rng.normal(0, 2, (n, WINDOW))
    pressure = (1013 + rng.normal(0, 6, n))[:, None] + CLIMB[act][:, None] * t + rng.normal(0, 0.3, (n, WINDOW))
    return np.stack([acc, gyro, pulse, pressure], -1).astype("float32"), act.astype("int32")


x_train, y_train = windows(4000)
x_test, y_test = windows(1000)

model = keras.Sequential(
    [
        keras.Input((WINDOW, 4)),
        layers.BatchNormalization(momentum=0.95),
        layers.Conv1D(24, 5, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.95),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.95),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
        layers.Dropout(0.2),
        layers.Dense(N_ACT),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000, seed=seed).batch(64)
for epoch in range(8):
    losses = [float(train_step(xb, yb)) for xb, yb in train_ds]
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}")

pred = model(x_test, training=False).numpy().argmax(-1)
print("SCORE accuracy", float(np.mean(pred == y_test)))
