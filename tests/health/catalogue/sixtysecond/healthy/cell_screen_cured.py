import os
from functools import partial

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIDE = 16


def draw_cells(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    x = rng.normal(0, 0.25, (n, SIDE, SIDE, 1)).astype("float32")
    y = rng.integers(0, 4, n).astype("int32")
    for i in range(n):
        cy, cx = rng.uniform(5, 11, 2)
        a, b = [(4.5, 4.5), (5, 2.2), (2.2, 5), (4.5, 4.5)][y[i]]
        r = ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2
        x[i, ..., 0] += ((r < 1) & (r > 0.4)) if y[i] == 3 else (r < 1)
    return x, y


conv = partial(keras.layers.Conv2D, kernel_size=3, padding="same", activation="relu")


def build_encoder():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            conv(12, strides=2, name="conv_1"),
            conv(24, strides=2, name="conv_2"),
            keras.layers.GlobalAveragePooling2D(),
        ],
        name="encoder",
    )


def build_head():
    return keras.Sequential(
        [
            keras.Input((24,)),
            keras.layers.Dense(32, activation="relu", name="head_1"),
            keras.layers.Dense(4, name="head_logits"),
        ],
        name="head",
    )


def make_optimizers(lr, steps_per_epoch):
    schedule = partial(keras.optimizers.schedules.ExponentialDecay, decay_steps=2 * steps_per_epoch, decay_rate=0.8)
    return {
        "encoder": keras.optimizers.Adam(schedule(lr)),
        "head": keras.optimizers.Adam(schedule(lr)),
    }


class Trainer:
    def __init__(self, parts, optimizers):
        self.parts, self.optimizers = parts, optimizers
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.parts["head"](self.parts["encoder"](x, training=True), training=True)
            loss = self.loss_fn(y, logits)
        groups = {k: m.trainable_variables for k, m in self.parts.items()}
        grads = tape.gradient(loss, groups)
        for key, opt in self.optimizers.items():
            opt.apply_gradients(zip(grads[key], groups[key]))
        return loss

    def predict(self, x):
        return self.parts["head"](self.parts["encoder"](x)).numpy().argmax(1)


def main():
    (x, y), (xt, yt) = draw_cells(2000, 1), draw_cells(500, 2)
    batch = 40
    parts = {"encoder": build_encoder(), "head": build_head()}
    trainer = Trainer(parts, make_optimizers(4e-3, len(x) // batch))
    watch = gradwatch.watch(parts["encoder"], parts["head"])
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000, seed=SEED).batch(batch)
    for epoch in range(8):
        for xb, yb in ds:
            loss = trainer.train_step(xb, yb)
            watch.log(loss=loss)
        print("epoch", epoch, "loss", float(loss))
    print("SCORE", float((trainer.predict(xt) == yt).mean()))


if __name__ == "__main__":
    main()
