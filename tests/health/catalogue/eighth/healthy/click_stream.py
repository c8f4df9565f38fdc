import os
import time

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FEATURES = ["hour_sin", "hour_cos", "mobile", "returning", "slot_top", "price", "match", "age_ad", "freq_cap"]
TRUTH = np.array([0.3, -0.2, 0.5, 1.0, 1.2, -0.8, 1.8, -0.5, -0.9])


def impressions(n):
    hour = rng.uniform(0, 2 * np.pi, n)
    x = np.column_stack(
        [
            np.sin(hour),
            np.cos(hour),
            rng.integers(0, 2, n),
            rng.uniform(size=n) < 0.3,
            rng.uniform(size=n) < 0.4,
            rng.normal(size=n),
            rng.normal(size=n),
            rng.exponential(1.0, n) - 1.0,
            rng.poisson(0.5, n) - 0.5,
        ]
    ).astype("float32")
    p = 1 / (1 + np.exp(-(x @ TRUTH - 3.2)))
    return x, (rng.uniform(size=n) < p).astype("float32"), p


def auc(score, y):
    order = np.argsort(score)
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = y > 0.5
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def logloss(p, y):
    p = np.clip(p, 1e-7, 1 - 1e-7)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


class Logistic(keras.Model):
    def __init__(self):
        super().__init__()
        self.lin = keras.layers.Dense(1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-1.5))

    def call(self, x):
        return self.lin(x)


stream_x, stream_y, _ = impressions(800)
test_x, test_y, test_p = impressions(20000)
model = Logistic()
model(test_x[:1])
optimizer = keras.optimizers.Ftrl(learning_rate=0.25, l2_regularization_strength=0.05)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


def report(tag):
    p = keras.ops.convert_to_numpy(keras.ops.sigmoid(model(test_x)))[:, 0]
    print(f"{tag}: test log-loss {logloss(p, test_y):.4f} AUC {auc(p, test_y):.4f}")


print(f"click rate {test_y.mean():.3f}, best log-loss {logloss(test_p, test_y):.4f}")
report("start")
gradwatch.watch(model)
started = time.perf_counter()
progressive = []
for k in range(len(stream_x)):
    xb, yb = stream_x[k : k + 1], stream_y[k : k + 1, None]
    with tf.GradientTape() as tape:
        loss = bce(yb, model(xb, training=True))
    progressive.append(float(loss))
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    if (k + 1) % 100 == 0:
        print(k + 1, "progressive loss of the last 100:", round(float(np.mean(progressive[-100:])), 4))
report("end")
print("seconds", round(time.perf_counter() - started, 1), "weights", model.lin.kernel.numpy().ravel().round(2))
