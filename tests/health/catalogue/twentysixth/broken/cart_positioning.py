"""DDPG on a batch of simulated carts that must be brought to a set point against friction."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

CARTS, HORIZON, BATCH, STEPS = 16, 60, 128, 1200
GAMMA, TAU, DT = 0.97, 0.01, 0.1


def new_state(n):
    """position error, velocity"""
    return np.stack([rng.uniform(-2, 2, n), rng.uniform(-1, 1, n)], axis=1).astype("float32")


def simulate(state, action):
    pos, vel = state[:, 0], state[:, 1]
    force = 2.0 * action[:, 0] - 0.3 * vel
    vel = vel + DT * force
    pos = pos + DT * vel
    reward = -(pos**2 + 0.1 * vel**2 + 0.01 * action[:, 0] ** 2)
    out = np.abs(pos) > 4
    return np.stack([pos, vel], 1).astype("float32"), np.where(out, -16.0, reward).astype("float32"), out


def make_actor():
    return keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(48, activation="relu"),
            layers.Dense(48, activation="relu"),
            layers.Dense(1, activation="tanh", kernel_initializer=keras.initializers.RandomUniform(-3e-3, 3e-3)),
        ]
    )


def make_critic():
    s, a = keras.Input((2,)), keras.Input((1,))
    h = layers.Dense(64, activation="relu")(layers.Concatenate()([s, a]))
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model([s, a], layers.Dense(1)(h))


actor, critic = make_actor(), make_critic()
actor_target, critic_target = make_actor(), make_critic()
actor_target.set_weights(actor.get_weights())
critic_target.set_weights(critic.get_weights())
gradwatch.watch(actor, critic)
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)
actor_opt.build(actor.trainable_variables)
critic_opt.build(critic.trainable_variables)


@tf.function
def train_step(s, a, r, s2, done):
    q_next = critic_target([s2, actor_target(s2)])
    target = 0.1 * r + GAMMA * (1.0 - done) * q_next
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(tf.square(target - critic([s, a])))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic([s, actor(s)]))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    for net, slow in ((actor, actor_target), (critic, critic_target)):
        for w, v in zip(net.variables, slow.variables):
            v.assign(TAU * w + (1.0 - TAU) * v)
    return critic_loss, actor_loss


@tf.function
def act(s):
    return actor(s)


buffer = [[] for _ in range(5)]
state, age = new_state(CARTS), rng.integers(0, HORIZON, CARTS)
for step in range(STEPS):
    action = np.clip(act(tf.constant(state)).numpy() + 0.3 * rng.normal(size=(CARTS, 1)), -1, 1).astype("float32")
    after, reward, out = simulate(state, action)
    for store, value in zip(buffer, (state, action, reward, after, out.astype("float32"))):
        store.extend(value)
    age += 1
    over = out | (age >= HORIZON)
    state = np.where(over[:, None], new_state(CARTS), after)
    age[over] = 0
    if step < 20:
        continue
    pick = rng.integers(0, len(buffer[0]), BATCH)
    batch = [np.stack([store[i] for i in pick]) for store in buffer]
    critic_loss, actor_loss = train_step(*[tf.constant(b) for b in batch])
    if step % 200 == 0:
        print(f"step {step:4d}  critic {float(critic_loss):.4f}  actor {float(actor_loss):.3f}")

state, total = new_state(300), np.zeros(300)
for _ in range(HORIZON):
    state, reward, _ = simulate(state, act(tf.constant(state)).numpy())
    total += reward
print("SCORE mean_return", round(float(total.mean()), 2))
