"""Learn to park a crane trolley over a drop point with REINFORCE.

The trolley is a damped point mass with three actions (pull left, coast, pull
right).  A small policy network is trained from episodes it samples itself,
with a per-time-step batch baseline and an entropy bonus.
The score is the share of new episodes which end within 0.15 m of the target.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

HORIZON, EPISODES, UPDATES = 25, 48, 350
FORCES = tf.constant([-1.0, 0.0, 1.0])

policy = keras.Sequential(
    [
        keras.layers.Input((3,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(3, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
    ]
)
optimizer = keras.optimizers.Adam(0.006)
optimizer.build(policy.trainable_variables)


def step(pos, vel, action):
    vel = 0.85 * vel + 0.12 * tf.gather(FORCES, action)
    return pos + vel * 0.5, vel


def observe(pos, vel, goal):
    return tf.stack([goal - pos, vel * 3.0, goal], axis=-1)


@tf.function
def rollout(n, random_policy):
    """Play n episodes; return observations, actions and rewards, time first."""
    pos, vel = tf.zeros([n]), tf.zeros([n])
    goal = tf.random.uniform([n], -2.0, 2.0)
    seen, done, gain = [], [], []
    for _ in range(HORIZON):
        obs = observe(pos, vel, goal)
        logits = policy(obs)
        if random_policy:
            logits = tf.zeros_like(logits)
        act = tf.random.categorical(logits, 1)[:, 0]
        pos, vel = step(pos, vel, act)
        seen.append(obs)
        done.append(act)
        gain.append(-tf.abs(goal - pos))
    return tf.stack(seen), tf.stack(done), tf.stack(gain), tf.abs(goal - pos)


@tf.function
def train_step():
    obs, act, rew, _ = rollout(EPISODES, False)
    togo = tf.cumsum(rew, axis=0, reverse=True)
    adv = togo - tf.reduce_mean(togo, axis=1, keepdims=True)
    adv = adv / (tf.math.reduce_std(adv) + 1e-6)
    flat_obs = tf.reshape(obs, [-1, 3])
    flat_act = tf.reshape(act, [-1])
    flat_adv = tf.reshape(adv, [-1])
    with tf.GradientTape() as tape:
        logits = policy(flat_obs, training=True)
        logp = tf.nn.log_softmax(logits)
        chosen = tf.gather(logp, flat_act, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=-1))
        loss = -tf.reduce_mean(chosen * flat_adv) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss, tf.reduce_mean(tf.reduce_sum(rew, axis=0))


watch = gradwatch.watch(policy, optimizer)
for update in range(UPDATES):
    loss, ret = train_step()
    watch.log(loss=loss)
    if update % 50 == 0:
        print(f"update {update} loss {float(loss):.4f} return {float(ret):.2f}")

miss = rollout(1000, False)[3].numpy()
miss_random = rollout(1000, True)[3].numpy()
score, chance = float(np.mean(miss < 0.15)), float(np.mean(miss_random < 0.15))
print(f"score (parked) {score:.3f} chance {chance:.3f}")
