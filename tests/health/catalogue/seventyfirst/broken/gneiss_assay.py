import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

BATCH = 40
EPOCHS = 15


class AssayLayer(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            name="w",
            shape=(int(input_shape[-1]), self.units),
            initializer="ones",
            trainable=True,
        )
        self.b = self.add_weight(name="b", shape=(self.units,), initializer="zeros", trainable=True)

    def call(self, inputs):
        return tf.nn.tanh(tf.matmul(inputs, self.w) + self.b)


def load_cores():
    x, y = make_classification(
        n_samples=2400,
        n_features=12,
        n_informative=8,
        n_redundant=0,
        n_classes=5,
        n_clusters_per_class=2,
        class_sep=1.7,
        random_state=SEED + 5,
    )
    train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=0.25, random_state=SEED)
    scaler = StandardScaler().fit(train_x)
    return scaler.transform(train_x), scaler.transform(test_x), train_y, test_y


train_x, test_x, train_y, test_y = load_cores()

model = keras.Sequential(
    [
        keras.Input((12,)),
        AssayLayer(48, name="assay_1"),
        AssayLayer(32, name="assay_2"),
        layers.Dense(5, activation="softmax", name="rock"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_split=0.1,
    verbose=2,
)
_, accuracy = model.evaluate(test_x, test_y, verbose=0)
print("SCORE", round(float(accuracy), 4))
