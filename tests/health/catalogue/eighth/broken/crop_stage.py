"""Crop type from satellite time series; large effective batches by gradient accumulation."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CROPS, DATES, BANDS = 5, 14, 4
MICRO, ACCUM, STEPS = 16, 4, 800


def fields(n):
    crop = rng.integers(CROPS, size=n)
    t = np.linspace(0, 1, DATES)
    peak = np.array([0.3, 0.42, 0.5, 0.6, 0.72])[crop] + rng.normal(0, 0.03, n)
    width = np.array([0.10, 0.16, 0.10, 0.16, 0.12])[crop]
    ndvi = np.exp(-0.5 * ((t[None] - peak[:, None]) / width[:, None]) ** 2)
    gains = rng.normal(1.0, 0.1, (n, 1, BANDS)) * np.array([1.0, -0.6, 0.8, 0.3])
    x = ndvi[..., None] * gains + rng.normal(0, 0.15, (n, DATES, BANDS))
    return ((x - 0.1) / 0.4).astype("float32"), crop.astype("int32")


x_train, y_train = fields(4000)
x_test, y_test = fields(800)
dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4000, seed=SEED)
    .repeat()
    .batch(MICRO)
    .take(STEPS)
    .prefetch(2)
)

model = keras.Sequential(
    [
        keras.Input((DATES, BANDS)),
        layers.Conv1D(24, 3, padding="same", activation="relu"),
        layers.Conv1D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(CROPS),
    ],
    name="crops",
)
optimizer = keras.optimizers.SGD(0.05)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    for slot, g in zip(accumulated, grads):
        slot.assign_add(g / ACCUM)
    return loss


@tf.function
def apply_step():
    optimizer.apply_gradients(zip([s.value() for s in accumulated], model.trainable_variables))
    for slot in accumulated:
        slot = tf.zeros_like(slot)


gradwatch.watch(model)
recent = []
for i, (x, y) in enumerate(dataset, start=1):
    recent.append(float(micro_step(x, y)))
    if i % ACCUM == 0:
        apply_step()
    if i % 100 == 0:
        print(f"micro-step {i:4d}  loss {np.mean(recent):.4f}")
        recent = []

logits = model(x_test, training=False)
print(f"test loss {float(loss_fn(y_test, logits)):.4f}  accuracy {np.mean(np.argmax(logits, 1) == y_test):.4f}")
