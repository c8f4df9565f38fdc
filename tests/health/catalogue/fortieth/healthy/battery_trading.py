"""Train a policy by REINFORCE to charge and discharge a battery on a noisy hourly price."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

HOURS, LEVELS, BATCH = 24, 5, 48


def day_prices(k):
    t = np.arange(HOURS + 1)
    shift = rng.uniform(-2, 2, (k, 1))
    wave = np.sin(2 * np.pi * (t - 7 - shift) / 12)
    return 1.0 + 0.6 * wave + 0.25 * rng.normal(size=(k, HOURS + 1))


def observe(prices, t, charge):
    prev = prices[:, max(t - 1, 0)]
    now = prices[:, t]
    clock = np.tile(
        [
            np.sin(2 * np.pi * t / 24),
            np.cos(2 * np.pi * t / 24),
            np.sin(4 * np.pi * t / 24),
            np.cos(4 * np.pi * t / 24),
            t / HOURS,
        ],
        (len(now), 1),
    )
    return np.concatenate([np.stack([now - 1, now - prev, charge / LEVELS - 0.5], 1), clock], 1).astype("float32")


model = keras.Sequential(
    [
        keras.Input((8,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(3, kernel_initializer=keras.initializers.RandomUniform(-0.01, 0.01)),
    ]
)
optimizer = keras.optimizers.Adam(6e-3)
gradwatch.watch(model)


@tf.function
def policy(s):
    return tf.nn.softmax(model(s))


@tf.function
def train_step(s, a, advantage):
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(model(s, training=True))
        chosen = tf.reduce_sum(logp * tf.one_hot(a, 3), axis=-1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=-1))
        loss = -tf.reduce_mean(chosen * advantage) - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def rollout(k, greedy=False):
    prices, charge = day_prices(k), np.full(k, 2)
    states, actions, rewards = [], [], []
    for t in range(HOURS):
        s = observe(prices, t, charge)
        p = policy(s).numpy()
        if greedy:
            a = p.argmax(1)
        else:
            a = (rng.random((k, 1)) > np.cumsum(p, 1)[:, :2]).sum(1)
        nxt = np.clip(charge + a - 1, 0, LEVELS)
        rewards.append(-(nxt - charge) * prices[:, t])
        charge = nxt
        states.append(s)
        actions.append(a)
    rewards[-1] = rewards[-1] + charge * 0.8
    return np.array(states), np.array(actions), np.array(rewards)


for it in range(350):
    s, a, r = rollout(BATCH)
    togo = np.cumsum(r[::-1], 0)[::-1]
    adv = togo - togo.mean(1, keepdims=True)
    adv = adv / (adv.std() + 1e-6)
    train_step(s.reshape(-1, 8), a.reshape(-1).astype("int32"), adv.reshape(-1).astype("float32"))

print("SCORE mean_profit", float(rollout(400, greedy=True)[2].sum(0).mean()))
