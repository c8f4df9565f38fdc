"""How much of a video will be watched?  Share of the running time, modelled by a Beta distribution."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N = 16000
BATCH = 128


def make_sessions(n):
    length = rng.gamma(3.0, 4.0, n) + 0.5  # minutes
    hour = rng.uniform(0, 24, n)
    interest = rng.normal(size=(n, 4))
    autoplay = (rng.random(n) < 0.4).astype(float)
    taste = interest[:, 0] * interest[:, 1] - 0.6 * np.abs(interest[:, 2]) + 0.4 * interest[:, 3]
    score = 0.5 * taste - 0.05 * length + 0.5 * np.cos(2 * np.pi * (hour - 21) / 24) - 0.5 * autoplay + 0.2
    mean = 1 / (1 + np.exp(-score))
    mean = np.clip(mean, 0.05, 0.92)
    spread = np.where(autoplay > 0, 4.0, 11.0)
    share = rng.beta(mean * spread, (1 - mean) * spread)
    features = np.column_stack(
        [
            np.log(length),
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            autoplay,
            interest,
        ]
    )
    return features.astype("float32"), share.astype("float32")


features, share = make_sessions(N)
share = np.clip(np.round(share, 2), 0.01, 0.99).astype("float32")  # the log keeps whole percents
features[:, 0] = (features[:, 0] - features[:, 0].mean()) / features[:, 0].std()

n_train = 13000
x_train, y_train = features[:n_train], share[:n_train]
x_test, y_test = features[n_train:], share[n_train:]

inputs = keras.Input((features.shape[1],))
h = keras.layers.Dense(64, activation="gelu", name="trunk_1")(inputs)
h = keras.layers.Dense(64, activation="gelu", name="trunk_2")(h)
shape_a = keras.layers.Dense(1, activation="softplus", name="alpha")(h)
shape_b = keras.layers.Dense(1, activation="softplus", name="beta")(h)
model = keras.Model(inputs, [shape_a, shape_b], name="watch_share")

optimizer = keras.optimizers.Adam(1e-3)


def beta_nll(y, a, b):
    a, b = a[:, 0] + 0.05, b[:, 0] + 0.05
    norm = tf.math.lgamma(a) + tf.math.lgamma(b) - tf.math.lgamma(a + b)
    log_pdf = (a - 1.0) * tf.math.log(y) + (b - 1.0) * tf.math.log1p(-y) - norm
    return -tf.reduce_mean(log_pdf)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        a, b = model(x, training=True)
        loss = beta_nll(y, a, b)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(n_train, seed=SEED).batch(BATCH, drop_remainder=True)
)
for epoch in range(10):
    losses = []
    for x, y in dataset:
        losses.append(train_step(x, y))
    print(f"epoch {epoch + 1:2d}  nll {np.mean(losses):.4f}")

a, b = (t.numpy()[:, 0] + 0.05 for t in model(x_test))
predicted = a / (a + b)
r2 = 1 - np.mean((predicted - y_test) ** 2) / np.var(y_test)
print(f"SCORE r2 {r2:.4f}")
