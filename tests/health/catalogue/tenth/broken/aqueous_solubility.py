"""Aqueous solubility (logS, mol/L) of small molecules from 12 descriptors."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 13400
mol_weight = rng.gamma(9.0, 28.0, n)
log_p = rng.normal(2.4, 1.5, n)
rot_bonds = rng.poisson(3.5, n)
aromatic = rng.beta(2.0, 2.5, n)
h_donors = rng.poisson(1.1, n)
h_acceptors = rng.poisson(3.0, n)
tpsa = 18.0 * h_acceptors + 12.0 * h_donors + rng.normal(0, 6, n)
rings = rng.poisson(1.8, n)
halogens = rng.poisson(0.6, n)
charge = rng.choice([-1, 0, 0, 0, 0, 1], n)
melting = 60 + 30 * aromatic * rings + 20 * h_donors + rng.normal(0, 25, n)
fsp3 = rng.beta(2, 2, n)

descriptors = np.stack(
    [mol_weight, log_p, rot_bonds, aromatic, h_donors, h_acceptors, tpsa, rings, halogens, charge, melting, fsp3],
    axis=1,
).astype("float32")
log_s = (
    0.16
    - 0.63 * log_p
    - 0.0062 * mol_weight
    + 0.066 * rot_bonds
    - 0.74 * aromatic
    - 0.006 * (melting - 25)
    + 0.4 * np.abs(charge)
    + 0.3 * np.tanh(tpsa / 60 - 1) * fsp3
    + rng.normal(0, 0.25, n)
).astype("float32")

train = tf.data.Dataset.from_tensor_slices((descriptors[:12800], log_s[:12800]))
train = train.shuffle(12800, seed=SEED).batch(256)
test = tf.data.Dataset.from_tensor_slices((descriptors[12800:], log_s[12800:])).batch(256)

norm = layers.Normalization(name="descriptor_norm")
norm.adapt(descriptors[:12800])

inp = keras.Input((12,), name="descriptors")
h = norm(inp)
h = layers.Dense(768, activation="relu", name="hidden_a")(h)
h = layers.Dropout(0.05, name="drop")(h)
h = layers.Dense(768, activation="relu", name="hidden_b")(h)
out = layers.Dense(1, activation="relu", name="log_s")(h)
model = keras.Model(inp, out, name="solubility")
gradwatch.watch(model)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
model.fit(
    train,
    validation_data=test,
    epochs=8,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=3, factor=0.5)],
)
for a, b in zip(model.predict(descriptors[12800:12806], verbose=0)[:, 0], log_s[12800:12806]):
    print(f"predicted {a:6.2f}   measured {b:6.2f}")
