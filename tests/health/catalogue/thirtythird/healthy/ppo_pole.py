"""PPO with a shared actor-critic network on a vectorised pole-balancing task."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


N_ENV, ROLL, GAMMA, LAM, CLIP = 8, 64, 0.98, 0.95, 0.2


class Poles:
    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.s = rng.uniform(-0.05, 0.05, (n, 4))
        self.t = np.zeros(n, int)

    def step(self, a):
        x, v, th, w = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        tmp = (force + 0.05 * w**2 * np.sin(th)) / 1.1
        acc_th = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        acc_x = tmp - 0.05 * acc_th * np.cos(th) / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * acc_x, th + 0.02 * w, w + 0.02 * acc_th], 1)
        self.t += 1
        fell = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 0.21)
        over = fell | (self.t >= 200)
        length = self.t[over].copy()
        final = self.obs()
        k = int(over.sum())
        self.s[over] = self.rng.uniform(-0.05, 0.05, (k, 4))
        self.t[over] = 0
        return np.ones(self.n, "float32"), over, over & ~fell, final, length

    def obs(self):
        return (self.s * [0.5, 0.5, 5, 0.5]).astype("float32")


inp = keras.Input((4,))
h = layers.Dense(64, activation="tanh", kernel_initializer=keras.initializers.Orthogonal(1.41))(inp)
h = layers.Dense(64, activation="tanh", kernel_initializer=keras.initializers.Orthogonal(1.41))(h)
policy = layers.Dense(2, kernel_initializer=keras.initializers.Orthogonal(0.01), name="policy")(h)
value = layers.Dense(1, name="value")(h)
model = keras.Model(inp, [policy, value])
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(1e-3, 1120, 1e-4), global_clipnorm=0.5)
gradwatch.watch(model)


@tf.function
def act(s):
    logits, v = model(s)
    a = tf.random.categorical(logits, 1)[:, 0]
    logp = tf.gather(tf.nn.log_softmax(logits), a, batch_dims=1)
    return a, logp, v[:, 0], tf.argmax(logits, axis=1)


@tf.function
def update(s, a, old_logp, adv, ret):
    with tf.GradientTape() as tape:
        logits, v = model(s, training=True)
        lp = tf.nn.log_softmax(logits)
        ratio = tf.exp(tf.gather(lp, a, batch_dims=1) - old_logp)
        surrogate = tf.minimum(ratio * adv, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * adv)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(lp) * lp, axis=1))
        v_loss = tf.reduce_mean(tf.square(ret - v[:, 0]))
        loss = -tf.reduce_mean(surrogate) + 0.02 * v_loss - 0.005 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, v_loss, entropy


env = Poles(N_ENV, rng)
for it in range(70):
    S, A, LP, V, R, DN, lens = [], [], [], [], [], [], []
    for _ in range(ROLL):
        s = env.obs()
        a, lp, v, _ = [t.numpy() for t in act(s)]
        r, over, truncated, final, length = env.step(a)
        if truncated.any():
            r = r + GAMMA * truncated * act(final)[2].numpy()
        for store, val in zip((S, A, LP, V, R, DN), (s, a, lp, v, r, over)):
            store.append(val)
        lens += list(length)
    last = act(env.obs())[2].numpy()
    V.append(last)
    adv, g = np.zeros((ROLL, N_ENV), "float32"), np.zeros(N_ENV)
    for t in reversed(range(ROLL)):
        live = 1.0 - DN[t]
        g = R[t] + GAMMA * V[t + 1] * live - V[t] + GAMMA * LAM * live * g
        adv[t] = g
    ret = (adv + np.array(V[:-1])).reshape(-1).astype("float32")
    s, a, lp = np.array(S).reshape(-1, 4), np.array(A).reshape(-1).astype("int32"), np.array(LP).reshape(-1)
    adv = adv.reshape(-1)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        for b in np.split(rng.permutation(len(a)), 4):
            loss, vl, ent = update(s[b], a[b], lp[b], adv[b], ret[b])
    if it % 10 == 0:
        print(
            "iteration",
            it,
            "length",
            round(float(np.mean(lens)), 1),
            "value loss",
            round(float(vl), 2),
            "entropy",
            round(float(ent), 3),
        )

test, first, open_ = Poles(64, np.random.default_rng(99)), np.full(64, 200), np.ones(64, bool)
for t in range(200):
    _, over, *_ = test.step(act(test.obs())[3].numpy())
    new = over & open_
    first[new] = t + 1
    open_ &= ~over
print("SCORE mean_episode_length", round(float(first.mean()), 2))
