"""Several tags for each product (multi-label) from its numeric description and its brand."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

FEATURES, BRANDS, TAGS = 24, 20, 8
directions = rng.normal(0, 1, (FEATURES, TAGS)) / np.sqrt(FEATURES)
brand_effect = rng.normal(0, 0.7, (BRANDS, TAGS))
offset = np.linspace(-1.0, 0.3, TAGS)


def make_products(n):
    x = rng.normal(0, 1, (n, FEATURES))
    brand = rng.integers(0, BRANDS, n)
    z = 2.0 * x @ directions + brand_effect[brand] + offset
    y = (z + rng.normal(0, 0.3, z.shape) > 0).astype("float32")
    return x.astype("float32"), brand.astype("int32"), y


x_train, b_train, y_train = make_products(10000)
x_val, b_val, y_val = make_products(1000)
x_test, b_test, y_test = make_products(2500)
print("tags per product:", round(float(y_train.sum(axis=1).mean()), 2))

features = keras.Input(shape=(FEATURES,), name="features")
brand = keras.Input(shape=(), dtype="int32", name="brand")
h = layers.Concatenate()([features, layers.Embedding(BRANDS, 8)(brand)])
h = layers.Dense(96, activation="relu")(h)
h = layers.LayerNormalization()(h)
h = layers.Dense(64, activation="relu")(h)
tags = layers.Dense(TAGS, activation="sigmoid", name="tags")(h)
model = keras.Model([features, brand], tags)

model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss="categorical_crossentropy",
    metrics=["categorical_accuracy"],
)
gradwatch.watch(model)

model.fit(
    [x_train, b_train],
    y_train,
    validation_data=([x_val, b_val], y_val),
    batch_size=128,
    epochs=14,
    verbose=2,
)

predicted = model.predict([x_test, b_test], verbose=0) > 0.5
truth = y_test > 0.5
f1 = []
for k in range(TAGS):
    tp = np.sum(predicted[:, k] & truth[:, k])
    f1.append(2 * tp / max(1, predicted[:, k].sum() + truth[:, k].sum()))
print("f1 per tag:", np.round(f1, 3))
print("SCORE mean_f1", round(float(np.mean(f1)), 4))
