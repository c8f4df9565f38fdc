import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

N_PARTICLES, N_FEATURES = 16, 4


def make_jets(n, rng):
    label = rng.integers(0, 2, n)
    pt = rng.exponential(1.0, (n, N_PARTICLES))
    axis = rng.normal(0, 0.3, (n, 1, 2))
    spread = np.where(label, 0.55, 0.25)[:, None, None]
    second = rng.normal(0, 0.9, (n, 1, 2)) * label[:, None, None]
    prong = (rng.random((n, N_PARTICLES, 1)) < 0.5) * second
    direction = axis + prong + rng.normal(0, 1, (n, N_PARTICLES, 2)) * spread
    charge = rng.choice([-1.0, 1.0], (n, N_PARTICLES))
    jets = np.concatenate([np.log1p(pt)[..., None], direction, charge[..., None]], -1)
    return jets.astype("float32"), label.astype("float32")[:, None]


rng = np.random.default_rng(SEED + 7)
x_train, y_train = make_jets(8000, rng)
x_test, y_test = make_jets(2000, rng)
flip = rng.random(len(y_train)) < 0.02
y_train[flip] = 1 - y_train[flip]

inputs = keras.Input((N_PARTICLES, N_FEATURES))
h = keras.layers.Dense(48, activation="relu")(inputs)
h = keras.layers.Dense(48, activation="relu")(h)
h = keras.layers.GlobalAveragePooling1D()(h)
h = keras.layers.Dense(64, activation="relu")(h)
outputs = keras.layers.Dense(1, activation="sigmoid", dtype="float32")(h)
model = keras.Model(inputs, outputs)

watch = gradwatch.watch(model)
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(3e-3))
optimizer.build(model.trainable_variables)
EPSILON = 1e-8


def tagger_loss(y_true, prob):
    y_true = tf.cast(y_true, prob.dtype)
    signal = y_true * tf.math.log(tf.maximum(prob, EPSILON))
    background = (1 - y_true) * tf.math.log(tf.maximum(1 - prob, EPSILON))
    return -tf.reduce_mean(signal + background)


@tf.function
def train_step(jets, label):
    with tf.GradientTape() as tape:
        prob = model(jets, training=True)
        loss = tagger_loss(label, prob)
        scaled_loss = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000, seed=SEED).batch(64)
for epoch in range(10):
    losses = []
    for jets, label in ds:
        loss = train_step(jets, label)
        watch.log(loss=loss)
        losses.append(float(loss))
    if os.environ.get("SHOW"):
        print(epoch, np.mean(losses), np.isnan(losses).mean())

prob = model.predict(x_test, verbose=0).astype("float32").ravel()
print("SCORE", round(roc_auc_score(y_test.ravel(), prob), 4) if np.isfinite(prob).all() else "nan")
