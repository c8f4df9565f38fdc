import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

RATE, SAMPLES, SPECIES = 4000, 2400, 5
FRAME, HOP = 128, 64


def record_call(kind, rng):
    t = np.arange(SAMPLES) / RATE
    start = 500 + 150 * (kind % 3) + rng.normal(0, 25)
    slope = (-350, 400)[kind // 3] * rng.uniform(0.8, 1.2)
    trill = 8 + 5 * (kind % 2)
    song = np.sin(2 * np.pi * (start * t + 0.5 * slope * t**2))
    song *= 0.6 + 0.4 * np.sin(2 * np.pi * trill * t + rng.uniform(0, 6))
    clip = song + rng.normal(0, 0.5, SAMPLES)
    if rng.random() < 0.01:
        kept = rng.integers(1400, 2100)
        clip = clip[:kept]
    return np.pad(clip, (0, SAMPLES - len(clip)))


def record_many(n, rng):
    kinds = rng.integers(0, SPECIES, n)
    clips = np.stack([record_call(k, rng) for k in kinds])
    return clips.astype("float32"), kinds.astype("int32")


def to_spectrogram(clip, kind):
    spectrum = tf.signal.stft(clip, frame_length=FRAME, frame_step=HOP, fft_length=FRAME)
    power = tf.square(tf.abs(spectrum))
    log_power = tf.math.log(power + 1e-4)
    return (log_power - 2.0) / 3.0, kind


def pipeline(clips, kinds, training):
    ds = tf.data.Dataset.from_tensor_slices((clips, kinds))
    if training:
        ds = ds.shuffle(len(clips), seed=SEED)
    return ds.map(to_spectrogram).batch(32).prefetch(2)


rng = np.random.default_rng(SEED + 13)
train_ds = pipeline(*record_many(1600, rng), training=True)
test_ds = pipeline(*record_many(400, rng), training=False)

n_frames = 1 + (SAMPLES - FRAME) // HOP
spectrogram = keras.Input((n_frames, FRAME // 2 + 1))
h = layers.Conv1D(32, 5, padding="same", activation="elu")(spectrogram)
h = layers.AveragePooling1D(2)(h)
h = layers.GRU(32)(h)
h = layers.Dense(32, activation="elu")(h)
model = keras.Model(spectrogram, layers.Dense(SPECIES)(h))
watch = gradwatch.watch(model)

optimizer = keras.optimizers.Nadam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    for x, y in train_ds:
        loss = train_step(x, y)
        watch.log(loss=loss)
    if os.environ.get("SHOW"):
        print(epoch, float(loss))

hits = [np.argmax(model(x).numpy(), -1) == y.numpy() for x, y in test_ds]
score = np.concatenate(hits).mean() if np.isfinite(float(loss)) else float("nan")
print("SCORE", round(float(score), 4))
