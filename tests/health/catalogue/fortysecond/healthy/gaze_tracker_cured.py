"""Train a small network that finds the gaze direction from eye images."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIZE = 20
BATCH = 64
EPOCHS = 24


def render_eyes(n, rng):
    yaw = rng.uniform(-0.6, 0.6, n)
    pitch = rng.uniform(-0.45, 0.45, n)
    grid = np.linspace(-1, 1, SIZE)
    gx, gy = np.meshgrid(grid, grid)
    px = 1.1 * np.sin(yaw)[:, None, None]
    py = 1.1 * np.sin(pitch)[:, None, None]
    radius = rng.uniform(0.24, 0.30, n)[:, None, None]
    dist2 = (gx[None] - px) ** 2 + (gy[None] - py) ** 2
    iris = 1.0 / (1.0 + np.exp((np.sqrt(dist2) - radius) / 0.06))
    light = rng.uniform(0.85, 1.0, n)[:, None, None]
    images = light * (1.0 - 0.9 * iris) + rng.normal(0, 0.015, (n, SIZE, SIZE))
    gaze = np.stack([np.cos(pitch) * np.sin(yaw), np.sin(pitch), np.cos(pitch) * np.cos(yaw)], axis=1)
    images = (images - 0.8) / 0.25
    return images[..., None].astype("float32"), gaze.astype("float32")


def build_model():
    inputs = keras.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(12, 3, strides=2, padding="same", activation="relu", name="conv_a")(inputs)
    x = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu", name="conv_b")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu", name="hidden")(x)
    outputs = layers.Dense(3, name="vector")(x)
    return keras.Model(inputs, outputs)


def angular_error(gaze, raw):
    pred = tf.math.l2_normalize(raw, axis=-1, epsilon=1e-8)
    cosine = tf.reduce_sum(gaze * pred, axis=-1)
    return tf.acos(tf.clip_by_value(cosine, -1.0 + 1e-6, 1.0 - 1e-6))


def main():
    rng = np.random.default_rng(SEED + 7)
    x_train, g_train = render_eyes(3000, rng)
    x_test, g_test = render_eyes(600, rng)

    model = build_model()
    optimizer = keras.optimizers.Adam(
        keras.optimizers.schedules.CosineDecay(2e-3, EPOCHS * (len(x_train) // BATCH), alpha=0.05)
    )
    gradwatch.watch(model)

    data = tf.data.Dataset.from_tensor_slices((x_train, g_train))
    data = data.shuffle(len(x_train), seed=SEED).batch(BATCH, drop_remainder=True).prefetch(2)

    @tf.function
    def train_step(images, gaze):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(angular_error(gaze, model(images, training=True)))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        total = []
        for images, gaze in data:
            total.append(float(train_step(images, gaze)))
        print("epoch %d  angular loss %.4f" % (epoch, np.mean(total)))

    err = angular_error(g_test, model.predict(x_test, verbose=0))
    print("SCORE degrees %.4f" % np.degrees(np.mean(err)))


if __name__ == "__main__":
    main()
