import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE = 24


def paint(kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    angle = np.pi * kind / 8.0 + rng.normal(0, 0.08)
    phase = rng.uniform(0, 2 * np.pi)
    wave = np.sin((np.cos(angle) * xx + np.sin(angle) * yy) * 0.9 + phase)
    image = 0.5 + 0.25 * wave + rng.normal(0, 0.12, (SIZE, SIZE))
    tint = rng.uniform(0.7, 1.0, 3)
    return np.clip(image[:, :, None] * tint * 255.0, 0, 255).astype("uint8")


def collect(kinds, n):
    y = rng.integers(0, len(kinds), n)
    return np.stack([paint(kinds[k]) for k in y]), y.astype("int32")


source_x, source_y = collect([0, 2, 4, 6], 2400)
target_x, target_y = collect([1, 3, 5, 7], 1600)
test_x, test_y = collect([1, 3, 5, 7], 600)

inp = keras.Input((SIZE, SIZE, 3))
h = keras.layers.Rescaling(1.0 / 255, name="rescaling")(inp)
h = keras.layers.Conv2D(16, 3, activation="tanh", name="stem")(h)
h = keras.layers.MaxPooling2D()(h)
h = keras.layers.Conv2D(32, 3, activation="tanh", name="body")(h)
h = keras.layers.GlobalAveragePooling2D()(h)
h = keras.layers.Dense(32, activation="tanh", name="embedding")(h)
backbone = keras.Model(inp, h, name="backbone")

pretrainer = keras.Sequential([backbone, keras.layers.Dense(4, activation="softmax")])
pretrainer.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy")
pretrainer.fit(source_x.astype("float32"), source_y, batch_size=64, epochs=8, verbose=2)

backbone.trainable = False


def decode(image, label):
    return tf.cast(image, tf.float32), label


train_ds = (
    tf.data.Dataset.from_tensor_slices((target_x, target_y)).shuffle(1600, seed=SEED).map(decode).batch(32).prefetch(2)
)
test_ds = tf.data.Dataset.from_tensor_slices((test_x, test_y)).map(decode).batch(64)

glaze = keras.Input((SIZE, SIZE, 3))
features = backbone(glaze, training=False)
head = keras.layers.Dense(32, activation="relu", name="head")(features)
classes = keras.layers.Dense(4, activation="softmax", name="classes")(head)
model = keras.Model(glaze, classes)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train_ds, epochs=12, verbose=2)

print("SCORE", float(model.evaluate(test_ds, verbose=0)[1]))
