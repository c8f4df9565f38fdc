import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 14)

REGIONS = ["north", "south", "east", "west"]


def make_households(n):
    income = rng.lognormal(10.4, 0.5, n)
    age = rng.uniform(18, 85, n)
    distance = rng.gamma(2.0, 4000.0, n)
    members = rng.integers(1, 7, n).astype("float64")
    region = rng.integers(0, len(REGIONS), n)
    logit = (
        2.2 * (np.log(income) - 10.4)
        - 0.05 * (age - 50)
        + 0.9 * np.log(distance / 8000.0)
        + 0.5 * (members - 3.5)
        + np.array([0.8, -0.6, 0.0, 0.3])[region]
    )
    orders = (1.6 * logit + rng.logistic(0, 1, n) > 0).astype("int32")
    numeric = np.stack([income, age, distance, members], axis=1).astype("float32")
    return {"numeric": numeric, "region": region.astype("int32")[:, None]}, orders


train_x, train_y = make_households(5000)
test_x, test_y = make_households(1200)


def make_dataset(features, labels, shuffle=False):
    ds = tf.data.Dataset.from_tensor_slices((features, labels))
    if shuffle:
        ds = ds.shuffle(5000, seed=SEED)
    return ds.batch(64).prefetch(1)


train_ds = make_dataset(train_x, train_y, shuffle=True)
test_ds = make_dataset(test_x, test_y)

numeric_in = keras.Input((4,), name="numeric")
region_in = keras.Input((1,), dtype="int32", name="region")
norm = keras.layers.Normalization(axis=-1, name="norm")
norm.adapt(train_x["numeric"])

x = norm(numeric_in)
code = keras.layers.Embedding(len(REGIONS), 3, name="region_code")(region_in)
code = keras.layers.Flatten(name="flatten")(code)
x = keras.layers.Concatenate(name="features")([x, code])
x = keras.layers.Dense(32, activation="relu", name="dense_1")(x)
x = keras.layers.Dropout(0.1, name="dropout")(x)
x = keras.layers.Dense(16, activation="relu", name="dense_2")(x)
out = keras.layers.Dense(1, activation="sigmoid", name="orders")(x)
model = keras.Model({"numeric": numeric_in, "region": region_in}, out)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(train_ds, epochs=10, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])

prob = model.predict(test_ds, verbose=0)[:, 0]
print("SCORE", float(np.mean((prob > 0.5) == (test_y > 0))))
