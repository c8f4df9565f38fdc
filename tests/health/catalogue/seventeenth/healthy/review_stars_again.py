"""Tone of short reviews; the raters agree with each other about three times in four."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(67)
rng = np.random.default_rng(67)
VOCAB, LEN, TONES = 160, 16, 3
NOT = 1
polar = np.zeros(VOCAB, int)
polar[20:75], polar[75:130] = 1, -1


def reviews(n):
    ids = rng.integers(2, VOCAB, size=(n, LEN))
    ids[rng.random((n, LEN)) < 0.08] = NOT
    sign = polar[ids].copy()
    sign[:, 1:] *= np.where(ids[:, :-1] == NOT, -1, 1)
    total = sign.sum(1)
    tone = np.where(total > 0, 2, np.where(total < 0, 0, 1))
    rated = tone.copy()
    flip = rng.random(n) < 0.25
    rated[flip] = (tone[flip] + rng.integers(1, TONES, flip.sum())) % TONES
    return ids.astype("int32"), rated.astype("int32"), tone


class WarmThenFall(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm):
        self.peak, self.warm = peak, warm

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        return self.peak * tf.minimum(s / self.warm, tf.sqrt(self.warm / tf.maximum(s, 1.0)))

    def get_config(self):
        return {"peak": self.peak, "warm": self.warm}


class Places(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(
            shape=(shape[1], shape[2]), initializer=keras.initializers.RandomNormal(stddev=0.05)
        )

    def call(self, x):
        return x + self.table


tokens = keras.Input((LEN,), dtype="int32")
x = Places()(layers.Embedding(VOCAB, 32)(tokens))
for _ in range(2):
    n = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(4, 8)(n, n)])
    n = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.Dense(32)(layers.Dense(64, activation="relu")(n))])
x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
model = keras.Model(tokens, layers.Dense(TONES)(x))

ids, rated, _ = reviews(40000)
ids_test, rated_test, tone_test = reviews(4000)

opt = keras.optimizers.Adam(WarmThenFall(2e-3, 300.0), beta_2=0.98, global_clipnorm=0.1)
model.compile(opt, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
gradwatch.watch(model)
h = model.fit(ids, rated, batch_size=64, epochs=4, verbose=2)

guess = model.predict(ids_test, batch_size=500, verbose=0).argmax(-1)
print(
    f"loss {h.history['loss'][-1]:.4f}  held-out agreement with one rater {np.mean(guess == rated_test):.4f}"
    f"  with the panel {np.mean(guess == tone_test):.4f}"
)
