"""Share of jurors who vote to convict, from features of a trial and the words of the closing speech."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

JURORS, WORDS, SPEECH = 12, 300, 24
world = np.random.default_rng(77)
weight = world.normal(0, 0.55, WORDS) * (world.random(WORDS) < 0.4)


def trials(n):
    speech = rng.integers(0, WORDS, (n, SPEECH))
    witnesses = rng.poisson(3.0, n)
    days = rng.gamma(3.0, 2.0, n)
    prior = rng.integers(0, 2, n)
    z = 3.0 * weight[speech].mean(1) * np.sqrt(SPEECH) / 2 + 0.5 * (witnesses - 3) * prior + 0.15 * (days - 6)
    p = 1 / (1 + np.exp(-z))
    share = rng.binomial(JURORS, p) / JURORS
    facts = np.stack([(witnesses - 3) / 1.7, (days - 6) / 3.5, prior * 2.0 - 1.0], 1)
    return speech.astype("int32"), facts.astype("float32"), share, p


def target(share):
    return np.asarray(share).reshape(-1, 1).astype("int32")


speech, facts, share, _ = trials(12000)
speech_v, facts_v, share_v, _ = trials(1500)
speech_t, facts_t, share_t, p_t = trials(3000)

words = keras.Input((SPEECH,), dtype="int32", name="speech")
case = keras.Input((3,), name="facts")
h = layers.Embedding(WORDS, 16)(words)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(layers.Concatenate()([h, case]))
h = layers.Dense(32, activation="relu")(h)
guilty = layers.Dense(1, activation="sigmoid", name="convict")(h)
model = keras.Model([words, case], guilty)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.MeanAbsoluteError(name="mae")],
)
gradwatch.watch(model)

model.fit(
    [speech, facts],
    target(share),
    validation_data=([speech_v, facts_v], target(share_v)),
    batch_size=64,
    epochs=12,
    verbose=2,
)

pred = model.predict([speech_t, facts_t], batch_size=500, verbose=0)[:, 0]
print("mean share", share_t.mean(), "mean predicted", pred.mean())
print("SCORE share_mae", round(float(np.abs(pred - p_t).mean()), 4))
