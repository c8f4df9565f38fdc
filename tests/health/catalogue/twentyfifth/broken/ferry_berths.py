"""Which of five berths a harbour master gives to an arriving ferry: a policy trained by its own rewards."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BERTHS, FEATURES = 5, 8
W1 = rng.normal(size=(FEATURES, BERTHS))
W2 = rng.normal(size=(FEATURES, BERTHS))


def arrivals(n):
    return rng.normal(size=(n, FEATURES)).astype("float32")


def saved_minutes(x):
    return 4.0 * np.tanh(x @ W1) + 1.0 * np.sin(x @ W2)


policy = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(64, activation="tanh"),
        layers.Dense(BERTHS),
    ],
    name="policy",
)
optimizer = keras.optimizers.Adam(3e-3)
sampler = keras.random.SeedGenerator(seed)
gradwatch.watch(policy)


def choose(x):
    logits = policy(x, training=True)
    action = tf.squeeze(keras.random.categorical(logits, 1, seed=sampler), axis=1)
    chosen = tf.one_hot(action, BERTHS)
    log_prob = tf.reduce_sum(chosen * tf.nn.log_softmax(logits), axis=1)
    entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1)
    return action, log_prob, entropy


act = tf.function(choose)


@tf.function
def update(x, action, advantage):
    with tf.GradientTape() as tape:
        _, log_prob, entropy = choose(x)
        loss = -tf.reduce_mean(log_prob * advantage) - 0.01 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


baseline = 0.0
for iteration in range(1600):
    x = arrivals(256)
    action, _, _ = act(tf.constant(x))
    reward = saved_minutes(x)[np.arange(256), action.numpy()]
    reward = reward + rng.normal(scale=0.5, size=256)
    baseline = 0.95 * baseline + 0.05 * reward.mean()
    advantage = ((reward - baseline) / (reward.std() + 1e-6)).astype("float32")
    loss = update(tf.constant(x), action, tf.constant(advantage))
    if (iteration + 1) % 200 == 0:
        print(f"iteration {iteration + 1}: mean reward {reward.mean():.3f}")

x_test = arrivals(4000)
table = saved_minutes(x_test)
best = np.argmax(policy.predict(x_test, verbose=0, batch_size=1000), axis=1)
got = table[np.arange(4000), best].mean()
print("SCORE share_of_best_minutes", round(float(got / table.max(axis=1).mean()), 4))
