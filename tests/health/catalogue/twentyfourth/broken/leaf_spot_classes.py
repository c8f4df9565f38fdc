"""Classify leaf diseases from small two-channel images."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, CLASSES = 20, 4


def make_leaves(n):
    label = rng.integers(0, CLASSES, n)
    rows, cols = np.mgrid[0:SIZE, 0:SIZE]
    image = rng.normal(0, 0.3, (n, SIZE, SIZE, 2))
    for i in range(n):
        for _ in range(rng.integers(2, 5)):
            r, c = rng.uniform(4, SIZE - 4, 2)
            dist = np.hypot(rows - r, cols - c)
            if label[i] == 0:
                image[i, :, :, 0] += dist < 2
            elif label[i] == 1:
                image[i, :, :, 0] += np.abs(dist - 3) < 0.8
            elif label[i] == 2:
                image[i, :, :, 1] += dist < 2
            else:
                image[i, :, :, 1] += np.abs(dist - 3) < 0.8
    return image.astype("float32"), label.astype("int32")


x_train, y_train = make_leaves(2400)
x_test, y_test = make_leaves(600)

images = tf.data.Dataset.from_tensor_slices(x_train).shuffle(2400, reshuffle_each_iteration=True)
labels = tf.data.Dataset.from_tensor_slices(y_train).shuffle(2400, reshuffle_each_iteration=True)
train = tf.data.Dataset.zip((images, labels)).batch(48).prefetch(2)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(200)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 2)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)
optimizer = keras.optimizers.RMSprop(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy()
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    losses = [float(train_step(x, y)) for x, y in train]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

hits = [np.mean(model(x).numpy().argmax(axis=1) == y.numpy()) for x, y in test]
print("SCORE accuracy", float(np.mean(hits)))
