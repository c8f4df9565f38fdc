"""Trains the pricing policy of a drinks kiosk by REINFORCE with a learned baseline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


PRICES = np.linspace(1.0, 4.0, 7)


def morning(n):
    """Context: heat, rain, weekend, hour."""
    return np.stack(
        [rng.normal(size=n), rng.uniform(size=n) < 0.3, rng.uniform(size=n) < 0.28, rng.uniform(-1, 1, n)], 1
    ).astype("float32")


def willing(ctx):
    return 2.0 + 0.7 * ctx[:, 0] - 0.8 * ctx[:, 1] + 0.5 * ctx[:, 2] + 0.3 * ctx[:, 3]


def sold_chance(ctx, price):
    return 1 / (1 + np.exp(-3.0 * (willing(ctx) - price)))


def takings(ctx, act):
    price = PRICES[act]
    return (price * (rng.uniform(size=len(ctx)) < sold_chance(ctx, price))).astype("float32")


inp = keras.Input((4,))
h = layers.Dense(32, activation="tanh")(inp)
h = layers.Dense(32, activation="tanh")(h)
model = keras.Model(
    inp,
    [layers.Dense(len(PRICES), kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))(h), layers.Dense(1)(h)],
)
opt = keras.optimizers.Adam(2e-3)

gradwatch.watch(model)


@tf.function
def act(ctx):
    return tf.random.categorical(model(ctx)[0], 1)[:, 0]


@tf.function
def step(ctx, a, r):
    with tf.GradientTape() as tape:
        logits, base = model(ctx, training=True)
        base = base[:, 0]
        logp = tf.nn.log_softmax(logits)
        picked = tf.gather(logp, a, axis=1, batch_dims=1)
        adv = tf.stop_gradient(r - base)
        policy = -tf.reduce_mean(adv * picked)
        value = tf.reduce_mean(tf.square(r - base))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
        loss = policy + 0.5 * value - 0.005 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for it in range(1200):
    ctx = morning(64)
    a = act(ctx)
    loss = step(ctx, a, takings(ctx, a.numpy()))

ctx = morning(4000)
greedy = PRICES[model.predict(ctx, verbose=0)[0].argmax(1)]
best = np.max([p * sold_chance(ctx, p) for p in PRICES], axis=0)
print("SCORE share_of_best_takings", float(np.sum(greedy * sold_chance(ctx, greedy)) / np.sum(best)))
