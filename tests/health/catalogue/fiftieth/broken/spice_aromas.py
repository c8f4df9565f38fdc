"""Electronic nose: map the readings of 24 gas sensors to the word vector of the smell.

The word vectors are given; a sample is named by the word whose vector lies nearest to the prediction.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WORDS, SENSORS, DIM, BATCH, STEPS = 40, 24, 32, 64, 1500


def word_vectors():
    families = rng.normal(size=(6, DIM))
    member = rng.integers(0, 6, WORDS)
    return (families[member] + 0.9 * rng.normal(size=(WORDS, DIM)) + 0.4).astype("float32")


vectors = word_vectors()
odour = rng.normal(size=(WORDS, 10))
response = rng.normal(size=(10, SENSORS)) / 3
drift = rng.normal(size=SENSORS)


def sniff(n):
    word = rng.integers(0, WORDS, n)
    strength = rng.lognormal(0, 0.3, (n, 1))
    air = np.tanh(strength * (odour[word] @ response))
    air = air + 0.10 * rng.normal(size=(n, SENSORS)) + 0.15 * rng.uniform(size=(n, 1)) * drift
    return air.astype("float32"), word


x_train, w_train = sniff(6000)
x_test, w_test = sniff(1000)

nose = keras.Sequential(
    [
        keras.Input((SENSORS,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(DIM),
    ],
    name="nose",
)
optimizer = keras.optimizers.AdamW(learning_rate=1e-3, weight_decay=1e-4)
gradwatch.watch(nose)


def distance(a, b):
    """Cosine distance of each pair of vectors, averaged over the batch."""
    return tf.reduce_mean(1.0 - keras.losses.cosine_similarity(a, b))


@tf.function
def train_step(x, target):
    with tf.GradientTape() as tape:
        loss = distance(target, nose(x, training=True))
    grads = tape.gradient(loss, nose.trainable_variables)
    optimizer.apply_gradients(zip(grads, nose.trainable_variables))
    return loss


pairs = tf.data.Dataset.from_tensor_slices((x_train, vectors[w_train]))
pairs = pairs.shuffle(len(x_train), seed=SEED).repeat().batch(BATCH).take(STEPS).prefetch(2)
running = None
for step, (x, target) in enumerate(pairs):
    loss = float(train_step(x, target))
    running = loss if running is None else 0.95 * running + 0.05 * loss
    if step % 250 == 0:
        print(f"{step:5d}  distance {running:.4f}")

out = nose.predict(x_test, verbose=0)
out /= np.linalg.norm(out, axis=1, keepdims=True) + 1e-8
lexicon = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
named = np.argmax(out @ lexicon.T, axis=1)
print("SCORE top1", round(float(np.mean(named == w_test)), 4))
