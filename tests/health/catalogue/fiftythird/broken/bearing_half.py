"""Which bearing is worn? Vibration frames, half precision, energy per learned filter."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

N_CLIPS, N_FRAMES, FRAME, N_KINDS = 3000, 60, 32, 5


def clips(n):
    kind = rng.integers(0, N_KINDS, n)
    t = np.arange(N_FRAMES * FRAME).reshape(1, N_FRAMES, FRAME)
    hum = np.sin(0.25 * t + rng.uniform(0, 6, (n, 1, 1)))
    rate = 0.9 + 0.14 * kind[:, None, None] + rng.normal(scale=0.02, size=(n, 1, 1))
    wear = 0.3 * np.sin(rate * t + rng.uniform(0, 6, (n, 1, 1)))
    noise = rng.normal(scale=0.7, size=(n, N_FRAMES, FRAME))
    gain = np.exp(rng.normal(loc=2.2, scale=0.7, size=(n, 1, 1)))
    return (gain * (hum + wear + noise)).astype("float32"), kind.astype("int32")


@keras.saving.register_keras_serializable()
class FilterEnergy(keras.layers.Layer):
    """Log energy of every filter over the whole clip."""

    def call(self, x):
        energy = tf.reduce_sum(tf.square(x), axis=1)
        return tf.math.log(energy + 1.0)


def build():
    clip = keras.Input((N_FRAMES, FRAME))
    x = keras.layers.Dense(48)(clip)
    x = FilterEnergy()(x)
    x = keras.layers.LayerNormalization()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    x = keras.layers.Dense(N_KINDS)(x)
    out = keras.layers.Activation("softmax", dtype="float32")(x)
    return keras.Model(clip, out)


train_x, train_y = clips(N_CLIPS)
test_x, test_y = clips(800)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=32,
    epochs=6,
    validation_data=(test_x, test_y),
    verbose=2,
)
loss, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("test loss", round(float(loss), 4))
print("SCORE accuracy", round(float(accuracy), 4))
