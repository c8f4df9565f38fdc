import os

import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import make_blobs

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

DEPOTS = 12


class ParcelNet(keras.Model):
    def __init__(self, n_depots, **kwargs):
        super().__init__(**kwargs)
        self.body = [layers.Dense(64, activation="relu", name=f"body_{i}") for i in range(2)]
        self.norm = layers.LayerNormalization(name="norm")
        self.head = layers.Dense(n_depots, name="head")

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return self.head(self.norm(x))


def parcels():
    x, y = make_blobs(n_samples=6000, n_features=10, centers=DEPOTS * 3, cluster_std=2.2, random_state=SEED)
    y = y % DEPOTS
    x = ((x - x.mean(0)) / x.std(0)).astype("float32")
    return (x[:4800], y[:4800]), (x[4800:], y[4800:])


(train_x, train_y), (test_x, test_y) = parcels()
train_ds = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(4800, seed=SEED).batch(64).prefetch(2)
test_ds = tf.data.Dataset.from_tensor_slices((test_x, test_y)).batch(256)

model = ParcelNet(DEPOTS)
model(train_x[:1])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)

gradwatch.watch(model)
model.fit(train_ds, epochs=12, verbose=0)

logits = model.predict(test_ds, verbose=0)
print("SCORE", float((logits.argmax(axis=1) == test_y).mean()))
