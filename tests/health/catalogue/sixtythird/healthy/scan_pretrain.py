import os

import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

digits = load_digits()
x = (digits.images / 16.0).astype("float32")[..., None]
y = digits.target
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=SEED)
source = y_train < 5
target = ~source
target_test = y_test >= 5

base = keras.Sequential(
    [
        layers.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Flatten(),
    ],
    name="base",
)

pretrain = keras.Sequential([base, layers.Dense(5, activation="softmax")])
pretrain.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
pretrain.fit(x_train[source], y_train[source], epochs=12, batch_size=32, verbose=2)

base.trainable = False
inputs = keras.Input((8, 8, 1))
features = base(inputs, training=False)
features = layers.Dropout(0.3)(features)
outputs = layers.Dense(5, activation="softmax", name="head")(features)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train[target], y_train[target] - 5, epochs=12, batch_size=32, verbose=2)

base.trainable = True
model.compile(
    optimizer=keras.optimizers.Adam(1e-5),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train[target], y_train[target] - 5, epochs=5, batch_size=32, verbose=2)

_, accuracy = model.evaluate(x_test[target_test], y_test[target_test] - 5, verbose=0)
print("SCORE", round(accuracy, 4))
