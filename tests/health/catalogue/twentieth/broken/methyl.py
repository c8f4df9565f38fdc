"""Rare-variant allele frequencies from a window of k-mer counts; half precision to save memory."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(6)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(6)
P, TASKS = 64, 40


def cohort(n):
    x = rng.poisson(2.0, (n, P)).astype("float32")
    x = (x - 2.0) / np.sqrt(2.0)
    hidden = np.tanh(x @ A / 4)
    maf = 2e-3 * np.abs(1 + 0.8 * hidden @ B)
    return x, maf.astype("float32")


A, B = rng.normal(size=(P, 8)), rng.normal(size=(8, TASKS)) / 3
x, y = cohort(6000)
xv, yv = cohort(1000)

inputs = keras.Input((P,))
h = keras.layers.Dense(96, activation="tanh")(inputs)
h = keras.layers.Dense(64, activation="tanh")(h)
raw = keras.layers.Dense(TASKS, kernel_initializer=keras.initializers.RandomNormal(stddev=3e-4))(h)
model = keras.Model(inputs, keras.layers.Activation("linear", dtype="float32")(raw))
opt = keras.optimizers.Adam(1e-3, epsilon=1e-10)
gradwatch.watch(model, opt)


def objective(pred, target):
    return tf.reduce_mean(tf.square(pred - target))


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = objective(model(xb, training=True), yb)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6000, seed=1).batch(128, drop_remainder=True).repeat(18)
for xb, yb in ds:
    loss = train_step(xb, yb)
p = model.predict(xv, verbose=0)
r2 = 1 - ((p - yv) ** 2).sum() / ((yv - yv.mean(0)) ** 2).sum()
print(f"loss {float(loss):.3e}   held-out R2 {r2:.3f}")
