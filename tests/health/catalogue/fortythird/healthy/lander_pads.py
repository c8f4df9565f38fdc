"""Trains an actor and a critic by policy gradient to bring a small lander to its pad."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CRAFT, HORIZON, GAMMA, UPDATES = 64, 25, 0.95, 500
PUSH = np.array([-0.25, 0.0, 0.25])


def mlp(outputs):
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(32, activation="tanh"),
            keras.layers.Dense(32, activation="tanh"),
            keras.layers.Dense(outputs),
        ]
    )


actor, critic = mlp(3), mlp(1)
actor_optimizer = keras.optimizers.Adam(2e-3)
critic_optimizer = keras.optimizers.Adam(4e-3)
gradwatch.watch(actor, critic)


@tf.function
def policy(state):
    return tf.nn.softmax(actor(state))


@tf.function
def improve(state, action, target):
    with tf.GradientTape(persistent=True) as tape:
        value = critic(state)[:, 0]
        critic_loss = tf.reduce_mean(tf.square(target - value))
        advantage = tf.stop_gradient(target - value)
        advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-6)
        log_prob = tf.nn.log_softmax(actor(state))
        chosen = tf.gather(log_prob, action, batch_dims=1)
        entropy = -tf.reduce_sum(tf.exp(log_prob) * log_prob, axis=-1)
        actor_loss = -tf.reduce_mean(chosen * advantage + 0.01 * entropy)
    for net, loss, optimizer in ((actor, actor_loss, actor_optimizer), (critic, critic_loss, critic_optimizer)):
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return actor_loss, critic_loss


def fly(greedy=False):
    place, speed = rng.uniform(-2, 2, CRAFT), np.zeros(CRAFT)
    states, actions, rewards = [], [], []
    for t in range(HORIZON):
        left = np.full(CRAFT, 1.0 - t / HORIZON)
        state = np.stack([place, speed, left], 1).astype("float32")
        p = policy(state).numpy()
        draw = (p.cumsum(1) < rng.random((CRAFT, 1))).sum(1).clip(0, 2)
        action = p.argmax(1) if greedy else draw
        speed = 0.95 * speed + PUSH[action] + rng.normal(0.0, 0.03, CRAFT)
        place = np.clip(place + 0.5 * speed, -4.0, 4.0)
        near = np.exp(-2.0 * place**2) - 0.1 * np.abs(speed)
        states.append(state), actions.append(action), rewards.append(near)
    returns, tail = np.zeros((HORIZON, CRAFT)), np.zeros(CRAFT)
    for t in reversed(range(HORIZON)):
        tail = rewards[t] + GAMMA * tail
        returns[t] = tail
    return np.concatenate(states), np.concatenate(actions), returns.reshape(-1), np.sum(rewards, 0)


for update in range(UPDATES):
    state, action, returns, score = fly()
    a, c = improve(state, action.astype("int32"), returns.astype("float32"))
    if update % 25 == 0:
        print(f"update {update} return {score.mean():.2f} actor {float(a):.4f} critic {float(c):.3f}")

print("SCORE return", float(np.mean([fly(greedy=True)[3].mean() for _ in range(5)])))
