import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 5000
weight = rng.gamma(2.0, 2.5, n)
volume = weight * rng.uniform(0.6, 1.6, n)
distance = rng.uniform(1, 60, n)
fragile = (rng.random(n) < 0.3).astype(float)
hour = rng.uniform(6, 22, n)

cost = np.stack(
    [
        0.5 * distance + 0.2 * weight,
        10 + 0.1 * distance + 2.5 * fragile + 0.3 * volume,
        6 + 0.25 * distance + 0.6 * np.abs(hour - 13),
        4 + 1.2 * weight + 0.15 * distance,
    ],
    axis=1,
) + rng.normal(0, 0.5, (n, 4))
route = cost.argmin(axis=1).astype("int32")

columns = np.stack([weight, volume, distance, fragile, hour], axis=1)
x_train, x_test = columns[:4000].astype("float32"), columns[4000:].astype("float32")
y_train, y_test = route[:4000], route[4000:]


def pipeline(x, y):
    features = tf.data.Dataset.from_tensor_slices(x).shuffle(4000)
    labels = tf.data.Dataset.from_tensor_slices(y).shuffle(4000)
    return tf.data.Dataset.zip((features, labels)).batch(32).prefetch(2)


scale = keras.layers.Normalization()
scale.adapt(x_train)

model = keras.Sequential(
    [
        keras.Input((5,)),
        scale,
        keras.layers.Dense(64, activation="relu", name="dense_one"),
        keras.layers.Dense(32, activation="relu", name="dense_two"),
        keras.layers.Dense(4, name="route"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(pipeline(x_train, y_train), epochs=15, verbose=2)

print("SCORE", float(np.mean(model.predict(x_test, verbose=0).argmax(1) == y_test)))
