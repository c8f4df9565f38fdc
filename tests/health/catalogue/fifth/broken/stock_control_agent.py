import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
ACTIONS = 5


def draw_states(rng, n):
    level = rng.uniform(0, 1, n)
    demand = rng.uniform(0, 1, n)
    season = rng.integers(0, 2, n)
    state = np.stack([level, demand, season], 1).astype("float32")
    allowed = np.ones((n, ACTIONS), "float32")
    allowed[level > 0.995, 3:] = 0.0
    return state, allowed


def reward_of(state, action):
    want = np.clip(np.round(4 * (state[:, 1] * 0.8 + 0.3 * state[:, 2] - 0.4 * state[:, 0] + 0.3)), 0, 4)
    return (1.0 - 0.5 * np.abs(want - action)).astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED + 1)
    policy = keras.Sequential(
        [
            layers.Input((3,)),
            layers.Dense(64, activation="tanh", name="body1"),
            layers.Dense(64, activation="tanh", name="body2"),
            layers.Dense(ACTIONS, activation="softmax", name="policy"),
        ]
    )
    optimizer = keras.optimizers.Adam(3e-3)

    @tf.function
    def act(state, allowed):
        p = policy(state) * allowed
        return p / tf.reduce_sum(p, axis=1, keepdims=True)

    @tf.function
    def update(state, allowed, action, advantage):
        with tf.GradientTape() as tape:
            p = policy(state, training=True) * allowed
            p = p / tf.reduce_sum(p, axis=1, keepdims=True)
            chosen = tf.reduce_sum(p * tf.one_hot(action, ACTIONS), axis=1)
            pg = -tf.reduce_mean(tf.math.log(chosen + 1e-8) * advantage)
            entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p), axis=1))
            loss = pg - 0.01 * entropy
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables))
        return loss

    baseline = 0.0
    gradwatch.watch(policy)
    for it in range(600):
        state, allowed = draw_states(rng, 64)
        p = act(tf.constant(state), tf.constant(allowed)).numpy()
        action = np.array(
            [rng.choice(ACTIONS, p=row / row.sum()) if np.isfinite(row).all() else 0 for row in p.astype("float64")]
        )
        reward = reward_of(state, action)
        baseline = 0.95 * baseline + 0.05 * reward.mean()
        loss = update(
            tf.constant(state), tf.constant(allowed), tf.constant(action), tf.constant(reward - np.float32(baseline))
        )
        if it % 50 == 0 or it == 599:
            print("iter", it, "loss", float(loss), "mean reward", float(reward.mean()))


if __name__ == "__main__":
    main()
