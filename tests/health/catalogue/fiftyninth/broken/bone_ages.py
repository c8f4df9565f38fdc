import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE = 28
rng = np.random.default_rng(SEED + 2)
yy, xx = np.mgrid[:SIZE, :SIZE].astype("float32")


def scans(n):
    age = rng.uniform(20, 90, n).astype("float32")
    img = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        cx, cy = rng.uniform(11, 17, 2)
        r = np.hypot(xx - cx, yy - cy)
        thick = 1.0 + 5.0 * (90 - age[i]) / 70
        img[i, ..., 0] = np.exp(-(((r - 8) / thick) ** 2)) * rng.uniform(0.8, 1.2)
    img += rng.normal(0, 0.1, img.shape)
    return img.astype("float32"), age


x_train, y_train = scans(2400)
x_test, y_test = scans(600)
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2400, seed=SEED).batch(40)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(1, name="age"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model)


def predict_age(images, training=False):
    raw = model(images, training=training)[:, 0]
    return tf.clip_by_value(raw, 18.0, 95.0)


@tf.function
def step(images, ages):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(predict_age(images, training=True) - ages))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    total = 0.0
    for n, (images, ages) in enumerate(train, 1):
        loss = step(images, ages)
        watch.log(loss=loss)
        total += float(loss)
    print(f"epoch {epoch} mean abs error {total / n:.2f}")

pred = predict_age(tf.constant(x_test)).numpy()
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))
