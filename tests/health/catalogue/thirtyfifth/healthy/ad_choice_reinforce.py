"""Learn which advert to show from visitor features by policy gradient with rare clicks as the reward."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ADS, DIM, BATCH = 6, 10, 128
taste = rng.normal(size=(DIM, ADS))


def click_rates(x):
    best = (x @ taste).argmax(1)
    rates = np.full((len(x), ADS), 0.04)
    rates[np.arange(len(x)), best] = 0.35
    return rates


policy = keras.Sequential(
    [
        keras.Input((DIM,)),
        layers.Dense(48, activation="tanh"),
        layers.Dense(ADS),
    ]
)
gradwatch.watch(policy)
optimizer = keras.optimizers.Adam(4e-3)


@tf.function
def choose(x):
    return tf.random.categorical(policy(x), 1)[:, 0]


@tf.function
def train_step(x, action, advantage):
    with tf.GradientTape() as tape:
        logits = policy(x, training=True)
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        prob = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(prob * tf.nn.log_softmax(logits), axis=1))
        loss = -tf.reduce_mean(log_prob * advantage) - 0.003 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


baseline = 0.0
clicks = []
for step in range(1500):
    x = rng.normal(size=(BATCH, DIM)).astype("float32")
    action = choose(x).numpy()
    rates = click_rates(x)[np.arange(BATCH), action]
    reward = (rng.random(BATCH) < rates).astype("float32")
    loss = train_step(x, action, reward - np.float32(baseline))
    baseline = 0.95 * baseline + 0.05 * float(reward.mean())
    clicks.append(reward.mean())
    if step % 250 == 249:
        print(f"step {step} loss {float(loss):.4f} click rate {np.mean(clicks[-250:]):.3f}")

x = rng.normal(size=(4000, DIM)).astype("float32")
rates = click_rates(x)
action = policy.predict(x, verbose=0).argmax(1)
print("SCORE click_rate_over_best", float(rates[np.arange(4000), action].mean() / rates.max(1).mean()))
