import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(21)
CHANNELS = ["hr", "sbp", "dbp", "spo2", "rr", "temp", "lactate", "crp"]
HOURS, C = 24, len(CHANNELS)
ORDERED = np.array([1, 1, 1, 1, 1, 0.9, 0.09, 0.12])


def stays(n, rng):
    t = np.arange(HOURS)[None, :, None] / HOURS
    z = rng.normal(size=(n, 1, 4))
    mix = np.random.default_rng(0).normal(size=(4, C))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    full = (z @ mix) * (0.5 + t) + 0.6 * np.sin(2 * np.pi * t * 2 + phase) * mix[0]
    full = full / 1.8 + 0.1 * rng.normal(size=full.shape)
    ordered = rng.random((n, 1, C)) < ORDERED
    seen = (rng.random((n, HOURS, C)) < 0.6) & ordered
    return full.astype("float32"), seen.astype("float32")


class Imputer(keras.Model):
    def __init__(self, units=48):
        super().__init__()
        self.enc = layers.Bidirectional(layers.GRU(units, return_sequences=True))
        self.mid = layers.Dense(64, activation="elu")
        self.out = layers.Dense(C)
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, inputs):
        values, seen = inputs
        h = self.enc(tf.concat([values * seen, seen], -1))
        return self.out(self.mid(h))

    def train_step(self, data):
        values, seen = data
        hide = tf.cast(tf.random.uniform(tf.shape(seen)) < 0.3, tf.float32)
        visible, target = seen * (1 - hide), seen * hide
        with tf.GradientTape() as tape:
            pred = self((values, visible), training=True)
            err = tf.square(pred - values) * target
            per_channel = tf.reduce_sum(err, axis=[0, 1]) / tf.reduce_sum(target, axis=[0, 1])
            loss = tf.reduce_mean(per_channel)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


rng = np.random.default_rng(8)
x, m = stays(3200, rng)
xt, mt = stays(600, rng)
train = tf.data.Dataset.from_tensor_slices((x, m)).shuffle(3200, seed=2).batch(32, drop_remainder=True)

model = Imputer()
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
h = model.fit(train, epochs=9, verbose=2)

rec = model((xt, mt)).numpy()
gap = 1 - mt
mse = ((rec - xt) ** 2 * gap).sum() / gap.sum()
print("loss", h.history["loss"][-1], "held-out imputation R2", 1 - mse / xt.var())
