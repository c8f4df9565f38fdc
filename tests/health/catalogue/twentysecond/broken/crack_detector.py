"""Cracks in concrete: tells patches with a crack from sound ones."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
P = 24


def patch(crack):
    img = rng.normal(0.55, 0.06, (P, P)) + 0.1 * rng.normal() * np.linspace(-1, 1, P)[:, None]
    for _ in range(rng.integers(2, 6)):  # gravel
        y, x = rng.integers(0, P - 2, 2)
        img[y : y + 2, x : x + 2] -= rng.uniform(0.1, 0.3)
    if crack:
        pos, flip = rng.uniform(5, P - 5), rng.random() < 0.5
        for i in range(P):
            pos = np.clip(pos + rng.normal(0, 0.7), 1, P - 2)
            c = int(pos)
            if flip:
                img[c, i] -= 0.25
            else:
                img[i, c] -= 0.25
    return img


has_crack = rng.integers(0, 2, 2000)
x = np.array([patch(c) for c in has_crack], "float32")[..., None]
y = has_crack.astype("float32")[:, None]
x_tr, y_tr, x_te, y_te = x[:1600], y[:1600], x[1600:], y[1600:]
m, s = x_tr.mean(), x_tr.std()
x_tr, x_te = (x_tr - m) / s, (x_te - m) / s


def conv(filters, name):
    return keras.layers.Conv2D(
        filters, 3, padding="same", activation="relu", name=name, bias_initializer=keras.initializers.Constant(-2.0)
    )


class CrackNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.c1 = conv(12, "c1")
        self.c2 = conv(16, "c2")
        self.c3 = conv(24, "c3")
        self.pool = keras.layers.MaxPooling2D()
        self.flat = keras.layers.GlobalMaxPooling2D()
        self.out = keras.layers.Dense(1, name="logit")

    def call(self, t):
        t = self.pool(self.c1(t))
        t = self.pool(self.c2(t))
        return self.out(self.flat(self.c3(t)))


model = CrackNet()
model(x_tr[:1])
opt = keras.optimizers.Adam(1e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = bce(b, model(a, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


for epoch in range(10):
    order = rng.permutation(len(x_tr))
    losses = []
    for i in range(0, len(order), 50):
        idx = order[i : i + 50]
        losses.append(float(step(x_tr[idx], y_tr[idx])))
    print(f"epoch {epoch}: {np.mean(losses):.4f}")
pred = model.predict(x_te, verbose=0) > 0
print(f"test accuracy {np.mean(pred == (y_te > 0.5)):.3f}")
