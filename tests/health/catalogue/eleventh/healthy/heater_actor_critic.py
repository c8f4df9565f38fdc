"""Advantage actor-critic that keeps a room near its set temperature.

Sixty-four rooms are simulated side by side; rewards carry measurement noise.
"""

import os

import keras
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

ROOMS, HORIZON, GAMMA = 64, 12, 0.9

obs = keras.Input((2,))
trunk = keras.layers.Dense(48, activation="tanh")(obs)
trunk = keras.layers.Dense(48, activation="tanh")(trunk)
model = keras.Model(obs, [keras.layers.Dense(3, name="policy")(trunk), keras.layers.Dense(1, name="value")(trunk)])
gradwatch.watch(model)
opt = keras.optimizers.Adam(3e-3)


def advance(state, action):
    gap, trend = state[:, 0], state[:, 1]
    push = 0.5 * (tf.cast(action, tf.float32) - 1.0)
    trend = 0.8 * trend + 0.2 * push
    gap = gap + trend + 0.15 * push + 0.05 * tf.random.normal([ROOMS])
    reward = -tf.abs(gap) + 0.3 * tf.random.normal([ROOMS])
    return tf.stack([gap, trend], 1), reward


@tf.function
def improve():
    state = tf.concat([tf.random.uniform([ROOMS, 1], -2.0, 2.0), tf.zeros([ROOMS, 1])], 1)
    states, actions, rewards = [], [], []
    for _ in range(HORIZON):
        logits, _ = model(state)
        action = tf.random.categorical(logits, 1, dtype=tf.int32)[:, 0]
        states.append(state)
        actions.append(action)
        state, r = advance(state, action)
        rewards.append(r)
    ret = tf.squeeze(model(state)[1], -1)
    returns = []
    for r in reversed(rewards):
        ret = r + GAMMA * ret
        returns.append(ret)
    returns = tf.stop_gradient(tf.concat(returns[::-1], 0))
    s, a = tf.concat(states, 0), tf.concat(actions, 0)
    with tf.GradientTape() as tape:
        logits, v = model(s, training=True)
        v = tf.squeeze(v, -1)
        adv = tf.stop_gradient(returns - v)
        adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(a, logits)
        entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), -1)
        loss = -tf.reduce_mean(logp * adv) + 0.5 * tf.reduce_mean((returns - v) ** 2) - 0.01 * tf.reduce_mean(entropy)
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 0.5)
    opt.apply(grads, model.trainable_variables)
    return loss, tf.add_n(rewards) / HORIZON


for it in range(300):
    loss, reward = improve()
    if it % 25 == 0 or it == 299:
        print("update %3d  loss %7.4f  mean reward %7.3f" % (it, loss, tf.reduce_mean(reward)))
