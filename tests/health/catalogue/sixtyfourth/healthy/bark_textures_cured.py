import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIZE = 20
TREES = 6


def make_bark(rng, rows):
    tree = rng.integers(0, TREES, rows)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    angle = tree * np.pi / TREES + rng.normal(0, 0.08, rows)
    phase = rng.uniform(0, 2 * np.pi, rows)
    wave = np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy
    bark = 0.5 + 0.3 * np.sin(2 * np.pi * 4 * wave + phase[:, None, None])
    bark += rng.normal(0, 0.15, bark.shape)
    return np.clip(bark, 0, 1)[..., None].astype("float32"), tree.astype("int32")


rng = np.random.default_rng(SEED)
x_train, y_train = make_bark(rng, 2400)
x_test, y_test = make_bark(rng, 600)


def conv_block(x, filters, name):
    x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu", name=name)(x)
    return keras.layers.MaxPooling2D()(x)


inputs = keras.Input((SIZE, SIZE, 1))
x = conv_block(inputs, 16, "grain_a")
x = conv_block(x, 24, "grain_b")
x = keras.layers.Flatten()(x)
x = keras.layers.Dense(64, activation="relu", name="trunk")(x)
outputs = keras.layers.Dense(TREES, activation="softmax", name="tree")(x)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.001),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    batch_size=48,
    epochs=14,
    validation_data=(x_test, y_test),
    verbose=0,
)
for epoch, value in enumerate(history.history["val_accuracy"]):
    print("epoch", epoch, "val accuracy", round(value, 3))

print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
