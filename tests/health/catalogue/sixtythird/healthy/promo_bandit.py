import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 1)

NUM_FEATURES = 8
NUM_OFFERS = 5
true_weights = rng.normal(0, 1, (NUM_FEATURES, NUM_OFFERS))


def sample_customers(n):
    return rng.normal(0, 1, (n, NUM_FEATURES)).astype("float32")


def expected_reward(customers):
    return 10 * (customers @ true_weights)


policy = keras.Sequential(
    [
        layers.Input((NUM_FEATURES,)),
        layers.Dense(64, activation="tanh"),
        layers.Dense(NUM_OFFERS),
    ]
)
optimizer = keras.optimizers.Adam(0.003)
watch = gradwatch.watch(policy)


@tf.function
def act(states):
    return tf.random.categorical(policy(states), 1)[:, 0]


@tf.function
def update(states, actions, returns):
    with tf.GradientTape() as tape:
        logits = policy(states, training=True)
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        loss = -tf.reduce_mean(log_prob * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


running_baseline = 0.0
history = []
for episode in range(4000):
    states = sample_customers(64)
    actions = act(tf.constant(states)).numpy()
    rewards = expected_reward(states)[np.arange(64), actions] + rng.normal(0, 8, 64)
    advantage = (rewards - running_baseline).astype("float32")
    running_baseline = 0.95 * running_baseline + 0.05 * rewards.mean()
    loss = update(tf.constant(states), tf.constant(actions), tf.constant(advantage))
    watch.log(loss=loss)
    history.append(rewards.mean())
    if (episode + 1) % 500 == 0:
        print(f"episode {episode + 1}: reward {np.mean(history[-500:]):.2f} loss {float(loss):.2f}")

test_states = sample_customers(2000)
values = expected_reward(test_states)
chosen = policy(test_states).numpy().argmax(axis=1)
achieved = values[np.arange(2000), chosen].mean()
best = values.max(axis=1).mean()
print("SCORE", round(float(achieved / best), 4))
