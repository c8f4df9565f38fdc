"""Teaches a small policy to land a probe softly on a target height, by REINFORCE with a running baseline and an entropy bonus."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, T = 64, 20

model = keras.Sequential(
    [
        keras.Input((3,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(3),
    ]
)
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


def reset(n):
    return np.stack([rng.uniform(0.5, 1.5, n), rng.uniform(-0.2, 0.2, n)], 1)


def observe(s, t):
    return np.column_stack([s, np.full(len(s), t / T)]).astype("float32")


def move(s, a):
    v = s[:, 1] + 0.06 * (a - 1) - 0.01 + rng.normal(0, 0.005, len(s))
    return np.stack([s[:, 0] + v, v], 1)


def cost(s):
    return np.minimum(np.abs(s[:, 0]), 3.0) + 0.3 * np.abs(s[:, 1])


@tf.function
def policy(o):
    return model(o, training=False)


@tf.function
def train_step(o, a, adv):
    with tf.GradientTape() as tape:
        logp_all = tf.nn.log_softmax(model(o, training=True))
        logp = tf.reduce_sum(logp_all * tf.one_hot(a, 3), axis=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=1))
        loss = -tf.reduce_mean(logp * adv) - 0.005 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def rollout(n, greedy=False):
    s, obs, acts, rews = reset(n), [], [], []
    for t in range(T):
        o = observe(s, t)
        logits = policy(tf.constant(o)).numpy()
        a = logits.argmax(1) if greedy else (logits + rng.gumbel(size=logits.shape)).argmax(1)
        s = move(s, a)
        obs.append(o), acts.append(a), rews.append(-cost(s))
    return np.array(obs), np.array(acts), np.array(rews)


baseline = np.zeros(T)
for it in range(300):
    obs, acts, rews = rollout(N)
    ret = np.cumsum(rews[::-1], 0)[::-1]
    baseline = ret.mean(1) if it == 0 else 0.8 * baseline + 0.2 * ret.mean(1)
    adv = (ret - baseline[:, None]) / 5.0
    loss = train_step(
        tf.constant(obs.reshape(-1, 3)),
        tf.constant(acts.reshape(-1).astype("int32")),
        tf.constant(adv.reshape(-1).astype("float32")),
    )
    if it % 60 == 59:
        print("iteration", it + 1, "return", round(float(rews.sum(0).mean()), 3), "loss", round(float(loss), 4))

print("SCORE mean_return", round(float(rollout(256, greedy=True)[2].sum(0).mean()), 3))
