"""Screen microscope slides: a slide is a bag of patch embeddings, positive when a few patches show the lesion."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PATCHES, DIM = 60, 16
lesion = rng.normal(0, 1, DIM)
lesion /= np.linalg.norm(lesion)
artefact = rng.normal(0, 1, DIM)
artefact -= lesion * (artefact @ lesion)
artefact /= np.linalg.norm(artefact)


def slides(n):
    y = rng.integers(0, 2, n)
    x = rng.normal(0, 1, (n, PATCHES, DIM))
    for i in range(n):
        k = rng.integers(1, 3)
        where = rng.permutation(PATCHES)[:k]
        if y[i]:
            x[i, where] += 6.0 * lesion
        stained = rng.permutation(PATCHES)[: rng.integers(0, 12)]
        x[i, stained] += 3.0 * artefact - 0.8 * lesion
    return x.astype("float32"), y.astype("float32")[:, None]


class AttentionPool(layers.Layer):
    """Attention pooling over the patches of a slide (Ilse et al., 2018)."""

    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.hidden = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1)

    def call(self, h):
        scores = self.score(self.hidden(h))  # (batch, patches, 1)
        weights = tf.nn.softmax(scores)
        return tf.reduce_sum(weights * h, axis=1)


x_train, y_train = slides(3000)
x_test, y_test = slides(800)

inp = layers.Input((PATCHES, DIM))
h = layers.Dense(24)(inp)
z = AttentionPool(16)(h)
z = layers.Dense(16, activation="relu")(z)
out = layers.Dense(1)(z)
model = keras.Model(inp, out)

optimizer = keras.optimizers.Adam(2e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(32, drop_remainder=True)
for epoch in range(12):
    losses = [float(train_step(x, y)) for x, y in batches]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

logits = model.predict(x_test, verbose=0)
print("SCORE accuracy", round(float(np.mean((logits > 0) == (y_test > 0.5))), 4))
