"""Trains a risk model of hospital patients who come back within a month, with warm restarts."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, CLINICS = 40000, 30

age = rng.normal(62, 14, N)
stay = rng.gamma(2.0, 2.5, N)
drugs = rng.poisson(4, N)
sodium = rng.normal(139, 4, N)
clinic = rng.integers(0, CLINICS, N)
clinic_effect = rng.normal(0, 0.25, CLINICS)

risk = (
    -2.0
    + 0.25 * (age - 62) / 14
    + 0.3 * np.log1p(stay)
    + 0.12 * (drugs - 4)
    + 0.25 * np.abs(sodium - 139) / 4
    + clinic_effect[clinic]
)
chance = 1 / (1 + np.exp(-risk))
back = (rng.random(N) < chance).astype("float32")

numbers = np.column_stack([age, np.log1p(stay), drugs, sodium, np.abs(sodium - 139)])
n_train = 32000
mean, std = numbers[:n_train].mean(0), numbers[:n_train].std(0)
numbers = ((numbers - mean) / std).astype("float32")

numbers_in = keras.Input((numbers.shape[1],))
clinic_in = keras.Input((1,), dtype="int32")
x = keras.layers.Concatenate()(
    [
        numbers_in,
        keras.layers.Flatten()(keras.layers.Embedding(CLINICS, 3)(clinic_in)),
    ]
)
x = keras.layers.Dense(32, activation="relu")(x)
x = keras.layers.Dropout(0.2)(x)
x = keras.layers.Dense(16, activation="relu")(x)
outputs = keras.layers.Dense(1, activation="sigmoid")(x)
model = keras.Model([numbers_in, clinic_in], outputs)

schedule = keras.optimizers.schedules.CosineDecayRestarts(4e-3, first_decay_steps=250, t_mul=1.5, m_mul=0.8, alpha=0.01)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

model.fit(
    [numbers[:n_train], clinic[:n_train, None]],
    back[:n_train],
    batch_size=128,
    epochs=6,
    verbose=2,
    validation_data=([numbers[n_train:], clinic[n_train:, None]], back[n_train:]),
)


def auc(scores, labels):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels.sum()
    return (ranks[labels > 0.5].sum() - pos * (pos + 1) / 2) / (pos * (len(labels) - pos))


scores = model.predict([numbers[n_train:], clinic[n_train:, None]], batch_size=1000, verbose=0)[:, 0]
print("SCORE best_possible_auc", round(float(auc(chance[n_train:], back[n_train:])), 4))
print("SCORE auc", round(float(auc(scores, back[n_train:])), 4))
