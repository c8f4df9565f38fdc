"""Which actions happen in a clip of a basketball player's tracker (several may)."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
ACTIONS, T, CH = 7, 24, 8
SIG = rng.normal(0, 1.0, (ACTIONS, 4, CH)).astype("float32")


def clips(n):
    y = (rng.random((n, ACTIONS)) < 0.4).astype("float32")
    x = rng.normal(0, 0.6, (n, T, CH)).astype("float32")
    for i in range(n):
        for a in np.flatnonzero(y[i]):
            s = rng.integers(0, T - 4)
            x[i, s : s + 4] += SIG[a]
    return x, y


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv1D(32, 4, activation="gelu")
        self.gru = layers.Bidirectional(layers.GRU(24, return_sequences=True))
        self.pool = layers.GlobalMaxPooling1D()
        self.head = layers.Dense(ACTIONS)

    def call(self, x):
        h = self.pool(self.gru(self.conv(x)))
        return tf.nn.softmax(self.head(h))


def log_loss(y, p):
    p = tf.clip_by_value(p, 1e-6, 1 - 1e-6)
    return -tf.reduce_mean(y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))


def f1(y, p):
    tp = (y * p).sum()
    return 2 * tp / max(y.sum() + p.sum(), 1)


x, y = clips(3000)
xv, yv = clips(800)
model = Tagger()
model(x[:2])
opt = keras.optimizers.AdamW(3e-3, weight_decay=1e-4)
gradwatch.watch(model, opt)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = log_loss(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_weights)
    opt.apply_gradients(zip(grads, model.trainable_weights))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3000, seed=2).batch(50)
for epoch in range(7):
    mean = np.mean([train_step(a, b).numpy() for a, b in data])
p = model.predict(xv, verbose=0)
print(f"loss {mean:.4f}  held-out F1 {f1(yv, (p > 0.5).astype('float32')):.3f}")
