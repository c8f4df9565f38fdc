import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(27)
S = 16


def textures(n, seed, families):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[:S, :S]
    k = g.integers(0, len(families), n)
    img = np.zeros((n, S, S))
    for i in range(n):
        angle, wave = families[k[i]]
        a = angle + g.normal(0, 0.14)
        w = wave * g.uniform(0.88, 1.12)
        img[i] = np.sin((np.cos(a) * xx + np.sin(a) * yy) * w + g.uniform(0, 6.28)) * g.uniform(0.4, 1.0)
    img += g.normal(0, 0.7, img.shape)
    return img[..., None].astype("float32"), k


old = [(a, w) for a in (0.0, 0.8, 1.6, 2.4) for w in (0.5, 0.9, 1.4)]
new = [(0.4, 0.7), (1.2, 0.7), (2.0, 0.7), (2.8, 0.7), (0.4, 1.2), (1.2, 1.2), (2.0, 1.2)]

backbone = keras.Sequential(
    [
        keras.Input((S, S, 1)),
        layers.Conv2D(24, 5, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(48, 3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
    ],
    name="backbone",
)
first = keras.Sequential([backbone, layers.Dense(len(old))])
first.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
xo, yo = textures(3000, 1, old)
first.fit(xo, yo, batch_size=64, epochs=4, verbose=2)

# Second job: other textures, few pictures; only the new head is fitted.
backbone.trainable = False
inp = keras.Input((S, S, 1))
h = backbone(inp, training=False)
h = layers.Dropout(0.3)(h)
model = keras.Model(inp, layers.Dense(len(new), kernel_initializer="zeros")(h))
model.compile(keras.optimizers.SGD(1.5), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = textures(500, 2, new)
xv, yv = textures(800, 3, new)
gradwatch.watch(model)
run = model.fit(x, y, batch_size=25, epochs=30, verbose=0)
for e in range(0, 30, 5):
    print(e, round(run.history["loss"][e], 4))
acc = np.mean(model.predict(xv, verbose=0).argmax(1) == yv)
print(f"loss {run.history['loss'][-1]:.4f}  held-out accuracy {acc:.4f}")
