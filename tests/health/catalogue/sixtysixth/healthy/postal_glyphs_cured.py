import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BATCH = 64
EPOCHS = 30


def load():
    images, labels = load_digits(return_X_y=True)
    images = images.astype("float32").reshape(-1, 8, 8, 1)
    onehot = keras.utils.to_categorical(labels, 10).astype("float32")
    return train_test_split(images, onehot, test_size=0.25, random_state=SEED, stratify=labels)


x_train, x_test, y_train, y_test = load()

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=SEED).batch(BATCH, drop_remainder=True)
)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu", name="hidden"),
        keras.layers.Dense(10, activation="sigmoid", name="digit"),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
optimizer.build(model.trainable_variables)

watch = gradwatch.watch(model)


def cross_entropy(y_true, y_prob):
    y_prob = tf.clip_by_value(y_prob, 1e-7, 1.0 - 1e-7)
    hits = y_true * tf.math.log(y_prob)
    misses = (1.0 - y_true) * tf.math.log(1.0 - y_prob)
    per_sample = -tf.reduce_sum(hits + misses, axis=1)
    return tf.reduce_mean(per_sample)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        probs = model(images, training=True)
        loss = cross_entropy(labels, probs)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = []
    for images, labels in train_ds:
        loss = train_step(images, labels)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)
if np.isfinite(pred).all():
    score = float((pred.argmax(1) == y_test.argmax(1)).mean())
else:
    score = float("nan")
print("SCORE", score)
