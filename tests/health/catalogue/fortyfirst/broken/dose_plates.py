"""Fits Hill curves to all compounds of a screening campaign at once, from noisy plate readings."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

C = 150
true_k = 10 ** rng.uniform(-2.0, 1.2, C)
true_n = rng.uniform(0.7, 2.5, C)
true_top = rng.uniform(0.5, 1.2, C)
doses = np.concatenate([[0.0], 10 ** np.linspace(-2.5, 2, 9)])


def plate(reps):
    c, d = np.meshgrid(np.arange(C), doses, indexing="ij")
    c, d = np.tile(c.ravel(), reps), np.tile(d.ravel(), reps)
    r = true_top[c] * d ** true_n[c] / (true_k[c] ** true_n[c] + d ** true_n[c])
    return c.astype("int32"), d.astype("float32"), r.astype("float32")


c, d, r = plate(6)
r_obs = (r + rng.normal(0, 0.05, r.shape)).astype("float32")
c_te, d_te, r_te = plate(1)


class HillCurves(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.top = self.add_weight(shape=(n,), initializer="ones", name="top")
        self.ec50 = self.add_weight(shape=(n,), initializer="ones", name="ec50")
        self.slope = self.add_weight(shape=(n,), initializer="ones", name="slope")

    def call(self, inputs):
        idx, dose = inputs
        k = tf.gather(self.ec50, idx)
        n = tf.gather(self.slope, idx)
        dn = tf.pow(dose, n)
        return tf.gather(self.top, idx) * dn / (tf.pow(k, n) + dn)


model = HillCurves(C)
model((c[:2], d[:2]))
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-2)
ds = tf.data.Dataset.from_tensor_slices((c, d, r_obs)).shuffle(9000, seed=seed).repeat().batch(128)


@tf.function
def step(cb, db, rb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model((cb, db)) - rb))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for i, b in enumerate(ds.take(1400)):
    loss = step(*b)
    if i % 200 == 0:
        print(i, float(loss))

pred = model((c_te, d_te)).numpy()
print("SCORE rmse", float(np.sqrt(np.mean((pred - r_te) ** 2))))
