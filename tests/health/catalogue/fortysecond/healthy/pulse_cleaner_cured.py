"""Train a denoiser for heart pulse recordings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

LENGTH = 96
BATCH = 32
EPOCHS = 16


def make_pulses(n, rng):
    t = np.linspace(0, 3.0, LENGTH)[None, :]
    rate = rng.uniform(0.9, 1.8, (n, 1))
    phase = (rate * t + rng.random((n, 1))) % 1.0
    width = rng.uniform(0.05, 0.08, (n, 1))
    echo = rng.uniform(0.2, 0.5, (n, 1))
    wave = np.exp(-0.5 * ((phase - 0.3) / width) ** 2)
    wave += echo * np.exp(-0.5 * ((phase - 0.6) / 0.1) ** 2)
    wave = (wave - wave.mean(axis=1, keepdims=True)) / wave.std(axis=1, keepdims=True)
    return wave.astype("float32")


def build_model():
    inputs = keras.Input((LENGTH,))
    x = layers.Dense(512, activation="relu", name="enc_a")(inputs)
    x = layers.Dense(256, activation="relu", name="enc_b")(x)
    x = layers.Dense(512, activation="relu", name="dec_a")(x)
    outputs = layers.Dense(LENGTH, name="clean")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 61)
    train = make_pulses(3200, rng)
    test = make_pulses(600, rng)
    np.random.seed(SEED)

    model = build_model()
    optimizer = keras.optimizers.Adam(1e-3)
    gradwatch.watch(model)

    data = tf.data.Dataset.from_tensor_slices(train)
    data = data.shuffle(len(train), seed=SEED).batch(BATCH, drop_remainder=True).prefetch(2)

    def corrupt(clean):
        sigma = tf.random.uniform((BATCH, 1), 0.2, 1.0)
        noise = tf.random.normal((BATCH, LENGTH))
        return clean + sigma * noise

    @tf.function
    def train_step(clean):
        noisy = corrupt(clean)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(noisy, training=True) - clean))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        losses = [float(train_step(clean)) for clean in data]
        print("epoch %d  mse %.4f" % (epoch, np.mean(losses)))

    sigma = rng.uniform(0.2, 1.0, (len(test), 1))
    noisy = (test + sigma * rng.normal(size=test.shape)).astype("float32")
    mse = np.mean((model.predict(noisy, verbose=0) - test) ** 2)
    print("SCORE mse %.4f" % mse)


if __name__ == "__main__":
    main()
