# Which of 8 instruments plays? Crowd-sourced tags (about one in four is a guess), raw audio snippets.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(64)
rng = np.random.default_rng(64)
SR, LEN, K = 4000, 512, 8
timbre = rng.dirichlet(np.ones(6) * 0.5, K)


def snippets(n, guess):
    k = rng.integers(0, K, n)
    t = np.arange(LEN)[None] / SR
    f0 = rng.uniform(180, 300, (n, 1))
    x = np.zeros((n, LEN))
    for h in range(6):
        x += timbre[k][:, h : h + 1] * np.sin(2 * np.pi * (h + 1) * f0 * t + rng.uniform(0, 6.28, (n, 1)))
    x = x * rng.uniform(0.5, 1.5, (n, 1)) + 0.2 * rng.normal(size=x.shape)
    tag = np.where(rng.random(n) < guess, rng.integers(0, K, n), k)
    return x.astype("float32"), keras.utils.to_categorical(tag, K).astype("float32")


def gammatones(bands=32, taps=128):
    t = np.arange(taps) / SR
    fc = np.geomspace(150, 1850, bands)
    w = t[:, None] ** 2 * np.exp(-2 * np.pi * 35 * t[:, None])
    w = w / np.linalg.norm(w)
    return [
        np.stack([w * np.cos(2 * np.pi * fc * t[:, None]), w * np.sin(2 * np.pi * fc * t[:, None])], 1)
        .transpose(0, 2, 1)
        .reshape(taps, 1, -1)
        .astype("float32")
    ]


class Energy(layers.Layer):
    def call(self, z):
        z = tf.reshape(tf.square(z), (tf.shape(z)[0], z.shape[1], z.shape[2] // 2, 2))
        e = tf.math.log(tf.reduce_mean(z, axis=(1, 3)) + 1e-5)
        return e - tf.reduce_mean(e, axis=-1, keepdims=True)


front = layers.Conv1D(64, 128, strides=16, use_bias=False, trainable=False, name="gammatone")
model = keras.Sequential(
    [
        keras.Input((LEN, 1)),
        front,
        Energy(),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(64, activation="tanh"),
        layers.Dense(K),
    ]
)
front.set_weights(gammatones())
model.compile(
    optimizer=keras.optimizers.SGD(0.2, momentum=0.5, nesterov=True),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
)
gradwatch.watch(model)

x, y = snippets(4000, 0.25)
xt, yt = snippets(800, 0.0)
for epoch in range(34):
    perm = rng.permutation(len(x))
    run = [float(model.train_on_batch(x[i][..., None], y[i])) for i in perm.reshape(-1, 40)]
acc = np.mean(np.argmax(model.predict(xt[..., None], verbose=0), 1) == yt.argmax(1))
print("loss %.4f  accuracy on clean new snippets %.3f" % (np.mean(run), acc))
