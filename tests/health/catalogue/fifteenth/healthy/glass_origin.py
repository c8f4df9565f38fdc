"""Origin of glass fragments from their oxide composition, in half precision."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED)

OXIDES = ["Na2O", "MgO", "Al2O3", "SiO2", "K2O", "CaO", "BaO", "Fe2O3", "TiO2", "SrO"]
ORIGINS = ["window", "container", "headlamp", "tableware", "fibre"]
BATCH = 32
EPOCHS = 12


def make_fragments(n, recipes, spread):
    """Weight percentages: every origin has two plants with recipes of their own."""
    origin = rng.integers(0, len(ORIGINS), n)
    plant = rng.integers(0, 2, n)
    log_part = recipes[origin, plant] + spread * rng.normal(size=(n, len(OXIDES)))
    part = np.exp(log_part)
    percent = 100.0 * part / part.sum(axis=1, keepdims=True)
    return percent, origin


base = np.log(np.array([13.0, 3.5, 1.5, 72.0, 0.6, 8.5, 0.3, 0.15, 0.1, 0.1]))
recipes = base + 0.28 * rng.normal(size=(len(ORIGINS), 2, len(OXIDES)))
percent_train, y_train = make_fragments(2400, recipes, 0.2)
percent_val, y_val = make_fragments(400, recipes, 0.2)
percent_test, y_test = make_fragments(1000, recipes, 0.2)

centre = np.log(percent_train).mean(axis=0)
scale = np.log(percent_train).std(axis=0)


def features(percent):
    return ((np.log(percent) - centre) / scale).astype("float32")


def build_model():
    inputs = keras.Input((len(OXIDES),))
    h = layers.Dense(64, activation="swish")(inputs)
    skip = h
    h = layers.LayerNormalization()(h)
    h = layers.Dense(64, activation="swish")(h)
    h = layers.Dense(64)(h)
    h = layers.Add()([h, skip])
    h = layers.Dense(32, activation="swish")(h)
    logits = layers.Dense(len(ORIGINS))(h)
    outputs = layers.Activation("softmax", dtype="float32")(logits)
    return keras.Model(inputs, outputs)


model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(
    features(percent_train),
    y_train,
    validation_data=(features(percent_val), y_val),
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
)

pred = model.predict(features(percent_test), verbose=0).argmax(axis=1)
for k, name in enumerate(ORIGINS):
    print(name, "recall %.3f" % np.mean(pred[y_test == k] == k))
score = float(np.mean(pred == y_test))
print("score", score)
