"""Trains two encoders that match subtitles to the sound of the scene they belong to."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, WORDS, FRAMES, BANDS = 200, 8, 20, 12
STEPS, BATCH, TEMPERATURE = 1500, 64, 0.01

word_sound = rng.normal(0, 1, (VOCAB, BANDS))


def make_scenes(n):
    text = rng.integers(0, VOCAB, (n, WORDS))
    timing = np.sort(rng.integers(0, WORDS, (n, FRAMES)), axis=1)
    spoken = np.take_along_axis(text, timing, axis=1)
    sound = word_sound[spoken] + rng.normal(0, 0.5, (n, FRAMES, BANDS))
    return text.astype("int32"), sound.astype("float32")


train_text, train_sound = make_scenes(6000)
test_text, test_sound = make_scenes(256)

text_encoder = keras.Sequential(
    [
        keras.Input((WORDS,), dtype="int32"),
        keras.layers.Embedding(VOCAB, 32),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32),
        keras.layers.UnitNormalization(),
    ]
)
sound_encoder = keras.Sequential(
    [
        keras.Input((FRAMES, BANDS)),
        keras.layers.Conv1D(48, 3, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32),
        keras.layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(text_encoder, sound_encoder)


def matching_loss(text_code, sound_code):
    similarity = tf.matmul(text_code, sound_code, transpose_b=True) / TEMPERATURE
    weights = tf.exp(similarity)
    share = tf.linalg.diag_part(weights) / tf.reduce_sum(weights, axis=1)
    return -tf.reduce_mean(tf.math.log(share + 1e-9))


@tf.function
def train_step(text, sound):
    variables = text_encoder.trainable_variables + sound_encoder.trainable_variables
    with tf.GradientTape() as tape:
        loss = matching_loss(text_encoder(text, training=True), sound_encoder(sound, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for step in range(STEPS):
    rows = rng.integers(0, len(train_text), BATCH)
    loss = train_step(tf.constant(train_text[rows]), tf.constant(train_sound[rows]))
    if step % 100 == 0:
        print("step", step, "loss", float(loss))

codes = text_encoder.predict(test_text, verbose=0) @ sound_encoder.predict(test_sound, verbose=0).T
hits = np.mean(np.argmax(codes, axis=1) == np.arange(len(codes)))
print("SCORE retrieval", round(float(hits), 4))
