import numpy as np
import tensorflow as tf
from keras import Model, layers, optimizers, utils

import gradwatch

utils.set_random_seed(77)
H = 24
g = np.random.default_rng(77)


def make(n):
    hour = np.arange(7 * H + H)
    amp = g.uniform(0.5, 2.0, (n, 1))
    phase = g.uniform(0, 24, (n, 1))
    weekly = g.uniform(0, 0.7, (n, 1))
    s = amp * np.sin(2 * np.pi * (hour + phase) / 24) + 0.5 * amp * np.sin(4 * np.pi * (hour + phase) / 24 + 1)
    s = s + weekly * np.sin(2 * np.pi * hour / 168) + g.normal(0, 0.15, s.shape)
    level = g.normal(0, 1.0, (n, 1))
    s = (s + level).astype("float32")
    return s[:, :-H, None], s[:, -H:]


x_tr, y_tr = make(3600)
x_te, y_te = make(500)

inp = layers.Input((7 * H, 1))
z = layers.Conv1D(32, 8, strides=4, activation="relu", padding="same")(inp)
z = layers.Conv1D(48, 7, strides=3, activation="relu", padding="same")(z)
z = layers.Conv1D(64, 14, activation="relu")(z)
z = layers.Dropout(0.05)(z)
z = layers.Dense(64, activation="relu")(z)
out = layers.Dense(H)(z)
model = Model(inp, out)
model.summary()

opt = optimizers.Adam(1.5e-3)
gradwatch.watch(model, opt)


def pinball(y, q, tau=0.5):
    e = y - q
    return tf.maximum(tau * e, (tau - 1.0) * e)


def ramp(v):
    return v[..., 1:] - v[..., :-1]


@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        q = model(x, training=True)
        level = tf.reduce_mean(tf.square(tf.reduce_mean(q, axis=(1, 2)) - tf.reduce_mean(y, axis=1)))
        shape = tf.reduce_mean(pinball(y, q)) + 0.5 * tf.reduce_mean(pinball(ramp(y), ramp(q)))
        loss = 0.5 * level + shape
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    return loss


batch = 60
for epoch in range(16):
    order = g.permutation(len(x_tr))
    losses = [float(update(tf.constant(x_tr[i]), tf.constant(y_tr[i]))) for i in order.reshape(-1, batch)]
    print(epoch, np.mean(losses))

q = model.predict(x_te, verbose=0).reshape(-1, H)
mae = np.abs(q - y_te).mean()
naive = np.abs(x_te[:, -H:, 0] - y_te).mean()
print("loss", losses[-1], "heldout MAE", mae, "persistence", naive)
