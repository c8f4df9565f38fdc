"""Segment bright cell nuclei in small microscope crops with a tiny fully convolutional network."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 32
yy, xx = np.mgrid[:SIZE, :SIZE].astype("float32")


def crops(n):
    images = np.empty((n, SIZE, SIZE, 1), "float32")
    masks = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        image = 0.15 + 0.1 * (xx * rng.normal() + yy * rng.normal()) / SIZE
        for _ in range(rng.integers(2, 6)):
            cy, cx = rng.uniform(3, SIZE - 3, 2)
            a, b = rng.uniform(2.5, 5, 2)
            inside = ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2
            image = image + rng.uniform(0.6, 1.0) * (inside < 1) * (1 - 0.3 * inside)
            masks[i, ..., 0] = np.maximum(masks[i, ..., 0], inside < 1)
        images[i, ..., 0] = image + 0.04 * rng.normal(size=(SIZE, SIZE))
    return images, masks


x_train, m_train = crops(1600)
x_test, m_test = crops(300)
mean, std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

model = keras.Sequential(
    [
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.Conv2D(1, 1, activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.Adam(5e-4)
data = tf.data.Dataset.from_tensor_slices((x_train, m_train)).shuffle(1600, seed=seed).batch(16)
NUCLEUS_WEIGHT = 2.0


def weighted_bce(mask, prob):
    loss = -(NUCLEUS_WEIGHT * mask * tf.math.log(prob) + (1.0 - mask) * tf.math.log(1.0 - prob))
    return tf.reduce_mean(loss)


gradwatch.watch(model)


@tf.function
def train_step(image, mask):
    with tf.GradientTape() as tape:
        loss = weighted_bce(mask, model(image, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(6):
    losses = [float(train_step(image, mask)) for image, mask in data]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0) > 0.5
truth = m_test > 0.5
dice = 2 * (pred & truth).sum() / max((pred.sum() + truth.sum()), 1)
print("SCORE dice", round(float(dice), 4))
