"""Tell mine, rock and wreck echoes apart; small micro-batches, accumulated gradients."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, MICRO, ACCUM = 80, 16, 4
t = np.arange(LENGTH)


def make_echoes(n):
    label = rng.integers(0, 3, n)
    start = rng.uniform(10, 35, (n, 1))
    freq = np.array([0.11, 0.16, 0.13])[label][:, None] + rng.normal(0, 0.008, (n, 1))
    decay = np.array([10.0, 10.0, 22.0])[label][:, None] * rng.uniform(0.8, 1.2, (n, 1))
    after = np.clip(t - start, 0, None)
    echo = np.sin(2 * np.pi * freq * after) * np.exp(-after / decay) * (t >= start)
    return (echo + rng.normal(0, 0.2, echo.shape))[..., None].astype("float32"), label.astype("int32")


x_train, y_train = make_echoes(3200)
x_test, y_test = make_echoes(800)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 9, strides=2, activation="relu"),
        layers.Conv1D(32, 7, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(3),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
gradwatch.watch(model)


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / ACCUM
    grads = tape.gradient(loss, model.trainable_variables)
    for total, g in zip(accumulated, grads):
        total.assign_add(g)
    return loss * ACCUM


@tf.function
def update():
    grads = [tf.convert_to_tensor(total) for total in accumulated]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


for epoch in range(14):
    order = rng.permutation(len(x_train))
    losses = []
    for k, begin in enumerate(range(0, len(order), MICRO)):
        pick = order[begin : begin + MICRO]
        losses.append(micro_step(tf.constant(x_train[pick]), tf.constant(y_train[pick])))
        if (k + 1) % ACCUM == 0:
            update()
    print(f"epoch {epoch + 1} loss {np.mean([float(l) for l in losses]):.4f}")

logits = model(x_test).numpy()
print("SCORE accuracy", float(np.mean(logits.argmax(axis=1) == y_test)))
