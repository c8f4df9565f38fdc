import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
labels = digits.target
order = np.random.default_rng(SEED).permutation(len(labels))
images, labels = images[order], labels[order]

source = labels < 6
target = ~source
src_x, src_y = images[source], labels[source]
tgt_x, tgt_y = images[target], labels[target] - 6
cut = int(0.6 * len(tgt_y))

backbone = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", name="conv_1"),
        layers.BatchNormalization(name="bn_1"),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", name="conv_2"),
        layers.BatchNormalization(name="bn_2"),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
    ],
    name="backbone",
)

pretrain = keras.Sequential([backbone, layers.Dense(6, activation="softmax")])
pretrain.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy")
pretrain.fit(src_x, src_y, batch_size=32, epochs=10, verbose=0)

backbone.trainable = False
inputs = keras.Input((8, 8, 1))
features = backbone(inputs, training=False)
features = layers.Dropout(0.3)(features)
outputs = layers.Dense(4, activation="softmax", name="new_head")(features)
model = keras.Model(inputs, outputs, name="transfer")
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="sparse_categorical_crossentropy", metrics=["accuracy"])

gradwatch.watch(model)
model.fit(tgt_x[:cut], tgt_y[:cut], batch_size=16, epochs=30, verbose=0)

_, acc = model.evaluate(tgt_x[cut:], tgt_y[cut:], verbose=0)
print("SCORE", float(acc))
