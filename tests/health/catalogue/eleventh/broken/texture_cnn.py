"""Classify 24x24 grey fabric textures into eight weaves; XLA-compiled training loop."""

import os
import time

import numpy as np
import tensorflow as tf
from keras import Model, layers, losses, metrics, optimizers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

PX = 24
N_CLASS = 8
CFG = dict(batch=64, steps=300, learning_rate=0.1)


def weave_batch(rng, n):
    k = rng.integers(0, N_CLASS, n)
    g = np.arange(PX)
    u, v = np.meshgrid(g, g, indexing="ij")
    angle = (k * np.pi / N_CLASS)[:, None, None] + rng.normal(0, 0.06, (n, 1, 1))
    freq = rng.uniform(0.7, 1.1, (n, 1, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    img = np.sin(freq * (u * np.cos(angle) + v * np.sin(angle)) + phase)
    img = img + rng.normal(0, 0.6, img.shape)
    return img[..., None].astype("float32"), k.astype("int32")


class WeaveNet(Model):
    def __init__(self):
        super().__init__()
        self.c1 = layers.Conv2D(16, 5, strides=2, activation="relu", name="c1")
        self.c2 = layers.Conv2D(32, 3, activation="relu", name="c2")
        self.c3 = layers.Conv2D(32, 3, activation="relu", name="c3")
        self.flat = layers.Flatten()
        self.fc = layers.Dense(64, activation="relu", name="fc")
        self.out = layers.Dense(N_CLASS, name="out")

    def call(self, x):
        return self.out(self.fc(self.flat(self.c3(self.c2(self.c1(x))))))


model = WeaveNet()
gradwatch.watch(model)
model(np.zeros((1, PX, PX, 1), "float32"))
optimizer = optimizers.Adam(learning_rate=CFG["learning_rate"])
optimizer.build(model.trainable_variables)
criterion = losses.SparseCategoricalCrossentropy(from_logits=True)
seen = metrics.Mean()


@tf.function(jit_compile=True)
def update(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(SEED)
val_x, val_y = weave_batch(np.random.default_rng(SEED + 1), 1000)
t0 = time.time()
for it in range(CFG["steps"]):
    seen.update_state(update(*map(tf.constant, weave_batch(rng, CFG["batch"]))))
    if it % 50 == 49:
        acc = float(np.mean(np.argmax(model(val_x).numpy(), -1) == val_y))
        print(f"it {it + 1} loss {float(seen.result()):.4f} val_acc {acc:.3f} ({time.time() - t0:.1f}s)")
        seen.reset_state()
