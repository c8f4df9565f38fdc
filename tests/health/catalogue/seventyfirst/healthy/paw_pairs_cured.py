import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

ANIMALS = 60
FEATURES = 20
BATCH = 64

prints = rng.normal(0, 1, (ANIMALS, 6))
mixing = rng.normal(0, 1, (6, FEATURES)) / 2.0


def take_print(animal):
    clean = np.tanh(prints[animal] @ mixing)
    noise = rng.normal(0, 0.5, (len(animal), FEATURES))
    return (clean + noise).astype("float32")


def make_pairs(n, reused):
    first = rng.integers(0, ANIMALS, n)
    same = rng.random(n) < 0.5
    second = np.where(same, first, rng.integers(0, ANIMALS, n))
    same = first == second
    left, right = take_print(first), take_print(second)
    copies = rng.choice(np.where(same)[0], reused, replace=False)
    right[copies] = left[copies]
    return left, right, same.astype("float32")


def build_siamese():
    encoder = keras.Sequential(
        [
            keras.Input((FEATURES,)),
            layers.Dense(48, activation="relu", name="ridge"),
            layers.Dense(12, name="signature"),
        ],
        name="encoder",
    )
    left = keras.Input((FEATURES,))
    right = keras.Input((FEATURES,))

    def distance(pair):
        squared = tf.reduce_sum(tf.square(pair[0] - pair[1]), axis=-1, keepdims=True)
        return tf.sqrt(squared + 1e-6)

    gap = layers.Lambda(distance, output_shape=(1,), name="gap")([encoder(left), encoder(right)])
    match = layers.Dense(
        1,
        activation="sigmoid",
        kernel_initializer=keras.initializers.Constant(-1.0),
        bias_initializer="ones",
        name="match",
    )(gap)
    return keras.Model([left, right], match)


left, right, same = make_pairs(8000, 4)
test_left, test_right, test_same = make_pairs(2000, 0)

model = build_siamese()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
gradwatch.watch(model)
model.fit([left, right], same, batch_size=BATCH, epochs=10, verbose=2)

match = model.predict([test_left, test_right], verbose=0)[:, 0]
if not np.isfinite(match).all():
    print("SCORE", float("nan"))
else:
    print("SCORE", round(float(roc_auc_score(test_same, match)), 4))
