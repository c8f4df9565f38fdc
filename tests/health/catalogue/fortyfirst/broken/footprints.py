"""Learns an embedding of pressure-mat footsteps so that walkers never seen in training can be re-identified."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_WALKERS, N_NEW, T, S = 60, 30, 32, 6


def steps_of(traits, n):
    t = np.linspace(0, 1, T)[None, :, None]
    heel, width, gain = traits[0], traits[1], traits[2]
    jit = rng.normal(0, 0.02, (n, 1, S))
    force = rng.uniform(0.8, 1.2, (n, 1, 1))
    x = gain * np.exp(-(((t - heel - jit) / width) ** 2))
    return (force * x + rng.normal(0, 0.1, (n, T, S))).astype("float32")


def walkers(n_people, n_steps):
    xs, ys = [], []
    for p in range(n_people):
        tr = (rng.uniform(0.2, 0.8, S), rng.uniform(0.08, 0.25, S), rng.uniform(0.5, 1.5, S))
        xs.append(steps_of(tr, n_steps))
        ys.append(np.full(n_steps, p))
    return np.concatenate(xs), np.concatenate(ys)


x, y = walkers(N_WALKERS, 40)
x_new, y_new = walkers(N_NEW, 12)
ds = tf.data.Dataset.from_tensor_slices((x, y.astype("int32"))).shuffle(4000, seed=seed).repeat().batch(48)


class Embedder(keras.Model):
    def __init__(self):
        super().__init__()
        self.c1 = layers.Conv1D(24, 5, strides=2, padding="same", activation="relu")
        self.c2 = layers.Conv1D(32, 5, strides=2, padding="same", activation="relu")
        self.flat = layers.Flatten()
        self.head = layers.Dense(16, activation="relu")
        self.drop = layers.Dropout(0.3)
        self.prototypes = self.add_weight(shape=(N_WALKERS, 16), initializer="glorot_uniform", name="prototypes")

    def call(self, x, training=False):
        z = self.drop(self.head(self.flat(self.c2(self.c1(x)))), training=training)
        return z / tf.norm(z, axis=-1, keepdims=True)


model = Embedder()
model(x[:2])
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        z = model(xb, training=True)
        p = tf.math.l2_normalize(model.prototypes, axis=-1)
        logits = 12.0 * tf.matmul(z, p, transpose_b=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yb, logits))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for i, (xb, yb) in enumerate(ds.take(900)):
    loss = step(xb, yb)
    if i % 150 == 0:
        print(i, float(loss))

z = np.nan_to_num(model(x_new).numpy())
sim = z @ z.T
np.fill_diagonal(sim, -2)
print("SCORE rank1", float(np.mean(y_new[sim.argmax(1)] == y_new)))
