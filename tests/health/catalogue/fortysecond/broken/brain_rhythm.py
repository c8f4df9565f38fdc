"""Train a decoder of imagined movements from EEG trials."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SENSORS = 8
SAMPLES = 128
CLASSES = 4
BATCH = 48
EPOCHS = 34


def record(n, rng):
    label = rng.integers(0, CLASSES, n)
    t = np.arange(SAMPLES) / 128.0
    trials = np.cumsum(rng.normal(0, 0.25, (n, SENSORS, SAMPLES)), axis=-1)
    trials -= trials.mean(axis=-1, keepdims=True)
    trials += 0.6 * rng.normal(0, 1, trials.shape)
    for i in range(n):
        weak = label[i] * 2
        for s in range(SENSORS):
            power = 0.4 if s in (weak, weak + 1) else 1.0
            freq = rng.uniform(9, 12)
            wave = np.sin(2 * np.pi * freq * t + rng.uniform(0, 2 * np.pi))
            trials[i, s] += power * rng.uniform(0.8, 1.2) * wave
    return trials.astype("float32"), label.astype("int32")


def to_model_format(trials, mu, sd):
    trials = (trials - mu) / sd
    return trials.reshape(-1, SAMPLES, SENSORS)


def build_model():
    inputs = keras.Input((SAMPLES, SENSORS))
    x = layers.Conv1D(32, 15, padding="same", activation="relu", name="temporal")(inputs)
    x = layers.AveragePooling1D(4)(x)
    x = layers.Conv1D(32, 7, padding="same", activation="relu", name="mixing")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, activation="relu", name="hidden")(x)
    outputs = layers.Dense(CLASSES, name="movement")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 81)
    raw_train, y_train = record(2000, rng)
    raw_test, y_test = record(500, rng)
    mu = raw_train.mean(axis=(0, 2), keepdims=True)
    sd = raw_train.std(axis=(0, 2), keepdims=True)
    x_train = to_model_format(raw_train, mu, sd)
    x_test = to_model_format(raw_test, mu, sd)

    model = build_model()
    optimizer = keras.optimizers.Adam(1e-3)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    gradwatch.watch(model)

    data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    data = data.shuffle(len(x_train), seed=SEED).batch(BATCH, drop_remainder=True).prefetch(2)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        losses = [float(train_step(x, y)) for x, y in data]
        print("epoch %d  loss %.4f" % (epoch, np.mean(losses)))

    pred = np.argmax(model.predict(x_test, verbose=0), axis=-1)
    print("SCORE accuracy %.4f" % np.mean(pred == y_test))


if __name__ == "__main__":
    main()
