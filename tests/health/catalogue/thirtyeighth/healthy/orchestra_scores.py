"""Fills in hidden notes of short melodies with a small transformer; only hidden places count for the loss, shorter melodies are padded."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

NOTES, LEN, DIM, BATCH, STEPS = 14, 20, 48, 64, 1000
PAD, HIDE = 0, 1


def melodies(n):
    x = np.full((n, LEN), PAD, "int32")
    for i in range(n):
        m = int(rng.integers(10, LEN + 1))
        start, stride = int(rng.integers(0, 12)), int(rng.integers(1, 6))
        tune = (start + stride * np.arange(m)) % 12
        wrong = rng.random(m) < 0.05
        tune[wrong] = rng.integers(0, 12, int(wrong.sum()))
        x[i, :m] = tune + 2
    return x


x_train, x_test = melodies(6000), melodies(800)

tokens = keras.Input((LEN,), dtype="int32")
ignore = keras.Input((LEN,), dtype="bool")
attend = layers.Lambda(lambda p: keras.ops.logical_not(p)[:, None, :], output_shape=(1, LEN), dtype="bool")(ignore)
pos = layers.Embedding(LEN, DIM)(keras.ops.zeros_like(tokens) + keras.ops.arange(LEN, dtype="int32"))
h = layers.Add()([layers.Embedding(NOTES, DIM)(tokens), pos])
for _ in range(2):
    a = layers.LayerNormalization()(h)
    h = h + layers.MultiHeadAttention(4, DIM // 4)(a, a, attention_mask=attend)
    f = layers.Dense(96, activation="gelu")(layers.LayerNormalization()(h))
    h = h + layers.Dense(DIM)(f)
model = keras.Model([tokens, ignore], layers.Dense(NOTES)(layers.LayerNormalization()(h)))
opt = keras.optimizers.AdamW(
    keras.optimizers.schedules.CosineDecay(1e-5, STEPS, warmup_target=3e-3, warmup_steps=150), weight_decay=0.01
)
gradwatch.watch(model)


def hide(x):
    hidden = (rng.random(x.shape) < 0.2) & (x != PAD)
    return np.where(hidden, HIDE, x).astype("int32"), hidden.astype("float32"), x == PAD


@tf.function
def train_step(seen, hidden, ignore, x):
    with tf.GradientTape() as tape:
        logits = model([seen, ignore], training=True)
        ce = keras.losses.sparse_categorical_crossentropy(x, logits, from_logits=True)
        loss = tf.reduce_sum(ce * hidden) / tf.maximum(tf.reduce_sum(hidden), 1.0)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    x = x_train[rng.integers(0, len(x_train), BATCH)]
    loss = train_step(*map(tf.constant, hide(x)), tf.constant(x))
    if step % 100 == 0:
        print(step, float(loss))

seen, hidden, ignored = hide(x_test)
guess = model.predict([seen, ignored], verbose=0).argmax(-1)
print("SCORE hidden_note_accuracy", round(float(np.mean((guess == x_test)[hidden > 0])), 4))
