"""Model the number of motor insurance claims per policy with embeddings and an exposure offset."""

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

n = 12000
region = rng.integers(0, 20, n)
vehicle = rng.integers(0, 12, n)
num = rng.normal(size=(n, 5)).astype("float32")
exposure = rng.uniform(0.2, 1.0, n).astype("float32")
r_eff, v_eff = rng.normal(0, 0.5, 20), rng.normal(0, 0.4, 12)
log_rate = -0.3 + r_eff[region] + v_eff[vehicle] + 0.5 * num[:, 0] - 0.4 * num[:, 1] * (num[:, 2] > 0)
claims = rng.poisson(np.exp(log_rate) * exposure).astype("float32")
cut = 10000


class FrequencyNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.region = layers.Embedding(20, 4)
        self.vehicle = layers.Embedding(12, 4)
        self.hidden = layers.Dense(48, activation="relu")
        self.hidden2 = layers.Dense(24, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs):
        r, v, z, e = inputs
        h = tf.concat([self.region(r), self.vehicle(v), z], axis=-1)
        eta = self.out(self.hidden2(self.hidden(h)))[:, 0]
        return e * tf.exp(eta)


def poisson_deviance(y, mu):
    ratio_term = tf.where(y > 0, y * tf.math.log(y / mu), 0.0)
    return 2.0 * tf.reduce_mean(ratio_term - (y - mu))


def rows(a, b):
    return tuple(t[a:b] for t in (region, vehicle, num, exposure))


model = FrequencyNet()
model(rows(0, 2))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((rows(0, cut), claims[:cut])).shuffle(cut, seed=seed).batch(100)


@tf.function
def train_step(inputs, y):
    with tf.GradientTape() as tape:
        loss = poisson_deviance(y, model(inputs, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    for inputs, y in data:
        train_step(inputs, y)

mu = model(rows(cut, n)).numpy()
y = claims[cut:]


def deviance(y, mu):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1e-9) / mu), 0) - (y - mu))


print("SCORE explained_deviance", 1 - deviance(y, mu) / deviance(y, np.full_like(y, claims[:cut].mean())))
