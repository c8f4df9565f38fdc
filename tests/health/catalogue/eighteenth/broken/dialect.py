import keras
import numpy as np
from keras import layers, regularizers

import gradwatch

keras.utils.set_random_seed(9)
T, F, CLASSES = 36, 24, 5


def speech(n, seed):
    g = np.random.default_rng(seed)
    proto = np.random.default_rng(55).normal(size=(CLASSES, 6, 5))
    y = g.integers(0, CLASSES, n)
    x = g.normal(0, 0.7, (n, T, F))
    for k in range(2):
        t0 = g.integers(0, T - 6, n)
        f0 = g.integers(4 + 8 * k, 8 + 8 * k, n)
        for i in range(n):
            x[i, t0[i] : t0[i] + 6, f0[i] : f0[i] + 5] += 1.1 * proto[y[i]]
    return x[..., None].astype("float32"), y


x, y = speech(2400, 1)
xv, yv = speech(600, 2)


def stage(h, filters, pool):
    h = layers.Conv2D(filters, 5, padding="same", activation="relu", activity_regularizer=regularizers.L1(0.015))(h)
    return layers.MaxPooling2D(pool)(h)


inp = keras.Input((T, F, 1))
h = stage(inp, 12, 2)
h = stage(h, 24, 2)
h = layers.Conv2D(32, 3, activation="relu")(h)
h = layers.GlobalMaxPooling2D()(h)
h = layers.Dropout(0.1)(h)
out = layers.Dense(CLASSES, activation="softmax")(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
hist = model.fit(x, y, batch_size=32, epochs=6, verbose=2)
pred = model.predict(xv, verbose=0).argmax(1)
print("loss", round(hist.history["loss"][-1], 4), "heldout accuracy", round(float((pred == yv).mean()), 4))
