"""Sorts photographs of sea shells by the pattern on their surface."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 20
CLASSES = 6
BATCH = 48
EPOCHS = 9


def shell(kind):
    """Bands, spots, zigzags, rays, rings or net on a lit, tilted, dusty shell."""
    v, u = np.mgrid[0:SIDE, 0:SIDE] / SIDE - 0.5
    turn = rng.normal(0, 0.25)
    a = u * np.cos(turn) - v * np.sin(turn)
    b = u * np.sin(turn) + v * np.cos(turn)
    pitch = rng.uniform(4.0, 5.5) * 2 * np.pi
    shift = rng.uniform(0, 2 * np.pi)
    if kind == 0:
        image = np.sin(pitch * b + shift)
    elif kind == 1:
        image = np.sin(pitch * a + shift) * np.sin(pitch * b + shift)
    elif kind == 2:
        image = np.sin(pitch * (b + 0.08 * np.sign(np.sin(10 * np.pi * a))) + shift)
    elif kind == 3:
        image = np.sin(9 * np.arctan2(b, a + 0.6) * 2 + shift)
    elif kind == 4:
        image = np.sin(pitch * np.hypot(a, b) + shift)
    else:
        image = np.maximum(np.sin(pitch * (a + b) + shift), np.sin(pitch * (a - b)))
    light = 1.0 + 0.5 * (u * rng.normal() + v * rng.normal())
    image = light * (0.5 + 0.35 * image) + rng.normal(0, 0.22, image.shape)
    tint = rng.uniform(0.7, 1.0, 3)
    return (image[..., None] * tint).astype("float32")


labels = rng.integers(0, CLASSES, 2000)
images = np.stack([shell(kind) for kind in labels])
images -= images.mean(axis=(1, 2), keepdims=True)
x_train, y_train = images[:1500], labels[:1500]
x_test, y_test = images[1500:], labels[1500:]

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 3)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.SpatialDropout2D(0.9),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.9),
        layers.Dense(CLASSES),
    ]
)
watch = gradwatch.watch(model)
optimizer = keras.optimizers.Adam(1.5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
seen = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    seen.update_state(y, logits)
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
data = data.shuffle(1500, seed=SEED).batch(BATCH, drop_remainder=True).prefetch(2)
for epoch in range(EPOCHS):
    seen.reset_state()
    for x, y in data:
        loss = train_step(x, y)
        watch.log(loss=loss)
    print(f"epoch {epoch} loss {float(loss):.3f} accuracy {float(seen.result()):.3f}")

logits = model(x_test, training=False).numpy()
print("score", round(float(np.mean(logits.argmax(1) == y_test)), 4))
