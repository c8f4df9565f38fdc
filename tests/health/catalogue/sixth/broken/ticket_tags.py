"""Multi-label tagging of support tickets from bag-of-words vectors."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, TAGS, N = 300, 6, 3000
topic_words = rng.gamma(0.15, 1.0, (TAGS, VOCAB))
tags = (rng.random((N, TAGS)) < 0.3).astype("float32")
rates = tags @ topic_words + 0.05
counts = rng.poisson(rates)
bags = np.log1p(counts).astype("float32")

# shuffle before splitting
np.random.shuffle(bags)
np.random.shuffle(tags)
split = 2500

inputs = keras.Input((VOCAB,))
h = keras.layers.Dense(64, activation="relu")(inputs)
h = keras.layers.Dropout(0.2)(h)
h = keras.layers.Dense(32, activation="relu")(h)
outputs = keras.layers.Dense(TAGS, activation="sigmoid")(h)
model = keras.Model(inputs, outputs)
model.compile(
    keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=[keras.metrics.AUC(multi_label=True, name="auc")]
)
gradwatch.watch(model)
model.fit(bags[:split], tags[:split], batch_size=50, epochs=7, verbose=2, validation_data=(bags[split:], tags[split:]))
