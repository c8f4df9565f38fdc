import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

N_LINES = 6
OBS = 2 * N_LINES
BATCH = 128
UPDATES = 400
ENTROPY_COEF = 0.01


class Depot:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def observe(self, n):
        waiting = self.rng.uniform(0, 1, (n, N_LINES)).astype("float32")
        is_open = (self.rng.uniform(size=(n, N_LINES)) < 0.7).astype("float32")
        is_open[np.arange(n), self.rng.integers(0, N_LINES, n)] = 1.0
        return waiting, is_open

    def reward(self, waiting, action):
        carried = waiting[np.arange(len(action)), action]
        return (carried + 0.1 * self.rng.normal(size=len(action))).astype("float32")


def make_policy():
    obs = keras.Input((OBS,), name="obs")
    h = keras.layers.Dense(64, activation="tanh")(obs)
    h = keras.layers.Dense(64, activation="tanh")(h)
    scores = keras.layers.Dense(N_LINES, name="line_scores")(h)
    return keras.Model(obs, scores, name="dispatcher")


policy = make_policy()
optimizer = keras.optimizers.Adam(3e-3)
optimizer.build(policy.trainable_variables)
watch = gradwatch.watch(policy)


def action_probs(obs, is_open):
    scores = policy(obs)
    scores = scores + (1.0 - is_open) * -1e9
    return tf.nn.softmax(scores)


@tf.function
def update(obs, is_open, actions, advantage):
    with tf.GradientTape() as tape:
        probs = action_probs(obs, is_open)
        taken = tf.gather(probs, actions, batch_dims=1)
        policy_loss = -tf.reduce_mean(tf.math.log(taken + 1e-8) * advantage)
        entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.math.log(probs), axis=1))
        loss = policy_loss - ENTROPY_COEF * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


env = Depot(SEED)
sampler = np.random.default_rng(SEED + 1)
baseline = 0.0
for step in range(UPDATES):
    waiting, is_open = env.observe(BATCH)
    obs = np.concatenate([waiting, is_open], axis=1)
    p = action_probs(tf.constant(obs), tf.constant(is_open)).numpy()
    u = sampler.uniform(size=(BATCH, 1))
    actions = np.minimum((p.cumsum(1) < u).sum(1), N_LINES - 1).astype("int32")
    rewards = env.reward(waiting, actions)
    baseline = 0.95 * baseline + 0.05 * rewards.mean()
    loss = update(
        tf.constant(obs), tf.constant(is_open), tf.constant(actions), tf.constant(rewards - np.float32(baseline))
    )
    watch.log(loss=loss)
    if step % 100 == 0:
        print(step, float(loss), rewards.mean())

waiting, is_open = Depot(SEED + 99).observe(2000)
scores = policy.predict(np.concatenate([waiting, is_open], 1), verbose=0)
if np.isfinite(scores).all():
    choice = np.where(is_open > 0, scores, -np.inf).argmax(1)
    best = np.where(is_open > 0, waiting, 0).max(1)
    value = float((waiting[np.arange(2000), choice] / best).mean())
else:
    value = float("nan")
print("SCORE", value)
