# Leaf disease from 20x20 crops; one archive per disease, streamed with tf.data.
import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(17)
DISEASES = ["healthy", "rust", "blight", "mildew", "mosaic"]


def crops(kind, n, seed):
    r = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:20, 0:20]
    img = 0.5 + 0.12 * r.normal(size=(n, 20, 20, 3))
    img[..., 1] += 0.25
    for i in range(n):
        cx, cy, s = r.uniform(4, 16), r.uniform(4, 16), r.uniform(1.5, 3)
        blob = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * s * s))
        if kind == 1:
            img[i, ..., 0] += 0.45 * blob
        elif kind == 2:
            img[i] -= 0.4 * blob[..., None]
        elif kind == 3:
            img[i] += 0.35 * blob[..., None]
        elif kind == 4:
            img[i, ..., 1] += 0.2 * np.sin(1.3 * (xx + yy) + r.uniform(0, 6))
    return ((img - 0.55) / 0.25).astype("float32")


def archive(per_class, seed):
    x = np.concatenate([crops(k, per_class, seed + k) for k in range(5)])
    return x, np.repeat(np.arange(5), per_class).astype("int32")


def pipeline(x, y, batch):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(128, seed=2)
    ds = ds.map(lambda a, b: (tf.image.random_flip_left_right(a), b), num_parallel_calls=2)
    return ds.batch(batch).prefetch(2)


def build():
    m = keras.Sequential([keras.Input((20, 20, 3))])
    for f in (12, 24):
        m.add(keras.layers.Conv2D(f, 3, padding="same", use_bias=False))
        m.add(keras.layers.GroupNormalization(4))
        m.add(keras.layers.Activation("relu"))
        m.add(keras.layers.MaxPooling2D())
    m.add(keras.layers.GlobalMaxPooling2D())
    m.add(keras.layers.Dense(len(DISEASES), activation="softmax"))
    return m


x, y = archive(640, 100)
xt, yt = archive(120, 900)
model = build()
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
h = model.fit(pipeline(x, y, 32), epochs=6, verbose=0)
loss, acc = model.evaluate(xt, yt, verbose=0)
print(f"loss {h.history['loss'][-1]:.4f} test loss {loss:.3f} test accuracy {acc:.3f}")
