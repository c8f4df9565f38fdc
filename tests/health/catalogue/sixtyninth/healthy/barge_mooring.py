import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 231)

HORIZON = 20


def reset(n):
    return np.stack([rng.uniform(-2, 2, n), rng.uniform(-0.3, 0.3, n)], axis=1).astype("float32")


def advance(state, action):
    pos, vel = state[:, 0], state[:, 1]
    vel = 0.9 * vel + 0.25 * (action - 1) + rng.normal(0, 0.03, len(pos))
    pos = np.clip(pos + 0.5 * vel, -3, 3)
    reward = -np.abs(pos)
    return np.stack([pos, vel], axis=1).astype("float32"), reward.astype("float32")


actor = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(32, activation="tanh", name="helm"),
        layers.Dense(3, name="thrust_logits"),
    ],
    name="actor",
)
critic = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(32, activation="relu", name="berth"),
        layers.Dense(1, name="value"),
    ],
    name="critic",
)
actor_opt = keras.optimizers.Adam(5e-3)
critic_opt = keras.optimizers.Adam(1e-2)
watch = gradwatch.watch(actor, critic)


@tf.function
def update(states, actions, returns):
    with tf.GradientTape(persistent=True) as tape:
        logits = actor(states, training=True)
        value = critic(states, training=True)[:, 0]
        advantage = tf.stop_gradient(returns - value)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(probs * tf.nn.log_softmax(logits), axis=1)
        actor_loss = -tf.reduce_mean(logp * advantage) - 0.01 * tf.reduce_mean(entropy)
        critic_loss = tf.reduce_mean(tf.square(returns - value))
    a_grads = tape.gradient(actor_loss, actor.trainable_variables)
    c_grads = tape.gradient(critic_loss, critic.trainable_variables)
    actor_opt.apply_gradients(zip(a_grads, actor.trainable_variables))
    critic_opt.apply_gradients(zip(c_grads, critic.trainable_variables))
    return actor_loss, critic_loss


@tf.function
def draw(state):
    return tf.random.categorical(actor(state), 1)[:, 0]


def rollout(n):
    state = reset(n)
    S, A, R = [], [], []
    for _ in range(HORIZON):
        action = draw(tf.constant(state)).numpy()
        S.append(state)
        A.append(action)
        state, r = advance(state, action)
        R.append(r)
    R = np.array(R)
    G = np.zeros_like(R)
    run = np.zeros(n, "float32")
    for t in reversed(range(HORIZON)):
        run = R[t] + 0.9 * run
        G[t] = run
    return np.concatenate(S), np.concatenate(A).astype("int32"), G.reshape(-1), R.sum(0).mean()


print("untrained", rollout(500)[3])
for it in range(350):
    s, a, g, total = rollout(12)
    actor_loss, critic_loss = update(tf.constant(s), tf.constant(a), tf.constant(g))
    watch.log(actor_loss=actor_loss, critic_loss=critic_loss)
    if it % 50 == 0:
        print(it, float(actor_loss), float(critic_loss), total)

print("SCORE", float(rollout(500)[3]))
