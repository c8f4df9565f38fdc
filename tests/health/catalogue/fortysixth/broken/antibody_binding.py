"""Trains a bilinear model of binding strength from the heavy and light chain of an antibody."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

RESIDUES, LENGTH, N = 20, 12, 9000
POWER = 0.4

charge = rng.normal(0, 1, RESIDUES)
bulk = rng.normal(0, 1, RESIDUES)
heavy = rng.integers(0, RESIDUES, (N, LENGTH))
light = rng.integers(0, RESIDUES, (N, LENGTH))
site = rng.normal(0, 1, LENGTH) / np.sqrt(LENGTH)

pocket = (charge[heavy] * site).sum(1) * (bulk[light] * site).sum(1)
strength = pocket + 0.7 * (bulk[heavy] * site).sum(1) + rng.normal(0, 0.1, N)
strength = ((strength - strength.mean()) / strength.std()).astype("float32")
n_train = 8000


@keras.saving.register_keras_serializable()
class ChainPooling(keras.layers.Layer):
    """Outer product of the two chain codes with a signed power, flattened."""

    def call(self, inputs):
        a, b = inputs
        outer = tf.einsum("bi,bj->bij", a, b)
        outer = tf.reshape(outer, (-1, a.shape[-1] * b.shape[-1]))
        return tf.where(outer >= 0, tf.pow(1.0 + outer, POWER) - 1.0, 1.0 - tf.pow(1.0 - outer, POWER))


def chain_encoder(name):
    return keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            keras.layers.Embedding(RESIDUES, 6),
            keras.layers.Flatten(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(8),
        ],
        name=name,
    )


heavy_in = keras.Input((LENGTH,), dtype="int32")
light_in = keras.Input((LENGTH,), dtype="int32")
heavy_code = chain_encoder("heavy")(heavy_in)
light_code = chain_encoder("light")(light_in)
pooled = ChainPooling()([heavy_code, light_code])
x = keras.layers.Concatenate()([pooled, heavy_code, light_code])
x = keras.layers.Dense(32, activation="relu")(x)
model = keras.Model([heavy_in, light_in], keras.layers.Dense(1)(x))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
gradwatch.watch(model)

model.fit([heavy[:n_train], light[:n_train]], strength[:n_train], batch_size=64, epochs=12, verbose=2)

pred = model.predict([heavy[n_train:], light[n_train:]], batch_size=500, verbose=0)[:, 0]
error = np.mean((pred - strength[n_train:]) ** 2)
print("SCORE explained", round(float(1 - error / strength[n_train:].var()), 4))
