import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 51)

SIZE = 16


def draw(kind, rows, cols):
    image = rng.normal(0.3, 0.25, (SIZE, SIZE))
    top, left = rng.integers(1, 5, 2)
    if kind == 0:
        image[top : top + 9, left : left + 9 : 3] += 0.5
    elif kind == 1:
        image[top : top + 9 : 3, left : left + 9] += 0.5
    elif kind == 2:
        for k in range(9):
            image[top + k, left + k] += 0.6
            image[top + k, left + 8 - k] += 0.6
    else:
        image[top : top + 9, left : left + 9] += 0.3
    return np.clip(image + rows * 0.02 - cols * 0.02, 0, 1)


def make_set(n, kinds):
    label = rng.integers(0, len(kinds), n)
    x = np.stack([draw(kinds[k], rng.normal(), rng.normal()) for k in label])
    return x[..., None].astype("float32"), label.astype("int32")


backbone = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(12, 3, activation="relu", name="block1"),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu", name="block2"),
        keras.layers.Conv2D(24, 3, activation="relu", name="block3"),
        keras.layers.Flatten(name="features"),
    ],
    name="backbone",
)

x_base, y_base = make_set(2000, [0, 1, 2, 3])
source = keras.Sequential([backbone, keras.layers.Dense(4, activation="softmax")])
source.compile("adam", "sparse_categorical_crossentropy")
source.fit(x_base, y_base, epochs=4, batch_size=32, verbose=0)

x_train, y_train = make_set(1600, [3, 2, 1])
x_test, y_test = make_set(600, [3, 2, 1])
flip = rng.random(len(y_train)) < 0.05
y_train[flip] = rng.integers(0, 3, int(flip.sum()))

inputs = keras.Input((SIZE, SIZE, 1), name="photo")
features = backbone(inputs, training=False)
hidden = keras.layers.Dense(24, activation="relu", name="adapter")(features)
output = keras.layers.Dense(3, activation="softmax", name="crate")(hidden)
model = keras.Model(inputs, output)

backbone.trainable = False
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
first = model.fit(x_train, y_train, epochs=4, batch_size=32, verbose=0)

backbone.trainable = True
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=1e-4),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
second = model.fit(x_train, y_train, epochs=6, batch_size=32, verbose=0)
print("accuracy", first.history["accuracy"][-1], second.history["accuracy"][-1])

probs = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean(probs.argmax(axis=1) == y_test)))
