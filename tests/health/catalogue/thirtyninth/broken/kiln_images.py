"""Classifies thermal images of kilns; four small batches are summed before each update because memory is short."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

K = 6
templates = rng.normal(size=(K, 4, 4))


def images(n):
    y = rng.integers(0, K, n)
    x = np.kron(templates[y], np.ones((1, 4, 4))) * rng.uniform(0.4, 1.2, (n, 1, 1))
    sh = rng.integers(-2, 3, (n, 2))
    x = np.stack([np.roll(a, tuple(s), (0, 1)) for a, s in zip(x, sh)])
    return (x + rng.normal(0, 1.6, x.shape)).astype("float32")[..., None], y.astype("int32")


x_train, y_train = images(3200)
x_test, y_test = images(1000)

model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(K),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.SGD(0.05, momentum=0.9)
opt.build(model.trainable_variables)
ACCUM = 4
sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
gradwatch.watch(model)


@tf.function
def accumulate(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / ACCUM
    for s, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g)
    return loss * ACCUM


@tf.function
def update():
    opt.apply_gradients(zip([s.read_value() for s in sums], model.trainable_variables))


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3200, seed=seed).repeat().batch(16)
for i, (x, y) in enumerate(ds.take(1400)):
    loss = accumulate(x, y)
    if (i + 1) % ACCUM == 0:
        update()
    if i % 200 == 0:
        print(i, float(loss))
print("SCORE accuracy %.4f" % (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())
