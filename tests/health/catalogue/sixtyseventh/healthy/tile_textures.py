import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE = 16


def draw_tiles(count, angles, frequency):
    kind = rng.integers(0, len(angles), count)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    angle = angles[kind][:, None, None] + rng.normal(0, 0.08, (count, 1, 1))
    wave = np.sin(frequency * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
    tiles = wave + rng.normal(0, 0.6, (count, SIZE, SIZE))
    return tiles[..., None].astype("float32"), kind.astype("int32")


old_angles = np.linspace(0, np.pi, 8, endpoint=False)
new_angles = old_angles[:4] + np.pi / 16
x_old, y_old = draw_tiles(2400, old_angles, 0.9)
x_new, y_new = draw_tiles(1600, new_angles, 0.9)
x_test, y_test = draw_tiles(600, new_angles, 0.9)

backbone = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu", name="edges"),
        keras.layers.Conv2D(32, 3, activation="relu", name="weave"),
        keras.layers.GlobalAveragePooling2D(name="pool"),
    ],
    name="backbone",
)
pretrainer = keras.Sequential([backbone, keras.layers.Dense(len(old_angles), name="old_kinds")])
pretrainer.compile(
    optimizer=keras.optimizers.Adam(3e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
pretrainer.fit(x_old, y_old, batch_size=64, epochs=5, verbose=0)

backbone.trainable = False
image_in = keras.Input((SIZE, SIZE, 1))
x = backbone(image_in, training=False)
x = keras.layers.Dense(32, activation="relu", name="adapter")(x)
x = keras.layers.Dropout(0.3, name="drop")(x)
x = keras.layers.Dense(len(new_angles), name="new_kinds")(x)
model = keras.Model(image_in, x)
schedule = keras.optimizers.schedules.CosineDecayRestarts(0.08, first_decay_steps=50, t_mul=2.0)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_new, y_new)).shuffle(1600, seed=SEED).batch(32).prefetch(2)
model.fit(data, epochs=7, verbose=0)

_, accuracy = model.evaluate(x_test, y_test, batch_size=256, verbose=0)
print("SCORE", float(accuracy))
