"""Organic carbon of soil samples from raw reflectance counts of a spectrometer."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANDS, N, BATCH, EPOCHS = 48, 2400, 40, 8

wave = np.linspace(0, 1, BANDS)
carbon = rng.gamma(3.0, 0.6, N)
clay = rng.uniform(0, 1, N)
moisture = rng.uniform(0, 1, N)
counts = 2600 + 700 * wave - 160 * clay[:, None] * np.exp(-((wave - 0.7) ** 2) / 0.01)
counts = counts - 60 * carbon[:, None] * np.exp(-((wave - 0.35) ** 2) / 0.02)
counts = counts - 200 * moisture[:, None] * np.exp(-((wave - 0.9) ** 2) / 0.02)
counts = (counts + rng.normal(0, 12, (N, BANDS))).astype("float32")
target = ((carbon - carbon.mean()) / carbon.std()).astype("float32")[:, None]

x_train, y_train, x_test, y_test = counts[:2000], target[:2000], counts[2000:], target[2000:]


class SpectraNet(keras.Model):
    def __init__(self):
        super().__init__(name="spectra_net")
        self.blocks = []
        for width in (64, 64, 32):
            self.blocks.append((layers.BatchNormalization(momentum=0.9), layers.Dense(width, activation="relu")))
        self.parts = [p for pair in self.blocks for p in pair]
        self.out = layers.Dense(1)

    def call(self, x, training=None):
        for norm, dense in self.blocks:
            x = dense(norm(x, training=training))
        return self.out(x)


net = SpectraNet()
net.build((None, BANDS))
loss_fn = keras.losses.Huber()
optimizer = keras.optimizers.Adam(2e-3)
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=SEED).batch(BATCH)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = net(x)
        loss = loss_fn(y, pred)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


gradwatch.watch(net)
for epoch in range(EPOCHS):
    losses = [float(train_step(xb, yb)) for xb, yb in train]
    pred = net(x_test, training=False).numpy()
    r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
    print(f"epoch {epoch} loss {np.mean(losses):.4f} last {losses[-1]:.4f} test R2 {r2:.3f}")
