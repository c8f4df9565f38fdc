import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE = 20
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def fire(kinds, n):
    y = rng.integers(0, len(kinds), n)
    images = []
    for k in y:
        angle = np.pi * kinds[k] / 6.0
        wave = np.sin((np.cos(angle) * xx + np.sin(angle) * yy) * 0.9 + rng.uniform(0, 6))
        images.append(0.5 + 0.25 * wave + rng.normal(0, 0.15, (SIZE, SIZE)))
    return np.array(images, "float32")[..., None], y.astype("int32")


old_x, old_y = fire([0, 2, 4], 2000)
new_x, new_y = fire([1, 3, 5], 900)
test_x, test_y = fire([1, 3, 5], 500)

inp = keras.Input((SIZE, SIZE, 1))
h = keras.layers.Conv2D(16, 3, use_bias=False, name="stem")(inp)
h = keras.layers.BatchNormalization(name="stem_norm")(h)
h = keras.layers.ReLU()(h)
h = keras.layers.MaxPooling2D()(h)
h = keras.layers.Conv2D(24, 3, use_bias=False, name="body")(h)
h = keras.layers.BatchNormalization(name="body_norm")(h)
h = keras.layers.ReLU()(h)
h = keras.layers.GlobalAveragePooling2D()(h)
backbone = keras.Model(inp, h, name="backbone")

old = keras.Sequential([backbone, keras.layers.Dense(3, activation="softmax")])
old.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
old.fit(old_x, old_y, batch_size=32, epochs=4, verbose=2)

backbone.trainable = False
tile = keras.Input((SIZE, SIZE, 1))
features = backbone(tile, training=False)
out = keras.layers.Dense(3, activation="softmax", name="finish")(features)
model = keras.Model(tile, out)
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(new_x, new_y, batch_size=32, epochs=6, verbose=2)

backbone.trainable = True
backbone.get_layer("stem").trainable = False
model.compile(
    optimizer=keras.optimizers.Adam(2e-4),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(new_x, new_y, batch_size=32, epochs=8, verbose=2)
print("SCORE", float(model.evaluate(test_x, test_y, verbose=0)[1]))
