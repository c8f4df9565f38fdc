"""Compress photographs of ceramic glazes into discrete codes (a vector-quantised autoencoder).

The codebook gets no gradient: each code is a moving average of the encodings that fell on it
(so these weights move although no optimizer touches them).  The encoder learns through a
straight-through copy of the decoder's gradient and a commitment term, which rises at first while the
encodings spread out.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE, CODES, DEPTH, STEPS, BATCH = 16, 32, 8, 600, 64
KEEP = 0.97


def make_tiles(n, glazes):
    """A 16 x 16 tile is a 4 x 4 mosaic of glaze patches; returns clean and grainy tiles."""
    kinds = rng.integers(0, len(glazes), (n, 4, 4))
    clean = glazes[kinds].transpose(0, 1, 3, 2, 4).reshape(n, SIDE, SIDE, 1)
    return clean.astype("float32"), (clean + 0.25 * rng.normal(size=clean.shape)).astype("float32")


class Codebook(keras.layers.Layer):
    def build(self, shape):
        self.codes = self.add_weight(shape=(CODES, DEPTH), trainable=False, name="codes")
        self.sums = self.add_weight(shape=(CODES, DEPTH), trainable=False, name="sums")
        self.counts = self.add_weight(shape=(CODES,), initializer="ones", trainable=False, name="counts")

    def call(self, encoded):
        flat = tf.reshape(encoded, (-1, DEPTH))
        distance = tf.reduce_sum(self.codes**2, axis=1) - 2.0 * flat @ tf.transpose(self.codes)
        nearest = tf.argmin(distance, axis=1)
        return tf.reshape(tf.gather(tf.convert_to_tensor(self.codes), nearest), tf.shape(encoded)), nearest

    def start_from(self, encoded):
        flat = np.reshape(encoded, (-1, DEPTH))
        self.codes.assign(flat[rng.choice(len(flat), CODES, replace=False)])
        self.sums.assign(self.codes)

    def follow(self, encoded, nearest):
        """Moving averages of each code's members; a code that lost them restarts at a random encoding."""
        member = tf.one_hot(nearest, CODES)
        flat = tf.reshape(encoded, (-1, DEPTH))
        self.counts.assign(KEEP * self.counts + (1.0 - KEEP) * tf.reduce_sum(member, axis=0))
        self.sums.assign(KEEP * self.sums + (1.0 - KEEP) * tf.matmul(member, flat, transpose_a=True))
        lost = self.counts < 0.5
        fresh = tf.gather(flat, tf.random.uniform((CODES,), 0, tf.shape(flat)[0], tf.int32))
        self.sums.assign(tf.where(lost[:, None], fresh, self.sums))
        self.counts.assign(tf.where(lost, 1.0, self.counts))
        self.codes.assign(self.sums / self.counts[:, None])


class GlazeCoder(keras.Model):
    def __init__(self):
        super().__init__(name="glaze_coder")
        self.encoder = keras.Sequential(
            [
                keras.layers.Conv2D(48, 4, strides=4, activation="swish", name="patch"),
                keras.layers.Conv2D(48, 1, activation="swish", name="mix"),
                keras.layers.Conv2D(DEPTH, 1, name="to_code"),
            ],
            name="encoder",
        )
        self.codebook = Codebook(name="codebook")
        self.decoder = keras.Sequential(
            [
                keras.layers.Conv2D(48, 1, activation="swish", name="from_code"),
                keras.layers.Conv2DTranspose(1, 4, strides=4, name="paint"),
            ],
            name="decoder",
        )

    def call(self, tiles):
        encoded = self.encoder(tiles)
        quantised, nearest = self.codebook(encoded)
        passed = encoded + tf.stop_gradient(quantised - encoded)
        return self.decoder(passed), encoded, quantised, nearest


def main():
    glazes = rng.normal(size=(24, 4, 4))
    _, tiles = make_tiles(2500, glazes)
    test_clean, test_tiles = make_tiles(500, glazes)
    model = GlazeCoder()
    model(tiles[:2])
    model.codebook.start_from(model.encoder(tiles[:64]))
    watch = gradwatch.watch(model)
    optimizer = keras.optimizers.Adam(2e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            painted, encoded, quantised, nearest = model(batch)
            reconstruction = tf.reduce_mean(tf.square(painted - batch))
            commitment = tf.reduce_mean(tf.square(encoded - tf.stop_gradient(quantised)))
            loss = reconstruction + 0.25 * commitment
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        model.codebook.follow(encoded, nearest)
        return reconstruction, commitment

    for _ in range(STEPS):
        reconstruction, commitment = train_step(tf.constant(tiles[rng.integers(0, len(tiles), BATCH)]))
        watch.log(reconstruction=reconstruction, commitment=commitment)

    painted, _, _, nearest = model(test_tiles)
    print("codes in use:", len(np.unique(nearest)), "of", CODES)
    r2 = 1.0 - np.mean((painted.numpy() - test_clean) ** 2) / np.var(test_clean)
    print(f"score clean_tile_r2 {r2:.4f} chance 0.0")


if __name__ == "__main__":
    main()
