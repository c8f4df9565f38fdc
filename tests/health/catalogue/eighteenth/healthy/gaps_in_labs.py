import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(55)
FEATURES, N = 30, 24000


def admissions(n, seed):
    r = np.random.default_rng(seed)
    w = np.random.default_rng(7)
    beta, pair = w.normal(size=FEATURES) * (w.random(FEATURES) < 0.4), w.permutation(FEATURES)[:6]
    x = r.normal(size=(n, FEATURES))
    x[:, 1::3] = x[:, 1::3] * 0.6 + x[:, 0::3] * 0.8
    score = x @ beta + 1.2 * x[:, pair[0]] * x[:, pair[1]] + 1.0 * np.abs(x[:, pair[2]])
    y = (score + 0.7 * r.normal(size=n) > 6.2).astype("float32")
    rate = w.uniform(0.0, 0.35, FEATURES)
    x[r.random(x.shape) < rate] = np.nan
    return x.astype("float32"), y


class Impute(layers.Layer):
    """Replaces an unmeasured value by a learned one and tells which were measured."""

    def build(self, shape):
        self.fill = self.add_weight(shape=(shape[-1],), initializer="zeros", name="fill")

    def call(self, x):
        gone = tf.math.is_nan(x)
        return tf.concat([tf.where(gone, self.fill, x), tf.cast(gone, x.dtype)], -1)


def auc(score, y):
    rank = np.argsort(np.argsort(score)) + 1
    p = y.sum()
    return (rank[y == 1].sum() - p * (p + 1) / 2) / (p * (len(y) - p))


x, y = admissions(N, 1)
xt, yt = admissions(8000, 2)
prior = y.mean()

inp = keras.Input((FEATURES,))
h = Impute()(inp)
for units in (128, 64):
    h = layers.Dense(units)(h)
    h = layers.BatchNormalization()(h)
    h = layers.Activation("relu")(h)
    h = layers.Dropout(0.2)(h)
out = layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior))))(
    h
)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(2e-3), loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0))
gradwatch.watch(model)
hist = model.fit(x, y, batch_size=256, epochs=12, verbose=2)
s = model.predict(xt, batch_size=1000, verbose=0)[:, 0]
print("loss %.5f held-out AUC %.3f, positives %.3f" % (hist.history["loss"][-1], auc(s, yt), yt.mean()))
