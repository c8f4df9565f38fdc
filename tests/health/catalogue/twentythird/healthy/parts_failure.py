"""Failure type and time to failure of machine parts: frozen part vectors, long-tailed part numbers, two outputs."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PARTS, PLANTS, LENGTH, TYPES = 500, 12, 30, 3
part_vectors = rng.normal(size=(PARTS, 8)).astype("float32")
popularity = 1.0 / np.arange(1, PARTS + 1) ** 1.1
popularity /= popularity.sum()
part_life = np.exp(0.4 * part_vectors[:, 0] - 0.3 * part_vectors[:, 1])
plant_stress = rng.normal(0, 0.3, PLANTS)


def make_histories(n):
    part = rng.choice(PARTS, n, p=popularity)
    plant = rng.integers(0, PLANTS, n)
    kind = rng.choice(TYPES, n, p=[0.8, 0.15, 0.05])
    trend = np.array([0.0, 0.1, -0.1])[kind][:, None] * np.arange(LENGTH)
    x = trend + 0.4 * np.cumsum(rng.normal(0, 0.3, (n, LENGTH)), axis=1) + 0.3 * rng.standard_t(3, (n, LENGTH))
    life = 20 * part_life[part] * np.exp(plant_stress[plant] - 0.3 * kind + 0.15 * rng.normal(size=n))
    observed = rng.random(n) < 0.7  # the others are still running: no time is known
    features = [x[..., None].astype("float32"), part.astype("int32"), plant.astype("int32")]
    return features, kind.astype("int32"), np.where(observed, life, -1.0).astype("float32")[:, None]


x_train, kind_train, life_train = make_histories(12000)
x_test, kind_test, life_test = make_histories(3000)


def observed_log_error(y_true, y_pred):
    known = tf.cast(y_true > 0.0, y_pred.dtype)
    target = tf.math.log(tf.where(y_true > 0.0, y_true, tf.ones_like(y_true)))
    return tf.squeeze(known * tf.abs(target - y_pred), axis=-1)


series_in = keras.Input((LENGTH, 1), name="series")
part_in = keras.Input((), dtype="int32", name="part")
plant_in = keras.Input((), dtype="int32", name="plant")
vectors = keras.layers.Embedding(
    PARTS, 8, embeddings_initializer=keras.initializers.Constant(part_vectors), trainable=False
)(part_in)
extra = keras.layers.Embedding(PARTS, 2, embeddings_initializer="zeros")(part_in)
plant = keras.layers.Embedding(PLANTS, 3)(plant_in)
g = keras.layers.GRU(20)(series_in)
h = keras.layers.Concatenate()([g, vectors, extra, plant])
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dropout(0.1)(h)
kind_out = keras.layers.Dense(TYPES, activation="softmax", name="kind")(keras.layers.Concatenate()([h, g]))
life_out = keras.layers.Dense(1, name="life")(h)
model = keras.Model([series_in, part_in, plant_in], {"kind": kind_out, "life": life_out})

rate = keras.optimizers.schedules.PiecewiseConstantDecay([450, 750], [4e-3, 1.5e-3, 3e-4])
model.compile(
    optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-3, clipvalue=0.5),
    loss={"kind": "sparse_categorical_crossentropy", "life": observed_log_error},
    loss_weights={"kind": 1.0, "life": 2.0},
)
gradwatch.watch(model)
model.fit(x_train, {"kind": kind_train, "life": life_train}, batch_size=80, epochs=6, verbose=2)

pred = model.predict(x_test, verbose=0)
known = life_test[:, 0] > 0
truth = np.log(life_test[known, 0])
r2 = 1 - np.mean((pred["life"][known, 0] - truth) ** 2) / np.var(truth)
recall = np.mean([np.mean(pred["kind"].argmax(1)[kind_test == k] == k) for k in range(TYPES)])
print("SCORE balanced_accuracy", round(float(recall), 4))
print("SCORE r2_log_life", round(float(r2), 4))
