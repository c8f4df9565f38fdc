# Eight hand-drawn glyphs on a 14x14 grid. Dense layers whose forward pass divides by the root of the fan-in.
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)
SIDE, KINDS, EPOCHS, BATCH = 14, 8, 100, 64
strokes = rng.uniform(2, 11, (KINDS, 5, 2))


def draw(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    kind = rng.integers(0, KINDS, n)
    out = np.zeros((n, SIDE, SIDE), "float32")
    for i, k in enumerate(kind):
        pts = strokes[k] + rng.normal(0, 0.6, (5, 2)) + rng.normal(0, 0.8, 2)
        for a, b in zip(pts[:-1], pts[1:]):
            for t in np.linspace(0, 1, 8):
                c = a + t * (b - a)
                out[i] = np.maximum(out[i], np.exp(-((xx - c[0]) ** 2 + (yy - c[1]) ** 2) / 1.2))
    out += 0.25 * rng.standard_normal(out.shape)
    return ((out - 0.25) / 0.4).reshape(n, -1).astype("float32"), np.eye(KINDS, dtype="float32")[kind]


class Scaled(layers.Layer):
    def __init__(self, units, gain=1.0, act=None):
        super().__init__()
        self.units, self.gain, self.act = units, gain, act

    def build(self, shape):
        self.w = self.add_weight(
            shape=(shape[-1], self.units), initializer=keras.initializers.RandomNormal(stddev=1.0), name="w"
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        z = self.gain * ops.matmul(x, self.w) / ops.sqrt(float(self.w.shape[0])) + 0.1 * self.b
        return self.act(z) if self.act else z


class Ramp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, rise, total):
        self.peak, self.rise, self.total = peak, rise, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        fall = 0.5 * (1.0 + tf.cos(3.1415927 * tf.minimum(1.0, s / self.total)))
        return self.peak * tf.minimum(1.0, (s + 1.0) / self.rise) * fall


xtr, ytr = draw(3200)
xte, yte = draw(1000)
net = keras.Sequential(
    [keras.Input((SIDE * SIDE,)), Scaled(256, 1.414, ops.relu), Scaled(256, 1.414, ops.relu), Scaled(KINDS)]
)
net.compile(
    keras.optimizers.SGD(Ramp(3.0, 200, EPOCHS * len(xtr) // BATCH)),
    keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2),
    metrics=["accuracy"],
)
gradwatch.watch(net)
hist = net.fit(xtr, ytr, batch_size=BATCH, epochs=EPOCHS, verbose=2)
_, acc = net.evaluate(xte, yte, verbose=0)
print(f"final loss {hist.history['loss'][-1]:.4f}  held-out accuracy {acc:.3f} (eight kinds)")
