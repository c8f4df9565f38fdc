"""Read bone density from scans of a hospital that has no labels yet.

Two hospitals' scanners give the same anatomy a different cast.  Only the old site
is labelled, and there the cast happens to go along with the label.  A site head sits
behind a gradient reversal, so the encoder learns features in which the sites cannot
be told apart: the site loss should come to rest near ln 2 rather than fall.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FEATURES, PER_SITE, EPOCHS = 32, 3000, 24


def make_site(site, n, anatomy, cast):
    """Anatomy gives the label; at site 0 the cast leaks it, at site 1 it is an offset only."""
    label = rng.integers(0, 2, n)
    sign = 2.0 * label - 1.0
    scans = 0.8 * rng.normal(size=(n, FEATURES)) + 0.75 * sign[:, None] * anatomy
    colour = (1.0 * sign if site == 0 else 3.0 + 0.0 * sign) + 0.4 * rng.normal(size=n)
    scans += colour[:, None] * cast
    return scans.astype("float32"), label.astype("float32")


class ReverseGradient(keras.layers.Layer):
    """Identity forward; the gradient comes back with its sign turned and scaled."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.strength = self.add_weight(shape=(), initializer="zeros", trainable=False, name="strength")

    def call(self, x):
        strength = tf.convert_to_tensor(self.strength)

        @tf.custom_gradient
        def flip(value):
            return tf.identity(value), lambda upstream: -strength * upstream

        return flip(x)


class RampUp(keras.callbacks.Callback):
    """The schedule of the adversarial training paper: 0 at first, then up to 1."""

    def on_epoch_begin(self, epoch, logs=None):
        ramp = 2.0 / (1.0 + np.exp(-10.0 * epoch / EPOCHS)) - 1.0
        self.model.get_layer("reverse").strength.assign(ramp)


def build():
    scan = keras.Input((FEATURES,), name="scan")
    x = keras.layers.Dense(48, activation="elu", name="encoder_1")(scan)
    x = keras.layers.Dense(16, name="encoder_2")(x)
    features = keras.layers.LayerNormalization(name="features")(x)
    density = keras.layers.Dense(1, activation="sigmoid", name="density")(features)
    site = ReverseGradient(name="reverse")(features)
    site = keras.layers.Dense(48, activation="elu", name="site_hidden")(site)
    site = keras.layers.Dense(1, activation="sigmoid", name="site")(site)
    return keras.Model(scan, {"density": density, "site": site}, name="site_free_reader")


def main():
    basis, _ = np.linalg.qr(rng.normal(size=(FEATURES, 2)))
    anatomy, cast = basis[:, 0], basis[:, 1]
    old_x, old_y = make_site(0, PER_SITE, anatomy, cast)
    new_x, _ = make_site(1, PER_SITE, anatomy, cast)
    test_x, test_y = make_site(1, 2000, anatomy, cast)

    x = np.concatenate([old_x, new_x])
    site = np.repeat([0.0, 1.0], PER_SITE).astype("float32")
    density = np.concatenate([old_y, np.zeros(PER_SITE, "float32")])  # the new site's labels are not known
    weights = {"density": 2.0 * (1.0 - site), "site": np.ones_like(site)}

    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5),
        loss={"density": "binary_crossentropy", "site": "binary_crossentropy"},
    )
    gradwatch.watch(model)
    model.fit(
        x,
        {"density": density, "site": site},
        sample_weight=weights,
        batch_size=128,
        epochs=EPOCHS,
        callbacks=[RampUp()],
        verbose=0,
    )

    guess = model.predict(test_x, verbose=0)["density"][:, 0] > 0.5
    print(f"score new_site_accuracy {np.mean(guess == test_y):.4f} chance 0.5")


if __name__ == "__main__":
    main()
