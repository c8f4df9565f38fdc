"""Spot which of 5 tone keywords was spoken in a half-second clip (synthetic audio)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
RATE, LENGTH, WORDS = 4000, 2000, 5
CONTOURS = [(300, 600), (600, 300), (450, 450), (300, 900), (900, 450)]


def record(word):
    n = int(rng.integers(1300, 2000))
    f0, f1 = np.array(CONTOURS[word]) * rng.uniform(0.9, 1.1)
    phase = 2 * np.pi * np.cumsum(np.linspace(f0, f1, n)) / RATE
    wave = np.sin(phase) + 0.4 * np.sin(2 * phase + rng.uniform(0, 6))
    wave *= np.hanning(n) ** 0.5 * rng.uniform(0.2, 0.9)
    return wave + rng.normal(0, 0.05, n)


def make_set(n):
    words = rng.integers(0, WORDS, n)
    clips = np.zeros((n, LENGTH), "float32")
    for i, w in enumerate(words):
        wave = record(w)
        # most devices keep recording until the buffer is full, some cut the clip
        if rng.random() < 0.97:
            clips[i] = rng.normal(0, 0.05, LENGTH)
            start = rng.integers(0, LENGTH - len(wave) + 1)
            clips[i, start : start + len(wave)] = wave
        else:
            clips[i, : len(wave)] = wave
    return clips, words.astype("int32")


MEL = tf.signal.linear_to_mel_weight_matrix(24, 129, RATE, 80.0, 1900.0)


def features(clip, word):
    spec = tf.abs(tf.signal.stft(clip, frame_length=256, frame_step=80, fft_length=256))
    mel = tf.matmul(spec, MEL)
    logmel = tf.math.log(mel)
    return logmel[..., tf.newaxis], word


train_clips, train_words = make_set(2400)
test_clips, test_words = make_set(600)

train_ds = (
    tf.data.Dataset.from_tensor_slices((train_clips, train_words))
    .batch(32)
    .map(features)
    .cache()
    .shuffle(80)
    .prefetch(2)
)
test_ds = tf.data.Dataset.from_tensor_slices((test_clips, test_words)).batch(100).map(features)
frames = train_ds.element_spec[0].shape[1]

model = keras.Sequential(
    [
        layers.Input((frames, 24, 1)),
        layers.Conv2D(12, (3, 3), activation="relu"),
        layers.MaxPooling2D((2, 2)),
        layers.Conv2D(24, (3, 3), activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(WORDS, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(train_ds, epochs=8, verbose=2)
loss, acc = model.evaluate(test_ds, verbose=0)
print("final train loss %.4f" % history.history["loss"][-1])
print("SCORE accuracy %.4f" % acc)
