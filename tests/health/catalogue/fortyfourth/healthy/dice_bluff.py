"""Trains a policy for the dice game Pig (roll or hold) from its own games, by policy gradient."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 23)

GAMES, TURNS, LONGEST = 128, 4, 24

policy = keras.Sequential(
    [
        keras.Input((3,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(2),
    ],
    name="policy",
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(policy)


def features(pot, left, banked):
    return np.stack([pot / 20.0, left / TURNS, banked / 30.0], axis=1).astype("float32")


@tf.function
def decide(state):
    return tf.nn.softmax(policy(state))


def play(games, greedy=False):
    """All games side by side; a one loses the pot and ends the turn."""
    pot, banked = np.zeros(games), np.zeros(games)
    left = np.full(games, TURNS)
    states, actions, alive = [], [], []
    for _ in range(LONGEST):
        state = features(pot, left, banked)
        p_roll = decide(state).numpy()[:, 1]
        roll = p_roll > 0.5 if greedy else rng.random(games) < p_roll
        states.append(state)
        actions.append(roll.astype("int32"))
        alive.append((left > 0).astype("float32"))
        die = rng.integers(1, 7, games)
        bust = roll & (die == 1)
        hold = ~roll
        banked = banked + np.where(hold & (left > 0), pot, 0)
        left = np.maximum(left - (bust | hold), 0)
        pot = np.where(bust | hold, 0, pot + die)
    return np.concatenate(states), np.concatenate(actions), np.concatenate(alive), banked


@tf.function
def learn(state, action, weight):
    with tf.GradientTape() as tape:
        logits = policy(state, training=True)
        log_p = tf.nn.log_softmax(logits)
        taken = tf.reduce_sum(log_p * tf.one_hot(action, 2), axis=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=1))
        loss = -tf.reduce_mean(taken * weight) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


usual = None
for update in range(900):
    state, action, alive, banked = play(GAMES)
    usual = banked.mean() if usual is None else 0.95 * usual + 0.05 * banked.mean()
    advantage = np.tile((banked - usual) / 12.0, LONGEST).astype("float32") * alive
    loss = learn(state, action, advantage)
    if update % 150 == 0:
        print(f"update {update}  loss {float(loss):+.4f}  banked {banked.mean():.2f}", flush=True)

print("SCORE banked", float(play(4000, greedy=True)[3].mean()))
