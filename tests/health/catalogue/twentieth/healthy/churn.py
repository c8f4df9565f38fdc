import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
ITEMS = 3000
hot = np.where(rng.random(ITEMS) < 0.01)[0]


def baskets(n):
    b = rng.integers(1, ITEMS, (n, 12))
    pos = rng.random(n) < 0.03
    b[pos, rng.integers(0, 8, n)[pos]] = rng.choice(hot, pos.sum())
    b[np.arange(12)[None] >= rng.integers(8, 13, (n, 1))] = 0
    return b.astype("int32"), np.isin(b, hot).any(1).astype("float32")


x, y = baskets(40000)
xt, yt = baskets(5000)
inp = tf.keras.Input((12,), dtype="int32")
e = tf.keras.layers.Embedding(ITEMS, 8)(inp)
h = tf.keras.layers.GlobalMaxPooling1D()(e)
model = tf.keras.Model(inp, tf.keras.layers.Dense(1)(tf.keras.layers.Dense(16, activation="relu")(h)))
opt = tf.keras.optimizers.Adam(0.01)
gradwatch.watch(model, opt)


@tf.function
def step(b, t):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(t[:, None], model(b, training=True)))
    v = model.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for k in range(800):
    i = rng.integers(0, len(x), 256)
    loss = step(x[i], y[i])
s = model.predict(xt, verbose=0)[:, 0]
r = s.argsort().argsort()
p = yt.sum()
print("loss", float(loss), "held-out AUC", (r[yt > 0].sum() - p * (p - 1) / 2) / (p * (len(yt) - p)), "rate", yt.mean())
