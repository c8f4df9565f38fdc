import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models, optimizers, utils

import gradwatch

utils.set_random_seed(6)
HUBS = 9
PER_HUB = 540


class HubArchive:
    """One folder of scans per hub, read in order; scan = 28 beam readings over 16 ticks."""

    def __init__(self, per_hub, seed):
        g = np.random.default_rng(seed)
        shapes = np.random.default_rng(123).normal(0, 1, (HUBS, 4, 16, 28))
        for s in (1, 2):
            shapes = shapes + np.roll(shapes, 1, axis=s + 1)
        xs, ys = [], []
        for hub in range(HUBS):
            kind = g.integers(0, 4, per_hub)
            x = 0.35 * shapes[hub, kind] + 1.1 * g.normal(size=(per_hub, 16, 28))
            xs.append(x)
            ys.append(np.full(per_hub, hub))
        self.x = np.concatenate(xs).astype("float32")
        self.y = np.concatenate(ys).astype("int32")

    def batches(self, size, window):
        ds = tf.data.Dataset.from_tensor_slices((self.x, self.y))
        return ds.shuffle(window, reshuffle_each_iteration=True).batch(size).repeat().as_numpy_iterator()


train, test = HubArchive(PER_HUB, 1), HubArchive(80, 2)

model = models.Sequential(
    [
        layers.Input((16, 28)),
        layers.Conv1D(64, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Bidirectional(layers.GRU(32)),
        layers.Dropout(0.2),
        layers.Dense(64, activation="relu"),
        layers.Dense(HUBS, activation="softmax"),
    ]
)
model.compile(optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

stream = train.batches(size=45, window=256)
running = None
for step in range(1, 541):
    xb, yb = next(stream)
    loss, acc = model.train_on_batch(xb, yb)
    if step % 54 == 0:
        print(step, "loss", float(loss), "acc", float(acc))

p = model.predict(test.x, verbose=0)
ce = -np.log(p[np.arange(len(test.y)), test.y] + 1e-9).mean()
print("loss", float(loss), "heldout ce", ce, "heldout accuracy", (p.argmax(1) == test.y).mean())
