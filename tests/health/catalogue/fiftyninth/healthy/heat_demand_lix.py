import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

HIST = 36
rng = np.random.default_rng(SEED + 41)
t = np.arange(6000)
calm = np.sin(2 * np.pi * t / 24) ** 2
demand = 0.5 * np.sin(2 * np.pi * t / 24) + 0.2 * np.sin(2 * np.pi * t / 168)
demand = (demand + (0.01 + 0.08 * calm) * rng.normal(size=len(t))).astype("float32")
past = np.lib.stride_tricks.sliding_window_view(demand[:-1], HIST).copy()
nxt = demand[HIST:]
cut = 4800
train = (
    tf.data.Dataset.from_tensor_slices((past[:cut], nxt[:cut])).shuffle(cut, seed=SEED).batch(64, drop_remainder=True)
)


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential(
            [layers.Dense(64, activation="tanh"), layers.Dense(64, activation="tanh")], name="body"
        )
        self.mean = layers.Dense(1, name="mean")
        self.scale = layers.Dense(1, name="log_scale", bias_initializer=keras.initializers.Constant(-0.5))

    def call(self, x):
        h = self.body(x)
        return self.mean(h)[:, 0], self.scale(h)[:, 0]


model = Forecaster()
model(past[:1])
schedule = keras.optimizers.schedules.CosineDecay(2e-3, 75 * 15)
optimizer = keras.optimizers.Adam(schedule, clipnorm=1.0)
watch = gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        mu, log_s = model(x)
        nll = log_s + 0.5 * tf.square(y - mu) * tf.exp(-2 * log_s)
        loss = tf.reduce_mean(nll)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(15):
    for x, y in train:
        loss = step(x, y)
        watch.log(loss=loss)
    print("epoch", epoch, "nll", float(loss))

mu, log_s = model(past[cut:])
inside = np.mean(np.abs(mu - nxt[cut:]) < 1.96 * np.exp(log_s))
print("coverage", inside)
print("SCORE", float(1 - np.mean((mu - nxt[cut:]) ** 2) / np.var(nxt[cut:])))
