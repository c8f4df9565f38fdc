"""Card fraud (about 3 % positives): merchant embeddings with many rare merchants, frozen profile encoder, focal loss."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
N, MERCHANTS, DAYS = 16000, 800, 30

popularity = 1.0 / np.arange(1, MERCHANTS + 1) ** 1.1
popularity /= popularity.sum()
risk = rng.normal(0, 1.2, MERCHANTS)

merchant = rng.choice(MERCHANTS, N, p=popularity)
style = rng.standard_normal((N, 3))
basis = np.stack([np.sin(np.arange(DAYS) / 2), np.cos(np.arange(DAYS) / 5), np.arange(DAYS) / DAYS - 0.5])
history = style @ basis + 0.3 * rng.standard_normal((N, DAYS))
usual = history.mean(1)
amount = rng.lognormal(3.0, 1.0, N)
night = rng.random(N) < 0.2
logit = (
    -9.3
    + risk[merchant]
    + 1.8 * np.log1p(amount) / 2
    + 2.2 * night * (style[:, 0] < 0)
    + 1.3 * style[:, 1]
    + 1.5 * (usual > 0.4)
)
label = (rng.random(N) < 1 / (1 + np.exp(-1.5 * (logit + 2.0)))).astype("float32")
dense = np.stack([np.log1p(amount) - 3.0, night], 1).astype("float32")
history = history.astype("float32")[..., None]
train, test = np.arange(N) < 12000, np.arange(N) >= 12000
print("positives %.3f" % label.mean())

# the profile encoder comes from an autoencoder on unlabelled histories
encoder = keras.Sequential(
    [
        keras.Input((DAYS, 1)),
        layers.Conv1D(8, 5, activation="elu"),
        layers.BatchNormalization(),
        layers.Flatten(),
        layers.Dense(6),
    ],
    name="encoder",
)
decoder = keras.Sequential([keras.Input((6,)), layers.Dense(32, activation="elu"), layers.Dense(DAYS)])
autoencoder = keras.Sequential([encoder, decoder])
autoencoder.compile(keras.optimizers.Adam(3e-3), loss="mse")
autoencoder.fit(history[train], history[train, :, 0], batch_size=128, epochs=3, verbose=2)
encoder.trainable = False

merchant_in = keras.Input((), dtype="int32", name="merchant")
dense_in = keras.Input((2,), name="dense")
history_in = keras.Input((DAYS, 1), name="history")
shop = layers.Embedding(MERCHANTS, 8, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.01))(merchant_in)
profile = encoder(history_in, training=False)
h = layers.Concatenate()([shop, profile, dense_in])
h = layers.Dropout(0.1)(layers.Dense(48, activation="relu")(h))
h = layers.Dense(24, activation="relu")(h)
base = np.log(label[train].mean() / (1 - label[train].mean()))
out = layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(base))(h)
model = keras.Model([merchant_in, dense_in, history_in], out)

rate = keras.optimizers.schedules.ExponentialDecay(0.5, decay_steps=94, decay_rate=0.8)
model.compile(
    keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, clipnorm=1.0),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=1.0),
)


def inputs(rows):
    return {"merchant": merchant[rows].astype("int32"), "dense": dense[rows], "history": history[rows]}


gradwatch.watch(model)
model.fit(inputs(train), label[train][:, None], batch_size=128, epochs=8, verbose=2)


def auc(score, truth):
    rank = np.argsort(np.argsort(score)) + 1
    pos = truth.sum()
    return (rank[truth > 0].sum() - pos * (pos + 1) / 2) / (pos * (len(truth) - pos))


print("auc of the true odds %.4f" % auc(logit[test], label[test]))
print("SCORE auc %.4f" % auc(model.predict(inputs(test), verbose=0)[:, 0], label[test]))
