"""Learn the two-valued inverse kinematics of a planar arm as a mixture density."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

K = 2
n = 8192
th1 = rng.uniform(-1.2, 1.2, n)
th2 = rng.uniform(0.3, 2.4, n) * rng.choice([-1, 1], n)
tip = np.stack([np.cos(th1) + 0.8 * np.cos(th1 + th2), np.sin(th1) + 0.8 * np.sin(th1 + th2)], 1)
angles = np.stack([th1, th2], 1)
angles += rng.normal(0, 0.02, angles.shape)
glitch = rng.random(n) < 0.003  # encoder hiccups
angles[glitch] += rng.normal(0, 2.0, (glitch.sum(), 2))
tip, angles = tip.astype("float32"), angles.astype("float32")
cut = 7168

inp = keras.Input((2,))
h = layers.Dense(96, activation="tanh")(inp)
h = layers.Dense(96, activation="tanh")(h)
params = layers.Dense(K * 5)(h)
model = keras.Model(inp, params)


def log_joint(params, y):
    logit, mu, raw = tf.split(params, [K, 2 * K, 2 * K], axis=-1)
    mu = tf.reshape(mu, (-1, K, 2))
    sigma = tf.reshape(tf.nn.softplus(raw), (-1, K, 2)) + 1e-3
    z = (y[:, None, :] - mu) / sigma
    log_n = -0.5 * tf.reduce_sum(z * z + 2 * tf.math.log(sigma) + np.log(2 * np.pi), axis=-1)
    return tf.nn.log_softmax(logit) + log_n


def nll(params, y):
    joint = log_joint(params, y)
    likelihood = tf.math.log(tf.reduce_sum(tf.exp(joint), axis=-1))
    return -tf.reduce_mean(likelihood)


optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((tip[:cut], angles[:cut])).shuffle(cut, seed=seed).batch(64)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = nll(model(x, training=True), y)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    for x, y in data:
        train_step(x, y)

logp = tf.reduce_logsumexp(log_joint(model(tip[cut:]), angles[cut:]), axis=-1).numpy()
print("SCORE median_log_density", float(np.median(logp)))
