import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
ADS = 6


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED + 57)
    taste = np.random.default_rng(57).normal(0, 1, (8, ADS))
    policy = keras.Sequential(
        [
            layers.Input((8,)),
            layers.Dense(64, activation="relu", name="visitor"),
            layers.Dense(ADS, name="ad_scores"),
        ]
    )
    optimizer = keras.optimizers.Adam(3e-3, clipnorm=1.0)

    @tf.function
    def update(state, action, advantage):
        with tf.GradientTape() as tape:
            logp = tf.nn.log_softmax(policy(state, training=True))
            chosen = tf.reduce_sum(logp * tf.one_hot(action, ADS), axis=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
            loss = -tf.reduce_mean(chosen * advantage) - 0.005 * entropy
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables))
        return loss

    average, window = 0.0, []
    gradwatch.watch(policy)
    for it in range(900):
        state = rng.normal(0, 1, (32, 8)).astype("float32")
        logits = policy(tf.constant(state)).numpy()
        action = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        best = np.argmax(state @ taste, axis=1)
        click = (rng.random(32) < np.where(action == best, 0.9, 0.1)).astype("float32")
        average = 0.98 * average + 0.02 * click.mean()
        loss = update(tf.constant(state), tf.constant(action), tf.constant(click - np.float32(average)))
        window.append(click.mean())
        if (it + 1) % 90 == 0:
            print("iter", it + 1, "loss", float(loss), "click rate", np.mean(window[-90:]))


if __name__ == "__main__":
    main()
