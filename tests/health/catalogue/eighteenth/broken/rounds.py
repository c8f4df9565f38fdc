import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(14)
MAX_STOPS, ZONES = 20, 40


def rounds(n, seed):
    """Delivery rounds: zone id per stop (0 fills the tail), parcels per stop, delay at depot."""
    g = np.random.default_rng(seed)
    w = np.random.default_rng(7)
    service = w.gamma(2.0, 1.0, ZONES + 1)
    congested = w.random(ZONES + 1) < 0.2
    length = g.integers(4, MAX_STOPS - 1, n)
    zone = g.integers(1, ZONES + 1, (n, MAX_STOPS))
    parcels = g.poisson(2.0, (n, MAX_STOPS)) + 1.0
    inside = np.arange(MAX_STOPS)[None] < length[:, None]
    zone, parcels = zone * inside, parcels * inside
    per_stop = service[zone] * (1 + 0.25 * parcels) + 3.0 * congested[zone]
    delay = (per_stop * inside).sum(1) / length + 0.03 * g.normal(size=n) * length**0.5
    return zone.astype("int32"), parcels.astype("float32")[..., None], delay.astype("float32")


zone, parcels, delay = rounds(4800, 1)
zone_v, parcels_v, delay_v = rounds(800, 2)
mean, std = delay.mean(), delay.std()
delay, delay_v = (delay - mean) / std, (delay_v - mean) / std


class DepotQuery(layers.Layer):
    """A learned query that reads the whole round."""

    def __init__(self, dim, heads=4):
        super().__init__()
        self.mha = layers.MultiHeadAttention(heads, dim // heads)
        self.norm = layers.LayerNormalization()
        self.dim = dim

    def build(self, shape):
        self.query = self.add_weight(shape=(1, 1, self.dim), initializer="random_normal", name="query")
        self.mha.build((shape[0], 1, self.dim), shape)
        self.norm.build((shape[0], 1, self.dim))

    def call(self, stops, key_padding_mask):
        q = tf.tile(self.query, [tf.shape(stops)[0], 1, 1])
        read = self.mha(q, stops, attention_mask=key_padding_mask[:, None, :])
        return self.norm(q + read)[:, 0]


z_in = keras.Input((MAX_STOPS,), dtype="int32", name="zone")
p_in = keras.Input((MAX_STOPS, 1), name="parcels")
padding = layers.Lambda(lambda z: tf.equal(z, 0))(z_in)
emb = layers.Embedding(ZONES + 1, 32)(z_in)
h = layers.Concatenate()([emb, p_in])
h = layers.Dense(48, activation="gelu")(h)
h = layers.Dense(48)(h)
r = DepotQuery(48)(h, padding)
r = layers.Dense(48, activation="gelu")(r)
model = keras.Model([z_in, p_in], layers.Dense(1)(r))
model.compile(keras.optimizers.Adam(2e-3), "mse")
gradwatch.watch(model)

hist = model.fit([zone, parcels], delay, batch_size=64, epochs=12, verbose=2)
p = model.predict([zone_v, parcels_v], verbose=0)[:, 0]
print(f"loss {hist.history['loss'][-1]:.4f} heldout R2 {1 - np.mean((p - delay_v) ** 2) / np.var(delay_v):.3f}")
