"""Predict a standardised formation energy for small molecules given as sets of atoms (deep-sets network)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

MAX_ATOMS = 12
N_ELEMENTS = 5
STEPS = 400
BATCH = 160


def sample_molecules(n, rng):
    n_atoms = rng.integers(4, MAX_ATOMS + 1, n)
    z = rng.integers(1, N_ELEMENTS + 1, (n, MAX_ATOMS))
    charge = rng.normal(0, 1, (n, MAX_ATOMS, 3))
    mask = np.arange(MAX_ATOMS)[None] < n_atoms[:, None]
    z = z * mask
    own = np.array([0, -1.0, -0.4, 0.2, 0.7, 1.3])[z]
    inter = np.tanh(charge[..., 0] * charge[..., 1]) + 0.5 * np.abs(charge[..., 2])
    e = ((own + 0.8 * inter) * mask).sum(1)
    e = (e - e.mean()) / e.std() + rng.normal(0, 0.05, n)
    return z.astype("int32"), (charge * mask[..., None]).astype("float32"), e.astype("float32")


rng = np.random.default_rng(SEED)
Z, Q, E = sample_molecules(9000, rng)
train = (Z[:8000], Q[:8000], E[:8000])
test = (Z[8000:], Q[8000:], E[8000:])

atoms = keras.Input((MAX_ATOMS,), dtype="int32", name="atoms")
feats = keras.Input((MAX_ATOMS, 3), name="features")
h = layers.Embedding(N_ELEMENTS + 1, 16, name="element")(atoms)
h = layers.Concatenate()([h, feats])
h = layers.Dense(96, activation="swish", name="phi_1")(h)
h = layers.Dense(96, activation="swish", name="phi_2")(h)
m = layers.Lambda(lambda t: ops.cast(ops.not_equal(t, 0), "float32")[..., None], name="present")(atoms)
h = layers.Multiply()([h, m])
h = layers.Lambda(lambda t: ops.sum(t, axis=1) / 4.0, name="pool")(h)
h = layers.Dense(96, activation="swish", name="rho_1")(h)
energy = layers.Dense(1, name="energy")(h)
model = keras.Model([atoms, feats], energy)
gradwatch.watch(model)

optimizer = keras.optimizers.Nadam(2e-3)


@tf.function
def train_on(z, q, e):
    with tf.GradientTape() as tape:
        pred = model([z, q], training=True)
        loss = tf.reduce_mean(tf.square(e - pred))
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return loss


batches = tf.data.Dataset.from_tensor_slices(train).shuffle(8000, seed=SEED).repeat().batch(BATCH)
running = []
for step, (z, q, e) in enumerate(batches):
    if step == STEPS:
        break
    running.append(float(train_on(z, q, e)))
    if (step + 1) % 80 == 0:
        print(f"{step + 1:4d}  train mse {np.mean(running[-80:]):.4f}")

pred = model.predict(list(test[:2]), verbose=0)[:, 0]
print("test R2 %.3f" % (1 - np.mean((pred - test[2]) ** 2) / np.var(test[2])))
