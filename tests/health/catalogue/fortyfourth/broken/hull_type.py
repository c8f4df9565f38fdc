"""Ship types from harbour-camera silhouettes, with mirrored copies of every silhouette in the training set."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

H, W = 16, 32
TYPES = ["tanker", "container", "ferry", "tug", "sailing"]
BATCH, EPOCHS = 64, 9


def silhouette(kind):
    img = np.zeros((H, W))
    length = {"tanker": 26, "container": 26, "ferry": 20, "tug": 10, "sailing": 11}[kind] + rng.integers(-2, 3)
    left = rng.integers(0, W - length + 1)
    deck = rng.integers(10, 12)
    img[deck : deck + 3, left : left + length] = 1
    if kind == "tanker":
        img[deck - 4 : deck, left + 1 : left + 5] = 1
    elif kind == "container":
        for c in range(left + 6, left + length - 1, 3):
            img[deck - rng.integers(2, 6) : deck, c : c + 2] = 1
        img[deck - 6 : deck, left + 1 : left + 4] = 1
    elif kind == "ferry":
        img[deck - 5 : deck, left + 2 : left + length - 2] = 1
        img[deck - 3, left + 3 : left + length - 3 : 2] = 0
    elif kind == "tug":
        img[deck - 5 : deck, left + 5 : left + 8] = 1
    else:
        mast = left + length // 2
        for k in range(9):
            img[deck - 1 - k, mast : mast + max(1, (9 - k) // 2)] = 1
    return img * rng.uniform(0.6, 1.0) + rng.normal(0, 0.35, (H, W))


def harbour(n):
    labels = rng.integers(0, len(TYPES), n)
    images = np.stack([silhouette(TYPES[k]) for k in labels])[..., None]
    return images.astype("float32"), labels.astype("int32")


def with_mirrored(images, labels):
    both = np.concatenate([images, images[:, :, ::-1]])
    return both, np.repeat(labels, 2)


x, y = with_mirrored(*harbour(2500))
x_test, y_test = harbour(1000)

model = keras.Sequential(
    [
        keras.Input((H, W, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(len(TYPES)),
    ],
    name="hulls",
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=seed).batch(BATCH, drop_remainder=True)
for epoch in range(EPOCHS):
    losses = [float(step(xb, yb)) for xb, yb in ds]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, batch_size=200, verbose=0).argmax(1)
print("SCORE type_accuracy", round(float((pred == y_test).mean()), 4))
