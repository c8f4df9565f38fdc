# Pay-how-you-drive: risk score from 30-minute trips (speed, braking, cornering), gated pooling.
import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(27)
rng = np.random.default_rng(27)
T, C = 30, 5


def trips(n):
    x = rng.normal(size=(n, T, C))
    x[..., 1] = 0.6 * x[..., 0] + 0.8 * x[..., 1]
    event = np.maximum(x[..., 0] + x[..., 2], 0) * np.tanh(x[..., 1] - x[..., 3])
    y = event.mean(1) * 3 + 0.3 * np.abs(x[..., 4]).mean(1)
    y = (y - y.mean()) / y.std()
    return x.astype("float32"), (y + 0.1 * rng.normal(size=n)).astype("float32")


class GatedUnit(tf.keras.layers.Layer):
    """value * gate, the gate being a sigmoid with temperature"""

    def __init__(self, units, temperature=0.01):
        super().__init__()
        self.units, self.temperature = units, temperature

    def build(self, shape):
        k = int(shape[-1])
        self.wv = self.add_weight(shape=(k, self.units), initializer="glorot_uniform", name="wv")
        self.wg = self.add_weight(shape=(k, self.units), initializer="glorot_uniform", name="wg")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        gate = tf.sigmoid((tf.matmul(x, self.wg) + self.b) / self.temperature)
        return tf.tanh(tf.matmul(x, self.wv) / self.temperature) * gate


def build():
    inp = tf.keras.Input((T, C))
    h = GatedUnit(8)(inp)
    h = GatedUnit(8)(h)
    h = GatedUnit(8)(h)
    h = tf.keras.layers.GlobalAveragePooling1D()(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(h))


x, y = trips(4000)
xt, yt = trips(800)
model = build()
opt = tf.keras.optimizers.Adam(3e-3)
gradwatch.watch(model, opt)


@tf.function
def step(bx, by):
    with tf.GradientTape() as tape:
        err = model(bx, training=True)[:, 0] - by
        loss = tf.reduce_mean(tf.square(err))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


for epoch in range(32):
    perm = rng.permutation(len(x))
    total = 0.0
    for i in range(0, len(x), 40):
        total += float(step(tf.constant(x[perm[i : i + 40]]), tf.constant(y[perm[i : i + 40]])))
pred = model.predict(xt, verbose=0)[:, 0]
print("loss %.4f  R2 on new drivers %.3f" % (total / 100, 1 - np.mean((pred - yt) ** 2) / yt.var()))
