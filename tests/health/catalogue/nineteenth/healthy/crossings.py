# Rare near-misses at signalised crossings from (crossing, hour, weather) and detector counts.
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(52)
rng = np.random.default_rng(52)
CROSSINGS, HOURS, WEATHER = 800, 24, 5
site = rng.normal(0, 1.0, CROSSINGS) * (rng.random(CROSSINGS) < 0.4)
hour = 1.2 * np.sin(np.arange(HOURS) / 24 * 4 * np.pi)
wet = np.array([0.0, 0.3, 1.6, 0.9, 2.2])


def records(n):
    c = np.minimum(rng.zipf(1.3, n) - 1, CROSSINGS - 1)
    h, w = rng.integers(0, HOURS, n), rng.integers(0, WEATHER, n)
    f = rng.normal(size=(n, 6))
    s = site[c] + hour[h] + wet[w] + 1.6 * f[:, 0] * (f[:, 1] > 0) + 1.3 * f[:, 2]
    y = rng.random(n) < 1 / (1 + np.exp(-(2.0 * s - 11.0)))
    return c.astype("int32"), h.astype("int32"), w.astype("int32"), f.astype("float32"), y.astype("float32")


class RiskNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.site = layers.Embedding(CROSSINGS, 8)
        self.hour = layers.Embedding(HOURS, 4)
        self.weather = layers.Embedding(WEATHER, 3)
        self.h1 = layers.Dense(48, activation="relu")
        self.drop = layers.Dropout(0.3)
        self.h2 = layers.Dense(16, activation="relu")
        self.logit = layers.Dense(1, bias_initializer=tf.keras.initializers.Constant(-4.0))

    def call(self, inputs, training=False):
        c, h, w, f = inputs
        z = tf.concat([self.site(c), self.hour(h), self.weather(w), f], -1)
        z = self.drop(self.h1(z), training=training)
        return self.logit(self.h2(z))[:, 0]


def focal(y, logit, gamma=2.0, alpha=0.75):
    p = tf.sigmoid(logit)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(y, logit)
    pt = y * p + (1 - y) * (1 - p)
    return tf.reduce_mean((alpha * y + (1 - alpha) * (1 - y)) * (1 - pt) ** gamma * ce)


train, test = records(80000), records(15000)
model = RiskNet()
model([t[:2] for t in train[:4]])
opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.PolynomialDecay(4e-3, 2400, 4e-4))
gradwatch.watch(model, opt)


@tf.function
def step(c, h, w, f, y):
    with tf.GradientTape() as tape:
        loss = focal(y, model((c, h, w, f), training=True))
    v = model.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(80000).batch(128, drop_remainder=True)
for epoch in range(4):
    losses = [float(step(*b)) for b in ds]
s, y = model(test[:4]).numpy(), test[4]
rank = np.argsort(np.argsort(s)) + 1
p = y.sum()
auc = (rank[y > 0.5].sum() - p * (p + 1) / 2) / (p * (len(y) - p))
top = y[np.argsort(-s)[: int(p)]].mean()
print("loss %.5f  held-out AUC %.3f  precision at k %.3f  base rate %.3f" % (np.mean(losses), auc, top, y.mean()))
