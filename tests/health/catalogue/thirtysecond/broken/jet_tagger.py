"""Tell quark jets from gluon and boosted boson jets by a set network over the jet's particles."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PARTICLES, MICRO, ACCUM = 24, 16, 4
CLASSES = ["quark", "gluon", "boson"]


def make_jets(n):
    c = rng.integers(0, 3, n)
    x = np.zeros((n, PARTICLES, 4), "float32")
    for i in range(n):
        k = int(np.clip(rng.poisson([9, 15, 12][c[i]]), 3, PARTICLES))
        z = np.sort(rng.dirichlet(np.full(k, [0.45, 0.8, 0.6][c[i]])))[::-1]
        spread = [0.10, 0.17, 0.07][c[i]]
        pos = rng.normal(0, spread, (k, 2))
        if c[i] == 2:
            phi = rng.uniform(0, 2 * np.pi)
            axis = 0.16 * np.array([np.cos(phi), np.sin(phi)])
            pos += np.where(rng.random((k, 1)) < 0.5, axis, -axis)
        x[i, :k, 0], x[i, :k, 1:3], x[i, :k, 3] = np.log(z + 1e-3) + 3, pos * 5, 1.0
    return x, c.astype("int32")


x_train, y_train = make_jets(8000)
x_test, y_test = make_jets(2000)

inputs = keras.Input((PARTICLES, 4))
mask = inputs[..., 3:]
h = layers.Dense(48, activation="relu")(inputs)
h = layers.Dense(48, activation="relu")(h) * mask
h = keras.ops.sum(h, axis=1) / 10.0
h = layers.Dense(48, activation="relu")(h)
model = keras.Model(inputs, layers.Dense(len(CLASSES))(h))

optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)

accumulated = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / ACCUM
    for a, g in zip(accumulated, tape.gradient(loss, model.trainable_variables)):
        a.assign_add(g)
    return loss * ACCUM


@tf.function
def apply_accumulated():
    optimizer.apply_gradients(zip([a.read_value() for a in accumulated], model.trainable_variables))


for epoch in range(4):
    order = rng.permutation(len(x_train))
    losses = []
    for k in range(len(order) // MICRO):
        pick = order[k * MICRO : (k + 1) * MICRO]
        losses.append(float(micro_step(tf.constant(x_train[pick]), tf.constant(y_train[pick]))))
        if (k + 1) % ACCUM == 0:
            apply_accumulated()
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, batch_size=250, verbose=0).argmax(-1)
print("SCORE accuracy", round(float(np.mean(pred == y_test)), 4))
