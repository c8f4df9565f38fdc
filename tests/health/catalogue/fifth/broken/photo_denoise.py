import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=640, size=16):
    rng = np.random.default_rng(5)
    g = np.linspace(0, 1, size)
    a, b, c = rng.random((3, n, 1, 1))
    clean = 0.5 + 0.45 * np.sin(6 * a * g[None, :, None] + 5 * b * g[None, None, :] + 6 * c)
    noisy = clean + rng.normal(0, 0.2, clean.shape)
    return noisy[..., None].astype("float32"), clean[..., None].astype("float32")


def to_display(linear):
    return tf.pow(linear, 1.0 / 2.2)


def display_loss(target, restored):
    return tf.reduce_mean(tf.square(to_display(target) - to_display(restored)))


def main():
    keras.utils.set_random_seed(SEED)
    noisy, clean = load()
    inp = keras.Input((16, 16, 1))
    h = layers.Conv2D(16, 3, padding="same", activation="relu", name="enc1")(inp)
    h = layers.Conv2D(16, 3, padding="same", activation="relu", name="enc2")(h)
    out = layers.Conv2D(
        1, 3, padding="same", activation="relu", bias_initializer=keras.initializers.Constant(0.5), name="restore"
    )(h)
    model = keras.Model(inp, out)
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = display_loss(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    gradwatch.watch(model)
    for epoch in range(18):
        order = np.random.permutation(len(noisy))
        total = 0.0
        for i in range(0, len(order), 32):
            idx = order[i : i + 32]
            total += float(step(noisy[idx], clean[idx]))
        print("epoch", epoch, "loss", total / (len(order) // 32))


if __name__ == "__main__":
    main()
