"""One network for three orchard questions: yield, ripeness day and whether a tree is ill."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_TREES, N_READINGS = 7000, 16


def orchard():
    x = rng.normal(size=(N_TREES, N_READINGS))
    hidden = np.tanh(x @ rng.normal(size=(N_READINGS, 6)) / 2.0)
    kilos = 25 + 6 * hidden[:, 0] + 5 * hidden[:, 1] * hidden[:, 2] + rng.normal(size=N_TREES)
    day = 210 + 9 * hidden[:, 3] - 6 * hidden[:, 0] * hidden[:, 4] + rng.normal(size=N_TREES)
    ill = (hidden[:, 5] + hidden[:, 1] * hidden[:, 3] > 0.2).astype("float32")
    kilos = (kilos - kilos.mean()) / kilos.std()
    day = (day - day.mean()) / day.std()
    return [v.astype("float32") for v in (x, kilos, day, ill)]


class OrchardNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential(
            [keras.layers.Dense(96, activation="relu"), keras.layers.Dense(64, activation="relu")]
        )
        self.kilos = keras.layers.Dense(1)
        self.day = keras.layers.Dense(1)
        self.ill = keras.layers.Dense(1)
        self.balance = self.add_weight(shape=(3,), initializer="ones", name="balance")
        self.meter = keras.metrics.Mean(name="loss")

    def call(self, x, training=False):
        h = self.trunk(x, training=training)
        return self.kilos(h)[:, 0], self.day(h)[:, 0], self.ill(h)[:, 0]

    def task_losses(self, x, targets, training):
        kilos, day, ill = self(x, training=training)
        return tf.stack(
            [
                tf.reduce_mean(tf.square(kilos - targets[0])),
                tf.reduce_mean(tf.square(day - targets[1])),
                tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=targets[2], logits=ill)),
            ]
        )

    def train_step(self, data):
        x, targets = data
        with tf.GradientTape() as tape:
            tasks = self.task_losses(x, targets, training=True)
            loss = tf.reduce_sum(self.balance * tasks)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.meter.update_state(loss)
        return {"loss": self.meter.result(), "kilos": tasks[0], "day": tasks[1], "ill": tasks[2]}

    @property
    def metrics(self):
        return [self.meter]


x, kilos, day, ill = orchard()
cut = 6000
ds = tf.data.Dataset.from_tensor_slices((x[:cut], (kilos[:cut], day[:cut], ill[:cut])))
ds = ds.shuffle(cut).batch(32).prefetch(2)
net = OrchardNet()
net(x[:2])
net.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(net)
net.fit(ds, epochs=10, verbose=2)

k, d, s = [v.numpy() for v in net(x[cut:])]
r2_k = 1 - np.mean((k - kilos[cut:]) ** 2) / np.var(kilos[cut:])
r2_d = 1 - np.mean((d - day[cut:]) ** 2) / np.var(day[cut:])
acc = np.mean((s > 0) == (ill[cut:] > 0.5))
print("r2 kilos", round(float(r2_k), 3), "r2 day", round(float(r2_d), 3), "ill acc", round(float(acc), 3))
print("SCORE mean_r2", round(float((r2_k + r2_d) / 2), 4))
