import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

USERS, ITEMS = 120, 80
taste = rng.normal(0, 1, (USERS, 4))
traits = rng.normal(0, 1, (ITEMS, 4))
user_id = rng.integers(0, USERS, 14000)
item_id = rng.integers(0, ITEMS, 14000)
stars = 3.0 + 0.6 * (taste[user_id] * traits[item_id]).sum(1) + rng.normal(0, 0.2, 14000)
pairs = np.stack([user_id, item_id], axis=1).astype("int32")
stars = stars.astype("float32")[:, None]


class Factors(keras.layers.Layer):
    def __init__(self, users, items, size, **kwargs):
        super().__init__(**kwargs)
        self.users = self.add_weight(shape=(users, size), initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.items = self.add_weight(shape=(items, size), initializer=keras.initializers.RandomNormal(stddev=0.1))

    def call(self, pair):
        u = tf.gather(self.users, pair[:, 0])
        v = tf.gather(self.items, pair[:, 1])
        return u * v


pair = keras.Input((2,), dtype="int32")
match = Factors(USERS, ITEMS, 8, name="factors")(pair)
rating = keras.layers.Dense(1, name="rating", bias_initializer=keras.initializers.Constant(3.0))(match)
model = keras.Model(pair, rating)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)

train_ds = tf.data.Dataset.from_tensor_slices((pairs[:12000], stars[:12000]))
train_ds = train_ds.shuffle(12000, seed=SEED).batch(64).prefetch(2)
model.fit(train_ds, epochs=15, verbose=2)

pred = model.predict(pairs[12000:], verbose=0)
for lo in range(1, 5):
    band = (stars[12000:] >= lo) & (stars[12000:] < lo + 1)
    print("band", lo, "mean guess", round(float(pred[band].mean()), 3))
print("SCORE", 1.0 - np.mean((pred - stars[12000:]) ** 2) / np.var(stars[12000:]))
