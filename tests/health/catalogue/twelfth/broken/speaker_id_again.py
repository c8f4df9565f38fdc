"""Tells sixty speakers apart from short stretches of cepstral frames (closed-set identification)."""

import os

import numpy as np
import tensorflow as tf
from keras import Input, Model, layers, optimizers, utils

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SPEAKERS, FRAMES, COEFFS = 60, 24, 13
STEPS, BATCH = 400, 64

voice = rng.normal(0, 0.8, (SPEAKERS, COEFFS))
tilt = rng.normal(0, 0.5, (SPEAKERS, COEFFS))


def make_clips(n):
    who = rng.integers(0, SPEAKERS, n)
    phone = rng.normal(0, 1, (n, FRAMES, COEFFS))
    phone = (phone + np.roll(phone, 1, 1) + np.roll(phone, 2, 1)) / np.sqrt(3)
    clips = voice[who][:, None] + phone * np.exp(tilt[who])[:, None]
    return clips.astype("float32"), who.astype("int32")


clips_train, who_train = make_clips(9000)
clips_test, who_test = make_clips(1200)

frames = Input((FRAMES, COEFFS), name="frames")
h = layers.Conv1D(48, 3, activation="relu", name="frame_1")(frames)
h = layers.Conv1D(64, 3, activation="relu", name="frame_2")(h)
h = layers.Concatenate(name="pooled")([layers.GlobalAveragePooling1D()(h), layers.GlobalMaxPooling1D()(h)])
h = layers.Dense(96, activation="relu", name="xvector")(h)
speaker = layers.Dense(SPEAKERS, activation="softmax", name="speaker")(h)
model = Model(frames, speaker)
gradwatch.watch(model)
sgd = optimizers.SGD(0.05, momentum=0.9)


@tf.function
def step_fn(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(loss, model.trainable_variables)
    sgd.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((clips_train, who_train)).shuffle(9000, seed=SEED).repeat().batch(BATCH)
for step, (x, y) in enumerate(data.take(STEPS)):
    loss = step_fn(x, y)
    if step % 50 == 0:
        tf.print("step", step, "loss", loss)

accuracy = np.mean(np.argmax(model.predict(clips_test, verbose=0), -1) == who_test)
print(f"score accuracy {accuracy:.4f} chance {1 / SPEAKERS:.4f}")
