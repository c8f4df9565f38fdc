"""Fits a RealNVP normalising flow to joint daily returns of four correlated assets with heavy tails and calm and stormy regimes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIM, COUPLINGS, WIDTH, BATCH, STEPS = 4, 6, 48, 128, 1000


def returns(n):
    """Two regimes; in the stormy one the assets fall together, and the fourth is an option-like function of the first."""
    storm = rng.random(n) < 0.25
    common = np.where(storm, rng.normal(-1.5, 1.2, n), rng.normal(0.2, 0.4, n))
    own = rng.standard_t(5, (n, 3)) * np.where(storm, 0.6, 0.25)[:, None]
    first = np.stack([common + own[:, 0], 0.8 * common + own[:, 1], np.where(storm, 0.7, -0.6) * common + own[:, 2]], 1)
    option = np.maximum(-first[:, 0], 0) ** 1.5 + 0.15 * rng.normal(size=n)
    return np.concatenate([first, option[:, None]], 1)


train, val, test = returns(12000), returns(1000), returns(3000)
mean, std = train.mean(0), train.std(0)
train, val, test = (((a - mean) / std).astype("float32") for a in (train, val, test))


class Coupling(layers.Layer):
    """Affine coupling: the masked half passes unchanged and sets scale and shift of the other half."""

    def __init__(self, mask, width, **kw):
        super().__init__(**kw)
        self.mask = np.asarray(mask, "float32")
        self.net = keras.Sequential(
            [
                layers.Dense(width, activation="relu"),
                layers.Dense(width, activation="relu"),
                layers.Dense(2 * DIM, kernel_initializer="zeros"),  # the flow starts as the identity
            ]
        )

    def build(self, shape):
        self.net.build(shape)
        self.built = True

    def call(self, x):
        kept = x * self.mask
        s, t = keras.ops.split(self.net(kept), 2, axis=-1)
        s = 2.0 * keras.ops.tanh(s / 2.0) * (1.0 - self.mask)
        t = t * (1.0 - self.mask)
        return x * keras.ops.exp(s) + t, keras.ops.sum(s, axis=-1)

    def invert(self, y):
        s, t = keras.ops.split(self.net(y * self.mask), 2, axis=-1)
        s = 2.0 * keras.ops.tanh(s / 2.0) * (1.0 - self.mask)
        return (y - t * (1.0 - self.mask)) * keras.ops.exp(-s)


MASKS = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
x = keras.Input((DIM,))
z, log_det = x, 0.0
couplings = [Coupling(MASKS[i % len(MASKS)], WIDTH) for i in range(COUPLINGS)]
for c in couplings:
    z, ld = c(z)
    log_det = ld + log_det
model = keras.Model(x, [z, log_det])
gradwatch.watch(model)

schedule = keras.optimizers.schedules.CosineDecay(1.5e-3, STEPS)
optimizer = keras.optimizers.Adam(schedule, global_clipnorm=10.0)


def nll(batch, training):
    z, log_det = model(batch, training=training)
    log_p = -0.5 * tf.reduce_sum(z**2, 1) - 0.5 * DIM * np.log(2 * np.pi)
    return -tf.reduce_mean(log_p + log_det)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        loss = nll(batch, True)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices(train)
    .shuffle(len(train), seed=seed)
    .repeat()
    .batch(BATCH, drop_remainder=True)
    .take(STEPS)
)
for step, batch in enumerate(data):
    loss = train_step(batch)
    if step % 200 == 199:
        print(f"step {step + 1} loss {float(loss):.4f} validation {float(nll(val, False)):.4f}")

# The flow inverts: data -> latent -> data.
back = model(test, training=False)[0]
for c in reversed(couplings):
    back = c.invert(back)
print("inversion error", float(np.abs(back - test).max()))

cov = np.cov(train.T)
dev = test - train.mean(0)
gauss = 0.5 * np.einsum("ni,ij,nj->n", dev, np.linalg.inv(cov), dev).mean()
gauss += 0.5 * (np.linalg.slogdet(cov)[1] + DIM * np.log(2 * np.pi))
print(
    "BASELINE nll_nats (standard normal)",
    round(float(0.5 * (test**2).sum(1).mean() + 0.5 * DIM * np.log(2 * np.pi)), 4),
)
print("BASELINE nll_nats (fitted normal)", round(float(gauss), 4))
print("SCORE nll_nats", round(float(nll(test, False)), 4))
