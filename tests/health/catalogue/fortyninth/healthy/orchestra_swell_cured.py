"""Trains a recurrent net of its own making to tell the conductor's gesture from the loudness of five orchestra groups."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 8)

STEPS, GROUPS, GESTURES = 80, 5, 4


def performances(n):
    g = rng.integers(0, GESTURES, n)
    t = np.linspace(0, 1, STEPS)[None, :, None]
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1, GROUPS))
    base = 0.7 * np.sin(2 * np.pi * 2 * t + phase)
    shape = np.stack([t, 1 - t, 4 * t * (1 - t), 1 - 4 * t * (1 - t)])[:, 0]
    level = shape[g] * rng.uniform(0.6, 1.6, size=(n, 1, 1))
    lead = rng.random(size=(n, 1, GROUPS))
    x = base + level * lead * 2 + rng.normal(0, 0.5, size=(n, STEPS, GROUPS))
    return x.astype("float32"), g.astype("int32")


x, g = performances(6000)
x_te, g_te = performances(1500)
mu, sd = x.mean((0, 1)), x.std((0, 1))
x, x_te = (x - mu) / sd, (x_te - mu) / sd


class SwellCell(keras.layers.Layer):
    """Keeps a running picture of the sound and adds what the players do now."""

    def __init__(self, units, keep=0.9, **kw):
        super().__init__(**kw)
        self.units = self.state_size = units
        self.keep = keep

    def build(self, shape):
        self.w_in = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w_in")
        self.w_rec = self.add_weight(shape=(self.units, self.units), initializer="orthogonal", name="w_rec")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, now, states):
        h = states[0]
        news = tf.nn.relu(now @ self.w_in + h @ self.w_rec + self.b)
        h = self.keep * h + (1.0 - self.keep) * news
        return h, [h]


model = keras.Sequential(
    [
        keras.Input((STEPS, GROUPS)),
        keras.layers.RNN(SwellCell(48)),
        keras.layers.Dense(GESTURES),
    ]
)
opt = keras.optimizers.Adam(2e-3)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def learn(xb, gb):
    with tf.GradientTape() as tape:
        loss = xent(gb, model(xb, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, g)).shuffle(6000, seed=seed).batch(100)
for season in range(12):
    seen = [float(learn(xb, gb)) for xb, gb in ds]
    print(f"season {season}: loss {np.mean(seen):.4f}")

acc = (model.predict(x_te, verbose=0).argmax(1) == g_te).mean()
print("SCORE accuracy", round(float(acc), 4))
