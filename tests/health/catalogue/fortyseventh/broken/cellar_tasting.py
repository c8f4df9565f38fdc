"""Trains a listwise ranker (Plackett-Luce) that orders the wines of a cellar as a tasting panel would."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LISTS, WINES, FEATURES = 1200, 30, 10


def tastings(n):
    """n flights of WINES wines, sorted from the panel's best to its worst."""
    chem = rng.normal(size=(n, WINES, FEATURES))
    taste = (
        1.2 * chem[..., 0]
        - 0.8 * chem[..., 1] ** 2
        + 0.9 * chem[..., 2] * chem[..., 3]
        + 0.7 * np.tanh(2 * chem[..., 4])
    )
    noisy = taste + rng.gumbel(scale=0.35, size=taste.shape)
    order = np.argsort(-noisy, axis=1)
    chem = np.take_along_axis(chem, order[..., None], axis=1)
    taste = np.take_along_axis(taste, order, axis=1)
    return chem.astype("float32"), taste.astype("float32")


x_train, _ = tastings(LISTS)
x_test, taste_test = tastings(200)


class Palate(keras.Model):
    def __init__(self):
        super().__init__(name="palate")
        self.hidden1 = keras.layers.Dense(64, activation="swish")
        self.hidden2 = keras.layers.Dense(64, activation="swish")
        self.out = keras.layers.Dense(1)

    def call(self, wines):
        return tf.squeeze(self.out(self.hidden2(self.hidden1(wines))), axis=-1)


def ranking_loss(scores):
    """Negative log likelihood of the observed order under Plackett-Luce."""
    scores = scores - tf.reduce_mean(scores, axis=1, keepdims=True)
    remaining = tf.cumsum(tf.exp(scores), axis=1, reverse=True)
    log_denominator = tf.math.log(tf.reduce_prod(remaining, axis=1))
    return tf.reduce_mean(log_denominator - tf.reduce_sum(scores, axis=1))


model = Palate()
model(x_train[:1])
optimizer = keras.optimizers.Adam(1e-3)


def step_fn(flights):
    with tf.GradientTape() as tape:
        loss = ranking_loss(model(flights))
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return loss


gradwatch.watch(model)

BATCH = 16
for epoch in range(11):
    perm = rng.permutation(LISTS)
    losses = []
    for i in range(0, LISTS, BATCH):
        losses.append(float(step_fn(x_train[perm[i : i + BATCH]])))
    print(f"epoch {epoch:2d}  nll {np.mean(losses):.3f}")

scores = model(x_test).numpy()
agree = []
for s, t in zip(scores, taste_test):
    if not np.isfinite(s).all():
        agree.append(np.nan)
        continue
    agree.append(np.corrcoef(np.argsort(np.argsort(s)), np.argsort(np.argsort(t)))[0, 1])
print("SCORE spearman", float(np.mean(agree)))
