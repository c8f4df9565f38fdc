"""Actor-critic (GAE, vectorised environments) that learns to keep a rod upright on a moving cart."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ENVS, HORIZON, UPDATES, GAMMA, LAM = 16, 32, 350, 0.98, 0.95


def fresh(n):
    return rng.uniform(-0.05, 0.05, (n, 4))


def physics(s, a):
    x, v, th, w = s.T
    force = np.where(a == 1, 10.0, -10.0)
    tmp = (force + 0.05 * w**2 * np.sin(th)) / 1.1
    acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
    xa = tmp - 0.05 * acc * np.cos(th) / 1.1
    s = np.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * w, w + 0.02 * acc], 1)
    fell = (np.abs(s[:, 0]) > 2.4) | (np.abs(s[:, 2]) > 0.21)
    return s, fell


inp = keras.Input((4,))
h = layers.Dense(64, activation="tanh")(inp)
h = layers.Dense(64, activation="tanh")(h)
model = keras.Model(inp, [layers.Dense(2)(h), layers.Dense(1)(h)])
opt = keras.optimizers.Adam(2e-3, clipnorm=1.0)
gradwatch.watch(model)
forward = tf.function(lambda s: model(s, training=False))


@tf.function
def train_step(obs, act, adv, ret):
    with tf.GradientTape() as tape:
        logits, value = model(obs, training=True)
        logp = tf.nn.log_softmax(logits)
        chosen = tf.gather(logp, act, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, 1))
        loss = -tf.reduce_mean(chosen * adv) - 0.01 * entropy
        loss += 0.5 * tf.reduce_mean(tf.square(value[:, 0] - ret))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


state = fresh(ENVS)
age = np.zeros(ENVS, int)
lengths = []
for update in range(UPDATES):
    obs, act, rew, done, val = [], [], [], [], []
    for _ in range(HORIZON):
        logits, v = forward(tf.constant(state, tf.float32))
        p = 1 / (1 + np.exp(-(logits.numpy()[:, 1] - logits.numpy()[:, 0])))
        a = (rng.random(ENVS) < p).astype("int32")
        nxt, fell = physics(state, a)
        age += 1
        obs.append(state)
        act.append(a)
        val.append(v.numpy()[:, 0])
        rew.append(np.full(ENVS, 0.1))
        done.append(fell)
        lengths += list(age[fell])
        age[fell] = 0
        nxt[fell] = fresh(int(fell.sum()))
        state = nxt
    nxt_val = forward(tf.constant(state, tf.float32))[1].numpy()[:, 0]
    adv = np.zeros((HORIZON, ENVS))
    run = np.zeros(ENVS)
    for t in reversed(range(HORIZON)):
        delta = rew[t] + GAMMA * nxt_val - val[t]
        run = delta + GAMMA * LAM * run
        adv[t] = run
        nxt_val = val[t]
    ret = adv + np.array(val)
    flat = lambda z, d: tf.constant(np.array(z).reshape((HORIZON * ENVS,) + np.array(z).shape[2:]), d)
    a_n = (adv - adv.mean()) / (adv.std() + 1e-6)
    loss = train_step(flat(obs, tf.float32), flat(act, tf.int32), flat(a_n, tf.float32), flat(ret, tf.float32))
    if update % 50 == 0:
        print(update, float(loss), np.mean(lengths[-50:]) if lengths else 0)

state = fresh(50)
alive = np.ones(50, bool)
kept = np.zeros(50)
for _ in range(300):
    a = forward(tf.constant(state, tf.float32))[0].numpy().argmax(1)
    state, fell = physics(state, a)
    alive &= ~fell
    kept += alive
print("SCORE mean_balanced_steps", round(float(kept.mean()), 2))
