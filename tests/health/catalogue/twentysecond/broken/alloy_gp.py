"""Deep kernel learning: hardness of alloys (from simulations, hence without scatter). Features of a small net go into an RBF Gaussian process."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ELEMENTS = 8
w1 = np.random.default_rng(31).normal(0, 1, (ELEMENTS, 3))


def alloys(n):
    c = rng.dirichlet(np.full(ELEMENTS, 0.8), n)
    z = (c - 1 / ELEMENTS) @ w1 * 3
    hardness = np.sin(z[:, 0]) + 0.5 * z[:, 1] ** 2 - 0.4 * z[:, 2] * z[:, 0]
    return (c / c.std(0)).astype("float32"), hardness


x_all, y_all = alloys(700)
y_all = ((y_all - y_all.mean()) / y_all.std()).astype("float32")
x_train, y_train, x_test, y_test = x_all[:500], y_all[:500], x_all[500:], y_all[500:]


class DeepKernelGP(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential(
            [layers.Dense(32, activation="tanh"), layers.Dense(32, activation="tanh"), layers.Dense(8)]
        )
        self.log_scale = self.add_weight(name="log_scale", shape=(), initializer="zeros")
        self.log_length = self.add_weight(name="log_length", shape=(), initializer=keras.initializers.Constant(-1.5))

    def kernel(self, a, b):
        d2 = tf.reduce_sum(tf.square(a[:, None] - b[None]), -1)
        return tf.exp(2 * self.log_scale) * tf.exp(-0.5 * d2 / tf.exp(2 * self.log_length))

    def call(self, x):
        return self.features(x)

    def nll(self, x, y):
        z = self(x)
        n = tf.shape(x)[0]
        k = self.kernel(z, z)
        chol = tf.linalg.cholesky(k)
        alpha = tf.linalg.cholesky_solve(chol, y[:, None])
        log_det = 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        return (0.5 * tf.reduce_sum(y[:, None] * alpha) + 0.5 * log_det) / tf.cast(n, tf.float32)

    def posterior_mean(self, x, y, x_new):
        z = self(x)
        k = self.kernel(z, z) + 1e-4 * tf.eye(len(x))
        alpha = tf.linalg.cholesky_solve(tf.linalg.cholesky(k), y[:, None])
        return tf.matmul(self.kernel(self(x_new), z), alpha)[:, 0]


gp = DeepKernelGP()
gp(x_train[:2])
opt = keras.optimizers.Adam(1e-2)
gradwatch.watch(gp)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = gp.nll(x, y)
    grads = tape.gradient(loss, gp.trainable_variables)
    opt.apply_gradients(zip(grads, gp.trainable_variables))
    return loss


for i in range(400):
    b = rng.choice(len(x_train), 60, replace=False)
    loss = step(tf.constant(x_train[b]), tf.constant(y_train[b]))
    if (i + 1) % 50 == 0:
        print(f"{i + 1}: nll {float(loss):.3f} scale {float(tf.exp(gp.log_scale)):.3f}")

mean = gp.posterior_mean(x_train, y_train, x_test).numpy()
print("test R2", 1 - np.mean((mean - y_test) ** 2) / np.var(y_test))
