"""Sugar, acidity and mildew of grape samples from leaf spectra: three tasks that weigh themselves."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANDS = 80
VARIETIES = 6
wave = np.linspace(0, 1, BANDS)


def bump(centre, width):
    return np.exp(-0.5 * ((wave - centre) / width) ** 2)


def make_samples(n):
    variety = rng.integers(0, VARIETIES, n)
    ripeness = rng.beta(2.2, 1.8, n)
    sugar = 12 + 12 * ripeness + np.linspace(-1.5, 1.5, VARIETIES)[variety] + rng.normal(0, 0.5, n)
    acid = 14 - 8 * ripeness + np.array([0, 1, -1, 0.5, -0.5, 1.5])[variety] + rng.normal(0, 0.6, n)
    damp = rng.gamma(2.0, 0.5, n)
    mildew = rng.random(n) < 1 / (1 + np.exp(3.2 - 1.5 * damp))
    spectra = 0.4 + 0.3 * wave + np.outer(rng.normal(0, 0.05, n), np.ones(BANDS))
    spectra -= np.outer(0.020 * (sugar - 18), bump(0.62, 0.05))
    spectra -= np.outer(0.030 * (acid - 10), bump(0.30, 0.04) - 0.5 * bump(0.8, 0.03))
    spectra += np.outer((0.008 + 0.022 * rng.random(n)) * mildew, bump(0.15, 0.03) - bump(0.48, 0.02))
    spectra *= 1 + rng.normal(0, 0.03, (n, 1))
    spectra += rng.normal(0, 0.012, (n, BANDS))
    return spectra, variety, sugar, acid, mildew.astype("float32")


spectra, variety, sugar, acid, mildew = make_samples(3200)
train, test = np.arange(2600), np.arange(2600, 3200)
spectra = (spectra - spectra[train].mean(0)) / spectra[train].std(0)
features = np.concatenate([spectra, np.eye(VARIETIES)[variety]], 1).astype("float32")
sugar = ((sugar - sugar[train].mean()) / sugar[train].std()).astype("float32")
acid = ((acid - acid[train].mean()) / acid[train].std()).astype("float32")
# the laboratory titrated only some of the samples
titrated = (rng.random(len(acid)) < 0.35).astype("float32")
acid_known = np.where(titrated > 0, acid, 0.0).astype("float32")


class Vineyard(keras.Model):
    """Each task's loss is divided by a variance of its own, learnt along with the rest."""

    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential(
            [
                layers.Dense(96, activation="relu"),
                layers.Dropout(0.05),
                layers.Dense(48, activation="relu"),
            ]
        )
        self.sugar_head = layers.Dense(1)
        self.acid_head = layers.Dense(1)
        self.mildew_head = layers.Dense(1)
        self.log_vars = self.add_weight(shape=(3,), initializer="zeros", name="log_vars")
        self.loss_mean = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_mean]

    def call(self, rows, training=False):
        shared = self.trunk(rows, training=training)
        heads = self.sugar_head(shared), self.acid_head(shared), self.mildew_head(shared)
        return ops.concatenate(heads, axis=-1)

    def train_step(self, data):
        rows, truth = data
        with tf.GradientTape() as tape:
            out = self(rows, training=True)
            sugar_loss = ops.mean(ops.square(truth[:, 0] - out[:, 0]))
            known = truth[:, 3]
            acid_loss = ops.sum(known * ops.square(truth[:, 1] - out[:, 1])) / ops.maximum(ops.sum(known), 1.0)
            mildew_loss = ops.mean(ops.binary_crossentropy(truth[:, 2], out[:, 2], from_logits=True))
            parts = ops.stack([0.5 * sugar_loss, 0.5 * acid_loss, mildew_loss])
            loss = ops.sum(ops.exp(-self.log_vars) * parts + 0.5 * self.log_vars)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}


truth = np.stack([sugar, acid_known, mildew, titrated], 1)
model = Vineyard()
model(features[:2])
model.compile(optimizer=keras.optimizers.Adamax(6e-3))
watch = gradwatch.watch(model)
model.fit(features[train], truth[train], batch_size=64, epochs=12, verbose=2)

out = model.predict(features[test], verbose=0)
sugar_r2 = 1 - np.mean((out[:, 0] - sugar[test]) ** 2) / np.var(sugar[test])
acid_r2 = 1 - np.mean((out[:, 1] - acid[test]) ** 2) / np.var(acid[test])
sick = mildew[test] > 0
found = 0.5 * (np.mean(out[sick, 2] > 0) + np.mean(out[~sick, 2] <= 0))
print(f"sugar {sugar_r2:.3f}, acid {acid_r2:.3f}, mildew {found:.3f}")
print(f"task weights {np.exp(-model.log_vars.numpy()).round(2)}")
print(f"score {(sugar_r2 + acid_r2 + 2 * found - 1) / 3:.4f}")
