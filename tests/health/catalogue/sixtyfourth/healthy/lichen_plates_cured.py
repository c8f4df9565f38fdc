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
EPOCHS = 60


def load():
    digits = load_digits()
    images = digits.images.astype("float32")[..., None]
    onehot = keras.utils.to_categorical(digits.target, 10).astype("float32")
    return train_test_split(images, onehot, test_size=0.25, random_state=SEED)


def build():
    inputs = keras.Input((8, 8, 1))
    x = keras.layers.Conv2D(24, 3, padding="same", activation="relu", name="plate_conv1")(inputs)
    x = keras.layers.Conv2D(32, 3, padding="same", activation="relu", name="plate_conv2")(x)
    x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(96, activation="relu", name="plate_dense")(x)
    scores = keras.layers.Dense(10, name="species_scores")(x)
    return keras.Model(inputs, scores)


x_train, x_test, y_train, y_test = load()
model = build()
optimizer = keras.optimizers.Adam(1e-2)
watch = gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=SEED).batch(BATCH, drop_remainder=True)
)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        scores = model(images, training=True)
        per_image = -tf.reduce_sum(labels * tf.nn.log_softmax(scores), axis=1)
        loss = tf.reduce_mean(per_image)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(EPOCHS):
    running = []
    for images, labels in dataset:
        running.append(float(train_step(images, labels)))
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", np.mean(running))

pred = model.predict(x_test, verbose=0).argmax(axis=1)
print("SCORE", float((pred == y_test.argmax(axis=1)).mean()))
