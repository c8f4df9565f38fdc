"""A hire of kayaks learns which of six prices to quote, from the weather and the party that asks.

Actor-critic on one-step episodes: quote, see the takings, update.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


class Jetty:
    """Guests with a hidden limit on what they pay; takings are returned as a column."""

    PRICES = np.array([10.0, 15.0, 20.0, 25.0, 30.0, 40.0])

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def guests(self, n):
        ctx = self.rng.normal(size=(n, 7)).astype("float32")
        self.limit = 24 + 9 * np.tanh(1.5 * ctx[:, 0]) + 6 * np.tanh(ctx[:, 1] * ctx[:, 2]) + 3 * ctx[:, 3]
        return ctx

    def chance(self):
        return 1 / (1 + np.exp((self.PRICES[None] - self.limit[:, None]) / 1.2))

    def quote(self, choice):
        rows = np.arange(len(choice))
        bought = self.rng.random(len(choice)) < self.chance()[rows, choice]
        takings = bought * self.PRICES[choice] / 10.0
        return takings.astype("float32").reshape(-1, 1)


class Clerk(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential(
            [keras.layers.Dense(64, activation="tanh"), keras.layers.Dense(64, activation="tanh")]
        )
        self.actor = keras.layers.Dense(len(Jetty.PRICES))
        self.critic = keras.layers.Dense(1)

    def call(self, ctx):
        h = self.body(ctx)
        return self.actor(h), tf.squeeze(self.critic(h), axis=-1)


jetty = Jetty(SEED)
clerk = Clerk()
clerk(tf.zeros((1, 7)))
opt = keras.optimizers.Adam(3e-3)
gradwatch.watch(clerk)

BATCH = 128
for step in range(700):
    ctx = jetty.guests(BATCH)
    with tf.GradientTape() as tape:
        logits, value = clerk(ctx)
        choice = tf.random.categorical(tf.stop_gradient(logits), 1)[:, 0]
        takings = jetty.quote(choice.numpy())
        logp = tf.nn.log_softmax(logits)
        chosen = tf.gather(logp, choice, axis=1, batch_dims=1)
        advantage = takings[:, 0] - value
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        actor_loss = -tf.reduce_mean(chosen * tf.stop_gradient(advantage))
        critic_loss = tf.reduce_mean(tf.square(advantage))
        loss = actor_loss + 0.5 * critic_loss - 0.01 * entropy
    grads = tape.gradient(loss, clerk.trainable_variables)
    opt.apply_gradients(zip(grads, clerk.trainable_variables))
    if step % 100 == 0:
        print(f"{step:4d} takings {takings.mean():.3f} critic {float(critic_loss):.3f} entropy {float(entropy):.3f}")

visitors = Jetty(SEED + 1000)
ctx = visitors.guests(4000)
worth = visitors.chance() * Jetty.PRICES[None]
quoted = np.argmax(clerk(ctx)[0].numpy(), axis=1)
got = worth[np.arange(len(ctx)), quoted].mean()
fixed = worth.mean(axis=0).max()
best = worth.max(axis=1).mean()
print("SCORE gain_over_fixed_price", round(float((got - fixed) / (best - fixed)), 4))
