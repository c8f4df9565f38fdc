"""Hand gestures from an eight-electrode forearm band: from the muscles that fire."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)


ELECTRODES, SAMPLES = 8, 64
GESTURES = ["fist", "open", "pinch", "point", "flex", "extend"]
rng = np.random.default_rng(SEED + 61)
# first and second electrode to fire for each gesture
FIRING = [(1, 3), (2, 4), (3, 5), (1, 4), (2, 5), (1, 5)]


def burst(centre):
    t = np.arange(SAMPLES)
    return np.exp(-(((t - centre) / 7.0) ** 2))


def repetition(gesture):
    start = rng.uniform(14, 26)
    envelope = np.full((ELECTRODES, SAMPLES), 0.25)
    for order, electrode in enumerate(FIRING[gesture]):
        envelope[electrode] += rng.uniform(0.7, 1.5) * burst(start + 22 * order + rng.normal(0, 2))
    envelope = envelope + 0.15 * np.roll(envelope, 1, axis=0)  # crosstalk
    raw = envelope * rng.normal(0, 1, envelope.shape)
    return np.abs(raw) + rng.normal(0, 0.05, raw.shape)


def session(n):
    """Returns (repetition, electrode, sample), as the band's driver delivers it."""
    gesture = rng.integers(0, len(GESTURES), n)
    return np.stack([repetition(g) for g in gesture]).astype("float32"), gesture.astype("int32")


emg_train, gesture_train = session(4800)
emg_test, gesture_test = session(1200)
level = emg_train.mean()


def to_sequence(emg):
    return tf.reshape(emg, (-1, SAMPLES, ELECTRODES)) / level


def encoder():
    inputs = keras.Input((SAMPLES, ELECTRODES))
    h = keras.layers.Conv1D(32, 5, padding="same", use_bias=False)(inputs)
    h = keras.layers.BatchNormalization()(h)
    h = keras.layers.ReLU()(h)
    h = keras.layers.MaxPooling1D(2)(h)
    h = keras.layers.Conv1D(48, 5, padding="same", activation="relu")(h)
    h = keras.layers.GlobalAveragePooling1D()(h)
    h = keras.layers.Dropout(0.2)(h)
    return keras.Model(inputs, keras.layers.Dense(len(GESTURES))(h), name="emg")


model = encoder()
optimizer = keras.optimizers.Adam(1e-3, clipnorm=1.0)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(emg, gesture):
    with tf.GradientTape() as tape:
        logits = model(to_sequence(emg), training=True)
        loss = loss_fn(gesture, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.reduce_sum(tf.cast(tf.argmax(logits, 1, tf.int32) == gesture, tf.int32))


repetitions = (
    tf.data.Dataset.from_tensor_slices((emg_train, gesture_train)).shuffle(4800, seed=SEED).batch(48).prefetch(2)
)
for epoch in range(6):
    total, right = 0.0, 0
    for emg, gesture in repetitions:
        loss, hits = step(emg, gesture)
        total, right = total + float(loss), right + int(hits)
    print(f"epoch {epoch}  loss {total / 100:.3f}  accuracy {right / 4800:.3f}")

logits = model(to_sequence(emg_test), training=False).numpy()
print("SCORE accuracy", float(np.mean(logits.argmax(1) == gesture_test)))
