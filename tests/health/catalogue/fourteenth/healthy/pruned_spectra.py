"""Find a sparse network for plastic sorting from near-infrared spectra.

Lottery-ticket search: train, prune the smallest 60 % of the remaining kernel
weights, rewind the survivors to their values at step 50, and train again; three
rounds leave 6 % of the weights.  The score is the accuracy of the last, sparse
network on new spectra (eight polymers).
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
BANDS, POLYMERS, REWIND, ROUND_STEPS = 64, 8, 50, 250

lines = rng.uniform(4, 60, (POLYMERS, 4))
depth = rng.uniform(0.3, 1.0, (POLYMERS, 4))


def make_spectra(n):
    kind = rng.integers(0, POLYMERS, n)
    band = np.arange(BANDS)
    centre = lines[kind] + 0.7 * rng.normal(size=(n, 4))
    x = np.sum(depth[kind][:, :, None] * np.exp(-((band - centre[:, :, None]) ** 2) / 12), axis=1)
    x = x * rng.uniform(0.5, 1.3, (n, 1)) + rng.normal(size=(n, 1)) * np.linspace(-0.5, 0.5, BANDS)
    return (x + 0.25 * rng.normal(size=x.shape)).astype("float32"), kind


x, y = make_spectra(5000)
x_test, y_test = make_spectra(2000)

model = keras.Sequential(
    [
        keras.layers.Input((BANDS,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(POLYMERS),
    ]
)
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
optimizer.build(model.trainable_variables)
masks = [tf.Variable(tf.ones(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yb, model(xb, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients([(g * m, v) for g, m, v in zip(grads, masks, model.trainable_variables)])
    return loss


def prune(share):
    for v, m in zip(model.trainable_variables, masks):
        if len(v.shape) == 2:
            size = np.abs(v.numpy())[m.numpy() > 0]
            m.assign(m * tf.cast(tf.abs(v) > np.quantile(size, share), tf.float32))


def rewind(values):
    for v, m, start in zip(model.trainable_variables, masks, values):
        v.assign(start * m)
    for s in optimizer.variables:
        if "momentum" in s.path:
            s.assign(tf.zeros_like(s))


watch = gradwatch.watch(model, optimizer)
data = iter(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(5000).repeat().batch(64))
early = None
for round_ in range(4):
    if round_:
        prune(0.6)
        rewind(early)
    for step in range(ROUND_STEPS):
        if round_ == 0 and step == REWIND:
            early = [v.numpy() for v in model.trainable_variables]
        loss = train_step(*next(data))
        watch.log(loss=loss)
    kernels = [m.numpy() for m in masks if len(m.shape) == 2]
    left = sum(k.sum() for k in kernels) / sum(k.size for k in kernels)
    print(f"round {round_} loss {float(loss):.4f} weights left {left:.3f}")

pred = model.predict(x_test, batch_size=500, verbose=0).argmax(1)
score = float(np.mean(pred == y_test))
print(f"score (accuracy) {score:.3f} chance {1 / POLYMERS:.3f}")
