import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES = ["healthy", "rust", "mildew", "blight"]
SIZE = 24


def leaf(kind):
    """A synthetic leaf patch: green ground with the lesions of one disease."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    img = np.stack(
        [
            rng.uniform(0.15, 0.3) * np.ones((SIZE, SIZE)),
            rng.uniform(0.45, 0.7) * np.ones((SIZE, SIZE)),
            rng.uniform(0.1, 0.25) * np.ones((SIZE, SIZE)),
        ],
        -1,
    )
    vein = np.abs(yy - SIZE / 2 - rng.normal(0, 2)) < 1
    img[vein] += 0.1
    spots = {"healthy": 0, "rust": 7, "mildew": 3, "blight": 1}[kind]
    radius = {"healthy": 0, "rust": 1.3, "mildew": 3.5, "blight": 7.0}[kind]
    colour = {"healthy": 0, "rust": [0.6, 0.3, 0.1], "mildew": [0.75, 0.78, 0.72], "blight": [0.3, 0.22, 0.12]}[kind]
    for _ in range(spots):
        cy, cx = rng.uniform(2, SIZE - 2, 2)
        mask = np.exp(-(((yy - cy) ** 2 + (xx - cx) ** 2) / (radius * rng.uniform(0.8, 1.2)) ** 2))[..., None]
        img = img * (1 - mask) + mask * np.array(colour)
    return np.clip(img + rng.normal(0, 0.06, img.shape), 0, 1)


labels = rng.integers(0, len(CLASSES), 2000)
images = np.array([leaf(CLASSES[k]) for k in labels], "float32")
cut = 1600

image_ds = tf.data.Dataset.from_tensor_slices(images[:cut]).shuffle(cut)
label_ds = tf.data.Dataset.from_tensor_slices(labels[:cut]).shuffle(cut)
train_ds = tf.data.Dataset.zip((image_ds, label_ds)).batch(50).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(CLASSES)),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    total = 0.0
    for i, (x, y) in enumerate(train_ds):
        total += float(step(x, y))
    print(f"epoch {epoch:2d}  loss {total / (i + 1):.4f}")

pred = model.predict(images[cut:], verbose=0).argmax(1)
print(f"test accuracy {np.mean(pred == labels[cut:]):.3f}")
