"""Papers sold per hour at 150 kiosks: Poisson regression with a kiosk embedding, fed by a generator."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

KIOSKS, ROWS, BATCH = 150, 24000, 32
EPOCHS, BATCHES_PER_EPOCH = 32, 15

world = np.random.default_rng(SEED)
appeal = world.normal(0, 0.7, KIOSKS)
commuter = world.uniform(0, 1, KIOSKS)


def ledger(n):
    kiosk = world.integers(KIOSKS, size=n)
    hour = world.integers(6, 20, n)
    rain, strike = world.random(n), world.random(n) < 0.1
    temp = world.normal(size=n)
    rush = np.exp(-(((hour - 8) / 1.5) ** 2))
    log_rate = 1.0 + appeal[kiosk] + 1.2 * commuter[kiosk] * rush - 0.9 * rain + 0.5 * strike + 0.2 * temp
    weather = np.stack([rain, strike, temp], axis=1)
    clock = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), rush], axis=1)
    return kiosk.astype("int32"), np.hstack([weather, clock]).astype("float32"), world.poisson(np.exp(log_rate))


kiosk, extra, sold = ledger(ROWS)
sold = sold.astype("float32")
kiosk_test, extra_test, sold_test = ledger(4000)


def random_batches():
    rng = np.random.default_rng(SEED)
    while True:
        rows = rng.choice(ROWS, size=BATCH, replace=False)
        yield (kiosk[rows], extra[rows]), sold[rows]


signature = (
    (tf.TensorSpec((BATCH,), tf.int32), tf.TensorSpec((BATCH, 6), tf.float32)),
    tf.TensorSpec((BATCH,), tf.float32),
)
dataset = tf.data.Dataset.from_generator(random_batches, output_signature=signature)
dataset = dataset.take(BATCHES_PER_EPOCH).prefetch(2)


class SalesModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.place = keras.layers.Embedding(KIOSKS, 12)
        self.body = [keras.layers.Dense(64, activation="relu") for _ in range(2)]
        self.log_rate = keras.layers.Dense(1)

    def call(self, inputs):
        where, rest = inputs
        h = tf.concat([self.place(where), rest], axis=-1)
        for layer in self.body:
            h = layer(h)
        return tf.squeeze(self.log_rate(h), -1)


model = SalesModel()
model((kiosk[:2], extra[:2]))
optimizer = keras.optimizers.Adam(6e-3)
gradwatch.watch(model)

for epoch in range(EPOCHS):
    losses = []
    for inputs, count in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.log_poisson_loss(count, model(inputs)))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        losses.append(float(loss))
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: nll {np.mean(losses):.4f}")


def deviance(y, rate):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1) / rate), 0) - y + rate)


rate = np.exp(model((kiosk_test, extra_test)).numpy())
print("SCORE deviance_explained", round(float(1 - deviance(sold_test, rate) / deviance(sold_test, sold.mean())), 4))
