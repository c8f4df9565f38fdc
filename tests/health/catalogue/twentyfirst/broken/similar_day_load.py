# "Similar day" forecast: tomorrow's peak load from the past 30 days, attention over days.
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DAYS = 20


def households(n):
    base = rng.normal(0, 0.3, (n, 1))
    weather = rng.normal(0, 1, (n, DAYS + 1, 2))
    # every site reacts in its own way to heat / cloud
    w = rng.normal(0, 1.0, (n, 1, 2))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    load = base + np.sin(1.2 * (weather * w).sum(-1) + phase) + 0.05 * rng.normal(size=(n, DAYS + 1))
    hist = np.concatenate([weather[:, :DAYS], load[:, :DAYS, None]], -1)
    return hist.astype("float32"), weather[:, DAYS].astype("float32"), load[:, DAYS].astype("float32")


hist, today, y = households(6000)
mu, sd = y[:5000].mean(), y[:5000].std()
y = (y - mu) / sd


class BahdanauAttention(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.W1 = keras.layers.Dense(units, use_bias=False)
        self.W2 = keras.layers.Dense(units)
        self.V = keras.layers.Dense(1, use_bias=False)

    def call(self, query, keys, values):
        # query (B, d), keys (B, T, d), values (B, T, v)
        h = tf.nn.relu(self.W1(query)[:, None, :] - self.W2(keys))
        score = self.V(h)
        weights = tf.nn.softmax(score, axis=-1)
        return tf.reduce_sum(weights * values, axis=1)


class LoadForecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.attn = BahdanauAttention(32)
        self.fc = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        hist, today = inputs
        ctx = self.attn(today, hist[:, :, :2], hist)
        z = tf.concat([ctx, today], -1)
        return self.out(self.fc(z))


model = LoadForecaster()
model([hist[:2], today[:2]])
opt = keras.optimizers.Adam(3e-3)
mse = keras.losses.MeanSquaredError()
gradwatch.watch(model)

ds = (
    tf.data.Dataset.from_tensor_slices((hist[:5000], today[:5000], y[:5000]))
    .shuffle(5000, seed=seed)
    .batch(128, drop_remainder=True)
)


@tf.function
def step(h, t, target):
    with tf.GradientTape() as tape:
        loss = mse(target[:, None], model([h, t], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(16):
    losses = [float(step(*batch)) for batch in ds]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

p = model.predict([hist[5000:], today[5000:]], verbose=0)[:, 0]
print(f"test R2: {1 - np.mean((p - y[5000:]) ** 2) / y[5000:].var():.3f}")
