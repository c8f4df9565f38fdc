import os
from functools import partial

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


def euclidean(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1) + 1e-8)


def contrastive_loss(same, dist, margin=1.0):
    pull = same * dist
    push = (1.0 - same) * tf.square(tf.maximum(margin - dist, 0.0))
    return tf.reduce_mean(pull + push)


def build_tower(dim=16):
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(16, 3, activation="relu", name="conv_a"),
            keras.layers.Conv2D(32, 3, activation="relu", name="conv_b"),
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu", name="fc"),
            keras.layers.Dense(dim, name="embedding"),
        ],
        name="tower",
    )


class PairSampler:
    def __init__(self, x, y, seed):
        self.x, self.y = x, y
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(y == c) for c in range(10)]

    def batch(self, n):
        left = self.rng.integers(0, len(self.x), n)
        same = (self.rng.random(n) < 0.5).astype("float32")
        right = np.empty(n, dtype=int)
        for i in range(n):
            c = self.y[left[i]]
            if same[i] < 0.5:
                c = (c + self.rng.integers(1, 10)) % 10
            right[i] = self.rng.choice(self.by_class[c])
        return self.x[left], self.x[right], same


class Trainer:
    def __init__(self, tower, optimizer, loss_fn):
        self.tower = tower
        self.optimizer = optimizer
        self.loss_fn = loss_fn

    @tf.function
    def step(self, a, b, same):
        with tf.GradientTape() as tape:
            za = self.tower(a, training=True)
            zb = self.tower(b, training=True)
            loss = self.loss_fn(same, euclidean(za, zb))
        grads = tape.gradient(loss, self.tower.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.tower.trainable_variables))
        return loss


def nearest_accuracy(tower, x_ref, y_ref, x, y):
    ref = tower.predict(x_ref, verbose=0)
    q = tower.predict(x, verbose=0)
    if not np.isfinite(q).all():
        return 0.0
    d = ((q[:, None] - ref[None]) ** 2).sum(-1)
    return float((y_ref[d.argmin(1)] == y).mean())


def main():
    images, labels = load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
    x_train, y_train, x_test, y_test = images[:1400], labels[:1400], images[1400:], labels[1400:]
    tower = build_tower()
    trainer = Trainer(tower, keras.optimizers.Adam(1e-3), partial(contrastive_loss, margin=1.5))
    watch = gradwatch.watch(tower)
    sampler = PairSampler(x_train, y_train, SEED)
    for step in range(300):
        a, b, same = map(tf.constant, sampler.batch(64))
        loss = trainer.step(a, b, same)
        watch.log(loss=loss)
        if step % 100 == 0:
            print("step", step, "loss", float(loss))
    print("SCORE", nearest_accuracy(tower, x_train, y_train, x_test, y_test))


if __name__ == "__main__":
    main()
