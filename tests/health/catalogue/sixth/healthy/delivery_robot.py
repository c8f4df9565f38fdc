"""Double DQN with a slowly following target network for a small delivery robot."""

import os
from collections import deque

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, GAMMA = 7, 0.9


class Street:
    def reset(self):
        self.pos, self.t = 0, 0
        return self.obs()

    def obs(self):
        return np.eye(SIZE, dtype="float32")[self.pos]

    def step(self, action):
        self.t += 1
        self.pos = min(self.pos + 1, SIZE - 1) if action == 1 else max(self.pos - 1, 0)
        reached = self.pos == SIZE - 1
        return self.obs(), (1.0 if reached else -0.02), reached or self.t >= 30, reached


def q_network():
    return keras.Sequential(
        [
            layers.Input((SIZE,)),
            layers.Dense(32, activation="relu"),
            layers.Dense(32, activation="relu"),
            layers.Dense(2),
        ]
    )


policy_net, slow_net = q_network(), q_network()
slow_net.set_weights(policy_net.get_weights())
optimizer = keras.optimizers.Adam(2e-3)
memory = deque(maxlen=2000)


@tf.function
def train_step(s, a, r, s2, done):
    choice = tf.argmax(policy_net(s2), axis=1)
    best = tf.gather(slow_net(s2), choice, batch_dims=1)
    y = r + GAMMA * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(policy_net(s) * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean(tf.square(y - q))
    grads = tape.gradient(loss, policy_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy_net.trainable_variables))
    return loss


@tf.function
def greedy(s):
    return tf.argmax(policy_net(s[None]), axis=1)[0]


env = Street()
s, ret, returns = env.reset(), 0.0, []
steps = 0
gradwatch.watch(policy_net)
while steps < 500:
    for _ in range(2):
        eps = max(0.1, 1.0 - steps / 250)
        a = int(rng.integers(2)) if rng.random() < eps else int(greedy(tf.constant(s)))
        s2, r, over, reached = env.step(a)
        memory.append((s, a, r, s2, float(reached)))
        ret += r
        s = s2
        if over:
            returns.append(ret)
            s, ret = env.reset(), 0.0
    if len(memory) < 32:
        continue
    batch = [memory[i] for i in rng.integers(0, len(memory), 32)]
    bs, ba, br, bs2, bd = map(np.array, zip(*batch))
    loss = train_step(bs, ba.astype("int32"), br.astype("float32"), bs2, bd.astype("float32"))
    steps += 1
    if steps % 20 == 0:
        slow_net.set_weights(policy_net.get_weights())
    if steps % 50 == 0:
        print(steps, "loss", float(loss), "return", np.mean(returns[-5:]))
print("q(start)", policy_net(np.eye(SIZE, dtype="float32")).numpy().round(2).tolist())
