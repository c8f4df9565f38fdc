import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# accelerometer strides of 20 people, 64 samples x 3 axes
N_PEOPLE, PER_PERSON, T = 20, 30, 64
t = np.linspace(0, 2 * np.pi, T)
amp = rng.normal(0, 1, (N_PEOPLE, 3, 4))
phase = rng.uniform(0, 2 * np.pi, (N_PEOPLE, 3, 4))
strides, owner = [], []
for p in range(N_PEOPLE):
    for _ in range(PER_PERSON):
        s = rng.normal(0, 0.15)
        sig = np.stack(
            [sum(amp[p, a, k] * np.sin((k + 1) * (t + s) + phase[p, a, k]) for k in range(4)) for a in range(3)], -1
        )
        strides.append(sig / 2 + rng.normal(0, 0.35, sig.shape))
        owner.append(p)
        if rng.random() < 0.05:  # the phone uploads a stride again when the connection drops
            strides.append(strides[-1])
            owner.append(p)
strides = np.array(strides, "float32")
owner = np.array(owner)
split = rng.permutation(len(strides))
train_idx, test_idx = split[:480], split[480:]


def make_pairs(idx, n):
    left, right, same = [], [], []
    for i in range(n):
        a = rng.choice(idx)
        if i % 2 == 0:
            b = rng.choice(idx[(owner[idx] == owner[a]) & (idx != a)])
        else:
            b = rng.choice(idx[owner[idx] != owner[a]])
        left.append(a), right.append(b), same.append(float(owner[a] == owner[b]))
    return strides[left], strides[right], np.array(same, "float32")[:, None]


xa, xb, y = make_pairs(train_idx, 2000)
va, vb, vy = make_pairs(test_idx, 600)

encoder = keras.Sequential(
    [
        keras.Input((T, 3)),
        layers.Conv1D(16, 7, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(16),
    ],
    name="encoder",
)


class Euclidean(layers.Layer):
    def call(self, pair):
        u, v = pair
        return tf.sqrt(tf.reduce_sum(tf.square(u - v), axis=-1, keepdims=True))


def contrastive(y_true, d):
    return tf.reduce_mean(y_true * d + (1 - y_true) * tf.maximum(1.0 - d, 0.0))


in_a, in_b = keras.Input((T, 3)), keras.Input((T, 3))
siamese = keras.Model([in_a, in_b], Euclidean()([encoder(in_a), encoder(in_b)]))
siamese.compile(optimizer=keras.optimizers.Adam(2e-3), loss=contrastive)
gradwatch.watch(siamese)

siamese.fit([xa, xb], y, batch_size=32, epochs=6, verbose=2)

d = siamese.predict([va, vb], verbose=0)
acc = np.mean((d < 0.5) == (vy > 0.5)) if np.isfinite(d).all() else float("nan")
print("verification accuracy", acc)
