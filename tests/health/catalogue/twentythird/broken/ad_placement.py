"""Placement of adverts: a softmax policy over five places, trained on simulated clicks (policy gradient with a baseline)."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES, PLACES, BATCH, STEPS = 10, 5, 128, 900
appeal = rng.normal(0, 1.0, (FEATURES, PLACES))


def click_rate(visitors):
    return 1 / (1 + np.exp(-(visitors @ appeal + 0.8 * np.cos(2 * visitors[:, :PLACES]) - 1.0)))


def visitors(count):
    return rng.normal(size=(count, FEATURES)).astype("float32")


policy = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(PLACES),
    ],
    name="policy",
)
baseline = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ],
    name="baseline",
)
policy_optimizer = keras.optimizers.Adam(4e-3)
baseline_optimizer = keras.optimizers.Adam(4e-3)


@tf.function
def choose(x):
    return tf.random.categorical(policy(x), 1)[:, 0]


@tf.function
def train_step(x, place, clicked):
    with tf.GradientTape(persistent=True) as tape:
        logits = policy(x)
        expected = baseline(x)[:, 0]
        advantage = tf.stop_gradient(clicked - expected)
        log_prob = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(place, PLACES), axis=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1))
        policy_loss = tf.reduce_mean(advantage * log_prob) - 0.01 * entropy
        baseline_loss = tf.reduce_mean(tf.square(clicked - expected))
    for loss, network, optimizer in (
        (policy_loss, policy, policy_optimizer),
        (baseline_loss, baseline, baseline_optimizer),
    ):
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
    return entropy


gradwatch.watch(policy, baseline)
recent = []
for step in range(STEPS):
    x = visitors(BATCH)
    place = choose(x)
    clicked = rng.random(BATCH) < click_rate(x)[np.arange(BATCH), place.numpy()]
    entropy = train_step(x, place, clicked.astype("float32"))
    recent.append(clicked.mean())
    if step % 150 == 149:
        print(f"step {step + 1} clicks {np.mean(recent[-150:]):.3f} entropy {float(entropy):.3f}")

x = visitors(4000)
rates = click_rate(x)
chosen = rates[np.arange(len(x)), np.argmax(policy.predict(x, verbose=0), axis=1)]
print("SCORE share_of_best_clicks", round(float(chosen.mean() / rates.max(axis=1).mean()), 4))
