"""Trains a tagger that assigns several mood and instrument tags to a song."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

TAGS = ["calm", "happy", "dark", "guitar", "piano", "drums", "choir", "strings", "fast", "live"]
DESCRIPTORS, FACTORS, BATCH = 60, 12, 64
mixing = rng.normal(0, 1, (FACTORS, DESCRIPTORS)) / np.sqrt(FACTORS)
tag_axes = rng.normal(0, 1, (FACTORS, len(TAGS))) / np.sqrt(FACTORS)


def make_songs(count):
    factors = rng.normal(0, 1, (count, FACTORS))
    bent = np.sin(1.3 * factors) + 0.5 * factors
    tags = 3 * bent @ tag_axes + rng.normal(0, 0.3, (count, len(TAGS))) > 0.3
    sound = factors @ mixing + rng.normal(0, 0.15, (count, DESCRIPTORS))
    return sound.astype("float32"), tags.astype("float32")


x_train, y_train = make_songs(8000)
x_test, y_test = make_songs(1500)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std
print("tags per song", y_train.sum(1).mean())


class Tagger(keras.Model):
    def __init__(self, tags):
        super().__init__()
        self.body = keras.Sequential(
            [
                layers.Dense(96, activation="gelu"),
                layers.LayerNormalization(),
                layers.Dropout(0.1),
                layers.Dense(96, activation="gelu"),
            ]
        )
        self.head = layers.Dense(tags, activation="softmax")

    def call(self, x, training=False):
        return self.head(self.body(x, training=training))


model = Tagger(len(TAGS))
model(x_train[:2])
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
gradwatch.watch(model)


def tag_loss(y, p):
    hit = y * tf.math.log(p + 1e-7) + (1.0 - y) * tf.math.log(1.0 - p + 1e-7)
    return -tf.reduce_mean(hit)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        probs = model(x, training=True)
        loss = tag_loss(y, probs)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


songs = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000, seed=SEED).batch(BATCH)
for epoch in range(1, 16):
    running = keras.metrics.Mean()
    for x, y in songs:
        running.update_state(step(x, y))
    print(f"epoch {epoch} loss {float(running.result()):.4f}")

probs = model.predict(x_test, batch_size=500, verbose=0)
chosen = probs > 0.5
true_pos = np.sum(chosen & (y_test > 0.5))
f1 = 2 * true_pos / (chosen.sum() + y_test.sum())
print("SCORE micro_f1", float(f1))
