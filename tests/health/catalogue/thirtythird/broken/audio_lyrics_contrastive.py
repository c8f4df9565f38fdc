"""Two-tower contrastive training which puts short audio features and lyric bags of words into one space."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


N, N_TEST, D_AUDIO, VOCAB, EMB = 4000, 400, 40, 120, 32
mix_audio = rng.normal(size=(10, D_AUDIO))
mix_words = rng.normal(size=(10, VOCAB)) * 0.9


def make(n):
    topic = rng.normal(size=(n, 10))
    audio = np.tanh(topic @ mix_audio * 0.4) + 0.15 * rng.normal(size=(n, D_AUDIO))
    words = rng.poisson(np.exp(np.clip(topic @ mix_words * 0.5, -3, 2.5)))
    return audio.astype("float32"), np.log1p(words).astype("float32")


audio, words = make(N)
audio_test, words_test = make(N_TEST)


def tower(d, name):
    return keras.Sequential(
        [
            keras.Input((d,)),
            layers.Dense(96, activation="gelu"),
            layers.LayerNormalization(),
            layers.Dense(96, activation="gelu"),
            layers.Dense(EMB),
            layers.UnitNormalization(),
        ],
        name=name,
    )


in_a, in_w = keras.Input((D_AUDIO,)), keras.Input((VOCAB,))
audio_tower, word_tower = tower(D_AUDIO, "audio"), tower(VOCAB, "words")
model = keras.Model([in_a, in_w], [audio_tower(in_a), word_tower(in_w)])

audio_ds = tf.data.Dataset.from_tensor_slices(audio)
words_ds = tf.data.Dataset.from_tensor_slices(words)
pairs = tf.data.Dataset.zip((audio_ds.shuffle(N), words_ds.shuffle(N)))
pairs = pairs.repeat().batch(64, drop_remainder=True).prefetch(2)

optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
TEMPERATURE = 0.1
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(a, w):
    with tf.GradientTape() as tape:
        za, zw = model([a, w], training=True)
        logits = tf.matmul(za, zw, transpose_b=True) / TEMPERATURE
        target = tf.range(tf.shape(logits)[0])
        loss = 0.5 * (xent(target, logits) + xent(target, tf.transpose(logits)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step, (a, w) in enumerate(pairs.take(900)):
    loss = train_step(a, w)
    if step % 100 == 0:
        print("step", step, "loss", round(float(loss), 4))

za, zw = model.predict([audio_test, words_test], verbose=0)
sim = za @ zw.T
rank = (sim > np.diag(sim)[:, None]).sum(1)
print("SCORE recall_at_5", round(float((rank < 5).mean()), 4))
