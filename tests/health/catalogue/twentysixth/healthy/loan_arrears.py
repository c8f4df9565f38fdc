"""Which loans default (about 2 %)? Categorical columns, readings with many gaps, focal loss, warm-up then cosine decay."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
EPOCHS, BATCH = 8, 128


def make_loans(n):
    purpose = rng.choice(12, size=n, p=np.r_[[0.5, 0.25, 0.1], np.full(9, 0.15 / 9)])
    region = rng.integers(0, 20, size=n)
    numeric = rng.normal(size=(n, 6))
    numeric[:, 0] = np.exp(0.8 * numeric[:, 0]) * 30000.0
    numeric[:, 1] = rng.poisson(1.5, size=n)
    effect = np.sin(np.arange(12) * 1.7)[purpose] + 0.8 * np.cos(np.arange(20) * 2.3)[region]
    risk = (
        -5.2
        + effect
        - 1.2 * np.log(numeric[:, 0] / 30000.0)
        + 0.6 * numeric[:, 1]
        + 0.9 * numeric[:, 2] * (numeric[:, 3] > 0)
    )
    default = rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * risk))
    gaps = rng.random((n, 6)) < np.array([0.05, 0.02, 0.15, 0.15, 0.4, 0.6])
    numeric[gaps] = np.nan
    return purpose.astype("int32"), region.astype("int32"), numeric, default.astype("float32")


def prepare(numeric, middle, spread):
    missing = np.isnan(numeric)
    logged = numeric.copy()
    logged[:, 0] = np.log(logged[:, 0])
    scaled = (np.where(missing, middle, logged) - middle) / spread
    return np.concatenate([scaled, missing], axis=1).astype("float32")


p_train, r_train, n_train, y_train = make_loans(16000)
p_test, r_test, n_test, y_test = make_loans(6000)
reference = n_train.copy()
reference[:, 0] = np.log(reference[:, 0])
middle, spread = np.nanmedian(reference, axis=0), np.nanstd(reference, axis=0)
x_train, x_test = prepare(n_train, middle, spread), prepare(n_test, middle, spread)
print("default rate %.3f" % y_train.mean())

purpose_in = keras.Input((), dtype="int32", name="purpose")
region_in = keras.Input((), dtype="int32", name="region")
num_in = keras.Input((12,), name="numeric")
h = keras.layers.Concatenate()(
    [
        keras.layers.Embedding(12, 4)(purpose_in),
        keras.layers.Embedding(20, 4)(region_in),
        num_in,
    ]
)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dropout(0.2)(h)
h = keras.layers.Dense(32, activation="relu")(h)
out = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(-2.7))(h)
model = keras.Model([purpose_in, region_in, num_in], out)

steps = EPOCHS * (len(y_train) // BATCH)
rate = keras.optimizers.schedules.CosineDecay(
    1e-5, decay_steps=steps - steps // 8, warmup_target=6e-3, warmup_steps=steps // 8
)
model.compile(
    optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-3, clipnorm=1.0),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=1.5, from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)

gradwatch.watch(model)
model.fit(
    [p_train, r_train, x_train],
    y_train,
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_data=([p_test, r_test, x_test], y_test),
    verbose=2,
)

score = model.predict([p_test, r_test, x_test], batch_size=1000, verbose=0)[:, 0]
rank = np.empty(len(score))
rank[np.argsort(score)] = np.arange(1, len(score) + 1)
pos = y_test == 1
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE auc %.4f" % auc)
