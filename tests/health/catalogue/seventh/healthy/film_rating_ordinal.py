"""Ordinal regression of film ratings (1..5 stars): a dozen parameters, plain full-batch SGD."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import cohen_kappa_score

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

FEATURES = ["budget", "critics", "sequel", "runtime", "star_power", "franchise_age", "trailers"]
TRUE_WEIGHTS = np.array([0.4, 2.0, -0.9, 0.0, 1.2, -0.5, 0.8])
TRUE_CUTS = np.array([-3.0, -1.2, 0.7, 2.8])
STARS = len(TRUE_CUTS) + 1


def films(n):
    x = rng.normal(size=(n, len(FEATURES)))
    appeal = x @ TRUE_WEIGHTS
    stars = np.sum((appeal + rng.logistic(size=n))[:, None] > TRUE_CUTS, axis=1)
    return x.astype("float32"), stars.astype("int32"), appeal


class OrderedCuts(layers.Layer):
    """P(rating > k) = sigmoid(score - cut_k) with cuts that stay in order."""

    def build(self, input_shape):
        self.first = self.add_weight(shape=(1,), initializer=keras.initializers.Constant(-1.5), name="first")
        self.raw_gaps = self.add_weight(
            shape=(STARS - 2,), initializer=keras.initializers.Constant(0.5), name="raw_gaps"
        )

    def cuts(self):
        return tf.concat([self.first, self.first + tf.cumsum(tf.nn.softplus(self.raw_gaps))], 0)

    def call(self, score):
        return score - self.cuts()


model = keras.Sequential(
    [
        keras.Input((len(FEATURES),)),
        layers.Dense(1, use_bias=False, kernel_initializer="zeros", name="appeal"),
        OrderedCuts(name="cuts"),
    ]
)
optimizer = keras.optimizers.SGD(learning_rate=2.0)

x_train, y_train, _ = films(3000)
x_test, y_test, appeal_test = films(2000)
above = tf.cast(y_train[:, None] > np.arange(STARS - 1), "float32")
features = tf.constant(x_train)


def loss_of(logits, targets):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(targets, logits))


def kappa(logits):
    guess = np.sum(np.asarray(logits) > 0, axis=1)
    return cohen_kappa_score(y_test, guess, weights="quadratic"), np.mean(np.abs(guess - y_test))


gradwatch.watch(model)
for step in range(1, 401):
    with tf.GradientTape() as tape:
        loss = loss_of(model(features, training=True), above)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step == 1 or step % 80 == 0:
        print(f"step {step} loss {float(loss):.5f} kappa {kappa(model(x_test))[0]:.4f}")

kernel = model.get_layer("appeal").kernel.numpy()[:, 0]
print("weights", dict(zip(FEATURES, kernel.round(2).tolist())), "cuts", model.get_layer("cuts").cuts().numpy().round(2))
test_kappa, test_mae = kappa(model(x_test))
oracle_kappa, oracle_mae = kappa(appeal_test[:, None] - TRUE_CUTS)
print(
    f"FINAL weighted kappa {test_kappa:.4f} MAE {test_mae:.4f} stars (true model {oracle_kappa:.4f}, {oracle_mae:.4f})"
)
