import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(62)
PEOPLE, BEATS, LEN, LEADS = 160, 24, 60, 2


def ecg(seed, people):
    r = np.random.default_rng(seed)
    t = np.linspace(-1, 1, LEN)[None, None, :, None]
    x = np.zeros((people, BEATS, LEN, LEADS))
    for _ in range(5):
        c, w = r.uniform(-0.7, 0.7, (people, 1, 1, 1)), r.uniform(0.04, 0.15, (people, 1, 1, 1))
        a = r.normal(size=(people, 1, 1, LEADS))
        x += a * np.exp(-(((t - c - 0.02 * r.normal(size=(people, BEATS, 1, 1))) / w) ** 2))
    x += 0.25 * r.normal(size=x.shape) + 0.5 * r.normal(size=(people, BEATS, 1, LEADS))
    return x.astype("float32")


class Signature(keras.Model):
    def __init__(self, margin=0.2):
        super().__init__()
        self.margin = margin
        self.trunk = keras.Sequential(
            [
                layers.Conv1D(32, 7, strides=2, activation="relu"),
                layers.Conv1D(48, 5, strides=2, activation="relu"),
                layers.Flatten(),
                layers.Dense(96, activation="relu"),
                layers.Dense(32),
            ]
        )
        self.loss_mean = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_mean]

    def call(self, x):
        return tf.math.l2_normalize(self.trunk(x), -1, epsilon=1e-8)

    def train_step(self, batch):
        a, p, n = batch
        with tf.GradientTape() as tape:
            za, zp, zn = tf.split(self(tf.concat([a, p, n], 0), training=True), 3)
            near = tf.reduce_sum(tf.square(za - zp), -1)
            far = tf.reduce_sum(tf.square(za - zn), -1)
            loss = tf.reduce_mean(tf.nn.relu(near - far + self.margin))
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}


def triplets(x, n, seed):
    r = np.random.default_rng(seed)
    i = r.integers(0, len(x), n)
    j = (i + r.integers(1, len(x), n)) % len(x)
    b = r.integers(0, BEATS, (3, n))
    return tf.data.Dataset.from_tensor_slices((x[i, b[0]], x[i, b[1]], x[j, b[2]])).batch(64)


def rank1(model, x):
    z = model.predict(x.reshape(-1, LEN, LEADS), verbose=0)
    who = np.repeat(np.arange(len(x)), BEATS)
    s = z @ z.T
    np.fill_diagonal(s, -9)
    return np.mean(who[s.argmax(1)] == who)


train, test = ecg(1, PEOPLE), ecg(2, 60)
model = Signature()
model.compile(optimizer=keras.optimizers.SGD(0.3, momentum=0.9))
gradwatch.watch(model)
model.build((None, LEN, LEADS))
print("before", rank1(model, test))
h = model.fit(triplets(train, 16000, 5), epochs=8, verbose=2)
print("loss %.5f held-out rank-1 %.3f" % (h.history["loss"][-1], rank1(model, test)))
