import os
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


@dataclass
class TwinConfig:
    signal: int = 40
    classes: int = 8
    embed: int = 16
    batch: int = 128
    steps: int = 400
    lr: float = 2e-3
    temperature: float = 0.1


def make_spectra(cfg, n, seed):
    proto = np.random.default_rng(31).normal(size=(cfg.classes, 6))
    basis = np.random.default_rng(32).normal(size=(6, cfg.signal))
    nuisance = np.random.default_rng(33).normal(size=(10, cfg.signal))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, cfg.classes, n)
    clean = (proto[y] + 0.2 * rng.normal(size=(n, 6))) @ basis

    def view():
        return (clean + 2.5 * rng.normal(size=(n, 10)) @ nuisance + 0.3 * rng.normal(size=clean.shape)).astype(
            "float32"
        ) / 5.0

    return view(), view(), y


def build_encoder(cfg):
    return keras.Sequential(
        [
            keras.Input((cfg.signal,)),
            keras.layers.Dense(96, activation="relu", name="enc_1"),
            keras.layers.Dense(64, activation="relu", name="enc_2"),
            keras.layers.Dense(cfg.embed, name="projection"),
        ],
        name="encoder",
    )


class InfoNCE:
    def __init__(self, temperature):
        self.temperature = temperature

    def __call__(self, za, zb):
        za = tf.math.l2_normalize(za, axis=1)
        zb = tf.math.l2_normalize(zb, axis=1)
        logits = tf.matmul(za, zb, transpose_b=True) * self.temperature
        target = tf.range(tf.shape(za)[0])
        rows = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
        cols = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=tf.transpose(logits))
        return 0.5 * tf.reduce_mean(rows + cols)


class TwinTrainer:
    def __init__(self, encoder, cfg):
        self.encoder = encoder
        self.criterion = InfoNCE(cfg.temperature)
        self.optimizer = keras.optimizers.Adam(cfg.lr)

    @tf.function
    def train_step(self, a, b):
        with tf.GradientTape() as tape:
            loss = self.criterion(self.encoder(a, training=True), self.encoder(b, training=True))
        grads = tape.gradient(loss, self.encoder.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.encoder.trainable_variables))
        return loss


def retrieval(encoder, a, b):
    za = tf.math.l2_normalize(encoder(a), axis=1).numpy()
    zb = tf.math.l2_normalize(encoder(b), axis=1).numpy()
    return float(((za @ zb.T).argmax(1) == np.arange(len(a))).mean())


def main():
    cfg = TwinConfig()
    a, b, _ = make_spectra(cfg, 4000, 1)
    ta, tb, _ = make_spectra(cfg, 300, 2)
    encoder = build_encoder(cfg)
    trainer = TwinTrainer(encoder, cfg)
    watch = gradwatch.watch(encoder)
    ds = iter(tf.data.Dataset.from_tensor_slices((a, b)).shuffle(4000, seed=SEED).repeat().batch(cfg.batch))
    for step in range(cfg.steps):
        loss = trainer.train_step(*next(ds))
        watch.log(loss=loss)
        if step % 100 == 0:
            print(step, float(loss))
    print("SCORE", retrieval(encoder, ta, tb))


if __name__ == "__main__":
    main()
