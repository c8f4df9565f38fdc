"""Trains a Q-network that keeps a broom upright, from recorded pushes."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PUSHES = np.array([-5.0, 0.0, 5.0])
LIMIT, TOP_SPEED, DT, GAMMA, HORIZON = 0.5, 2.0, 0.05, 0.95, 200


def move(state, action):
    tilt, speed = state[:, 0], state[:, 1]
    speed = speed + DT * (6.0 * np.sin(tilt) + PUSHES[action] + rng.normal(0, 0.3, len(tilt)))
    speed = np.clip(speed, -TOP_SPEED, TOP_SPEED)
    tilt = tilt + DT * speed
    fallen = np.abs(tilt) > LIMIT
    reward = np.full(len(tilt), 0.1)
    return np.stack([tilt, speed], axis=1), reward, fallen


def scaled(state):
    return (state / np.array([LIMIT, TOP_SPEED])).astype("float32")


def record(n):
    state = np.stack([rng.uniform(-LIMIT, LIMIT, n), rng.uniform(-TOP_SPEED, TOP_SPEED, n)], axis=1)
    action = rng.integers(0, len(PUSHES), n)
    after, reward, fallen = move(state, action)
    return (scaled(state), action.astype("int32"), reward.astype("float32"), scaled(after), fallen.astype("float32"))


def build(name):
    return keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(len(PUSHES)),
        ],
        name=name,
    )


q_net = build("q_net")
target_net = build("target_net")
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
gradwatch.watch(q_net)


@tf.function
def train_step(state, action, reward, after, fallen):
    best = tf.reduce_max(target_net(after), axis=1)
    target = reward + GAMMA * best
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(state, training=True), action, axis=1, batch_dims=1)
        loss = huber(target[:, None], q[:, None])
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


memory = tf.data.Dataset.from_tensor_slices(record(30000))
memory = memory.shuffle(30000, seed=SEED).repeat().batch(128)
for step, batch in enumerate(memory.take(4000)):
    loss = train_step(*batch)
    if step % 50 == 0:
        target_net.set_weights(q_net.get_weights())
    if step % 500 == 0:
        print(f"step {step} loss {float(loss):.4f}")


def play(episodes):
    state = np.stack([rng.uniform(-0.1, 0.1, episodes), rng.uniform(-0.2, 0.2, episodes)], axis=1)
    alive = np.ones(episodes, bool)
    upright = np.zeros(episodes)
    for _ in range(HORIZON):
        action = q_net(scaled(state)).numpy().argmax(axis=1)
        state, _, fallen = move(state, action)
        alive &= ~fallen
        upright += alive
    return upright.mean()


print(f"SCORE steps_upright {play(200):.1f}")
