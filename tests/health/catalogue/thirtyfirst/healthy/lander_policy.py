"""Train a stochastic policy by REINFORCE to set a small probe down softly under random gusts."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PROBES, HORIZON, ACTIONS = 16, 25, 3
thrust = np.array([0.0, 1.0, 2.0])


def fly(policy, n, greedy=False):
    """Fly n probes together; reward is paid for keeping to a gentle descent."""
    h, v = rng.uniform(8, 12, n), rng.normal(0, 0.5, n)
    obs, act, rew = [], [], []
    for t in range(HORIZON):
        o = np.stack([h / 10, v, np.full(n, t / HORIZON)], 1).astype("float32")
        p = policy(tf.constant(o)).numpy()
        z = p if greedy else p + rng.gumbel(size=p.shape)
        a = z.argmax(1)
        v = v + 0.4 * (thrust[a] - 1.0) + rng.normal(0, 0.12, n)
        h = h + 0.3 * v
        target = -0.15 * h
        obs.append(o), act.append(a), rew.append(-np.abs(v - target))
    return np.stack(obs), np.stack(act), np.stack(rew)


model = keras.Sequential(
    [
        layers.Input((3,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(ACTIONS, kernel_initializer="zeros"),
    ]
)
optimizer = keras.optimizers.Adam(1e-2)
policy = tf.function(lambda o: model(o), reduce_retracing=True)
gradwatch.watch(model)


@tf.function
def train_step(obs, act, adv):
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(model(obs, training=True))
        chosen = tf.gather(logp, act, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        loss = -tf.reduce_mean(chosen * adv) - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


before = fly(policy, 400, greedy=True)[2].sum(0).mean()
for it in range(400):
    obs, act, rew = fly(policy, PROBES)
    ret = np.zeros_like(rew)
    run = np.zeros(PROBES)
    for t in reversed(range(HORIZON)):
        run = rew[t] + 0.9 * run
        ret[t] = run
    adv = ret - ret.mean(axis=1, keepdims=True)
    adv = adv / (adv.std() + 1e-6)
    loss = train_step(obs.reshape(-1, 3), act.reshape(-1).astype("int32"), adv.reshape(-1).astype("float32"))
    if it % 100 == 99:
        print(f"iteration {it + 1} return {rew.sum(0).mean():.2f}")

print("return before training", round(float(before), 2))
print("SCORE mean_return", round(float(fly(policy, 400, greedy=True)[2].sum(0).mean()), 3))
