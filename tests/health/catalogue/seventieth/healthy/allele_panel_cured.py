import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 21)

LOCI = 120
N = 3000


@keras.saving.register_keras_serializable("panel")
class GroupLasso(keras.regularizers.Regularizer):
    def __init__(self, strength=1e-3):
        self.strength = strength

    def __call__(self, w):
        per_row = tf.sqrt(tf.reduce_sum(tf.square(w), axis=1) + 1e-8)
        return self.strength * tf.reduce_sum(per_row)

    def get_config(self):
        return {"strength": self.strength}


def make_panel(n):
    freq = np.linspace(0.15, 0.5, LOCI)
    alleles = rng.binomial(2, freq, (n, LOCI)).astype("float32")
    x = (alleles - 2 * freq) / np.sqrt(2 * freq * (1 - freq))
    effect = np.zeros(LOCI)
    effect[[3, 17, 30, 44, 61, 88, 101]] = [1.2, -0.9, 0.8, 1.0, -1.1, 0.7, -0.6]
    score = x @ effect + 0.8 * x[:, 3] * x[:, 44]
    label = (score + rng.logistic(0, 0.6, n) > 0).astype("float32")
    return x.astype("float32"), label


x, y = make_panel(N)
x_train, y_train = x[:2400], y[:2400]
x_test, y_test = x[2400:], y[2400:]

inputs = keras.Input((LOCI,), name="loci")
wide = keras.layers.Dense(
    1,
    use_bias=False,
    kernel_initializer="zeros",
    kernel_regularizer=GroupLasso(1e-3),
    name="additive",
)(inputs)
deep = keras.layers.Dense(24, activation="relu", kernel_regularizer=keras.regularizers.l2(1e-3), name="epistasis")(
    inputs
)
deep = keras.layers.Dense(1, name="interaction")(deep)
logit = keras.layers.Add(name="liability")([wide, deep])
risk = keras.layers.Activation("sigmoid", name="risk")(logit)
model = keras.Model(inputs, risk)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=64, epochs=15, verbose=0)
print("loss", history.history["loss"][0], history.history["loss"][-1])

risk_test = model.predict(x_test, verbose=0)[:, 0]
hits = np.where(np.isnan(risk_test), 0.0, (risk_test > 0.5) == (y_test > 0.5))
print("SCORE", float(np.mean(hits)))
