"""Aqueous solubility of drug-like molecules from physico-chemical descriptors."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BATCH = 32
EPOCHS = 12
NAMES = [
    "logP",
    "mol_weight",
    "tpsa",
    "h_donors",
    "h_acceptors",
    "rot_bonds",
    "arom_rings",
    "melting_point",
    "frac_csp3",
    "charge",
]


def make_molecules(n):
    """Descriptors and log10 of the solubility in mol/l."""
    weight = rng.gamma(9.0, 36.0, n)
    rings = rng.poisson(1.7, n)
    donors = rng.poisson(1.4, n)
    acceptors = donors + rng.poisson(2.5, n)
    tpsa = 9.0 * acceptors + 12.0 * donors + rng.normal(0, 6, n)
    rot = rng.poisson(weight / 75.0)
    csp3 = np.clip(0.75 - 0.16 * rings + rng.normal(0, 0.12, n), 0, 1)
    charge = rng.choice([-1, 0, 1], size=n, p=[0.1, 0.8, 0.1])
    logp = 0.004 * weight + 0.8 * rings - 0.018 * tpsa + rng.normal(0, 0.9, n)
    melting = 90 + 35 * rings + 18 * donors - 5 * rot + rng.normal(0, 35, n)
    log_s = (
        0.4
        - 0.95 * logp
        - 0.0045 * (weight - 100)
        - 0.009 * (melting - 25)
        + 0.9 * np.abs(charge)
        + 0.5 * csp3 * np.tanh(logp)
        + rng.normal(0, 0.35, n)
    )
    x = np.stack([logp, weight, tpsa, donors, acceptors, rot, rings, melting, csp3, charge], axis=1)
    return x.astype("float32"), log_s.astype("float32")


x, y = make_molecules(4000)
n_train, n_val = 2800, 400
x_train, y_train = x[:n_train], y[:n_train]
x_val, y_val = x[n_train : n_train + n_val], y[n_train : n_train + n_val]
x_test, y_test = x[n_train + n_val :], y[n_train + n_val :]
print("logS mean %.2f sd %.2f" % (y_train.mean(), y_train.std()))

normalise = layers.Normalization(axis=-1)
normalise.adapt(x_train)


def build_model():
    inputs = keras.Input((len(NAMES),))
    h = normalise(inputs)
    h = layers.Dense(64, activation="relu", kernel_initializer="he_normal")(h)
    h = layers.Dense(64, activation="relu", kernel_initializer="he_normal")(h)
    h = layers.Dense(32, activation="relu", kernel_initializer="he_normal")(h)
    outputs = layers.Dense(1, activation="relu", name="log_solubility")(h)
    return keras.Model(inputs, outputs)


model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="mse",
    metrics=["mae"],
)
watch = gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)[:, 0]
score = float(1.0 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2))
print("score", score)
