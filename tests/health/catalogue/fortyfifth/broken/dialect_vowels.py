"""Trains a recurrent classifier of dialects from formant tracks of a read vowel."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

PLACES = ["coast", "moor", "valley", "upland", "town"]
FRAMES, BATCH, EPOCHS = 24, 96, 10


def make_speakers(n, rng):
    place = rng.integers(0, len(PLACES), n)
    t = np.linspace(0, 1, FRAMES)[None]
    f1 = np.array([520, 600, 480, 560, 650])[place][:, None] + np.array([0, 90, 160, -80, -150])[place][:, None] * t
    f2 = (
        np.array([1700, 1500, 1850, 1600, 1400])[place][:, None]
        + np.array([250, -150, -250, 200, 50])[place][:, None] * t
    )
    f3 = 2500 + 80 * np.sin(np.pi * t) * np.array([1, -1, 0, 2, -2])[place][:, None]
    tract = rng.normal(1.0, 0.07, (n, 1))
    track = np.stack([f1 * tract, f2 * tract, f3 * tract], axis=-1)
    track += rng.normal(0, 1, track.shape) * np.array([50, 100, 110])
    return track, place.astype("int32")


rng = np.random.default_rng(SEED)
tracks, place = make_speakers(2400, rng)
tracks_test, place_test = make_speakers(2000, rng)
mean, std = tracks.mean(axis=(0, 1)), tracks.std(axis=(0, 1))


def widen(tracks, place, rng):
    """Each speaker as read, with another length of the vocal tract and with a worse microphone."""
    longer = tracks * rng.normal(1.0, 0.03, (len(tracks), 1, 1))
    hissy = tracks + rng.normal(0, 1, tracks.shape) * np.array([25, 50, 60])
    x = np.concatenate([tracks, longer, hissy])
    y = np.repeat(place, 3)
    return ((x - mean) / std).astype("float32"), y


x, y = widen(tracks, place, rng)
x_test = ((tracks_test - mean) / std).astype("float32")
print(f"{len(x)} tracks, places {np.bincount(y)}")

model = keras.Sequential(
    [
        keras.Input((FRAMES, 3)),
        layers.GRU(32),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(PLACES)),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(tracks, places):
    with tf.GradientTape() as tape:
        logits = model(tracks, training=True)
        loss = entropy(places, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == places, tf.float32))


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    log = np.mean([[float(v) for v in train_step(a, b)] for a, b in data], axis=0)
    print(f"epoch {epoch:2d}  loss {log[0]:.4f}  accuracy {log[1]:.3f}")

guess = np.argmax(model.predict(x_test, verbose=0), axis=1)
for k, name in enumerate(PLACES):
    print(f"{name:8s} recall {np.mean(guess[place_test == k] == k):.3f}")
print(f"SCORE accuracy {np.mean(guess == place_test):.4f}")
