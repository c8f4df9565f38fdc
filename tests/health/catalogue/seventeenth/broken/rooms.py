"""One network for three readings of an office room: occupancy, cooling power, air quality."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(13)


def rooms(n, rng):
    x = rng.standard_normal((n, 14)).astype("float32")
    busy = (x[:, 0] + 0.5 * x[:, 1] > 0).astype("float32")
    power = np.sin(1.5 * x[:, 2]) + x[:, 3] * x[:, 4] + 0.5 * np.abs(x[:, 5]) + 0.1 * rng.standard_normal(n)
    air = np.tanh(x[:, 6] * x[:, 7]) + 0.7 * np.cos(2 * x[:, 8]) + 0.4 * x[:, 9] + 0.1 * rng.standard_normal(n)
    return x, busy, power.astype("float32"), air.astype("float32")


class RoomNet(keras.Model):
    def __init__(self, width=96):
        super().__init__()
        self.trunk = keras.Sequential(
            [layers.Dense(width, activation="swish"), layers.Dense(width, activation="swish")]
        )
        self.heads = [layers.Dense(1) for _ in range(3)]
        self.mix = self.add_weight(shape=(3,), initializer="zeros", name="mix")

    def call(self, x):
        h = self.trunk(x)
        return [head(h)[:, 0] for head in self.heads]

    def parts(self, out, busy, power, air):
        return tf.stack(
            [
                tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=busy, logits=out[0])),
                tf.reduce_mean(tf.square(out[1] - power)),
                tf.reduce_mean(tf.square(out[2] - air)),
            ]
        )

    def train_step(self, data):
        x, busy, power, air = data
        with tf.GradientTape() as tape:
            each = self.parts(self(x, training=True), busy, power, air)
            loss = 3.0 * tf.reduce_sum(tf.nn.softmax(self.mix) * each)
        v = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, v), v)
        return {"loss": loss, "busy": each[0], "power": each[1], "air": each[2]}


rng = np.random.default_rng(13)
train, test = rooms(8000, rng), rooms(2000, rng)
mean_p, sd_p = train[2].mean(), train[2].std()
mean_a, sd_a = train[3].mean(), train[3].std()
scale = lambda d: (d[0], d[1], (d[2] - mean_p) / sd_p, (d[3] - mean_a) / sd_a)
train, test = scale(train), scale(test)

model = RoomNet()
model(train[0][:2])
model.compile(optimizer=keras.optimizers.SGD(0.03, momentum=0.9))
gradwatch.watch(model)
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(8000, seed=13).batch(64)
hist = model.fit(ds, epochs=50, verbose=2)

busy, power, air = [o.numpy() for o in model(test[0])]
r2 = lambda y, p: 1 - np.mean((y - p) ** 2) / np.var(y)
print(
    f"final loss {hist.history['loss'][-1]:.4f}  held-out occupancy accuracy {np.mean((busy > 0) == test[1]):.3f}"
    f"  power R2 {r2(test[2], power):.3f}  air R2 {r2(test[3], air):.3f}"
)
