"""Choose which of six banners to show a visitor, learning from clicks alone.

Policy gradient on a logged-in visitor's profile; every step shows one banner to each of 128
visitors and sees the clicks. The measure is the click rate of the greedy policy.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANNERS, PROFILE, VISITORS, STEPS = 6, 10, 128, 1000


class Site:
    """Visitors arrive with a profile; each banner appeals to one direction of it."""

    def __init__(self):
        self.appeal = rng.normal(0, 1, (PROFILE, BANNERS))

    def visitors(self, n):
        return rng.normal(0, 1, (n, PROFILE)).astype("float32")

    def click_rate(self, profile):
        z = profile @ self.appeal
        return 1 / (1 + np.exp(-(1.5 * z - 3.0)))

    def show(self, profile, banner):
        p = self.click_rate(profile)[np.arange(len(banner)), banner]
        return (rng.random(len(banner)) < p).astype("float32")


policy = keras.Sequential(
    [
        keras.Input((PROFILE,)),
        layers.Dense(48, activation="tanh", name="profile"),
        layers.Dense(48, activation="tanh", name="mixing"),
        layers.Dense(BANNERS, name="banner_logits"),
    ],
    name="policy",
)
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(policy)
site = Site()


def draw(logits):
    """Draws a banner for each visitor."""
    return tf.random.categorical(logits, 1)[:, 0]


@tf.function
def improve(profile, banner, advantage):
    with tf.GradientTape() as tape:
        logits = policy(profile, training=True)
        banner = draw(logits)
        logp = tf.nn.log_softmax(logits)
        taken = tf.gather(logp, banner, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        loss = -tf.reduce_mean(taken * advantage) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


baseline = 0.2
for step in range(STEPS):
    profile = site.visitors(VISITORS)
    banner = draw(policy(tf.constant(profile)))
    click = site.show(profile, banner.numpy())
    advantage = click - baseline
    baseline += 0.05 * (click.mean() - baseline)
    loss = improve(tf.constant(profile), banner, tf.constant(advantage.astype("float32")))
    watch.log(loss=loss)
    if step % 200 == 0:
        print(f"step {step} click rate {click.mean():.3f}")

profile = site.visitors(4000)
rates = site.click_rate(profile)
greedy = policy(profile).numpy().argmax(1)
score = rates[np.arange(len(greedy)), greedy].mean()
print(f"score click_rate {score:.3f} chance {rates.mean():.3f}")
