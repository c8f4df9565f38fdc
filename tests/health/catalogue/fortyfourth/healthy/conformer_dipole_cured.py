"""Trains a network on conformer energies and the thermally averaged dipole of small molecules."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 3)

RT = 2.479  # kJ/mol at room temperature
CONFORMERS = 6
MOLECULES = 5000


def make_molecules():
    """Descriptors per conformer, energies in kJ/mol, averaged dipoles in debye."""
    skeleton = rng.normal(size=(MOLECULES, 1, 8))
    torsions = rng.normal(size=(MOLECULES, CONFORMERS, 4))
    w = np.random.default_rng(99)
    a, b, c = w.normal(size=(8, 4)), w.normal(size=(4, 3)) / 2, w.normal(size=(4, 2)) / 2
    base = -130 + 45 * np.tanh(skeleton @ a / 3).sum(-1) / 1.5
    strain = 4.0 * np.sin(torsions @ b).sum(-1)
    energy = base + strain
    dipole = 1.5 + np.tanh(torsions @ c).sum(-1) + 0.3 * skeleton[..., 0]
    weight = np.exp(-(energy - energy.min(1, keepdims=True)) / RT)
    average = (weight * dipole).sum(1) / weight.sum(1)
    features = np.concatenate([np.repeat(skeleton, CONFORMERS, axis=1), torsions], axis=-1)
    return features.astype("float32"), energy.astype("float32"), average.astype("float32")[:, None]


@keras.saving.register_keras_serializable()
class ThermalAverage(keras.layers.Layer):
    """Averages a property over conformers with Boltzmann weights."""

    def call(self, energy, value):
        energy = energy - tf.reduce_min(energy, axis=1, keepdims=True)
        weight = tf.exp(-energy / RT)
        total = tf.reduce_sum(weight, axis=1, keepdims=True)
        return tf.reduce_sum(weight / total * value, axis=1, keepdims=True)


features, energy, dipole = make_molecules()
n = 4200
conformers = keras.Input((CONFORMERS, features.shape[-1]))
h = keras.layers.Dense(64, activation="swish")(conformers)
h = keras.layers.Dense(64, activation="swish")(h)
raw_energy = keras.layers.Dense(1)(h)
raw_energy = keras.layers.Rescaling(100.0)(raw_energy)
e = keras.layers.Reshape((CONFORMERS,), name="energy")(raw_energy)
mu = keras.layers.Reshape((CONFORMERS,))(keras.layers.Dense(1)(h))
average = ThermalAverage(name="dipole")(e, mu)
model = keras.Model(conformers, {"energy": e, "dipole": average})
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss={"energy": "mse", "dipole": "mse"},
    loss_weights={"energy": 1e-4, "dipole": 1.0},
)
gradwatch.watch(model)
model.fit(
    features[:n],
    {"energy": energy[:n], "dipole": dipole[:n]},
    batch_size=64,
    epochs=20,
    verbose=2,
)

out = model.predict(features[n:], verbose=0)
print("SCORE energy_mae", np.abs(out["energy"] - energy[n:]).mean())
print("SCORE dipole_r2", 1 - ((out["dipole"] - dipole[n:]) ** 2).mean() / dipole[n:].var())
