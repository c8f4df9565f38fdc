import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def listings(n):
    x = rng.normal(0, 1, (n, 10))
    price = 300000 + 60000 * x[:, 0] + 45000 * np.maximum(x[:, 1], 0) * x[:, 2] + rng.normal(0, 8000, n)
    heat = (x[:, 4] * x[:, 5] > 0).astype(int) + 2 * (x[:, 6] + 0.5 * x[:, 7] > 0).astype(int)
    return x.astype("float32"), price.astype("float32")[:, None], heat.astype("int32")


x_train, price_train, heat_train = listings(5000)
x_test, price_test, heat_test = listings(1000)

inputs = keras.Input((10,), name="flat")
h = keras.layers.Dense(64, activation="relu", name="shared_1")(inputs)
h = keras.layers.Dense(64, activation="relu", name="shared_2")(h)
price = keras.layers.Dense(1, name="price")(keras.layers.Dense(32, activation="relu", name="price_hidden")(h))
heating = keras.layers.Dense(4, activation="softmax", name="heating")(
    keras.layers.Dense(32, activation="relu", name="heating_hidden")(h)
)
model = keras.Model(inputs, {"price": price, "heating": heating})

PRICE_MEAN, PRICE_STD = 0.0, 1.0


def targets(price, heat):
    return {"price": (price - PRICE_MEAN) / PRICE_STD, "heating": heat}


model.compile(
    optimizer=keras.optimizers.Adam(2e-3, global_clipnorm=1.0),
    loss={"price": "mse", "heating": "sparse_categorical_crossentropy"},
    metrics={"heating": ["accuracy"]},
)
watch = gradwatch.watch(model)

train = tf.data.Dataset.from_tensor_slices((x_train, targets(price_train, heat_train)))
train = train.shuffle(5000, seed=SEED).batch(64).prefetch(2)
valid = tf.data.Dataset.from_tensor_slices((x_test, targets(price_test, heat_test))).batch(256)
model.fit(train, validation_data=valid, epochs=15, verbose=2)

out = model.predict(x_test, verbose=0)
acc = np.mean(out["heating"].argmax(-1) == heat_test)
got = out["price"] * PRICE_STD + PRICE_MEAN
r2 = 1 - np.mean((got - price_test) ** 2) / np.var(price_test)
print("price r2", float(r2), "heating accuracy", float(acc))
print("SCORE", float((max(r2, -1.0) + acc) / 2))
