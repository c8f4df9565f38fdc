"""Grade biopsy slides from bags of tiles, two slides at a time.

A slide is a bag of 24 tile feature vectors and is positive when a few tiles
carry a lesion pattern; gated attention pools the tiles.  Slides come in
batches of two, and the optimizer accumulates four batches per update.
The score is the accuracy on new slides.
"""

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
TILES, FEATURES = 24, 32

lesion = rng.normal(size=FEATURES)
lesion *= 4.5 / np.linalg.norm(lesion)


def make_slides(n):
    label = rng.integers(0, 2, n)
    x = rng.normal(size=(n, TILES, FEATURES))
    for i in np.flatnonzero(label):
        hit = rng.choice(TILES, rng.integers(2, 5), replace=False)
        x[i, hit] += lesion
    return x.astype("float32"), label.astype("float32")[:, None]


x, y = make_slides(1000)
x_test, y_test = make_slides(1000)

inputs = keras.Input((TILES, FEATURES))
h = keras.layers.Dense(32, activation="relu")(inputs)
a = keras.layers.Multiply()(
    [keras.layers.Dense(16, activation="tanh")(h), keras.layers.Dense(16, activation="sigmoid")(h)]
)
a = keras.layers.Softmax(axis=1)(keras.layers.Dense(1, use_bias=False)(a))
bag = keras.layers.Flatten()(keras.layers.Dot(axes=1)([a, h]))
outputs = keras.layers.Dense(1, activation="sigmoid")(bag)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, gradient_accumulation_steps=4),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)

watch = gradwatch.watch(model)
model.fit(x, y, batch_size=2, epochs=3, verbose=2)
score = float(model.evaluate(x_test, y_test, batch_size=250, verbose=0)[1])
print(f"score (accuracy) {score:.3f} chance 0.500")
