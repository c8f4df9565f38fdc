import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_loans(n):
    income = rng.lognormal(10.4, 0.5, n)
    debt = income * rng.beta(2, 5, n)
    age = rng.integers(20, 75, n).astype("float64")
    late = rng.poisson(0.7, n).astype("float64")
    years = rng.gamma(2.0, 3.0, n)
    logit = 9.0 * (debt / income - 0.3) + 1.8 * late - 0.4 * years + 0.02 * (45 - age) - 0.4
    label = (rng.random(n) < 1 / (1 + np.exp(-3.0 * logit))).astype("float32")
    x = np.stack([np.log(income), debt / income, age, late, years], axis=1)
    return x.astype("float32"), label[:, None]


x_train, y_train = make_loans(6000)
x_test, y_test = make_loans(2000)
mean, std = x_train.mean(0), x_train.std(0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std


def scoring_loss(y_true, p):
    return -tf.reduce_mean(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))


class LoanModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(64, activation="relu", name=f"block_{i}") for i in range(3)]
        self.score = keras.layers.Dense(1, activation="sigmoid", name="score")

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.score(x)


model = LoanModel()
model(x_train[:2])
optimizer = keras.optimizers.Adam(4e-3)
watch = gradwatch.watch(model)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        p = model(xb, training=True)
        loss = scoring_loss(yb, p)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


batches = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=SEED).batch(64)
for epoch in range(20):
    total = [float(step(xb, yb)) for xb, yb in batches]
    print(f"epoch {epoch} loss {np.mean(total):.4f}")

p_test = model.predict(x_test, verbose=0)[:, 0]
score = roc_auc_score(y_test[:, 0], p_test) if np.isfinite(p_test).all() else float("nan")
print("SCORE", score)
