"""Regress daily glacier melt from weather station and terrain variables with a small residual MLP."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 5000
temp = rng.normal(2, 5, N)
sun = rng.gamma(3, 70, N)
albedo = rng.uniform(0.2, 0.9, N)
wind = rng.gamma(2, 2, N)
slope = rng.uniform(0, 40, N)
aspect = rng.uniform(0, 2 * np.pi, N)
melt = (
    np.log1p(np.exp(temp)) * (1.5 + 0.1 * wind)
    + 0.02 * sun * (1 - albedo) * (1 + 0.4 * np.sin(np.radians(slope)) * np.cos(aspect)) * (temp > -4)
    + rng.normal(0, 0.8, N)
)
feats = np.stack([temp, sun, albedo, wind, slope, np.cos(aspect), np.sin(aspect)], 1)
feats = ((feats - feats[:4000].mean(0)) / feats[:4000].std(0)).astype("float32")
scale = melt[:4000].std()
melt = (melt / scale).astype("float32")
x_train, y_train, x_test, y_test = feats[:4000], melt[:4000], feats[4000:], melt[4000:]

inp = keras.Input((7,))
h = layers.Dense(48, activation="gelu")(inp)
for _ in range(2):
    r = layers.Dense(48, activation="gelu")(h)
    r = layers.Dense(48)(r)
    h = layers.LayerNormalization()(layers.Add()([h, r]))
model = keras.Model(inp, layers.Dense(1)(h))
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def robust_loss(obs, est, delta=1.0):
    err = obs - est
    small = tf.minimum(tf.abs(err), delta)
    return tf.reduce_mean(0.5 * small**2 + delta * (tf.abs(err) - small))


@tf.function
def train_step(x, obs):
    with tf.GradientTape() as tape:
        est = model(x, training=True)
        loss = robust_loss(obs, est)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000).batch(50)
for epoch in range(10):
    losses = [float(train_step(x, obs)) for x, obs in data]
    print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

est = model(x_test).numpy()[:, 0]
r2 = 1 - np.mean((est - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))
