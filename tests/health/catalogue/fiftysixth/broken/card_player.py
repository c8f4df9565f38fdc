import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

HAND, RANKS, BATCH, UPDATES, GAMMA = 5, 9, 128, 350, 1.0
rng = np.random.default_rng(SEED)


class TrickGame:
    """Five tricks; the opponent's card is open, we answer with one card of our hand."""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.hand = rng.integers(1, RANKS + 1, (self.n, HAND))
        self.held = np.ones((self.n, HAND), bool)
        self.deal()
        return self.obs()

    def deal(self):
        self.open = rng.integers(1, RANKS + 1, self.n)

    def obs(self):
        hand = np.where(self.held, self.hand, 0) / RANKS
        beats = (self.hand > self.open[:, None]) & self.held
        return np.concatenate([hand, beats, self.open[:, None] / RANKS], 1).astype("float32")

    def step(self, a):
        rows = np.arange(self.n)
        ok = self.held[rows, a]
        reward = ((self.hand[rows, a] > self.open) & ok).astype("float32")
        self.held[rows, a] = False
        self.deal()
        return self.obs(), reward


inp = keras.Input((2 * HAND + 1,))
h = keras.layers.Dense(64, activation="relu", name="h1")(inp)
h = keras.layers.Dense(64, activation="relu", name="h2")(h)
logits_out = keras.layers.Dense(HAND, name="policy")(h)
value_out = keras.layers.Dense(1, name="value")(h)
agent = keras.Model(inp, [logits_out, value_out])
opt = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(agent)


def masked_logits(logits, legal):
    return tf.where(legal, logits, -np.inf)


@tf.function
def act(obs, legal, greedy):
    logits = masked_logits(agent(obs)[0], legal)
    gumbel = -tf.math.log(-tf.math.log(tf.random.uniform(tf.shape(logits), 1e-6, 1 - 1e-6)))
    return tf.argmax(logits + tf.where(greedy, 0.0, 1.0) * gumbel, 1)


@tf.function
def update(obs, legal, actions, returns):
    with tf.GradientTape() as tape:
        logits, value = agent(obs, training=True)
        logp = tf.nn.log_softmax(masked_logits(logits, legal))
        adv = returns - value[:, 0]
        picked = tf.gather(logp, actions, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(logp) * logp, axis=1)
        loss = tf.reduce_mean(-picked * tf.stop_gradient(adv) + 0.5 * adv**2 - 0.01 * entropy)
    grads = tape.gradient(loss, agent.trainable_variables)
    opt.apply_gradients(zip(grads, agent.trainable_variables))
    return loss


def play(env, greedy):
    obs, log = env.reset(), []
    for _ in range(HAND):
        legal = env.held.copy()
        a = act(obs, legal, tf.constant(greedy)).numpy()
        nxt, r = env.step(a)
        log.append((obs, legal, a, r))
        obs = nxt
    return log


env = TrickGame(BATCH)
for it in range(UPDATES):
    log = play(env, False)
    rewards = np.stack([l[3] for l in log])
    returns = np.cumsum(rewards[::-1], 0)[::-1].reshape(-1)
    obs, legal, a = (np.concatenate([l[i] for l in log]) for i in range(3))
    loss = update(obs, legal, a, returns.astype("float32"))
    watch.log(loss=loss)
    if it % 50 == 0:
        print(it, float(loss), rewards.sum(0).mean())

log = play(TrickGame(2000), True)
print("SCORE", float(np.stack([l[3] for l in log]).sum(0).mean()))
