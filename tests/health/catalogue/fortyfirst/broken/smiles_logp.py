"""Predicts the lipophilicity of small molecules from their SMILES strings, letter by letter."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


pieces = {
    "C": 0.5,
    "CC": 0.95,
    "O": -1.2,
    "N": -1.1,
    "C=C": 0.6,
    "C#C": 0.1,
    "C(=O)": -0.9,
    "S": 0.4,
    "c1ccccc1": 1.9,
    "C1CCCCC1": 0.9,
    "c1ccncc1": 0.7,
    "C1CCNCC1": -0.8,
    "c1ccoc1": 1.1,
    "C1CCOC1": -0.6,
    "c1ccsc1": 1.6,
    "[O-]": -2.6,
    "[N+]": -2.1,
    "(C)": 0.4,
    "(O)": -1.3,
}
names = list(pieces)
value = np.array([pieces[k] for k in names])


def collect(n):
    smiles, logp = [], []
    for _ in range(n):
        k = rng.integers(3, 7)
        idx = rng.integers(0, len(names), k)
        smiles.append("C" + "".join(names[i] for i in idx))
        logp.append(value[idx].sum() + rng.normal(0, 0.2))
    return np.array(smiles), np.array(logp, "float32")


s_train, y_train = collect(3000)
s_test, y_test = collect(600)

vectorize = layers.TextVectorization(split="character", output_sequence_length=44)
vectorize.adapt(s_train)
x_train, x_test = vectorize(s_train), vectorize(s_test)

model = keras.Sequential(
    [
        layers.Input((44,), dtype="int32"),
        layers.Embedding(vectorize.vocabulary_size(), 16),
        layers.Conv1D(48, 5, padding="same", activation="relu"),
        layers.Conv1D(48, 5, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=9, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)), 4))
