# Expected number of ward visits in the year after discharge, count regression with log link.
import numpy as np
import tensorflow as tf

import gradwatch

SEED = 21
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def cohort(n):
    age = rng.normal(62, 14, n)
    bmi = rng.normal(27, 5, n)
    sbp = rng.normal(134, 18, n)
    ck = 60.0 * (1.0 + rng.pareto(1.15, n))
    smoker = rng.random(n) < 0.25
    diabetic = rng.random(n) < 0.18
    prior = rng.poisson(1.2, n)
    eta = (
        -0.4
        + 0.35 * (age - 62) / 14
        + 0.2 * np.abs(bmi - 26) / 5
        + 0.35 * np.log(ck / 100)
        + 0.4 * smoker
        + 0.3 * diabetic * (age > 65)
        + 0.15 * prior
    )
    y = rng.poisson(np.exp(np.clip(eta, -4, 2.5)))
    cols = np.stack([age, bmi, sbp, ck, smoker, diabetic, prior], axis=1)
    return cols.astype("float64"), y.astype("float32")


train_raw, y_train = cohort(16000)
test_raw, y_test = cohort(4000)


def prepare(raw):
    out = raw.copy()
    out[:, 1] = np.clip(out[:, 1], 12, 60)
    out[:, 2] = np.clip(out[:, 2], 70, 240)
    return out


train, test = prepare(train_raw), prepare(test_raw)
mean, std = train.mean(0), train.std(0)
x_train = ((train - mean) / std).astype("float32")
x_test = ((test - mean) / std).astype("float32")

inputs = tf.keras.Input((7,))
h = tf.keras.layers.Dense(64, activation="relu")(inputs)
h = tf.keras.layers.Dense(64, activation="relu")(h)
log_rate = tf.keras.layers.Dense(1)(h)
model = tf.keras.Model(inputs, log_rate)


def count_nll(y, log_rate):
    return tf.reduce_mean(tf.exp(log_rate) - y * log_rate)


model.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9), loss=count_nll)
gradwatch.watch(model)
hist = model.fit(x_train, y_train[:, None], batch_size=64, epochs=80, verbose=2)


def poisson_dev(y, mu):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1e-9) / mu), 0.0) - (y - mu))


with np.errstate(over="ignore"):
    mu = np.exp(model.predict(x_test, verbose=0)[:, 0].astype("float64"))
d2 = 1 - poisson_dev(y_test, mu) / poisson_dev(y_test, np.full_like(mu, y_train.mean()))
print(f"loss {hist.history['loss'][-1]:.4f}  held-out explained deviance {d2:.4f}")
