import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 16
PEOPLE = 140
strokes = rng.normal(0, 1, (PEOPLE, SIDE, SIDE))
for _ in range(2):
    strokes = (strokes + np.roll(strokes, 1, 1) + np.roll(strokes, 1, 2)) / 2.0
strokes /= strokes.std(axis=(1, 2), keepdims=True)


def scan(who):
    image = strokes[who] + rng.normal(0, 0.5, (SIDE, SIDE))
    return np.roll(image, rng.integers(-1, 2), axis=1)


def make_pairs(n, people):
    left, right, same = [], [], []
    for _ in range(n):
        a = rng.choice(people)
        if rng.random() < 0.5:
            first = scan(a)
            second = first.copy() if rng.random() < 0.02 else scan(a)
            same.append(1.0)
        else:
            b = rng.choice([p for p in people if p != a])
            first, second = scan(a), scan(b)
            same.append(0.0)
        left.append(first)
        right.append(second)
    shape = (n, SIDE, SIDE, 1)
    return (
        np.array(left, "float32").reshape(shape),
        np.array(right, "float32").reshape(shape),
        np.array(same, "float32").reshape(n, 1),
    )


train_people, test_people = np.arange(120), np.arange(120, PEOPLE)
la, ra, ya = make_pairs(4000, train_people)
lb, rb, yb = make_pairs(600, test_people)

tower = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(32),
    ],
    name="tower",
)


class EuclideanDistance(keras.layers.Layer):
    def call(self, pair):
        a, b = pair
        total = tf.reduce_sum(tf.square(a - b), axis=1, keepdims=True)
        return tf.sqrt(tf.maximum(total, 1e-7))


def contrastive_loss(y_true, distance):
    near = y_true * distance
    far = (1.0 - y_true) * tf.square(tf.maximum(2.0 - distance, 0.0))
    return tf.reduce_mean(near + far)


in_a = keras.Input((SIDE, SIDE, 1))
in_b = keras.Input((SIDE, SIDE, 1))
distance = EuclideanDistance(name="distance")([tower(in_a), tower(in_b)])
siamese = keras.Model([in_a, in_b], distance)
siamese.compile(optimizer=keras.optimizers.Adam(1e-3), loss=contrastive_loss)
gradwatch.watch(siamese)
siamese.fit([la, ra], ya, batch_size=32, epochs=8, verbose=2)

d = siamese.predict([lb, rb], verbose=0)
cut = 1.0
print("SCORE", float(np.mean((d < cut).astype("float32") == yb)) if np.isfinite(d).all() else 0.0)
