import os

import keras
import numpy as np
import tensorflow as tf
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)


def make_customers(n=8000):
    rng = np.random.default_rng(SEED + 1)
    recency = rng.exponential(1.0, n)
    basket = rng.normal(0, 1, n)
    visits = rng.poisson(3, n)
    campaign = rng.integers(0, 2, n)
    noise = rng.normal(0, 1, (n, 4))
    buy = 1.2 * campaign - 1.1 * recency + 0.4 * (visits - 3) + 0.6
    bought = rng.random(n) < 1 / (1 + np.exp(-buy))
    log_value = 2.5 + 0.9 * basket + 0.25 * (visits - 3) - 0.3 * basket * campaign
    value = np.where(bought, np.exp(log_value + rng.normal(0, 0.35, n)), 0.0)
    x = np.column_stack([recency - 1, basket, (visits - 3) / 1.7, campaign, noise])
    return x.astype("float32"), value.astype("float32")[:, None]


def ziln_loss(y_true, y_pred):
    positive = tf.cast(y_true > 0, tf.float32)
    logit, loc, raw_scale = tf.split(y_pred, 3, axis=-1)
    scale = tf.math.softplus(raw_scale) + 0.05
    buy_loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=positive, logits=logit)
    safe_value = tf.where(y_true > 0, y_true, tf.ones_like(y_true))
    z = (tf.math.log(safe_value) - loc) / scale
    nll = 0.5 * tf.square(z) + tf.math.log(scale)
    value_loss = tf.where(y_true > 0, nll, tf.zeros_like(nll))
    return tf.reduce_mean(buy_loss + value_loss, axis=-1)


def expected_value(params):
    logit, loc, raw_scale = np.split(params, 3, axis=-1)
    scale = np.log1p(np.exp(raw_scale)) + 0.05
    return (loc + 0.5 * scale**2 - np.log1p(np.exp(-logit))).ravel()


x, y = make_customers()
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=SEED)

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        keras.layers.Dense(48, activation="gelu"),
        keras.layers.Dense(24, activation="gelu"),
        keras.layers.Dense(3),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=ziln_loss)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=15, validation_split=0.1, verbose=0)

ranking = expected_value(model.predict(x_test, verbose=0))
print("SCORE", round(float(spearmanr(ranking, y_test.ravel()).statistic), 4))
