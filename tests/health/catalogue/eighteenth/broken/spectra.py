import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(4)
BITS, BINS, GROUPS = 128, 150, 20


def library(n, seed):
    """Fingerprints with functional groups and their absorption spectra."""
    g = np.random.default_rng(seed)
    lib = np.random.default_rng(1000)
    centre = lib.uniform(5, BINS - 5, (GROUPS, 2))
    strength = lib.uniform(0.4, 1.0, (GROUPS, 2))
    code = lib.random((GROUPS, BITS)) < 0.08
    has = g.random((n, GROUPS)) < 0.2
    fp = (has.astype("float32") @ code.astype("float32") > 0) ^ (g.random((n, BITS)) < 0.01)
    b = np.arange(BINS)
    bands = (strength[..., None] * np.exp(-0.5 * ((b - centre[..., None]) / 4.0) ** 2)).sum(1)
    spec = 1 - np.exp(-has.astype("float32") @ bands) + g.normal(0, 0.02, (n, BINS))
    return fp.astype("float32"), spec.astype("float32")


class SpectrumModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential(
            [
                keras.layers.Dense(160, activation="relu"),
                keras.layers.BatchNormalization(),
                keras.layers.Dense(96, activation="relu"),
            ]
        )
        self.coarse = keras.layers.Dense(BINS // 5 * 8)
        self.fold = keras.layers.Reshape((BINS // 5, 8))
        self.grow = keras.layers.Conv1DTranspose(16, 9, strides=5, padding="same", activation="relu")
        self.out = keras.layers.Conv1D(1, 5, padding="same")
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, fp, training=False):
        z = self.fold(self.coarse(self.trunk(fp, training=training)))
        return self.out(self.grow(z))[..., 0]

    def train_step(self, batch):
        fp, spec = batch
        with tf.GradientTape() as tape:
            pred = self(fp, training=True)
            per_sample = tf.reduce_mean(tf.abs(spec - pred) + tf.square(spec - pred), axis=1)
            loss = tf.nn.compute_average_loss(per_sample, global_batch_size=tf.size(spec))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}

    @property
    def metrics(self):
        return [self.tracker]


fp, spec = library(4000, 1)
fpv, specv = library(600, 2)
model = SpectrumModel()
model.compile(optimizer=keras.optimizers.SGD(0.03, momentum=0.9, nesterov=True))
gradwatch.watch(model)
model.build((None, BITS))
h = model.fit(fp, spec, batch_size=40, epochs=12, verbose=2)
p = model.predict(fpv, verbose=0)
r2 = 1 - np.sum((p - specv) ** 2) / np.sum((specv - spec.mean(0)) ** 2)
print("loss", h.history["loss"][-1], "heldout R2", r2)
