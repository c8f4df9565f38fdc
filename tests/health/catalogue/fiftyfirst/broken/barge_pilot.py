"""Deep Q-learning for a barge pilot: 24 barges on a river with 14 berths, all simulated at once."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BERTHS, FLEET, LIMIT = 14, 24, 40
GAMMA, TAU, STEPS, BATCH = 0.95, 0.05, 800, 128
UP, DOWN, WAIT = 0, 1, 2


class River:
    """Down at berth 0 waits a small job at once (0.1); the port at the top pays 1. Fog pushes back."""

    def __init__(self, n):
        self.n = n
        self.berth = rng.integers(2, 6, n)
        self.age = np.zeros(n, int)

    def observe(self):
        pos = self.berth / (BERTHS - 1)
        return np.stack([pos, pos**2, np.sin(6 * pos), np.cos(6 * pos), np.sin(13 * pos)], 1).astype("float32")

    def act(self, a):
        move = np.where(a == UP, 1, np.where(a == DOWN, -1, 0))
        move = np.where(rng.random(self.n) < 0.1, -1, move)
        self.berth = np.clip(self.berth + move, 0, BERTHS - 1)
        self.age += 1
        port, job = self.berth == BERTHS - 1, self.berth == 0
        reward = (1.0 * port + 0.1 * job).astype("float32")
        after, final = self.observe(), (port | job)
        over = final | (self.age >= LIMIT)
        self.berth = np.where(over, rng.integers(2, 6, self.n), self.berth)
        self.age = np.where(over, 0, self.age)
        return reward, after, final.astype("float32"), over


def network():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((5,)),
            tf.keras.layers.Dense(48, activation="relu"),
            tf.keras.layers.Dense(48, activation="relu"),
            tf.keras.layers.Dense(3),
        ]
    )


q_net, target_net = network(), network()
target_net.set_weights(q_net.get_weights())
optimizer = tf.keras.optimizers.Adam(2e-3)
gradwatch.watch(q_net)


def soft_update():
    for slow, fast in zip(target_net.get_weights(), q_net.get_weights()):
        slow += TAU * (fast - slow)


river, memory = River(FLEET), []
for step in range(1, STEPS + 1):
    state = river.observe()
    greedy = q_net(state).numpy().argmax(1)
    epsilon = max(0.1, 1.0 - step / 400)
    action = np.where(rng.random(FLEET) < epsilon, rng.integers(0, 3, FLEET), greedy)
    reward, after, final, _ = river.act(action)
    memory.extend(zip(state, action, reward, after, final))
    memory = memory[-15000:]
    s, a, r, s2, d = (np.array(v) for v in zip(*[memory[i] for i in rng.integers(len(memory), size=BATCH)]))
    goal = r + GAMMA * (1 - d) * target_net(s2).numpy().max(1)
    with tf.GradientTape() as tape:
        chosen = tf.reduce_sum(q_net(s) * tf.one_hot(a, 3), axis=1)
        loss = tf.reduce_mean(tf.square(chosen - goal))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    soft_update()
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.5f} mean q {float(tf.reduce_mean(chosen)):.3f}")

trial, earned, ended = River(400), np.zeros(400), np.zeros(400, bool)
for _ in range(LIMIT):
    reward, _, _, over = trial.act(q_net(trial.observe()).numpy().argmax(1))
    earned += reward * ~ended
    ended |= over
print("SCORE mean_return", round(float(earned.mean()), 4))
