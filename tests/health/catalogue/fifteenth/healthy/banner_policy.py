"""Banner choice on a news site: a softmax policy learned from clicks by REINFORCE."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CONTEXT = 8
BANNERS = 6
BATCH = 128
STEPS = 1400
ENTROPY = 0.01


class Visitors:
    """Click probabilities depend on the visitor's profile and on the banner shown."""

    def __init__(self):
        self.taste = rng.normal(0, 1.1, (CONTEXT, BANNERS))
        self.cross = rng.normal(0, 0.8, (CONTEXT, BANNERS))

    def arrive(self, n):
        return rng.normal(size=(n, CONTEXT)).astype("float32")

    def click_rate(self, x):
        logit = x @ self.taste + np.tanh(x * np.roll(x, 1, axis=1)) @ self.cross - 1.0
        return 1.0 / (1.0 + np.exp(-logit))

    def click(self, x, banner):
        p = self.click_rate(x)[np.arange(len(x)), banner]
        return (rng.random(len(x)) < p).astype("float32")


policy = keras.Sequential(
    [
        keras.Input((CONTEXT,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(48, activation="tanh"),
        layers.Dense(BANNERS, kernel_initializer="zeros"),
    ]
)
optimizer = keras.optimizers.Adam(4e-3)
watch = gradwatch.watch(policy, optimizer)


@tf.function
def act(x):
    return tf.random.categorical(policy(x), 1)[:, 0]


@tf.function
def train_step(x, banner, advantage):
    with tf.GradientTape() as tape:
        logits = policy(x, training=True)
        log_p = tf.nn.log_softmax(logits)
        chosen = tf.gather(log_p, banner, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(log_p) * log_p, axis=1)
        loss = -tf.reduce_mean(advantage * chosen + ENTROPY * entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


site = Visitors()
baseline = 0.3
recent = []
for step in range(STEPS):
    x = site.arrive(BATCH)
    banner = act(tf.constant(x))
    reward = site.click(x, banner.numpy())
    advantage = reward - baseline
    baseline += 0.05 * (reward.mean() - baseline)
    loss = train_step(tf.constant(x), banner, tf.constant(advantage.astype("float32")))
    watch.log(loss=loss)
    recent.append(reward.mean())
    if (step + 1) % 200 == 0:
        print("step", step + 1, "click rate %.3f" % np.mean(recent[-200:]))

x = site.arrive(4000)
rate = site.click_rate(x)
greedy = policy(x).numpy().argmax(axis=1)
got = rate[np.arange(len(x)), greedy].mean()
uniform, best = rate.mean(), rate.max(axis=1).mean()
print("uniform %.3f policy %.3f best %.3f" % (uniform, got, best))
score = float((got - uniform) / (best - uniform))
print("score", score)
