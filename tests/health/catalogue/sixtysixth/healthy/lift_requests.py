import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

FLOORS = 7
HORIZON = 14
EPISODES = 24
UPDATES = 220


class Lift:
    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.cabin = rng.integers(0, FLOORS, n)
        self.call = rng.integers(0, FLOORS, n)

    def observe(self):
        eye = np.eye(FLOORS, dtype="float32")
        return np.concatenate([eye[self.cabin], eye[self.call]], axis=1)

    def step(self, action):
        self.cabin = np.clip(self.cabin + action - 1, 0, FLOORS - 1)
        served = self.cabin == self.call
        reward = np.where(served, 1.0, -0.05) + 0.2 * self.rng.normal(size=self.n)
        fresh = self.rng.integers(0, FLOORS, self.n)
        self.call = np.where(served, fresh, self.call)
        return reward.astype("float32"), served


policy = keras.Sequential(
    [
        keras.Input((2 * FLOORS,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(3, name="move"),
    ]
)
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(policy.trainable_variables)
watch = gradwatch.watch(policy)


@tf.function
def update(obs, actions, advantages):
    with tf.GradientTape() as tape:
        logits = policy(obs, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        loss = tf.reduce_mean(nll * advantages)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


rng = np.random.default_rng(SEED)
for it in range(UPDATES):
    lift = Lift(EPISODES, rng)
    seen, moves, rewards = [], [], []
    for _ in range(HORIZON):
        obs = lift.observe()
        logits = policy(obs).numpy()
        action = (logits + rng.gumbel(size=logits.shape)).argmax(1)
        reward, _ = lift.step(action)
        seen.append(obs)
        moves.append(action)
        rewards.append(reward)
    returns = np.zeros((HORIZON, EPISODES), "float32")
    running = np.zeros(EPISODES, "float32")
    for t in reversed(range(HORIZON)):
        running = rewards[t] + 0.9 * running
        returns[t] = running
    advantage = returns - returns.mean(axis=1, keepdims=True)
    advantage = advantage / (advantage.std() + 1e-6)
    loss = update(
        tf.constant(np.concatenate(seen)),
        tf.constant(np.concatenate(moves).astype("int32")),
        tf.constant(advantage.reshape(-1)),
    )
    watch.log(loss=loss)
    if it % 50 == 0:
        print(it, float(loss), float(np.sum(rewards) / EPISODES))

lift = Lift(400, np.random.default_rng(SEED + 17))
served = 0
for _ in range(30):
    move = policy.predict(lift.observe(), batch_size=400, verbose=0).argmax(1)
    _, done = lift.step(move)
    served += int(done.sum())
print("SCORE", served / 400)
