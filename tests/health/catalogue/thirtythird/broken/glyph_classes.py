"""Classify forty hand-made glyphs under shift and noise with a small convolutional net."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES, SIZE, BATCH, EPOCHS = 40, 14, 50, 10

glyphs = np.zeros((CLASSES, 10, 10), "float32")
for c in range(CLASSES):
    y, x = rng.integers(0, 10, 2)
    for _ in range(40):
        glyphs[c, y, x] = 1.0
        d = rng.integers(0, 4)
        y = np.clip(y + (d == 0) - (d == 1), 0, 9).astype(int)
        x = np.clip(x + (d == 2) - (d == 3), 0, 9).astype(int)


def make(n):
    labels = rng.integers(0, CLASSES, n)
    imgs = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i, c in enumerate(labels):
        dy, dx = rng.integers(0, 5, 2)
        imgs[i, dy : dy + 10, dx : dx + 10, 0] = glyphs[c]
    return imgs + rng.normal(0, 0.25, imgs.shape).astype("float32"), labels.astype("int32")


x_train, y_train = make(5000)
x_test, y_test = make(1000)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000).batch(BATCH)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(96, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ]
)
optimizer = keras.optimizers.SGD(0.03, momentum=0.9)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in train_ds]
    print("epoch", epoch, "loss", np.mean(losses))

pred = model.predict(x_test, verbose=0).argmax(1)
print("SCORE accuracy", round(float((pred == y_test).mean()), 4))
