# Multi-task toxicity model: 6 assays, most compounds were measured in some of them only.
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_BITS, N_ASSAYS, BATCH, EPOCHS = 256, 6, 32, 8
coverage = np.array([0.85, 0.7, 0.5, 0.4, 0.3, 0.12])


def make_compounds(n):
    scaffold = rng.integers(0, 12, n)
    base = np.random.default_rng(99).random((12, N_BITS)) < 0.12
    x = (base[scaffold] | (rng.random((n, N_BITS)) < 0.06)).astype("float32")
    w = np.random.default_rng(7).normal(0, 1, (N_BITS, N_ASSAYS)) / np.sqrt(N_BITS * 0.06)
    y = x @ w
    y = (y - y.mean(0)) / y.std(0) + rng.normal(0, 0.3, (n, N_ASSAYS))
    mask = rng.random((n, N_ASSAYS)) < coverage
    return x, y.astype("float32"), mask.astype("float32")


x_train, y_train, m_train = make_compounds(1600)
x_test, y_test, m_test = make_compounds(600)

model = keras.Sequential(
    [
        keras.Input((N_BITS,)),
        layers.Dense(96, activation="relu"),
        layers.Dropout(0.1),
        layers.Dense(48, activation="relu"),
        layers.Dense(N_ASSAYS),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def panel_loss(y, pred, mask):
    # every assay weighs the same, whatever the number of its measurements
    sq = tf.square(y - pred) * mask
    per_assay = tf.reduce_sum(sq, axis=0) / tf.reduce_sum(mask, axis=0)
    return tf.reduce_mean(per_assay)


@tf.function
def train_step(x, y, mask):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = panel_loss(y, pred, mask)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train, m_train)).shuffle(1600, seed=seed).batch(BATCH)
for epoch in range(EPOCHS):
    losses = [float(train_step(*b)) for b in ds]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.sum((y_test - pred) ** 2 * m_test) / np.sum((y_test - y_test.mean(0)) ** 2 * m_test)
print(f"test R2 {r2:.3f}")
