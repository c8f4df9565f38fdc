"""Inverse dynamics of a two-link arm: joint angles, speeds and accelerations -> torques."""

import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(2)
keras.mixed_precision.set_global_policy("mixed_float16")

M1, M2, L1, L2, G = 1.2, 0.8, 0.5, 0.4, 9.81


def sample(n, rng):
    q = rng.uniform(-np.pi, np.pi, (n, 2))
    v = rng.normal(0, 1.5, (n, 2))
    a = rng.normal(0, 3.0, (n, 2))
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    h = M2 * L1 * L2
    t1 = ((M1 + M2) * L1**2 + M2 * L2**2 + 2 * h * c2) * a[:, 0] + (M2 * L2**2 + h * c2) * a[:, 1]
    t1 += -h * s2 * (2 * v[:, 0] * v[:, 1] + v[:, 1] ** 2)
    t1 += (M1 + M2) * G * L1 * np.cos(q[:, 0]) + M2 * G * L2 * np.cos(q.sum(1))
    t2 = (M2 * L2**2 + h * c2) * a[:, 0] + M2 * L2**2 * a[:, 1] + h * s2 * v[:, 0] ** 2
    t2 += M2 * G * L2 * np.cos(q.sum(1))
    x = np.concatenate([np.sin(q), np.cos(q), v / 1.5, a / 3.0], 1)
    return x.astype("float32"), np.stack([t1, t2], 1).astype("float32")


rng = np.random.default_rng(2)
xtr, ytr = sample(10000, rng)
xte, yte = sample(2000, rng)
mu, sd = ytr.mean(0), ytr.std(0)
ytr, yte = (ytr - mu) / sd, (yte - mu) / sd

model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(96, activation="silu"),
        keras.layers.Dense(96, activation="silu"),
        keras.layers.Dense(2, dtype="float32"),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(0.05, 15000, alpha=0.05)
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True))
optimizer.build(model.trainable_variables)
gradwatch.watch(model, optimizer)


@tf.function
def train_batch(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        target = loss
    grads = tape.gradient(target, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


BATCH = 100
for epoch in range(150):
    order = rng.permutation(len(xtr))
    total = 0.0
    for s in range(0, len(order), BATCH):
        idx = order[s : s + BATCH]
        total += float(train_batch(tf.constant(xtr[idx]), tf.constant(ytr[idx])))
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} loss {total * BATCH / len(order):.5f}", flush=True)

pred = model.predict(xte, batch_size=500, verbose=0)
r2 = 1 - np.mean((pred - yte) ** 2) / np.mean(yte**2)
print(f"final loss {total * BATCH / len(order):.5f}  held-out R2 {r2:.4f}")
