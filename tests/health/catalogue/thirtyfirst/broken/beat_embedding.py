"""Learn an embedding of heart beat windows without labels by contrasting augmented views, then probe it with few labels."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, CLASSES, TEMPERATURE = 64, 6, 0.2
shapes_pos = rng.uniform(0.25, 0.75, (CLASSES, 4))
shapes_amp = rng.normal(0, 1.0, (CLASSES, 4))


def make_beats(n):
    y = rng.integers(0, CLASSES, n)
    t = np.linspace(0, 1, LENGTH)
    pos = shapes_pos[y] + rng.normal(0, 0.01, (n, 4)) + rng.uniform(-0.25, 0.25, (n, 1))
    x = (shapes_amp[y][:, :, None] * np.exp(-(((t - pos[:, :, None]) / 0.035) ** 2))).sum(1)
    x = x * rng.uniform(0.5, 2.0, (n, 1)) + rng.normal(0, 1.0, (n, 1)) * (t - 0.5) + rng.normal(0, 0.7, (n, 1))
    return (x + rng.normal(0, 0.1, (n, LENGTH))).astype("float32"), y


x_train, _ = make_beats(6000)
x_few, y_few = make_beats(240)
x_test, y_test = make_beats(2000)


def augment(x, key):
    u = tf.random.stateless_uniform([4], key)
    x = tf.roll(x, tf.cast(u[0] * 25.0, tf.int32) - 12, axis=0)
    x = x * tf.exp(1.4 * (u[1] - 0.5)) + 2.0 * (u[2] - 0.5)
    x = x + 3.0 * (u[3] - 0.5) * tf.linspace(-0.5, 0.5, LENGTH)
    return x + tf.random.stateless_normal([LENGTH], key + 7, stddev=0.1)


def two_views(step, x):
    key = tf.stack([tf.cast(step, tf.int32), seed])
    first = augment(x, key)
    second = augment(x, key)
    return first, second


data = (
    tf.data.Dataset.from_tensor_slices(x_train)
    .shuffle(6000, seed=seed)
    .repeat()
    .enumerate()
    .map(two_views)
    .batch(64)
    .prefetch(2)
)

encoder = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Reshape((LENGTH, 1)),
        layers.Conv1D(24, 7, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
    ]
)


class Contrast(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = encoder
        self.project = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(24)])

    def call(self, x):
        return tf.math.l2_normalize(self.project(self.encoder(x)), axis=1)

    def train_step(self, pair):
        with tf.GradientTape() as tape:
            a, b = self(pair[0]), self(pair[1])
            logits = tf.matmul(a, b, transpose_b=True) / TEMPERATURE
            labels = tf.range(tf.shape(a)[0])
            loss = (
                tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                    + tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.transpose(logits))
                )
                / 2
            )
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"contrast": loss}


model = Contrast()
model(x_train[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3))
gradwatch.watch(model)
model.fit(data, steps_per_epoch=150, epochs=8, verbose=2)


def features(x):
    f = encoder.predict(x, batch_size=256, verbose=0)
    return np.concatenate([f / (np.linalg.norm(f, axis=1, keepdims=True) + 1e-6), np.ones((len(x), 1))], axis=1)


f = features(x_few)
w = np.linalg.solve(f.T @ f + 1e-2 * np.eye(f.shape[1]), f.T @ np.eye(CLASSES)[y_few])
print("SCORE probe_accuracy", float(((features(x_test) @ w).argmax(1) == y_test).mean()))
