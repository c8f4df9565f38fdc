import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class Config:
    latent: int = 4
    hidden: int = 48
    batch: int = 64
    epochs: int = 25
    lr: float = 1e-3
    beta: float = 0.05


def load_engines(n=3000):
    rng = np.random.default_rng(7)
    load = rng.uniform(0.1, 1.0, n)
    wear = rng.beta(2, 5, n)
    ambient = rng.normal(20, 6, n)
    cols = [
        900 + 4200 * load + 60 * rng.normal(size=n),
        ambient + 60 * load + 30 * wear + rng.normal(size=n),
        101.3 + 140 * load - 50 * wear + 2 * rng.normal(size=n),
        0.4 + 8 * load * (1 + wear) + 0.1 * rng.normal(size=n),
        350 + 420 * load + 150 * wear + 5 * rng.normal(size=n),
        ambient + 0.5 * rng.normal(size=n),
        12 + 3 * wear + 0.1 * rng.normal(size=n),
    ]
    x = np.stack(cols, axis=1).astype("float32")
    return x[:2400], x[2400:]


class Sampling(keras.layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        eps = tf.random.normal(tf.shape(mean))
        return mean + tf.exp(0.5 * log_var) * eps


def build_encoder(cfg, width):
    inp = keras.Input((width,))
    h = keras.layers.Dense(cfg.hidden, activation="relu", name="enc_dense")(inp)
    mean = keras.layers.Dense(cfg.latent, name="z_mean")(h)
    log_var = keras.layers.Dense(cfg.latent, name="z_log_var")(h)
    z = Sampling(name="sampling")([mean, log_var])
    return keras.Model(inp, [mean, log_var, z], name="encoder")


def build_decoder(cfg, width):
    inp = keras.Input((cfg.latent,))
    h = keras.layers.Dense(cfg.hidden, activation="relu", name="dec_dense")(inp)
    return keras.Model(inp, keras.layers.Dense(width, name="reconstruction")(h), name="decoder")


class EngineCoder(keras.Model):
    def __init__(self, cfg, width):
        super().__init__()
        self.cfg = cfg
        self.encoder = build_encoder(cfg, width)
        self.decoder = build_decoder(cfg, width)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(x, training=True)
            recon = self.decoder(z, training=True)
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(x - recon), axis=1))
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            loss = rec + self.cfg.beta * tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


def main():
    cfg = Config()
    x_train, x_test = load_engines()
    mu, sd = x_train.mean(0), x_train.std(0)
    x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd
    mu, sd = 0.0, 1.0
    model = EngineCoder(cfg, x_train.shape[1])
    model.compile(optimizer=keras.optimizers.Adam(cfg.lr))
    model(x_train[:2])
    gradwatch.watch(model)
    model.fit(x_train, batch_size=cfg.batch, epochs=cfg.epochs, verbose=0)
    recon = model.predict(x_test, verbose=0)
    score = 1.0 - np.mean(np.square((recon - x_test) / sd)) / np.mean(np.square((x_test - mu) / sd))
    print("SCORE", float(score))


if __name__ == "__main__":
    main()
