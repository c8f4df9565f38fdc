"""Trains a small convolutional tagger that lists the effects seen in pictures of fireworks."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 14)

SIDE = 16
EFFECTS = ["peony", "willow", "comet", "ring", "crackle", "palm"]
TEMPLATES = rng.normal(size=(len(EFFECTS), 5, 5))


def pictures(n):
    tags = (rng.uniform(size=(n, len(EFFECTS))) < 0.35).astype("float32")
    sky = 0.5 * rng.normal(size=(n, SIDE, SIDE))
    for i, e in zip(*np.nonzero(tags)):
        r, c = rng.integers(0, SIDE - 5, size=2)
        sky[i, r : r + 5, c : c + 5] += 1.4 * TEMPLATES[e]
    return sky[..., None].astype("float32"), tags


x_train, tags_train = pictures(6000)
x_test, tags_test = pictures(1200)

image = keras.Input((SIDE, SIDE, 1))
h = keras.layers.Conv2D(24, 5, padding="same", activation="relu")(image)
h = keras.layers.Conv2D(24, 3, padding="same", activation="relu")(h)
h = keras.layers.GlobalMaxPooling2D()(h)
h = keras.layers.Dense(48, activation="relu")(h)
model = keras.Model(image, keras.layers.Dense(len(EFFECTS), name="tag_logits")(h))
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, tags):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tags, logits=logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train = tf.data.Dataset.from_tensor_slices((x_train, tags_train)).shuffle(6000, seed=SEED).batch(64)
for epoch in range(8):
    losses = [float(train_step(x, tags)) for x, tags in train]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

found = tf.sigmoid(model.predict(x_test, verbose=0)).numpy() > 0.5
truth = tags_test > 0.5
f1 = 2 * np.sum(found & truth) / (np.sum(found) + np.sum(truth))
print("SCORE micro_f1", round(float(f1), 4))
