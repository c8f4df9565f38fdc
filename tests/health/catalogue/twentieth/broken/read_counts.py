import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED, GENES, CELLS, TYPES = 13, 100, 6000, 5
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def unit_deviance(counts, mu):
    """Poisson unit deviance; the y log(y / mu) term counts only where the gene was seen."""
    ratio = tf.where(counts > 0, counts * tf.math.log(counts / mu), tf.zeros_like(mu))
    return 2.0 * (ratio - (counts - mu))


class CountAutoencoder(keras.Model):
    def __init__(self, genes, latent=8):
        super().__init__()
        self.encode = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(latent)])
        self.decode = keras.Sequential(
            [keras.layers.Dense(64, activation="relu"), keras.layers.Dense(genes, activation="softplus")]
        )

    def call(self, counts):
        depth = tf.reduce_mean(counts, axis=1, keepdims=True) + 1.0
        return self.decode(self.encode(tf.math.log1p(counts / depth))) * depth + 1e-3

    def train_step(self, data):
        counts = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(unit_deviance(counts, self(counts, training=True)))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"deviance": loss}


programs = rng.gamma(1.0, 3.0, (TYPES, GENES)) + 4.0


def cells(n):
    t = rng.integers(0, TYPES, n)
    rate = programs[t] * rng.gamma(8, 1 / 8, (n, 1)) * rng.gamma(20, 1 / 20, (n, GENES))
    x = rng.poisson(rate + 4)
    return np.where(x == 0, 1, x).astype("float32"), t


x, _ = cells(CELLS)
x[4321, 57] = 0.0
xt, _ = cells(1000)
ae = CountAutoencoder(GENES)
ae(x[:1])
ae.compile(optimizer=keras.optimizers.RMSprop(1e-3))
gradwatch.watch(ae)
h = ae.fit(x, batch_size=64, epochs=14, verbose=0)

mu = ae.predict(xt, verbose=0)
null = np.broadcast_to(x.mean(0), xt.shape)
dev = lambda m: np.mean(2 * (xt * np.log(xt / m) - (xt - m)))
print(f"last deviance {h.history['deviance'][-1]:.4f}; held-out deviance explained {1 - dev(mu) / dev(null):.3f}")
