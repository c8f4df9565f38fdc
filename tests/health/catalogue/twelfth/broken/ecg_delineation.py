"""Marks the P wave, the QRS complex and the T wave in ECG strips, sample by sample.

Strips come in small groups; gradients of four groups make one update.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH, WAVES = 160, 4
GROUP, GROUPS_PER_UPDATE, GROUPS = 16, 4, 400


def make_strips(n):
    t = np.arange(LENGTH)
    x = np.zeros((n, LENGTH))
    y = np.zeros((n, LENGTH), "int32")
    for i in range(n):
        beat = rng.uniform(-30, 10)
        gap = rng.uniform(60, 90)
        size = rng.uniform(0.7, 1.3, 3)
        while beat < LENGTH + 40:
            for wave, (off, width, height) in enumerate([(-20, 4.0, 0.25), (0, 2.0, 1.2), (26, 7.0, 0.4)], start=1):
                at = beat + off
                x[i] += height * size[wave - 1] * np.exp(-(((t - at) / width) ** 2))
                y[i][np.abs(t - at) < 1.5 * width] = wave
            x[i] -= 0.25 * np.exp(-(((t - beat - 5) / 2.0) ** 2))
            beat += gap * rng.uniform(0.95, 1.05)
        x[i] += 0.2 * np.sin(2 * np.pi * (t / 150 + rng.uniform())) + 0.05 * rng.standard_normal(LENGTH)
    return (x[..., None] * 2).astype("float32"), y


x_train, y_train = make_strips(1600)
x_test, y_test = make_strips(200)

inputs = keras.Input((LENGTH, 1))
h = inputs
for i, dilation in enumerate([1, 2, 4, 8]):
    h = layers.Conv1D(24, 5, padding="same", dilation_rate=dilation, use_bias=False, name=f"conv_{i}")(h)
    h = layers.BatchNormalization(momentum=0.9, name=f"bn_{i}")(h)
    h = layers.ReLU()(h)
outputs = layers.Conv1D(WAVES, 1, name="wave")(h)
model = keras.Model(inputs, outputs)
gradwatch.watch(model)

optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
optimizer.build(model.trainable_variables)
sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def add_group(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    for total, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(g / GROUPS_PER_UPDATE)
    return loss


@tf.function
def update():
    gradients = [tf.convert_to_tensor(total) for total in sums]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


losses = []
for group in range(GROUPS):
    rows = rng.integers(0, len(x_train), GROUP)
    losses.append(float(add_group(x_train[rows], y_train[rows])))
    if (group + 1) % GROUPS_PER_UPDATE == 0:
        update()
    if (group + 1) % 40 == 0:
        print(f"groups {group + 1} loss {np.mean(losses[-40:]):.4f}")

found = np.argmax(model.predict(x_test, verbose=0), -1)
recall = [np.mean(found[y_test == w] == w) for w in range(WAVES)]
print(f"score balanced_accuracy {np.mean(recall):.4f} chance {1 / WAVES:.4f}")
