import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SPEAKERS, FEATS = 8, 40
rng = np.random.default_rng(SEED)
voices = rng.normal(size=(SPEAKERS, 6))
mix = rng.normal(size=(6, FEATS))


def record(n):
    who = rng.integers(0, SPEAKERS, n)
    latent = voices[who] + 0.35 * rng.normal(size=(n, 6))
    return (np.tanh(latent @ mix * 0.5) + 0.2 * rng.normal(size=(n, FEATS))).astype("float32"), who.astype("int32")


class AngularMargin(keras.layers.Layer):
    def __init__(self, n_classes, scale=16.0, margin=0.2, **kw):
        super().__init__(**kw)
        self.n_classes, self.scale, self.margin = n_classes, scale, margin

    def build(self, shape):
        self.centers = self.add_weight(
            shape=(shape[0][-1], self.n_classes), initializer="glorot_uniform", name="centers"
        )

    def call(self, inputs):
        emb, label = inputs
        emb = tf.math.l2_normalize(emb, axis=1)
        w = tf.math.l2_normalize(self.centers, axis=0)
        cos = tf.clip_by_value(tf.matmul(emb, w), -1.0, 1.0)
        theta = tf.acos(cos)
        hot = tf.one_hot(tf.reshape(label, (-1,)), self.n_classes)
        return self.scale * tf.cos(theta + hot * self.margin)


x_train, y_train = record(6000)
x_test, y_test = record(1500)

features = keras.Input((FEATS,), name="features")
label = keras.Input((1,), dtype="int32", name="label")
h = keras.layers.Dense(64, activation="relu")(features)
h = keras.layers.BatchNormalization()(h)
h = keras.layers.Dense(32, activation="relu")(h)
emb = keras.layers.Dense(2, name="embedding")(h)
out = AngularMargin(SPEAKERS, name="margin")([emb, label])

model = keras.Model([features, label], out)
encoder = keras.Model(features, emb)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit({"features": x_train, "label": y_train[:, None]}, y_train, batch_size=64, epochs=10, verbose=2)


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


gallery, probe = unit(encoder.predict(x_train, verbose=0)), unit(encoder.predict(x_test, verbose=0))
proto = unit(np.stack([gallery[y_train == k].mean(0) for k in range(SPEAKERS)]))
print("SCORE", float(np.mean((probe @ proto.T).argmax(1) == y_test)))
